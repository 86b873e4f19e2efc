//! How well drives predict, for programs.

use plan::replicate::qos::{Bar, Ordering, Qos, QosRun, Standing};
use serde_json::{Value, json as object};

use super::asked;

/// Published beside simulated as one JSON document.
///
/// `points` has every point of the drives that were asked for: `id`, `source`, `seen` (the place there), `grade`, `use`,
/// `published`, `simulated`, `ratio` and `standing`, which is `counts`, `bound`, `apart`, `unresolved` or `unmeasured`, with the reason where there is one.
/// `bars` has what is wanted of each kind, and what came of it.
pub fn json(qos: &Qos, run: &QosRun, version: &str) -> String {
    let drives: Vec<Value> =
        asked(qos, run).map(|(drive, model, target)| of_drive(qos, drive, model, target)).collect();
    let document = object!({
        "assay": version,
        "seed": run.seed.get(),
        "quick": run.is_quick,
        "drives": drives,
        "points": points(qos, run),
        "orderings": run.orderings(qos).iter().map(|ordering| of_pair(qos, ordering)).collect::<Vec<_>>(),
        "bars": run.bars(qos).iter().map(of_bar).collect::<Vec<_>>(),
    });
    serde_json::to_string_pretty(&document).expect("names and numbers always serialise")
}

fn of_drive(qos: &Qos, drive: usize, model: &str, target: Result<&plan::replicate::qos::QosTarget, &str>) -> Value {
    let mut said = object!({ "id": qos.drives[drive].id, "model": model, "preset": qos.drives[drive].preset });
    match target {
        Err(why) => said["missing"] = object!(why),
        Ok(target) => {
            said["target"] = object!(target.target());
            said["title"] = object!(target.title);
            said["blocks_per_plane"] = object!(target.blocks.map(|(now, _)| now));
            said["blocks_per_plane_of_preset"] = object!(target.blocks.map(|(_, before)| before));
            said["write_amplification"] = object!(target.write_amplification);
        }
    }
    said
}

/// What a file says; null where it says nothing.
fn stated(words: &str) -> Option<&str> {
    Some(words).filter(|words| !words.is_empty())
}

fn points(qos: &Qos, run: &QosRun) -> Vec<Value> {
    let asked = |group: usize| run.drives[qos.groups[group].drive].is_some();
    let points = run.points(qos).filter(|(group, ..)| asked(*group));
    points
        .map(|(group, _, point, answer)| {
            let (standing, why) = match &answer.standing {
                Standing::Counts => ("counts", None),
                Standing::Bound => ("bound", None),
                Standing::Apart(why) => ("apart", Some(why.clone())),
                Standing::Unresolved(requests) => ("unresolved", Some(format!("rests on {requests:.1} requests"))),
                Standing::Unmeasured(why) => ("unmeasured", Some(why.clone())),
            };
            object!({
                "id": format!("{}/{}", qos.groups[group].id, point.name),
                "drive": qos.drives[qos.groups[group].drive].id,
                "source": qos.groups[group].source,
                "seen": stated(&qos.groups[group].seen),
                "grade": stated(&qos.groups[group].grade),
                "kind": point.kind().name(),
                "use": point.usage,
                "unit": point.unit,
                "published": point.value,
                "range": point.range.map(|(least, most)| [least, most]),
                "simulated": answer.simulated.map(|simulated| simulated.value),
                "ratio": answer.ratio(point),
                "holds": answer.holds(point),
                "standing": standing,
                "why": why,
            })
        })
        .collect()
}

fn of_pair(qos: &Qos, ordering: &Ordering) -> Value {
    let id = |(group, at): (usize, usize)| format!("{}/{}", qos.groups[group].id, qos.groups[group].points[at].name);
    object!({
        "larger": id(ordering.larger),
        "smaller": id(ordering.smaller),
        "use": ordering.usage,
        "same": ordering.is_same,
    })
}

fn of_bar(bar: &Bar) -> Value {
    let tallied = bar.tallied.map(|tallied| {
        object!({
            "error_median": tallied.error_median,
            "within_25_percent": tallied.within_25,
            "factor_median": tallied.factor_median,
            "within_factor_1.5": tallied.factor_15,
            "within_factor_1.6": tallied.factor_16,
        })
    });
    object!({
        "kind": bar.kind.map_or("orderings", plan::replicate::qos::Kind::name),
        "use": bar.usage,
        "points": bar.points,
        "found": tallied,
        "same": bar.kind.is_none().then_some(bar.same),
        "wanted": Bar::wanted(bar.kind),
        "verdict": bar.verdict.name(),
    })
}

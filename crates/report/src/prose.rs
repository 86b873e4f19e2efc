//! Sentences made from figures: the verdict, what a step did, what a chart shows.

use block::{Bytes, Nanos};
use measurement::RunState;
use plan::{Group, Metric, Outcome, Phrases, Repetition, Step, profile};
use stats::{Steadiness, SteadyRule};
use workload::{Field, Pattern, Stop, Workload};

use crate::change::FigureChange;
use crate::column::{Column, columns};
use crate::key::{KeyFigure, KeyRequest, Scorecard, StateChange};
use crate::limited::limited;
use crate::noise::too_noisy;
use crate::number::{capital, count, latency, percent, three, whole, with_unit};
use crate::part::MeasuredStep;
use crate::saturation::Saturation;
use crate::state::DriveState;
use crate::{axis, replay};

/// A change of less than this factor is not worth a sentence of its own.
const CHANGE_WORTH_TELLING: f64 = 1.05;

/// What the figures say, a sentence each, the most telling first; what limited the drive comes last.
pub(crate) fn verdict(scorecard: &Scorecard, parts: &[MeasuredStep]) -> Vec<String> {
    said(scorecard, parts, [in_sequence(scorecard), alone(scorecard)])
}

/// What the verdict has beyond the headline, which may be none.
pub(crate) fn beyond(headline: Option<&String>, scorecard: &Scorecard, parts: &[MeasuredStep]) -> Vec<String> {
    if headline.is_some() { said(scorecard, parts, [None, None]) } else { verdict(scorecard, parts) }
}

fn said(scorecard: &Scorecard, parts: &[MeasuredStep], [in_sequence, alone]: [Option<String>; 2]) -> Vec<String> {
    let cache = parts.iter().find_map(Saturation::of).map(|cache| cache.said());
    let sentences = [at_random(scorecard), in_sequence, cache, fill(scorecard, parts), wear(scorecard, parts), alone];
    let said: Vec<String> = sentences.into_iter().flatten().chain(limited(parts)).collect();
    match said.is_empty() {
        false => said,
        true => scorecard.rows.iter().filter_map(plainly).take(3).collect(),
    }
}

/// `4 KiB random reads: 5,480 IOPS at queue depth 1, 38,900 IOPS at queue depth 32; random writes: …`.
fn at_random(scorecard: &Scorecard) -> Option<String> {
    let mut clauses: Vec<String> = Vec::new();
    let mut asked_before: Vec<(Bytes, u32)> = Vec::new();
    for (pattern, verb) in [(Pattern::RandRead, "reads"), (Pattern::RandWrite, "writes")] {
        let rows = scorecard.of_pattern(pattern, Metric::Iops);
        let rates: Vec<(&KeyRequest, f64)> = rows.filter_map(|row| Some((&row.request, row.base()?.mean))).collect();
        let Some((first, last)) = rates.first().zip(rates.last()) else { continue };
        let ends = if rates.len() > 1 { vec![first, last] } else { vec![first] };
        let asked: Vec<(Bytes, u32)> = ends.iter().map(|end| (end.0.block, end.0.in_flight())).collect();
        clauses.push(if asked == asked_before {
            let rates: Vec<String> = ends.iter().map(|end| three(end.1)).collect();
            match rates.as_slice() {
                [one, other] if one == other => format!("random {verb}: {one} IOPS at either queue depth"),
                _ => format!("random {verb}: {} IOPS", rates.join(" and ")),
            }
        } else {
            let rates: Vec<String> = ends.iter().map(|end| format!("{} IOPS {}", three(end.1), depth(end.0))).collect();
            format!("{} random {verb}: {}", first.0.block, rates.join(", "))
        });
        asked_before = asked;
    }
    sentence(&clauses.join("; "))
}

/// `128 KiB sequential: 252 MB/s read, 79.1 MB/s write.`
fn in_sequence(scorecard: &Scorecard) -> Option<String> {
    let rate = |pattern, verb: &str| {
        let row = scorecard.of_pattern(pattern, Metric::Bandwidth).find(|row| row.base().is_some())?;
        Some((row.request.block, format!("{} {verb}", with_unit(Metric::Bandwidth, row.base()?.mean))))
    };
    let rates: Vec<(Bytes, String)> =
        [rate(Pattern::Read, "read"), rate(Pattern::Write, "write")].into_iter().flatten().collect();
    let block = rates.first()?.0;
    let rates: Vec<String> = rates.into_iter().map(|(_, rate)| rate).collect();
    sentence(&format!("{block} sequential: {}", rates.join(", ")))
}

/// `On the filled drive, 4 KiB random writes at queue depth 32 fall from 699 on the empty drive to 5.18 IOPS (135 × slower).`
fn fill(scorecard: &Scorecard, parts: &[MeasuredStep]) -> Option<String> {
    let rows: Vec<_> = throughput(scorecard).filter(|(_, change)| !change.after.0.is_written()).collect();
    largest(&rows).filter(|_| too_noisy(parts).is_none()).and_then(changed)
}

/// `In steady state, 4 KiB random writes at queue depth 32 fall from 17,900 on the filled drive to 2,390 IOPS (7.49 ×
/// slower).`
fn wear(scorecard: &Scorecard, parts: &[MeasuredStep]) -> Option<String> {
    let rows: Vec<_> = throughput(scorecard).filter(|(_, change)| change.after.0.is_written()).collect();
    let Some(moment) = rows.iter().map(|(_, change)| change.after.0).max().map(DriveState::moment) else {
        return settled_at(scorecard);
    };
    if let Some(why) = too_noisy(parts) {
        return sentence(&format!("too noisy to tell what changes {moment}: {why}"));
    }
    if let Some(row) = largest(&rows) {
        return changed(row);
    }
    let mut before: Vec<DriveState> = rows.iter().map(|(_, change)| change.before.0).collect();
    before.sort();
    before.dedup();
    let before: Vec<&str> = before.into_iter().map(DriveState::name).collect();
    sentence(&format!(
        "{moment}, no key figure of throughput changes clearly from {} by more than 5 %",
        before.join(" or ")
    ))
}

/// The changes of the key figures of throughput, state by state.
fn throughput(scorecard: &Scorecard) -> impl Iterator<Item = (&KeyFigure, StateChange)> {
    let rows = scorecard.rows.iter().filter(|row| row.metric.is_throughput());
    rows.flat_map(|row| scorecard.changes(row).into_iter().map(move |change| (row, change)))
}

/// The largest change that is worth telling.
fn largest<'r, 's>(rows: &'r [(&'s KeyFigure, StateChange)]) -> Option<&'r (&'s KeyFigure, StateChange)> {
    let told = rows.iter().filter(|(_, change)| is_worth_telling(&change.change));
    told.max_by(|one, other| one.1.change.factor().total_cmp(&other.1.change.factor()))
}

/// Whether a change is more than chance, and more than little.
pub(crate) fn is_worth_telling(change: &FigureChange) -> bool {
    change.is_clear() && change.factor() >= CHANGE_WORTH_TELLING
}

/// From what to what a figure changes, and in which state.
fn changed((row, found): &(&KeyFigure, StateChange)) -> Option<String> {
    let StateChange { before, after, change, .. } = found;
    let verb = if change.is_worse() { "fall" } else { "rise" };
    sentence(&format!(
        "{}, {} {verb} from {} {} to {} ({change})",
        after.0.moment(),
        plural(&row.request),
        three(before.1.mean),
        before.0.moment(),
        with_unit(row.metric, after.1.mean),
    ))
}

/// `Sustained 4 KiB random writes at queue depth 32: 2,390 IOPS.` Where they were not sustained, the amount written is
/// named.
fn settled_at(scorecard: &Scorecard) -> Option<String> {
    let row = scorecard.rows.iter().find(|row| row.is_sustained)?;
    let (requests, figure) = (plural(&row.request), with_unit(row.metric, row.base()?.mean));
    match scorecard.states.last() {
        Some(last @ (DriveState::Written(_) | DriveState::Briefly)) => {
            sentence(&format!("{}, {requests} reach {figure}", last.moment()))
        }
        _ => sentence(&format!("sustained {requests}: {figure}")),
    }
}

/// `4 KiB random read at queue depth 1: median latency 180 µs, 99.99 % latency 1.20 ms.`
fn alone(scorecard: &Scorecard) -> Option<String> {
    let median = scorecard.rows.iter().find(|row| row.metric == Metric::LatencyMedian && row.base().is_some())?;
    let KeyRequest { block, pattern, .. } = median.request;
    let mut text =
        format!("{block} {} at queue depth 1: median latency {}", pattern.words(), latency(median.base()?.mean));
    let tail = scorecard.rows.iter().find(|row| {
        row.request == median.request
            && matches!(row.metric, Metric::Latency99 | Metric::Latency9999)
            && row.base().is_some()
    });
    if let Some((row, figure)) = tail.and_then(|row| row.base().map(|figure| (row, figure))) {
        let share = if row.metric == Metric::Latency99 { "99 %" } else { "99.99 %" };
        text += &format!(", {share} latency {}", latency(figure.mean));
    }
    Some(text + ".")
}

/// `Random trim, 4 KiB, queue depth 1: 51,000 IOPS.`
fn plainly(row: &KeyFigure) -> Option<String> {
    Some(format!("{}: {}.", row.name(), with_unit(row.metric, row.base()?.mean)))
}

/// How far the run came, where that is not all the way.
pub(crate) fn shortfall(outcome: &Outcome) -> Option<String> {
    let all = || outcome.steps.iter().flat_map(|step| &step.points);
    let measured = all().filter(|point| !point.repeats.is_empty()).count();
    let progress = format!("{} of {} measured", whole(measured as u64), count(all().count(), "point"));
    match outcome.run.state {
        RunState::Complete => None,
        RunState::Failed => {
            let reason = outcome.run.error.as_deref().unwrap_or("no reason was recorded").trim_end_matches('.');
            Some(format!("The run failed: {reason}. {progress}."))
        }
        RunState::Running => Some(format!("The run is in progress: {progress}.")),
        RunState::Interrupted => Some(format!("The run was interrupted: {progress}.")),
    }
}

/// How many figures are how sure: throughput and latency apart, for tails are always less sure.
pub(crate) fn precision(parts: &[MeasuredStep]) -> Option<String> {
    let of = |is_asked: &dyn Fn(&Column) -> bool| {
        let figures = |part: &MeasuredStep| {
            let asked: Vec<Column> = columns(part).into_iter().filter(|column| is_asked(column)).collect();
            part.readings.iter().flat_map(|one| asked.iter().map(|column| column.figure(one))).collect::<Vec<_>>()
        };
        let sure: Vec<bool> = parts
            .iter()
            .flat_map(figures)
            .filter(|figure| figure.interval().is_some_and(|interval| interval.half_width.is_some()))
            .map(|figure| !figure.is_imprecise())
            .collect();
        (sure.len(), sure.iter().filter(|&&sure| !sure).count())
    };
    // Bandwidth is the same over a block's size.
    let (throughput, wide) = of(&|column| column.metric == Some(Metric::Iops));
    let (latencies, wide_latencies) =
        of(&|column| column.metric.is_some_and(|metric| metric.group() == Group::Latency));
    let share = |wide: usize, all: usize, noun: &str| match wide {
        0 => format!("all {} {noun} figures are within ±2 %", whole(all as u64)),
        _ => format!("{} of {} {noun} figures exceed ±2 %", whole(wide as u64), whole(all as u64)),
    };
    let measured = (throughput > 0)
        .then(|| format!("{}; {}", share(wide, throughput, "throughput"), share(wide_latencies, latencies, "latency")));
    let (tried, wide) = of(&|column| column.metric.is_none());
    let tried = (tried > 0).then(|| match wide {
        0 => format!("all {} trial figures are within ±2 %", whole(tried as u64)),
        _ => format!("{} of {} trial figures exceed ±2 %", whole(wide as u64), whole(tried as u64)),
    });
    sentence(&measured.into_iter().chain(tried).collect::<Vec<_>>().join("; "))
}

/// `random read, 4 KiB, queue depth 32, 1 worker, for 10 s`: what the cells of a step have in common.
pub(crate) fn common(workloads: &[&Workload]) -> String {
    let Some((first, rest)) = workloads.split_first() else { return String::new() };
    let shared = |key: &dyn Fn(&Workload) -> String| {
        let value = key(first);
        rest.iter().all(|other| key(other) == value).then_some(value)
    };
    let parts: [Option<String>; 10] = [
        shared(&|w| profile::followed(w).map_or_else(String::new, |profile| format!("profile {}", profile.name))),
        shared(&|w| w.replay.as_ref().map_or_else(|| w.pattern.words().to_owned(), replay::words))
            .or_else(|| shared(&|w| w.replay.as_ref().map_or_else(String::new, replay::of))),
        (first.pattern.is_mixed() && first.replay.is_none()).then(|| shared(&|w| Field::Rwmixread.words(w))).flatten(),
        shared(&|w| if w.replay.is_some() { String::new() } else { w.sizes_shown() }),
        shared(&|w| w.details().join(", ")),
        shared(&|w| Field::Iodepth.words(w)),
        shared(&|w| Field::Numjobs.words(w)),
        shared(&|w| stop(&w.stop)),
        shared(&|w| if w.ramp > Nanos::ZERO { format!("after a ramp of {}", w.ramp) } else { String::new() }),
        shared(&|w| span(w)),
    ];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// When a workload ends, in words.
fn stop(stop: &Stop) -> String {
    let limits = [
        stop.time.map(|time| format!("for {time}")),
        stop.requests.map(|requests| format!("{} requests per worker", whole(requests))),
        stop.bytes.map(|bytes| format!("{bytes} transferred")),
    ];
    let limits = limits.into_iter().flatten().collect::<Vec<_>>().join(" or ");
    match stop.steady.words() {
        Some(steady) if limits.is_empty() => steady,
        Some(steady) => format!("{steady}, at most {limits}"),
        None => limits,
    }
}

fn span(workload: &Workload) -> String {
    match (workload.size, workload.offset) {
        (None, Bytes::ZERO) => "over the whole target".to_owned(),
        (None, offset) => format!("from offset {offset}"),
        (Some(size), Bytes::ZERO) => format!("over the first {size}"),
        (Some(size), offset) => format!("over {size} from offset {offset}"),
    }
}

/// How steps put workloads and numbers into words.
pub(crate) const PHRASES: Phrases = Phrases { workloads: common, count, times };

/// What a step does, in a line.
pub(crate) fn action(step: &Step) -> String {
    step.action.kind().sentence(&PHRASES)
}

/// How often, in words.
pub(crate) fn times(repeats: Repetition) -> String {
    match (repeats.most, repeats.until) {
        (most, Some(share)) => format!("until within ±{} % or {most} times", crate::axis::plain(share * 100.0)),
        (1, None) => "once".to_owned(),
        (times, None) => format!("{times} times"),
    }
}

/// What the last rounds show, with the rule they are held against.
pub(crate) fn steadiness(rule: &SteadyRule, found: Option<&Steadiness>, rounds: usize) -> String {
    let Some(found) = found else {
        return format!(
            "Steady state not judged: the rule needs {} rounds of fixed length and there {} {}.",
            rule.rounds,
            if rounds == 1 { "is" } else { "are" },
            whole(rounds as u64)
        );
    };
    let name = if *rule == SteadyRule::SNIA { "the SNIA rule" } else { "the plan's rule" };
    let verdict = if found.steady { "Steady state" } else { "No steady state" };
    format!(
        "{verdict} by {name}: over the last {} of {}, mean {} IOPS, data excursion {} (limit {}), slope excursion {}{} (limit {}).",
        rule.rounds,
        count(rounds, "round"),
        three(found.mean),
        percent(found.spread),
        percent(rule.spread),
        if found.slope < 0.0 { "−" } else { "" },
        percent(found.slope.abs()),
        percent(rule.slope),
    )
}

/// What a sweep's chart shows and which way is better.
pub(crate) fn sweep_caption(field: &str, metric: Metric, states: Option<[&str; 2]>, is_repeated: bool) -> String {
    let what = match metric {
        Metric::Bandwidth => "Throughput (more is better)",
        Metric::Time => "Total time (less is better)",
        _ => "IOPS (more is better)",
    };
    let beside = states.map_or_else(String::new, |[before, after]| {
        format!(", {} (solid) and {} (dashed)", before.to_lowercase(), after.to_lowercase())
    });
    let marks = if is_repeated {
        " Lines join means, bars are 95 % confidence intervals, dots are single repeats."
    } else {
        " Each point was measured once, so there are no intervals."
    };
    format!(
        "{what} and mean latency (less is better) by {}{beside}.{marks}",
        field.trim_end_matches(" (%)").to_lowercase()
    )
}

/// What a percentile curve shows.
pub(crate) const CURVE_CAPTION: &str =
    "Latency by percentile over all repeats: lower and flatter is better. Each mark to the right is ten times rarer.";

/// What a time series shows.
pub(crate) fn series_caption(bin: f64, rounds: usize) -> String {
    let each = if bin < 1.5 { "a second".to_owned() } else { format!("{} s", axis::plain(bin)) };
    let diamonds =
        if rounds > 0 { " Diamonds are means of rounds; the dashed line is the mean of the last of them." } else { "" };
    format!("IOPS (more is better) and latency (less is better) over time, each point {each}.{diamonds}")
}

fn depth(request: &KeyRequest) -> String {
    match (request.in_flight(), request.workers) {
        (1, _) => "at queue depth 1".to_owned(),
        (_, 1) => format!("at queue depth {}", request.queue_depth),
        (all, _) => format!("with {} in flight", whole(u64::from(all))),
    }
}

/// `4 KiB random writes at queue depth 32`.
fn plural(request: &KeyRequest) -> String {
    let words = request.pattern.words();
    let noun = if request.pattern.is_mixed() {
        format!("{words} requests ({} % reads)", request.reads)
    } else {
        format!("{words}s")
    };
    format!("{} {noun} {}", request.block, depth(request))
}

/// `text` with a capital first letter and a full stop; none where it is empty.
fn sentence(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| capital(text) + ".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{KeyEntry, row};
    use plan::Wear;

    fn scorecard(rows: Vec<KeyFigure>) -> Scorecard {
        Scorecard { states: vec![DriveState::Filled, DriveState::Steady], rows }
    }

    #[test]
    fn the_verdict_says_how_fast_and_what_wear_does() {
        let said = verdict(
            &scorecard(vec![
                row(Pattern::Read, 128, 1, Metric::Bandwidth, [Some(252.2), None]),
                row(Pattern::Write, 128, 1, Metric::Bandwidth, [Some(79.06), None]),
                row(Pattern::RandRead, 4, 1, Metric::Iops, [Some(5_480.0), None]),
                row(Pattern::RandRead, 4, 32, Metric::Iops, [Some(38_912.0), Some(38_700.0)]),
                row(Pattern::RandWrite, 4, 1, Metric::Iops, [Some(11_030.0), None]),
                row(Pattern::RandWrite, 4, 32, Metric::Iops, [Some(17_900.0), Some(2_390.0)]),
                row(Pattern::RandRead, 4, 1, Metric::LatencyMedian, [Some(180.4), None]),
                row(Pattern::RandRead, 4, 1, Metric::Latency9999, [Some(1_204.0), None]),
            ]),
            &[],
        );
        assert_eq!(
            said,
            [
                "4 KiB random reads: 5,480 IOPS at queue depth 1, 38,900 IOPS at queue depth 32; random writes: 11,000 and 17,900 IOPS.",
                "128 KiB sequential: 252 MB/s read, 79.1 MB/s write.",
                "In steady state, 4 KiB random writes at queue depth 32 fall from 17,900 on the filled drive to 2,390 IOPS (7.49 × slower).",
                "4 KiB random read at queue depth 1: median latency 180 µs, 99.99 % latency 1.20 ms.",
            ]
        );
    }

    #[test]
    fn the_verdict_says_what_there_is_and_no_more() {
        assert!(verdict(&scorecard(Vec::new()), &[]).is_empty());
        let trims = vec![row(Pattern::RandTrim, 4, 8, Metric::Iops, [Some(51_000.0), None])];
        assert_eq!(verdict(&scorecard(trims), &[]), ["Random trim, 4 KiB, queue depth 8: 51,000 IOPS."]);
        let same = vec![row(Pattern::RandRead, 4, 32, Metric::Iops, [Some(1000.0), Some(1001.0)])];
        assert_eq!(
            verdict(&scorecard(same), &[]),
            [
                "4 KiB random reads: 1,000 IOPS at queue depth 32.",
                "In steady state, no key figure of throughput changes clearly from filled by more than 5 %.",
            ]
        );
    }

    /// Reads are not measured on the empty drive.
    #[test]
    fn a_change_is_of_the_states_that_have_figures() {
        let three = |mut row: KeyFigure, empty: Option<KeyEntry>| {
            row.entries.insert(0, empty);
            row
        };
        let writes = row(Pattern::RandWrite, 4, 32, Metric::Iops, [Some(17_900.0), Some(8_950.0)]);
        let fresh = writes.entries[0].clone();
        let reads = row(Pattern::RandRead, 4, 1, Metric::Iops, [Some(5_210.0), Some(1_737.0)]);
        let deep = row(Pattern::RandRead, 4, 32, Metric::Iops, [Some(35_000.0), None]);
        let states = vec![DriveState::Empty, DriveState::Filled, DriveState::Steady];
        let card = Scorecard { states, rows: vec![three(reads, None), three(deep, None), three(writes, fresh)] };
        let changes: Vec<Option<String>> =
            card.rows.iter().map(|row| card.change(row).map(|change| change.to_string())).collect();
        assert_eq!(
            changes,
            [Some("3.00 × slower (filled to steady)".to_owned()), None, Some("2.00 × slower".to_owned())]
        );
        assert_eq!(
            card.about_changes().as_deref(),
            Some(
                "Change: from the first state with a figure to the last. Reads of an empty drive need not access its \
                  media and are not measured."
            )
        );
        assert_eq!(
            verdict(&card, &[])[1],
            "In steady state, 4 KiB random reads at queue depth 1 fall from 5,210 on the filled drive to 1,740 IOPS \
             (3.00 × slower)."
        );
        let [reads, _, writes]: [KeyFigure; 3] = card.rows.try_into().unwrap();
        let writes_alone = Scorecard { states: card.states.clone(), rows: vec![writes] };
        assert!(verdict(&writes_alone, &[])[1].contains("from 17,900 on the filled drive to"));
        assert_eq!(writes_alone.about_changes(), None);
        let reads_alone = Scorecard { states: card.states, rows: vec![reads] };
        assert_eq!(reads_alone.change(&reads_alone.rows[0]).unwrap().states().as_deref(), Some("filled to steady"));
    }

    #[test]
    fn a_change_is_told_of_the_state_that_brought_it_about() {
        let wear = Wear { written: Bytes::from_kib(152), capacity: Bytes::from_gib(60) };
        let states = vec![DriveState::Empty, DriveState::Filled, DriveState::Written(wear)];
        let written = "After 152 KiB of random writes (less than 0.1 % of the drive)";
        let writes = "4 KiB random writes at queue depth 32";
        let fill = |told: &str| format!("On the filled drive, {writes} {told}.");
        let worn = |told: &str| format!("{written}, {writes} {told}.");
        let none = format!("{written}, no key figure of throughput changes clearly from filled by more than 5 %.");
        let table = [
            ([699.0, 5.18, 5.0], vec![fill("fall from 699 on the empty drive to 5.18 IOPS (135 × slower)"), none]),
            (
                [564.0, 25.4, 63.8],
                vec![
                    fill("fall from 564 on the empty drive to 25.4 IOPS (22.2 × slower)"),
                    worn("rise from 25.4 on the filled drive to 63.8 IOPS (2.51 × faster)"),
                ],
            ),
            ([100.0, 101.0, 10.0], vec![worn("fall from 101 on the filled drive to 10.0 IOPS (10.1 × slower)")]),
            (
                [50.0, 100.0, 200.0],
                vec![
                    fill("rise from 50.0 on the empty drive to 100 IOPS (2.00 × faster)"),
                    worn("rise from 100 on the filled drive to 200 IOPS (2.00 × faster)"),
                ],
            ),
        ];
        for (means, told) in table {
            let of = |means| row(Pattern::RandWrite, 4, 32, Metric::Iops, means);
            let mut figure = of([Some(means[1]), Some(means[2])]);
            figure.entries.insert(0, of([Some(means[0]), None]).entries.remove(0));
            let said = verdict(&Scorecard { states: states.clone(), rows: vec![figure] }, &[]);
            assert_eq!(said[1..], told, "{means:?}");
        }
    }

    #[test]
    fn writes_that_did_not_wear_the_drive_are_told_by_how_much_they_were() {
        let wear = Wear { written: Bytes::from_mib(320), capacity: Bytes::from_gib(80) };
        let states = vec![DriveState::Filled, DriveState::Written(wear)];
        let deep = row(Pattern::RandWrite, 4, 32, Metric::Iops, [Some(17_900.0), Some(8_950.0)]);
        let said = verdict(&Scorecard { states: states.clone(), rows: vec![deep.clone()] }, &[]);
        assert_eq!(
            said[1],
            "After 320 MiB of random writes (0.4 % of the drive), 4 KiB random writes at queue depth 32 fall from \
             17,900 on the filled drive to 8,950 IOPS (2.00 × slower)."
        );
        let end = KeyFigure { entries: vec![None, deep.entries[1].clone()], is_sustained: true, ..deep };
        let said = verdict(&Scorecard { states, rows: vec![end] }, &[]);
        assert_eq!(
            said,
            ["After 320 MiB of random writes (0.4 % of the drive), 4 KiB random writes at queue depth 32 reach 8,950 \
                IOPS."]
        );
    }

    #[test]
    fn what_cells_share_is_said_once() {
        let base = Workload { stop: Stop::after(Nanos::from_secs(10)), queue_depth: 32, ..Workload::default() };
        let other = Workload { block: Bytes::from_kib(8), ..base.clone() };
        assert_eq!(
            common(&[&base, &other]),
            "sequential read, queue depth 32, 1 worker, for 10 s, over the whole target"
        );
        assert_eq!(common(&[]), "");
    }

    #[test]
    fn steadiness_is_held_against_its_rule() {
        let rule = SteadyRule::SNIA;
        let found = rule.judge(&[100.0, 101.0, 99.0, 100.0, 100.0]);
        assert_eq!(
            steadiness(&rule, found.as_ref(), 12),
            "Steady state by the SNIA rule: over the last 5 of 12 rounds, mean 100 IOPS, data excursion 2.0 % (limit 20 %), slope excursion −0.4 % (limit 10 %)."
        );
        assert!(steadiness(&rule, None, 3).contains("needs 5 rounds of fixed length and there are 3"));
    }
}

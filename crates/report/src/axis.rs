//! What is swept as an axis: its values, their labels, and where ticks go.

use block::parse_duration;
use plan::{Axis, Choice, ChoiceKind, Field, PointOutcome};
use workload::{Unit, Workload};

use crate::number::three;

/// The value of `axis` as a number; none where it has no order.
pub(crate) fn value(axis: &Axis, point: &PointOutcome) -> Option<f64> {
    match axis {
        Axis::Field(field) => field.number(point.workload()?),
        Axis::Part(_) => amount(written(axis, point)),
        Axis::Load => amount(written(axis, point).trim_end_matches('%')),
        Axis::Job | Axis::Idle => None,
        Axis::Choice(choice) => chosen(choice, written(axis, point)),
    }
}

/// The value of `axis` as on an axis or in a table: `4 KiB`, `32`, `random read`.
pub(crate) fn label(axis: &Axis, point: &PointOutcome) -> String {
    match (axis, point.workload()) {
        (Axis::Field(field), Some(workload)) => field.label(workload),
        (Axis::Choice(_), _) if written(axis, point).is_empty() => "none".to_owned(),
        (Axis::Idle, _) => spaced(written(axis, point)),
        _ => written(axis, point).to_owned(),
    }
}

/// What a point is called that no axis of its step tells apart: `sequential write`, `sequential write after 60 s idle`.
pub(crate) fn unswept(point: &PointOutcome, workload: &Workload) -> String {
    let idle = label(&Axis::Idle, point);
    let after = if idle.is_empty() { String::new() } else { format!(" after {idle} idle") };
    kind(workload).to_owned() + &after
}

/// `5 min` of `5min`.
fn spaced(time: &str) -> String {
    parse_duration(time).map_or_else(|_| time.to_owned(), |time| time.to_string())
}

/// The value of `axis` where nothing else says of what: `depth 32`, `4 workers`, `nand.read 25us`, `threads 8`.
pub(crate) fn words(axis: &Axis, point: &PointOutcome) -> String {
    match (axis, point.workload()) {
        (Axis::Field(field), Some(workload)) => field.words(workload),
        (Axis::Part(path), _) => {
            let name = path.strip_prefix("drive.").or_else(|| path.strip_prefix("rig.")).unwrap_or(path);
            format!("{name} {}", written(axis, point))
        }
        (Axis::Choice(choice), _) if matches!(choice.kind, ChoiceKind::Count(..)) => {
            format!("{} {}", choice.title.to_lowercase(), written(axis, point))
        }
        _ => label(axis, point),
    }
}

/// The title of `axis` with the unit of its [`value`]s, as a column of data is headed: `Block size (B)`.
pub(crate) fn head(axis: &Axis) -> String {
    let unit = match (axis, axis.field().map(Field::unit)) {
        (_, Some(Unit::Bytes)) | (Axis::Choice(Choice { kind: ChoiceKind::Bytes, .. }), _) => " (B)",
        (_, Some(Unit::Seconds)) | (Axis::Choice(Choice { kind: ChoiceKind::Time, .. }), _) => " (s)",
        _ => "",
    };
    format!("{}{unit}", axis.title())
}

/// What the plan gives `axis` at this point.
pub(crate) fn written<'c>(axis: &Axis, point: &'c PointOutcome) -> &'c str {
    point.point.iter().find(|(other, _)| other == axis).map_or("", |(_, text)| text)
}

/// The amount that a part's value is, whatever its unit; none where it is a word.
fn amount(text: &str) -> Option<f64> {
    let number = || text.trim().parse().ok();
    let percent = || text.trim().strip_suffix('%')?.trim().parse().ok();
    let time = || block::parse_duration(text).ok().map(|time| time.as_secs_f64());
    let rate = || text.trim().strip_suffix("/s").and_then(|amount| block::parse_bytes(amount.trim()).ok());
    let bytes = || rate().or_else(|| block::parse_bytes(text).ok()).map(|bytes| bytes.get() as f64);
    number().or_else(percent).or_else(bytes).or_else(time)
}

/// What a trial is told as a number; none where it is a word.
fn chosen(choice: &Choice, text: &str) -> Option<f64> {
    match choice.kind {
        ChoiceKind::Count(..) => text.parse().ok(),
        ChoiceKind::Bytes => block::parse_bytes(text).ok().map(|bytes| bytes.get() as f64),
        ChoiceKind::Time => block::parse_duration(text).ok().map(|time| time.as_secs_f64()),
        ChoiceKind::Word(_) | ChoiceKind::Text => None,
    }
}

/// What a workload does, in a word or two.
pub(crate) fn kind(workload: &Workload) -> &'static str {
    if workload.replay.is_some() { "replay" } else { workload.pattern.words() }
}

/// Whether equal steps along the axis are equal factors.
pub(crate) fn is_logarithmic(axis: &Axis, values: &[f64]) -> bool {
    let is_share = axis.field().is_some_and(|field| field.unit() == Unit::Percent);
    !is_share && values.iter().all(|&value| value > 0.0)
}

/// Which of ascending `values` get a label so that none stand too close and there are at most `most`.
pub(crate) fn labelled(values: &[f64], logarithmic: bool, most: usize) -> Vec<usize> {
    let place = |value: f64| if logarithmic { value.log2() } else { value };
    let Some((first, last)) = values.first().zip(values.last()) else { return Vec::new() };
    let length = place(*last) - place(*first);
    let apart = length / most.max(2).saturating_sub(1) as f64 * 0.999;
    let mut kept: Vec<usize> = Vec::new();
    for (i, &value) in values.iter().enumerate() {
        if kept.last().is_none_or(|&last| place(value) - place(values[last]) >= apart) {
            kept.push(i);
        }
    }
    // The end of an axis is what readers look for first.
    if let Some(&end) = kept.last().filter(|&&end| end + 1 < values.len()) {
        if kept.len() > 1 && place(*last) - place(values[end]) < apart * 0.8 {
            kept.pop();
        }
        kept.push(values.len() - 1);
    }
    kept
}

/// Ticks for a logarithmic axis of amounts from `least` to `most`, with their labels.
pub(crate) fn logarithmic_ticks(least: f64, most: f64) -> (Vec<f64>, Vec<String>) {
    let decades = (most / least).log10();
    let steps: &[f64] = match decades {
        d if d > 3.0 => &[1.0],
        d if d > 1.6 => &[1.0, 3.0],
        _ => &[1.0, 2.0, 5.0],
    };
    let exponents = (least.log10().floor() as i32 - 1)..=(most.log10().ceil() as i32);
    let ticks: Vec<f64> = exponents.flat_map(|e| steps.iter().map(move |step| step * 10_f64.powi(e))).collect();
    let text = ticks.iter().map(|&tick| plain(tick)).collect();
    (ticks, text)
}

/// `20`, `5,000`, `0.5`: a round number without trailing zeros.
pub(crate) fn plain(value: f64) -> String {
    let text = three(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_would_touch_its_neighbour_is_left_out() {
        let depths = [1.0, 2.0, 4.0, 8.0, 16.0, 31.0, 32.0];
        assert_eq!(labelled(&depths, true, 8), [0, 1, 2, 3, 4, 6], "31 gives way to 32");
        let sizes: Vec<f64> = (9..=22).map(|power| 2_f64.powi(power)).collect();
        let kept = labelled(&sizes, true, 8);
        assert!(kept.len() <= 8 && kept.contains(&0) && kept.contains(&13), "{kept:?}");
        assert_eq!(labelled(&[0.0, 20.0, 50.0, 67.0, 80.0, 100.0], false, 8), [0, 1, 2, 3, 5].as_slice());
    }

    #[test]
    fn ticks_of_amounts_are_round_and_few() {
        let (ticks, text) = logarithmic_ticks(900.0, 40_000.0);
        assert!(ticks.iter().filter(|&&tick| (900.0..=40_000.0).contains(&tick)).count() >= 3);
        assert!(text.contains(&"3,000".to_owned()) && text.contains(&"10,000".to_owned()), "{text:?}");
    }
}

//! A chart in a sentence, for those who cannot see it.

use serde_json::Value;

use super::{GUIDE, Heads, REPEAT};
use crate::number::three;

/// As many lines are told one by one.
const TOLD: usize = 8;

/// What each line of a chart spans: `IOPS: random read 252 to 38,900, random write 310 to 17,900.` `figure` is Plotly's
/// JSON.
pub(super) fn spoken(heads: &Heads, figure: &Value) -> String {
    let traces = figure["data"].as_array().into_iter().flatten();
    let data = traces.filter(|trace| ![GUIDE, REPEAT].contains(&trace["meta"].as_str().unwrap_or_default()));
    let lines: Vec<String> = data.filter_map(line).collect();
    if lines.is_empty() {
        return "Nothing was measured.".to_owned();
    }
    let more = lines.len().saturating_sub(TOLD);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{} by {}: {}{more}.", heads.y, heads.x, lines[..lines.len().min(TOLD)].join("; "))
}

/// A line by its name and the least and the greatest that it has; none where it has nothing.
fn line(trace: &Value) -> Option<String> {
    let values = || trace["y"].as_array().into_iter().flatten().filter_map(Value::as_f64);
    let (least, most) = values().fold((f64::MAX, f64::MIN), |(least, most), v| (least.min(v), most.max(v)));
    if least > most {
        return None;
    }
    let name = trace["name"].as_str().unwrap_or_default();
    let name = name.replace("<br>", ", ").replace("&lt;", "<").replace("&amp;", "&");
    let span = if three(least) == three(most) { three(least) } else { format!("{} to {}", three(least), three(most)) };
    Some(if name.is_empty() { span } else { format!("{name} {span}") })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_chart_is_told_by_what_its_lines_span() {
        let figure = json!({"data": [
            {"name": "read &lt;1>", "y": [252.4, null, 38912.0]},
            {"name": "read &lt;1>", "y": [1.0], "meta": "single repeat"},
            {"name": "equal", "y": [1.0], "meta": "guide"},
            {"name": "write", "y": [100.0, 100.0]},
            {"name": "lost", "y": [null]}
        ]});
        assert_eq!(
            spoken(&Heads::new("Queue depth", "IOPS"), &figure),
            "IOPS by Queue depth: read <1> 252 to 38,900; write 100."
        );
        assert_eq!(spoken(&Heads::new("x", "y"), &json!({"data": []})), "Nothing was measured.");
    }
}

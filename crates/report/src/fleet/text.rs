//! A fleet for a terminal.

use super::prose::{self, Standing};
use super::{FleetReport, effects};
use crate::number::BINDING;
use crate::wrap::wrapped;

/// A fleet for a terminal `width` columns wide: what there is to know, and a line a drive. Ends with a line feed.
pub fn text(report: &FleetReport, width: u16) -> String {
    let fleet = &report.fleet;
    let mut lines = vec![prose::headline(report), String::new()];
    let found = report.effects.iter().flat_map(|(before, found)| effects::told(found, before));
    for sentence in prose::summary(report).into_iter().chain(found) {
        lines.extend(wrapped(&sentence, width));
    }
    lines.push(String::new());
    let rows: Vec<[String; 5]> = (0..fleet.drives.len())
        .map(|at| {
            let drive = &fleet.drives[at];
            let dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "–".to_owned());
            let identity = &drive.identity;
            let run = format!("run {}", drive.run.id);
            [
                Standing::of(fleet, at).name().to_owned(),
                identity.label().to_owned(),
                dash(&identity.slot),
                dash(&identity.firmware),
                run,
            ]
        })
        .collect();
    let widths: [usize; 5] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    // What no drive has is no column.
    let shown: Vec<usize> = (0..5).filter(|column| rows.iter().any(|row| row[*column] != "–")).collect();
    for (row, drive) in rows.iter().zip(&fleet.drives) {
        let cells: Vec<String> = shown.iter().map(|&at| format!("{:room$}", row[at], room = widths[at])).collect();
        let line = format!("{}  {}", cells.join("  "), drive.identity.target);
        lines.push(line.chars().take(usize::from(width)).collect::<String>().trim_end().to_owned());
    }
    if let Some((_, found)) = &report.effects {
        lines.push(String::new());
        lines.extend(found.figures.iter().flat_map(|one| {
            wrapped(
                &format!(
                    "{}{}: {}",
                    if one.is_sure() { "" } else { "(not significant) " },
                    one.title,
                    effects::ratio_told(one)
                ),
                width,
            )
        }));
    }
    lines.push(String::new());
    lines.extend(wrapped(&prose::method(fleet), width));
    // A drive may call itself anything.
    let lines: Vec<String> = lines.iter().map(|line| line.replace(char::is_control, " ")).collect();
    lines.join("\n").replace(BINDING, " ") + "\n"
}

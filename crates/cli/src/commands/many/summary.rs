//! What is told of the drives together, once all of them are through.

use std::io::IsTerminal;
use std::path::Path;

use lab::fleet::{FleetEffects, FleetRule};
use report::fleet::{FleetChecks, FleetReport};
use store::{RunState, Store};

use super::super::fleet::{group_of, of_runs};
use super::super::page;
use super::super::review::Arguments;
use crate::failure::Failure;
use crate::format::Format;
use crate::terminal::{notice, say, width};

/// Prints how the drives of the last of these groups stand, held against the first where there are two, and writes the page.
///
/// # Errors
/// If it cannot be written; nothing where no run is complete.
pub fn tell(store: &Path, groups: &[&str], arguments: &Arguments) -> Result<(), Failure> {
    let store = Store::open_to_read(store)?;
    let (checks, rule) = (FleetChecks::default(), FleetRule::default());
    let of = |group: &str| {
        let runs = group_of(&store, group)?;
        match runs.iter().any(|run| run.state == RunState::Complete) {
            true => of_runs(&store, &runs, &checks, rule).map(Some),
            false => Ok(None),
        }
    };
    let (Some(last), first) = (groups.last(), groups.first()) else { return Ok(()) };
    let Ok(Some(fleet)) = of(last) else { return Ok(()) };
    let before = first.filter(|first| first != &last).and_then(|first| Some((first, of(first).ok().flatten()?)));
    let effects = before.map(|(first, before)| (format!("group {first}"), FleetEffects::of(&before, &fleet)));
    let report = FleetReport { title: format!("group {last}"), fleet, effects };
    let version = env!("CARGO_PKG_VERSION");
    let path = page::write(
        arguments.out(),
        &format!("fleet-{}.html", crate::outputs::file_name(last)),
        &report::fleet::html(&report, version),
        &format!("the results are stored; `assay fleet {last} --output FILE` writes it elsewhere"),
    )?;
    match arguments.format {
        Format::Json => {
            say(&report::fleet::json(&report, version))?;
            notice(page::line_on_stderr(&path));
        }
        Format::Text => {
            let columns = if std::io::stdout().is_terminal() { width() } else { width().max(100) };
            say(&report::fleet::text(&report, columns))?;
            say(&format!("\n{}\n", page::line(&path)))?;
        }
    }
    Ok(())
}

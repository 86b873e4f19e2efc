//! A page beside what is printed: where it goes, and how that is told.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use host::OutputError;
use report::columns;

use crate::failure::Failure;
use crate::outputs::ReportFolder;
use crate::terminal::{notice, say, width};

/// Where pages go that are asked for by nothing but a table for people.
const FOLDER: &str = "assay-reports";

/// Writes a page of this name into `out`, or, where `for_people` is printed, into the usual folder, and tells where it
/// is:
/// behind the table for people, else on standard error, for programs read the rest.
///
/// # Errors
/// If it cannot be written.
pub fn deliver(for_people: bool, out: Option<&Path>, name: &str, html: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(folder) = out.or(for_people.then(|| Path::new(FOLDER))) else { return Ok(()) };
    let path = write(folder, name, &html(), "name another --out")?;
    if for_people {
        say(&format!("\n{}\n", line(&path)))
    } else {
        notice(line_on_stderr(&path));
        Ok(())
    }
}

/// The line that says where a page is, on standard output.
pub fn line(path: &Path) -> String {
    told(path, std::io::stdout().is_terminal().then(width), std::env::current_dir().ok().as_deref())
}

/// The same on standard error.
pub fn line_on_stderr(path: &Path) -> String {
    told(path, std::io::stderr().is_terminal().then(width), std::env::current_dir().ok().as_deref())
}

/// Where a page is, for programs or for a terminal so many columns wide: where the line would be too long, as seen from the
/// folder `here`; where that is too long, too, on a line of its own, from which it can be copied whole.
fn told(path: &Path, room: Option<u16>, here: Option<&Path>) -> String {
    let whole = format!("Report: {}", path.display());
    let Some(room) = room.map(usize::from).filter(|room| columns(&whole) > *room) else { return whole };
    let near = here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
    let brief = format!("Report: {}", near.display());
    if columns(&brief) > room { format!("Report:\n{}", near.display()) } else { brief }
}

/// Writes a page of this name into `folder`, which is made if need be; where it is.
///
/// # Errors
/// If it cannot be written, with what to do then.
pub fn write(folder: &Path, name: &str, html: &str, otherwise: &str) -> Result<PathBuf, Failure> {
    let pages = ReportFolder::within(folder).map_err(|error| {
        let path = folder.join(name);
        failed(&OutputError::Io { path, error }, otherwise)
    })?;
    write_to(&pages, name, html, otherwise)
}

/// The same into a folder that is open.
///
/// # Errors
/// As those of [`write()`].
pub fn write_to(pages: &ReportFolder, name: &str, html: &str, otherwise: &str) -> Result<PathBuf, Failure> {
    let path = pages.write(name, html.as_bytes()).map_err(|error| failed(&error, otherwise))?;
    Ok(std::path::absolute(&path).unwrap_or(path))
}

fn failed(error: &OutputError, otherwise: &str) -> Failure {
    Failure::failed(format!("the report was not written: {error}; {otherwise}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_report_is_fits_a_terminal_and_can_be_copied_whole() {
        let long = "/home/somebody/drives/assay-reports/review-sim-x25-m-2026-01-01-host-1-0a1b2c.html";
        let name = "assay-reports/review-sim-x25-m-2026-01-01-host-1-0a1b2c.html";
        for (path, room, here, said) in [
            ("/a/b.html", Some(80), "/a", "Report: /a/b.html".to_owned()),
            (long, None, "/home/somebody/drives", format!("Report: {long}")),
            (long, Some(80), "/home/somebody/drives", format!("Report: {name}")),
            (long, Some(80), "/tmp", format!("Report:\n{long}")),
            (long, Some(60), "/home/somebody/drives", format!("Report:\n{name}")),
        ] {
            assert_eq!(told(Path::new(path), room, Some(Path::new(here))), said);
        }
    }
}

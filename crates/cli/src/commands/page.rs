//! A page beside what is printed: where it goes, and how that is told.

use std::path::{Path, PathBuf};

use host::OutputError;

use crate::failure::Failure;
use crate::outputs::ReportFolder;
use crate::terminal::{notice, say};

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
    let line = format!("Report: {}\n", write(folder, name, &html(), "name another --out")?.display());
    if for_people {
        say(&format!("\n{line}"))
    } else {
        notice(line.trim_end());
        Ok(())
    }
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

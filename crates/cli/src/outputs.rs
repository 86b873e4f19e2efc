//! Files that the command line asks for, and whether one that assay did not write may be lost for them.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use host::{Output, OutputError, open};

use crate::failure::Failure;

/// Whether `--force` was typed.
static FORCE: OnceLock<bool> = OnceLock::new();

/// How many names are tried for a page whose own is a stranger's.
const NAMES: u32 = 1000;

/// Takes note of `--force`, once.
pub fn force(is_typed: bool) {
    // Whoever says it again says the same.
    let _ = FORCE.set(is_typed);
}

fn is_forced() -> bool {
    FORCE.get().copied().unwrap_or_default()
}

/// The output at `path`, tried before anything is begun: what could not be written in the end would be a pity.
///
/// # Errors
/// If nothing can be written there, or must not be.
pub fn at(path: &Path) -> Result<Output, Failure> {
    Output::at(path, is_forced()).map_err(Failure::usage)
}

/// Writes an output at once.
///
/// # Errors
/// As those of [`at`], and if it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = Output::at(path, is_forced()).and_then(|mut output| output.write(bytes));
    written.map_err(|error| match error {
        OutputError::Io { .. } => Failure::failed(error),
        refused => Failure::usage(refused),
    })
}

/// A folder for pages. It is looked up once: what takes its name while a run goes on is not written to.
pub struct ReportFolder {
    path: PathBuf,
    folder: Arc<File>,
}

impl ReportFolder {
    /// The folder at `path`, which is made if need be.
    ///
    /// # Errors
    /// If it cannot be made, or is none.
    pub fn within(path: &Path) -> io::Result<Self> {
        open::make_folder(path)?;
        let folder = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Ok(Self { path: path.to_owned(), folder: Arc::new(open::handle_of_folder(folder)?) })
    }

    /// The same, after it was made sure that pages can be written there.
    ///
    /// # Errors
    /// If they cannot.
    pub fn checked(path: &Path) -> Result<Self, Failure> {
        let tried = Self::within(path).and_then(|pages| {
            open::nameless(&open::path_to(&pages.folder))?.write_all(b"1")?;
            Ok(pages)
        });
        tried.map_err(|error| {
            Failure::usage(format!(
                "reports cannot be written to {}: {error}; name another folder with --out",
                path.display()
            ))
        })
    }

    /// Writes a page of this name; where it is. Where the name is a stranger's file, it gets a number: a page that took hours
    /// is not lost for its name.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, OutputError> {
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "html"));
        let numbered = (2..NAMES).map(|number| format!("{stem}-{number}.{ending}"));
        let mut last = None;
        for name in std::iter::once(name.to_owned()).chain(numbered) {
            let path = self.path.join(&name);
            let output = Output::within(&self.folder, &name, path.clone(), is_forced());
            match output.and_then(|mut output| output.write(bytes)) {
                Ok(()) => return Ok(path),
                Err(error @ (OutputError::Foreign { .. } | OutputError::Link { .. })) => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(last.expect("one name was tried"))
    }
}

/// A file's name out of words that a file may have chosen: letters, digits and a few marks, no dot at its start, not long.
pub fn file_name(words: &str) -> String {
    // What comes behind it (see `report_name`) has room in the 255 bytes that file systems take.
    const LENGTH: usize = 150;
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '-' };
    let name: String = words.chars().map(plain).take(LENGTH).collect();
    let name = name.trim_start_matches(['.', '-']);
    if name.is_empty() { "page".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_folder_and_no_dot_at_its_start() {
        let table = [
            ("/tmp/x/trav", "tmp-x-trav"),
            ("../../etc/cron.d/x", "etc-cron.d-x"),
            ("review", "review"),
            ("\u{1b}[2Jx\0y\nz", "2Jx-y-z"),
            ("..", "page"),
            ("é", "page"),
        ];
        table.iter().for_each(|(words, name)| assert_eq!(file_name(words), *name));
        assert!(file_name(&"x".repeat(1 << 20)).len() < 230);
    }

    #[test]
    fn a_page_whose_name_is_taken_gets_a_number() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.html"), "mine").unwrap();
        let pages = ReportFolder::checked(folder.path()).unwrap();
        assert_eq!(pages.write("a.html", b"page").unwrap(), folder.path().join("a-2.html"));
        assert_eq!(pages.write("a.html", b"again").unwrap(), folder.path().join("a-2.html"));
        assert_eq!(std::fs::read(folder.path().join("a.html")).unwrap(), b"mine");
    }

    #[test]
    fn pages_stay_in_their_folder_when_a_link_takes_its_name() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        std::fs::create_dir(path("foreign")).unwrap();
        let pages = ReportFolder::checked(&path("own")).unwrap();
        std::fs::rename(path("own"), path("moved")).unwrap();
        std::os::unix::fs::symlink(path("foreign"), path("own")).unwrap();
        pages.write("a.html", b"page").unwrap();
        assert_eq!(std::fs::read(path("moved/a.html")).unwrap(), b"page");
        assert_eq!(std::fs::read_dir(path("foreign")).unwrap().count(), 0);
    }
}

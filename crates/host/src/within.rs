//! What a file may name: other files in its own folder.
//!
//! A plan or a job file may come from a stranger. What it names is opened only where it lies in the folder of the file
//! that names it, or in one that the command line allows, whatever links lead there.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::open::{handle, path_of};
use crate::text::{TextError, bytes_of, regular_of};

/// The folders in which a file may name others.
#[derive(Clone, Debug, Default)]
pub struct Within {
    folder: PathBuf,
    allowed: Vec<PathBuf>,
}

/// Why a file that was named is not read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WithinError {
    /// It lies elsewhere.
    #[error(
        "it is outside the folder of the file that names it; move it there, or allow its folder with --allow-path DIR"
    )]
    Outside,
    /// It is not to be read as a text.
    #[error(transparent)]
    Text(#[from] TextError),
}

impl From<io::Error> for WithinError {
    fn from(error: io::Error) -> Self {
        Self::Text(error.into())
    }
}

impl Within {
    /// What may be named by a file in `folder`; an empty one is the current folder.
    pub fn folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), allowed: Vec::new() }
    }

    /// What may be named by this file.
    pub fn folder_of(file: &Path) -> Self {
        Self::folder(file.parent().unwrap_or(Path::new("")))
    }

    /// The same with folders that the command line allows.
    pub fn allowing(mut self, folders: &[PathBuf]) -> Self {
        self.allowed.extend_from_slice(folders);
        self
    }

    /// The path of what is named: a relative name begins at the folder.
    pub fn path(&self, name: &Path) -> PathBuf {
        self.folder.join(name)
    }

    /// Opens a regular file that is named by its path, to be read.
    ///
    /// # Errors
    /// If it lies elsewhere, is something else, or cannot be read.
    pub fn open(&self, path: &Path) -> Result<File, WithinError> {
        Ok(regular_of(&self.handle(path)?)?)
    }

    /// The text of a regular file that is named by its path, at most so many bytes.
    ///
    /// # Errors
    /// As those of [`Within::open`], and if it is no text or longer.
    pub fn text(&self, path: &Path, limit: u64) -> Result<String, WithinError> {
        let bytes = bytes_of(self.open(path)?, limit)?;
        Ok(String::from_utf8(bytes).map_err(|_| TextError::NotText)?)
    }

    /// Whether what would have this path, be it there or not, lies within, and is no link that leads elsewhere.
    pub fn holds(&self, path: &Path) -> bool {
        match self.handle(path) {
            Ok(_) => true,
            Err(WithinError::Text(TextError::Io(error))) if error.kind() == io::ErrorKind::NotFound => {
                // A link that leads nowhere is there, and would be followed.
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                std::fs::symlink_metadata(path).is_err() && path.file_name().is_some() && self.handle(folder).is_ok()
            }
            Err(_) => false,
        }
    }

    /// A handle of what has this path, if it lies within. What it is called is asked of the handle itself, so it does not
    /// matter which links led there, nor whether one is exchanged meanwhile.
    fn handle(&self, path: &Path) -> Result<File, WithinError> {
        let found = handle(path)?;
        let place = path_of(&found)?;
        let is_in = |folder: &Path| {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            handle(folder).and_then(|folder| path_of(&folder)).is_ok_and(|folder| place.starts_with(folder))
        };
        let mut folders = std::iter::once(&self.folder).chain(&self.allowed);
        if folders.any(|folder| is_in(folder)) { Ok(found) } else { Err(WithinError::Outside) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_names_what_lies_beside_or_below_it_and_no_link_leads_out() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        fs::create_dir_all(path("jobs/sub")).unwrap();
        fs::create_dir(path("jobs-more")).unwrap();
        for file in ["jobs/a", "jobs/sub/b", "secret", "jobs-more/c"] {
            fs::write(path(file), "text").unwrap();
        }
        symlink("../secret", path("jobs/link")).unwrap();
        symlink("..", path("jobs/up")).unwrap();
        symlink("sub/b", path("jobs/inner")).unwrap();
        symlink("../new", path("jobs/loose")).unwrap();
        let within = Within::folder_of(&path("jobs/job.fio"));
        let read = |within: &Within, name: &str| {
            within.text(&within.path(Path::new(name)), 99).map_err(|error| error.to_string())
        };
        for inside in ["a", "sub/b", "sub/../a", "inner", &path("jobs/a").display().to_string()] {
            assert_eq!(read(&within, inside).as_deref(), Ok("text"), "{inside}");
        }
        for outside in
            ["../secret", "link", "up/secret", "../jobs-more/c", "/etc/passwd", "/dev/zero", "/proc/self/fd/0"]
        {
            let said = read(&within, outside).unwrap_err();
            assert!(said.contains("--allow-path"), "{outside}: {said}");
        }
        let allowed = within.clone().allowing(&[path("jobs-more")]);
        assert_eq!(read(&allowed, "../jobs-more/c").as_deref(), Ok("text"));
        assert!(read(&within, "sub").unwrap_err().contains("folder"));
        let holds = |name: &str| within.holds(&within.path(Path::new(name)));
        assert!(holds("a") && holds("new") && holds("sub/new"));
        assert!(!holds("../new") && !holds("loose") && !holds("up/new") && !holds("none/new") && !holds("/dev/null"));
    }
}

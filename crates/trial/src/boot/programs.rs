//! Where programs are.

use std::path::{Path, PathBuf};

/// A program by the search path, and then where administrators' programs are; none if it is not installed.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([Path::new("/usr/sbin").into(), Path::new("/sbin").into()]);
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

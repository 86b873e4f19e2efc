//! `assay completions` and `assay man`: what a shell and a reader of manuals get.

use std::path::PathBuf;

use crate::completion::Shell;
use crate::failure::Failure;
use crate::manual;
use crate::terminal::say;

/// Which shell is meant.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "The script calls assay itself, so it stays up to date as long as the shell finds assay.")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// Where manual pages go.
#[derive(Clone, Debug, clap::Args)]
pub struct Manual {
    /// The folder, created if missing
    folder: PathBuf,
}

/// Prints a shell's script.
pub fn completions(arguments: &Completions) -> Result<(), Failure> {
    say(&arguments.shell.script())
}

/// Writes the manual pages.
pub fn manual(arguments: &Manual) -> Result<(), Failure> {
    let folder = arguments.folder.display();
    let count = manual::write(&arguments.folder)?;
    say(&format!("{count} manual pages are in {folder}; `man -l {folder}/assay.1` shows the first.\n"))
}

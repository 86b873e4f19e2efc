//! A reader at a shell: what a page says is typed here, in the page's order.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::page::{Block, Page};
use crate::support::{Place, skip, tool};

/// What stands in for something that would take too long here, or that names what no test has: the words of the page, and
/// those that are typed instead.
pub type Instead = (&'static str, &'static str);

/// A shell with a home of its own, in which `assay` is the program under test.
pub struct Shell {
    pub place: Place,
    instead: &'static [Instead],
}

/// Other programs that pages use, each with Debian's package of it.
const OTHERS: [(&str, &str); 3] = [("curl", "curl"), ("jq", "jq"), ("sqlite3", "sqlite3")];

/// What was printed, and how it ended.
pub struct Printed {
    pub out: String,
    pub err: String,
    pub code: Option<i32>,
}

impl Shell {
    pub fn new(instead: &'static [Instead]) -> Self {
        let place = Place::new();
        fs::create_dir(place.path("bin")).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_assay"), place.path("bin/assay")).unwrap();
        let shell = Self { place, instead };
        // Tests that need root are run by root, who has no need to become it.
        shell.program("sudo", "exec \"$@\"");
        shell
    }

    /// Puts a program on the shell's path.
    pub fn program(&self, name: &str, script: &str) {
        let path = self.place.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Puts a program that is elsewhere on the shell's path.
    pub fn link(&self, name: &str, program: &Path) {
        std::os::unix::fs::symlink(program, self.place.path("bin").join(name)).unwrap();
    }

    /// Begins with an empty store.
    pub fn forget(&self) {
        fs::remove_dir_all(self.place.path(".local")).ok();
    }

    /// What is typed for these words of the page.
    pub fn scaled(&self, words: &str) -> String {
        self.instead.iter().fold(words.to_owned(), |typed, (from, to)| typed.replace(from, to))
    }

    /// Types this as it stands.
    pub fn types(&self, typed: &str) -> Printed {
        let [out, err] = ["out", "err"].map(|name| self.place.path(&format!("bin/{name}")));
        let path = format!("{}:{}", self.place.path("bin").display(), std::env::var("PATH").unwrap());
        // What goes on in the background keeps what it was given to print to, so these are files.
        let status = Command::new("bash")
            .args(["-euc", typed])
            .current_dir(self.place.path("."))
            .env("PATH", format!("{path}:/usr/local/sbin:/usr/sbin:/sbin"))
            .env("HOME", self.place.path("."))
            .env("MPLBACKEND", "Agg")
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::null())
            .stdout(fs::File::create(&out).unwrap())
            .stderr(fs::File::create(&err).unwrap())
            .status()
            .unwrap();
        let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        Printed { out: text(&out), err: text(&err), code: status.code() }
    }

    /// Types a block of a page, which must do what is asked for and print something, or write it to a file; where this
    /// machine lacks a program for it, that is said.
    pub fn runs(&self, block: &Block) -> Option<Printed> {
        let began = std::time::Instant::now();
        let typed = self.scaled(&block.text);
        let lacking = OTHERS.iter().find(|(name, _)| typed.contains(&format!("{name} ")) && tool(name).is_none());
        if let Some((name, package)) = lacking {
            skip(&format!("{}: there is no {name} (apt install {package})", block.at));
            return None;
        }
        let printed = self.types(&typed);
        assert_eq!(printed.code, Some(0), "{}:\n{typed}\n{}", block.at, printed.err);
        let prints = !printed.out.is_empty() || typed.contains(" > ") || typed.contains(" -o ");
        assert!(prints, "{} prints nothing", block.at);
        println!("{:5.1} s  {}", began.elapsed().as_secs_f64(), block.at);
        Some(printed)
    }

    /// What is to be replaced and does not come up on a page.
    pub fn unused(&self, page: &Page) -> Vec<&'static str> {
        let mut unused: Vec<&str> = self.instead.iter().map(|(from, _)| *from).collect();
        for block in page.blocks() {
            self.instead.iter().fold(block.text, |typed, (from, to)| {
                unused.retain(|other| other != from || !typed.contains(from));
                typed.replace(from, to)
            });
        }
        unused
    }
}

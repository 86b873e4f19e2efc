//! What the process of one drive is told by the one that started it, and what it tells that.

use std::io::{BufRead, Read};

use host::{Core, SideBySide};
use rustix::process::{Signal, set_parent_process_death_signal};
use serde::{Deserialize, Serialize};
use store::RunId;

use crate::failure::Failure;
use crate::terminal::say;

/// The word by which the program starts itself for one drive. It is no command: nobody types it.
pub const WORD: &str = "review-member";
/// The longest order.
const LENGTH_MAX: u64 = 1 << 20;

/// What is done with one drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MemberOrder {
    /// The command line by which all of them are reviewed.
    pub words: Vec<String>,
    /// The drive.
    pub target: String,
    pub group: String,
    /// Whether its data may be lost.
    pub consent: bool,
    /// The processors of the cores that are this drive's: all of each.
    pub cpus: Vec<u32>,
    /// One processor of each of those cores.
    pub workers: Vec<u32>,
    /// What is measured at the same time.
    pub beside: Option<SideBySide>,
    /// Doubts that follow from it.
    pub findings: Vec<String>,
    /// The run that is continued.
    pub resume: Option<RunId>,
    /// The run whose plan and options are taken in place of those of the command line.
    pub like: Option<RunId>,
}

/// What the process of a drive says, as a line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberNews {
    /// The run that it carries out.
    pub run: RunId,
}

impl MemberNews {
    /// Says it to who started the process.
    pub fn tell(&self) -> Result<(), Failure> {
        say(&(serde_json::to_string(self).expect("a number always serialises") + "\n"))
    }
}

/// The command line that is meant, and the order where this is the process of one drive.
///
/// # Errors
/// If it was started by hand.
pub fn take(words: Vec<String>) -> Result<(Vec<String>, Option<MemberOrder>), Failure> {
    if words.get(1).is_none_or(|word| word != WORD) || words.len() > 2 {
        return Ok((words, None));
    }
    let mut text = String::new();
    // A line: the other end stays open, and closes with who holds it.
    let read = std::io::stdin().lock().take(LENGTH_MAX).read_line(&mut text);
    let order = read.ok().and_then(|_| serde_json::from_str::<MemberOrder>(&text).ok());
    let order = order.ok_or_else(|| {
        Failure::usage(format!(
            "`{WORD}` is for the program itself; `assay review TARGET TARGET --jobs 2` reviews several drives"
        ))
    })?;
    // Whatever ends the one that started this ends this in good order.
    set_parent_process_death_signal(Some(Signal::TERM)).map_err(Failure::failed)?;
    if !order.cpus.is_empty() {
        Core::confine_to(&order.cpus)
            .map_err(|error| Failure::failed(format!("processors {:?} cannot be used: {error}", order.cpus)))?;
    }
    Ok((order.words.clone(), Some(order)))
}

//! What can be asked of a review of several drives.

use std::str::FromStr;

use block::Seed;
use lab::now_ms;
use lab::plan::Plan;
use store::{Filter, Store};

use super::super::history::Which;
use crate::failure::Failure;
use crate::number;

/// The longest name of a group, in characters.
const NAME_MAX: usize = 64;

/// How several drives are reviewed.
#[derive(Clone, Debug, clap::Args)]
pub struct ManyOptions {
    /// Several targets: so many at a time, each on processor cores of its own [default: 1]
    #[arg(long, value_name = "N", value_parser = number::within::<u32>(1..=1024), conflicts_with_all = ["alone", "together"])]
    jobs: Option<u32>,

    /// Several targets: one after the other; with --together, that first
    #[arg(long)]
    alone: bool,

    /// Several targets: all at a time; with --alone, the difference between the two is reported
    #[arg(long)]
    together: bool,

    /// The name of the group that the runs belong to [default: one that no other group has]
    #[arg(long, value_name = "NAME", value_parser = group)]
    pub group: Option<String>,
}

/// What is continued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resume {
    Run(Which),
    /// What is not complete of this group.
    Group(String),
}

impl FromStr for Resume {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(which) => Ok(Self::Run(which)),
            Err(why) => group(text).map(Self::Group).map_err(|_| format!("{why}, or the name of a group")),
        }
    }
}

/// A name of a group, which is also a part of files' names.
fn group(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_name = text.chars().all(is_plain) && text.starts_with(|c: char| c.is_ascii_alphabetic());
    match is_name && text.len() <= NAME_MAX && text != "last" {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "give at most {NAME_MAX} letters, digits, hyphens, dots and underscores, a letter first, such as rack-7"
        )),
    }
}

impl ManyOptions {
    /// Whether something is asked that is for several drives. How many at a time says nothing of a single one.
    pub const fn is_asked(&self) -> bool {
        self.alone || self.together
    }

    /// The name of the group, which no other has unless it was given.
    pub fn group_name(&self, plan: &Plan, store: &Store) -> Result<String, Failure> {
        if let Some(name) = &self.group {
            return Ok(name.clone());
        }
        let date = report::date(now_ms());
        let date = date.split(' ').next().unwrap_or_default();
        for attempt in 0.. {
            let seed = Seed::new(now_ms().unsigned_abs()).number(u64::from(std::process::id()) << 16 | attempt);
            let name = format!("{}-{date}-{:06x}", plan.name, seed.get() >> 40);
            let filter = Filter { group: Some(name.clone()), ..Filter::default() };
            if store.count(&filter)? == 0 {
                return Ok(name);
            }
        }
        unreachable!("the attempts do not end")
    }

    /// Whether each drive is measured by itself and beside all others.
    pub const fn is_both(&self) -> bool {
        self.alone && self.together
    }

    /// The groups that are measured one after the other.
    pub fn phases(&self, group: &str) -> Vec<(String, Pace)> {
        if self.is_both() { both(group).into() } else { vec![(group.to_owned(), Pace::Asked)] }
    }

    /// How many drives are measured at a time, of so many.
    pub fn jobs(&self, pace: Pace, drives: usize) -> usize {
        match pace {
            Pace::Alone => 1,
            Pace::Together => drives,
            Pace::Asked if self.together => drives,
            Pace::Asked => self.jobs.map_or(1, |jobs| jobs as usize).min(drives.max(1)),
        }
    }
}

/// How many drives of a group are measured at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As many as the command line says.
    Asked,
    Alone,
    Together,
}

/// The groups of drives that are measured both ways under one name, in their order.
pub fn both(group: &str) -> [(String, Pace); 2] {
    [(format!("{group}-alone"), Pace::Alone), (format!("{group}-together"), Pace::Together)]
}

#[cfg(test)]
mod tests {
    use store::RunId;

    use super::*;

    #[test]
    fn a_run_a_word_and_a_group_are_told_apart() {
        assert_eq!("last".parse(), Ok(Resume::Run(Which::Last)));
        assert_eq!("12".parse(), Ok(Resume::Run(Which::Number(RunId(12)))));
        assert_eq!("rack-7".parse(), Ok(Resume::Group("rack-7".to_owned())));
        for wrong in ["", "7-rack", "../x", "a b", "-x"] {
            assert!(wrong.parse::<Resume>().is_err_and(|error| error.contains("name of a group")), "{wrong}");
        }
    }

    #[test]
    fn drives_are_measured_alone_together_or_both() {
        let options = |jobs, alone, together| ManyOptions { jobs, alone, together, group: None };
        let phases = |options: ManyOptions, drives| -> Vec<(String, usize)> {
            options.phases("g").into_iter().map(|(group, pace)| (group, options.jobs(pace, drives))).collect()
        };
        let named = |name: &str, jobs| (name.to_owned(), jobs);
        assert_eq!(phases(options(None, false, false), 24), [named("g", 1)]);
        assert_eq!(phases(options(Some(8), false, false), 24), [named("g", 8)]);
        assert_eq!(phases(options(Some(8), false, false), 3), [named("g", 3)]);
        assert_eq!(phases(options(None, true, false), 24), [named("g", 1)]);
        assert_eq!(phases(options(None, false, true), 24), [named("g", 24)]);
        assert_eq!(phases(options(None, true, true), 24), [named("g-alone", 1), named("g-together", 24)]);
    }
}

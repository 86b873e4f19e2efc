//! The words of a plan that is written from another program's file.

use std::collections::{BTreeMap, BTreeSet};

use block::Nanos;
use workload::{Field, duration};

use crate::{PlanText, StepText, printable};

/// One of several jobs that run at the same time.
pub(super) struct Together<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// What it is, where it says.
    pub(super) about: Option<&'a str>,
    /// What it does.
    pub(super) fields: Vec<(Field, String)>,
}

/// The name that a plan can have in place of any text; `otherwise` where nothing of it can be kept.
pub(super) fn slug(text: &str, otherwise: &str) -> String {
    const LONGEST: usize = 56;
    let mut name = String::new();
    for letter in text.chars().map(|c| c.to_ascii_lowercase()) {
        match letter {
            'a'..='z' | '0'..='9' => name.push(letter),
            _ if name.is_empty() || name.ends_with('-') => {}
            _ => name.push('-'),
        }
    }
    name.truncate(LONGEST);
    match name.trim_matches('-') {
        "" => otherwise.to_owned(),
        name => name.to_owned(),
    }
}

/// Words for people by this key, if there are any.
pub(super) fn said<'p>(step: StepText<'p>, key: &str, words: Option<&str>) -> StepText<'p> {
    match words.map(printable).filter(|words| !words.trim().is_empty()) {
        Some(words) => step.with(key, words.trim()),
        None => step,
    }
}

/// Adds the step that writes what those behind it use.
pub(super) fn layout(plan: &mut PlanText, names: &mut UniqueNames) {
    let _ = plan.step(&names.unique("layout")).with("title", "Writing what will be used").with("do", "fill");
}

/// Adds a step of this name that leaves the drive alone.
pub(super) fn idle(plan: &mut PlanText, name: &str, time: Nanos) {
    let _ = plan.step(name).with("do", "idle").with("time", duration(time));
}

/// Adds a step of this name whose jobs run at the same time; one without a name is called `otherwise`. What all of them
/// have stands on the step.
pub(super) fn side_by_side<'p>(
    plan: &'p mut PlanText,
    name: &str,
    jobs: &[Together],
    otherwise: &'static str,
) -> StepText<'p> {
    let is_shared = |field: &&(Field, String)| jobs.iter().all(|job| job.fields.contains(field));
    let shared = jobs.first().into_iter().flat_map(|first| &first.fields).filter(is_shared);
    let mut step = plan.step(name).with("title", format!("{} concurrent jobs", jobs.len())).fields(shared);
    let mut names = UniqueNames::new(otherwise);
    for job in jobs {
        let own = job.fields.iter().filter(|field| !is_shared(field));
        let _ = step.job(&names.unique(job.name), job.about).fields(own);
    }
    step
}

/// The names given so far, no two alike, and how often each was asked for.
pub(super) struct UniqueNames {
    otherwise: &'static str,
    given: BTreeSet<String>,
    asked: BTreeMap<String, u32>,
}

impl UniqueNames {
    /// None yet; `otherwise` stands for what cannot be a name.
    pub(super) fn new(otherwise: &'static str) -> Self {
        Self { otherwise, given: BTreeSet::new(), asked: BTreeMap::new() }
    }

    /// The name for `text`, with a number behind it where it was given before.
    pub(super) fn unique(&mut self, text: &str) -> String {
        let name = slug(text, self.otherwise);
        let asked = self.asked.entry(name.clone()).or_insert(1);
        let mut tried = name.clone();
        while !self.given.insert(tried.clone()) {
            *asked += 1;
            tried = format!("{name}-{asked}");
        }
        tried
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_becomes_a_name_and_no_two_are_alike() {
        let mut names = UniqueNames::new("job");
        let told =
            ["Random reads!", "random-reads", "random reads 2", "µ", "random reads"].map(|text| names.unique(text));
        assert_eq!(told, ["random-reads", "random-reads-2", "random-reads-2-2", "job", "random-reads-3"]);
    }
}

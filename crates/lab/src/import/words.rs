//! The words of a plan that is written from another program's file.

use std::collections::{BTreeMap, BTreeSet};

use block::Nanos;
use toml_edit::Value;
use workload::duration;

use crate::plan::printable;

/// Fields of a workload with their values, as a plan has them.
pub(super) type Fields = Vec<(&'static str, String)>;

/// One of several jobs that run at the same time.
pub(super) struct Together<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// What it is, where it says.
    pub(super) about: Option<&'a str>,
    /// What it does.
    pub(super) fields: Fields,
}

/// A text in quotes, as TOML has it.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string().trim().to_owned()
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

/// Fields and values, a line each.
pub(super) fn lines<'f>(fields: impl IntoIterator<Item = &'f (&'static str, String)>) -> String {
    fields.into_iter().map(|(name, value)| format!("{name} = {}\n", quoted(value))).collect()
}

/// Lines that a plan begins with, as a comment.
pub(super) fn comment(lines: &[String]) -> String {
    lines.iter().map(|line| format!("# {}", printable(line)).trim_end().to_owned() + "\n").collect::<String>() + "\n"
}

/// The step that writes what those behind it use.
pub(super) fn layout(names: &mut Names) -> String {
    let name = quoted(&names.unique("layout"));
    format!("\n[[step]]\nname = {name}\ntitle = \"Fill\"\ndo = \"fill\"\n")
}

/// A step of this name that leaves the drive alone.
pub(super) fn idle(name: &str, time: Nanos) -> String {
    format!("\n[[step]]\nname = {}\ndo = \"idle\"\ntime = \"{}\"\n", quoted(name), duration(time))
}

/// A step of this name whose jobs run at the same time, with a table for each; one without a name is called
/// `otherwise`.
/// What all of them have stands on the step.
pub(super) fn side_by_side(name: &str, jobs: &[Together], otherwise: &'static str) -> String {
    let is_shared = |field: &&(&'static str, String)| jobs.iter().all(|job| job.fields.contains(field));
    let shared = jobs.first().into_iter().flat_map(|first| &first.fields).filter(is_shared);
    let mut text = format!("\n[[step]]\nname = {}\ntitle = \"{} concurrent jobs\"\n", quoted(name), jobs.len());
    text += &lines(shared);
    let mut names = Names::new(otherwise);
    for job in jobs {
        text += "\n";
        text += &job.about.map_or_else(String::new, |about| format!("# {}\n", printable(about)));
        text += &format!("[[step.job]]\nname = {}\n", quoted(&names.unique(job.name)));
        text += &lines(job.fields.iter().filter(|field| !is_shared(field)));
    }
    text
}

/// The names given so far, no two alike, and how often each was asked for.
pub(super) struct Names {
    otherwise: &'static str,
    given: BTreeSet<String>,
    asked: BTreeMap<String, u32>,
}

impl Names {
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
        let mut names = Names::new("job");
        let told =
            ["Random reads!", "random-reads", "random reads 2", "µ", "random reads"].map(|text| names.unique(text));
        assert_eq!(told, ["random-reads", "random-reads-2", "random-reads-2-2", "job", "random-reads-3"]);
    }
}

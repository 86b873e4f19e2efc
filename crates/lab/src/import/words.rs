//! The words of a plan that is written from another program's file.

use std::collections::{BTreeMap, BTreeSet};

use toml_edit::Value;

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

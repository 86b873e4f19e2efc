//! Access profiles: fields of a workload that reviews use together, by name.

use std::sync::LazyLock;

use serde::Deserialize;
use toml::{Table, Value};

use crate::{Field, FieldError, Workload};

/// The profiles' names and files.
const BUILTIN: [(&str, &str); 11] = [
    ("database", include_str!("../../../profiles/database.toml")),
    ("file-server", include_str!("../../../profiles/file-server.toml")),
    ("web-server", include_str!("../../../profiles/web-server.toml")),
    ("workstation", include_str!("../../../profiles/workstation.toml")),
    ("streaming-reads", include_str!("../../../profiles/streaming-reads.toml")),
    ("streaming-writes", include_str!("../../../profiles/streaming-writes.toml")),
    ("jesd219-enterprise", include_str!("../../../profiles/jesd219-enterprise.toml")),
    ("oltp", include_str!("../../../profiles/oltp.toml")),
    ("exchange", include_str!("../../../profiles/exchange.toml")),
    ("vdi", include_str!("../../../profiles/vdi.toml")),
    ("video", include_str!("../../../profiles/video.toml")),
];

/// An access profile.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The word by which it is asked for.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: String,
    /// Where its numbers come from.
    pub source: String,
    /// The fields that it sets, in order, with their values.
    pub fields: Vec<(Field, String)>,
}

/// Every profile.
pub fn all() -> &'static [Profile] {
    static ALL: LazyLock<Vec<Profile>> =
        LazyLock::new(|| BUILTIN.iter().map(|(name, text)| read(name, text)).collect());
    &ALL
}

#[derive(Deserialize)]
struct File {
    title: String,
    source: String,
    workload: Table,
}

fn read(name: &'static str, text: &str) -> Profile {
    let File { title, source, workload } = toml::from_str(text).expect("the files are tested");
    let value = |field: &Field| match workload.get(field.name())? {
        Value::String(text) => Some((*field, text.clone())),
        other => Some((*field, other.to_string())),
    };
    Profile { name, title, source, fields: Field::ALL.iter().filter_map(value).collect() }
}

/// Their names.
pub(crate) fn names() -> [&'static str; BUILTIN.len()] {
    BUILTIN.map(|(name, _)| name)
}

/// The profile of this name.
pub(crate) fn named(name: &str) -> Result<&'static Profile, FieldError> {
    let unknown = || FieldError::UnknownProfile { found: name.to_owned() };
    all().iter().find(|profile| profile.name == name).ok_or_else(unknown)
}

/// The profile that `workload` follows, by however many workers.
pub fn followed(workload: &Workload) -> Option<&'static Profile> {
    all().iter().find(|profile| {
        let mut set = workload.clone();
        profile.set(&mut set);
        set.workers = workload.workers;
        set == *workload
    })
}

impl Profile {
    pub(crate) fn set(&self, workload: &mut Workload) {
        for (field, text) in &self.fields {
            field.set(workload, text).expect("the files are tested");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pattern;

    /// Read share, random share and sizes of each profile.
    /// Source of the first six: Tom's Hardware, "Breaking Records With SSDs: 16 Intel X25-Es Do 2.2 GB/s", with the
    /// reads and writes of the two streaming patterns as their names have them; of the others, their own files.
    #[test]
    fn every_profile_is_what_its_source_says() {
        let table = [
            ("database", Pattern::RandRw, 67, 100, "8k/100"),
            ("file-server", Pattern::RandRw, 80, 100, "512/10:1k/5:2k/5:4k/60:8k/2:16k/4:32k/4:64k/10"),
            (
                "web-server",
                Pattern::RandRead,
                100,
                100,
                "512/22:1k/15:2k/8:4k/23:8k/15:16k/2:32k/6:64k/7:128k/1:512k/1",
            ),
            ("workstation", Pattern::RandRw, 80, 80, "8k/100"),
            ("streaming-reads", Pattern::Read, 100, 100, "64k/34:128k/33:256k/33"),
            ("streaming-writes", Pattern::Write, 0, 100, "64k/34:128k/33:256k/33"),
            (
                "jesd219-enterprise",
                Pattern::RandRw,
                40,
                100,
                "512/4:1k/1:1536/1:2k/1:2560/1:3k/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3",
            ),
            ("oltp", Pattern::RandRw, 70, 100, "8k/100"),
            ("exchange", Pattern::RandRw, 60, 100, "32k/100"),
            ("vdi", Pattern::RandRw, 20, 80, "4k/80:8k/10:16k/5:32k/3:64k/2"),
            ("video", Pattern::Read, 100, 100, "1m/100"),
        ];
        assert_eq!(table.map(|(name, ..)| name), names());
        for (name, pattern, reads, random, sizes) in table {
            let mut workload = Workload::default();
            named(name).unwrap().set(&mut workload);
            assert_eq!(
                (workload.pattern, workload.reads(), workload.random_share),
                (pattern, reads, random.into()),
                "{name}"
            );
            let block = Workload { sizes: Some(sizes.parse().unwrap()), ..workload.clone() };
            let op = workload.ops()[0];
            assert_eq!((workload.sizes_of(op), workload.workers), (block.sizes_of(op), 4), "{name}");
        }
    }

    #[test]
    fn every_file_sets_all_that_it_says_and_tells_its_source() {
        for (profile, (name, text)) in all().iter().zip(BUILTIN) {
            let file: File = toml::from_str(text).unwrap();
            assert_eq!(profile.fields.len(), file.workload.len(), "{name}: {:?}", file.workload);
            let known = ["Tom's Hardware", "JEDEC", "guess: "];
            assert!(known.iter().any(|source| profile.source.contains(source)), "{name}: {}", profile.source);
        }
    }

    #[test]
    fn a_workload_is_known_by_what_it_does() {
        let mut workload = Workload { queue_depth: 32, ..Workload::default() };
        assert!(followed(&workload).is_none());
        named("file-server").unwrap().set(&mut workload);
        workload.workers = 1;
        assert_eq!(followed(&workload).map(|profile| profile.name), Some("file-server"));
        workload.read_percent = 81;
        assert!(followed(&workload).is_none());
    }
}

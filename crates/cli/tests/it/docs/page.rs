//! A page of the documentation and the blocks in it.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder that everything is in.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// A page, by its path from the root.
pub struct Page {
    pub name: String,
    text: String,
}

/// What stands between two fences.
pub struct Block {
    /// Where it begins, as errors name it: `docs/start.md:5`.
    pub at: String,
    /// What is written behind the opening fence.
    pub kind: String,
    pub text: String,
}

impl Block {
    /// Whether it shows what is typed behind a prompt, and what comes of it.
    pub fn is_transcript(&self) -> bool {
        self.kind == "text" && self.text.starts_with("$ ")
    }
}

impl Page {
    pub fn read(name: &str) -> Self {
        let text = fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { name: name.to_owned(), text }
    }

    /// Every page there is: the front one, those of the documentation, and each crate's.
    pub fn all() -> Vec<Self> {
        let names = |folder: &str| -> Vec<String> {
            let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
            entries.map(|name| format!("{folder}/{}", name.into_string().unwrap())).collect()
        };
        let crates = names("crates").into_iter().map(|folder| format!("{folder}/README.md"));
        let docs = names("docs").into_iter().filter(|name| name.ends_with(".md"));
        let mut all: Vec<String> = ["README.md".to_owned()].into_iter().chain(docs).chain(crates).collect();
        all.sort();
        all.iter().map(|name| Self::read(name)).collect()
    }

    /// All that stands between fences, in order.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        for (index, line) in self.text.lines().enumerate() {
            match (&mut open, line.strip_prefix("```")) {
                (None, Some(kind)) => {
                    let at = format!("{}:{}", self.name, index + 2);
                    open = Some(Block { at, kind: kind.to_owned(), text: String::new() });
                }
                (Some(_), Some("")) => blocks.extend(open.take()),
                (Some(block), _) => block.text += &format!("{line}\n"),
                (None, None) => {}
            }
        }
        blocks
    }

    /// What stands outside of fences.
    pub fn prose(&self) -> String {
        let mut fenced = false;
        let lines = self.text.lines().filter(|line| {
            let fence = line.starts_with("```");
            fenced ^= fence;
            !fenced && !fence
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The blocks of one kind.
    pub fn of_kind(&self, kind: &str) -> Vec<Block> {
        self.blocks().into_iter().filter(|block| block.kind == kind).collect()
    }
}

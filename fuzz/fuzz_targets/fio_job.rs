//! A text is a job file of fio's or is refused; what is not refused is a plan.

#![no_main]

use std::path::Path;

use block::Bytes;
use lab::import::fio::{World, import, plan_text};
use lab::import::render;
use libfuzzer_sys::fuzz_target;

/// A machine with a drive of 1 GiB and nothing to include but the file itself.
struct Machine<'a>(&'a str);

impl World for Machine<'_> {
    fn file(&self, path: &Path) -> Result<String, String> {
        if path.ends_with("job.fio") { Ok(self.0.to_owned()) } else { Err("there is no such file".to_owned()) }
    }

    fn variable(&self, name: &str) -> Option<String> {
        (name.len() == 1).then(|| name.repeat(3))
    }

    fn page_size(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        8192
    }

    fn processors(&self) -> u64 {
        4
    }

    fn capacity(&self, _: &str) -> Option<Bytes> {
        Some(Bytes::from_gib(1))
    }
}

fuzz_target!(|text: &str| {
    let path = Path::new("job.fio");
    let import = import(path, text, &[], &Machine(text));
    render(&import.notices, &import.sources, false);
    plan_text(&import, path, import.layout());
});

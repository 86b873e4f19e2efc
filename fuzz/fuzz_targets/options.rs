//! A text is options that a plan may give to mkfs, a mount or pgbench, or is refused; none that is permitted names a file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trial::{BenchOptions, MakeOptions, MountOptions};

fn hold(words: &[String], permitted: &[&str]) {
    for word in words {
        assert!(!word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_.,=:^-".contains(c)));
        assert!(!word.starts_with('-') || permitted.contains(&word.as_str()));
        let mut keys = word.split(',').filter_map(|part| part.split_once('='));
        assert!(keys.all(|(key, _)| permitted.contains(&key)));
    }
}

fuzz_target!(|text: &str| {
    for fs in ["ext2", "ext3", "ext4", "xfs", "btrfs"] {
        match MakeOptions::parse(fs, text) {
            Ok(options) => hold(&options.words(), &MakeOptions::permitted(fs)),
            Err(refused) => assert!(text.get(refused.at).is_some()),
        }
        match MountOptions::parse(fs, text) {
            Ok(options) => hold(&options.words(), &MountOptions::permitted(fs)),
            Err(refused) => assert!(text.get(refused.at).is_some()),
        }
    }
    match BenchOptions::parse(text) {
        Ok(options) => hold(&options.words(), &BenchOptions::permitted()),
        Err(refused) => assert!(text.get(refused.at).is_some()),
    }
});

//! A plan's text is a plan or a list of mistakes, each of which can be shown in the text.

#![no_main]

use lab::plan::{Length, parse, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for length in [Length::Quick, Length::Full] {
        if let Err(mistakes) = parse(text, length) {
            assert!(!mistakes.is_empty());
            render(&mistakes, "plan.toml", text, false);
        }
    }
});

//! A text is a configuration of Iometer's or is refused; what is not refused is a plan.

#![no_main]

use std::path::Path;

use lab::import::icf::{import, plan_text};
use lab::import::render;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let path = Path::new("job.icf");
    let import = import(path, text);
    render(&import.notices, &import.sources, false);
    plan_text(&import, path, import.layout());
});

//! A drive's text is a drive or is refused.

#![no_main]

use drive::preset::Preset;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(preset) = Preset::parse(text) {
        preset.facts();
        preset.capacity();
        preset.identity();
    }
});

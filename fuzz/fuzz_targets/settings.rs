//! A text is settings that a plan may give to a database, or is refused; none that is permitted names a command or a file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trial::Settings;

fuzz_target!(|text: &str| {
    for settings in [Settings::postgresql(text), Settings::sqlite(text)] {
        match settings {
            Err(refused) => assert!(text.get(refused.at).is_some()),
            Ok(settings) => {
                for line in settings.lines() {
                    let (name, value) = line.split_once(" = ").expect("a line has a name and a value");
                    assert!(Settings::permitted().contains(&name));
                    let bare = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')).unwrap_or(value);
                    assert!(bare.chars().all(|c| c.is_ascii_alphanumeric() || "_.- ".contains(c)));
                }
            }
        }
    }
});

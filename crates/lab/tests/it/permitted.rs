//! Texts of plans for other programs, of any kind: each is refused, or every word that comes of it stands in a table and
//! names no file.
//!
//! These are the targets `options` and `settings` of `fuzz/` in a bounded run.

use proptest::prelude::*;
use trial::{BenchOptions, Choices, DatabaseSettings, EXPERIMENTS, MakeOptions, MountOptions, Refused};

const FILE_SYSTEMS: [&str; 5] = ["ext2", "ext3", "ext4", "xfs", "btrfs"];

/// What a stranger would try.
const HOSTILE: [&str; 32] = [
    "/dev/sda",
    "--",
    "-",
    "-d",
    "/etc",
    "logdev=/dev/sda",
    "-l",
    "-J",
    "device=/dev/sda",
    "journal_path=/x",
    "source=/dev/sda",
    "--rootdir=/etc",
    "-f",
    "--file",
    "/tmp/x",
    "archive_command = 'touch /x'",
    "'",
    "''",
    "\\",
    "\n",
    "\r",
    "\t",
    "\0",
    ";",
    ",",
    "=",
    "$(x)",
    "`x`",
    "\u{1b}[2J",
    "\u{2028}",
    "é",
    "on off",
];

/// A text of names that are known, of what a stranger would try, and of what comes by chance.
fn text() -> impl Strategy<Value = String> {
    let known = [
        FILE_SYSTEMS.map(MakeOptions::permitted).concat(),
        FILE_SYSTEMS.map(MountOptions::permitted).concat(),
        BenchOptions::permitted(),
        DatabaseSettings::permitted(),
    ];
    let word = prop_oneof![
        4 => prop::sample::select(known.concat()).prop_map(str::to_owned),
        2 => prop::sample::select(HOSTILE.to_vec()).prop_map(str::to_owned),
        2 => prop::sample::select(vec!["1", "0", "4096", "128m", "8MB", "on", "prepared", "single", "-1", "0.5"]).prop_map(str::to_owned),
        1 => "[ -~]{0,6}",
        1 => "\\PC{0,3}",
    ];
    let between = prop::sample::select(vec!["", " ", ",", "=", "\n", ";", " = ", "--", "'"]);
    prop::collection::vec((word, between), 0..8)
        .prop_map(|parts| parts.into_iter().flat_map(|(word, between)| [word, between.to_owned()]).collect())
}

/// That a refusal is of a place in the text, and its message a line.
fn is_told(refused: &Refused, text: &str) -> Result<(), TestCaseError> {
    prop_assert!(text.get(refused.at.clone()).is_some(), "{refused:?} is nowhere in {text:?}");
    let said = refused.to_string();
    prop_assert!(!said.chars().any(char::is_control) && refused.found.len() < 1024, "{said:?}");
    Ok(())
}

/// That words go to a program as they are meant: none names a file, and each that looks like an option is one.
fn are_permitted(words: &[String], permitted: &[&str]) -> Result<(), TestCaseError> {
    for word in words {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.,=:^-".contains(c);
        prop_assert!(!word.is_empty() && word.chars().all(is_plain), "{word:?} of {words:?}");
        prop_assert!(!word.starts_with('-') || permitted.contains(&word.as_str()), "{word:?} of {words:?}");
        let keys = word.split(',').filter_map(|part| part.split_once('=')).map(|(key, _)| key);
        for key in keys {
            prop_assert!(permitted.contains(&key), "{key:?} of {words:?}");
        }
    }
    Ok(())
}

fn is_a_line(line: &str) -> Result<(), TestCaseError> {
    let (name, value) = line.split_once(" = ").expect("a line has a name and a value");
    prop_assert!(DatabaseSettings::permitted().contains(&name), "{line:?}");
    let bare = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')).unwrap_or(value);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.- ".contains(c);
    prop_assert!(!bare.is_empty() && bare.chars().all(is_plain), "{line:?}");
    Ok(())
}

/// The text as each program would be told it.
fn holds(text: &str) -> Result<(), TestCaseError> {
    for fs in FILE_SYSTEMS {
        match MakeOptions::parse(fs, text) {
            Ok(options) => are_permitted(&options.words(), &MakeOptions::permitted(fs))?,
            Err(refused) => is_told(&refused, text)?,
        }
        match MountOptions::parse(fs, text) {
            Ok(options) => {
                let (words, permitted) = (options.words(), MountOptions::permitted(fs));
                are_permitted(&words, &permitted)?;
                let keys = words.iter().map(|word| word.split('=').next().unwrap_or_default());
                prop_assert!(keys.into_iter().all(|key| permitted.contains(&key)), "{words:?}");
            }
            Err(refused) => is_told(&refused, text)?,
        }
    }
    match BenchOptions::parse(text) {
        Ok(options) => are_permitted(&options.words(), &BenchOptions::permitted())?,
        Err(refused) => is_told(&refused, text)?,
    }
    for settings in [DatabaseSettings::postgresql(text), DatabaseSettings::sqlite(text)] {
        match settings {
            Ok(settings) => settings.lines().iter().try_for_each(|line| is_a_line(line))?,
            Err(refused) => is_told(&refused, text)?,
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_plan_tells_a_program_is_refused_or_stands_in_a_table(text in text()) {
        holds(&text)?;
    }

    #[test]
    fn whatever_a_trial_is_told_its_commands_name_nothing_of_it_but_what_stands_in_a_table(
        text in text(),
        kind in 0..EXPERIMENTS.len(),
        name in prop::sample::select(vec!["mkfs", "mount", "options", "settings"]),
    ) {
        let experiment = EXPERIMENTS[kind];
        let mut choices = Choices::of(experiment.choices());
        if choices.tell(name, &text).is_ok() && experiment.check(&choices).is_ok() {
            for command in experiment.commands(&choices) {
                prop_assert!(!command.chars().any(char::is_control), "{command:?}");
                prop_assert!(["/dev/sda", "/etc", "/x", "$(", "touch"].iter().all(|word| !command.contains(word)), "{command:?}");
            }
        }
    }
}

#[test]
fn a_long_text_is_refused_soon_and_in_few_words() {
    for piece in ["x", "-", "-q", "a=b,", "é", "\u{1b}[2J ", "/dev/sda ", "fsync = on;", "\n", "'"] {
        let text = piece.repeat((1 << 20) / piece.len());
        holds(&text).unwrap_or_else(|error| panic!("{piece:?}: {error}"));
    }
}

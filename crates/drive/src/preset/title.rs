//! The title of a changed drive, which says what was changed: `Samsung 990 PRO 1 TB, changed: nand.read = 20 us`.

use toml::{Table as Toml, Value};

use super::base::written;

/// What stands between the title of the original and the changes.
const CHANGED: &str = ", changed: ";

/// Whether a title is that of a changed drive. Who keeps such a drive in a file under a title of their own has made it theirs.
pub(super) fn is_changed(title: &str) -> bool {
    title.contains(CHANGED)
}

/// Whether the file `text` is that of a changed drive.
pub fn is_file_of_changed(text: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct TitlePart {
        title: String,
    }
    toml::from_str::<TitlePart>(text).is_ok_and(|part| is_changed(&part.title))
}

/// What stands behind ratings and prices of a changed drive, which are those of the drive before; nothing of any other.
pub const fn of_unchanged(is_changed: bool) -> &'static str {
    if is_changed { " (unchanged drive)" } else { "" }
}

/// The title of the drive before it was changed.
pub fn original(title: &str) -> &str {
    title.split_once(CHANGED).map_or(title, |(original, _)| original)
}

/// The file `text` with a title that names `changes`, each a field and its value. `before` is the file before them.
pub(super) fn retitled(text: &str, before: &str, title: &str, changes: &[(String, &str)]) -> String {
    let mut file: Toml = toml::from_str(text).expect("it was just written as TOML");
    let known = title.split_once(CHANGED).map_or(Vec::new(), |(_, known)| known.split(", ").collect());
    let is_kept = |known: &&str| !changes.iter().any(|(name, _)| known.starts_with(&format!("{name} = ")));
    let kept = known.into_iter().filter(is_kept).map(str::to_owned);
    let told = changes.iter().map(|(name, value)| format!("{name} = {}", spaced(value)));
    let all: Vec<String> = kept.chain(told).collect();
    file.insert("title".to_owned(), Value::String(format!("{}{CHANGED}{}", original(title), all.join(", "))));
    written(&file, before)
}

/// A value with a space between number and unit.
fn spaced(value: &str) -> String {
    let digits = value.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = value.split_at(digits);
    let is_unit = unit == "%" || unit.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'/');
    match digits > 0 && !unit.is_empty() && is_unit {
        true => format!("{number} {unit}"),
        false => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Preset;

    fn title(name: &str) -> String {
        let preset = Preset::find(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(Preset::parse(&preset.text).unwrap().title, preset.title, "the file says it, too");
        preset.title.strip_prefix(original(&preset.title)).unwrap_or_default().to_owned()
    }

    #[test]
    fn a_title_says_what_was_changed() {
        for (name, told) in [
            ("x25-m", ""),
            ("x25-m#2", ""),
            ("x25-m?nand.read=25us", ", changed: nand.read = 25 us"),
            ("x25-m#2?spare=12%&drive.channels=8", ", changed: capacity.spare = 12 %, geometry.channels = 8"),
            ("x25-m?gc.policy=fifo&link.rate=150MB/s", ", changed: gc.policy = fifo, link.rate = 150 MB/s"),
            ("970-pro?rig.submit=9us", ", changed: rig.host.submit = 9 us"),
            ("970-pro?rig.host=none", ", changed: rig.host = none"),
            (
                "toms-x25e-16?rig.cpus=8&host.submit=9us&drive.nand.read=25us",
                ", changed: host.cpus = 8, host.submit = 9 us, drive.nand.read = 25 us",
            ),
        ] {
            assert_eq!(title(name), told, "{name}");
        }
    }

    #[test]
    fn a_field_that_is_changed_again_is_told_once() {
        let once = Preset::find("x25-m?nand.read=25us&spare=12%").unwrap();
        let twice = once.changed("nand.read=30us").unwrap();
        assert_eq!(original(&twice.title), Preset::find("x25-m").unwrap().title);
        assert!(twice.title.ends_with(", changed: capacity.spare = 12 %, nand.read = 30 us"), "{}", twice.title);
    }

    #[test]
    fn a_changed_drive_has_the_ratings_of_the_original_and_says_so() {
        let [plain, changed] = ["990-pro", "990-pro?nand.read=20us"].map(|name| Preset::find(name).unwrap());
        assert_eq!(changed.rated, plain.rated);
        assert_eq!(changed.identity().model, plain.identity().model, "its firmware was not changed");
        let facts = |preset: &Preset, label| -> Vec<String> {
            preset.facts().into_iter().filter(|(known, _)| *known == label).map(|(_, fact)| fact).collect()
        };
        for label in ["rated", "price"] {
            assert!(facts(&changed, label).iter().all(|fact| fact.ends_with(" (unchanged drive)")), "{label}");
            assert!(!facts(&plain, label).iter().any(|fact| fact.contains("unchanged")), "{label}");
        }
        let own = Preset::parse(&changed.text.replace(&changed.title, "My own")).unwrap();
        assert!(!own.is_changed() && facts(&own, "rated") == facts(&plain, "rated"), "it is a drive of its own");
    }
}

//! Files that say only what is other than in their bases: siblings of a drive, and what drives of one class share.

use serde::Deserialize;
use toml::{Table as Toml, Value};

use super::embedded::{CLASSES, EMBEDDED};
use super::error::{PresetError, unknown};

/// How deep bases may lie: a sibling, its drive, the drive before that one, and their class.
const DEPTH_MAX: usize = 3;

/// What belongs to one drive alone.
const OWN: [&str; 5] = ["name", "title", "rated", "price", "smart"];

/// The part of a file that names its bases; of several, a later one goes before an earlier.
#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

/// The whole file that `text` stands for; none if it names no base and so is whole.
///
/// # Errors
/// If a base is none, lies too deep or is of another kind, or if a table changes its base's without a source.
pub fn resolved(text: &str) -> Result<Option<String>, PresetError> {
    let file: Toml = toml::from_str(text)?;
    if !file.contains_key("base") {
        return Ok(None);
    }
    Ok(Some(written(&whole(file, DEPTH_MAX)?, text)))
}

/// `file` with all that its bases say and it does not.
fn whole(mut file: Toml, depth: usize) -> Result<Toml, PresetError> {
    let Some(base) = file.remove("base") else { return Ok(file) };
    let shown = base.to_string();
    let names = match base.try_into() {
        Ok(Names::One(name)) => vec![name],
        Ok(Names::Several(names)) => names,
        Err(_) => return Err(wrong(&shown, "it names a drive, a class, or a list of them".to_owned())),
    };
    let mut merged = Toml::new();
    let mut of = Vec::new();
    for name in names {
        if depth == 0 {
            return Err(wrong(&name, format!("it lies deeper than {DEPTH_MAX} bases; base the drive on it directly")));
        }
        let below = whole(known(&name)?, depth - 1)?;
        let below = below.into_iter().filter(|(key, _)| !OWN.contains(&key.as_str())).collect();
        merged = over(below, merged, &of.join(", "), &name)?;
        of.push(name);
    }
    over(file, merged, &of.join(", "), "the file")
}

/// The file of the drive or class of that name.
fn known(name: &str) -> Result<Toml, PresetError> {
    let all = EMBEDDED.iter().chain(CLASSES);
    let Some((_, text)) = all.clone().find(|(known, _)| *known == name) else {
        let none = unknown(name, all.map(|(known, _)| *known));
        let classes: Vec<&str> = CLASSES.iter().map(|(class, _)| *class).collect();
        return Err(wrong(name, format!("{none}, and classes are {}", classes.join(", "))));
    };
    Ok(toml::from_str(text)?)
}

/// What `file` says, and where it is silent what `base` says. A table of both names both sources.
fn over(file: Toml, mut base: Toml, base_name: &str, name: &str) -> Result<Toml, PresetError> {
    for (key, value) in file {
        match (base.remove(&key), value) {
            (Some(Value::Table(mut below)), Value::Table(above)) => {
                let theirs = below.remove("source").and_then(|source| source.as_str().map(str::to_owned));
                let ours = above.get("source").and_then(Value::as_str).ok_or_else(|| {
                    let why = format!("[{key}] of {name} changes it without a source; add `source` to that table");
                    wrong(base_name, why)
                })?;
                let source = match theirs {
                    Some(theirs) if below.keys().any(|field| !above.contains_key(field)) => {
                        format!("{ours}. The rest: {theirs}")
                    }
                    _ => ours.to_owned(),
                };
                below.extend(above);
                below.insert("source".to_owned(), Value::String(source));
                base.insert(key, Value::Table(below));
            }
            (Some(Value::String(below)), Value::String(above)) if key == "kind" && below != above => {
                return Err(wrong(
                    base_name,
                    format!("it is a drive of kind `{below}`, and {name} is of kind `{above}`"),
                ));
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
    Ok(base)
}

/// A file as people write it: the comment that `before` begins with, the name, then the tables with their sources first.
pub(super) fn written(file: &Toml, before: &str) -> String {
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    let line = |key: &str, value: &Value| match key.chars().all(is_bare) {
        true => format!("{key} = {value}\n"),
        false => format!("{} = {value}\n", Value::String(key.to_owned())),
    };
    let first = |table: &Toml, names: &[&str]| -> String {
        let rest = table.iter().filter(|(key, value)| !names.contains(&key.as_str()) && !value.is_table());
        let named = names.iter().filter_map(|name| Some(line(name, table.get(*name)?)));
        named.chain(rest.map(|(key, value)| line(key, value))).collect()
    };
    let comment = before.lines().take_while(|line| line.starts_with('#')).flat_map(|line| [line, "\n"]);
    let mut text = comment.collect::<String>() + &first(file, &["name", "title", "kind"]);
    let order = |key: &str| ["rated", "capacity", "geometry", "nand"].iter().position(|name| *name == key).unwrap_or(9);
    let mut tables: Vec<(&String, &Toml)> =
        file.iter().filter_map(|(key, value)| Some((key, value.as_table()?))).collect();
    tables.sort_by_key(|(key, _)| order(key));
    for (key, table) in tables {
        text += &format!("\n[{key}]\n{}", first(table, &["source"]));
    }
    text
}

fn wrong(base: &str, why: String) -> PresetError {
    PresetError::Base { base: base.to_owned(), why }
}

/// The error that the whole file is none, which names no line: nobody wrote that file.
pub fn refused(error: PresetError) -> PresetError {
    match error {
        PresetError::Text(error) => {
            let message = error.message();
            let is_own = ["name", "title"].iter().any(|own| message == format!("missing field `{own}`"));
            let own = if is_own { "; a drive has a name and a title of its own, whatever its base" } else { "" };
            PresetError::Whole(format!("{message}{own}"))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::{Preset, Spec};

    const SIBLING: &str = "# A sibling.\nname = \"own\"\ntitle = \"Own\"\nbase = \"x25-m\"\n\
        [rated]\nsource = \"none\"\n\
        [geometry]\nsource = \"half of them\"\nchannels = 5\n";

    fn said(text: &str) -> String {
        Preset::parse(text).expect_err(text).to_string()
    }

    #[test]
    fn a_sibling_says_only_what_is_other() {
        let (own, base) = (Preset::parse(SIBLING).unwrap(), Preset::find("x25-m").unwrap());
        let (Spec::Flash(own_spec), Spec::Flash(base_spec)) = (&own.spec, &base.spec) else { panic!("both are flash") };
        assert_eq!((own_spec.geometry.channels, base_spec.geometry.channels), (5, 10));
        assert_eq!(own_spec.nand, base_spec.nand);
        assert_eq!((&*own.name, &*own.title), ("own", "Own"));
        assert_eq!(own.rated.random_read_iops, None, "what is promised of the base is promised of it alone");
        assert_eq!(own.identity().model, "Own", "it does not say that it is its base");
        let unrated = Preset::parse(&SIBLING.replace("[rated]\nsource = \"none\"\n", "")).unwrap();
        assert_eq!(unrated.rated, crate::preset::Rated::default(), "nobody has to promise anything");
    }

    #[test]
    fn what_is_kept_of_a_drive_is_whole_and_names_both_sources() {
        let own = Preset::parse(SIBLING).unwrap();
        assert!(own.text.starts_with("# A sibling.\nname = \"own\"\n"), "{}", own.text);
        assert!(!own.text.contains("base ="), "{}", own.text);
        assert!(own.text.contains("source = \"half of them. The rest: "), "{}", own.text);
        assert_eq!(Preset::parse(&own.text).unwrap(), own);
        assert_eq!(own.clone().changed("nand.read=25us").unwrap().capacity(), own.capacity());
    }

    #[test]
    fn a_class_is_no_drive_and_of_several_bases_the_last_goes_first() {
        for (name, text) in CLASSES {
            assert!(Preset::find(name).is_err() && Preset::parse(text).is_err(), "{name}");
            assert!(toml::from_str::<Toml>(text).unwrap().get("base").is_none(), "{name} is no class with a base");
        }
        let two = SIBLING.replace("\"x25-m\"", "[\"x25-m\", \"x25-e-32\"]");
        let (two, last) = (Preset::parse(&two).unwrap(), Preset::find("x25-e-32").unwrap());
        assert_eq!(two.capacity(), last.capacity());
    }

    #[test]
    fn what_is_no_base_is_explained() {
        for (from, to, words) in [
            ("\"x25-m\"", "\"x25m\"", "did you mean `x25-m`?"),
            ("title = \"Own\"\n", "", "missing field `title`; a drive has a name and a title of its own"),
            ("\"x25-m\"", "7", "it names a drive, a class, or a list of them"),
            ("\"x25-m\"", "\"raptor-150\"\nkind = \"flash\"", "it is a drive of kind `disk`"),
            ("source = \"half of them\"\n", "", "[geometry] of the file changes it without a source"),
            ("channels = 5", "channels = 0", "each is 1 to 1,024"),
        ] {
            assert!(SIBLING.contains(from), "{from}");
            let said = said(&SIBLING.replacen(from, to, 1));
            assert!(said.contains(words) && !said.contains("line "), "{said}");
        }
    }

    #[test]
    fn bases_lie_at_most_three_deep() {
        let file = |text: &str| toml::from_str::<Toml>(text).unwrap();
        let text = "name = \"a\"\nbase = \"optane-p4800x\"\n";
        assert!(whole(file(text), 1).is_ok());
        let said = whole(file(text), 0).unwrap_err().to_string();
        assert!(said.contains("lies deeper than 3 bases"), "{said}");
        // So none can be based on itself: what comes with the program is read by a test.
        for (name, text) in EMBEDDED {
            whole(file(text), DEPTH_MAX).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

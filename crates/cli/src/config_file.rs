//! The file of settings, `config.toml`: read, and explained where it is wrong.

use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use block::nearest;
use lab::plan::Diagnostic;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::failure::Failure;

/// What can be set, by long names.
#[derive(Clone, Debug, Default)]
pub struct KnownOptions {
    /// The options that every command has.
    pub general: Vec<String>,
    /// For each command its name and its own options.
    pub commands: Vec<(String, Vec<String>)>,
}

/// What names a target, or is consent to lose data or to let a file read what lies elsewhere, is typed each time and not
/// set once and for all: who sets an environment or a file would choose what root writes to.
pub const CONSENT: [&str; 8] =
    ["overwrite", "destroy-data", "force", "allow-path", "variable", "filename", "resume", "purge"];

/// The longest file of settings.
const LENGTH_MAX: u64 = 1 << 20;

/// The variable that names another file.
const ELSEWHERE: &str = "ASSAY_CONFIG";

/// One key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigEntry {
    /// The command that it is for; none for all that have the option.
    pub command: Option<String>,
    /// The option's long name.
    pub option: String,
    /// The values, as they would be typed.
    pub values: Vec<String>,
    /// Where the value stands in the text.
    pub span: Range<usize>,
}

/// A file of settings.
#[derive(Clone, Debug, Default)]
pub struct ConfigFile {
    /// Where it is, or would be; none where there is no home for it.
    pub path: Option<PathBuf>,
    /// Whether it is there.
    pub is_there: bool,
    pub text: String,
    /// What it says.
    pub entries: Vec<ConfigEntry>,
}

impl ConfigFile {
    /// The file that the environment leads to: `$ASSAY_CONFIG`, or `assay/config.toml` in `$XDG_CONFIG_HOME` or
    /// `~/.config`.
    ///
    /// # Errors
    /// If it cannot be read, or anything in it is wrong.
    pub fn find(variable: impl Fn(&str) -> Option<OsString>, known: &KnownOptions) -> Result<Self, Failure> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(path) = set(ELSEWHERE) {
            return Self::read(&path, known, true);
        }
        // Source: XDG Base Directory Specification 0.8: a relative path is to be ignored.
        let folder = set("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
        match folder.or_else(|| set("HOME").map(|home| home.join(".config"))) {
            Some(folder) => Self::read(&folder.join("assay/config.toml"), known, false),
            None => Ok(Self::default()),
        }
    }

    fn read(path: &Path, known: &KnownOptions, must_exist: bool) -> Result<Self, Failure> {
        let text = match host::open::text(path, LENGTH_MAX) {
            // Of a home that is closed to who runs this, such as the one that `setpriv` leaves, nothing is known.
            Err(_) if !must_exist && path.metadata().is_err() => {
                return Ok(Self { path: Some(path.to_owned()), ..Self::default() });
            }
            Err(error) => {
                let path = path.display();
                return Err(Failure::usage(format!("the settings in {path} cannot be read: {error}")));
            }
            Ok(text) => text,
        };
        let entries =
            entries(&text, known).map_err(|mistakes| Failure::plan(&path.display().to_string(), &text, mistakes))?;
        Ok(Self { path: Some(path.to_owned()), is_there: true, text, entries })
    }

    /// The line on which an entry's value stands, from 1.
    pub fn line(&self, entry: &ConfigEntry) -> usize {
        1 + self.text[..entry.span.start].matches('\n').count()
    }

    pub fn wrong(&self, entry: &ConfigEntry, why: &str) -> Failure {
        let message = format!("`{}` cannot be `{}`", entry.option, entry.values.join(" "));
        let mistake = mistake("config::value", entry.span.clone(), message, why.to_owned());
        let path = self.path.as_ref().map_or_else(String::new, |path| path.display().to_string());
        Failure::plan(&path, &self.text, vec![mistake])
    }
}

fn mistake(code: &'static str, span: Range<usize>, message: String, help: String) -> Diagnostic {
    Diagnostic { code, message, span, label: "given here".to_owned(), help: Some(help), also: None }
}

/// The long name of an option, however its words are joined.
pub fn joined(key: &str) -> String {
    key.replace('_', "-")
}

/// What a text says; all mistakes where it has any.
fn entries(text: &str, known: &KnownOptions) -> Result<Vec<ConfigEntry>, Vec<Diagnostic>> {
    let (document, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let mistake = |error: &toml::de::Error| Diagnostic {
            code: "config::syntax",
            message: error.message().to_owned(),
            span: error.span().unwrap_or(text.len()..text.len()),
            label: "here".to_owned(),
            help: None,
            also: None,
        };
        return Err(errors.iter().map(mistake).collect());
    }
    let mut found = Vec::new();
    let mut mistakes = Vec::new();
    let own = known.commands.iter().flat_map(|(_, options)| options.clone());
    let everything: Vec<String> = known.general.iter().cloned().chain(own).collect();
    for (key, value) in document.get_ref() {
        let section = known.commands.iter().find(|(command, _)| command == key.get_ref().as_ref());
        let is_option = everything.iter().any(|option| joined(option) == joined(key.get_ref()));
        match (section, value.get_ref()) {
            (Some((command, options)), DeValue::Table(table)) => {
                for (key, value) in table {
                    if known.general.iter().any(|option| joined(option) == joined(key.get_ref())) {
                        let message = format!("`{}` is set for all commands at once", key.get_ref());
                        let help = "put it at the top of the file, above the first table".to_owned();
                        mistakes.push(mistake("config::unknown-key", key.span(), message, help));
                        continue;
                    }
                    let place = format!("`assay {command}` has no option");
                    found.extend(entry(Some(command), key, value, options, &place, &mut mistakes));
                }
            }
            (Some((command, _)), _) if !is_option => {
                let message = format!("`{command}` is a command, not an option");
                let help = format!("put its options into a table: a line `[{command}]`, and below it `OPTION = VALUE`");
                mistakes.push(mistake("config::unknown-key", key.span(), message, help));
            }
            (None, DeValue::Table(_)) if is_option => {
                let message = format!("`{}` is an option, not a command", key.get_ref());
                let help = "give it a value in place of a table".to_owned();
                mistakes.push(mistake("config::value", value.span(), message, help));
            }
            (None, DeValue::Table(_)) => {
                let commands: Vec<String> = known.commands.iter().map(|(command, _)| command.clone()).collect();
                let message = format!("there is no command `{}`", key.get_ref());
                mistakes.push(mistake("config::unknown-command", key.span(), message, near(key.get_ref(), &commands)));
            }
            _ => found.extend(entry(None, key, value, &everything, "there is no option", &mut mistakes)),
        }
    }
    if mistakes.is_empty() { Ok(found) } else { Err(mistakes) }
}

/// One key, if nothing is wrong with it.
fn entry(
    command: Option<&String>,
    key: &Spanned<std::borrow::Cow<str>>,
    value: &Spanned<DeValue>,
    options: &[String],
    place: &str,
    mistakes: &mut Vec<Diagnostic>,
) -> Option<ConfigEntry> {
    let option = options.iter().find(|option| joined(option) == joined(key.get_ref()));
    let Some(option) = option else {
        let message = format!("{place} `{}`", key.get_ref());
        mistakes.push(mistake("config::unknown-key", key.span(), message, near(key.get_ref(), options)));
        return None;
    };
    if CONSENT.contains(&option.as_str()) {
        let message = format!("`{option}` names a target or gives consent, and cannot be a setting");
        let help = format!("give --{option} on the command line each time");
        mistakes.push(mistake("config::consent", key.span(), message, help));
        return None;
    }
    let texts = match value.get_ref() {
        DeValue::Array(items) => items.iter().map(|item| word(item.get_ref())).collect(),
        one => word(one).map(|word| vec![word]),
    };
    let Some(values) = texts else {
        let message = format!("the value of `{option}` is neither text nor a number");
        let help = "give it as it would be typed, in quotes".to_owned();
        mistakes.push(mistake("config::value", value.span(), message, help));
        return None;
    };
    Some(ConfigEntry { command: command.cloned(), option: option.clone(), values, span: value.span() })
}

/// A value as it would be typed.
fn word(value: &DeValue) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) => Some(number.as_str().replace('_', "")),
        DeValue::Float(number) => Some(number.as_str().replace('_', "")),
        DeValue::Boolean(is) => Some(is.to_string()),
        _ => None,
    }
}

/// What was meant, if a name is near, else all there are.
fn near(word: &str, known: &[String]) -> String {
    let mut names = known.to_vec();
    names.sort();
    names.dedup();
    let all: Vec<String> = names.iter().map(|name| joined(name)).collect();
    let near = nearest(&joined(word), &all).and_then(|near| names.iter().find(|name| joined(name) == *near));
    near.map_or_else(|| format!("use one of {}", names.join(", ")), |name| format!("did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> KnownOptions {
        let options = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let commands = vec![
            ("review".to_owned(), options(&["seed", "full-length", "overwrite", "resume", "purge"])),
            ("run".to_owned(), options(&["seed", "number_ios", "filename"])),
        ];
        KnownOptions { general: options(&["store"]), commands }
    }

    #[test]
    fn keys_are_for_all_commands_or_for_one() {
        let found = entries("seed = 7\n[run]\nnumber-ios = \"1k\"\n[review]\nfull_length = true\n", &known()).unwrap();
        let said: Vec<_> =
            found.iter().map(|e| (e.command.as_deref(), e.option.as_str(), e.values.join(","))).collect();
        assert!(said.contains(&(None, "seed", "7".to_owned())), "{said:?}");
        assert!(said.contains(&(Some("run"), "number_ios", "1k".to_owned())), "{said:?}");
        assert!(said.contains(&(Some("review"), "full-length", "true".to_owned())), "{said:?}");
    }

    #[test]
    fn what_is_wrong_is_told_with_what_was_meant() {
        //            text                        code                      help
        let table = [
            ("sead = 7", "config::unknown-key", "did you mean `seed`?"),
            ("[reviw]\nseed = 7", "config::unknown-command", "did you mean `review`?"),
            ("[run]\nfull-length = true", "config::unknown-key", "use one of filename, number_ios, seed"),
            ("[assay]\nstore = \"a\"", "config::unknown-command", "use one of review, run"),
            ("[run]\nstore = \"a\"", "config::unknown-key", "at the top of the file"),
            ("run = 7", "config::unknown-key", "a line `[run]`"),
            ("[seed]\na = 1", "config::value", "in place of a table"),
            ("overwrite = true", "config::consent", "--overwrite on the command line"),
            ("[run]\nfilename = \"/dev/sdb\"", "config::consent", "--filename on the command line"),
            ("[review]\nresume = \"last\"", "config::consent", "--resume on the command line"),
            ("purge = \"sanitize\"", "config::consent", "--purge on the command line"),
            ("seed = 2026-01-01", "config::value", "in quotes"),
        ];
        for (text, code, help) in table {
            let mistakes = entries(text, &known()).unwrap_err();
            assert_eq!(mistakes[0].code, code, "{text}");
            assert!(mistakes[0].help.as_ref().unwrap().contains(help), "{text}: {:?}", mistakes[0].help);
        }
        assert_eq!(entries("seed = ", &known()).unwrap_err()[0].code, "config::syntax");
    }
}

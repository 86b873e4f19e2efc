//! Options that are set once and for all: by the environment, or by the file of settings.
//!
//! What is typed goes before the environment, that before the file, and that before the default. Settings are put in the
//! place of defaults, so that they never stand in the way of what is typed: `--resume` refuses a `--seed` beside it, and
//! takes no notice of one that is set.

use std::ffi::OsString;
use std::fmt;

use clap::{Arg, ArgAction, Command};

use crate::config_file::{CONSENT, ConfigEntry, ConfigFile, KnownOptions, joined};
use crate::failure::Failure;

/// What separates values in a variable of an option that may be given several times.
const SEPARATOR: char = ';';

/// Where the value of an option comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    /// A variable of the environment.
    Variable(String),
    /// A line of the file, from 1.
    File(usize),
    /// What it is if nothing is said.
    Default,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::File(line) => write!(f, "config.toml, line {line}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// What an option of a command is, unless it is typed.
#[derive(Clone, Debug)]
pub struct OptionSetting {
    /// The option's long name.
    pub option: String,
    /// The variable that sets it for all commands.
    pub variable: String,
    /// Its values; none where it has no default.
    pub values: Vec<String>,
    /// Where they come from.
    pub origin: SettingOrigin,
}

/// The environment and the file of settings.
pub struct OptionSettings {
    /// The file.
    pub file: ConfigFile,
    variables: Vec<(String, String)>,
}

impl OptionSettings {
    /// Those of this process.
    ///
    /// # Errors
    /// If the file is wrong, or a variable is no text.
    pub fn of_process(command: &Command) -> Result<Self, Failure> {
        let file = ConfigFile::find(|name| std::env::var_os(name), &known(command))?;
        Ok(Self { file, variables: ours(std::env::vars_os())? })
    }

    /// The variables that begin as settings do and set nothing.
    pub fn strangers(&self, command: &Command) -> Vec<&str> {
        let own = ["ASSAY_CONFIG".to_owned(), "ASSAY_COMPLETE".to_owned()];
        let known = known(command);
        let general = known.general.iter().map(|option| variable(None, option));
        let of_commands = known.commands.iter().flat_map(|(name, options)| {
            let all = options.iter().map(|option| variable(None, option));
            all.chain(options.iter().map(|option| variable(Some(name), option)))
        });
        let known: Vec<String> = general.chain(of_commands).chain(own).collect();
        self.variables.iter().map(|(name, _)| name.as_str()).filter(|name| !known.iter().any(|k| k == name)).collect()
    }

    /// The same command line, with the settings of the command of this name, and of the whole, in place of defaults.
    ///
    /// # Errors
    /// If a setting makes no sense; it is told where it stands.
    pub fn on(&self, whole: Command, name: Option<&str>) -> Result<Command, Failure> {
        self.file.entries.iter().try_for_each(|entry| self.taken_by_any(&whole, entry))?;
        let mut whole = self.applied(whole, None)?;
        if let Some(name) = name.filter(|name| whole.find_subcommand(name).is_some()) {
            let command = whole.find_subcommand(name).expect("it was just found").clone();
            let command = self.applied(command, Some(name))?;
            whole = whole.mut_subcommand(name, |_| command);
        }
        Ok(whole)
    }

    /// Makes sure that a value of the file is one that a command it is for takes, whichever command is carried out now.
    fn taken_by_any(&self, whole: &Command, entry: &ConfigEntry) -> Result<(), Failure> {
        let is_meant = |command: &&Command| entry.command.as_deref().is_none_or(|name| command.get_name() == name);
        let of_all = options(whole).filter(|option| long(option) == entry.option);
        let own =
            whole.get_subcommands().filter(is_meant).flat_map(options).filter(|option| long(option) == entry.option);
        let setting = |option: &Arg| OptionSetting {
            option: long(option).to_owned(),
            variable: variable(None, long(option)),
            values: entry.values.clone(),
            origin: SettingOrigin::File(self.file.line(entry)),
        };
        let mut refused = None;
        for option in of_all.chain(own) {
            match self.checked(option, &setting(option), entry.command.as_deref()) {
                Ok(_) => return Ok(()),
                Err(failure) => refused = refused.or(Some(failure)),
            }
        }
        refused.map_or(Ok(()), Err)
    }

    fn applied(&self, mut command: Command, name: Option<&str>) -> Result<Command, Failure> {
        let options: Vec<Arg> = options(&command).cloned().collect();
        for option in options {
            let setting = self.of(&option, name);
            if let (SettingOrigin::Variable(variable), true) =
                (&setting.origin, CONSENT.contains(&setting.option.as_str()))
            {
                return Err(Failure::usage(format!(
                    "{variable} is set, and --{option} names a target or gives consent, only on the command line; \
                     unset {variable}, and give --{option} each time",
                    option = setting.option
                )));
            }
            if setting.origin == SettingOrigin::Default {
                continue;
            }
            let values = self.checked(&option, &setting, name)?;
            command = command.mut_arg(option.get_id().clone(), |option| option.required(false).default_values(values));
        }
        Ok(command)
    }

    /// A line for each option of a command that is set, in words.
    pub fn taken(&self, whole: &Command, name: Option<&str>) -> Vec<String> {
        let command = name.and_then(|name| whole.find_subcommand(name));
        let all = self.all(whole, None).into_iter().chain(command.map(|it| self.all(it, name)).unwrap_or_default());
        let set = all.filter(|setting| setting.origin != SettingOrigin::Default);
        set.map(|setting| format!("--{} {} by {}", setting.option, setting.values.join(" "), setting.origin)).collect()
    }

    /// What the options of a command are, unless they are typed.
    pub fn all(&self, command: &Command, name: Option<&str>) -> Vec<OptionSetting> {
        options(command).map(|option| self.of(option, name)).collect()
    }

    /// What an option is, unless it is typed.
    fn of(&self, option: &Arg, command: Option<&str>) -> OptionSetting {
        let long = long(option);
        let general = variable(None, long);
        let special = command.map(|command| variable(Some(command), long));
        let named = |name: &String| self.variables.iter().find(|(variable, _)| variable == name);
        let (values, origin) = if let Some((name, value)) = special.as_ref().and_then(named).or_else(|| named(&general))
        {
            let values = match option.get_action() {
                ArgAction::Append => value.split(SEPARATOR).map(|one| one.trim().to_owned()).collect(),
                _ => vec![value.clone()],
            };
            (values, SettingOrigin::Variable(name.clone()))
        } else if let Some(entry) = self.entry(long, command) {
            (entry.values.clone(), SettingOrigin::File(self.file.line(entry)))
        } else {
            let values = option.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
            (values, SettingOrigin::Default)
        };
        OptionSetting { option: long.to_owned(), variable: general, values, origin }
    }

    /// What the file says of an option: of this command's before that of all.
    fn entry(&self, long: &str, command: Option<&str>) -> Option<&ConfigEntry> {
        let of = |wanted: Option<&str>| {
            self.file.entries.iter().find(|entry| entry.option == long && entry.command.as_deref() == wanted)
        };
        command.and_then(|command| of(Some(command))).or_else(|| of(None))
    }

    /// The values as clap takes them, if it does.
    fn checked(&self, option: &Arg, setting: &OptionSetting, command: Option<&str>) -> Result<Vec<String>, Failure> {
        let wrong = |why: &str| match &setting.origin {
            SettingOrigin::Variable(name) => {
                let (long, values) = (&setting.option, setting.values.join(" "));
                let only = command.map(|command| {
                    let own = variable(Some(command), long);
                    if own == *name { String::new() } else { format!(". {own} sets it for this command alone") }
                });
                Failure::usage(format!(
                    "{name} is `{values}`, which --{long} does not take: {why}{}",
                    only.unwrap_or_default()
                ))
            }
            _ => {
                let entry = self.entry(&setting.option, command).expect("a setting of the file has an entry");
                let elsewhere = command.filter(|_| entry.command.is_none());
                let elsewhere = elsewhere.map(|command| {
                    format!(
                        "; or set it for the commands that it is meant for alone, in their tables, such as [{command}]"
                    )
                });
                self.file.wrong(entry, &format!("{why}{}", elsewhere.unwrap_or_default()))
            }
        };
        if matches!(option.get_action(), ArgAction::SetTrue) {
            let truth = match setting.values[..].iter().map(|value| value.to_lowercase()).collect::<Vec<_>>()[..] {
                [ref one] if ["1", "true", "yes", "on"].contains(&one.as_str()) => "true",
                [ref one] if ["0", "false", "no", "off"].contains(&one.as_str()) => "false",
                _ => return Err(wrong("give true or false")),
            };
            return Ok(vec![truth.to_owned()]);
        }
        // `direct = false` is as good as `direct = 0`.
        let digits = |value: &String| match value.as_str() {
            "true" => "1".to_owned(),
            "false" => "0".to_owned(),
            other => other.to_owned(),
        };
        let values: Vec<String> = match &setting.origin {
            SettingOrigin::File(_) => setting.values.iter().map(digits).collect(),
            _ => setting.values.clone(),
        };
        let trial = Arg::new("value")
            .long(setting.option.clone())
            .action(ArgAction::Append)
            .num_args(1)
            .allow_hyphen_values(true)
            .value_parser(option.get_value_parser().clone());
        let many = matches!(option.get_action(), ArgAction::Append);
        if !many && values.len() != 1 {
            return Err(wrong("give one value"));
        }
        let typed = values.iter().map(|value| format!("--{}={value}", setting.option));
        match Command::new("assay").no_binary_name(true).arg(trial).try_get_matches_from(typed) {
            Ok(_) => Ok(values),
            Err(refusal) => Err(wrong(&reason(&refusal))),
        }
    }
}

/// Why a value is refused: clap's words without those that name the option.
fn reason(refusal: &clap::Error) -> String {
    let text = refusal.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let first = lines.first().copied().unwrap_or_default();
    let first = first.split_once(">': ").map_or(first, |(_, reason)| reason);
    match lines.iter().find(|line| line.starts_with("[possible values")) {
        Some(possible) => possible.trim_matches(['[', ']']).replace("possible values: ", "give one of "),
        None => first.trim_start_matches("error: ").to_owned(),
    }
}

/// The variables of the environment that begin as settings do, apart from empty ones.
fn ours(variables: impl Iterator<Item = (OsString, OsString)>) -> Result<Vec<(String, String)>, Failure> {
    let mut found = Vec::new();
    for (name, value) in variables.filter(|(_, value)| !value.is_empty()) {
        let Some(name) = name.to_str().filter(|name| name.starts_with("ASSAY_")) else { continue };
        let value = value.into_string().map_err(|_| Failure::usage(format!("{name} is not text in UTF-8")))?;
        found.push((name.to_owned(), value));
    }
    Ok(found)
}

/// The variable of an option: `ASSAY_` and its long name in capitals; with the command's name between, for that alone.
pub fn variable(command: Option<&str>, long: &str) -> String {
    let words: Vec<&str> = ["assay"].into_iter().chain(command).chain([long]).collect();
    joined(&words.join("-")).replace('-', "_").to_uppercase()
}

/// The options of a command, apart from those that only print something.
fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    let prints = |arg: &&Arg| {
        matches!(arg.get_action(), ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version)
    };
    command.get_arguments().filter(|arg| arg.get_long().is_some()).filter(move |arg| !prints(arg))
}

fn long(option: &Arg) -> &str {
    option.get_long().expect("options have long names")
}

/// What can be set: the options of every command, and those of all under the name of the whole.
fn known(whole: &Command) -> KnownOptions {
    let of = |command: &Command| {
        (command.get_name().to_owned(), options(command).map(|option| long(option).to_owned()).collect())
    };
    let shown = whole.get_subcommands().filter(|command| !command.is_hide_set());
    KnownOptions { general: of(whole).1, commands: shown.map(of).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::command;

    /// A value that an option takes.
    fn legal(option: &Arg) -> Option<String> {
        let words =
            ["7", "true", "review", "read", "10s", "4k", "50", "4k/60:64k/40", "random", "crc32c", "none", "rapl"];
        let words = words.into_iter().chain(["io_uring", "stop", "discard", "150TB", "0-3", "5%", "dsync", "oltp"]);
        let more = [
            "poisson",
            "shared",
            "randread-4k-qd1.p99 < 500us",
            "89.90EUR",
            "linear",
            "nand.read=20us..80us",
            "throughput",
            "fixed",
            "0.5",
            "zipf:1.2",
            "iops_slope:0.1%",
            "off",
            "1",
            "vanish",
            "a-token-of-16-characters",
            "1/2",
            "short",
        ];
        let values = option.get_possible_values().into_iter().map(|value| value.get_name().to_owned());
        let all: Vec<String> = values.chain(words.chain(more).map(str::to_owned)).collect();
        let settings = |value: &str| OptionSettings {
            file: ConfigFile::default(),
            variables: vec![(variable(None, long(option)), value.to_owned())],
        };
        all.into_iter().find(|value| {
            let settings = settings(value);
            settings.checked(option, &settings.of(option, None), None).is_ok()
        })
    }

    #[test]
    fn every_option_is_also_a_variable() {
        let mut count = 0;
        for sub in command().get_subcommands() {
            for option in options(sub).filter(|option| !CONSENT.contains(&long(option))) {
                let value = legal(option).unwrap_or_else(|| panic!("no legal value for --{}", long(option)));
                let settings = OptionSettings {
                    file: ConfigFile::default(),
                    variables: vec![(variable(None, long(option)), value.clone())],
                };
                let set = settings.on(command(), Some(sub.get_name())).unwrap();
                let set = set.find_subcommand(sub.get_name()).unwrap();
                let found = set.get_arguments().find(|arg| arg.get_id() == option.get_id()).unwrap();
                assert!(!found.get_default_values().is_empty(), "{}", variable(None, long(option)));
                assert!(settings.strangers(&command()).is_empty());
                count += 1;
            }
            // Only commands have options that can be set, not what stands beneath them: theirs are always typed.
            let is_typed = |option: &clap::Arg| option.is_required_set() || !option.get_action().takes_values();
            assert!(sub.get_subcommands().flat_map(options).all(is_typed));
        }
        assert!(count > 80, "{count}");
    }

    #[test]
    fn no_variable_has_two_meanings() {
        let mut meanings = std::collections::HashMap::new();
        let known = known(&command());
        for (command, options) in known.commands.iter().chain([&("every".to_owned(), known.general.clone())]) {
            for option in options {
                for (name, meaning) in [
                    (variable(None, option), option.clone()),
                    (variable(Some(command), option), format!("{command} {option}")),
                ] {
                    let other = meanings.insert(name.clone(), meaning.clone());
                    assert!(other.as_ref().is_none_or(|other| *other == meaning), "{name}: {other:?} and {meaning}");
                }
            }
        }
    }
}

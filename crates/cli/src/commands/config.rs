//! `assay config`: what options are unless they are typed, and where that comes from.

use clap::Command;
use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use serde_json::json;

use crate::failure::Failure;
use crate::format::Format;
use crate::settings::{OptionSetting, OptionSettings, SettingOrigin};
use crate::terminal::say;

/// What was asked on the command line.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "docs/configuration.md has the names of the variables and the format of the file.")]
pub struct Arguments {
    /// Show every option of this command, also those that nothing sets
    command: Option<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Prints the settings.
pub fn run(arguments: &Arguments, settings: &OptionSettings, whole: &Command) -> Result<(), Failure> {
    let asked = arguments.command.as_deref();
    if let Some(name) = asked.filter(|name| whole.find_subcommand(name).is_none()) {
        return Err(Failure::usage(format!("there is no command `{name}`; `assay help` lists them")));
    }
    let mut groups: Vec<(Option<&str>, Vec<OptionSetting>)> = vec![(None, settings.all(whole, None))];
    let wanted = whole.get_subcommands().filter(|command| asked.is_none_or(|asked| command.get_name() == asked));
    groups.extend(wanted.map(|command| (Some(command.get_name()), settings.all(command, Some(command.get_name())))));
    if asked.is_none() {
        groups.iter_mut().for_each(|(_, all)| all.retain(|setting| setting.origin != SettingOrigin::Default));
    }
    groups.retain(|(_, all)| !all.is_empty());
    match arguments.format {
        Format::Text => say(&text(settings, &groups, whole)),
        Format::Json => say(&document(settings, &groups)),
    }
}

fn text(settings: &OptionSettings, groups: &[(Option<&str>, Vec<OptionSetting>)], whole: &Command) -> String {
    let mut page = match &settings.file.path {
        Some(path) if settings.file.is_there => format!("Settings: {}\n", path.display()),
        Some(path) => format!("Settings: {} (not there)\n", path.display()),
        None => "Settings: no file, for neither XDG_CONFIG_HOME nor HOME is set\n".to_owned(),
    };
    for (command, all) in groups {
        page += &format!(
            "\n{}\n{}\n",
            command.map_or("every command".to_owned(), |name| format!("assay {name}")),
            rows(all).trim_fmt()
        );
    }
    if groups.is_empty() {
        page += "\nNothing is set; `assay config COMMAND` shows a command's options and variables.\n";
    }
    for stranger in settings.strangers(whole) {
        page += &format!("\n{stranger} has no effect: no option has this name.\n");
    }
    page
}

/// A line for each setting: what it is, and what sets it; in brackets the variable that would where nothing does.
fn rows(all: &[OptionSetting]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["option", "value", "set by (or would be)"]);
    for setting in all {
        let value = if setting.values.is_empty() { "–".to_owned() } else { setting.values.join(" ") };
        let by = match setting.origin {
            SettingOrigin::Default => format!("({})", setting.variable),
            _ => origin(setting),
        };
        table.add_row([format!("--{}", setting.option), value, by]);
    }
    table
}

fn origin(setting: &OptionSetting) -> String {
    setting.origin.to_string()
}

fn document(settings: &OptionSettings, groups: &[(Option<&str>, Vec<OptionSetting>)]) -> String {
    let row = |command: &Option<&str>, setting: &OptionSetting| {
        json!({
            "command": command,
            "option": setting.option,
            "variable": setting.variable,
            "values": setting.values,
            "origin": origin(setting),
        })
    };
    let rows: Vec<_> =
        groups.iter().flat_map(|(name, all)| all.iter().map(move |setting| row(name, setting))).collect();
    let document = json!({ "file": settings.file.path, "is_there": settings.file.is_there, "options": rows });
    format!("{}\n", serde_json::to_string_pretty(&document).expect("names and texts always serialise"))
}

//! Manual pages: one for the program, one for each command, also for those of `assay drives` and `assay plans`.

use std::io;
use std::path::Path;

use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::command_line;
use crate::config_file::CONSENT;
use crate::examples;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::outputs;
use crate::settings::variable;

/// The options that every command has, which the program's own page has the variables of.
const GENERAL: [&str; 4] = ["store", "force", "quiet", "verbose"];
/// What is kept where.
const FILES: [(&str, &str); 2] = [
    ("~/.config/assay/config.toml", "settings: see assay-config(1)"),
    ("~/.local/share/assay/results.sqlite", "results store"),
];
/// Variables that are no options.
const VARIABLES: [(&str, &str); 4] = [
    ("ASSAY_CONFIG", "configuration file"),
    ("NO_COLOR", "disables colours"),
    ("CLICOLOR_FORCE", "1: colours without a terminal, too"),
    ("COLUMNS", "maximum width of tables"),
];

/// Writes the pages into `folder`, which is made if need be; how many there are.
///
/// # Errors
/// If a page cannot be written.
pub fn write(folder: &Path) -> Result<usize, Failure> {
    host::open::make_folder(folder).map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
    let mut whole = command_line::plain().disable_help_subcommand(true);
    for name in whole.get_subcommands().map(|command| command.get_name().to_owned()).collect::<Vec<_>>() {
        whole = whole.mut_subcommand(name, |command| command.disable_help_subcommand(true));
    }
    whole.build();
    let mut pages = vec![page(&whole, "assay", "")];
    for command in whole.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = format!("assay-{}", command.get_name());
        pages.push(page(command, &name, command.get_name()));
        let below = command.get_subcommands();
        pages.extend(below.map(|below| page(below, &format!("{name}-{}", below.get_name()), "")));
    }
    for (name, text) in &pages {
        outputs::write(&folder.join(format!("{name}.1")), text.as_bytes())?;
    }
    Ok(pages.len())
}

/// The name of a command's page, and its text.
fn page(command: &Command, name: &str, examples: &str) -> (String, String) {
    let man = Man::new(command.clone().name(name.to_owned()).version(env!("CARGO_PKG_VERSION")))
        .title(name.to_uppercase())
        .source(concat!("assay ", env!("CARGO_PKG_VERSION")))
        .manual("User commands")
        .date(env!("ASSAY_DATE"));
    let mut text = Vec::new();
    compose(&man, command, name, examples, &mut text).expect("memory takes what is written");
    (name.to_owned(), tidied(&String::from_utf8(text).expect("pages are made of text")))
}

/// A page as clap_mangen makes it, without what readers of manuals complain of.
fn tidied(page: &str) -> String {
    // Accents are defined anew before each heading.
    let (accents, rest) = page.split_at(page.find(".TH").expect("a page has a title"));
    // A blank line is one macro, and what clap calls extra are notes.
    let rest = rest.replace(accents, "").replace("\n.br\n\n.br\n", "\n.sp\n").replace(".SH EXTRA\n", ".SH NOTES\n");
    format!("{accents}{rest}")
}

fn compose(man: &Man, command: &Command, page: &str, name: &str, text: &mut Vec<u8>) -> io::Result<()> {
    man.render_title(text)?;
    man.render_name_section(text)?;
    man.render_synopsis_section(text)?;
    man.render_description_section(text)?;
    man.render_options_section(text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(text)?;
    }
    if command.get_after_help().is_some() {
        man.render_extra_section(text)?;
    }
    let mut more = Roff::default();
    let is_whole = page == "assay";
    let examples = if is_whole || !name.is_empty() { examples::of(name) } else { &[] };
    if !examples.is_empty() {
        more.control("SH", ["EXAMPLES"]);
    }
    for (typed, does) in examples {
        more.control("TP", []).text([roman(*typed)]).text([roman(*does)]);
    }
    environment(command, name, &mut more);
    more.control("SH", ["FILES"]);
    for (file, holds) in FILES {
        more.control("TP", []).text([roman(file)]).text([roman(holds)]);
    }
    more.control("SH", ["EXIT STATUS"]);
    for exit in Exit::ALL {
        more.control("TP", []).text([roman(exit.code().to_string())]).text([roman(exit.meaning())]);
    }
    if !is_whole {
        more.control("SH", ["SEE ALSO"]).text([roman("assay(1), assay-config(1)")]);
    }
    more.to_writer(text)
}

/// The variables of a command's own options, and those of the whole program.
fn environment(command: &Command, name: &str, page: &mut Roff) {
    let own = |option: &&Arg| name.is_empty() || !GENERAL.contains(&option.get_long().unwrap_or_default());
    let options = command.get_arguments().filter(own).filter_map(Arg::get_long);
    let options: Vec<&str> =
        options.filter(|long| !["help", "version"].contains(long) && !CONSENT.contains(long)).collect();
    page.control("SH", ["ENVIRONMENT"]);
    for option in options {
        let variables = match name {
            "" => variable(None, option),
            name => format!("{}, {}", variable(Some(name), option), variable(None, option)),
        };
        page.control("TP", []).text([roman(variables)]).text([roman(format!("the same as --{option}"))]);
    }
    for (variable, does) in VARIABLES {
        page.control("TP", []).text([roman(variable)]).text([roman(does)]);
    }
}

//! Manual pages: one for the program, one for each command.

use std::io;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::command_line::Cli;
use crate::examples;
use crate::exit::Exit;

/// Writes the pages into `folder`, which is made if need be; how many there are.
///
/// # Errors
/// If a page cannot be written.
pub fn write(folder: &Path) -> io::Result<usize> {
    std::fs::create_dir_all(folder)?;
    let mut whole = Cli::command();
    whole.build();
    let mut pages = vec![page(&whole, "assay", "")];
    let commands = whole.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help");
    for command in commands {
        pages.push(page(command, &format!("assay-{}", command.get_name()), command.get_name()));
    }
    for (name, text) in &pages {
        std::fs::write(folder.join(format!("{name}.1")), text)?;
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
    compose(&man, command, examples, &mut text).expect("memory takes what is written");
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

fn compose(man: &Man, command: &Command, name: &str, text: &mut Vec<u8>) -> io::Result<()> {
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
    if !examples::of(name).is_empty() {
        more.control("SH", ["EXAMPLES"]);
    }
    for (typed, does) in examples::of(name) {
        more.control("TP", []).text([roman(*typed)]).text([roman(*does)]);
    }
    more.control("SH", ["EXIT STATUS"]);
    for exit in Exit::ALL {
        more.control("TP", []).text([roman(exit.code().to_string())]).text([roman(exit.meaning())]);
    }
    more.to_writer(text)
}

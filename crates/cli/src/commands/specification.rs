//! The options of `assay run` that are fields of a workload, as the table of fields has them.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command};
use lab::plan::Field;
use workload::{Mark, Workload};

/// What is asked for; each value is checked as it is read and kept as it was written.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(Field, String)>);

/// The record that a run leaves.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = TRACES)]
pub struct Record {
    /// Write the submitted requests to this file as a version 3 fio iolog when the run ends
    #[arg(long, visible_aliases = ["write_iolog", "write-iolog"], value_name = "FILE")]
    pub record: Option<PathBuf>,
}

const TRACES: &str = "Traces";

/// The fields that are options here; the target has the others among its own.
fn fields() -> impl Iterator<Item = Field> {
    Field::ALL.into_iter().filter(|field| !field.is(Mark::OfTarget))
}

/// The option for a field.
fn option(field: Field) -> Arg {
    let dashed = |name: &str| name.replace('_', "-");
    let aliases = field.aliases().iter().map(|name| (*name).to_owned());
    let dashed = field.names().filter(|name| name.contains('_')).map(dashed);
    let argument = Arg::new(field.name())
        .long(field.name())
        .visible_aliases(aliases.chain(dashed).collect::<Vec<_>>())
        .value_name(field.takes())
        .value_parser(move |text: &str| read(field, text))
        .help(field.about());
    let argument = match field {
        field if field.is(Mark::Basic) => argument,
        field if field.is(Mark::Replay) => argument.help_heading(TRACES),
        _ => argument.help_heading("Access specification"),
    };
    if field.is_switch() { argument.num_args(0..=1).default_missing_value("1") } else { argument }
}

/// Takes what `field` can hold, as it is written; a trace by its full name, by which it is found again, if it has one.
fn read(field: Field, text: &str) -> Result<String, String> {
    field.set(&mut Workload::default(), text).map_err(|error| error.to_string())?;
    match std::path::absolute(text) {
        Ok(path) if field == Field::ReadIolog && text != "-" && !text.starts_with(lab::BUILTIN_TRACE) => {
            Ok(path.display().to_string())
        }
        _ => Ok(text.to_owned()),
    }
}

impl clap::Args for Fields {
    fn augment_args(command: Command) -> Command {
        command.args(fields().map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Fields {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |field: Field| Some((field, matches.get_one::<String>(field.name())?.clone()));
        Ok(Self(fields().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Fields {
    /// The fields that were given, in the order in which they are set, with their values.
    pub fn given(&self) -> impl Iterator<Item = (Field, &str)> {
        self.0.iter().map(|(field, text)| (*field, text.as_str()))
    }

    /// The workload that they make.
    pub fn workload(&self) -> Workload {
        let mut workload = Workload::default();
        for (field, text) in self.given() {
            field.set(&mut workload, text).expect("the values were read before");
        }
        workload
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Command {
        let command = crate::command_line::command();
        command.find_subcommand("run").expect("there is a command `run`").clone()
    }

    #[test]
    fn every_field_is_an_option_by_all_of_its_names() {
        for field in Field::ALL {
            let run = run();
            let option = run.get_arguments().find(|option| option.get_long() == Some(field.name()));
            let option = option.unwrap_or_else(|| panic!("`run` has no --{}", field.name()));
            let aliases = option.get_all_aliases().unwrap_or_default();
            let is_known = |name: &str| option.get_long() == Some(name) || aliases.contains(&name);
            if !field.is(Mark::OfTarget) {
                assert!(field.names().all(is_known) && is_known(&field.name().replace('_', "-")), "{field:?}");
            }
        }
    }

    #[test]
    fn what_is_typed_is_what_is_asked_for() {
        let words = ["run", "--rw=randrw", "--ba", "4k", "--ramp-time", "1s", "--zero_buffers", "--iodepth", "8"];
        let matches = run().try_get_matches_from(words).unwrap();
        let fields = <Fields as clap::FromArgMatches>::from_arg_matches(&matches).unwrap();
        let given: Vec<String> = fields.given().map(|(field, text)| format!("{}={text}", field.name())).collect();
        assert_eq!(given, ["rw=randrw", "iodepth=8", "blockalign=4k", "zero_buffers=1", "ramp_time=1s"]);
        let workload = fields.workload();
        assert_eq!((workload.queue_depth, workload.compressible), (8, 100));
        let said = run().try_get_matches_from(["run", "--rw=randreed"]).unwrap_err().to_string();
        assert!(said.contains("did you mean `randread`?"), "{said}");
    }
}

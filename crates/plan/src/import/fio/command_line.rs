//! fio's command line.
//!
//! It says what a job file says: options before the first `--name` are those of a global section, each `--name` begins a
//! job, and job files come after both.
//!
//! Source: fio 3.33, `init.c`, `parse_cmd_line`, which reads by `getopt_long_only`; `fio --help`.

use super::super::{Notice, Severity, SourceRange};
use super::logs;
use super::table::{self, FioOptionSpec, Treatment};

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Never.
    Nothing,
    /// Always: behind `=`, or the next word.
    Value,
    /// Behind `=` alone.
    Perhaps,
}

/// Options that are about the program and not about a job.
const PROGRAM: &[(&str, Takes, Treatment)] = &[
    ("output", Takes::Value, Treatment::Honoured),
    ("output-format", Takes::Value, Treatment::Honoured),
    ("minimal", Takes::Nothing, Treatment::Honoured),
    ("append-terse", Takes::Perhaps, Treatment::Honoured),
    ("terse-version", Takes::Value, Treatment::Honoured),
    ("version", Takes::Nothing, Treatment::Honoured),
    ("help", Takes::Nothing, Treatment::Honoured),
    ("showcmd", Takes::Nothing, Treatment::Honoured),
    ("parse-only", Takes::Nothing, Treatment::Honoured),
    ("readonly", Takes::Nothing, Treatment::Honoured),
    ("section", Takes::Value, Treatment::Honoured),
    ("warnings-fatal", Takes::Nothing, Treatment::Honoured),
    ("eta", Takes::Value, Treatment::Natural(ETA)),
    ("eta-interval", Takes::Value, Treatment::Natural(ETA)),
    ("eta-newline", Takes::Value, Treatment::Natural(ETA)),
    ("alloc-size", Takes::Value, Treatment::Natural("assay takes the memory that it needs")),
    ("max-jobs", Takes::Value, Treatment::Natural("there are at most 4096 jobs, as in fio")),
    ("aux-path", Takes::Value, Treatment::Natural("assay keeps its state in its store")),
    ("status-interval", Takes::Value, Treatment::Honoured),
    (
        "bandwidth-log",
        Takes::Nothing,
        lost("no log of all jobs together is written; `write_bw_log` writes one of each job"),
    ),
    (
        "latency-log",
        Takes::Value,
        Treatment::Refused(&[], "fio has given it up too; use the job's option `write_lat_log`"),
    ),
    ("idle-prof", Takes::Value, lost("idle time is not measured; processor time is in the output")),
    ("debug", Takes::Value, lost("there is no such debug output; `--verbose` prints more")),
    ("server", Takes::Perhaps, Treatment::Refused(&[], REMOTE)),
    ("client", Takes::Value, Treatment::Refused(&[], REMOTE)),
    ("remote-config", Takes::Value, Treatment::Refused(&[], REMOTE)),
    ("daemonize", Takes::Value, Treatment::Refused(&[], REMOTE)),
    ("cmdhelp", Takes::Perhaps, Treatment::Refused(&[], HELP)),
    ("enghelp", Takes::Perhaps, Treatment::Refused(&[], HELP)),
    (
        "cpuclock-test",
        Takes::Nothing,
        Treatment::Refused(&[], "`assay doctor` checks the clock and the rest of the machine"),
    ),
    ("crctest", Takes::Perhaps, Treatment::Refused(&[], INNER)),
    ("memcpytest", Takes::Perhaps, Treatment::Refused(&[], INNER)),
    ("inflate-log", Takes::Value, Treatment::Refused(&[], "it unpacks a log of fio's; fio does that")),
    ("profile", Takes::Value, Treatment::Refused(&[], "its requests are made by a test that is built into fio")),
    (
        "merge-blktrace-only",
        Takes::Nothing,
        Treatment::Refused(&[], "it merges recordings and runs nothing; fio does that"),
    ),
    ("trigger-file", Takes::Value, Treatment::Refused(&[], TRIGGER)),
    ("trigger-timeout", Takes::Value, Treatment::Refused(&[], TRIGGER)),
    ("trigger", Takes::Value, Treatment::Refused(&[], TRIGGER)),
    ("trigger-remote", Takes::Value, Treatment::Refused(&[], TRIGGER)),
];

const ETA: &str = "progress is shown on a terminal, and nowhere else; `--quiet` leaves it out";
const REMOTE: &str =
    "assay runs on this machine alone; run it on each host, by ssh, and collect the JSON or the stores";
const HELP: &str = "`assay run --help` lists the options; docs/import.md says what becomes of each of fio's";
const INNER: &str = "it measures a part of fio itself";
const TRIGGER: &str = "no command is run on a trigger; start it separately";

const fn lost(follows: &'static str) -> Treatment {
    Treatment::Lost(&[], follows)
}

/// What single letters stand for, although several options begin so.
/// Source: fio 3.33, `init.c`, `l_opts`.
const LETTERS: [(&str, &str); 39] = [
    ("o", "output"),
    ("l", "latency-log"),
    ("b", "bandwidth-log"),
    ("m", "minimal"),
    ("F", "output-format"),
    ("f", "append-terse"),
    ("v", "version"),
    ("h", "help"),
    ("c", "cmdhelp"),
    ("i", "enghelp"),
    ("s", "showcmd"),
    ("r", "readonly"),
    ("e", "eta"),
    ("O", "eta-interval"),
    ("E", "eta-newline"),
    ("d", "debug"),
    ("P", "parse-only"),
    ("x", "section"),
    ("X", "inflate-log"),
    ("a", "alloc-size"),
    ("p", "profile"),
    ("w", "warnings-fatal"),
    ("j", "max-jobs"),
    ("V", "terse-version"),
    ("S", "server"),
    ("D", "daemonize"),
    ("C", "client"),
    ("R", "remote-config"),
    ("T", "cpuclock-test"),
    ("G", "crctest"),
    ("M", "memcpytest"),
    ("I", "idle-prof"),
    ("L", "status-interval"),
    ("W", "trigger-file"),
    ("B", "trigger-timeout"),
    ("H", "trigger"),
    ("J", "trigger-remote"),
    ("K", "aux-path"),
    ("A", "merge-blktrace-only"),
];

/// The options of jobs that a command line may give without a value.
/// Source: fio 3.33, `options.c` and `engines/`, type `FIO_OPT_STR_SET`.
const BARE: [&str; 20] = [
    "bs_unaligned",
    "norandommap",
    "time_based",
    "verify_only",
    "exitall",
    "exitall_on_error",
    "stonewall",
    "new_group",
    "thread",
    "group_reporting",
    "zero_buffers",
    "refill_buffers",
    "hipri",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
    "userspace_reap",
    "listen",
    "pingpong",
    "xnvme_iovec",
];

/// What a word of the command line says of jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// `--name` begins a job.
    Job(String),
    /// An option of the job, or of all where none has begun.
    Option(&'static str, Option<String>),
}

/// An option about the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramOption {
    pub name: &'static str,
    /// Empty where it has none.
    pub value: String,
}

/// A command line of fio's, taken apart.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    /// Its words, a line each.
    pub(super) text: String,
    pub(super) said: Vec<(Said, SourceRange)>,
    /// What is asked of the program, in order.
    pub program: Vec<ProgramOption>,
    /// The job files, in order.
    pub files: Vec<String>,
    /// The words that are assay's own.
    pub own: Vec<String>,
    pub(super) notices: Vec<Notice>,
}

impl CommandLine {
    /// Whether it asks for any job.
    pub fn has_jobs(&self) -> bool {
        !self.files.is_empty() || self.said.iter().any(|(said, _)| matches!(said, Said::Job(name) if !is_global(name)))
    }

    /// Whether it has what cannot be done, whatever its jobs are.
    pub fn is_refused(&self) -> bool {
        self.notices.iter().any(|notice| notice.severity == Severity::Error)
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        match &self.files[..] {
            [] => "the command line".to_owned(),
            files => files.join(" and "),
        }
    }

    /// Whether the program is asked for this.
    pub fn asks(&self, name: &str) -> bool {
        self.program.iter().any(|option| option.name == name)
    }

    /// Takes `words` apart. `own` says of a name that is not fio's, or that is given in a way in which fio does not take it,
    /// whether it is an option of assay's.
    pub fn read(words: &[String], own: impl Fn(&str) -> Option<Takes>) -> Self {
        let mut line = Self::default();
        let mut words = words.iter().peekable();
        let mut number = 0;
        while let Some(word) = words.next() {
            number += 1;
            let place = line.keep(word, number);
            let Some(option) = option_of(word) else {
                line.positional(word);
                continue;
            };
            if option.is_empty() {
                words.by_ref().for_each(|word| line.positional(word));
                break;
            }
            let (name, mut value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            let follows = words.peek().map(|next| next.as_str());
            let Some(known) = Known::of(name, value.is_some(), follows, &own) else {
                line.unknown(name, place);
                continue;
            };
            let mut taken = None;
            if known.takes() == Takes::Value && value.is_none() {
                match follows.filter(|next| !is_option(next)) {
                    Some(next) => {
                        number += 1;
                        line.keep(next, number);
                        taken = words.next();
                        value = taken.cloned();
                    }
                    None if known.has_name_of_its_own() => {}
                    None => {
                        let message = format!("`{word}` has no value");
                        line.mistake(name, message, Some(format!("give one: `--{name}=VALUE`")), place);
                        continue;
                    }
                }
            }
            match known {
                Known::Program(name, _, treatment) => line.program(name, value, treatment, place),
                Known::Own(_) => line.own.extend([word].into_iter().chain(taken).cloned()),
                Known::Job(spec) if spec.name == "name" => {
                    line.said.push((Said::Job(value.unwrap_or_default()), place));
                }
                Known::Job(spec) => {
                    let name = spec.names().find(|other| *other == name).unwrap_or(spec.name);
                    line.said.push((Said::Option(name, value), place));
                }
            }
        }
        line
    }

    /// Adds a word to the text that messages point into.
    fn keep(&mut self, word: &str, number: usize) -> SourceRange {
        let start = self.text.len();
        self.text.extend(word.chars().map(|letter| if letter == '\n' { ' ' } else { letter }));
        let place = SourceRange { source: 0, span: start..self.text.len(), line: number };
        self.text.push('\n');
        place
    }

    fn positional(&mut self, word: &str) {
        match word.starts_with("sim:") {
            true => self.own.push(word.to_owned()),
            false => self.files.push(word.to_owned()),
        }
    }

    fn program(&mut self, name: &'static str, value: Option<String>, treatment: Treatment, place: SourceRange) {
        let value = value.unwrap_or_default();
        let mut tell = |severity, code, message, help: &str| {
            let (option, help) = (name.to_owned(), Some(help.to_owned()));
            self.notices.push(Notice { severity, code, option, message, help, place: place.clone() });
        };
        match treatment {
            Treatment::Lost(_, follows) => {
                tell(Severity::Warning, "fio::not-honoured", format!("`--{name}` is not honoured"), follows);
            }
            Treatment::Refused(_, why) => {
                tell(Severity::Error, "fio::refused", format!("`--{name}` cannot be done"), why);
            }
            Treatment::Honoured | Treatment::Natural(_) | Treatment::With(_) => {}
        }
        self.program.push(ProgramOption { name, value });
    }

    fn unknown(&mut self, name: &str, place: SourceRange) {
        let help = match table::meant(name) {
            Some(meant) => format!("did you mean `--{meant}`?"),
            None => "neither fio nor assay has one of this name; `assay run --help` lists them".to_owned(),
        };
        self.mistake(name, format!("unknown option `--{name}`"), Some(help), place);
    }

    fn mistake(&mut self, option: &str, message: String, help: Option<String>, place: SourceRange) {
        let (severity, code, option) = (Severity::Error, "fio::command-line", option.to_owned());
        self.notices.push(Notice { severity, code, option, message, help, place });
    }
}

/// Whether fio has an option of this name, about the program or about jobs.
pub fn is_fios(name: &str) -> bool {
    Known::of_fio(name).is_some()
}

/// As in fio, a section of such a name is global.
pub(super) fn is_global(name: &str) -> bool {
    name.starts_with("global")
}

/// Whose an option is.
enum Known {
    Program(&'static str, Takes, Treatment),
    Job(&'static FioOptionSpec),
    Own(Takes),
}

impl Known {
    /// fio's option of this name.
    fn of_fio(name: &str) -> Option<Self> {
        let program = PROGRAM.iter().find(|(known, ..)| *known == name);
        let program = program.map(|&(name, takes, treatment)| Self::Program(name, takes, treatment));
        program.or_else(|| table::named(name).map(Self::Job))
    }

    /// The option of this name, or of the only one that begins so, as `getopt_long` has it.
    fn of(name: &str, has_value: bool, follows: Option<&str>, own: &impl Fn(&str) -> Option<Takes>) -> Option<Self> {
        let ours = || own(name).map(Self::Own);
        // fio's `overwrite` is 0 or 1 and says how files are laid out; assay's is bare and gives up what they hold.
        if name == "overwrite" && !has_value && !matches!(follows, Some("0" | "1")) {
            return ours().or_else(|| Self::of_fio(name));
        }
        let by_letter = || LETTERS.iter().find(|(letter, _)| *letter == name).map(|(_, long)| *long);
        Self::of_fio(name)
            // fio writes some names with dashes and others with underscores.
            .or_else(|| Self::of_fio(&name.replace('-', "_")))
            .or_else(ours)
            .or_else(|| Self::of_fio(by_letter()?))
            .or_else(|| Self::of_fio(only_one_that_begins(name)?))
    }

    /// Whether it is the beginning of a file's name, for which the job's own stands where there is none. fio itself would
    /// take the option behind it for one.
    fn has_name_of_its_own(&self) -> bool {
        matches!(self, Self::Job(spec) if logs::asks(spec.name))
    }

    fn takes(&self) -> Takes {
        match self {
            Self::Program(_, takes, _) | Self::Own(takes) => *takes,
            Self::Job(spec) if BARE.contains(&spec.name) => Takes::Perhaps,
            Self::Job(_) => Takes::Value,
        }
    }
}

/// fio's only option whose name begins so.
fn only_one_that_begins(name: &str) -> Option<&'static str> {
    let all = PROGRAM.iter().map(|(known, ..)| *known).chain(table::all().flat_map(FioOptionSpec::names));
    let mut begun = all.filter(|known| known.starts_with(name));
    begun.next().filter(|_| begun.next().is_none())
}

/// What stands behind one dash or two; none where it is no option.
fn option_of(word: &str) -> Option<&str> {
    word.strip_prefix("--").or_else(|| word.strip_prefix('-').filter(|behind| !behind.is_empty()))
}

/// Whether a word that could be a value is an option.
fn is_option(word: &str) -> bool {
    option_of(word).is_some_and(|behind| behind.starts_with(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, steps};
    use super::super::{Import, JobFile, import_line};
    use super::*;

    fn line(words: &[&str]) -> CommandLine {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        CommandLine::read(&words, |name| match name {
            "overwrite" | "quiet" => Some(Takes::Nothing),
            "store" => Some(Takes::Value),
            _ => None,
        })
    }

    fn read(words: &[&str], files: &[(&str, &str)]) -> Import {
        let file = |(path, text): &(&str, &str)| JobFile { path: path.into(), text: (*text).to_owned() };
        import_line(&line(words), &files.iter().map(file).collect::<Vec<_>>(), &[], &Bench::default())
    }

    fn said(words: &[&str]) -> String {
        read(words, &[]).notices.iter().map(|notice| format!("{}: {notice}\n", notice.place.line)).collect()
    }

    #[test]
    fn one_dash_or_two_and_a_value_behind_a_sign_or_by_itself() {
        let wanted = "name=a rw=randread bs=4k iodepth=8 norandommap=0 size=1m io_size=1m";
        for words in [
            &[
                "--name=a",
                "--rw=randread",
                "--bs=4k",
                "--iodepth=8",
                "--size=1m",
                "--filename=f",
                "--ioengine=libaio",
                "--direct=1",
            ][..],
            &[
                "-name",
                "a",
                "-rw=randread",
                "-bs",
                "4k",
                "--iodepth",
                "8",
                "-size=1m",
                "--filename",
                "f",
                "-ioengine=io_uring",
            ],
            &[
                "--name=a",
                "--readw=randread",
                "--blocksize=4096",
                "--iodepth=8",
                "--size=1m",
                "--filename=f",
                "--ioengine=posixaio",
            ],
        ] {
            let import = read(words, &[]);
            assert!(import.notices.is_empty(), "{:?}", import.notices);
            assert_eq!(steps(&import), wanted, "{words:?}");
        }
    }

    #[test]
    fn options_before_the_first_name_hold_for_all_and_the_last_of_two_counts() {
        let words = ["--bs=8k", "--size=1m", "--name=a", "--rw=read", "--name=b", "--rw=write", "--bs=16k", "--bs=32k"];
        let jobs: Vec<_> = read(&words, &[]).jobs().map(|job| (job.name.clone(), job.workload.block)).collect();
        let kib = block::Bytes::from_kib;
        assert_eq!(jobs, [("a".to_owned(), kib(8)), ("b".to_owned(), kib(32))]);
        let global = read(&["--name=global", "--bs=64k", "--name=c", "--size=1m"], &[]);
        assert_eq!(global.jobs().next().unwrap().workload.block, kib(64));
    }

    #[test]
    fn job_files_come_after_and_take_what_is_said_for_all() {
        let files = [("one.fio", "[x]\nrw=read\nbs=8k\n"), ("two.fio", "[y]\nrw=read\nsize=2m\n")];
        let import = read(&["--size=1m", "one.fio", "two.fio"], &files);
        assert!(!import.refused(), "{:?}", import.notices);
        let jobs: Vec<_> = import.jobs().map(|job| (job.fio_name(), job.length.unwrap().get() >> 20)).collect();
        assert_eq!(jobs, [("x", 1), ("y", 2)], "what is said for all holds for the first file alone, as in fio");
        assert_eq!(import.groups.len(), 2, "the second waits for the first");
    }

    #[test]
    fn each_job_is_on_its_own_file_and_each_clone_too() {
        let import =
            read(&["--size=3m", "--name=a", "--numjobs=2", "--directory=/mnt/x", "--name=b", "--filename=c"], &[]);
        let parts: Vec<_> = import.parts.iter().map(|part| (part.name.as_str(), part.start.get() >> 20)).collect();
        assert_eq!(parts, [("/mnt/x/a.0.0", 0), ("/mnt/x/a.1.0", 3), ("c", 6)]);
        assert!(import.parts.iter().all(|part| part.is_typed));
        let from_file = read(&["j.fio"], &[("j.fio", "[a]\nfilename=/dev/sda\nsize=1m\n")]);
        assert!(!from_file.parts[0].is_typed, "a file says which");
    }

    #[test]
    fn clones_on_one_file_all_begin_at_its_start_and_are_one_job_only_where_the_group_is_reported() {
        let base = ["--name=a", "--filename=f", "--size=1m", "--numjobs=3"];
        let jobs = |more: &[&str]| {
            let import = read(&[&base[..], more].concat(), &[]);
            import.jobs().map(|job| (job.workload.offset.get(), job.workload.workers)).collect::<Vec<_>>()
        };
        assert_eq!(jobs(&["--rw=read", "--group_reporting"]), [(0, 1); 3]);
        assert_eq!(jobs(&["--rw=randread"]), [(0, 1); 3]);
        assert_eq!(jobs(&["--rw=randread", "--group_reporting"]), [(0, 3)]);
    }

    #[test]
    fn what_is_about_the_program_and_what_is_assay_s_is_kept_apart() {
        let line = line(&[
            "--output-format=json+",
            "--eta=never",
            "--overwrite",
            "--store",
            "x.sqlite",
            "--name=a",
            "--overwrite=1",
            "sim:x25-m",
            "job.ini",
        ]);
        assert_eq!(line.own, ["--overwrite", "--store", "x.sqlite", "sim:x25-m"]);
        assert_eq!(line.files, ["job.ini"]);
        assert_eq!(line.program[0], ProgramOption { name: "output-format", value: "json+".to_owned() });
        assert!(matches!(&line.said[1].0, Said::Option("overwrite", Some(on)) if on == "1"));
    }

    #[test]
    fn what_cannot_be_is_told_with_what_would_be_right() {
        let job = ["--name=a", "--size=1m"];
        for (words, told) in [
            (&["--queue-depth=4"][..], "did you mean `--iodepth`?"),
            (&["--iodeph=4"], "did you mean `--iodepth`?"),
            (&["--client=host"], "run it on each host, by ssh"),
            (&["--latency-log=x"], "use the job's option `write_lat_log`"),
            (&["--bs"], "3: `--bs` has no value: give one: `--bs=VALUE`"),
            (&["--zzz"], "neither fio nor assay"),
        ] {
            let told_all = said(&[&job[..], words].concat());
            assert!(told_all.contains(told), "{words:?}: {told_all}");
        }
        assert!(said(&["--bs=4k"]).contains("begin one with `--name=NAME`"));
    }
}

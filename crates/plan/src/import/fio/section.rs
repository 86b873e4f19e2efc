//! A job file's sections, with what they include.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::{ImportSource, Notice, Severity, SourceRange};
use super::command_line::{CommandLine, Said, is_global};
use super::expand::expand;
use super::given::{FioOption, FioSection};
use super::lex::{FioLine, Word, lines};
use super::table::FioOptionSpec;
use super::{World, table};

/// How deep files may include each other.
const DEPTH_MAX: usize = 16;
/// The most text that a job file may hold with all that it includes, in bytes.
const TEXT_MAX: usize = 1 << 20;
/// The most jobs, as in fio (`REAL_MAX_JOBS`).
const JOBS_MAX: usize = 4096;
/// The most mistakes that are kept; nobody reads more.
const NOTICES_MAX: usize = 1000;
/// The most mistakes for which it is told what was meant.
const NEAREST_MAX: usize = 100;

/// What a job file says, before it is asked what that means.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The file and those that it includes.
    pub(super) sources: Vec<ImportSource>,
    /// The jobs' sections in order.
    pub(super) sections: Vec<FioSection>,
    /// What was found on the way.
    pub(super) notices: Vec<Notice>,
}

/// A job file that was opened.
#[derive(Clone, Debug)]
pub struct JobFile {
    pub path: PathBuf,
    pub text: String,
}

/// Reads the command line, if there is one, and then the job files. With `only`, sections of other names are passed over.
pub(super) fn read(line: Option<&CommandLine>, files: &[JobFile], only: &[String], world: &dyn World) -> Written {
    let mut reader = Reader {
        only,
        world,
        size: 0,
        written: Written::default(),
        globals: Vec::new(),
        now: At::Nowhere,
        follows: false,
        is_typed: false,
    };
    if let Some(line) = line {
        reader.line(line);
    }
    for (index, JobFile { path, text }) in files.iter().enumerate() {
        // What is said for all of one file holds for no other, and the jobs of one wait for those of the one before.
        if index > 0 {
            reader.globals.clear();
            reader.follows = true;
        }
        reader.now = At::Nowhere;
        reader.file(path, text.clone(), 0);
        reader.close();
    }
    let has = |name: &String| reader.written.sections.iter().any(|section| section.name == *name);
    for name in only.iter().filter(|name| !has(name)).collect::<Vec<_>>() {
        let place = SourceRange { source: 0, span: 0..0, line: 1 };
        reader.mistake("fio::no-section", name, format!("the file has no section `{name}`"), None, place);
    }
    reader.written
}

/// Which section a line stands in.
enum At {
    /// Before the first.
    Nowhere,
    Passed,
    Global,
    Job(FioSection),
}

struct Reader<'w> {
    only: &'w [String],
    world: &'w dyn World,
    /// How much text was read.
    size: usize,
    written: Written,
    /// What the global sections so far say.
    globals: Vec<Arc<FioOption>>,
    now: At,
    /// Whether the next job waits for all before it.
    follows: bool,
    /// Whether the command line is being read, and no file.
    is_typed: bool,
}

impl Reader<'_> {
    /// What the command line says comes before all files.
    fn line(&mut self, line: &CommandLine) {
        self.size += line.text.len();
        self.written.sources.push(ImportSource { name: "command line".to_owned(), text: line.text.clone() });
        self.written.notices.extend(line.notices.iter().cloned());
        (self.now, self.is_typed) = (At::Global, true);
        for (said, place) in &line.said {
            match said {
                Said::Job(name) => self.begin(name, place.clone()),
                Said::Option(name, value) => {
                    let known = table::named(name).expect("only such are taken from the command line");
                    self.give(known, name, value.clone(), place.clone());
                }
            }
        }
        self.close();
        self.is_typed = false;
    }

    fn file(&mut self, path: &Path, text: String, depth: usize) {
        // An empty file takes room too.
        const FILE: usize = 64;
        let source = self.written.sources.len();
        self.size += text.len() + FILE;
        if self.size > TEXT_MAX {
            let place = SourceRange { source, span: 0..0, line: 1 };
            let message = format!("the job file is longer than {} MiB with all that it includes", TEXT_MAX >> 20);
            self.written.sources.push(ImportSource { name: path.display().to_string(), text: String::new() });
            return self.mistake("fio::too-long", "include", message, Some("split it".to_owned()), place);
        }
        self.written.sources.push(ImportSource { name: path.display().to_string(), text: text.clone() });
        for line in lines(&text) {
            let place = SourceRange { source, span: line.span.clone(), line: line.number };
            match line {
                FioLine { word: Word::Section(name), .. } if depth == 0 => self.begin(name, place),
                FioLine { word: Word::Section(name), .. } => {
                    let message = format!("section `{name}` begins in an included file");
                    let help = "an included file holds options alone, which belong to the section that includes it";
                    self.mistake("fio::section", name, message, Some(help.to_owned()), place);
                }
                FioLine { word: Word::Include(file), .. } => self.include(path, file, place, depth + 1),
                FioLine { word: Word::Option(name, value), .. } => self.option(name, value, place),
            }
        }
    }

    /// Ends the section that the last line stood in.
    fn close(&mut self) {
        if let At::Job(section) = std::mem::replace(&mut self.now, At::Passed) {
            self.written.sections.push(section);
        }
    }

    /// As in fio, every name that begins with `global` is global.
    fn begin(&mut self, name: &str, place: SourceRange) {
        self.close();
        let passed = !self.only.is_empty() && !self.only.iter().any(|only| only == name);
        self.now = match name {
            name if is_global(name) => At::Global,
            _ if passed => At::Passed,
            name if self.written.sections.len() >= JOBS_MAX => {
                let message = format!("there are more than {JOBS_MAX} jobs");
                self.mistake("fio::too-many-jobs", name, message, Some("split the file".to_owned()), place.clone());
                At::Passed
            }
            name => At::Job(FioSection {
                name: name.to_owned(),
                place: place.clone(),
                is_typed: self.is_typed,
                options: self.globals.clone(),
            }),
        };
        if matches!(self.now, At::Job(_)) && std::mem::take(&mut self.follows) {
            let known = table::named("stonewall").expect("it is in the table");
            self.give(known, known.name, None, place);
        }
    }

    /// Reads a file in place of the line that names it, from the folder of the file that includes it.
    fn include(&mut self, path: &Path, file: &str, place: SourceRange, depth: usize) {
        if matches!(self.now, At::Passed) || self.size > TEXT_MAX {
            return;
        }
        if depth > DEPTH_MAX {
            let message = format!("files include each other more than {DEPTH_MAX} deep");
            let help = Some("a file must not include itself, nor one that includes it".to_owned());
            return self.mistake("fio::include", "include", message, help, place);
        }
        let beside = path.parent().map_or_else(|| PathBuf::from(file), |folder| folder.join(file));
        match self.world.file(&beside) {
            Ok(text) => self.file(&beside, text, depth),
            Err(error) => {
                let message = format!("{} cannot be included: {error}", beside.display());
                self.mistake("fio::include", "include", message, None, place);
            }
        }
    }

    fn option(&mut self, name: &str, value: Option<&str>, place: SourceRange) {
        if matches!(self.now, At::Passed) {
            return;
        }
        if matches!(self.now, At::Nowhere) {
            let help = "begin with a section: `[global]` for all jobs, or a job's name in brackets";
            let message = format!("`{name}` is in no section");
            return self.mistake("fio::section", name, message, Some(help.to_owned()), place);
        }
        let Some(known) = table::named(name) else {
            // To look for the nearest name takes time, and nobody reads very many.
            let look = self.written.notices.len() < NEAREST_MAX;
            let near = look.then(|| table::meant(name)).flatten();
            let help = near.map(|near| format!("did you mean `{near}`?"));
            return self.mistake("fio::unknown-option", name, format!("unknown option `{name}`"), help, place);
        };
        let value = match value.map(|value| expand(value, self.world)) {
            None => None,
            Some(Some(expanded)) => {
                for variable in expanded.unset {
                    let message = format!("no `{variable}` is given, so that nothing takes its place");
                    let help = Some(format!(
                        "give it: `--variable {variable}=VALUE`, or `--variable {variable}` for the environment's own"
                    ));
                    self.tell(Severity::Warning, "fio::unset", name, message, help, place.clone());
                }
                Some(expanded.text)
            }
            Some(None) => {
                let message = format!("the value of `{name}` grows too long");
                return self.mistake("fio::too-long", name, message, None, place);
            }
        };
        self.give(known, name, value, place);
    }

    /// Has an option hold where it stands.
    fn give(&mut self, known: &'static FioOptionSpec, name: &str, value: Option<String>, place: SourceRange) {
        let given = FioOption { known, name: name.to_owned(), value, place, is_typed: self.is_typed };
        let options = match &mut self.now {
            At::Passed => return,
            At::Job(section) => &mut section.options,
            At::Nowhere | At::Global => &mut self.globals,
        };
        // What was said before of the same option does not count any more.
        let is_same = |other: &Arc<FioOption>| other.known.name == given.known.name;
        let before: Vec<Arc<FioOption>> = options.extract_if(.., |other| is_same(other)).collect();
        let lost = before.iter().filter(|other| other.known.name == "filename" && other.value != given.value);
        let lost: Vec<Notice> = lost
            .map(|other| {
                other.lost(format!("`{}` follows it and is used alone; fio uses both files by turns", given.written()))
            })
            .collect();
        options.push(Arc::new(given));
        self.written.notices.extend(lost);
    }

    fn mistake(&mut self, code: &'static str, option: &str, message: String, help: Option<String>, place: SourceRange) {
        self.tell(Severity::Error, code, option, message, help, place);
    }

    fn tell(
        &mut self,
        severity: Severity,
        code: &'static str,
        option: &str,
        message: String,
        help: Option<String>,
        place: SourceRange,
    ) {
        if self.written.notices.len() < NOTICES_MAX {
            let option = option.to_owned();
            self.written.notices.push(Notice { severity, code, option, message, help, place });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::*;

    fn job_file(path: &str, text: &str) -> JobFile {
        JobFile { path: path.into(), text: text.to_owned() }
    }

    fn told(text: &str, bench: &Bench) -> Vec<String> {
        let written = read(None, &[job_file("jobs/a.fio", text)], &[], bench);
        let options =
            |section: &FioSection| section.options.iter().map(|given| given.written()).collect::<Vec<_>>().join(" ");
        written.sections.iter().map(|section| format!("{}: {}", section.name, options(section))).collect()
    }

    #[test]
    fn global_sections_add_up_and_hold_for_the_jobs_below_them() {
        let text = "[global]\nbs=8k\nrw=read\n[a]\nrw=write\n[global]\nbs=16k\nblocksize=32k\n[b]\nthread\n";
        assert_eq!(told(text, &Bench::default()), ["a: bs=8k rw=write", "b: rw=read blocksize=32k thread"]);
    }

    #[test]
    fn an_included_file_stands_in_place_of_its_line() {
        let bench =
            Bench::default().file("jobs/more.fio", "bs=4k\ninclude sub/deep.fio").file("jobs/sub/deep.fio", "rw=write");
        assert_eq!(told("[global]\ninclude more.fio\n[a]\nbs=8k\n", &bench), ["a: rw=write bs=8k"]);
        let bench = Bench::default().file("here.fio", "bs=4k");
        assert_eq!(told("[a]\ninclude here.fio\n", &bench), ["a: "], "not where assay was started");
    }

    #[test]
    fn sections_can_be_picked() {
        let text = "[global]\nbs=8k\n[a]\nnonsense=1\n[b]\nrw=read\n";
        let written = read(None, &[job_file("a.fio", text)], &["b".to_owned()], &Bench::default());
        assert_eq!((written.sections.len(), written.notices.len()), (1, 0));
        let written = read(None, &[job_file("a.fio", text)], &["c".to_owned()], &Bench::default());
        assert_eq!(written.notices[0].message, "the file has no section `c`");
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let bench = Bench::default().file("jobs/loop.fio", "include loop.fio").file("jobs/section.fio", "[b]");
        for (text, line, words) in [
            ("bs=4k\n[a]\n", 1, "is in no section"),
            ("[a]\niodeph=4\n", 2, "did you mean `iodepth`?"),
            ("[a]\nbs=${GONE}\n", 2, "no `GONE` is given"),
            ("[a]\ninclude loop.fio\n", 1, "more than 16 deep"),
            ("[a]\ninclude section.fio\n", 1, "begins in an included file"),
            ("[a]\n\ninclude gone.fio\n", 3, "jobs/gone.fio cannot be included: no such file"),
        ] {
            let written = read(None, &[job_file("jobs/a.fio", text)], &[], &bench);
            let said = written.notices[0].to_string();
            assert!(said.contains(words), "{said}");
            assert_eq!(written.notices[0].place.line, line, "{said}");
        }
    }

    #[test]
    fn files_that_include_themselves_many_times_end() {
        let bench = Bench::default().file("loop.fio", &"include loop.fio\n".repeat(64));
        let written = read(None, &[job_file("a.fio", "[a]\ninclude loop.fio\n")], &[], &bench);
        assert!(written.notices.len() <= NOTICES_MAX && written.sources.len() < 1 << 20);
    }
}

//! The trial `cross-check`: one job done by us and by programs that others wrote, on the same mount.

use std::fs;
use std::path::Path;

use block::{Bytes, Nanos};
use workload::{Pattern, Stop, Workload};

use super::choices::{FS_BLOCK, check, commands, cost, unavailable};
use super::data::{Opening, TestData};
use super::prepared::PreparedDevice;
use super::tools::{Bonnie, FioJob, PATIENCE, ToolReport, bonnie_arguments, dd_arguments, of_bonnie, of_dd, of_fio};
use crate::memory::{self, MemoryLimit};
use crate::mount::{FS, MKFS, MOUNT};
use crate::scheduler::SCHEDULER;
use crate::task;
use crate::{
    Choice, ChoiceKind, Choices, ChoicesError, Ended, Experiment, Figure, Paper, Procedure, Tools, Trial, TrialContext,
    TrialDevice, TrialError,
};

/// The block of random reads.
const RANDOM: Bytes = Bytes::from_kib(4);
/// The largest block that bonnie++ takes; its least is smaller than a sector.
const BLOCK_MOST: Bytes = Bytes::from_mib(1);

/// Half of it is memory that bonnie++ can work in.
const SIZE_LEAST: Bytes = Bytes::from_mib(64);

const CHOICES: &[Choice] = &[
    FS,
    MKFS,
    MOUNT,
    FS_BLOCK,
    SCHEDULER,
    Choice {
        name: "bs",
        title: "Record size",
        about: "block size of sequential requests: a power of two from 512 to 1m",
        kind: ChoiceKind::Bytes,
        default: "1m",
    },
    Choice {
        name: "size",
        title: "Data",
        about: "size of the file that each program writes and reads",
        kind: ChoiceKind::Bytes,
        default: "1GiB",
    },
    Choice {
        name: "runtime",
        title: "Time of random reads",
        about: "time limit of the 4k random reads",
        kind: ChoiceKind::Time,
        default: "10s",
    },
    Choice {
        name: "bound",
        title: "Bound",
        about: "difference from assay's figure that becomes a finding, in percent",
        kind: ChoiceKind::Count(1, 1000),
        default: "20",
    },
];

/// One job done by us and by programs that others wrote, on the same mount.
#[derive(Debug)]
pub(crate) struct CrossCheck;

/// What is done, and where.
struct CrossCheckTask<'t> {
    place: &'t PreparedDevice<'t>,
    go: &'t TrialContext<'t>,
    block: Bytes,
    size: Bytes,
    time: Nanos,
}

/// What one program says of the jobs that it does.
#[derive(Debug, Default)]
struct ToolResult {
    name: &'static str,
    write: Option<f64>,
    read: Option<f64>,
    random: Option<ToolReport>,
    /// Whether it was done sooner than it tells rates of.
    is_too_quick: bool,
}

/// Finds one figure of a witness.
type FigureLookup<'l> = &'l dyn Fn(&ToolResult) -> Option<f64>;

impl Experiment for CrossCheck {
    fn name(&self) -> &'static str {
        "cross-check"
    }

    fn about(&self) -> &'static str {
        "The same job by assay, fio, dd and bonnie++ on the same mount."
    }

    fn choices(&self) -> &'static [Choice] {
        CHOICES
    }

    fn check(&self, choices: &Choices) -> Result<(), ChoicesError> {
        check(choices)?;
        let (block, size) = (choices.bytes("bs"), choices.bytes("size"));
        if !block.get().is_power_of_two() || block < Bytes::new(512) || block > BLOCK_MOST {
            return Err(
                format!("bonnie++ does not support blocks of {block}; give a power of two from 512 to 1m").into()
            );
        }
        if size < SIZE_LEAST || !size.is_multiple_of(Bytes::from_mib(1)) {
            return Err(
                format!("{size} is too little; bonnie++ needs whole mebibytes, give at least {SIZE_LEAST}").into()
            );
        }
        if choices.time("runtime") == Nanos::ZERO {
            return Err("`runtime` is too short; give at least 1s".to_owned().into());
        }
        Ok(())
    }

    fn commands(&self, choices: &Choices) -> Vec<String> {
        let (block, size) = (choices.bytes("bs"), choices.bytes("size"));
        let path = |name: &str| Path::new("FOLDER").join(name);
        let fio = |rw, block, time| FioJob { file: &path("fio-0"), rw, block, size, time }.arguments();
        let told = [
            ("fio", fio("write", block, None)),
            ("fio", fio("read", block, None)),
            ("fio", fio("randread", RANDOM, Some(choices.time("runtime")))),
            ("dd", dd_arguments(&path("dd-0"), true, block, size)),
            ("dd", dd_arguments(&path("dd-0"), false, block, size)),
            ("bonnie++", bonnie_arguments(&path("bonnie"), block, size)),
        ];
        let lines = told.into_iter().map(|(program, words)| format!("{program} {}", words.join(" ")));
        commands(choices).into_iter().chain(lines).collect()
    }

    fn unavailable(&self, choices: &Choices) -> Option<String> {
        let tools = Tools::of_system();
        let missing: Vec<&str> = ["fio", "dd", "bonnie++"].into_iter().filter(|program| !tools.has(program)).collect();
        let install = || {
            let names = missing.join(", ");
            format!("{names} to compare with: apt-get install fio coreutils bonnie++")
        };
        unavailable(choices).or_else(|| (!missing.is_empty()).then(install))
    }

    fn cost(&self, choices: &Choices) -> Nanos {
        // Written and read by four, rewritten by bonnie++, and laid out once.
        cost(choices.bytes("size").times(11), choices.time("runtime").times(2))
    }

    fn writes(&self, choices: &Choices) -> Bytes {
        choices.bytes("size").times(5)
    }
}

impl Procedure for CrossCheck {
    fn run(&self, choices: &Choices, stage: &TrialDevice, go: &TrialContext) -> Result<Trial, TrialError> {
        let place = PreparedDevice::prepare(choices, stage, go)?;
        let (block, size) = (choices.bytes("bs"), choices.bytes("size"));
        place.check_room(size)?;
        let task = CrossCheckTask { place: &place, go, block, size, time: choices.time("runtime") };
        let mut papers = Vec::new();
        let (us, fio, dd) = (task.by_us()?, task.by_fio(&mut papers)?, task.by_dd(&mut papers)?);
        let (bonnie, rest) = task.by_bonnie(&mut papers)?;
        let others = place.others().map(|others| format!("{others}, which alone can explain it."));
        let mut trial = compare(&[us, fio, dd, bonnie], choices.count("bound") as f64 / 100.0, others.as_deref());
        let own =
            [("bonnie++: read, changed and written back", "B/s", rest.rewrite), ("bonnie++: seeks", "1/s", rest.seeks)];
        let own = own.into_iter().filter_map(|(name, unit, value)| Some(Figure::more(name, unit, value?)));
        trial.figures.extend(own);
        trial.papers = papers;
        trial.conditions = place.conditions();
        for (name, words) in [
            (
                "page cache",
                "bypassed (O_DIRECT) by all but bonnie++, which reads through it with memory for half of \
                the data",
            ),
            ("requests", "queue depth 1; writes of zeroes to a new file, including the flush at the end"),
        ] {
            trial.conditions.push((name.to_owned(), words.to_owned()));
        }
        trial.findings.extend(memory::unavailable().map(|reason| {
            format!("bonnie++ reads through the page cache, and {reason}: its read figures are left out.")
        }));
        place.end()?;
        Ok(trial)
    }
}

impl CrossCheckTask<'_> {
    fn by_us(&self) -> Result<ToolResult, TrialError> {
        let data = TestData::new("assay", 1, self.size, self.block);
        let whole = |pattern, block| Workload {
            pattern,
            block,
            compressible: 100,
            stop: Stop::after_bytes(data.each),
            ..Workload::default()
        };
        let measure = |words: &str, opening: Opening, workload: Workload| {
            (self.go.tell)(&format!("{words}, assay"));
            data.open(self.place, opening)?.measure(&workload, self.go.seed.split(words))
        };
        let (writing, reading) =
            (Opening { sparse: true, ..Opening::WRITE }, Opening { writes: false, ..Opening::WRITE });
        let write = measure("write", writing, whole(Pattern::Write, self.block))?;
        let time = write.elapsed + self.place.flush()?;
        let read = measure("read", reading, whole(Pattern::Read, self.block))?;
        let random = Workload { no_repeat: true, ..whole(Pattern::RandRead, RANDOM) };
        let random = Workload { stop: Stop { time: Some(self.time), ..random.stop }, ..random };
        let random = measure("random read", reading, random)?;
        self.remove("assay-0")?;
        let latency = &random.read.latency;
        let latency = (latency.mean() / 1e9, latency.percentile(99.0).as_secs_f64());
        Ok(ToolResult {
            name: "assay",
            write: Some(write.bytes().get() as f64 / time.as_secs_f64()),
            read: Some(read.bandwidth()),
            random: Some(ToolReport { rate: random.bandwidth(), iops: Some(random.iops()), latency: Some(latency) }),
            is_too_quick: false,
        })
    }

    fn by_fio(&self, papers: &mut Vec<Paper>) -> Result<ToolResult, TrialError> {
        let file = self.place.path("fio-0");
        let mut job = |rw, block, time| {
            let job = FioJob { file: &file, rw, block, size: self.size, time };
            let ended = self.other("fio", rw, &job.arguments())?;
            papers.push(paper(&format!("fio, {rw}"), "application/json", &ended.stdout));
            of_fio(&ended.stdout)
        };
        let (write, read) = (job("write", self.block, None)?, job("read", self.block, None)?);
        let random = job("randread", RANDOM, Some(self.time))?;
        self.remove("fio-0")?;
        Ok(ToolResult {
            name: "fio",
            write: Some(write.rate),
            read: Some(read.rate),
            random: Some(random),
            is_too_quick: false,
        })
    }

    fn by_dd(&self, papers: &mut Vec<Paper>) -> Result<ToolResult, TrialError> {
        let file = self.place.path("dd-0");
        let mut job = |words, writes| {
            let ended = self.other("dd", words, &dd_arguments(&file, writes, self.block, self.size))?;
            papers.push(paper(&format!("dd, {words}"), "text/plain", &ended.stderr));
            of_dd(&ended.stderr)
        };
        let (write, read) = (job("write", true)?, job("read", false)?);
        self.remove("dd-0")?;
        Ok(ToolResult { name: "dd", write: Some(write.rate), read: Some(read.rate), ..ToolResult::default() })
    }

    fn by_bonnie(&self, papers: &mut Vec<Paper>) -> Result<(ToolResult, Bonnie), TrialError> {
        let folder = self.place.path("bonnie");
        fs::create_dir(&folder).map_err(TrialError::at(&folder))?;
        // It passes the page cache by as it writes, but not as it reads: that is to find no more than half there.
        let unlimited = memory::unavailable();
        let make = || MemoryLimit::make(Bytes::new(self.size.get() / 2), &self.place.aftermath);
        let limit = unlimited.is_none().then(make).transpose()?;
        let arguments = bonnie_arguments(&folder, self.block, self.size);
        let ended = self.other_in("bonnie++", "write, read", &arguments, limit.as_ref())?;
        papers.push(paper("bonnie++, CSV", "text/csv", &ended.stdout));
        papers.push(paper("bonnie++", "text/plain", &ended.stderr));
        let mut said = of_bonnie(&ended.stdout)?;
        let is_too_quick = said.write.is_none() || said.read.is_none();
        if unlimited.is_some() {
            // What it tells of reading is what it found in memory.
            (said.read, said.rewrite, said.seeks) = (None, None, None);
        }
        fs::remove_dir_all(&folder).map_err(TrialError::at(&folder))?;
        Ok((
            ToolResult { name: "bonnie++", write: said.write, read: said.read, is_too_quick, ..ToolResult::default() },
            said,
        ))
    }

    fn other(&self, program: &str, words: &str, arguments: &[String]) -> Result<Ended, TrialError> {
        self.other_in(program, words, arguments, None)
    }

    fn other_in(
        &self,
        program: &str,
        words: &str,
        arguments: &[String],
        memory: Option<&MemoryLimit>,
    ) -> Result<Ended, TrialError> {
        (self.go.tell)(&format!("{words}, {program}"));
        let mut command = Tools::of_system().command(program)?;
        command.args(arguments);
        if let Some(memory) = memory {
            command = memory.around(&command);
        }
        // It is ended where the trial is stopped, also by force.
        let ended =
            task::HelperProcess::start(&self.place.aftermath, &mut command)?.end(self.place.stage(), PATIENCE)?;
        if ended.code == Some(0) {
            return Ok(ended);
        }
        let said = memory.and_then(MemoryLimit::misfortune).unwrap_or_else(|| ended.last_words());
        Err(TrialError::Failed { command: format!("{program} {}", arguments.join(" ")), said })
    }

    /// Removes a file, so that the next finds the room that this one found.
    fn remove(&self, name: &str) -> Result<(), TrialError> {
        let path = self.place.path(name);
        fs::remove_file(&path).map_err(TrialError::at(path))?;
        self.place.flush().map(drop)
    }
}

fn paper(name: &str, media: &str, text: &str) -> Paper {
    Paper { name: name.to_owned(), media: media.to_owned(), text: text.to_owned() }
}

/// The figures side by side, job by job; `bound` is the share by which another's may differ from ours, which come first,
/// and `others` what may explain it besides.
fn compare(witnesses: &[ToolResult], bound: f64, others: Option<&str>) -> Trial {
    let random = |of: fn(ToolReport) -> Option<f64>| move |witness: &ToolResult| witness.random.and_then(of);
    let jobs: [(&str, &str, FigureLookup); 5] = [
        ("Write", "B/s", &|witness| witness.write),
        ("Read", "B/s", &|witness| witness.read),
        ("Random read", "1/s", &random(|said| said.iops)),
        ("Random read latency, mean", "s", &random(|said| Some(said.latency?.0))),
        ("Random read latency, 99 %", "s", &random(|said| Some(said.latency?.1))),
    ];
    let mut trial = Trial::default();
    for (job, unit, of) in jobs {
        let ours = of(&witnesses[0]);
        for witness in witnesses {
            let name = format!("{job}, {}", witness.name);
            let Some(value) = of(witness) else { continue };
            let figure = if unit == "s" { Figure::less(&name, unit, value) } else { Figure::more(&name, unit, value) };
            trial.figures.push(figure);
            let ratio = ours.map(|ours| value / ours);
            // The tail of a short measurement is not what is checked.
            let is_checked = !job.ends_with("99 %");
            let differs = ratio.filter(|ratio| is_checked && ratio.max(ratio.recip()) > 1.0 + bound);
            let why = others.unwrap_or("The device changed in between, or one of them measures something else.");
            trial.findings.extend(differs.map(|ratio| {
                let (percent, bound) = (100.0 * ratio, 100.0 * bound);
                format!(
                    "{job}: {} reports {percent:.0} % of assay's figure, which exceeds the bound of {bound:.0} %. {why}",
                    witness.name
                )
            }));
        }
    }
    let silent = witnesses.iter().filter(|witness| witness.is_too_quick);
    trial.findings.extend(
        silent.map(|witness| format!("{} reports no rate below half a second; choose a larger size.", witness.name)),
    );
    trial
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_that_differs_by_more_than_the_bound_is_named() {
        let said = |name, write, read| ToolResult { name, write, read, ..ToolResult::default() };
        let witnesses = [said("assay", Some(100.0), Some(100.0)), said("dd", Some(115.0), Some(79.0))];
        let trial = compare(&witnesses, 0.2, None);
        assert_eq!(trial.figure("Write, dd"), Some(115.0));
        assert_eq!(trial.findings.len(), 1, "{:?}", trial.findings);
        assert!(trial.findings[0].starts_with("Read: dd reports 79 %"), "{:?}", trial.findings);
        let bonnie = ToolResult { is_too_quick: true, ..said("bonnie++", None, Some(1.0)) };
        let quick = [said("assay", Some(1.0), Some(1.0)), bonnie];
        assert!(compare(&quick, 0.2, None).findings[0].contains("choose a larger size"));
    }
}

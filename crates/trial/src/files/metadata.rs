//! The trial `metadata`: many small files made, listed, looked at, renamed and deleted.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use block::{Bytes, Nanos, Seed};
use host::open;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use stats::Histogram;

use super::choices::{FS_BLOCK, check, commands, cost, unavailable};
use super::figures::latencies;
use super::prepared::PreparedDevice;
use crate::mount::{FS, MKFS, MOUNT};
use crate::scheduler::SCHEDULER;
use crate::{
    Choice, ChoiceKind, Choices, ChoicesError, Experiment, Figure, Procedure, Trial, TrialContext, TrialDevice,
    TrialError,
};

/// What a file takes of a device at least: its inode and its entry.
const EACH_LEAST: Bytes = Bytes::from_kib(1);
/// About how long one operation takes, to say beforehand how long all do.
const USUAL: Nanos = Nanos::from_micros(200);
/// The largest of files that are called small.
const SMALL: Bytes = Bytes::from_mib(64);

const CHOICES: &[Choice] = &[
    FS,
    MKFS,
    MOUNT,
    FS_BLOCK,
    SCHEDULER,
    Choice {
        name: "threads",
        title: "Threads",
        about: "number of threads, each in a folder of its own",
        kind: ChoiceKind::Count(1, 1024),
        default: "1",
    },
    Choice {
        name: "nrfiles",
        title: "Files",
        about: "number of files over all threads",
        kind: ChoiceKind::Count(1, 100_000_000),
        default: "20000",
    },
    Choice {
        name: "filesize",
        title: "File size",
        about: "data written to each file",
        kind: ChoiceKind::Bytes,
        default: "0",
    },
    Choice {
        name: "fsync",
        title: "Files to an fsync",
        about: "1 to fsync each file, 0 to flush all at the end, within the measured time",
        kind: ChoiceKind::Count(0, 1),
        default: "0",
    },
];

/// Many small files made, listed, looked at, renamed and deleted.
#[derive(Debug)]
pub(crate) struct Metadata;

/// What is done to every file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Create,
    List,
    Stat,
    Rename,
    Delete,
}

/// What the threads work on.
struct MetadataWork<'w> {
    place: &'w PreparedDevice<'w>,
    threads: u64,
    /// How many files each thread has.
    each: u64,
    content: Vec<u8>,
    fsync: bool,
    seed: Seed,
}

/// What one deed gave.
struct OperationResult {
    latency: Histogram,
    /// Files a second.
    rate: f64,
}

impl Experiment for Metadata {
    fn name(&self) -> &'static str {
        "metadata"
    }

    fn about(&self) -> &'static str {
        "Metadata operations on many small files (create, readdir, stat, rename, delete) with cold caches: rates and \
         latencies."
    }

    fn choices(&self) -> &'static [Choice] {
        CHOICES
    }

    fn check(&self, choices: &Choices) -> Result<(), ChoicesError> {
        check(choices)?;
        let (files, threads, size) = (choices.count("nrfiles"), choices.count("threads"), choices.bytes("filesize"));
        if files < threads {
            return Err(format!("{files} files for {threads} threads; give at least {threads}").into());
        }
        if size > SMALL {
            return Err(format!("files of {size} are not small; give at most {SMALL}, or use `do = \"files\"`").into());
        }
        Ok(())
    }

    fn commands(&self, choices: &Choices) -> Vec<String> {
        commands(choices)
    }

    fn unavailable(&self, choices: &Choices) -> Option<String> {
        unavailable(choices)
    }

    fn cost(&self, choices: &Choices) -> Nanos {
        cost(self.writes(choices), USUAL.times(choices.count("nrfiles")))
    }

    fn writes(&self, choices: &Choices) -> Bytes {
        (choices.bytes("filesize") + EACH_LEAST).times(choices.count("nrfiles"))
    }
}

impl Procedure for Metadata {
    fn run(&self, choices: &Choices, stage: &TrialDevice, go: &TrialContext) -> Result<Trial, TrialError> {
        let place = PreparedDevice::prepare(choices, stage, go)?;
        let threads = choices.count("threads");
        let mut content = vec![0; choices.bytes("filesize").get() as usize];
        generator(go.seed.split("content")).fill_bytes(&mut content);
        let each = choices.count("nrfiles") / threads;
        let fsync = choices.count("fsync") == 1;
        let work = MetadataWork { place: &place, threads, each, content, fsync, seed: go.seed };
        place.check_room((choices.bytes("filesize").round_up(Bytes::from_kib(4))).times(each * threads))?;
        place.check_files(each * threads)?;
        let mut trial = work.all(go)?;
        let count = format!("{} in {threads} folders, {} each", each * threads, choices.bytes("filesize"));
        let cache = "emptied before readdir, stat, rename and delete, by remounting";
        trial.conditions = place.conditions();
        trial.conditions.push(("files".to_owned(), count));
        trial.conditions.push(("caches".to_owned(), cache.to_owned()));
        place.end()?;
        Ok(trial)
    }
}

impl Operation {
    const ALL: [(&'static str, Self); 5] = [
        ("Create", Self::Create),
        ("Readdir", Self::List),
        ("Stat", Self::Stat),
        ("Rename", Self::Rename),
        ("Delete", Self::Delete),
    ];

    /// Whether something is to be written to the device for it.
    const fn changes(self) -> bool {
        matches!(self, Self::Create | Self::Rename | Self::Delete)
    }
}

impl MetadataWork<'_> {
    /// Every deed on every file, one deed after another.
    fn all(&self, go: &TrialContext) -> Result<Trial, TrialError> {
        for thread in 0..self.threads {
            let folder = self.folder(thread);
            fs::create_dir(&folder).map_err(TrialError::at(folder))?;
        }
        let (mut rates, mut times) = (Vec::new(), Vec::new());
        for (name, deed) in Operation::ALL {
            (go.tell)(&format!("{}, {} threads", name.to_lowercase(), self.threads));
            if deed != Operation::Create {
                self.place.empty_cache()?;
            }
            let done = self.by_all(deed)?;
            rates.push(Figure::more(name, "1/s", done.rate));
            // A listing is one deed for a whole folder.
            let of = if deed == Operation::List { "Readdir of a folder".to_owned() } else { format!("{name} latency") };
            times.extend(latencies(&of, &done.latency));
        }
        rates.extend(times);
        Ok(Trial { figures: rates, ..Trial::default() })
    }

    /// One deed by all threads at the same time, until what it changed is on the device.
    fn by_all(&self, deed: Operation) -> Result<OperationResult, TrialError> {
        let start = Barrier::new(self.threads as usize + 1);
        let (began, done) = thread::scope(|scope| {
            let work = |thread| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    self.by_one(deed, thread)
                })
            };
            let threads: Vec<_> = (0..self.threads).map(work).collect();
            start.wait();
            let began = Instant::now();
            let join = |thread: thread::ScopedJoinHandle<_>| thread.join().expect("no thread panics");
            (began, threads.into_iter().map(join).collect::<Vec<Result<Histogram, TrialError>>>())
        });
        let mut latency = Histogram::new();
        for one in done {
            latency.merge(&one?);
        }
        if deed.changes() {
            self.place.flush()?;
        }
        Ok(OperationResult { latency, rate: (self.threads * self.each) as f64 / began.elapsed().as_secs_f64() })
    }

    /// One deed on every file of a thread, in the order in which it made them, or in any where that is to be looked
    /// for;
    /// how long each took.
    fn by_one(&self, deed: Operation, thread: u64) -> Result<Histogram, TrialError> {
        let folder = self.folder(thread);
        let mut order: Vec<u64> = (0..self.each).collect();
        if matches!(deed, Operation::Stat | Operation::Delete) {
            order.shuffle(&mut generator(self.seed.split("order").number(thread)));
        }
        let mut latency = Histogram::new();
        let mut timed = |path: PathBuf, act: &dyn Fn(&Path) -> io::Result<()>| {
            let began = Instant::now();
            act(&path).map_err(TrialError::at(&path))?;
            latency.record(Nanos::from_std(began.elapsed()));
            self.place.stage().continues()
        };
        if deed == Operation::List {
            timed(folder, &|folder| self.list(folder))?;
            return Ok(latency);
        }
        for number in order {
            let (new, renamed) = (folder.join(format!("file-{number}")), folder.join(format!("name-{number}")));
            match deed {
                Operation::Create => timed(new, &|path| self.create(path))?,
                Operation::Stat => timed(new, &|path| fs::symlink_metadata(path).map(drop))?,
                Operation::Rename => timed(new, &|path| fs::rename(path, &renamed))?,
                Operation::Delete | Operation::List => timed(renamed, &|path| fs::remove_file(path))?,
            }
        }
        Ok(latency)
    }

    fn create(&self, path: &Path) -> io::Result<()> {
        let mut file = open::new_private(path, 0o644)?;
        file.write_all(&self.content)?;
        if self.fsync { file.sync_all() } else { Ok(()) }
    }

    fn list(&self, folder: &Path) -> io::Result<()> {
        let mut found = 0;
        for entry in fs::read_dir(folder)? {
            entry?;
            found += 1;
        }
        let lost = || io::Error::other(format!("readdir found {found} files of {}", self.each));
        if found == self.each { Ok(()) } else { Err(lost()) }
    }

    fn folder(&self, thread: u64) -> PathBuf {
        self.place.path(&format!("thread-{thread}"))
    }
}

fn generator(seed: Seed) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed.get())
}

#![doc = include_str!("../README.md")]

pub mod browser;
pub mod figures;
pub mod loops;
pub mod multimeter;
pub mod process;
pub mod soak;

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// How long anything may take on a machine that has much else to do: a test that waits so long has failed.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A program of this machine, if it has it.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// Says why a test cannot do its work here; `scripts/test` counts it as skipped.
pub fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// Unwraps, or ends the test here and says why.
#[macro_export]
macro_rules! needs {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(reason) => return $crate::skip(&reason.to_string()),
        }
    };
}

/// A flash drive's name, to which parameters can be added, with those by which all of its cells and operations are alike:
/// what differs between two runs is what a test makes differ.
#[macro_export]
macro_rules! alike {
    ($name:literal $(, $more:literal)?) => {
        concat!(
            $name,
            "controller.jitter=0%&variation.dies=0%&variation.blocks=0%&variation.word_lines=0%&variation.programs=0%",
            "&variation.erases=0%&variation.reads=0%",
            $("&", $more)?
        )
    };
}

/// Runs a program; its standard output.
///
/// # Errors
/// What it said if it failed, or that it is not installed.
pub fn attempt(program: &str, arguments: &[&str]) -> Result<String, String> {
    let path = tool(program).ok_or_else(|| format!("{program} is not installed"))?;
    let output = Command::new(path).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(said(&output.stdout)) } else { Err(format!("{program}: {}", said(&output.stderr))) }
}

/// Runs a program, which must succeed; its standard output.
///
/// # Panics
/// If it fails or is not installed.
pub fn other(program: &str, arguments: &[&str]) -> String {
    attempt(program, arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

/// Waits until something is so.
///
/// # Panics
/// If it is not within [`PATIENCE`].
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Pseudo-random numbers from a seed.
///
/// Source: D. E. Knuth, "The Art of Computer Programming", volume 2, 3rd edition, §3.3.4, table 1: the multiplier of MMIX.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits, of which the upper are the better ones.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }

    /// A number below `limit`, which must be below 2⁴⁸.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits() >> 16) * u128::from(limit)) >> 48) as u64
    }

    /// A place in a list of this length.
    pub fn place(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// A number in (0, 1].
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }
}

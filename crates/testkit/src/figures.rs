//! Files of published latencies and rates, as `assay replicate FILE` reads them.

/// One experiment on the drive `d`, with all that a file may say of it.
pub const FIGURES: &str = r#"
[[reading]]
id = "log"
text = "a log"
[[reading]]
id = "sheet"
text = "a promise"
promise = true
[[source]]
id = "s"
title = "S"
host = "h"
[[drive]]
id = "d"
preset = "x25-m"
model = "D"
[[qos]]
id = "d/a"
drive = "d"
source = "s"
cond = { rw = "randread", bs = 4096, qd = 4, workers = 2, overwrites = 0, ios = 100000 }
unit = "us"
grade = "A"
read = "log"
seen = "page 1"
use = "fit"
points = [
  { q = "p50", v = 64, lo = 60, hi = 70 },
  { q = "p99.9", v = 90 },
  { q = "p99.99", v = 99, use = "check" },
  { q = "IOPS", v = 9000, unit = "IOPS" },
]
"#;

/// A drive of such a file, which is simulated on a preset.
pub fn drive(id: &str, preset: &str, model: &str) -> String {
    format!("[[drive]]\nid = \"{id}\"\npreset = \"{preset}\"\nmodel = \"{model}\"\n")
}

/// An experiment of such a file on a drive, with no more than it must say: what `conditions` has between its braces, and
/// `points` between its brackets, in microseconds unless a point says otherwise.
pub fn experiment(id: &str, drive: &str, usage: &str, conditions: &str, points: &str) -> String {
    format!(
        "[[qos]]\nid = \"{id}\"\ndrive = \"{drive}\"\ncond = {{ {conditions} }}\nunit = \"us\"\nuse = \"{usage}\"\n\
         points = [{points}]\n"
    )
}

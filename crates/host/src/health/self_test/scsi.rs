//! The self-tests of a SCSI drive, by smartctl, whose text has their log in all its versions; its JSON only since 7.4.

use super::{Asked, Look, SelfTest, SelfTestError, SelfTestOutcome, Tested};

/// How smartctl names the results of a log's entry, but for those of failed segments, which begin with `Failed`.
///
/// Source: smartmontools 7.3 and 7.4, their listing of `-l selftest` for SCSI.
const RESULTS: [(&str, SelfTestOutcome); 6] = [
    ("Completed, segment failed", SelfTestOutcome::Failed),
    ("Completed", SelfTestOutcome::Passed),
    ("Aborted (by user command)", SelfTestOutcome::Aborted),
    ("Aborted (device reset ?)", SelfTestOutcome::Aborted),
    ("Unknown error, incomplete", SelfTestOutcome::Failed),
    ("Failed", SelfTestOutcome::Failed),
];

pub(super) struct Drive<'a>(pub(super) &'a Asked);

impl Tested for Drive<'_> {
    fn program(&self) -> &'static str {
        "smartctl"
    }

    fn abort(&self) -> String {
        format!("smartctl -X {}", self.0.path)
    }

    fn check(&self) -> Result<(), SelfTestError> {
        let log = self.0.run("smartctl", &["-l", "selftest", &self.0.path])?.stdout;
        match log.contains("does not support Self Test logging") {
            true => Err(self.0.unsupported("it keeps no log of self-tests, so the outcome could not be read")),
            false => Ok(()),
        }
    }

    fn begin(&self, test: SelfTest) -> Result<(), SelfTestError> {
        self.0.command("smartctl", &["-t", test.name(), &self.0.path]).map(drop)
    }

    fn look(&self) -> Result<Look, SelfTestError> {
        let arguments = ["-l", "selftest", &self.0.path];
        let ended = self.0.run("smartctl", &arguments)?;
        read(&ended.stdout).ok_or_else(|| self.0.refused("smartctl", &arguments, ended.last_words()))
    }
}

/// The newest entry is `# 1`; while a test is under way, how much of it remains stands before the log.
fn read(log: &str) -> Option<Look> {
    let remaining = log.lines().find_map(|line| {
        let (_, rest) = line.split_once("Self-test execution status:")?;
        rest.trim().strip_suffix("% of test remaining")?.parse::<u8>().ok()
    });
    if let Some(remaining) = remaining {
        return Some(Look::UnderWay(100_u8.saturating_sub(remaining)));
    }
    if log.to_ascii_lowercase().contains("no self-tests have been logged") {
        return Some(Look::Ended(None));
    }
    let newest = log.lines().find_map(|line| line.trim_start().strip_prefix("# 1 "))?;
    if newest.contains("Self test in progress") {
        return Some(Look::UnderWay(0));
    }
    let (words, outcome) = RESULTS.iter().find(|(words, _)| newest.contains(words))?;
    Some(Look::Ended(Some((*outcome, (*words).to_owned()))))
}

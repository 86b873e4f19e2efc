//! The self-tests of an NVMe drive, by nvme-cli.

use serde_json::Value;

use super::{Asked, Look, SelfTest, SelfTestError, SelfTestOutcome, Tested};

/// The results of a log's entry.
const RESULTS: [(SelfTestOutcome, &str); 10] = [
    (SelfTestOutcome::Passed, "completed without error"),
    (SelfTestOutcome::Aborted, "aborted by a Device Self-test command"),
    (SelfTestOutcome::Aborted, "aborted by a controller level reset"),
    (SelfTestOutcome::Aborted, "aborted as a namespace was removed"),
    (SelfTestOutcome::Aborted, "aborted by a Format NVM command"),
    (SelfTestOutcome::Failed, "a fatal or unknown error, not completed"),
    (SelfTestOutcome::Failed, "completed with a failed segment that is not known"),
    (SelfTestOutcome::Failed, "completed with failed segments"),
    (SelfTestOutcome::Aborted, "aborted for an unknown reason"),
    (SelfTestOutcome::Aborted, "aborted by a sanitize operation"),
];

/// The bit of OACS that says that the controller has the command.
const OACS_SELF_TEST: u64 = 1 << 4;

pub(super) struct Drive<'a>(pub(super) &'a Asked);

impl Tested for Drive<'_> {
    fn program(&self) -> &'static str {
        "nvme"
    }

    fn abort(&self) -> String {
        format!("nvme device-self-test {} -s 0xf", self.0.path)
    }

    fn check(&self) -> Result<(), SelfTestError> {
        let arguments = ["id-ctrl", &self.0.path, "--output-format=json"];
        let ended = self.0.command("nvme", &arguments)?;
        let identified: Option<Value> = serde_json::from_str(&ended.stdout).ok();
        match identified.and_then(|identified| identified.get("oacs")?.as_u64()) {
            Some(oacs) if oacs & OACS_SELF_TEST == 0 => {
                Err(self.0.unsupported("its controller has no Device Self-test command (OACS)"))
            }
            Some(_) => Ok(()),
            None => Err(self.0.refused("nvme", &arguments, "nothing of its optional commands".to_owned())),
        }
    }

    /// On the controller and all of its namespaces, which is nvme-cli's default.
    fn begin(&self, test: SelfTest) -> Result<(), SelfTestError> {
        let code = match test {
            SelfTest::Short => "--self-test-code=1",
            SelfTest::Long => "--self-test-code=2",
        };
        self.0.command("nvme", &["device-self-test", &self.0.path, code]).map(drop)
    }

    fn look(&self) -> Result<Look, SelfTestError> {
        let arguments = ["self-test-log", &self.0.path, "--output-format=json"];
        let ended = self.0.command("nvme", &arguments)?;
        let look = serde_json::from_str(&ended.stdout).ok().and_then(|log| read(&log));
        look.ok_or_else(|| self.0.refused("nvme", &arguments, ended.last_words()))
    }
}

/// The newest entry of the log comes first; result 15 marks those that were never used.
fn read(log: &Value) -> Option<Look> {
    let number = |object: &Value, name: &str| object.get(name)?.as_u64();
    if number(log, "Current Device Self-Test Operation")? != 0 {
        let done = number(log, "Current Device Self-Test Completion")?;
        return Some(Look::UnderWay((done & 0x7f).min(100) as u8));
    }
    let newest = log.get("List of Valid Reports")?.as_array()?.first();
    let result = newest.and_then(|entry| number(entry, "Self test result"));
    let ended = result.filter(|result| *result != 15).map(|result| {
        let known = RESULTS.get(usize::try_from(result).unwrap_or(usize::MAX));
        let (outcome, words) = known.copied().unwrap_or((SelfTestOutcome::Failed, "a reserved result"));
        let place = newest.and_then(|entry| number(entry, "Failing LBA"));
        (outcome, place.map_or_else(|| words.to_owned(), |lba| format!("{words}, LBA {lba}")))
    });
    Some(Look::Ended(ended))
}

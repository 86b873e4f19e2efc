//! The self-tests of an ATA drive, by smartctl.

use serde_json::Value;

use super::{Asked, Look, SelfTest, SelfTestError, SelfTestOutcome, Tested};

pub(super) struct Drive<'a>(pub(super) &'a Asked);

impl Drive<'_> {
    fn capabilities(&self) -> Result<Value, SelfTestError> {
        self.0.json("smartctl", &["--json", "-c", &self.0.path])
    }
}

impl Tested for Drive<'_> {
    fn program(&self) -> &'static str {
        "smartctl"
    }

    fn abort(&self) -> String {
        format!("smartctl -X {}", self.0.path)
    }

    fn check(&self) -> Result<(), SelfTestError> {
        let place = "/ata_smart_data/capabilities/self_tests_supported";
        match self.capabilities()?.pointer(place).and_then(Value::as_bool) {
            Some(true) => Ok(()),
            Some(false) => Err(self.0.unsupported("its SMART capabilities have none")),
            None => Err(self.0.unsupported("it has no SMART, or SMART is disabled: `smartctl -s on` enables it")),
        }
    }

    fn begin(&self, test: SelfTest) -> Result<(), SelfTestError> {
        self.0.command("smartctl", &["-t", test.name(), &self.0.path]).map(drop)
    }

    fn look(&self) -> Result<Look, SelfTestError> {
        let document = self.capabilities()?;
        let status = document.pointer("/ata_smart_data/self_test/status");
        let value = status.and_then(|status| status.get("value")?.as_u64());
        let Some(value) = value else {
            return Err(self.0.unsupported("it does not report the status of its self-test"));
        };
        let words = status.and_then(|status| status.get("string")?.as_str()).unwrap_or_default();
        Ok(read(value, words))
    }
}

/// The status byte: how it ended in the upper four bits, or that it is under way and tens of percent that remain in the lower.
fn read(value: u64, words: &str) -> Look {
    let outcome = match value >> 4 {
        15 => return Look::UnderWay(100 - 10 * (value & 15).min(10) as u8),
        0 => SelfTestOutcome::Passed,
        1 | 2 => SelfTestOutcome::Aborted,
        _ => SelfTestOutcome::Failed,
    };
    Look::Ended(Some((outcome, words.to_owned())))
}

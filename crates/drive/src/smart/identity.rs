//! Who a drive says it is.

use block::{Bytes, Seed};
use serde::Deserialize;

use crate::preset::{table, words};

/// Who a drive says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Where it is found, as `sim:x25-m`.
    pub device: String,
    pub model: String,
    pub serial: String,
    /// The version of its firmware.
    pub firmware: String,
    /// What the host can store.
    pub capacity: Bytes,
    /// Turns a minute; zero if nothing turns.
    pub rotation_rate: u32,
    /// The attributes that it keeps.
    pub attributes: AttributeSet,
}

/// Which attributes a drive keeps, and under which numbers: makers do not agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttributeSet {
    /// Those that most flash drives have.
    #[default]
    Generic,
    /// Intel X25-M and X25-E.
    IntelX25,
    /// Intel 320.
    #[serde(rename = "intel-320")]
    Intel320,
    /// Intel 520.
    #[serde(rename = "intel-520")]
    Intel520,
    /// Drives with a SandForce controller.
    Sandforce,
    /// Crucial m4.
    CrucialM4,
    /// Samsung drives on SATA.
    Samsung,
    Disk,
    /// The health log of NVMe, and no attributes.
    Nvme,
}

words!(AttributeSet);

table!(pub(crate) IdentityTable {
    /// The model number that it reports
    model: String,
    /// The version of its firmware that it reports
    firmware: String,
    /// Which SMART attributes it keeps
    attributes: AttributeSet,
});

impl Identity {
    /// The drive called `name`. Its serial number follows from the name, so that it is always the same and
    /// never a real drive's.
    pub fn new(name: &str, model: &str, capacity: Bytes, attributes: AttributeSet) -> Self {
        Self {
            device: format!("sim:{name}"),
            model: model.to_owned(),
            serial: format!("SIM{:012X}", Seed::new(0).split(name).get() >> 16),
            firmware: env!("CARGO_PKG_VERSION").to_owned(),
            capacity,
            rotation_rate: 0,
            attributes,
        }
    }

    /// The same as the file's table has it.
    pub(crate) fn with(self, table: IdentityTable) -> Self {
        Self { model: table.model, firmware: table.firmware, attributes: table.attributes, ..self }
    }
}

//! What a drive's maker promises.

use block::{Endurance, Nanos, Rate};
use serde::Deserialize;

use super::units::{self, held};

/// What a drive's maker promises; of a rig, nothing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rated {
    /// Where the figures are from.
    pub source: String,
    #[serde(default, deserialize_with = "held::<Option<units::Rate>, _>")]
    pub sequential_read: Option<Rate>,
    #[serde(default, deserialize_with = "held::<Option<units::Rate>, _>")]
    pub sequential_write: Option<Rate>,
    #[serde(default, deserialize_with = "held::<Option<units::Duration>, _>")]
    pub read_latency: Option<Nanos>,
    /// Random reads of 4 KiB a second.
    pub random_read_iops: Option<u64>,
    /// Random writes of 4 KiB a second.
    pub random_write_iops: Option<u64>,
    /// How many of those are in flight; none where nobody says.
    #[serde(default)]
    pub random_depth: Option<u32>,
    /// The figures by which a parameter of the model was chosen: that it meets them says nothing for it.
    #[serde(default)]
    pub fitted: Vec<Promise>,
    /// How much the host may write in the drive's life.
    #[serde(default, deserialize_with = "held::<Option<units::Endurance>, _>")]
    pub endurance: Option<Endurance>,
    /// Where that is from; empty where it is not known.
    #[serde(default)]
    pub endurance_source: String,
}

/// A figure that a maker promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Promise {
    /// [`Rated::sequential_read`].
    SequentialRead,
    /// [`Rated::sequential_write`].
    SequentialWrite,
    /// [`Rated::read_latency`].
    ReadLatency,
    /// [`Rated::random_read_iops`].
    RandomReadIops,
    /// [`Rated::random_write_iops`].
    RandomWriteIops,
}

impl Rated {
    /// The promises in a drive's file; none if it has none.
    pub fn of_file(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Part {
            rated: Option<Rated>,
        }
        toml::from_str::<Part>(text).ok()?.rated
    }

    /// Each promise that is made.
    pub(super) fn facts(&self) -> impl Iterator<Item = String> + use<> {
        let sequential = [(self.sequential_read, "read"), (self.sequential_write, "write")];
        let random = [(self.random_read_iops, "reads"), (self.random_write_iops, "writes")];
        let sequential = sequential.map(|(rate, op)| rate.map(|rate| format!("{rate} sequential {op}")));
        let latency = self.read_latency.map(|latency| format!("{latency} read latency"));
        let random = random.map(|(iops, op)| iops.map(|iops| format!("{iops} IOPS, 4 KiB random {op}")));
        let endurance = self.endurance.map(|endurance| format!("{endurance} rated endurance"));
        sequential.into_iter().chain([latency]).chain(random).chain([endurance]).flatten()
    }
}

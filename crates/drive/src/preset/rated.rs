//! What a drive's maker promises.

use block::{Endurance, Nanos, Rate};
use serde::Deserialize;

use super::fields::{Field, Kind, Table, optional, words_of};
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
    /// The table of a drive's file, for the reference.
    pub const TABLE: Table = Table {
        name: "rated",
        about: "What the maker promises, with which the report compares",
        is_required: false,
        fields: &[
            optional("sequential_read", "Sequential reads", <units::Rate as Field>::kind),
            optional("sequential_write", "Sequential writes", <units::Rate as Field>::kind),
            optional("read_latency", "Of a read at random", <units::Duration as Field>::kind),
            optional("random_read_iops", "Random reads of 4 KiB a second", <u32 as Field>::kind),
            optional("random_write_iops", "Random writes of 4 KiB a second", <u32 as Field>::kind),
            optional("random_depth", "How many of those are in flight", <u32 as Field>::kind),
            optional(
                "fitted",
                "Those of the above that a parameter was chosen by, which say nothing for the model",
                || Kind::Words(words_of::<Promise>()),
            ),
            optional("endurance", "How much the host may write in the drive's life", <units::Endurance as Field>::kind),
            optional("endurance_source", "Where that is from, if elsewhere", <String as Field>::kind),
        ],
    };

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

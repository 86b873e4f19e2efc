//! The fields of MQSim's flows: what each can be, what MQSim takes where it is missing, and what becomes of it.

use super::super::simulator::field::FieldKind::{Count, Numbers, Switch, Text, Word};
use super::super::simulator::field::{Fate, FieldKind, FieldSpec};

const fn required(name: &'static str, kind: FieldKind, becomes: &'static str) -> FieldSpec {
    FieldSpec { name, kind, default: None, fate: Fate::Taken, becomes }
}

const fn optional(name: &'static str, kind: FieldKind, becomes: &'static str) -> FieldSpec {
    FieldSpec { name, kind, default: None, fate: Fate::Optional, becomes }
}

const fn unused(name: &'static str, kind: FieldKind, why: &'static str) -> FieldSpec {
    FieldSpec { name, kind, default: None, fate: Fate::Unused, becomes: why }
}

const fn lost(name: &'static str, kind: FieldKind, same: &'static [&'static str], follows: &'static str) -> FieldSpec {
    FieldSpec { name, kind, default: None, fate: Fate::Lost(same), becomes: follows }
}

/// What all flows have.
pub(super) const FLOW: &[FieldSpec] = &[
    lost("Priority_Class", Word(&["URGENT", "HIGH", "MEDIUM", "LOW"]), &["HIGH"], "all jobs have the same priority"),
    required(
        "Device_Level_Data_Caching_Mode",
        Word(&["WRITE_CACHE", "TURNED_OFF", "READ_CACHE", "WRITE_READ_CACHE"]),
        "`sync = 1` where writes pass the cache by; reads fill no cache",
    ),
    required("Channel_IDs", Numbers, "`offset`, `size`: flows of the same planes share the addresses of these"),
    required("Chip_IDs", Numbers, "as `Channel_IDs`"),
    required("Die_IDs", Numbers, "as `Channel_IDs`"),
    required("Plane_IDs", Numbers, "as `Channel_IDs`"),
    required("Initial_Occupancy_Percentage", Count(0, 100), "how much the step `layout` writes first"),
];

/// What synthetic flows have beside.
pub(super) const SYNTHETIC: &[FieldSpec] = &[
    required("Working_Set_Percentage", Count(1, 100), "`size`"),
    required(
        "Synthetic_Generator_Type",
        Word(&["QUEUE_DEPTH", "BANDWIDTH"]),
        "`iodepth`, or `rate_iops` with `rate_process = \"poisson\"`",
    ),
    required("Read_Percentage", Count(0, 100), "`rw`, `rwmixread`"),
    required(
        "Address_Distribution",
        Word(&["RANDOM_UNIFORM", "RANDOM_HOTCOLD", "STREAMING"]),
        "`rw`, `random_distribution`; a stream begins at the start of its range, not at a place that is drawn",
    ),
    optional(
        "Percentage_of_Hot_Region",
        Count(0, 100),
        "`random_distribution`: h of the addresses have 100 − h of the requests",
    ),
    required("Generated_Aligned_Addresses", Switch, "`blockalign`"),
    optional("Address_Alignment_Unit", Count(1, 1 << 24), "`blockalign`, in sectors of 512 B"),
    required("Request_Size_Distribution", Word(&["FIXED", "NORMAL"]), "`bs`, `bssplit` of up to 50 sizes"),
    required("Average_Request_Size", Count(1, 1 << 24), "`bs`, in sectors of 512 B"),
    optional(
        "Variance_Request_Size",
        Count(0, 1 << 24),
        "`bssplit`; MQSim takes it for the standard deviation, in sectors",
    ),
    unused("Seed", Count(0, u64::MAX), "`--seed` of the run"),
    optional("Average_No_of_Reqs_in_Queue", Count(1, 65_536), "`iodepth`"),
    optional("Bandwidth", Count(0, 1 << 50), "`rate_iops`: over the mean size of a request"),
    optional("Intensity", Count(0, 1 << 50), "`Bandwidth` in files of before 2018; MQSim reads it no more"),
    optional("Stop_Time", Count(0, 10 * 365 * 86_400 * 1_000_000_000), "`runtime`, in ns"),
    optional("Total_Requests_To_Generate", Count(0, u64::MAX), "`number_ios`, where `Stop_Time` is 0"),
];

/// What flows from traces have beside.
pub(super) const TRACE: &[FieldSpec] = &[
    required(
        "File_Path",
        Text,
        "`read_iolog`: a file in the folder of the plan, whatever links lead there; `--allow-path` adds a folder",
    ),
    lost(
        "Percentage_To_Be_Executed",
        Count(1, 100),
        &["100"],
        "the whole trace is replayed; `number_ios` ends it earlier",
    ),
    lost("Relay_Count", Count(1, 1 << 32), &["1"], "the trace is replayed once"),
    required("Time_Unit", Word(&["NANOSECOND", "MICROSECOND", "PICOSECOND"]), "`replay_format`"),
];

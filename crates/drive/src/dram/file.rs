//! A DRAM drive as its file describes it.

use block::Bytes;

use super::DramSpec;
use crate::preset::units;
use crate::preset::{HostTable, PresetError, Rated, drive_file, require, table};

drive_file!(
    /// A DRAM drive's file as it is written.
    DramFile {
        /// The memory
        memory: Memory,
        /// What a command takes
        service: Service,
        /// What the drive uses
        power: PowerTable,
        /// The host in which it is measured; by itself without it
        rig: Option<HostTable>,
    }
    #[serde(default)]
    pub rated: Rated,
);

table!(Memory {
    /// What the host can store
    capacity: units::Bytes,
    /// Commands that the drive takes at once
    queue_depth: u32,
});

table!(Service {
    /// Time of a read beside its data
    read: units::Duration,
    /// Time of a write beside its data
    write: units::Duration,
    /// Rate of the data of reads
    read_rate: units::Rate,
    /// Rate of the data of writes
    write_rate: units::Rate,
});

table!(PowerTable {
    /// Waiting for commands
    idle: units::Power,
    /// While any command is in flight
    active: units::Power,
    /// Whether a battery keeps the data when power is cut
    battery: bool,
});

impl DramFile {
    /// The drive itself.
    ///
    /// # Errors
    /// If the numbers do not make a drive.
    pub fn spec(&self) -> Result<DramSpec, PresetError> {
        let (Memory { capacity, queue_depth, .. }, power) = (&self.memory, &self.power);
        require(
            *capacity > Bytes::ZERO && *queue_depth > 0,
            || format!("memory has {capacity} and a queue of {queue_depth}"),
            "both are more than nothing",
        )?;
        let Service { read, write, read_rate, write_rate, .. } = self.service;
        Ok(DramSpec {
            capacity: *capacity,
            queue_depth: *queue_depth,
            read,
            write,
            read_rate,
            write_rate,
            idle: power.idle,
            active: power.active,
            battery: power.battery,
        })
    }
}

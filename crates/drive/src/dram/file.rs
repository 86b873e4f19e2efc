//! A DRAM drive as its file describes it.

use block::Bytes;
use serde::Deserialize;

use super::DramSpec;
use crate::preset::fields::Table;
use crate::preset::units;
use crate::preset::{HostTable, ListPrice, PresetError, Rated, require, table};

/// A DRAM drive's file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DramFile {
    pub name: String,
    pub title: String,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(default)]
    pub rated: Rated,
    #[serde(rename = "price")]
    _price: Option<ListPrice>,
    memory: Memory,
    service: Service,
    power: PowerTable,
    #[serde(rename = "rig")]
    _rig: Option<HostTable>,
}

table!(Memory { capacity: units::Bytes, queue_depth: u32 });

table!(Service { read: units::Duration, write: units::Duration, read_rate: units::Rate, write_rate: units::Rate });

table!(PowerTable { idle: units::Power, active: units::Power, battery: bool });

impl DramFile {
    /// The tables of the file with their fields.
    pub const TABLES: &[Table] = &[
        ("memory", Memory::FIELDS),
        ("service", Service::FIELDS),
        ("power", PowerTable::FIELDS),
        ("rig", HostTable::FIELDS),
    ];

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

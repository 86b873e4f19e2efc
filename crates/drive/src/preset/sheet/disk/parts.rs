//! What a disk with given ratings may be made of.

use std::f64::consts::TAU;

use super::super::parts::idema;
use super::super::ratings::{Market, Ratings};
use super::super::value::Interface;
use super::rows::{DiskRatings, Recording, Seeks};

/// What a disk is made of: bytes, bytes a second, milliseconds and watts.
#[derive(Clone, Debug)]
pub struct DiskParts {
    pub interface: Interface,
    pub is_server: bool,
    pub user: f64,
    pub rpm: f64,
    pub heads: u32,
    pub arms: u32,
    pub zones: u32,
    pub physical: u32,
    pub outer: f64,
    /// The innermost tracks' share of the outermost ones' rate.
    pub inner: f64,
    /// Before reads and before writes: to the next track, on average, over all tracks.
    pub seeks: [[f64; 3]; 2],
    pub head_switch: f64,
    pub cache: f64,
    pub write_extents: u32,
    /// Whether its firmware orders commands by seeks alone, as of the two disks that were measured.
    pub is_early: bool,
    pub depth: f64,
    pub queue: u32,
    pub power: Power,
}

/// Watts, and seconds.
#[derive(Clone, Copy, Debug)]
pub struct Power {
    pub idle: f64,
    pub seek: f64,
    /// Reads and writes in order.
    pub moving: [f64; 2],
    pub standby: f64,
    pub spin_up: f64,
    pub spin_up_time: f64,
}

/// What disks of a kind take for seeks, in milliseconds, where nobody says.
fn usual_seeks(rpm: f64, is_small: bool, is_server: bool) -> [[f64; 3]; 2] {
    match (rpm, is_small, is_server) {
        (12_500.0.., ..) => [[0.2, 2.9, 6.0], [0.4, 3.2, 6.5]],
        (8_500.0.., ..) => [[0.3, 4.2, 8.5], [0.5, 4.7, 9.5]],
        (_, true, _) => [[1.0, 12.0, 20.0], [1.1, 13.0, 21.0]],
        (6_500.0.., _, true) => [[0.23, 7.4, 14.5], [0.32, 8.2, 15.5]],
        (6_500.0.., ..) => [[0.8, 8.5, 17.0], [1.0, 9.5, 18.0]],
        _ => [[0.8, 12.0, 22.0], [1.0, 13.0, 23.0]],
    }
}

impl DiskParts {
    /// The parts of a disk with these ratings, before what follows from its simulated rates.
    ///
    /// # Errors
    /// All that contradicts itself or that no disk has.
    pub fn of(ratings: &Ratings, disk: &DiskRatings) -> Result<Self, Vec<String>> {
        let Some(capacity) = ratings.capacity else {
            return Err(vec!["the capacity is missing; give it, such as `capacity=20TB`".to_owned()]);
        };
        let rpm = disk.turns().unwrap_or(if disk.is_small { 5400.0 } else { 7200.0 });
        let is_server = match ratings.market {
            Some(market) => market == Market::Server,
            None => matches!(ratings.interface, Some(Interface::Sas(_))) || rpm > 8_500.0 || capacity >= 10e12,
        };
        let interface = ratings.interface.unwrap_or(Interface::Sata(600));
        let transfer = transfer(ratings, disk).unwrap_or_else(|| usual_transfer(capacity, disk.is_small));
        let mistakes = contradictions(disk, interface, capacity, transfer);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let arms = if disk.has_two_arms { 2 } else { 1 };
        let each = transfer / f64::from(arms);
        let by_average = disk.average.map(|average| 2.0 * average / transfer - 1.0);
        let inner = disk.inner.map(|inner| inner / transfer).or(by_average).unwrap_or(0.5).clamp(0.3, 1.0);
        let usual = usual_seeks(rpm, disk.is_small, is_server);
        let seeks = [0, 1].map(|side| seeks(disk.seeks[side], usual[side]));
        let is_early = matches!(interface, Interface::Sata(..=300));
        let head_switch = match (rpm, disk.is_small, is_server) {
            (8_500.0.., ..) | (_, false, true) => 0.3,
            (_, true, _) => 1.0,
            _ => 0.8,
        };
        let user = match disk.recording {
            // Whole zones.
            Recording::HostManaged => (idema(capacity) / ZONE).floor() * ZONE,
            _ => idema(capacity),
        };
        let guess = heads_of(user, each, inner, rpm, disk.is_small);
        let heads = disk.heads.unwrap_or(guess).next_multiple_of(arms);
        let cache = disk.cache.unwrap_or_else(|| usual_cache(capacity));
        Ok(Self {
            interface,
            is_server,
            user,
            rpm,
            heads,
            arms,
            zones: if each > 90e6 { 24 } else { 16 },
            physical: disk.physical.unwrap_or(if each > 120e6 { 4096 } else { 512 }),
            outer: each * (1.0 + head_switch * rpm / 60_000.0),
            inner,
            seeks,
            head_switch,
            cache,
            write_extents: if is_early { 144 } else { 192 },
            is_early,
            depth: ratings.depth.or(disk.depth).unwrap_or(32.0),
            queue: if matches!(interface, Interface::Sas(_)) { 128 } else { 32 },
            power: power(disk, rpm, heads),
        })
    }
}

/// Bytes of a host-managed disk's zone, as is usual.
pub const ZONE: f64 = 268_435_456.0;

/// What is rated of the outermost tracks.
pub fn transfer(ratings: &Ratings, disk: &DiskRatings) -> Option<f64> {
    disk.outer(ratings.sequential_read.or(ratings.sequential_write))
}

/// A disk's rate where nobody says: by its capacity, as platters of more data turn past a head faster.
fn usual_transfer(capacity: f64, is_small: bool) -> f64 {
    let usual: &[(f64, f64)] = if is_small {
        &[(0.09e12, 45e6), (0.3e12, 80e6), (0.9e12, 110e6)]
    } else {
        &[(0.09e12, 60e6), (0.4e12, 85e6), (0.9e12, 120e6), (2.5e12, 160e6), (7e12, 200e6), (13e12, 240e6)]
    };
    let most = if is_small { 140e6 } else { 270e6 };
    usual.iter().find(|(size, _)| capacity < *size).map_or(most, |(_, rate)| *rate)
}

fn usual_cache(capacity: f64) -> f64 {
    let mib = match capacity {
        ..0.2e12 => 8,
        ..0.9e12 => 16,
        ..3e12 => 64,
        ..9e12 => 128,
        ..19e12 => 256,
        _ => 512,
    };
    f64::from(mib << 20)
}

/// Seeks as they are rated; what is not rated in proportion to what is.
fn seeks(rated: Seeks, usual: [f64; 3]) -> [f64; 3] {
    let average = rated.average.unwrap_or(usual[1]);
    let by = average / usual[1];
    let track = rated.track.unwrap_or_else(|| (usual[0] * by).min(average * 0.5));
    [track, average, rated.full.unwrap_or(usual[2] * by)]
}

/// How many heads hold the capacity: tracks lie as much closer as bits along them do, by the disks that come with the program,
/// whose bits are 3 to 8 times as dense along a track as tracks are.
fn heads_of(user: f64, rate: f64, inner: f64, rpm: f64, is_small: bool) -> u32 {
    // Inches: the radius of the outermost track, and from there to the innermost.
    let is_fast = rpm > 8_500.0;
    let (radius, width) = if is_small || is_fast { (1.24, 0.57) } else { (1.82, 1.0) };
    let track = rate * 60.0 / rpm;
    let bits = track * 8.0 / (TAU * radius);
    let ratio = 3.2 / (bits / 1e6).clamp(0.05, 1.0).powf(0.8);
    let surface = track * (1.0 + inner) / 2.0 * bits / ratio * width;
    let heads = user / surface;
    if heads < 1.5 { 1 } else { ((heads / 2.0).round() * 2.0).clamp(2.0, 24.0) as u32 }
}

/// What is rated, and what is usual of such disks.
fn power(disk: &DiskRatings, rpm: f64, heads: u32) -> Power {
    let usual = match (rpm, disk.is_small) {
        (8_500.0.., _) => 5.0 + 0.5 * f64::from(heads),
        (_, true) => 0.8,
        _ => 3.0 + 0.15 * f64::from(heads),
    };
    // No disk takes more at rest than at work.
    let [read, write] = disk.moving;
    let least = [disk.active, read, write].into_iter().flatten().fold(f64::MAX, f64::min);
    let idle = disk.idle.unwrap_or_else(|| usual.min(least * 0.8));
    let usual = if disk.is_small { idle * 2.2 } else { idle + 3.0 };
    let active = disk.active.or(read).or(write).unwrap_or(usual);
    let moving = disk.moving.map(|watts| watts.unwrap_or(idle + (active - idle) * 0.4));
    let [standby, spin_up, spin_up_time] = if disk.is_small { [0.2, 5.0, 4.0] } else { [1.0, 24.0, 15.0] };
    Power { idle, seek: active, moving, standby, spin_up: spin_up.max(active), spin_up_time }
}

/// What in the ratings cannot be, or cannot be together.
fn contradictions(disk: &DiskRatings, interface: Interface, capacity: f64, transfer: f64) -> Vec<String> {
    let mut found = Vec::new();
    if !(1e9..=100e12).contains(&capacity) {
        found.push(format!("capacity: {} GB; disks have 1 GB to 100 TB here", capacity / 1e9));
    }
    if matches!(interface, Interface::Pcie { .. }) {
        found.push(format!("interface: {}; disks are made on SATA or SAS here", interface.words()));
    }
    if !(2e6..=800e6).contains(&transfer) {
        found.push(format!("sustained transfer rate: {:.1} MB/s; disks have 2 to 800 MB/s", transfer / 1e6));
    } else if transfer > interface.most() * 0.95 {
        found.push(format!(
            "sustained transfer rate: {:.0} MB/s are more than {} carries, {:.0} MB/s; check both",
            transfer / 1e6,
            interface.words(),
            interface.most() * 0.95 / 1e6
        ));
    }
    if disk.average.is_some_and(|average| average > transfer) {
        found.push("average transfer rate: it is more than that of the outermost tracks; check both".to_owned());
    }
    for (side, seeks) in ["read", "write"].iter().zip(&disk.seeks) {
        let Seeks { track, average, full } = *seeks;
        let is_rising = |less: Option<f64>, more: Option<f64>| less.zip(more).is_none_or(|(less, more)| less < more);
        if !is_rising(track, average) || !is_rising(average, full) || !is_rising(track, full) {
            found.push(format!("seeks before a {side}: one to the next track is shorter than the average, that shorter than one over all tracks; check them"));
        }
    }
    found
}

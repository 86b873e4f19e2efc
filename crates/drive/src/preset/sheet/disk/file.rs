//! The file of a disk that was made of ratings.

use super::super::file::{introduced, named, rated};
use super::super::ratings::Ratings;
use super::super::text::{File, bytes, kib, megabytes, milliseconds, nanoseconds};
use super::super::value::Interface;
use super::parts::{DiskParts, ZONE, transfer};
use super::rows::{DiskRatings, Recording};

/// What was chosen so that the simulated disk meets its ratings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fitted {
    pub rate: bool,
    pub seeks: bool,
    pub writes: bool,
    /// The random reads a second of rated seeks, where these miss the rated ones.
    pub reads: Option<f64>,
}

/// The whole file.
pub fn text(name: &str, ratings: &Ratings, disk: &DiskRatings, parts: &DiskParts, fitted: Fitted) -> String {
    let form = if disk.is_small { "2.5 inch" } else { "3.5 inch" };
    let recording = match disk.recording {
        Recording::Conventional => "",
        Recording::DriveManaged => ", drive-managed SMR",
        Recording::HostManaged => ", host-managed SMR",
    };
    let what = format!("{} rpm, {form}{recording}, {}; from its ratings", parts.rpm, parts.interface.words());
    let mut file = introduced(name, ratings);
    let market = if parts.is_server { "for servers" } else { "for clients" };
    let facts = [
        (disk.turns().is_some(), format!("rpm, {}", parts.rpm)),
        (ratings.interface.is_some(), format!("interface, {}", parts.interface.words())),
        (ratings.market.is_some(), format!("class, {market}")),
    ];
    named(&mut file, name, ratings, parts.user, &what, facts);
    file.0 += "kind = \"disk\"\n";
    if !parts.is_server {
        file.0 += "base = \"disk-desktop\"\n";
    }
    promises(&mut file, ratings, disk, parts, fitted);
    mechanics(&mut file, disk, parts, fitted, ratings);
    controller(&mut file, disk, parts, fitted);
    link(&mut file, parts);
    power(&mut file, disk, parts);
    if parts.is_server {
        troubles(&mut file);
    }
    shingles(&mut file, disk, parts);
    file.0
}

/// The ratings as they were given.
fn promises(file: &mut File, ratings: &Ratings, disk: &DiskRatings, parts: &DiskParts, fitted: Fitted) {
    let rate = transfer(ratings, disk);
    let all = Ratings {
        sequential_read: rate,
        // Shingled tracks do not take what is written as fast as it is read.
        sequential_write: disk
            .written
            .or(ratings.sequential_write)
            .or(rate)
            .filter(|_| disk.recording != Recording::DriveManaged),
        depth: ratings.depth.or(disk.depth),
        ..ratings.clone()
    };
    let is_fitted = |field: &str| match field {
        "sequential_read" => fitted.rate,
        "sequential_write" => fitted.rate && all.sequential_write == rate,
        "random_read_iops" => fitted.seeks,
        "random_write_iops" => fitted.writes,
        _ => false,
    };
    rated(file, &all, parts.depth, is_fitted);
}

/// Platters and the arm.
fn mechanics(file: &mut File, disk: &DiskRatings, parts: &DiskParts, fitted: Fitted, ratings: &Ratings) {
    let given = |is_given: bool, what: &str| if is_given { what.to_owned() } else { "guess".to_owned() };
    let outer = match (fitted.rate, parts.arms) {
        (true, 1) => "derived: with the gaps that switching heads and tracks costs, the rated transfer rate".to_owned(),
        (true, arms) => {
            format!("derived: with such gaps {arms} streams, one under each arm, have the rated transfer rate")
        }
        (false, _) => "guess: the transfer rate usual of such a capacity".to_owned(),
    };
    let source = format!(
        "capacity: as sold, by IDEMA's rule from 50 GB on. rpm: {}. heads: {}. outer: {outer}. inner: {}. physical_sector: {}. zones: guess",
        given(disk.turns().is_some(), "rated"),
        if disk.heads.is_some() {
            "given"
        } else {
            "guess, as many as hold the capacity at the usual density of tracks"
        },
        match (disk.inner, disk.average) {
            (Some(_), _) => "as much less as is rated",
            (None, Some(_)) => "derived from the rated average transfer rate",
            _ => "guess, half of outer",
        },
        given(disk.physical.is_some(), "given"),
    );
    let mut fields = vec![
        ("capacity", bytes(parts.user)),
        ("rpm", format!("{:.0}", parts.rpm)),
        ("heads", parts.heads.to_string()),
        ("zones", parts.zones.to_string()),
        ("outer", megabytes((parts.outer / 1e4).round() * 1e4)),
        ("inner", megabytes((parts.outer * parts.inner / 1e4).round() * 1e4)),
        ("physical_sector", bytes(f64::from(parts.physical))),
    ];
    if parts.arms > 1 {
        fields.push(("actuators", parts.arms.to_string()));
    }
    file.table("platters", &source, &fields);
    let rated = ["read", "write"].iter().zip(&disk.seeks).flat_map(|(side, seeks)| {
        let times = [("track", seeks.track), ("average", seeks.average), ("full", seeks.full)];
        times.into_iter().filter_map(move |(what, time)| time.map(|_| format!("{side}_{what}")))
    });
    let rated: Vec<String> = rated.collect();
    let mut source = if fitted.seeks {
        format!(
            "derived: the seeks usual of such disks, by a factor with which random reads with {:.0} in flight are as rated",
            parts.depth
        )
    } else if rated.is_empty() {
        "guess: usual of such disks".to_owned()
    } else {
        format!("{}: rated. The others: guess, in proportion to those of such disks", rated.join(", "))
    };
    if let (Some(reads), Some(promised)) = (fitted.reads, ratings.random_read) {
        source += &format!(
            ". With the rated seeks {reads:.0} random reads a second come out with {:.0} in flight where {promised:.0} are rated",
            parts.depth
        );
    }
    source += ". head_switch: guess";
    let mut fields = Vec::new();
    for (side, seeks) in ["read", "write"].iter().zip(&parts.seeks) {
        for (what, time) in ["track", "average", "full"].iter().zip(seeks) {
            fields.push((format!("{side}_{what}"), milliseconds(*time)));
        }
    }
    fields.push(("head_switch".to_owned(), milliseconds(parts.head_switch)));
    let fields: Vec<(&str, String)> = fields.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    file.table("seek", &source, &fields);
}

fn controller(file: &mut File, disk: &DiskRatings, parts: &DiskParts, fitted: Fitted) {
    let queue = if matches!(parts.interface, Interface::Sas(_)) { "guess" } else { "SATA native command queuing" };
    let mut fields = vec![
        ("queue_depth", parts.queue.to_string()),
        ("command", if parts.is_early { "\"600 us\"" } else { "\"50 us\"" }.to_owned()),
        ("jitter", "\"10%\"".to_owned()),
        ("age_limit", "\"1 s\"".to_owned()),
    ];
    let mut source = format!("queue_depth: {queue}. jitter, age_limit: guess, as of other disks");
    if parts.is_early {
        source +=
            ". command, order, chosen_ahead: guess, as of the two disks with SATA before 6 Gb/s that were measured";
        fields.extend([("order", "\"seek\"".to_owned()), ("chosen_ahead", "2".to_owned())]);
    } else {
        source += ". command: guess";
    }
    file.table("controller", &source, &fields);
    let cache = if disk.cache.is_some() { "the rated cache" } else { "guess: a cache usual of such a capacity" };
    let extents = match fitted.writes {
        true => format!("derived: with so many random writes with {:.0} in flight are as rated", parts.depth),
        false if parts.is_early => "guess, as of spinpoint-f1".to_owned(),
        false => "guess".to_owned(),
    };
    let segments = if parts.cache >= 64.0 * 1048576.0 { 64.0 } else { 16.0 };
    let segment = (parts.cache / 4.0 / segments / 4096.0).floor().max(4.0) * 4096.0;
    let mut fields = vec![
        ("segments", format!("{segments:.0}")),
        ("segment", kib(segment)),
        ("write", kib((parts.cache / 4.0 / 4096.0).floor() * 4096.0)),
        ("write_extents", parts.write_extents.to_string()),
        ("destage_after", "\"20 ms\"".to_owned()),
    ];
    if parts.is_early {
        fields.extend([("destage_choices", "1".to_owned()), ("destage_batch", "1".to_owned())]);
    }
    let source = format!(
        "{cache}; how it is shared out: guess, a quarter for reads, a quarter for writes. write_extents: {extents}. The rest: guess"
    );
    file.table("cache", &source, &fields);
}

fn link(file: &mut File, parts: &DiskParts) {
    let most = parts.interface.most();
    let is_sas = matches!(parts.interface, Interface::Sas(_));
    // As of the disks that come with the program, whose commands take twice as long at half the rate.
    let command = 3.4 * 600e6 / most;
    let fields = [
        ("rate", megabytes(most)),
        ("frame", if is_sas { "\"1 KiB\"" } else { "\"8 KiB\"" }.to_owned()),
        ("frame_overhead", nanoseconds(if is_sas { 0.1 } else { 0.3 * 1e9 / most })),
        ("command", nanoseconds(command)),
    ];
    let words = parts.interface.words();
    let source = format!(
        "{words} less 8b/10b, frames by the specification. frame_overhead, command: guess, as of the other disks"
    );
    file.table("link", &source, &fields);
}

fn power(file: &mut File, disk: &DiskRatings, parts: &DiskParts) {
    let power = parts.power;
    let rated = [("idle", disk.idle), ("seek", disk.active), ("read", disk.moving[0]), ("write", disk.moving[1])];
    let rated: Vec<&str> = rated.into_iter().filter_map(|(field, watts)| watts.map(|_| field)).collect();
    let source = match rated.is_empty() {
        true => "guess: usual of such disks".to_owned(),
        false => format!("{}: rated. The rest: guess, usual of such disks", rated.join(", ")),
    };
    let watts = |watts: f64| format!("\"{:.0} mW\"", watts * 1000.0);
    let fields = [
        ("idle", watts(power.idle)),
        ("seek", watts(power.seek)),
        ("read", watts(power.moving[0])),
        ("write", watts(power.moving[1])),
        ("standby", watts(power.standby)),
        ("spin_up", watts(power.spin_up)),
        ("spin_up_time", format!("\"{:.0} s\"", power.spin_up_time)),
    ];
    file.table("power", &source, &fields);
}

/// What goes wrong now and then on a disk for servers, as of those that come with the program.
fn troubles(file: &mut File) {
    let fields = [
        ("settle", "\"50 us\""),
        ("read_retry", "\"0.02%\""),
        ("write_retry", "\"0.1%\""),
        ("retry_again", "\"20%\""),
        ("read_recovery", "\"0.001%\""),
        ("write_recovery", "\"0.002%\""),
        ("recovery", "\"200 ms\""),
        ("recovery_deviation", "\"40%\""),
    ];
    let fields = fields.map(|(name, value)| (name, value.to_owned()));
    file.table("variation", "guess: as of nearline-7200, a disk for servers", &fields);
}

/// Tracks that lie over each other.
fn shingles(file: &mut File, disk: &DiskRatings, parts: &DiskParts) {
    match disk.recording {
        Recording::Conventional => {}
        Recording::DriveManaged => {
            let fields = [
                ("band", "\"30 MiB\"".to_owned()),
                ("media_cache", bytes((parts.user * 0.003).clamp(1e9, 25e9).floor())),
                ("extents", "200000".to_owned()),
                ("clean_after", "\"1100 ms\"".to_owned()),
            ];
            file.table("shingled", "guess: as of archive-8tb, a disk of which that is published", &fields);
        }
        Recording::HostManaged => {
            let fields = [
                ("size", bytes(ZONE)),
                ("conventional", ((parts.user / ZONE / 100.0) as u64).to_string()),
                ("max_open", "128".to_owned()),
            ];
            let source = "guess: zones of 256 MiB of which the first hundredth is conventional, usual of such disks";
            file.table("zones", source, &fields);
        }
    }
}

//! Siblings: drives of a family that differ in capacity, dies and what their maker promises.

use assay_drive::disk::{DiskDrive, DiskSpec};
use assay_drive::flash::FlashSpec;
use assay_drive::pcm::{MediaSpec, PcmSpec};
use assay_drive::preset::{Rated, Spec};
use block::{Bytes, Op};

use crate::disk::{spec, stream};
use crate::modern::{in_order, in_order_of, near, preset, scattered, scattered_of, settle};
use crate::servers::{flash, smaller};

/// A drive, its sibling, and how many times the dies that has.
const SIBLINGS: [(&str, &str, f64); 101] = [
    ("p4500-1tb", "p4500-2tb", 2.0),
    ("p4500-1tb", "p4500-4tb", 4.0),
    ("s3700-400", "s3700-100", 0.25),
    ("s3700-400", "s3700-200", 0.5),
    ("s3700-400", "s3700-800", 2.0),
    ("pm983-960", "pm983-1920", 2.0),
    ("pm9a3-960", "pm9a3-1920", 2.0),
    ("pm9a3-960", "pm9a3-3840", 4.0),
    ("p5520-1920", "p5520-3840", 2.0),
    ("7450-pro-960", "7450-pro-1920", 2.0),
    ("sn640-960", "sn640-1920", 2.0),
    ("p3700-800", "p3700-1600", 2.0),
    ("s4500-480", "s4500-960", 2.0),
    ("s4610-480", "s4610-960", 2.0),
    ("980-pro-1tb", "980-pro-250", 0.25),
    ("980-pro-1tb", "980-pro-500", 0.5),
    ("980-pro-1tb", "980-pro-2tb", 2.0),
    ("860-pro-1tb", "860-pro-256", 0.25),
    ("860-pro-1tb", "860-pro-512", 0.5),
    ("860-pro-1tb", "860-pro-2tb", 2.0),
    ("860-pro-1tb", "860-pro-4tb", 4.0),
    ("990-pro", "990-pro-2tb", 2.0),
    ("990-pro", "990-pro-4tb", 4.0),
    ("sata-tlc", "870-evo-250", 0.5),
    ("sata-tlc", "870-evo-1tb", 2.0),
    ("sata-tlc", "870-evo-2tb", 4.0),
    ("sata-tlc", "870-evo-4tb", 8.0),
    ("870-qvo", "870-qvo-2tb", 2.0),
    ("870-qvo", "870-qvo-4tb", 4.0),
    ("870-qvo", "870-qvo-8tb", 8.0),
    ("970-pro", "970-pro-1tb", 2.0),
    ("pm883-480", "pm883-240", 0.5),
    ("pm883-480", "pm883-960", 2.0),
    ("pm883-480", "pm883-1920", 4.0),
    ("s3610-480", "s3610-400", 0.875),
    ("s3610-480", "s3610-800", 1.75),
    ("s3610-480", "s3610-1600", 3.25),
    ("dc500m-960", "dc500m-480", 0.5),
    ("dc500m-960", "dc500m-1920", 2.0),
    ("cm7-r-3840", "cm7-r-1920", 0.5),
    ("cm7-r-3840", "cm7-r-7680", 2.0),
    ("pe8110-960", "pe8110-1920", 2.0),
    ("pe8110-960", "pe8110-3840", 4.0),
    ("9100-max-2400", "9100-max-1200", 0.5),
    ("p4510-1tb", "p4510-2tb", 2.0),
    ("p4510-1tb", "p4510-4tb", 4.0),
    ("7450-max-800", "7450-max-1600", 2.0),
    ("7450-max-800", "7450-max-3200", 4.0),
    ("p400m-400", "p400m-200", 0.5),
    ("p400m-400", "p400m-100", 0.3),
    ("s3500-m2-80", "s3500-m2-120", 1.5),
    ("s3500-m2-80", "s3500-m2-340", 4.0),
    ("sm843-480", "sm843-240", 0.5),
    ("optimus-eco-400", "optimus-eco-800", 2.0),
    ("x25-m", "x25-m-160", 2.0),
    ("ssd-320", "ssd-320-40", 0.125),
    ("ssd-320", "ssd-320-80", 0.25),
    ("ssd-320", "ssd-320-120", 0.375),
    ("ssd-320", "ssd-320-160", 0.5),
    ("ssd-320", "ssd-320-600", 2.0),
    ("m4-256", "m4-512", 2.0),
    ("intel-520", "intel-520-120", 0.5),
    ("intel-520", "intel-520-180", 0.75),
    ("intel-520", "intel-520-480", 2.0),
    ("vertex3-240", "vertex3-120", 0.5),
    ("vertex3-240", "vertex3-480", 2.0),
    ("samsung-830", "samsung-830-64", 0.25),
    ("samsung-830", "samsung-830-128", 0.5),
    ("samsung-830", "samsung-830-512", 2.0),
    ("980-1tb", "980-250", 0.25),
    ("980-1tb", "980-500", 0.5),
    ("pcie5", "t700-2tb", 2.0),
    ("pcie5", "t700-4tb", 4.0),
    ("p5316-15360", "p5316-30720", 2.0),
    ("p5520-1920", "p5520-7680", 4.0),
    ("7450-pro-960", "7450-pro-3840", 4.0),
    ("pm983-960", "pm983-3840", 4.0),
    ("pm9a3-960", "pm9a3-7680", 8.0),
    ("7450-pro-960", "7450-pro-7680", 8.0),
    ("7450-max-800", "7450-max-6400", 8.0),
    ("sn640-960", "sn640-3840", 4.0),
    ("sn640-960", "sn640-7680", 8.0),
    ("p3700-800", "p3700-400", 0.5),
    ("p3700-800", "p3700-2000", 2.5),
    ("s4500-480", "s4500-240", 0.5),
    ("s4500-480", "s4500-1920", 4.0),
    ("s4500-480", "s4500-3840", 8.0),
    ("s4610-480", "s4610-240", 0.5),
    ("s4610-480", "s4610-1920", 4.0),
    ("s4610-480", "s4610-3840", 8.0),
    ("s4610-480", "s4610-7680", 16.0),
    ("p4510-1tb", "p4510-8tb", 8.0),
    ("pm883-480", "pm883-3840", 8.0),
    ("pm883-480", "pm883-7680", 16.0),
    ("dc500m-960", "dc500m-3840", 4.0),
    ("s3610-480", "s3610-200", 0.4375),
    ("s3610-480", "s3610-1200", 2.5),
    ("optimus-eco-400", "optimus-eco-1600", 4.0),
    ("optimus-eco-400", "optimus-eco-2000", 5.0),
    ("intel-520", "intel-520-60", 0.25),
    ("vertex3-240", "vertex3-60", 0.25),
];

/// The `[rated]` or another table's source, in a drive's file.
fn source(name: &str, table: &str) -> String {
    let file: toml::Table = preset(name).text.parse().unwrap();
    file[table]["source"].as_str().unwrap().to_owned()
}

#[test]
fn siblings_differ_in_dies_capacity_and_what_their_makers_promise() {
    for (name, sibling, dies) in SIBLINGS {
        let [(one, spec), (other, its)] = [name, sibling].map(|name| (preset(name), flash(&preset(name))));
        let ratio = |one: u64, other: u64| other as f64 / one as f64;
        // A die more or less changes how many work at once; the flash is as large as capacity and spare.
        let rounded = if source(sibling, "geometry").contains("in whole dies") { 0.2 } else { 0.001 };
        let capacity = ratio(spec.capacity.get(), its.capacity.get());
        assert!((capacity / dies - 1.0).abs() < rounded, "{sibling}: {capacity} times the capacity");
        assert_eq!(ratio(spec.geometry.dies().into(), its.geometry.dies().into()), dies, "{sibling}");
        let as_one = FlashSpec { capacity: spec.capacity, geometry: spec.geometry, slc: spec.slc, ..its };
        let as_one =
            FlashSpec { command: spec.command, retire: spec.retire, retire_write: spec.retire_write, ..as_one };
        // A larger one's controller may do more: in less time, or for each page that collection moves.
        let mut collection = as_one.collection;
        if let (Some(pacing), Some(of_one)) = (&mut collection.pacing, spec.collection.pacing) {
            (pacing.page_move, pacing.page_move_spread) = (of_one.page_move, of_one.page_move_spread);
        }
        // What idle collection keeps free goes with the cache.
        if let (Some(idle), Some(of_one)) = (&mut collection.idle, spec.collection.idle) {
            idle.until_free = of_one.until_free;
        }
        let as_one = FlashSpec { collection, ..as_one };
        assert_eq!(as_one, spec, "{sibling} is {name} in all else");
        let bits = |spec: &FlashSpec| spec.slc.map(|slc| slc.bits);
        assert_eq!(bits(&its), bits(&spec), "{sibling}'s cache is of another size alone");
        assert!(
            other.rated != one.rated && other.rated.fitted.is_empty(),
            "{sibling} has ratings of its own, unfitted"
        );
    }
}

/// What a sibling does of what its maker promises: the promise's name, found, rated, and the tolerance.
fn measured(name: &str) -> Vec<(&'static str, f64, f64, f64)> {
    let whole = preset(name);
    let is_server = flash(&whole).collection.pacing.is_some();
    let Rated { sequential_read, sequential_write, random_read_iops, random_write_iops, random_depth, .. } =
        whole.rated.clone();
    let depth = u64::from(random_depth.unwrap_or(32));
    let (small, _) = match is_server {
        true => smaller(preset(name), flash(&whole).geometry.channels, Bytes::from_gib(4), 24),
        false => (preset(name), 1),
    };
    let mut drive = small.build();
    let span = Bytes::from_mib(512);
    // Drives that compress are rated with data that does.
    let entropy = if flash(&whole).compression.is_some() { 46 } else { 100 };
    let mut found = Vec::new();
    let mbps = |rate: block::Rate| rate.get() as f64 / 1e6;
    let written = in_order_of(&mut drive, Op::Write, Bytes::ZERO, span, entropy);
    found.extend(sequential_write.map(|rate| ("sequential_write", written, mbps(rate), 0.15)));
    settle(&mut drive);
    let read = in_order(&mut drive, Op::Read, Bytes::ZERO, span);
    found.extend(sequential_read.map(|rate| ("sequential_read", read, mbps(rate), 0.15)));
    let reads = scattered(&mut drive, Op::Read, span, depth, 50_000);
    found.extend(random_read_iops.map(|rated| ("random_read_iops", reads, rated as f64, 0.15)));
    // A drive for servers is rated at what it sustains, for which it would have to be overwritten.
    if let Some(rated) = random_write_iops.filter(|_| !is_server) {
        let writes = scattered_of(&mut drive, Op::Write, span, depth, 50_000, entropy);
        found.push(("random_write_iops", writes, rated as f64, 0.15));
    }
    found
}

#[test]
fn siblings_meet_the_ratings_of_which_their_files_do_not_say_why_not() {
    let mut wrong = Vec::new();
    for (_, sibling, _) in SIBLINGS {
        let said = source(sibling, "rated");
        for (promise, found, rated, tolerance) in measured(sibling) {
            let off = found / rated - 1.0;
            let is_excused = said.contains(&format!("{promise}: not met"));
            let verdict = if off.abs() > tolerance { "off" } else { "met" };
            println!("{sibling} {promise} {verdict} {found:.0} {rated:.0} {:+.1} %", off * 100.0);
            if (off.abs() > tolerance) != is_excused {
                wrong.push(format!("{sibling}, {promise}: {found:.0}, rated {rated:.0}, its file says `{said}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Siblings of the P4800X, and how many times its dies they have.
const WRITTEN_IN_PLACE: [(&str, u32); 2] = [("optane-p4800x-750", 2), ("optane-p4800x-1500", 4)];

#[test]
fn drives_written_in_place_differ_in_dies_and_capacity_and_meet_their_ratings() {
    let pcm = |name: &str| match preset(name).spec {
        Spec::Pcm(spec) => spec,
        ref other => panic!("{name} is {other:?}"),
    };
    let one = pcm("optane-p4800x");
    for (sibling, dies) in WRITTEN_IN_PLACE {
        let its = pcm(sibling);
        let capacity = its.capacity.get() as f64 / one.capacity.get() as f64;
        assert!((capacity / f64::from(dies) - 1.0).abs() < 0.001, "{sibling}: {capacity} times the capacity");
        assert_eq!(its.media.dies_per_channel, dies * one.media.dies_per_channel, "{sibling}");
        let media = MediaSpec { dies_per_channel: one.media.dies_per_channel, ..its.media };
        assert_eq!(PcmSpec { capacity: one.capacity, media, ..its }, one, "{sibling} is the 375 GB in all else");
        let whole = preset(sibling);
        let (rated, span) = (whole.rated.clone(), Bytes::from_mib(512));
        assert!(rated != preset("optane-p4800x").rated && rated.fitted.is_empty(), "{sibling}");
        let depth = u64::from(rated.random_depth.unwrap());
        let mut drive = whole.build();
        for (op, rate) in [(Op::Write, rated.sequential_write), (Op::Read, rated.sequential_read)] {
            let found = in_order(&mut drive, op, Bytes::ZERO, span);
            near(&format!("{sibling}, {op} in order, MB/s"), found, rate.unwrap().get() as f64 / 1e6, 0.15);
        }
        for (op, rate) in [(Op::Write, rated.random_write_iops), (Op::Read, rated.random_read_iops)] {
            let found = scattered(&mut drive, op, span, depth, 50_000);
            near(&format!("{sibling}, random {op} a second"), found, rate.unwrap() as f64, 0.15);
        }
    }
}

/// A disk, its sibling, and the heads of both.
const DISKS: [(&str, &str, [u32; 2]); 17] = [
    ("7k100-100", "7k100-80", [4, 4]),
    ("7k100-100", "7k100-60", [4, 3]),
    ("archive-8tb", "archive-6tb", [12, 9]),
    ("nearline-7200", "nearline-16tb", [18, 16]),
    ("nearline-7200", "nearline-14tb", [18, 14]),
    ("nearline-7200", "nearline-12tb", [18, 12]),
    ("nearline-7200", "nearline-10tb", [18, 10]),
    ("wd740gd", "wd360gd", [4, 2]),
    ("raptor-150", "raptor-74", [4, 2]),
    ("raptor-150", "raptor-36", [4, 1]),
    ("spinpoint-f1", "spinpoint-f1-320", [6, 2]),
    ("spinpoint-f1", "spinpoint-f1-500", [6, 3]),
    ("spinpoint-f1", "spinpoint-f1-640", [6, 4]),
    ("spinpoint-f1", "spinpoint-f1-750", [6, 5]),
    ("seagate-7200.11", "seagate-7200.11-500", [8, 4]),
    ("seagate-7200.11", "seagate-7200.11-750", [8, 6]),
    ("seagate-7200.11", "seagate-7200.11-1tb", [8, 8]),
];

#[test]
fn disks_of_a_family_differ_in_platters_cache_and_power_and_stream_as_they_are_rated() {
    for (name, sibling, heads) in DISKS {
        let (one, its) = (spec(name), spec(sibling));
        assert_eq!([one.platters.heads, its.platters.heads], heads, "{sibling}");
        let a_head = |spec: &DiskSpec| spec.platters.sectors as f64 / f64::from(spec.platters.heads);
        assert!(a_head(&its) < 1.01 * a_head(&one), "{sibling} has no more of a side than {name}");
        assert_eq!(its.platters.revolution, one.platters.revolution, "{sibling} turns as {name}");
        let as_one = DiskSpec { platters: one.platters, cache: one.cache, spindle: one.spindle, ..its };
        assert_eq!(as_one, one, "{sibling} is {name} in all else");
        let rated = preset(sibling).rated;
        for (op, rated) in [(Op::Read, rated.sequential_read), (Op::Write, rated.sequential_write)] {
            let Some(rated) = rated else { continue };
            // So much that what its cache takes at once is little.
            let count = 4_000.max(its.cache.write.sectors() / 256 * 40);
            let rate = stream(&mut DiskDrive::new(its), op, 0, 256, 4, count);
            near(&format!("{sibling}, {op} in order, MB/s"), rate / 1e6, rated.get() as f64 / 1e6, 0.08);
        }
    }
}

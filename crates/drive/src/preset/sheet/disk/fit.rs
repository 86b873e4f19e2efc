//! Has a simulated disk meet its ratings: what these do not say is searched for.

use block::{Lba, Nanos, Op, Request, Seed, Tag};

use super::super::ratings::Ratings;
use super::file::{self, Fitted};
use super::parts::{DiskParts, transfer};
use super::rows::{DiskRatings, Recording, Seeks};
use crate::disk::{DiskDrive, DiskSpec};
use crate::draw::Draws;
use crate::preset::{Preset, Spec};
use crate::{Drive, Shape};

/// Within so much of a rating what was searched for is found.
const NEAR: f64 = 0.01;
/// Sectors of a request of a stream, 128 KiB.
const STREAM: u32 = 256;

/// A disk being made.
struct Making<'r> {
    name: &'r str,
    ratings: &'r Ratings,
    disk: &'r DiskRatings,
}

/// The file of a disk whose rates are as rated, as far as its parts can be chosen so.
///
/// # Errors
/// If no such disk has the ratings.
pub fn met(name: &str, ratings: &Ratings, disk: &DiskRatings, mut parts: DiskParts) -> Result<String, Vec<String>> {
    let making = Making { name, ratings, disk };
    let mut fitted = Fitted::default();
    if let Some(rate) = transfer(ratings, disk) {
        for _ in 0..4 {
            parts.outer *= rate / stream(making.spec(&parts)?);
        }
        fitted.rate = true;
    }
    if let Some(rated) = ratings.random_read {
        fitted.seeks = disk.seeks == [Seeks::default(); 2];
        if fitted.seeks {
            parts = making.by_reads(parts, rated)?;
        } else {
            let reads = making.random(&parts, Op::Read)?;
            fitted.reads = Some(reads).filter(|reads| (reads / rated - 1.0).abs() > 0.05);
        }
    }
    if let Some(rated) = ratings.random_write.filter(|_| disk.recording == Recording::Conventional) {
        parts = making.by_writes(parts, rated)?;
        fitted.writes = (making.random(&parts, Op::Write)? / rated - 1.0).abs() < 0.1;
    }
    Ok(making.text(&parts, fitted))
}

impl Making<'_> {
    fn text(&self, parts: &DiskParts, fitted: Fitted) -> String {
        file::text(self.name, self.ratings, self.disk, parts, fitted)
    }

    /// The disk itself, as if its tracks did not lie over each other: rates are those of the arm.
    fn spec(&self, parts: &DiskParts) -> Result<DiskSpec, Vec<String>> {
        let preset = Preset::parse(&self.text(parts, Fitted::default()));
        match preset.map_err(|why| vec![format!("these ratings make no disk: {why}")])?.spec {
            Spec::Disk(spec) => Ok(DiskSpec { shingled: None, zones: None, ..spec }),
            _ => unreachable!("the file says that it is a disk"),
        }
    }

    /// Random requests of 4 KiB a second over the whole disk.
    fn random(&self, parts: &DiskParts, op: Op) -> Result<f64, Vec<String>> {
        self.spec(parts).map(|spec| random(spec, op, parts.depth))
    }

    /// Seeks so much slower or faster than usual that random reads are as rated.
    fn by_reads(&self, parts: DiskParts, rated: f64) -> Result<DiskParts, Vec<String>> {
        const BY: [f64; 2] = [0.3, 2.5];
        let slowed =
            |by: f64| DiskParts { seeks: parts.seeks.map(|times| times.map(|time| time * by)), ..parts.clone() };
        let reads = |by: f64| self.random(&slowed(by), Op::Read);
        let [fastest, slowest] = [reads(BY[0])?, reads(BY[1])?];
        if !(slowest..=fastest).contains(&rated) {
            return Err(vec![format!(
                "random-read: {rated:.0} a second with {:.0} in flight; disks of {:.0} rpm answer {slowest:.0} to \
                 {fastest:.0} by their seeks; check random-read, random-depth and rpm",
                parts.depth, parts.rpm
            )]);
        }
        searched(BY, |by| Ok(reads(by)? / rated)).map(slowed)
    }

    /// As many extents in the write cache as random writes that are as rated take, or nearly: more are written in a better
    /// order.
    fn by_writes(&self, parts: DiskParts, rated: f64) -> Result<DiskParts, Vec<String>> {
        const EXTENTS: [f64; 2] = [4.0, 8192.0];
        let with = |extents: f64| DiskParts { write_extents: extents.round() as u32, ..parts.clone() };
        let writes = |extents: f64| self.random(&with(extents), Op::Write);
        searched(EXTENTS, |extents| Ok(rated / writes(extents)?)).map(with)
    }
}

/// Where a falling function is one, between two places.
fn searched(
    [mut low, mut high]: [f64; 2],
    ratio: impl Fn(f64) -> Result<f64, Vec<String>>,
) -> Result<f64, Vec<String>> {
    let mut middle = (low * high).sqrt();
    for _ in 0..14 {
        let found = ratio(middle)?;
        if (found - 1.0).abs() < NEAR {
            break;
        }
        if found > 1.0 {
            low = middle
        } else {
            high = middle
        }
        middle = (low * high).sqrt();
    }
    Ok(middle)
}

/// Bytes a second read in order, as many streams as there are arms, each from the outermost track of its own on.
fn stream(spec: DiskSpec) -> f64 {
    let arms = u64::from(spec.actuators);
    let share = spec.platters.sectors / arms / 8 * 8;
    let at = |index: u64| index % arms * share + index / arms * u64::from(STREAM);
    let request = |index| Request::new(Op::Read, Lba::new(at(index)), STREAM);
    closed_loop(&mut DiskDrive::new(spec), 4 * arms as u32, 200, 2_000, request) * f64::from(STREAM) * 512.0
}

/// Random requests of 4 KiB a second over the whole disk, so many in flight.
fn random(spec: DiskSpec, op: Op, depth: f64) -> f64 {
    let mut drive = DiskDrive::new(spec);
    let Shape { capacity, .. } = drive.shape();
    let mut draws = Draws::new(Seed::new(1));
    let blocks = capacity.sectors() / 8;
    let request = |_| {
        let draw = u64::from(draws.draw()) << 32 | u64::from(draws.draw());
        Request::new(op, Lba::new(draw % blocks * 8), 8)
    };
    // Writes begin by filling the cache.
    let skipped = if op == Op::Write { 10_000 } else { 200 };
    closed_loop(&mut drive, depth as u32, skipped, 4_000, request)
}

/// Requests a second, so many in flight at any time, of so many after the first ones.
fn closed_loop(
    drive: &mut DiskDrive,
    depth: u32,
    skipped: u64,
    count: u64,
    mut request: impl FnMut(u64) -> Request,
) -> f64 {
    (0..depth).for_each(|tag| drive.submit(Nanos::ZERO, Tag(tag), request(u64::from(tag))));
    let mut began = Nanos::ZERO;
    for done in 0..skipped + count {
        let completion = drive.complete(Nanos::MAX).expect("as many are in flight as before");
        drive.submit(completion.at, completion.tag, request(done + u64::from(depth)));
        if done + 1 == skipped {
            began = completion.at;
        }
    }
    count as f64 / drive.now().since(began).as_secs_f64()
}

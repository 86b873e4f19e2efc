//! How a workload is carried out on a drive with zones, as fio's `zonemode=zbd` does it: writes go to write pointers, reads
//! to what was written, and a zone that is full is reset before it is written again.
//!
//! Source: fio 3.36, `zbd.c` (`zbd_adjust_block`, `zbd_convert_to_open_zone`, `zbd_find_zone`) and HOWTO, "I/O size" and
//! "zonemode".

use block::{Bytes, Lba, Op, Request, Zone, ZoneAction, ZoneLimits, ZoneState};

use crate::{Workload, ZonedAccess};

/// What comes of a request on a drive with zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneStep {
    /// This is submitted in its place.
    Go(Request),
    /// This is submitted before it.
    First(Request),
    /// There is nothing to read: the worker ends.
    End,
}

/// A job's own part in it.
#[derive(Clone, Debug)]
pub struct ZonedJob {
    access: ZonedAccess,
    /// Whether requests fall where they are made, as those of a trace do too.
    is_random: bool,
    /// The zones that it may use: the first, and the one after the last.
    first: usize,
    end: usize,
    /// Where each worker of a sequential pattern goes on; none before it has begun.
    cursors: Vec<Option<u64>>,
    /// Writes since a zone was reset before it was full.
    writes: u64,
    open: Vec<usize>,
    /// Whether a read found no zone with data.
    found_no_data: bool,
}

impl ZonedJob {
    /// Whether it ended because no zone that it reads holds data.
    pub const fn found_no_data(&self) -> bool {
        self.found_no_data
    }
}

#[derive(Clone, Copy, Debug)]
struct HostZone {
    start: u64,
    writable: u64,
    pointer: u64,
    has_pointer: bool,
    can_read: bool,
    can_write: bool,
}

/// The host's own account of a drive's zones, which all jobs share.
#[derive(Clone, Debug)]
pub struct HostZones {
    zones: Vec<HostZone>,
    size: u64,
    limit: usize,
    append: bool,
    open: Vec<usize>,
    /// Sectors that are written in zones with a write pointer, and sectors that can be.
    written: u64,
    writable: u64,
}

impl HostZones {
    /// The zones as the drive reports them.
    pub fn new(report: &[Zone], limits: ZoneLimits) -> Self {
        let host = |zone: &Zone| {
            let has_pointer = zone.state != ZoneState::Conventional;
            HostZone {
                start: zone.start.get(),
                writable: zone.writable.get(),
                pointer: if has_pointer { zone.pointer.get() } else { zone.writable.get() },
                has_pointer,
                can_read: zone.state != ZoneState::Offline,
                can_write: !matches!(zone.state, ZoneState::Offline | ZoneState::ReadOnly),
            }
        };
        let zones: Vec<HostZone> = report.iter().map(host).collect();
        let most = limits.open.into_iter().chain(limits.active).min().unwrap_or(u32::MAX) as usize;
        let is_open = |index: &usize| report[*index].state.is_active();
        let open: Vec<usize> = (0..zones.len()).filter(is_open).collect();
        let with_pointer = || zones.iter().filter(|zone| zone.has_pointer);
        Self {
            size: report.first().map_or(1, |zone| zone.end.get() - zone.start.get()),
            limit: most,
            append: limits.append,
            written: with_pointer().map(|zone| zone.pointer - zone.start).sum(),
            writable: with_pointer().map(|zone| zone.writable - zone.start).sum(),
            open,
            zones,
        }
    }

    /// The part of a job that uses this span.
    pub fn job(&self, workload: &Workload, (start, length): (Bytes, Bytes)) -> ZonedJob {
        let first = start.sectors() / self.size;
        let end = (start + length).sectors().div_ceil(self.size);
        ZonedJob {
            access: ZonedAccess { append: workload.zoned.append && self.append, ..workload.zoned },
            is_random: workload.pattern.is_random() || workload.replay.is_some(),
            first: first as usize,
            end: (end as usize).min(self.zones.len()),
            cursors: vec![None; workload.workers as usize],
            writes: 0,
            open: Vec::new(),
            found_no_data: false,
        }
    }

    /// How much of a span can be written in whole blocks, none of which goes from one zone into another.
    pub fn writable_of(&self, job: &ZonedJob, (start, length): (Bytes, Bytes), block: Bytes) -> Bytes {
        let (first, end) = (start.sectors(), (start + length).sectors());
        let of_zone = |zone: &HostZone| {
            let inside = Bytes::from_sectors(zone.writable.min(end).saturating_sub(zone.start.max(first)));
            inside.round_down(block)
        };
        self.zones[job.first..job.end].iter().map(of_zone).sum()
    }

    /// The size of a zone, with what lies behind its last sector that can be written.
    pub fn size(&self) -> Bytes {
        Bytes::from_sectors(self.size)
    }

    /// The least that a zone of the span can hold.
    pub fn least_of(&self, job: &ZonedJob) -> Bytes {
        let least = self.zones[job.first..job.end].iter().map(|zone| zone.writable - zone.start).min();
        Bytes::from_sectors(least.unwrap_or(0))
    }

    /// The zone that a sector lies in, and whether that is written in order.
    pub fn zone_of(&self, sector: Lba) -> (usize, bool) {
        let zone = (sector.get() / self.size) as usize;
        (zone, self.zones[zone].has_pointer)
    }

    /// How many zones there are.
    pub fn count(&self) -> usize {
        self.zones.len()
    }

    /// What comes of the next request of a job's worker.
    pub fn step(&mut self, job: &mut ZonedJob, worker: u32, request: Request) -> ZoneStep {
        match request.op {
            _ if job.access.raw => ZoneStep::Go(request),
            Op::Write => self.write(job, worker, request),
            Op::Read => self.read(job, worker, request),
            Op::Trim => self.trim(job, request),
            _ => ZoneStep::Go(request),
        }
    }

    /// A trim of a zone is its reset, with the trim's length. Where there is nothing to be reset, or only a part of a zone is
    /// trimmed, as recorded on another drive, it goes to the drive, which has nothing to do then.
    ///
    /// Source: fio 3.36, zbd.c, `zbd_do_io_u_trim`.
    fn trim(&mut self, job: &mut ZonedJob, request: Request) -> ZoneStep {
        let (index, has_pointer) = self.zone_of(request.lba);
        let zone = &self.zones[index];
        let is_whole = u64::from(request.sectors) >= zone.writable - zone.start;
        if !has_pointer || !is_whole || !zone.can_write || zone.pointer == zone.start {
            return ZoneStep::Go(request);
        }
        self.release(job, index);
        let reset = self.manage(job, index, ZoneAction::Reset);
        ZoneStep::Go(Request { sectors: request.sectors, ..reset })
    }

    /// Where a worker's request begins: of a sequential pattern where the one before ended.
    fn place(&self, job: &ZonedJob, worker: u32, request: Request) -> u64 {
        let cursor = job.cursors[worker as usize].filter(|_| !job.is_random);
        let span_end = job.end as u64 * self.size;
        match cursor.unwrap_or(request.lba.get()) {
            beyond if beyond >= span_end => job.first as u64 * self.size,
            place => place,
        }
    }

    /// Notes where the worker's next request begins, if it goes on in order: behind this, or in the next zone.
    fn advance(&self, job: &mut ZonedJob, worker: u32, index: usize, end: u64) {
        let zone = &self.zones[index];
        let is_over = end >= zone.pointer.min(zone.writable) && (end >= zone.writable || zone.has_pointer);
        let next = if is_over && end >= zone.writable { zone.start + self.size } else { end };
        job.cursors[worker as usize] = Some(next);
    }

    fn write(&mut self, job: &mut ZonedJob, worker: u32, request: Request) -> ZoneStep {
        let (place, sectors) = (self.place(job, worker, request), u64::from(request.sectors));
        let index = (place / self.size) as usize;
        let Some(index) = self.writable_from(job, index) else { return ZoneStep::End };
        if !self.zones[index].has_pointer {
            let zone = &self.zones[index];
            let lba = place.clamp(zone.start, zone.writable - sectors.min(zone.writable - zone.start));
            self.advance(job, worker, index, lba + sectors);
            return ZoneStep::Go(Request { lba: Lba::new(lba), ..request });
        }
        let Some(index) = self.opened(job, index) else { return ZoneStep::End };
        let left = self.zones[index].writable - self.zones[index].pointer;
        if left == 0 || self.is_reset_due(job, index) {
            job.writes = 0;
            return ZoneStep::First(self.manage(job, index, ZoneAction::Reset));
        }
        if left < sectors {
            return ZoneStep::First(self.finish(job, worker, index));
        }
        let zone = &mut self.zones[index];
        let lba = zone.pointer;
        zone.pointer += sectors;
        self.written += sectors;
        job.writes += 1;
        if zone.pointer == zone.writable {
            self.release(job, index);
        }
        self.advance(job, worker, index, lba + sectors);
        match job.access.append {
            true => ZoneStep::Go(Request { op: Op::Append, lba: Lba::new(self.zones[index].start), ..request }),
            false => ZoneStep::Go(Request { lba: Lba::new(lba), ..request }),
        }
    }

    /// Has a zone full whose rest is too small for a request, and the worker go on behind it.
    fn finish(&mut self, job: &mut ZonedJob, worker: u32, index: usize) -> Request {
        let request = self.manage(job, index, ZoneAction::Finish);
        self.advance(job, worker, index, self.zones[index].writable);
        request
    }

    /// The first zone from here on that takes writes, and behind the last from the first.
    fn writable_from(&self, job: &ZonedJob, index: usize) -> Option<usize> {
        (index..job.end).chain(job.first..index).find(|index| self.zones[*index].can_write)
    }

    /// The zone that is written for one that is meant: this, if it is open or may be opened, or one of those that are.
    fn opened(&mut self, job: &mut ZonedJob, index: usize) -> Option<usize> {
        let limit = |most: u32| if most == 0 { usize::MAX } else { most as usize };
        if self.open.contains(&index) {
            if !job.open.contains(&index) && job.open.len() < limit(job.access.job_max_open) {
                job.open.push(index);
            }
            if job.open.contains(&index) {
                return Some(index);
            }
        } else if self.open.len() < self.limit.min(limit(job.access.max_open))
            && job.open.len() < limit(job.access.job_max_open)
        {
            self.open.push(index);
            job.open.push(index);
            return Some(index);
        }
        let mine: Vec<usize> = if job.open.is_empty() { self.open.clone() } else { job.open.clone() };
        let usable: Vec<usize> = mine.into_iter().filter(|open| (job.first..job.end).contains(open)).collect();
        let chosen = (index - job.first) * usable.len() / (job.end - job.first).max(1);
        usable.get(chosen).copied()
    }

    /// Whether a zone is to be reset though it is not full, because as much is written as is allowed.
    fn is_reset_due(&self, job: &ZonedJob, index: usize) -> bool {
        let ZonedAccess { reset_threshold, reset_frequency, .. } = job.access;
        reset_frequency > 0
            && self.zones[index].pointer > self.zones[index].start
            && self.written * 100 >= self.writable * u64::from(reset_threshold)
            && job.writes >= 100_u64.div_ceil(u64::from(reset_frequency))
    }

    /// Resets or finishes a zone, in the account of it.
    fn manage(&mut self, job: &mut ZonedJob, index: usize, action: ZoneAction) -> Request {
        let zone = &mut self.zones[index];
        let pointer = if action == ZoneAction::Reset { zone.start } else { zone.writable };
        self.written = self.written + pointer - zone.pointer;
        zone.pointer = pointer;
        let request = Request::new(Op::Zone(action), Lba::new(zone.start), 0);
        if action == ZoneAction::Finish {
            self.release(job, index);
        }
        request
    }

    /// Notes that a zone is not open any more.
    fn release(&mut self, job: &mut ZonedJob, index: usize) {
        self.open.retain(|open| *open != index);
        job.open.retain(|open| *open != index);
    }

    fn read(&self, job: &mut ZonedJob, worker: u32, request: Request) -> ZoneStep {
        let (place, sectors) = (self.place(job, worker, request), u64::from(request.sectors));
        let index = (place / self.size) as usize;
        let until = |index: usize| {
            let zone = &self.zones[index];
            if job.access.read_beyond { zone.writable } else { zone.pointer }
        };
        let has_enough =
            |index: &usize| self.zones[*index].can_read && until(*index) >= self.zones[*index].start + sectors;
        let is_here = has_enough(&index) && (job.is_random || place + sectors <= until(index));
        // In order, what is left of a zone is passed over.
        let behind = index + usize::from(!job.is_random);
        let found = match is_here {
            true => Some(index),
            false => (behind..job.end).chain(job.first..behind.min(job.end)).find(has_enough),
        };
        let Some(found) = found else {
            job.found_no_data = true;
            return ZoneStep::End;
        };
        let zone = &self.zones[found];
        let room = until(found) - sectors - zone.start;
        let lba = match (job.is_random, is_here) {
            (false, true) => place,
            (false, false) => zone.start,
            (true, _) => zone.start + (place % self.size).min(self.size - 1) % (room + 1) / sectors * sectors,
        };
        self.advance(job, worker, found, lba + sectors);
        ZoneStep::Go(Request { lba: Lba::new(lba), ..request })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pattern, Stop};

    /// Zones of 64 sectors of which 48 can be written.
    fn zones(states: &[(ZoneState, u64)]) -> HostZones {
        let zone = |(index, (state, written)): (usize, &(ZoneState, u64))| {
            let start = index as u64 * 64;
            let lba = Lba::new;
            Zone {
                start: lba(start),
                writable: lba(start + 48),
                end: lba(start + 64),
                state: *state,
                pointer: lba(start + written),
            }
        };
        let report: Vec<Zone> = states.iter().enumerate().map(zone).collect();
        HostZones::new(&report, ZoneLimits { open: Some(2), active: Some(2), append: true })
    }

    fn job(host: &HostZones, pattern: Pattern, zoned: ZonedAccess) -> ZonedJob {
        let workload = Workload { pattern, zoned, stop: Stop::after_requests(1), ..Workload::default() };
        host.job(&workload, (Bytes::ZERO, Bytes::from_sectors(64 * host.count() as u64)))
    }

    fn ask(op: Op, lba: u64, sectors: u32) -> Request {
        Request::new(op, Lba::new(lba), sectors)
    }

    fn places(host: &mut HostZones, job: &mut ZonedJob, op: Op, sectors: u32, count: usize) -> Vec<String> {
        let step = |_| match host.step(job, 0, ask(op, 0, sectors)) {
            ZoneStep::Go(request) => request.lba.get().to_string(),
            ZoneStep::First(request) => format!("{} {}", request.op, request.lba.get()),
            ZoneStep::End => "end".to_owned(),
        };
        (0..count).map(step).collect()
    }

    const EMPTY: (ZoneState, u64) = (ZoneState::Empty, 0);

    #[test]
    fn a_trim_is_the_reset_of_a_zone_that_has_data() {
        let mut host = zones(&[(ZoneState::Full, 48), EMPTY, (ZoneState::Conventional, 48)]);
        let mut job = job(&host, Pattern::Trim, ZonedAccess::default());
        let mut step = |lba| match host.step(&mut job, 0, ask(Op::Trim, lba, 64)) {
            ZoneStep::Go(request) => format!("{} {} {}", request.op, request.lba.get(), request.as_asked().op),
            step => format!("{step:?}"),
        };
        assert_eq!(step(0), "zone reset 0 trim");
        let others: Vec<String> = [0, 64, 128].into_iter().map(step).collect();
        assert_eq!(others, ["trim 0 trim", "trim 64 trim", "trim 128 trim"], "there is nothing more to be reset");
    }

    /// As a trace of another drive has it: what lies around it in the zone stays.
    #[test]
    fn a_trim_of_a_part_of_a_zone_resets_nothing() {
        let mut host = zones(&[(ZoneState::Full, 48)]);
        let mut job = job(&host, Pattern::Trim, ZonedAccess::default());
        for (lba, sectors) in [(0, 40), (8, 8)] {
            let trim = ask(Op::Trim, lba, sectors);
            assert_eq!(host.step(&mut job, 0, trim), ZoneStep::Go(trim));
        }
    }

    #[test]
    fn what_can_be_written_of_a_span_is_of_whole_blocks_in_its_part_of_each_zone() {
        let host = zones(&[EMPTY, EMPTY]);
        let job = job(&host, Pattern::Write, ZonedAccess::default());
        for (start, length, block, writable) in [
            (0, 128, 8, 96),
            (0, 128, 20, 80),
            (0, 16, 8, 16),
            (0, 64 + 20, 8, 48 + 16),
            (32, 32, 8, 16),
            (48, 16, 8, 0),
        ] {
            let [start, length, block, writable] = [start, length, block, writable].map(Bytes::from_sectors);
            assert_eq!(host.writable_of(&job, (start, length), block), writable, "{length} from {start} on");
        }
    }

    #[test]
    fn writes_in_order_fill_zone_after_zone_and_reset_those_that_are_full() {
        let mut host = zones(&[EMPTY, EMPTY]);
        let mut job = job(&host, Pattern::Write, ZonedAccess::default());
        let found = places(&mut host, &mut job, Op::Write, 16, 8);
        assert_eq!(found, ["0", "16", "32", "64", "80", "96", "zone reset 0", "0"]);
    }

    #[test]
    fn a_rest_that_is_too_small_is_finished() {
        let mut host = zones(&[EMPTY, EMPTY]);
        let mut job = job(&host, Pattern::Write, ZonedAccess::default());
        let found = places(&mut host, &mut job, Op::Write, 20, 5);
        assert_eq!(found, ["0", "20", "zone finish 0", "64", "84"]);
    }

    #[test]
    fn writes_at_random_go_to_the_zones_that_are_open() {
        let mut host = zones(&[EMPTY; 8]);
        let mut job = job(&host, Pattern::RandWrite, ZonedAccess::default());
        let mut go = |lba| match host.step(&mut job, 0, ask(Op::Write, lba, 8)) {
            ZoneStep::Go(request) => request.lba.get(),
            other => panic!("{other:?}"),
        };
        assert_eq!([go(5 * 64 + 8), go(2 * 64), go(5 * 64), go(64), go(7 * 64)], [320, 128, 328, 336, 136]);
    }

    #[test]
    fn reads_go_to_what_was_written_unless_they_need_not() {
        let mut host = zones(&[EMPTY, (ZoneState::Closed, 24), (ZoneState::Full, 48), EMPTY]);
        let mut in_order = job(&host, Pattern::Read, ZonedAccess::default());
        let found = places(&mut host, &mut in_order, Op::Read, 16, 6);
        assert_eq!(found, ["64", "128", "144", "160", "64", "128"]);
        let mut at_random = job(&host, Pattern::RandRead, ZonedAccess::default());
        for lba in 0..256 {
            let ZoneStep::Go(request) = host.step(&mut at_random, 0, ask(Op::Read, lba, 8)) else { panic!("data") };
            let (first, end) = (request.lba.get(), request.end().get());
            assert!((64..88).contains(&first) && end <= 88 || (128..176).contains(&first) && end <= 176, "{request:?}");
        }
        let mut beyond = job(&host, Pattern::Read, ZonedAccess { read_beyond: true, ..ZonedAccess::default() });
        assert_eq!(places(&mut host, &mut beyond, Op::Read, 48, 4), ["0", "64", "128", "192"]);
        let mut blank = zones(&[EMPTY]);
        let mut job = job(&blank, Pattern::Read, ZonedAccess::default());
        assert_eq!(places(&mut blank, &mut job, Op::Read, 8, 1), ["end"]);
    }

    #[test]
    fn beyond_the_threshold_so_many_of_a_hundred_writes_reset_a_zone() {
        let access = ZonedAccess { reset_threshold: 20, reset_frequency: 50, ..ZonedAccess::default() };
        let mut host = zones(&[EMPTY, EMPTY]);
        let mut job = job(&host, Pattern::Write, access);
        let found = places(&mut host, &mut job, Op::Write, 8, 7);
        // 20 % of 96 sectors are 19.2: three writes.
        assert_eq!(found, ["0", "8", "16", "zone reset 0", "0", "8", "16"]);
    }

    #[test]
    fn appends_name_the_zone_and_raw_requests_nothing_else() {
        let mut host = zones(&[EMPTY, EMPTY]);
        let mut appends = job(&host, Pattern::Write, ZonedAccess { append: true, ..ZonedAccess::default() });
        for _ in 0..2 {
            let step = host.step(&mut appends, 0, ask(Op::Write, 0, 8));
            assert_eq!(step, ZoneStep::Go(ask(Op::Append, 0, 8)));
        }
        let mut raw = job(&host, Pattern::Write, ZonedAccess { raw: true, ..ZonedAccess::default() });
        assert_eq!(host.step(&mut raw, 0, ask(Op::Write, 60, 8)), ZoneStep::Go(ask(Op::Write, 60, 8)));
    }
}

//! Flash that is divided into zones: each is a set of erase blocks, one behind the other in all units, that is written in
//! order and erased as a whole. There is no map of pages and no garbage collection; flash, channels, link, firmware and write
//! buffer are those of other drives.

use block::{Bytes, Lba, Nanos, Op, Request, Status};
use serde::{Deserialize, Serialize};

use super::firmware::Core;
use super::geometry::{Geometry, Unit};
use super::mapping::Mapping;
use super::operation::{Cells, FlashOp, Lpn, PageLocation};
use super::{CollectionSpec, FlashDrive};
use crate::zones::{ZoneDeed, Zones, ZonesSpec};

/// The zones of a flash drive and what is under way in them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ZonedFlash {
    pub zones: Zones,
    /// Blocks that a zone has in each unit.
    rows: u32,
    /// When all is in the buffer that waits for its flash page to be full, of each zone.
    ready: Vec<Nanos>,
}

/// Blocks that a zone takes in each unit.
pub fn rows(spec: &ZonesSpec, geometry: &Geometry) -> u32 {
    let row = geometry.block().times(u64::from(geometry.units()));
    spec.capacity.get().div_ceil(row.get()) as u32
}

/// A map of nothing, for a drive that needs none.
pub fn no_map(geometry: Geometry) -> Mapping {
    let collection = CollectionSpec::DEFAULT;
    let blocks_per_plane = collection.start + 3;
    Mapping::new(Geometry { blocks_per_plane, ..geometry }, collection, None, None, 0, None)
}

impl ZonedFlash {
    pub fn new(spec: ZonesSpec, geometry: &Geometry) -> Self {
        Self { zones: Zones::new(spec), rows: rows(&spec, geometry), ready: vec![Nanos::ZERO; spec.count as usize] }
    }

    /// Where a page of a zone lies: flash pages go to the units in turn.
    fn place(&self, geometry: &Geometry, zone: u32, page: u64) -> PageLocation {
        let together = u64::from(geometry.program_pages);
        let (flash_page, within) = (page / together, page % together);
        let units = u64::from(geometry.units());
        let (unit, row) = ((flash_page % units) as u32, flash_page / units * together + within);
        let per_block = u64::from(geometry.pages_per_block);
        let block = unit * geometry.blocks_per_plane + zone * self.rows + (row / per_block) as u32;
        let sense = (row % per_block) as u32 / geometry.sense_pages;
        PageLocation { unit: Unit(unit), cells: Cells::Native, block, sense }
    }
}

const ZONED: &str = "only a drive with zones is asked";

impl FlashDrive {
    fn zoned(&mut self) -> &mut ZonedFlash {
        self.zoned.as_mut().expect(ZONED)
    }

    /// Does a command as the zones have it; when it ends.
    #[cold]
    #[inline(never)]
    pub(super) fn take_zoned(&mut self, core: Core, ready: Nanos, request: Request) -> Nanos {
        let page = u64::from(self.page_sectors);
        let is_whole = request.lba.get().is_multiple_of(page) && u64::from(request.sectors).is_multiple_of(page);
        let allowed = if is_whole { self.zoned().zones.command(request) } else { Err(Status::InvalidField) };
        let deed = match allowed {
            Ok(deed) => deed,
            Err(status) => {
                self.status = status;
                return self.link.send(self.now, ready, 0, true);
            }
        };
        match deed {
            ZoneDeed::Transfer(Request { op: Op::Read, .. }) => self.read_zone(core, ready, request),
            ZoneDeed::Transfer(there) if there.op == Op::Write => self.write_zone(core, ready, there),
            ZoneDeed::Transfer(Request { op: Op::Flush, .. }) => self.flush(ready),
            ZoneDeed::Transfer(_) | ZoneDeed::Noted => self.link.send(self.now, ready, 0, true),
            ZoneDeed::Finished(zone, written) => {
                self.leave(zone, written / page);
                self.link.send(self.now, ready, 0, true)
            }
            ZoneDeed::Emptied(zone, written) => {
                let erased = self.erase_zone(zone, written / page).max(ready);
                self.link.send(self.now, erased, 0, true)
            }
        }
    }

    /// The zone of a sector, and the page of it.
    fn zone_page(&mut self, sector: Lba) -> (u32, u64) {
        let page_sectors = u64::from(self.page_sectors);
        let zones = &self.zoned().zones;
        let zone = zones.zone_of(sector);
        (zone, (sector.get() - u64::from(zone) * zones.spec().size.sectors()) / page_sectors)
    }

    fn write_zone(&mut self, core: Core, ready: Nanos, request: Request) -> Nanos {
        let handled = ready + self.paced(self.handling(self.pages(request), true));
        self.firmware.hold(core, handled + self.paced(self.retiring(Op::Write)));
        let (zone, mut page) = self.zone_page(request.lba);
        let mut done = handled;
        for (index, piece) in self.pieces(request).enumerate() {
            let slot_free = self.buffer.acquire();
            let arrived = self.link.receive(self.now, slot_free.max(ready), piece.sectors, index == 0);
            self.lay(zone, page, piece.page, arrived);
            done = done.max(arrived);
            page += 1;
        }
        if request.durable { self.harden(done) } else { done }
    }

    /// Puts the next page of a zone behind those before it, and programs a flash page that is full.
    fn lay(&mut self, zone: u32, page: u64, name: Lpn, arrived: Nanos) {
        self.recent.note(name, Nanos::MAX);
        let together = u64::from(self.spec.geometry.program_pages);
        let zoned = self.zoned.as_mut().expect(ZONED);
        let ready = &mut zoned.ready[zone as usize];
        *ready = arrived.max(*ready);
        let is_last = (page + 1) * u64::from(self.page_sectors) == zoned.zones.spec().capacity.sectors();
        if (page + 1).is_multiple_of(together) || is_last {
            let first = page - page % together;
            self.program_zone(zone, page, name.0 - (page - first) as u32..name.0 + 1);
        }
    }

    /// Programs the flash page that `page` of a zone is in, and frees the slots of the pages that wait for it.
    fn program_zone(&mut self, zone: u32, page: u64, waiting: std::ops::Range<u32>) {
        let together = u64::from(self.spec.geometry.program_pages);
        let geometry = self.spec.geometry;
        let zoned = self.zoned();
        let place = zoned.place(&geometry, zone, page - page % together);
        let ready = std::mem::take(&mut zoned.ready[zone as usize]);
        let programmed = self.nand.book(self.now, ready, &[FlashOp::Program(place)]);
        for name in waiting {
            self.recent.note(Lpn(name), programmed);
            self.buffer.release(programmed);
        }
    }

    /// Programs what waits for its flash page to be full as it is, for nothing will follow.
    fn leave(&mut self, zone: u32, written: u64) {
        let waiting = (written % u64::from(self.spec.geometry.program_pages)) as u32;
        if waiting > 0 {
            let size = self.zoned().zones.spec().size.sectors();
            let end = (u64::from(zone) * size / u64::from(self.page_sectors) + written) as u32;
            self.program_zone(zone, written - 1, end - waiting..end);
        }
    }

    /// Erases the blocks of a zone of which so many pages were written, in every unit where there are some; when the last
    /// is erased.
    fn erase_zone(&mut self, zone: u32, written: u64) -> Nanos {
        let geometry = self.spec.geometry;
        let together = u64::from(geometry.program_pages);
        let zoned = self.zoned();
        let first = zone * zoned.rows;
        if std::mem::take(&mut zoned.ready[zone as usize]) > Nanos::ZERO {
            (0..written % together).for_each(|_| self.buffer.release(self.now));
        }
        let flash_pages = written.div_ceil(together);
        let per_block = u64::from(geometry.pages_per_block) / together;
        let mut end = self.now;
        for unit in 0..geometry.units() {
            let pages = (flash_pages + u64::from(geometry.units()) - 1 - u64::from(unit)) / u64::from(geometry.units());
            for row in 0..pages.div_ceil(per_block) as u32 {
                let op = [FlashOp::Erase(Unit(unit), unit * geometry.blocks_per_plane + first + row)];
                // Planes that work together erase together.
                if geometry.multi_plane && !unit.is_multiple_of(geometry.planes) {
                    self.nand.count(self.now, &op);
                } else {
                    end = end.max(self.nand.book(self.now, self.now, &op));
                }
            }
        }
        end
    }

    fn read_zone(&mut self, core: Core, ready: Nanos, request: Request) -> Nanos {
        if self.spec.page_read > Nanos::ZERO {
            let handled = ready + self.paced(self.spec.page_read.times(self.pages(request)));
            self.firmware.hold(core, handled + self.paced(self.retiring(Op::Read)));
        }
        let (geometry, page_sectors) = (self.spec.geometry, u64::from(self.page_sectors));
        let (zone, mut page) = self.zone_page(request.lba);
        let mut done = ready;
        for (index, piece) in self.pieces(request).enumerate() {
            let zoned = self.zoned();
            let written = zoned.zones.written(zone) / page_sectors;
            let waits = written - written % u64::from(geometry.program_pages);
            let is_laid = page < if zoned.ready[zone as usize] > Nanos::ZERO { waits } else { written };
            let place = zoned.place(&geometry, zone, page);
            let fetched = if !is_laid || self.recent.has(piece.page, ready) {
                ready
            } else {
                self.sense(ready, place, piece.sectors)
            };
            self.status = self.status.or(self.nand.take_failure());
            done = done.max(self.link.send(self.now, fetched, piece.sectors, index == 0));
            page += 1;
        }
        done
    }

    /// Has the zones from `first` to `end` full, as writes in order would leave them, in no time.
    pub(super) fn fill_zones(&mut self, first: Lba, end: Lba, block: Bytes) {
        let geometry = self.spec.geometry;
        let page_sectors = u64::from(self.page_sectors);
        let zones = self.zoned().zones.zone_of(first)..self.zoned().zones.zone_of(end);
        let capacity = self.zoned().zones.spec().capacity;
        self.zoned().zones.fill(first, end);
        let pages = capacity.sectors() / page_sectors;
        for zone in zones {
            for page in (0..pages).step_by(geometry.program_pages as usize) {
                let place = self.zoned().place(&geometry, zone, page);
                self.nand.count(self.now, &[FlashOp::Program(place)]);
            }
        }
        let report = self.zoned().zones.report();
        let before = self.counters.host_written;
        self.counters.count_fill(&report, first, end, block);
        self.pass_tasks(before);
    }

    /// Forgets all data of the zones, and what was under way.
    pub(super) fn clear_zones(&mut self) {
        if let Some(zoned) = &mut self.zoned {
            zoned.zones.clear();
            zoned.ready.fill(Nanos::ZERO);
        }
    }

    /// Has the flash pages of all zones programmed that are not full, from the capacitor, and closes the zones. What is
    /// programmed in part is written anew when the rest comes, which nobody waits for.
    pub(super) fn close_zones(&mut self) {
        if let Some(zoned) = &mut self.zoned {
            zoned.zones.power_on();
            let together = u64::from(self.spec.geometry.program_pages);
            let (page_sectors, ready) = (u64::from(self.page_sectors), &zoned.ready);
            let waiting = (0..ready.len() as u32).filter(|zone| ready[*zone as usize] > Nanos::ZERO);
            let waiting: u64 = waiting.map(|zone| zoned.zones.written(zone) / page_sectors % together).sum();
            (0..waiting).for_each(|_| _ = self.buffer.acquire());
        }
    }
}

//! Which tables of the map a controller without memory of its own has at hand: in itself, and in the host's memory.

use block::Nanos;
use serde::{Deserialize, Serialize};

/// Where the tables of the map are held beside flash, in mapping pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TablesSpec {
    /// In the controller's memory.
    pub lookup: u32,
    /// In the host memory buffer.
    pub hmb: u32,
    /// What a read of the host's memory takes beside the transfer of the table over the link.
    pub hmb_access: Nanos,
}

/// The tables that were looked up lately, and are held in the controller and in the host memory buffer.
///
/// Both let the one go that was not used for longest, by the approximation of a second chance. A table that is changed is not held
/// here alone: the controller writes it to flash when it must make room for it ([`MapCache`](super::map_cache::MapCache)), so
/// that nothing is lost with the host's memory.
///
/// Source: NVM Express Base Specification 1.4, 5.21.1.13 and 8.9 (host memory buffer); the controller must work without it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HeldTables {
    spec: TablesSpec,
    lookup: SecondChance,
    hmb: SecondChance,
}

/// Where a table was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TablePlace {
    /// In the controller.
    Controller,
    /// In the host's memory, which takes so long to answer.
    Host(Nanos),
    /// Nowhere but in flash.
    Flash,
}

impl HeldTables {
    /// None of so many tables is held yet.
    pub fn new(spec: TablesSpec, tables: u32) -> Self {
        Self { lookup: SecondChance::new(spec.lookup, tables), hmb: SecondChance::new(spec.hmb, tables), spec }
    }

    /// Where a table is found; from now on, the controller and the host hold it.
    #[inline]
    pub fn look_up(&mut self, table: u32) -> TablePlace {
        if self.lookup.uses(table) {
            return TablePlace::Controller;
        }
        self.lookup.hold(table);
        if self.hmb.uses(table) {
            return TablePlace::Host(self.spec.hmb_access);
        }
        self.hmb.hold(table);
        TablePlace::Flash
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.lookup.clear();
        self.hmb.clear();
    }
}

/// So many tables, of which one goes that was not used since it was last passed over.
///
/// Source: F. Corbató, "A paging experiment with the Multics system", 1968.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SecondChance {
    most: u32,
    held: Vec<u32>,
    hand: u32,
    /// Of each table: whether it is here, and was used.
    here: Vec<Use>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Use {
    Absent,
    Held,
    Used,
}

impl SecondChance {
    fn new(most: u32, tables: u32) -> Self {
        Self { most, held: Vec::new(), hand: 0, here: vec![Use::Absent; tables as usize] }
    }

    /// Uses a table, if it is here.
    #[inline]
    fn uses(&mut self, table: u32) -> bool {
        let here = &mut self.here[table as usize];
        let is_here = *here != Use::Absent;
        if is_here {
            *here = Use::Used;
        }
        is_here
    }

    /// Holds a table that is not here.
    fn hold(&mut self, table: u32) {
        if self.most == 0 {
            return;
        }
        self.here[table as usize] = Use::Held;
        if (self.held.len() as u32) < self.most {
            return self.held.push(table);
        }
        loop {
            let at = self.hand as usize;
            self.hand = (self.hand + 1) % self.most;
            let old = &mut self.here[self.held[at] as usize];
            if *old == Use::Held {
                *old = Use::Absent;
                self.held[at] = table;
                return;
            }
            *old = Use::Held;
        }
    }

    fn clear(&mut self) {
        self.held.clear();
        self.hand = 0;
        self.here.fill(Use::Absent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCESS: Nanos = Nanos::from_micros(1);

    fn tables(lookup: u32, hmb: u32) -> HeldTables {
        HeldTables::new(TablesSpec { lookup, hmb, hmb_access: ACCESS }, 100)
    }

    #[test]
    fn a_table_is_found_where_it_was_held_last() {
        use TablePlace::{Controller, Flash, Host};
        let mut tables = tables(2, 4);
        let mut found = |table| tables.look_up(table);
        assert_eq!([0, 1, 0, 2, 3].map(&mut found), [Flash, Flash, Controller, Flash, Flash]);
        // The controller has let 1 and then 0 go; the host has all four.
        assert_eq!([1, 0, 2, 3].map(&mut found), [Host(ACCESS); 4]);
        assert_eq!([4, 3].map(&mut found), [Flash, Controller]);
        tables.clear();
        assert_eq!([3, 4].map(|table| tables.look_up(table)), [Flash; 2]);
    }

    /// Of uniform look-ups as many find their table as there is room for, each level by itself.
    #[test]
    fn uniform_lookups_find_their_table_as_often_as_it_is_held() {
        let mut random = testkit::Random::new(3);
        for (lookup, hmb) in [(0, 0), (10, 0), (0, 40), (10, 50), (100, 100)] {
            let mut tables = tables(lookup, hmb);
            let (mut here, mut there) = (0, 0);
            for _ in 0..100_000 {
                match tables.look_up(random.below(100) as u32) {
                    TablePlace::Controller => here += 1,
                    TablePlace::Host(_) => there += 1,
                    TablePlace::Flash => {}
                }
            }
            assert!((here - i64::from(lookup) * 1_000).abs() < 1_000, "{lookup} and {hmb}: {here}");
            let held = i64::from(hmb.max(lookup)) * 1_000;
            assert!((here + there - held).abs() < 2_500, "{lookup} and {hmb}: {here} and {there}");
        }
    }

    #[test]
    fn what_is_used_again_and_again_stays() {
        let mut tables = tables(4, 0);
        let mut missed = 0;
        for round in 0..1_000 {
            missed += u32::from(tables.look_up(7) == TablePlace::Flash);
            tables.look_up(10 + round % 80);
        }
        assert!(missed <= 2, "{missed}");
    }
}

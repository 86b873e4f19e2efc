//! What came of checking written data.

use serde::{Deserialize, Serialize};
use workload::Damage;

/// So many damaged blocks are named; the rest are counted.
const NAMED: usize = 10;

/// What came of checking that blocks held what was written to them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// How many reads were checked, in the course of the workload and behind it.
    pub checked: u64,
    /// How many blocks did not hold what had been written to them.
    pub damaged: u64,
    /// The first of them.
    pub first: Vec<Damage>,
    /// How many blocks that were written could not be read back, because the run was interrupted.
    pub unread: u64,
}

impl Verified {
    /// Adds a read that was checked.
    #[inline]
    pub fn record(&mut self, damage: Option<Damage>) {
        self.checked += 1;
        self.damaged += u64::from(damage.is_some());
        if self.first.len() < NAMED {
            self.first.extend(damage);
        }
    }

    /// Adds what another worker, or another run, has found.
    pub fn merge(&mut self, other: &Self) {
        self.checked += other.checked;
        self.damaged += other.damaged;
        self.unread += other.unread;
        let room = NAMED.saturating_sub(self.first.len());
        self.first.extend(other.first.iter().take(room));
    }

    /// What is to be said of it; none if all is well.
    pub(crate) fn findings(&self) -> impl Iterator<Item = String> {
        let named: Vec<String> = self.first.iter().map(Damage::to_string).collect();
        let more = self.damaged - named.len() as u64;
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let damaged = (self.damaged > 0).then(|| {
            format!(
                "Verification failed: of {} blocks read and checked, {} do not hold the data written to them: \
                 {}{more}. The target corrupts data.",
                self.checked,
                self.damaged,
                named.join("; ")
            )
        });
        let unread = (self.unread > 0)
            .then(|| format!("The run was interrupted before read-back verification of {} blocks.", self.unread));
        damaged.into_iter().chain(unread)
    }
}

#[cfg(test)]
mod tests {
    use block::Bytes;
    use workload::DamageKind;

    use super::*;

    fn damage(at: u64) -> Option<Damage> {
        let at = Bytes::from_kib(at);
        Some(Damage { block: at, at, sectors: 8, expected: 1, kind: DamageKind::Lost })
    }

    #[test]
    fn all_damage_is_counted_and_the_first_ten_are_named() {
        let (mut one, mut other) = (Verified::default(), Verified::default());
        (0..7).for_each(|place| one.record(damage(place)));
        (10..17).for_each(|place| other.record(damage(place)));
        other.record(None);
        one.merge(&other);
        assert_eq!((one.checked, one.damaged, one.first.len()), (15, 14, 10));
        let said: Vec<String> = one.findings().collect();
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("14 do not hold") && said[0].contains("; and 4 more."), "{said:?}");
        assert!(said[0].contains("block at 12288: write 1 is lost"), "{said:?}");
        assert_eq!(Verified { checked: 3, ..Verified::default() }.findings().count(), 0);
        let unread = Verified { unread: 5, ..Verified::default() };
        assert!(unread.findings().all(|said| said.contains("verification of 5 blocks")));
    }
}

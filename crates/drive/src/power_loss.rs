//! What a drive loses when its power is cut.

use block::Lba;

/// What a drive loses when its power is cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PowerLoss {
    /// Sectors that commands wrote which the drive had taken, answered or not, but that were not yet where
    /// they keep without power: for each run of them the first, and the one after the last; ascending, apart
    /// from each other. What was there before is there again.
    pub sectors: Vec<(Lba, Lba)>,
    /// Sectors of which nothing is left, whether it was flushed or not, in the same form: they read as zeroes.
    pub gone: Vec<(Lba, Lba)>,
    /// Pages of flash that were being programmed.
    pub torn: u32,
    /// Commands that will never be answered.
    pub unanswered: u32,
}

/// Runs of sectors in any order as [`PowerLoss::sectors`] has them.
pub(crate) fn joined(mut runs: Vec<(Lba, Lba)>) -> Vec<(Lba, Lba)> {
    runs.sort_unstable();
    let mut joined: Vec<(Lba, Lba)> = Vec::new();
    for (from, until) in runs.into_iter().filter(|(from, until)| from < until) {
        match joined.last_mut() {
            Some((_, last)) if *last >= from => *last = until.max(*last),
            _ => joined.push((from, until)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_overlap_or_touch_become_one() {
        let runs = |runs: &[(u64, u64)]| runs.iter().map(|&(from, until)| (Lba::new(from), Lba::new(until))).collect();
        assert_eq!(joined(runs(&[(7, 9), (0, 3), (3, 5), (8, 12), (20, 20), (8, 9)])), runs(&[(0, 5), (7, 12)]));
    }
}

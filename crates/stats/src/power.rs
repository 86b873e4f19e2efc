//! How many repeats it takes to tell.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{ALPHA, LogRatio};

/// How likely the repeats are to decide: 80 %, as is usual.
const POWER: f64 = 0.8;
/// More repeats than this are never asked for.
const MOST: usize = 1000;

impl LogRatio {
    /// How many repeats each side needs for a test at 5 % to tell the ratio from `ratio` in four of five cases, if it is
    /// what was found and the scatter stays: none where even a thousand would not.
    ///
    /// `repeats` is how many each side has now. The error falls with the root of the repeats, and Student's t with the
    /// degrees of freedom.
    ///
    /// Source: J. Cohen, "Statistical Power Analysis for the Behavioral Sciences", 2nd edition, 1988, §2.
    pub fn repeats_to_decide(&self, ratio: f64, repeats: usize) -> Option<usize> {
        let distance = (self.log - ratio.ln()).abs();
        let decides = |count: &usize| {
            let growth = *count as f64 / repeats as f64;
            let student = StudentsT::new(0.0, 1.0, (self.freedom * growth).max(1.0)).expect("it is at least one");
            (student.inverse_cdf(1.0 - ALPHA) + student.inverse_cdf(POWER)) * self.error / growth.sqrt() <= distance
        };
        if self.is_exact() {
            return Some(repeats);
        }
        // Whatever decides, more repeats decide too.
        let (mut low, mut high) = (1, MOST);
        decides(&high).then_some(())?;
        while low < high {
            let middle = (low + high) / 2;
            if decides(&middle) { high = middle } else { low = middle + 1 }
        }
        Some(low.max(repeats + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closer_and_noisier_takes_more() {
        let found = |percent: f64, error: f64| LogRatio { log: (1.0 - percent / 100.0_f64).ln(), error, freedom: 8.0 };
        let needed = |percent, error| found(percent, error).repeats_to_decide(0.95, 5);
        let (near, far, noisy) = (needed(4.0, 0.01).unwrap(), needed(1.0, 0.01).unwrap(), needed(1.0, 0.03).unwrap());
        assert!(far <= 6 && near > 20 && noisy > far && near < 100, "{near} {far} {noisy}");
        assert_eq!(needed(5.0, 0.01), None, "what lies on the limit is never decided");
        assert_eq!(found(1.0, 0.0).repeats_to_decide(0.95, 5), Some(5));
    }
}

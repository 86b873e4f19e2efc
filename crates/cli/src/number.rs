//! Whole numbers as they are typed.

use std::ops::RangeInclusive;

/// Reads a whole number within these limits, both of which it may be.
///
/// # Errors
/// The reader says what would be right.
///
/// # Panics
/// Where a limit is more than the type of the number holds.
pub fn within<N: TryFrom<u64>>(limits: RangeInclusive<u64>) -> impl Fn(&str) -> Result<N, String> + Clone {
    move |text| {
        let number = text.trim().parse::<u64>().ok().filter(|number| limits.contains(number));
        let number = number.ok_or_else(|| wanted(&limits))?;
        Ok(N::try_from(number)
            .unwrap_or_else(|_| panic!("{number} is within the limits {limits:?}, and not of the type")))
    }
}

/// Reads a switch: 0 or 1.
pub fn switch(text: &str) -> Result<u8, String> {
    within(0..=1)(text)
}

/// Reads the origin of random choices.
pub fn seed(text: &str) -> Result<u64, String> {
    within(0..=u64::MAX)(text)
}

/// What would be right.
fn wanted(limits: &RangeInclusive<u64>) -> String {
    match (*limits.start(), *limits.end()) {
        (least, most) if most - least == 1 => format!("give {least} or {most}"),
        (least, most) => format!("give a whole number, at least {least} and at most {most}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_whole_and_within_its_limits_or_told_so() {
        let repeats = within::<u32>(1..=1000);
        assert_eq!(repeats("7"), Ok(7));
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        for wrong in ["0", "1001", "2.5", "many", "-1", ""] {
            assert_eq!(repeats(wrong), Err("give a whole number, at least 1 and at most 1000".to_owned()), "{wrong}");
        }
        assert_eq!((switch("1"), switch("2")), (Ok(1), Err("give 0 or 1".to_owned())));
    }
}

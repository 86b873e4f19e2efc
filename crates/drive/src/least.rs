//! Where the least of a few numbers is.

use std::hint::select_unpredictable;

/// The place of the least of some numbers, the first of them if there are more.
///
/// It is by chance which that is, and a processor that guesses wrong loses more than it takes to compare all.
///
/// # Panics
/// If there are none.
#[inline]
pub fn first_least<T: Copy + Ord>(numbers: impl IntoIterator<Item = T>) -> usize {
    let mut numbers = numbers.into_iter();
    let (mut place, mut least) = (0, numbers.next().expect("there is one"));
    for (at, number) in (1..).zip(numbers) {
        let is_less = number < least;
        place = select_unpredictable(is_less, at, place);
        least = select_unpredictable(is_less, number, least);
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_least_is_found_wherever_it_is() {
        let mut random = testkit::Random::new(1);
        for count in (1..40).cycle().take(2_000) {
            let numbers: Vec<u64> = (0..count).map(|_| random.below(20)).collect();
            let wanted = numbers.iter().position(|number| Some(number) == numbers.iter().min());
            assert_eq!(Some(first_least(numbers.iter().copied())), wanted, "{numbers:?}");
        }
    }
}

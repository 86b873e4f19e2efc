//! A disk's file made of the values of its maker's data sheet.

mod file;
mod fit;
mod names;
mod parts;
mod rows;

pub use self::names::{is_named, is_of_a_disk, parted};
use self::parts::DiskParts;
pub use self::rows::DiskRatings;
use super::ratings::Ratings;

/// The file of a disk with these ratings.
///
/// # Errors
/// All that contradicts itself or that no disk has.
pub fn made(name: &str, ratings: &Ratings, disk: &DiskRatings) -> Result<String, Vec<String>> {
    fit::met(name, ratings, disk, DiskParts::of(ratings, disk)?)
}

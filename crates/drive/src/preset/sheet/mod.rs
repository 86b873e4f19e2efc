//! A drive's file made of the values of its maker's data sheet.

mod across;
mod columns;
mod disk;
mod file;
mod key;
mod lines;
mod parts;
mod ratings;
mod reading;
mod text;
mod value;

use self::parts::Parts;
use self::ratings::clean;
pub use self::ratings::{Ratings, RatingsError, TEXT_MAX};
use super::name::is_name;

impl Ratings {
    /// The rows that were read and that the model has no use for.
    pub fn unused(&self) -> &[String] {
        &self.unused
    }

    /// The file of a drive with these ratings, every guess marked as one.
    ///
    /// # Errors
    /// If no flash, no disk and no interface could meet the ratings, or `name` can be no drive's.
    pub fn file(&self, name: &str) -> Result<String, RatingsError> {
        if !is_name(name) {
            let shown = clean(name, 70);
            return Err(RatingsError(vec![format!(
                "`{shown}` cannot be the name of a drive; give up to 64 lower-case letters, digits, hyphens and dots, such as my-drive"
            )]));
        }
        let text = match &self.disk {
            Some(disk) => disk::made(name, self, disk).map_err(RatingsError)?,
            None => file::text(name, self, &Parts::of(self).map_err(RatingsError)?),
        };
        match super::Preset::parse(&text) {
            Ok(_) => Ok(text),
            Err(error) => Err(RatingsError(vec![format!("these ratings make no drive: {error}")])),
        }
    }
}

#[cfg(test)]
mod tests;

//! Numbered places for what is under way.

use serde::{Deserialize, Serialize};

/// Numbered places for what is under way, each used again once it is free, so that a steady stream of requests
/// asks for no memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slab<T> {
    places: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Puts `what` into a free place; its number.
    #[inline]
    pub fn put(&mut self, what: T) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = what;
                place
            }
            None => {
                self.places.push(what);
                (self.places.len() - 1) as u32
            }
        }
    }

    /// What is in a place.
    #[inline]
    pub fn at(&mut self, place: u32) -> &mut T {
        &mut self.places[place as usize]
    }

    /// Frees a place, whose content is no longer asked for.
    #[inline]
    pub fn free(&mut self, place: u32) {
        self.free.push(place);
    }

    /// How many places are not free.
    pub fn in_use(&self) -> u32 {
        (self.places.len() - self.free.len()) as u32
    }

    /// Whether all places are free.
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.places.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_place_is_used_again() {
        let mut slab = Slab::default();
        assert_eq!((slab.put('a'), slab.put('b')), (0, 1));
        slab.free(0);
        assert_eq!((slab.put('c'), *slab.at(0), *slab.at(1)), (0, 'c', 'b'));
        assert!(!slab.is_empty());
        slab.free(0);
        slab.free(1);
        assert!(slab.is_empty());
    }
}

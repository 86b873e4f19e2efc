//! State that clones share until one of them changes it.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What is copied as a whole where one of those who have it changes it, unless its parts can be had in common too.
pub trait Lend: Clone {
    /// From now on, clones have large parts of it in common with it.
    fn lend(&mut self) {}

    /// Lets go of parts that others have too, unless they are parts of `next`, of which this will be a clone. Its contents are of
    /// no use any more.
    fn let_go(&mut self, _next: Option<&Self>) {}
}

/// A large part of a drive's state. Once [lent](Self::lend), clones have it in common with the original, and the first
/// change to one of them gives that its own; until then a change costs no more than a comparison.
#[derive(Debug)]
pub struct Shared<T> {
    held: Held<T>,
}

#[derive(Debug)]
enum Held<T> {
    Own(Box<T>),
    /// Somebody else's, and memory of one's own to copy it into once that must be.
    Lent(Arc<T>, Option<Box<T>>),
    /// Only while one becomes the other.
    Nothing,
}

const HELD: &str = "there is always something, but for the moment in which it changes hands";

impl<T> Shared<T> {
    /// One's own.
    pub fn new(own: T) -> Self {
        Self { held: Held::Own(Box::new(own)) }
    }
}

impl<T: Lend> Shared<T> {
    /// From now on, clones share it.
    pub fn lend(&mut self) {
        self.held = match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Own(mut own) => {
                own.lend();
                Held::Lent(Arc::new(*own), None)
            }
            held => held,
        };
    }

    /// Gives back what is another's; whether memory of one's own is left, of which the contents are of no use. What nobody else
    /// has any more is one's own.
    pub fn give_back(&mut self) -> bool {
        self.held = match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Lent(_, Some(own)) => Held::Own(own),
            Held::Lent(lent, None) => match Arc::try_unwrap(lent) {
                Ok(own) => Held::Own(Box::new(own)),
                Err(lent) => Held::Lent(lent, None),
            },
            held => held,
        };
        match &mut self.held {
            Held::Own(own) => {
                own.let_go(None);
                true
            }
            _ => false,
        }
    }

    /// What others have too, or would be copied all the same.
    pub fn lent(&self) -> Option<Arc<T>> {
        match &self.held {
            Held::Lent(lent, own) if own.is_some() || Arc::strong_count(lent) > 1 => Some(Arc::clone(lent)),
            _ => None,
        }
    }

    /// Makes it one's own where others have it too, by `copy` in place of a whole copy, or by `copy_into` into memory that it
    /// has.
    pub fn own_by(&mut self, copy: impl FnOnce(&T) -> T, copy_into: impl FnOnce(&mut T, &T)) {
        self.held = match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Lent(lent, Some(mut own)) => {
                copy_into(&mut own, &lent);
                Held::Own(own)
            }
            Held::Lent(lent, None) if Arc::strong_count(&lent) > 1 => Held::Own(Box::new(copy(&lent))),
            held => held,
        };
    }

    /// Makes it one's own: what nobody else has is taken as it is, all else copied.
    #[cold]
    #[inline(never)]
    fn own(&mut self) {
        self.held = match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Lent(lent, Some(mut own)) => {
                (*own).clone_from(&*lent);
                Held::Own(own)
            }
            Held::Lent(lent, None) => Held::Own(Box::new(Arc::unwrap_or_clone(lent))),
            held => held,
        };
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match &self.held {
            Held::Own(own) => own,
            Held::Lent(lent, _) => lent,
            Held::Nothing => unreachable!("{HELD}"),
        }
    }
}

impl<T: Lend> DerefMut for Shared<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        if !matches!(self.held, Held::Own(_)) {
            self.own();
        }
        match &mut self.held {
            Held::Own(own) => own,
            _ => unreachable!("{HELD}"),
        }
    }
}

impl<T: Lend> Clone for Shared<T> {
    fn clone(&self) -> Self {
        match &self.held {
            Held::Lent(lent, _) => Self { held: Held::Lent(Arc::clone(lent), None) },
            _ => Self::new(T::clone(self)),
        }
    }

    /// Keeps the memory already had for when it is needed.
    fn clone_from(&mut self, other: &Self) {
        let mine = match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Own(own) | Held::Lent(_, Some(own)) => Some(own),
            Held::Lent(_, None) | Held::Nothing => None,
        };
        self.held = match (&other.held, mine) {
            (Held::Lent(lent, _), mut mine) => {
                mine.iter_mut().for_each(|mine| mine.let_go(Some(lent)));
                Held::Lent(Arc::clone(lent), mine)
            }
            (_, Some(mut mine)) => {
                (*mine).clone_from(&**other);
                Held::Own(mine)
            }
            (_, None) => Held::Own(Box::new(T::clone(other))),
        };
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        T::serialize(self, serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl<T: Clone> Lend for Vec<T> {}

    #[test]
    fn what_is_lent_is_copied_by_who_changes_it() {
        let mut original = Shared::new(vec![1, 2, 3]);
        original.lend();
        let (mut one, other) = (original.clone(), original.clone());
        assert_eq!(one.as_ptr(), original.as_ptr(), "clones have the same memory");
        one[0] = 9;
        assert_eq!((&**one, &**other, &**original), (&[9, 2, 3][..], &[1, 2, 3][..], &[1, 2, 3][..]));
        original[1] = 8;
        assert_eq!((&**one, &**other, &**original), (&[9, 2, 3][..], &[1, 2, 3][..], &[1, 8, 3][..]));
    }

    #[test]
    fn who_has_it_alone_takes_it_as_it_is_and_memory_of_before_is_used_again() {
        let mut original = Shared::new(vec![1, 2, 3]);
        let before = original.as_ptr();
        original.lend();
        let mut clone = Shared::new(vec![0, 0, 0]);
        let own = clone.as_ptr();
        clone.clone_from(&original);
        assert_eq!(clone.as_ptr(), before);
        clone[0] = 7;
        assert_eq!((clone.as_ptr(), clone[0], clone[2]), (own, 7, 3));
        clone.clone_from(&original);
        assert!(clone.give_back() && clone.as_ptr() == own);
        assert!(!original.clone().give_back(), "it has nothing of its own");
        assert!(original.give_back() && original.as_ptr() == before, "nobody else has it any more");
        original.lend();
        original[0] = 5;
        assert_eq!(original.as_ptr(), before, "nobody else has it any more");
    }

    #[test]
    fn what_others_have_too_can_be_copied_in_part() {
        let mut original = Shared::new(vec![1, 2, 3]);
        original.own_by(|_| unreachable!("it is one's own"), |_, _| unreachable!("it is one's own"));
        original.lend();
        let mut clone = original.clone();
        clone.own_by(|all| all[..1].to_vec(), |_, _| unreachable!("it has no memory"));
        clone[0] = 9;
        assert_eq!((&**clone, &**original), (&[9][..], &[1, 2, 3][..]));
        let memory = clone.as_ptr();
        clone.clone_from(&original);
        clone.own_by(|_| unreachable!("it has memory"), |mine, all| mine.clone_from_slice(&all[2..]));
        assert_eq!((clone.as_ptr(), &**clone, &**original), (memory, &[3][..], &[1, 2, 3][..]));
    }

    #[test]
    fn without_lending_a_clone_is_a_copy() {
        let original = Shared::new(vec![1]);
        let mut clone = original.clone();
        assert_ne!(clone.as_ptr(), original.as_ptr());
        clone[0] = 2;
        clone.clone_from(&original);
        assert_eq!(clone[0], 1);
        let read: Shared<Vec<u32>> = serde_json::from_str(&serde_json::to_string(&clone).unwrap()).unwrap();
        assert_eq!(*read, *clone);
    }
}

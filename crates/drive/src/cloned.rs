//! Copies that reuse memory, from one list of fields which the compiler checks to be whole.

/// Implements `Clone` for a struct with these fields. Both ways of copying take the struct apart by the one list, so that a
/// field which is missing there does not compile: forgotten by `clone_from`, it would give a used clone another history.
macro_rules! clone_in_place {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl Clone for $name {
            fn clone(&self) -> Self {
                let Self { $($field),* } = self;
                Self { $($field: $field.clone()),* }
            }

            /// Copies into the memory already had.
            fn clone_from(&mut self, other: &Self) {
                let Self { $($field),* } = other;
                $(self.$field.clone_from($field);)*
            }
        }
    };
}
pub(crate) use clone_in_place;

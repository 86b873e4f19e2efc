//! The tables of a drive's file.

use serde::de::DeserializeOwned;

/// A table's name and the names of its fields.
pub type Table = (&'static str, &'static [&'static str]);

/// What a field is written as, and what a table holds of it.
pub trait Field: DeserializeOwned {
    type Value;

    fn value(self) -> Self::Value;
}

impl<F: Field> Field for Option<F> {
    type Value = Option<F::Value>;

    fn value(self) -> Self::Value {
        self.map(F::value)
    }
}

/// Types of which a table holds what is written.
macro_rules! plain {
    ($($kind:ty),*) => {
        $(impl $crate::preset::fields::Field for $kind {
            type Value = Self;

            fn value(self) -> Self {
                self
            }
        })*
    };
}
pub(crate) use plain;

plain!(bool, u32, u64, f64, String, Vec<u32>);

/// Declares a table of a drive's file, with its fields as they are written. Every one has a `source`, which is required but not
/// used further.
macro_rules! table {
    ($(#[$outer:meta])* $vis:vis $name:ident { $($(#[$attribute:meta])* $field:ident: $kind:ty),* $(,)? }) => {
        $(#[$outer])*
        $vis struct $name {
            $($field: <$kind as $crate::preset::fields::Field>::Value,)*
        }

        impl $name {
            /// The names of the fields beside `source`.
            $vis const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                /// The table as it is written, by the same name, which errors say.
                #[derive(serde::Deserialize)]
                #[serde(deny_unknown_fields)]
                struct $name {
                    #[serde(rename = "source")]
                    _source: String,
                    $($(#[$attribute])* $field: $kind,)*
                }

                let written = $name::deserialize(deserializer)?;
                Ok(Self { $($field: $crate::preset::fields::Field::value(written.$field),)* })
            }
        }
    };
}
pub(crate) use table;

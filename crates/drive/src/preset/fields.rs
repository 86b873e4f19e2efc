//! The tables of a drive's file.

/// A table's name and the names of its fields.
pub type Table = (&'static str, &'static [&'static str]);

/// Declares a table of a drive's file: every one has a `source`, which is required but not used further.
macro_rules! table {
    ($(#[$outer:meta])* $vis:vis $name:ident { $($(#[$attribute:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$outer])*
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        $vis struct $name {
            #[serde(rename = "source")]
            _source: String,
            $($(#[$attribute])* $field: $kind,)*
        }

        impl $name {
            /// The names of the fields beside `source`.
            $vis const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];
        }
    };
}
pub(crate) use table;

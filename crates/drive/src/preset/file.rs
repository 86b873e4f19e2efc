//! A drive's file as a whole.

/// Declares a drive's file: its tables, with what each is about, and after that what else it has. Some of it is read elsewhere.
macro_rules! drive_file {
    ($(#[$outer:meta])* $name:ident {
        $($(#[doc = $about:literal])+ $table:ident: $part:ty),* $(,)?
    } $($rest:tt)*) => {
        $(#[$outer])*
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            pub name: String,
            pub title: String,
            #[serde(rename = "kind")]
            _kind: String,
            #[serde(rename = "price")]
            _price: Option<$crate::preset::ListPrice>,
            $($(#[doc = $about])+ #[allow(dead_code, reason = "some tables are read elsewhere")] $table: $part,)*
            $($rest)*
        }

        impl $name {
            /// The tables of the file with their fields.
            pub const TABLES: &[$crate::preset::fields::Table] = &[$($crate::preset::fields::Table {
                name: stringify!($table),
                about: concat!($($about),+).trim_ascii_start(),
                is_required: <$part as $crate::preset::fields::Part>::IS_REQUIRED,
                fields: <$part as $crate::preset::fields::Part>::FIELDS,
            }),*];
        }
    };
}
pub(crate) use drive_file;

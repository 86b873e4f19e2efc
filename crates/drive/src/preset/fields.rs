//! The tables of a drive's file and their fields, each declared once: how it is read, and what the reference says of it.

use serde::Deserializer;
use serde::de::value::Error;
use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// A table of a drive's file.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub name: &'static str,
    pub about: &'static str,
    /// Whether a file must have it.
    pub is_required: bool,
    pub fields: &'static [FieldInfo],
}

impl Table {
    /// The names of its fields.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.fields.iter().map(|field| field.name)
    }

    /// Whether it has a field of this name.
    pub fn has(&self, field: &str) -> bool {
        self.names().any(|name| name == field)
    }
}

/// A field of a table.
#[derive(Clone, Copy, Debug)]
pub struct FieldInfo {
    pub name: &'static str,
    pub about: &'static str,
    /// Whether its table must have it.
    pub is_required: bool,
    kind: fn() -> Kind,
    /// What holds where it is left out, as it is written in the code.
    default: Option<&'static str>,
}

impl FieldInfo {
    pub const fn new(
        name: &'static str,
        about: &'static str,
        is_optional: bool,
        kind: fn() -> Kind,
        default: Option<&'static str>,
    ) -> Self {
        Self { name, about, is_required: !is_optional && default.is_none(), kind, default }
    }

    /// What it is written as.
    pub fn kind(&self) -> Kind {
        (self.kind)()
    }

    /// What holds where it is left out; none where that is no value, and where it cannot be left out.
    pub fn default(&self) -> Option<String> {
        match self.default {
            Some("default") => Some(self.kind().nothing().to_owned()),
            other => other.map(|number| number.replace('_', "")),
        }
    }
}

/// A field that a table must have.
pub const fn required(name: &'static str, about: &'static str, kind: fn() -> Kind) -> FieldInfo {
    FieldInfo::new(name, about, false, kind, None)
}

/// A field that may be left out.
pub const fn optional(name: &'static str, about: &'static str, kind: fn() -> Kind) -> FieldInfo {
    FieldInfo::new(name, about, true, kind, None)
}

/// What a field is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bytes,
    Time,
    Rate,
    Share,
    /// A list of shares.
    Shares,
    Power,
    Energy,
    Temperature,
    ThermalResistance,
    HeatCapacity,
    Endurance,
    Count,
    Bool,
    Text,
    /// One of some words.
    Word(&'static [&'static str]),
    /// A list of such.
    Words(&'static [&'static str]),
}

impl Kind {
    /// How it is called, and an example of how it is written where the name does not say it.
    pub fn told(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Bytes => ("size", Some("\"16KiB\"")),
            Self::Time => ("time", Some("\"50us\"")),
            Self::Rate => ("rate", Some("\"300 MB/s\"")),
            Self::Share => ("share", Some("\"12.5%\"")),
            Self::Shares => ("list of shares", Some("[\"80%\", \"120%\"]")),
            Self::Power => ("power", Some("\"2.5 W\"")),
            Self::Energy => ("energy", Some("\"20 uJ\"")),
            Self::Temperature => ("temperature", Some("\"70 C\"")),
            Self::ThermalResistance => ("thermal resistance", Some("\"12 K/W\"")),
            Self::HeatCapacity => ("heat capacity", Some("\"15 J/K\"")),
            Self::Endurance => ("endurance", Some("\"600 TB\"")),
            Self::Count => ("number", Some("32")),
            Self::Bool => ("true or false", None),
            Self::Text => ("text", None),
            Self::Word(_) => ("word", None),
            Self::Words(_) => ("list of words", None),
        }
    }

    /// The words that it, or each of a list, is one of.
    pub const fn words(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Word(words) | Self::Words(words) => Some(words),
            _ => None,
        }
    }

    /// How none of it is written.
    const fn nothing(self) -> &'static str {
        match self {
            Self::Bool => "false",
            Self::Shares | Self::Words(_) => "[]",
            Self::Text => "\"\"",
            _ => "0",
        }
    }
}

/// What a field is written as, and what a table holds of it.
pub trait Field: DeserializeOwned {
    type Value;
    /// Whether it may be left out by itself.
    const IS_OPTIONAL: bool = false;

    fn value(self) -> Self::Value;
    fn kind() -> Kind;
}

impl<F: Field> Field for Option<F> {
    type Value = Option<F::Value>;
    const IS_OPTIONAL: bool = true;

    fn value(self) -> Self::Value {
        self.map(F::value)
    }

    fn kind() -> Kind {
        F::kind()
    }
}

/// What a file may have as a table.
pub trait Part {
    const FIELDS: &'static [FieldInfo];
    const IS_REQUIRED: bool = true;
}

impl<P: Part> Part for Option<P> {
    const FIELDS: &'static [FieldInfo] = P::FIELDS;
    const IS_REQUIRED: bool = false;
}

/// Types of which a table holds what is written, with what that is.
macro_rules! plain {
    ($($type:ty: $kind:expr),* $(,)?) => {
        $(impl $crate::preset::fields::Field for $type {
            type Value = Self;

            fn value(self) -> Self {
                self
            }

            fn kind() -> $crate::preset::fields::Kind {
                $kind
            }
        })*
    };
}
pub(crate) use plain;

plain!(bool: Kind::Bool, u32: Kind::Count, String: Kind::Text);

/// Types that are one of some words.
macro_rules! words {
    ($($type:ty),*) => { $($crate::preset::plain!($type: $crate::preset::fields::Kind::Word($crate::preset::fields::words_of::<$type>()));)* };
}
pub(crate) use words;

/// The words that `T` is read from; of a structure, the names of its fields.
pub fn words_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut words = Words(&[]);
    // Nothing is read: the type says what it would take.
    let _ = T::deserialize(&mut words);
    words.0
}

/// Keeps which words a type asks for.
struct Words(&'static [&'static str]);

impl<'de> Deserializer<'de> for &mut Words {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("there is nothing to read"))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0 = variants;
        self.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_enum(name, fields, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// Declares a table of a drive's file: what each field is, by what type it is read, and after `=` what holds where it is left
/// out, if that is a value. A field of an `Option` may be left out too, and its text says what is then. Every table has a
/// `source`, which is required but not used further.
macro_rules! table {
    ($(#[$outer:meta])* $vis:vis $name:ident {
        $($(#[doc = $about:literal])+ $field:ident: $kind:ty $(= $default:tt)?),* $(,)?
    }) => {
        $(#[$outer])*
        $vis struct $name {
            $($(#[doc = $about])+ $field: <$kind as $crate::preset::fields::Field>::Value,)*
        }

        impl $crate::preset::fields::Part for $name {
            const FIELDS: &'static [$crate::preset::fields::FieldInfo] = &[$($crate::preset::fields::FieldInfo::new(
                stringify!($field),
                concat!($($about),+).trim_ascii_start(),
                <$kind as $crate::preset::fields::Field>::IS_OPTIONAL,
                <$kind as $crate::preset::fields::Field>::kind,
                $crate::preset::fields::default_of!(@text $($default)?),
            )),*];
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                /// The table as it is written, by the same name, which errors say.
                #[derive(serde::Deserialize)]
                #[serde(deny_unknown_fields)]
                struct $name {
                    #[serde(rename = "source")]
                    _source: String,
                    $($field: $crate::preset::fields::default_of!(@written $kind $(, $default)?),)*
                }

                let written = $name::deserialize(deserializer)?;
                Ok(Self { $($field: $crate::preset::fields::default_of!(@held $kind, written.$field $(, $default)?),)* })
            }
        }
    };
}
pub(crate) use table;

/// What [`table!`] makes of what stands after `=`: the text of it, the type that is read, and the value that the table holds.
macro_rules! default_of {
    (@text) => { None };
    (@text $default:tt) => { Some(stringify!($default)) };
    (@written $kind:ty) => { $kind };
    (@written $kind:ty, $default:tt) => { Option<$kind> };
    (@held $kind:ty, $written:expr) => { $crate::preset::fields::Field::value($written) };
    (@held $kind:ty, $written:expr, default) => {
        $written.map(<$kind as $crate::preset::fields::Field>::value).unwrap_or_default()
    };
    (@held $kind:ty, $written:expr, $default:tt) => {
        $written.map_or($default, <$kind as $crate::preset::fields::Field>::value)
    };
}
pub(crate) use default_of;

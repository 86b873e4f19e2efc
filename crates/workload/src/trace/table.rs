//! The table of formats.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::decode::{Decode, Format, Head};
use super::error::TraceError;
use super::{
    alibaba, blkparse, blktrace, cloudphysics, columns, disksim, fiu, iolog, lcs, msr, oracle, spc, systor, tencent,
    timed, vscsi,
};

/// Makes the type and its rows: `Variant "name" what a file says of it`.
macro_rules! formats {
    ($($format:ident $name:literal $row:expr;)*) => {
        /// A format in which traces are kept.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum TraceFormat { $(#[serde(rename = $name)] $format),* }

        impl TraceFormat {
            /// All of them, in the order of the table.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$format),*];

            /// Its name for programs.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$format => $name),* }
            }

            const fn row(self) -> &'static Format {
                match self { $(Self::$format => &$row),* }
            }
        }
    };
}

formats! {
    Iolog2 "iolog2" iolog::VERSION_2;
    Iolog3 "iolog3" iolog::VERSION_3;
    Blkparse "blkparse" blkparse::FORMAT;
    Blktrace "blktrace" blktrace::FORMAT;
    Msr "msr" msr::FORMAT;
    Spc "spc" spc::FORMAT;
    Alibaba "alibaba" alibaba::FORMAT;
    Tencent "tencent" tencent::FORMAT;
    Systor "systor17" systor::FORMAT;
    CloudPhysics "cloudphysics" cloudphysics::FORMAT;
    Vscsi1 "vscsi1" vscsi::VERSION_1;
    Vscsi2 "vscsi2" vscsi::VERSION_2;
    Fiu "fiu" fiu::FORMAT;
    DiskSim "disksim" disksim::FORMAT;
    OracleGeneral "oraclegeneral" oracle::FORMAT;
    Lcs "lcs" lcs::FORMAT;
    Timed "timed" timed::FORMAT;
    Columns "columns" columns::FORMAT;
}

impl fmt::Display for TraceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.row().title)
    }
}

impl TraceFormat {
    /// Where such traces come from, in Markdown.
    pub const fn origin(self) -> &'static str {
        self.row().origin
    }

    /// What is recorded of each request, and in which units, in Markdown.
    pub const fn records(self) -> &'static str {
        self.row().records
    }

    pub(super) fn open(self) -> Box<dyn Decode> {
        (self.row().open)()
    }

    /// The format of a file that begins so.
    pub(super) fn of(head: &Head) -> Result<Self, TraceError> {
        let mut fitting = Self::ALL.into_iter().filter(|format| (format.row().fits)(head));
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Ok(only),
            (Some(one), Some(other)) => Err(TraceError::Ambiguous {
                formats: [one, other].into_iter().chain(fitting).map(Self::name).collect(),
            }),
            (None, _) => Err(head.unknown(&known())),
        }
    }
}

/// What replay_format can say: the name of a format, or of columns.
pub(super) fn named(text: &str) -> Result<(TraceFormat, Box<dyn Decode>), TraceError> {
    if let Some(format) = TraceFormat::ALL.into_iter().find(|format| format.name() == text) {
        return Ok((format, format.open()));
    }
    let wrong = |reason| TraceError::Format { found: text.to_owned(), reason };
    if !text.contains(',') {
        let names = TraceFormat::ALL.map(TraceFormat::name).join(", ");
        return Err(wrong(format!("no format has this name; there are {names}, or name the columns")));
    }
    Ok((TraceFormat::Columns, columns::open(text).map_err(wrong)?))
}

/// The names of all formats that are recognised.
fn known() -> String {
    let recognised = TraceFormat::ALL.into_iter().filter(|format| *format != TraceFormat::Columns);
    recognised.map(|format| format.to_string()).collect::<Vec<_>>().join(", ")
}

//! The fields of a workload by fio's names, each with all that is to be known of it in one row of one table.
//!
//! The command line, plans, importers, axes, exports and reports are derived from the rows.

mod notation;
mod table;

use block::{ParseError, suggestion};
use thiserror::Error;

use self::notation::Access;
pub use self::notation::{BYTES_MAX, COUNT_MAX, TIME_MAX, Unit};
pub use self::table::Field;
use crate::{ListError, Pattern, Workload, profile};

/// Why a text is not a value of a field.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FieldError {
    /// There is no such pattern.
    #[error("unknown pattern `{found}`; {}", suggestion(found, &Pattern::ALL.map(|(name, _)| name)))]
    UnknownPattern {
        /// The text as given.
        found: String,
    },
    /// There is no such profile.
    #[error("unknown profile `{found}`; {}", suggestion(found, &profile::names()))]
    UnknownProfile {
        /// The text as given.
        found: String,
    },
    /// The field takes one of a few words.
    #[error("`{found}` is not one of its values; use one of {}", known.join(", "))]
    UnknownWord {
        /// The text as given.
        found: String,
        /// The words that would be right.
        known: &'static [&'static str],
    },
    /// The text is not the list of shares or the distribution that the field holds.
    #[error(transparent)]
    List(#[from] ListError),
    /// The text is not the quantity that the field holds.
    #[error(transparent)]
    Quantity(#[from] ParseError),
}

/// What a field is among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It stands for several others, and is not written where those are.
    Summary,
    /// Pattern, size, depth, workers, mix, span or stop: what exports have a column for.
    Basic,
    /// It is written even where it is as by default.
    Always,
    /// The command line has it among the options of the target.
    OfTarget,
    /// A trace decides it: the requests or their times.
    Traced,
    /// It makes a replay, which only a measurement can be.
    Replay,
    /// It makes one row of writes from begin to end, which rounds would tear.
    Row,
    /// It concerns writes alone.
    Writes,
    /// It says what is written.
    Content,
    /// It says when a workload begins or ends, or what is not counted; where rounds do, it has no say.
    End,
}

/// What fio has by a field's name, and how its value becomes the field's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fio {
    /// The same, written so.
    Same(FioValue),
    /// The same, once it is read together with others of fio's options: how.
    Together(&'static str),
    /// Nothing that can be taken over: why.
    None(&'static str),
}

/// How fio writes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioValue {
    /// A count, with the suffixes of sizes: `1k` is 1,024.
    Count,
    /// A share from 0 to 100, with `%` or without.
    Percent,
    /// On for any number but 0.
    Switch,
    /// One of the words that the field takes.
    Word,
    /// A time; a bare number is in seconds.
    Seconds,
}

/// A field's row.
struct Row {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    value: &'static dyn Access,
    fio: Fio,
    more: More,
}

/// What of a row may be left out.
struct More {
    /// Other names of fio's for it.
    aliases: &'static [&'static str],
    /// What the command line shows in place of a value.
    takes: &'static str,
    marks: &'static [Mark],
    /// What else it decides, besides what a trace does.
    decides: &'static [Field],
    /// Whether it has a say in what `Workload` asks for.
    applies: fn(&Workload) -> bool,
    /// The value for people, where it is not the one of its notation.
    label: Option<fn(&Workload) -> String>,
    /// The value for people where there is none.
    absent: &'static str,
    /// The value in a sentence.
    phrase: Phrase,
    /// The value among all that a workload asks for, where that is not the phrase; empty where another tells it.
    detail: Option<fn(&Workload) -> String>,
}

impl More {
    const PLAIN: Self = Self {
        aliases: &[],
        takes: "COUNT",
        marks: &[],
        decides: &[],
        applies: |_| true,
        label: None,
        absent: "",
        phrase: Phrase::Around("", ""),
        detail: None,
    };
}

/// A value in a sentence.
enum Phrase {
    /// Between these words.
    Around(&'static str, &'static str),
    /// So many of this, which takes an `s` from two on.
    Of(&'static str),
}

impl Field {
    /// The field of this name, which may be another one of fio's.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.names().any(|own| own == name))
    }

    /// The name in plans, on the command line and in the store.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Other names that fio has for it, which are taken too.
    pub fn aliases(self) -> &'static [&'static str] {
        self.row().more.aliases
    }

    /// All of its names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name()).chain(self.aliases().iter().copied())
    }

    /// All fields that are so marked, in order.
    pub fn all(mark: Mark) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |field| field.is(mark))
    }

    /// Whether it is so marked.
    pub fn is(self, mark: Mark) -> bool {
        self.row().more.marks.contains(&mark)
    }

    /// The words for people, as on an axis of a chart.
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// What it asks for, in a line of the command line's help.
    pub fn about(self) -> &'static str {
        self.row().about
    }

    /// What the help shows in place of a value.
    pub fn takes(self) -> &'static str {
        self.row().more.takes
    }

    /// Whether it is a switch, which the command line takes without a value as on.
    pub fn is_switch(self) -> bool {
        self.takes() == "0|1"
    }

    /// What its numbers are counted in.
    pub fn unit(self) -> Unit {
        self.row().value.unit()
    }

    pub fn fio(self) -> Fio {
        self.row().fio
    }

    /// What else it decides: where a nearer word gives it, these are no longer taken from farther away.
    pub fn decides(self) -> impl Iterator<Item = Self> {
        let (own, is_trace) = (self.row().more.decides, self == Self::ReadIolog);
        Self::ALL.into_iter().filter(move |field| own.contains(field) || (is_trace && field.is(Mark::Traced)))
    }

    /// Sets this field of `workload` to what `text` says, in fio's notation.
    ///
    /// Says nothing of whether the fields make sense together: that is [`Workload::check`].
    ///
    /// # Errors
    /// Says what was found and what would be right.
    pub fn set(self, workload: &mut Workload, text: &str) -> Result<(), FieldError> {
        self.row().value.set(workload, text)
    }

    /// The value in `workload`, as [`Field::set`] takes it; none where it has none.
    pub fn get(self, workload: &Workload) -> Option<String> {
        self.row().value.get(workload)
    }

    /// The value as a number in the field's unit; none where it has no order.
    pub fn number(self, workload: &Workload) -> Option<f64> {
        self.row().value.number(workload)
    }

    /// The value as on an axis or in a table: `4 KiB`, `32`, `random read`.
    pub fn label(self, workload: &Workload) -> String {
        let Row { value, more, .. } = self.row();
        let plain = || value.shown(workload).unwrap_or_else(|| more.absent.to_owned());
        more.label.map_or_else(plain, |label| label(workload))
    }

    /// The value in a sentence or a line's name, where no axis says what it is: `depth 32`, `4 workers`.
    pub fn words(self, workload: &Workload) -> String {
        let label = self.label(workload);
        match self.row().more.phrase {
            // `flush every write`, not `every 1 writes`.
            Phrase::Around(before, " writes") if label == "1" && before.ends_with("every ") => format!("{before}write"),
            Phrase::Around(before, behind) => format!("{before}{label}{behind}"),
            Phrase::Of(what) if label == "1" => format!("1 {what}"),
            Phrase::Of(what) => format!("{label} {what}s"),
        }
    }

    /// The value among all that a workload asks for; empty where another field tells it.
    pub(crate) fn detail(self, workload: &Workload) -> String {
        self.row().more.detail.map_or_else(|| self.words(workload), |detail| detail(workload))
    }

    /// Whether it has a say in what `workload` asks for.
    pub(crate) fn applies(self, workload: &Workload) -> bool {
        (self.row().more.applies)(workload)
    }
}

#[cfg(test)]
mod tests;

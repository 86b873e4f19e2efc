//! The figures that a review published, read from a file of `published/`.

use std::collections::HashMap;
use std::ops::Range;

use block::{parse_share, suggestion};
use serde::{Deserialize, Serialize};
use serde_spanned::Spanned;

use super::layout::{Layout, LayoutFile};
use crate::{Diagnostic, Mistakes};

/// What a review published, and what was expected to come of repeating it.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The word by which the review is asked for.
    pub review: String,
    /// What it is, in a line.
    pub title: String,
    /// Who published it, where and when.
    pub source: String,
    /// How its figures are to be read.
    pub about: String,
    /// The file that says how it is repeated, for a review of the user's own.
    pub method: Option<String>,
    /// Figures that are judged together.
    pub groups: Vec<FigureGroup>,
    /// How they stood in tables, where that was written down.
    pub tables: Vec<Layout>,
}

impl Published {
    /// Every figure, in order.
    pub fn figures(&self) -> impl Iterator<Item = &PublishedFigure> {
        self.groups.iter().flat_map(|group| &group.series).flat_map(|series| &series.figures)
    }
}

/// Figures that are judged together.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureGroup {
    /// What they are, in a line.
    pub title: String,
    /// How far a figure may be off, as a share, and still count as met.
    pub tolerance: f64,
    /// The most that the median error may be, of the fitted figures and of the checked ones; none for no such goal.
    pub median: Option<f64>,
    /// How many of the figures must be met; none for all.
    pub within: Option<usize>,
    /// The figures, in tables.
    pub series: Vec<Series>,
}

/// The figures of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What they are, in a line.
    pub title: String,
    /// The unit of all of them; empty for ratios.
    pub unit: String,
    /// The figures, in order.
    pub figures: Vec<PublishedFigure>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PublishedFigure {
    /// Its name in all reviews: `solid-data/x25-m/new/read/10000/512`.
    pub id: String,
    /// What sets it apart within its series.
    pub label: String,
    /// Whether parameters may be fitted to it.
    pub usage: Use,
    /// What was published; none where the review gives no number to hold a block device to.
    pub expect: Option<Expect>,
    /// How far it may be off, as a share.
    pub tolerance: f64,
    /// The figure is the first of these measurements divided by the second.
    pub ratio: Option<[String; 2]>,
    /// Why the figure is known not to fit the others of its own paper; such a figure is shown and not judged.
    pub odd: Option<String>,
    /// Why it is not measured.
    pub unmeasured: Option<String>,
}

/// Whether parameters may be fitted to a figure. A figure that was fitted is no evidence for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Use {
    /// They may.
    Fit,
    /// They may not: the figure tells whether the model predicts.
    Check,
}

impl Use {
    /// The word in files and documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fit => "fit",
            Self::Check => "check",
        }
    }
}

/// What a published figure says of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expect {
    /// It is this, within the tolerance.
    Value {
        /// The number.
        value: f64,
        /// Whether the source says "about".
        about: bool,
    },
    /// It lies between these. No tolerance widens them, but what differs from a bound by less than the published digits
    /// tell lies on it.
    Bounds {
        /// The least that it may be.
        at_least: Option<f64>,
        /// The most that it may be.
        at_most: Option<Most>,
    },
}

/// The upper end of a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Most {
    /// The number.
    pub value: f64,
    /// Whether it is itself allowed.
    pub inclusive: bool,
}

/// Whether `measured` is `bound` to the three digits that published figures have.
fn on(measured: f64, bound: f64) -> bool {
    const HALF_A_DIGIT: f64 = 0.0005;
    (measured / bound - 1.0).abs() < HALF_A_DIGIT
}

impl Expect {
    /// How far `measured` is off, as a share: above 0 where it is too much. 0 where a bound holds.
    pub fn error(&self, measured: f64) -> f64 {
        match *self {
            Self::Value { value, .. } => measured / value - 1.0,
            Self::Bounds { at_least: Some(least), .. } if measured < least && !on(measured, least) => {
                measured / least - 1.0
            }
            Self::Bounds { at_most: Some(most), .. } if measured > most.value && !on(measured, most.value) => {
                measured / most.value - 1.0
            }
            Self::Bounds { .. } => 0.0,
        }
    }

    /// Whether `measured` is what was published, give or take `tolerance` where it is a number.
    pub fn holds(&self, measured: f64, tolerance: f64) -> bool {
        match *self {
            Self::Value { .. } => within(self.error(measured).abs(), tolerance),
            Self::Bounds { at_least, at_most } => {
                at_least.is_none_or(|least| measured >= least || on(measured, least))
                    && at_most.is_none_or(|most| match most.inclusive {
                        true => measured <= most.value || on(measured, most.value),
                        false => measured < most.value,
                    })
            }
        }
    }

    /// The number, or the bound that is nearest to one.
    pub const fn number(&self) -> Option<f64> {
        match *self {
            Self::Value { value, .. } => Some(value),
            Self::Bounds { at_least: Some(least), .. } => Some(least),
            Self::Bounds { at_most: Some(most), .. } => Some(most.value),
            Self::Bounds { .. } => None,
        }
    }
}

/// Whether a share is at most `limit`: a limit that was written as 10 % is met at 10 %, whatever the last bit.
pub(super) fn within(share: f64, limit: f64) -> bool {
    share <= limit * (1.0 + 1e-9)
}

/// Reads the figures of a review.
///
/// # Errors
/// All mistakes that can be found in one go, in the order of the text.
pub fn parse(text: &str) -> Result<Published, Vec<Diagnostic>> {
    let file: PublishedFile = toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(text.len()..text.len());
        vec![Diagnostic::new("published::syntax", span, error.message()).label("here")]
    })?;
    let mut mistakes = Mistakes::default();
    let groups: Vec<FigureGroup> = file.group.iter().map(|group| group.read(&mut mistakes)).collect();
    let tables = file.table.iter().map(|table| table.read(&groups, &mut mistakes)).collect();
    check_ids(&file, &mut mistakes);
    if mistakes.count() > 0 {
        return Err(mistakes.into_sorted());
    }
    let about = file.about.split_whitespace().collect::<Vec<_>>().join(" ");
    let PublishedFile { review, title, source, method, .. } = file;
    Ok(Published { review, title, source, about, method, groups, tables })
}

/// That no name is given twice, and that each is one.
fn check_ids(file: &PublishedFile, mistakes: &mut Mistakes) {
    let mut seen: HashMap<&str, Range<usize>> = HashMap::new();
    for figure in file.group.iter().flat_map(|group| &group.series).flat_map(|series| &series.figures) {
        let (id, span) = (figure.id.get_ref(), figure.id.span());
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if id.split('/').count() < 2 || !id.split('/').all(|word| !word.is_empty() && word.chars().all(plain)) {
            let message = format!("`{id}` does not name a figure");
            let help = "write words of lower-case letters, digits and hyphens: `solid-data/x25-m/new/read/10000/512`";
            mistakes.push(Diagnostic::new("published::id", span.clone(), message).help(help));
        }
        if let Some(first) = seen.insert(id, span.clone()) {
            let message = format!("there are two figures `{id}`");
            mistakes
                .push(Diagnostic::new("published::duplicate", span, message).label("again").also(first, "first here"));
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedFile {
    review: String,
    title: String,
    source: String,
    #[serde(default)]
    about: String,
    method: Option<String>,
    group: Vec<GroupFile>,
    #[serde(default)]
    table: Vec<LayoutFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupFile {
    title: String,
    tolerance: Spanned<String>,
    median: Option<Spanned<String>>,
    within: Option<Spanned<usize>>,
    series: Vec<SeriesFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SeriesFile {
    title: String,
    #[serde(default)]
    unit: String,
    figures: Vec<FigureFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureFile {
    id: Spanned<String>,
    #[serde(rename = "use")]
    usage: Spanned<String>,
    value: Option<Spanned<f64>>,
    about: Option<Spanned<f64>>,
    at_least: Option<Spanned<f64>>,
    at_most: Option<Spanned<f64>>,
    below: Option<Spanned<f64>>,
    tolerance: Option<Spanned<String>>,
    ratio: Option<[String; 2]>,
    label: Option<String>,
    odd: Option<String>,
    unmeasured: Option<String>,
}

impl GroupFile {
    fn read(&self, mistakes: &mut Mistakes) -> FigureGroup {
        let tolerance = share(&self.tolerance, mistakes);
        let series: Vec<Series> = self.series.iter().map(|series| series.read(tolerance, mistakes)).collect();
        let judged = series.iter().flat_map(|series| &series.figures).filter(|figure| figure.odd.is_none()).count();
        if let Some(within) = self.within.as_ref().filter(|within| *within.get_ref() > judged) {
            let message = format!("{} figures cannot be met: the group has {judged}", within.get_ref());
            mistakes.push(Diagnostic::new("published::range", within.span(), message));
        }
        FigureGroup {
            title: self.title.clone(),
            tolerance,
            median: self.median.as_ref().map(|median| share(median, mistakes)),
            within: self.within.as_ref().map(|within| *within.get_ref()),
            series,
        }
    }
}

impl SeriesFile {
    fn read(&self, tolerance: f64, mistakes: &mut Mistakes) -> Series {
        let shared = shared_prefix(self.figures.iter().map(|figure| figure.id.get_ref().as_str()));
        let figures = self.figures.iter().map(|figure| figure.read(tolerance, shared, mistakes)).collect();
        Series { title: self.title.clone(), unit: self.unit.clone(), figures }
    }
}

/// How long the part up to a `/` is that all of `ids` begin with.
fn shared_prefix<'a>(ids: impl Iterator<Item = &'a str> + Clone) -> usize {
    let Some(first) = ids.clone().next() else { return 0 };
    let ends = first.match_indices('/').map(|(place, _)| place + 1);
    ends.filter(|&end| ids.clone().all(|id| id.starts_with(&first[..end]))).last().unwrap_or(0)
}

impl FigureFile {
    fn read(&self, tolerance: f64, shared: usize, mistakes: &mut Mistakes) -> PublishedFigure {
        let id = self.id.get_ref().clone();
        let usage = match self.usage.get_ref().as_str() {
            "fit" => Use::Fit,
            "check" => Use::Check,
            other => {
                let message = format!("`{other}` is not a use of a figure");
                let help = suggestion(other, &["fit", "check"]);
                mistakes.push(Diagnostic::new("published::use", self.usage.span(), message).help(help));
                Use::Check
            }
        };
        let expect = self.expect(mistakes);
        if usage == Use::Fit && (self.odd.is_some() || self.unmeasured.is_some() || expect.is_none()) {
            let message = "a figure that is odd, not measured or without a number cannot be fitted to";
            let help = "write `use = \"check\"`";
            mistakes.push(Diagnostic::new("published::use", self.usage.span(), message).help(help));
        }
        PublishedFigure {
            label: self.label.clone().unwrap_or_else(|| id[shared..].to_owned()),
            id,
            usage,
            expect,
            tolerance: self.tolerance.as_ref().map_or(tolerance, |own| share(own, mistakes)),
            ratio: self.ratio.clone(),
            odd: self.odd.clone(),
            unmeasured: self.unmeasured.clone(),
        }
    }

    /// The one thing that the figure says; none if it says nothing.
    fn expect(&self, mistakes: &mut Mistakes) -> Option<Expect> {
        let numbers = [&self.value, &self.about, &self.at_least, &self.at_most, &self.below];
        for number in
            numbers.into_iter().flatten().filter(|number| number.get_ref().is_nan() || *number.get_ref() <= 0.0)
        {
            let message =
                format!("{} is not a valid figure: errors are relative, so it must be above 0", number.get_ref());
            mistakes.push(Diagnostic::new("published::range", number.span(), message));
        }
        let bound = |number: &Option<Spanned<f64>>| number.as_ref().map(|number| *number.get_ref());
        let most = |value, inclusive| Most { value, inclusive };
        let at_most =
            bound(&self.at_most).map(|value| most(value, true)).or(bound(&self.below).map(|value| most(value, false)));
        let at_least = bound(&self.at_least);
        match numbers.map(Option::is_some) {
            [true, false, false, false, false] => bound(&self.value).map(|value| Expect::Value { value, about: false }),
            [false, true, false, false, false] => bound(&self.about).map(|value| Expect::Value { value, about: true }),
            [false, false, _, true, false] | [false, false, _, false, true] | [false, false, true, false, false] => {
                if let (Some(least), Some(most)) = (at_least, at_most)
                    && least >= most.value
                {
                    let message = format!("nothing is at least {least} and at most {}", most.value);
                    mistakes.push(Diagnostic::new("published::range", self.id.span(), message).label("in this figure"));
                }
                Some(Expect::Bounds { at_least, at_most })
            }
            [false, false, false, false, false] => None,
            _ => {
                let message = format!("figure `{}` has more than one value", self.id.get_ref());
                let help = "give one of `value`, `about`, or bounds: `at_least` with or without `at_most` or `below`";
                mistakes.push(
                    Diagnostic::new("published::expect", self.id.span(), message).label("in this figure").help(help),
                );
                None
            }
        }
    }
}

/// A share in percent, as a fraction; 0 and a mistake where it is none.
fn share(text: &Spanned<String>, mistakes: &mut Mistakes) -> f64 {
    match parse_share(text.get_ref()) {
        Ok(millionths) => millionths as f64 / 1e6,
        Err(error) => {
            mistakes.push(Diagnostic::new("published::share", text.span(), error.to_string()));
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "review = \"r\"\ntitle = \"t\"\nsource = \"s\"\n[[group]]\ntitle = \"g\"\ntolerance = \"10%\"\n\
                        [[group.series]]\ntitle = \"s\"\nunit = \"IOPS\"\n";

    fn file(figures: &str) -> String {
        format!("{HEAD}figures = [\n{figures}\n]\n")
    }

    #[test]
    fn each_shape_of_figure_is_read_and_judged() {
        //   what is said              met at                  not met at
        for (said, met, not) in [
            ("value = 100", vec![90.0, 100.0, 110.0], vec![89.9, 110.1]),
            ("about = 100", vec![91.0], vec![80.0]),
            ("value = 100, tolerance = \"20%\"", vec![80.0, 120.0], vec![79.0, 121.0]),
            ("at_least = 2.5", vec![2.4999, 2.5, 9e9], vec![2.49]),
            ("below = 0.1", vec![0.099], vec![0.1, 1.0]),
            ("at_most = 0.1", vec![0.1, 0.10001], vec![0.1001, 0.11]),
            ("at_least = 200, at_most = 300", vec![200.0, 300.0], vec![199.0, 301.0]),
        ] {
            let text = file(&format!("{{ id = \"r/a\", use = \"fit\", {said} }},"));
            let published = parse(&text).unwrap();
            let figure = published.figures().next().unwrap();
            let holds = |measured: &f64| figure.expect.unwrap().holds(*measured, figure.tolerance);
            assert!(met.iter().all(holds), "{said}");
            assert!(!not.iter().any(holds), "{said}");
        }
    }

    #[test]
    fn a_bound_that_holds_has_no_error_and_one_that_does_not_is_short_by_a_share() {
        let bounds = Expect::Bounds { at_least: Some(2.0), at_most: Some(Most { value: 4.0, inclusive: true }) };
        assert_eq!((bounds.error(3.0), bounds.error(1.0), bounds.error(5.0)), (0.0, -0.5, 0.25));
    }

    #[test]
    fn labels_are_what_sets_figures_apart() {
        let text = file(
            "{ id = \"r/new/read/512\", use = \"fit\", value = 1 },\n{ id = \"r/new/read/1024\", use = \"fit\", value = 1 },\n\
             { id = \"r/new/read/2048\", use = \"fit\", value = 1, label = \"two\" },",
        );
        let labels: Vec<String> = parse(&text).unwrap().figures().map(|figure| figure.label.clone()).collect();
        assert_eq!(labels, ["512", "1024", "two"]);
    }

    #[test]
    fn mistakes_are_told_with_their_place_and_what_would_be_right() {
        for (figures, code, words) in [
            ("{ id = \"r/a\", use = \"fit\", valeu = 1 },", "published::syntax", "unknown field `valeu`"),
            ("{ id = \"r/a\", use = \"fti\", value = 1 },", "published::use", "`fti` is not a use"),
            ("{ id = \"A b\", use = \"fit\", value = 1 },", "published::id", "`A b` does not name a figure"),
            ("{ id = \"r/a\", use = \"fit\", value = 1, below = 2 },", "published::expect", "more than one value"),
            ("{ id = \"r/a\", use = \"fit\", value = 0 },", "published::range", "above 0"),
            ("{ id = \"r/a\", use = \"fit\", at_least = 3, below = 2 },", "published::range", "at least 3"),
            ("{ id = \"r/a\", use = \"fit\", value = 1, odd = \"why\" },", "published::use", "odd"),
            ("{ id = \"r/a\", use = \"fit\" },", "published::use", "without a number"),
            ("{ id = \"r/a\", use = \"check\", value = 1, tolerance = \"ten\" },", "published::share", "not a number"),
            ("{ id = \"r/a\", use = \"check\", value = \"1\" },", "published::syntax", "invalid type"),
            (
                "{ id = \"r/a\", use = \"fit\", value = 1 },\n{ id = \"r/a\", use = \"fit\", value = 1 },",
                "published::duplicate",
                "two figures `r/a`",
            ),
        ] {
            let text = file(figures);
            let mistakes = parse(&text).expect_err(figures);
            let first = &mistakes[0];
            assert_eq!(first.code, code, "{figures}: {mistakes:?}");
            assert!(first.message.contains(words), "{figures}: {first}");
            assert!(!text[first.span.clone()].is_empty(), "{figures}: the place is underlined");
        }
    }

    #[test]
    fn more_figures_cannot_be_asked_for_than_are_judged() {
        let text = file(
            "{ id = \"r/a\", use = \"fit\", value = 1 },\n{ id = \"r/b\", use = \"check\", value = 1, odd = \"o\" },",
        )
        .replace("tolerance", "within = 2\ntolerance");
        assert!(parse(&text).unwrap_err()[0].message.contains("the group has 1"));
    }
}

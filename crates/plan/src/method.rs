//! How a published review is repeated: plans on several drives, and which figure each cell gives.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use serde::Deserialize;
use serde_spanned::Spanned;
use toml::de::{DeTable, DeValue};

use super::body::unknown_key;
use super::diagnostic::{Diagnostic, Mistakes};
use super::draft::Draft;
use super::parse::{Form, PlanDraft, PlanLength};
use super::value::{Value, wrong_type};
use super::{Axis, Passes, Phase, Plan, Site};
use crate::Metric;

/// How a published review is repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// The word by which the review is asked for.
    pub name: String,
    /// What is done, where it departs from the review, and why.
    pub about: String,
    /// What is done on each drive or rig.
    pub parts: Vec<MethodPart>,
    /// Figures that are sums of others.
    pub totals: Vec<Total>,
    /// The text it was read from.
    pub text: String,
}

/// What is done on one drive or rig, from new, step by step; each step leaves its traces for the next.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodPart {
    /// Its name, unique in the method.
    pub name: String,
    /// What it is done on: `x25-m`, `x25-m?link.rate=150 MB/s`.
    pub target: String,
    /// The steps.
    pub plan: Plan,
    /// The figures that its cells give.
    pub yields: Vec<Yield>,
}

/// A figure that a cell gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Yield {
    pub step: String,
    /// The cell's key; empty where nothing is swept.
    pub cell: String,
    /// What of the measurement it is.
    pub quantity: Metric,
    /// The figure.
    pub id: String,
}

/// A figure that is a sum of others: `(of − minus − idle + plus) × times`.
///
/// A name that ends in `*` stands for all figures that begin so.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Total {
    /// The figure.
    pub id: String,
    /// The figures that are added.
    pub of: Vec<String>,
    /// The figures that are taken away.
    #[serde(default)]
    pub minus: Vec<String>,
    /// A power and a time whose product is taken away, as what a drive would have used idle.
    pub idle: Option<[String; 2]>,
    /// What is added besides, as the time that a processor takes.
    #[serde(default)]
    pub plus: f64,
    /// What the sum is multiplied by, as to change the unit.
    #[serde(default = "once")]
    pub times: f64,
}

const fn once() -> f64 {
    1.0
}

impl Total {
    /// The figures that go into it.
    pub fn parts(&self) -> impl Iterator<Item = &String> {
        self.of.iter().chain(&self.minus).chain(self.idle.iter().flatten())
    }

    /// The sum; none where something that goes into it was not measured.
    pub fn sum(&self, measured: &BTreeMap<String, f64>) -> Option<f64> {
        let value = |id: &String| match id.strip_suffix('*') {
            None => measured.get(id).copied(),
            Some(start) => {
                let all = measured.range(start.to_owned()..).take_while(|(id, _)| id.starts_with(start));
                all.map(|(_, value)| *value).reduce(|sum, value| sum + value)
            }
        };
        let sum = |ids: &[String]| ids.iter().map(value).sum::<Option<f64>>();
        let idle = match &self.idle {
            Some([power, time]) => value(power)? * value(time)?,
            None => 0.0,
        };
        Some((sum(&self.of)? - sum(&self.minus)? - idle + self.plus) * self.times)
    }
}

/// The keys of a method.
const METHOD: [&str; 4] = ["name", "about", "part", "total"];
/// The keys of a part.
const PART: [&str; 7] = ["name", "title", "about", "target", "for", "workload", "step"];

/// What is read besides the plans' own keys.
#[derive(Deserialize)]
struct MethodFile {
    name: String,
    #[serde(default)]
    about: String,
    part: Vec<PartFile>,
    #[serde(default)]
    total: Vec<Total>,
}

/// Each value of `for` makes a part: its word goes into names and figures, its value into the target.
#[derive(Deserialize)]
struct PartFile {
    target: Spanned<String>,
    #[serde(default, rename = "for")]
    each: BTreeMap<String, BTreeMap<String, String>>,
}

/// Reads how a review is repeated.
///
/// # Errors
/// All mistakes that can be found in one go, in the order of the text.
pub fn parse_method(text: &str) -> Result<Method, Vec<Diagnostic>> {
    let syntax = |span: Option<Range<usize>>, message: &str| {
        Diagnostic::new("method::syntax", span.unwrap_or(text.len()..text.len()), message).label("here")
    };
    let file: MethodFile = toml::from_str(text).map_err(|error| vec![syntax(error.span(), error.message())])?;
    let document = DeTable::parse(text).map_err(|error| vec![syntax(error.span(), error.message())])?;
    let mut mistakes = Mistakes::default();
    for key in document.get_ref().keys().filter(|key| !METHOD.contains(&key.get_ref().as_ref())) {
        mistakes.push(unknown_key(key.get_ref(), key.span(), &METHOD, "a method"));
    }
    let tables: &[Value] = match document.get_ref().get("part").map(|parts| parts.get_ref()) {
        Some(DeValue::Array(parts)) => parts,
        _ => &[],
    };
    let mut parts = Vec::new();
    for (part, table) in file.part.iter().zip(tables) {
        match table.get_ref() {
            DeValue::Table(steps) => parts.extend(part.read(steps, table.span(), text, &mut mistakes)),
            _ => mistakes.push(wrong_type(table, "a table")),
        }
    }
    check_once(&parts, &mut mistakes);
    if mistakes.count() > 0 {
        return Err(mistakes.into_sorted());
    }
    let about = file.about.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = parts.into_iter().map(|(part, _)| part).collect();
    Ok(Method { name: file.name, about, parts, totals: file.total, text: text.to_owned() })
}

/// That no two parts have one name, and no two cells give one figure.
fn check_once(parts: &[(MethodPart, Range<usize>)], mistakes: &mut Mistakes) {
    let mut names: HashMap<&str, Range<usize>> = HashMap::new();
    let mut seen: HashMap<&str, Range<usize>> = HashMap::new();
    for (part, place) in parts {
        if let Some(first) = names.insert(&part.name, place.clone()) {
            let message = format!("there are two parts `{}`", part.name);
            let mistake = Diagnostic::new("method::duplicate-part", place.clone(), message).label("again");
            mistakes.push(mistake.also(first, "first here").help("give each its own name"));
        }
        for Yield { id, .. } in &part.yields {
            if let Some(first) = seen.insert(id, place.clone()) {
                let message = format!("two points yield `{id}`");
                let help = "put the swept parameter into the figure's name, such as `{bs}`";
                let mistake = Diagnostic::new("method::figure", place.clone(), message).label("in this part");
                let elsewhere = first != *place;
                let mistake = if elsewhere { mistake.also(first, "and in this") } else { mistake };
                mistakes.push(mistake.help(help));
            }
        }
    }
}

impl PartFile {
    /// The parts that this makes, each with its place; none where its steps make no sense.
    fn read(
        &self,
        steps: &DeTable,
        place: Range<usize>,
        text: &str,
        mistakes: &mut Mistakes,
    ) -> Vec<(MethodPart, Range<usize>)> {
        let before = mistakes.count();
        let form = Form { keys: &PART, what: "a part", place: place.clone(), yields: true, experiments: &[] };
        let draft = PlanDraft::read(steps, &form, mistakes);
        let plan = draft.plan(text, PlanLength::Full, mistakes);
        for step in &plan.steps {
            let work = step.work(&Site::ANY);
            if let Passes::Sampled(measure) = work.passes {
                if let Some(axis) = measure.axes.iter().find(|axis| matches!(axis, Axis::Part(_))) {
                    let message = format!("step `{}` sweeps `{}`, which changes the drive", step.name, axis.name());
                    let help = "a part is one drive from beginning to end: put the change into its `target`, and the \
                                values into `for`";
                    mistakes.push(refused(&place, message, help));
                }
                if measure.axes.contains(&Axis::Job) {
                    let message = format!(
                        "step `{}` runs jobs concurrently, which a repeated review does not support",
                        step.name
                    );
                    let help =
                        "give the jobs steps of their own, or one step a mixed pattern such as `rw = \"randrw\"`";
                    mistakes.push(refused(&place, message, help));
                }
            } else if !matches!(work.passes, Passes::Once) || work.kept().is_some() {
                let message =
                    format!("step `{}` changes the drive's state, which a repeated review does not support", step.name);
                let help = "write a measuring step with `runtime`, `number_ios` or `io_size`; it changes the drive's state too";
                mistakes.push(refused(&place, message, help));
            }
        }
        if mistakes.count() > before {
            return Vec::new();
        }
        let mut made = Vec::new();
        for words in choices(&self.each) {
            let put = |template: &str, of: fn(&(&str, &str, &str)) -> String| {
                words.iter().fold(template.to_owned(), |text, word| text.replace(&format!("{{{}}}", word.0), &of(word)))
            };
            let target = put(self.target.get_ref(), |word| word.2.to_owned());
            if let Some(mistake) = left_open(&target, &self.target.span()) {
                mistakes.push(mistake);
            }
            let mut yields = Vec::new();
            for (given, span) in draft.steps.iter().flat_map(|draft| given(draft, &plan, mistakes)).collect::<Vec<_>>()
            {
                let id = put(&given.id, |word| word.1.to_owned());
                if let Some(mistake) = left_open(&id, &span) {
                    mistakes.push(mistake);
                }
                yields.push(Yield { id, ..given });
            }
            let suffix: String = words.iter().map(|word| format!("/{}", word.1)).collect();
            let name = format!("{}{suffix}", plan.name);
            made.push((MethodPart { name, target, plan: plan.clone(), yields }, place.clone()));
        }
        made
    }
}

/// Every choice of one entry of each table: name, word and value.
fn choices(each: &BTreeMap<String, BTreeMap<String, String>>) -> Vec<Vec<(&str, &str, &str)>> {
    let mut choices: Vec<Vec<(&str, &str, &str)>> = vec![Vec::new()];
    for (name, values) in each {
        let with = |choice: &Vec<_>| {
            let more = values.iter().map(|(word, value)| (name.as_str(), word.as_str(), value.as_str()));
            more.map(|entry| [&choice[..], &[entry]].concat()).collect::<Vec<_>>()
        };
        choices = choices.iter().flat_map(with).collect();
    }
    choices
}

/// The figures of a step's cells with the place of each, the words of `for` still to be put in.
fn given(draft: &Draft, plan: &Plan, mistakes: &mut Mistakes) -> Vec<(Yield, Range<usize>)> {
    let mut given = Vec::new();
    let work = plan.steps.iter().find(|step| step.name == draft.name).map(|step| step.work(&Site::ANY));
    let (cells, rests) = work.as_ref().map_or((Vec::new(), false), |work| {
        (work.cells().collect(), work.phases.iter().all(|phase| matches!(phase, Phase::Rest(_))))
    });
    for yielded in &draft.yields {
        let quantity = yielded.quantity;
        let mut give = |cell: String, id: String| {
            given.push((Yield { step: draft.name.clone(), cell, quantity, id }, yielded.span.clone()));
        };
        for cell in &cells {
            let put = |id: String, name: &str, value: &str| id.replace(&format!("{{{name}}}"), value);
            let swept = cell.point.iter();
            let id = swept.fold(yielded.template.clone(), |id, (axis, value)| put(id, axis.name(), value));
            give(cell.key(), id);
        }
        match cells.is_empty() {
            false => {}
            true if rests && matches!(quantity, Metric::Energy | Metric::Power) => {
                give(String::new(), yielded.template.clone());
            }
            true => mistakes.push(
                Diagnostic::new("method::figure", yielded.span.clone(), "this step does not measure that")
                    .help("requests are counted by steps that measure; an `idle` step yields `energy` and `power`"),
            ),
        }
    }
    given
}

/// The mistake that a part has a step which cannot be repeated.
fn refused(place: &Range<usize>, message: String, help: &'static str) -> Diagnostic {
    Diagnostic::new("method::step", place.clone(), message).label("in this part").help(help)
}

/// The mistake that a placeholder has nothing to stand for.
fn left_open(text: &str, span: &Range<usize>) -> Option<Diagnostic> {
    let (_, rest) = text.split_once('{')?;
    let name = rest.split('}').next().unwrap_or(rest);
    let mistake = Diagnostic::new("method::placeholder", span.clone(), format!("`{{{name}}}` has no value"));
    Some(mistake.help("name a field that the step sweeps, as `{bs}`, or an entry of the part's `for`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: &str = "[[part.step]]\nname = \"s\"\nrw = \"randread\"\nnumber_ios = 10\nsweep.bs = [\"4k\", \"8k\"]\n";

    fn method(part: &str, step: &str) -> String {
        format!("name = \"r\"\n[[part]]\nname = \"p\"\n{part}\n{STEP}{step}\n")
    }

    #[test]
    fn each_cell_yields_its_figure_on_each_drive() {
        let part = "target = \"{drive}?link.rate={link}\"\nfor.drive = { a = \"x25-m\", b = \"x25-e\" }\n\
                    for.link = { 3g = \"300 MB/s\" }";
        let text = method(part, "yields = { iops = \"r/{drive}/{link}/{bs}\", elapsed = \"r/{drive}/time/{bs}\" }");
        let method = parse_method(&text).unwrap();
        let parts: Vec<(&str, &str)> = method.parts.iter().map(|part| (&*part.name, &*part.target)).collect();
        assert_eq!(parts, [("p/a/3g", "x25-m?link.rate=300 MB/s"), ("p/b/3g", "x25-e?link.rate=300 MB/s")]);
        let ids: Vec<&str> = method.parts[1].yields.iter().map(|yielded| &*yielded.id).collect();
        assert_eq!(ids, ["r/b/3g/4k", "r/b/3g/8k", "r/b/time/4k", "r/b/time/8k"]);
        assert_eq!(method.parts[1].yields[1].cell, "bs=8k");
    }

    #[test]
    fn totals_add_take_away_and_scale() {
        let measured: BTreeMap<String, f64> =
            [("r/a/1", 10.0), ("r/a/2", 20.0), ("r/b", 4.0), ("r/w", 0.5)].map(|(id, v)| (id.to_owned(), v)).into();
        let total = |text: &str| toml::from_str::<Total>(&format!("id = \"r/t\"\n{text}")).unwrap().sum(&measured);
        assert_eq!(total("of = [\"r/a/*\"]\nminus = [\"r/b\"]\nplus = 2\ntimes = 0.5"), Some(14.0));
        assert_eq!(total("of = [\"r/a/1\"]\nidle = [\"r/w\", \"r/b\"]"), Some(8.0));
        assert_eq!(total("of = [\"r/a/1\", \"r/c\"]"), None, "one of them was not measured");
        assert_eq!(total("of = [\"r/d/*\"]"), None, "none was measured");
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let target = "target = \"x25-m\"";
        for (part, step, code, words) in [
            (target, "yields.iops = \"r/x\"", "method::figure", "two points yield `r/x`"),
            (target, "yields.iops = \"r/{drive}/{bs}\"", "method::placeholder", "`{drive}`"),
            ("target = \"{x}\"", "yields.iops = \"r/{bs}\"", "method::placeholder", "`{x}`"),
            (
                target,
                "yields.iops = \"r/{bs}\"\n[[part.step]]\nname = \"t\"\nsame-as = \"s\"\nsweep.iodepth = [1, 2]\nbs = \"4k\"\nyields.iops = \"r/{bs}/{iodepth}\"",
                "method::placeholder",
                "`{bs}`",
            ),
            (
                target,
                "[[part]]\nname = \"p\"\ntarget = \"x\"\n[[part.step]]\nname = \"s\"\ndo = \"fill\"",
                "method::duplicate-part",
                "two parts `p`",
            ),
            (target, "yields.iosp = \"r/{bs}\"", "plan::unknown-field", "`iosp`"),
            (target, "yeilds.iops = \"r/{bs}\"", "plan::unknown-field", "`yeilds`"),
            ("trget = \"x25-m\"", "", "method::syntax", "missing field `target`"),
            ("target = \"x25-m\"\nrepeats = 5", "", "plan::unknown-field", "`repeats`"),
            (
                target,
                "[[part.step]]\nname = \"i\"\ndo = \"idle\"\ntime = \"1s\"\nyields.iops = \"r/i\"",
                "method::figure",
                "does not measure that",
            ),
            (
                target,
                "[[part.step]]\nname = \"c\"\ndo = \"condition\"\nrw = \"randwrite\"\nround = \"1s\"\nat-most = \"2s\"",
                "method::step",
                "changes the drive's state",
            ),
            (target, "[[total]]\nid = \"r/t\"\nfo = [\"r/a\"]\nof = []", "method::syntax", "unknown field `fo`"),
        ] {
            let text = method(part, step);
            let mistakes = parse_method(&text).expect_err(words);
            let first = &mistakes[0];
            assert_eq!(first.code, code, "{step}: {mistakes:?}");
            assert!(first.message.contains(words), "{step}: {first}");
        }
    }

    #[test]
    fn an_ordinary_plan_yields_no_published_figures() {
        let text = method("target = \"x\"", "yields.iops = \"r/{bs}\"");
        let plan = text.replace("[[part]]\nname = \"p\"\ntarget = \"x\"\n", "").replace("part.step", "step");
        let mistakes = crate::parse(&plan, PlanLength::Full, &[]).unwrap_err();
        assert!(mistakes[0].message.contains("`yields`"), "{mistakes:?}");
    }
}

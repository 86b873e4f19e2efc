//! A step as it was written, before defaults and `--quick` are laid under and over it.

use std::collections::HashMap;
use std::ops::Range;

use block::suggestion;
use toml::de::DeTable;

use super::body::{Body, unknown_key};
use super::diagnostic::{Diagnostic, Mistakes};
use super::jobs::{JobDraft, read as read_jobs};
use super::kind::Kind;
use super::rounds::{by, watch};
use super::sweep::{CELLS_MAX, Swept, read as read_sweep, size};
use super::trials::TrialDraft;
use super::value::{Value, entries, prose, table, text};
use super::{Axis, Experiments, Field};
use crate::Metric;

/// A step as it was written.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// The word that names it.
    pub(super) name: String,
    /// What to show for the step as a whole: its name, or its header where it has none.
    pub(super) place: Range<usize>,
    /// What it is, for the report.
    pub(super) title: String,
    /// Why, for the report.
    pub(super) about: Option<String>,
    /// What it does; none where that could not be read.
    pub(super) kind: Option<Kind>,
    /// Its numbers.
    pub(super) body: Body,
    /// Those that differ under `--quick`.
    pub(super) quick: Body,
    /// Those that differ on a simulated drive.
    pub(super) simulated: Body,
    /// The cells that decide whether rounds are steady, with the place of each.
    pub(super) watch: Vec<(String, Range<usize>)>,
    /// The figure by which they do.
    pub(super) by: Option<Metric>,
    /// What runs side by side; empty where the step is one workload.
    pub(super) jobs: Vec<JobDraft>,
    /// What it sweeps, in order.
    pub(super) axes: Vec<Swept>,
    /// What it is told, if it tries something above the drive.
    pub(super) trial: Option<Box<TrialDraft>>,
    /// The step beside which it is shown.
    pub(super) beside: Option<String>,
    /// The step whose most IOPS its loads are shares of.
    pub(super) load_of: Option<String>,
    /// The published figures that it yields.
    pub(super) yields: Vec<YieldDraft>,
    /// Whether all of it could be read.
    pub(super) sound: bool,
}

/// A published figure that each cell of a step yields, as it was written.
#[derive(Clone, Debug)]
pub(super) struct YieldDraft {
    /// What of the measurement it is.
    pub(super) quantity: Metric,
    /// The figure's name, with what is swept in braces.
    pub(super) template: String,
    /// Where the name stands.
    pub(super) span: Range<usize>,
}

/// Reads the steps of a plan one after another.
pub(super) struct Drafts<'m> {
    /// The trials that a step can ask for.
    experiments: Experiments,
    /// The steps read so far.
    pub(super) read: Vec<Draft>,
    mistakes: &'m mut Mistakes,
    /// Every step's name in the whole plan, with its first place in the list and in the text.
    names: HashMap<String, (usize, Range<usize>)>,
    /// Whether steps may say which published figures they yield.
    yields: bool,
    cells: usize,
}

impl<'m> Drafts<'m> {
    /// Reads all of `steps`, as many drafts as there are entries; with `yields`, also the figures that they yield.
    pub(super) fn read(
        steps: &[Value],
        yields: bool,
        experiments: Experiments,
        mistakes: &'m mut Mistakes,
    ) -> Vec<Draft> {
        let mut names = HashMap::new();
        for (index, step) in steps.iter().enumerate() {
            if let Some(value) = step.get_ref().get("name")
                && let Some(name) = value.get_ref().as_str()
            {
                names.entry(name.to_owned()).or_insert((index, value.span()));
            }
        }
        let mut drafts = Self { experiments, read: Vec::new(), mistakes, names, yields, cells: 0 };
        for step in steps {
            drafts.step(step);
        }
        drafts.read
    }

    fn step(&mut self, step: &Value) {
        let before = self.mistakes.count();
        let mut draft = Draft {
            name: String::new(),
            place: step.span(),
            title: String::new(),
            about: None,
            kind: None,
            body: Body::default(),
            quick: Body::default(),
            simulated: Body::default(),
            watch: Vec::new(),
            by: None,
            jobs: Vec::new(),
            axes: Vec::new(),
            trial: None,
            beside: None,
            load_of: None,
            yields: Vec::new(),
            sound: true,
        };
        if let Some(table) = table(step, self.mistakes) {
            self.name(table, &mut draft);
            self.words(table, &mut draft);
            if let Some(kind) = self.kind(table) {
                draft.kind = Some(kind);
                self.numbers(table, kind, &mut draft);
                self.references(table, &mut draft);
            }
        }
        draft.sound &= draft.kind.is_some() && self.mistakes.count() == before;
        self.read.push(draft);
    }

    /// The step's name, which no earlier step may have.
    fn name(&mut self, table: &DeTable, draft: &mut Draft) {
        let Some(value) = table.get("name") else {
            let missing = Diagnostic::new("plan::missing", draft.place.clone(), "this step has no name");
            return self.mistakes.push(missing.label("in this step").help("add `name = \"…\"`"));
        };
        let Some(name) = self.mistakes.keep(word(value)) else { return };
        draft.place = value.span();
        if let Some((first, span)) = self.names.get(&name)
            && *first < self.read.len()
        {
            self.mistakes.push(
                Diagnostic::new("plan::duplicate-step", value.span(), format!("there are two steps `{name}`"))
                    .label("again")
                    .also(span.clone(), "first here")
                    .help("results are stored by step name: give each its own"),
            );
        }
        draft.name = name;
    }

    fn words(&mut self, table: &DeTable, draft: &mut Draft) {
        let title = table.get("title").and_then(|value| self.mistakes.keep(prose(value)));
        draft.title = title.unwrap_or_else(|| title_of(&draft.name));
        draft.about = table.get("about").and_then(|value| self.mistakes.keep(prose(value)));
    }

    /// What the step does: `measure` where it does not say.
    fn kind(&mut self, table: &DeTable) -> Option<Kind> {
        let Some(value) = table.get("do") else { return Kind::unsaid() };
        let name = self.mistakes.keep(text(value))?;
        let kind = Kind::named(&name, self.experiments);
        if kind.is_none() {
            let unknown = Diagnostic::new("plan::unknown-kind", value.span(), format!("unknown kind of step `{name}`"));
            self.mistakes.push(unknown.help(suggestion(&name, &Kind::names(self.experiments))));
        }
        kind
    }

    /// All numbers of the step, its quick ones, and what it sweeps.
    fn numbers(&mut self, step: &DeTable, kind: Kind, draft: &mut Draft) {
        let mut known = kind.keys();
        known.extend(self.yields.then_some("yields"));
        self.check_keys(step, &known, kind, "");
        if let Some(value) = step.get("yields").filter(|_| self.yields) {
            draft.yields = self.yields(value);
        }
        if let Some(experiment) = kind.experiment {
            draft.trial = Some(Box::new(TrialDraft::read(step, experiment, self.mistakes)));
            return;
        }
        draft.body = Body::read(step, &kind.numbers(), self.mistakes);
        draft.quick = self.overlay(step, "quick", kind);
        draft.simulated = self.overlay(step, "simulated", kind);
        if let Some(value) = step.get("sweep").filter(|_| kind.takes("sweep"))
            && let Some(sweep) = table(value, self.mistakes)
        {
            draft.axes = read_sweep(sweep, value.span(), self.mistakes);
        }
        if let Some(value) = step.get("job").filter(|_| kind.takes("job")) {
            draft.jobs = read_jobs(value, self.mistakes);
        }
        if kind.takes("watch") {
            draft.watch = step.get("watch").map(|value| watch(value, self.mistakes)).unwrap_or_default();
            draft.by = step.get("by").and_then(|value| self.mistakes.keep(by(value)));
        }
        self.check_once(draft);
    }

    /// The numbers of a step that are others under `--quick` or on a simulated drive.
    fn overlay(&mut self, step: &DeTable, name: &str, kind: Kind) -> Body {
        let value = step.get(name).filter(|_| kind.takes(name));
        let Some(overlay) = value.and_then(|value| table(value, self.mistakes)) else { return Body::default() };
        self.check_keys(overlay, &kind.numbers(), kind, &format!("`{name}` of "));
        Body::read(overlay, &kind.numbers(), self.mistakes)
    }

    /// The figures of `yields`, by what of the measurement each is.
    fn yields(&mut self, value: &Value) -> Vec<YieldDraft> {
        let Some(yields) = table(value, self.mistakes) else { return Vec::new() };
        let mut read = Vec::new();
        for (name, span, value) in entries(yields) {
            match (Metric::named(name), self.mistakes.keep(text(value))) {
                (Some(quantity), Some(template)) => read.push(YieldDraft { quantity, template, span: value.span() }),
                (None, _) => self.mistakes.push(unknown_key(name, span, &Metric::names(), "`yields`")),
                (Some(_), None) => {}
            }
        }
        read
    }

    fn check_keys(&mut self, table: &DeTable, known: &[&str], kind: Kind, part: &str) {
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let (name, place) = (key.get_ref().as_ref(), format!("{part}a `{}` step", kind.name()));
            let others = Kind::that_take(name, self.experiments);
            let mistake = unknown_key(name, key.span(), known, &place);
            self.mistakes.push(match name {
                "runtime" if kind.takes("round") => mistake.help("the length of a round is `round`"),
                _ if others.is_empty() || others.contains(&kind.name()) => mistake,
                _ => {
                    let (last, rest) = others.split_last().expect("some take it");
                    let more = if rest.is_empty() { String::new() } else { format!("`{}` and ", rest.join("`, `")) };
                    mistake.help(format!("only {more}`{last}` steps take it"))
                }
            });
        }
    }

    /// That no field is both swept and fixed, and no swept size hidden by several.
    fn check_once(&mut self, draft: &Draft) {
        // What decides when requests arrive.
        const ARRIVAL: [Field; 3] = [Field::RateIops, Field::Rate, Field::Thinktime];
        let fields_of = |swept: &Swept| match &swept.axis {
            Axis::Load => ARRIVAL.to_vec(),
            axis => axis.field().into_iter().collect(),
        };
        let all = draft.axes.iter().flat_map(|swept| fields_of(swept).into_iter().map(move |field| (swept, field)));
        for (swept, field) in all {
            let fixed = || std::iter::once(&draft.body.fields).chain(draft.jobs.iter().map(|job| &job.fields));
            let quick = [&draft.quick.fields, &draft.simulated.fields]
                .into_iter()
                .chain(draft.jobs.iter().map(|job| &job.quick));
            for setting in fixed().filter_map(|fields| fields.get(Field::Bssplit)).filter(|_| field == Field::Bs) {
                self.mistakes.push(
                    Diagnostic::new("plan::given-twice", setting.span.clone(), "`bssplit` overrides the swept `bs`")
                        .label("fixed here")
                        .also(swept.span.clone(), "swept here")
                        .help("leave one of them out"),
                );
            }
            for fields in fixed().chain(quick) {
                if let Some(setting) = fields.get(field) {
                    let message = match swept.axis {
                        Axis::Load => format!("`load` sweeps the arrival rate, and `{}` fixes it", field.name()),
                        _ => format!("`{}` is both swept and fixed", field.name()),
                    };
                    self.mistakes.push(
                        Diagnostic::new("plan::given-twice", setting.span.clone(), message)
                            .label("fixed here")
                            .also(swept.span.clone(), "swept here")
                            .help("leave one of them out"),
                    );
                }
            }
        }
    }

    /// What the step takes from earlier ones, and that its cells are not too many.
    fn references(&mut self, table: &DeTable, draft: &mut Draft) {
        let measures = draft.kind.is_some_and(|kind| kind.takes("same-as"));
        let own_sweep = table.contains_key("sweep");
        if let Some(value) = table.get("same-as").filter(|_| measures)
            && let Some(earlier) = self.earlier(value)
        {
            let titled = table.contains_key("title");
            inherit(draft, self.read[earlier].clone(), own_sweep, titled);
            self.check_once(draft);
        }
        self.count_cells(draft);
        let load_of = table.get("load-of").filter(|_| measures);
        if let Some(earlier) = load_of.and_then(|value| self.earlier(value)) {
            draft.load_of = Some(self.read[earlier].name.clone());
        }
        self.check_load(draft, load_of);
        if let Some(value) = table.get("beside").filter(|_| measures)
            && let Some(earlier) = self.earlier(value)
        {
            self.check_beside(value, earlier, draft);
            draft.beside = Some(self.read[earlier].name.clone());
        }
    }

    /// The place of the earlier measuring step that `value` names.
    fn earlier(&mut self, value: &Value) -> Option<usize> {
        let name = self.mistakes.keep(text(value))?;
        let mistake = |message: String| Diagnostic::new("plan::reference", value.span(), message).label("named here");
        let here = self.read.len();
        let measures = |kind: Kind| kind.takes("same-as");
        let mistake = match self.names.get(&name) {
            None => {
                let known: Vec<&str> =
                    self.read.iter().filter(|step| step.kind.is_some_and(measures)).map(|step| &*step.name).collect();
                let mistake = mistake(format!("there is no step `{name}`"));
                if known.is_empty() { mistake } else { mistake.help(suggestion(&name, &known)) }
            }
            Some((index, _)) if *index == here => {
                mistake(format!("step `{name}` names itself")).help("name an earlier step that measures")
            }
            Some((index, span)) if *index > here => mistake(format!("step `{name}` comes later"))
                .also(span.clone(), "it is here")
                .help("name an earlier step, or move this one behind it"),
            Some((index, span)) => match self.read[*index].kind {
                Some(kind) if measures(kind) => return Some(*index),
                None => return None,
                Some(kind) => mistake(format!("step `{name}` does not measure: it is a `{}` step", kind.name()))
                    .also(span.clone(), "it is here")
                    .help("name an earlier step that measures"),
            },
        };
        self.mistakes.push(mistake);
        None
    }

    /// That a load is swept where it is said of what, and only there.
    fn check_load(&mut self, draft: &Draft, of: Option<&Value>) {
        let swept = draft.axes.iter().find(|swept| swept.axis == Axis::Load);
        let mistake = match (swept, of) {
            (Some(swept), None) if draft.load_of.is_none() => Diagnostic::new(
                "plan::missing",
                swept.span.clone(),
                "`load` needs the step whose maximum IOPS it is a share of",
            )
            .help("name an earlier step that measures: `load-of = \"depth-read\"`"),
            (None, Some(of)) => Diagnostic::new("plan::reference", of.span(), "no load is swept")
                .help("sweep it: `sweep.load = [\"50%\", \"100%\"]`"),
            _ => return,
        };
        self.mistakes.push(mistake);
    }

    /// That figures can be shown side by side: the sweeps must be alike.
    fn check_beside(&mut self, value: &Value, earlier: usize, draft: &Draft) {
        let other = &self.read[earlier];
        let alike = other.axes.len() == draft.axes.len()
            && other.axes.iter().zip(&draft.axes).all(|(other, mine)| other.matches(mine))
            && other.jobs.iter().map(|job| &job.name).eq(draft.jobs.iter().map(|job| &job.name));
        if other.sound && draft.sound && !alike {
            let message = format!("step `{}` sweeps points different from this one's", other.name);
            let mistake = Diagnostic::new("plan::beside", value.span(), message)
                .label("compared with these")
                .help(format!("write `same-as = \"{}\"` in place of this step's own sweep", other.name));
            self.mistakes.push(match other.axes.first().map(|swept| swept.span.clone()) {
                Some(span) => mistake.also(span, "its points"),
                None => mistake.also(other.place.clone(), "it sweeps nothing"),
            });
        }
    }

    fn count_cells(&mut self, draft: &mut Draft) {
        let points = draft.trial.as_ref().map_or_else(|| size(&draft.axes), |trial| trial.size());
        let points = points.and_then(|points| points.checked_mul(draft.jobs.len().max(1)));
        let total = points.and_then(|cells| cells.checked_add(self.cells));
        match total {
            Some(total) if total <= CELLS_MAX => self.cells = total,
            _ => {
                draft.axes.clear();
                let span = draft.place.clone();
                let message = format!("with this step the plan has more than {CELLS_MAX} points");
                self.mistakes.push(
                    Diagnostic::new("plan::too-many-cells", span, message)
                        .label("in this step")
                        .help("sweep fewer values, or split the plan"),
                );
            }
        }
    }
}

/// Lays `draft` over what `earlier` says: own numbers override, an own sweep replaces the whole sweep.
fn inherit(draft: &mut Draft, mut earlier: Draft, own_sweep: bool, titled: bool) {
    if own_sweep {
        for field in draft.axes.iter().filter_map(|swept| swept.axis.field()) {
            earlier.body.fields.clear(field);
            earlier.quick.fields.clear(field);
            earlier.simulated.fields.clear(field);
            earlier.jobs.iter_mut().for_each(|job| job.clear(field));
        }
    } else {
        let is_fixed = |swept: &Swept| swept.axis.field().is_some_and(|field| draft.body.fields.get(field).is_some());
        earlier.axes.retain(|swept| !is_fixed(swept));
        draft.axes = earlier.axes;
    }
    if draft.jobs.is_empty() {
        draft.jobs = earlier.jobs;
    }
    draft.load_of = draft.load_of.take().or(earlier.load_of);
    draft.body = draft.body.over(&earlier.body);
    draft.quick = draft.quick.over(&earlier.quick);
    draft.simulated = draft.simulated.over(&earlier.simulated);
    draft.sound &= earlier.sound;
    if !titled {
        draft.title = earlier.title;
    }
}

/// A name: what is typed on a command line and kept in results.
pub(super) fn word(value: &Value) -> Result<String, Diagnostic> {
    const LONGEST: usize = 64;
    let name = text(value)?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.len() <= LONGEST && name.chars().all(plain) && !name.starts_with('-') {
        return Ok(name);
    }
    Err(Diagnostic::new("plan::name", value.span(), format!("`{name}` is not a name"))
        .help("a name has up to 64 lower-case letters, digits and hyphens: `random-read`"))
}

/// The title of what has none of its own: `random-read` becomes `Random read`.
pub(super) fn title_of(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters.map(|c| if c == '-' { ' ' } else { c })).collect()
}

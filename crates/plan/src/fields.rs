//! The fields of a workload as a plan gives them, each with its place in the text.

use std::ops::Range;

use workload::{BYTES_MAX, Field, FieldError, Invalid, ListError, Mark, Pattern, Workload};

use super::diagnostic::{Diagnostic, split, told};

/// All names of all fields.
pub(super) fn names() -> Vec<&'static str> {
    Field::ALL.into_iter().flat_map(Field::names).collect()
}

/// A field's value as it was written, and where.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// The text of the value, without quotes.
    pub(super) text: String,
    /// Where the value stands.
    pub(super) span: Range<usize>,
}

impl Setting {
    /// The setting, if `field` can hold it.
    pub(super) fn of(field: Field, text: String, span: Range<usize>) -> Result<Self, Diagnostic> {
        let setting = Self { text, span };
        setting.apply(field, &mut Workload::default()).map(|()| setting)
    }

    /// Sets `field` of `workload`.
    pub(super) fn apply(&self, field: Field, workload: &mut Workload) -> Result<(), Diagnostic> {
        field.set(workload, &self.text).map_err(|error| {
            let (message, help) = match &error {
                FieldError::UnknownPattern { found } => (
                    format!("unknown pattern `{found}`"),
                    Some(block::suggestion(found, &Pattern::ALL.map(|(name, _)| name))),
                ),
                FieldError::Quantity(error) | FieldError::List(ListError::Quantity(error)) => told(error),
                error => split(&error.to_string()),
            };
            let mistake = Diagnostic::new("plan::bad-value", self.span.clone(), message);
            Diagnostic { help, ..mistake }
        })
    }
}

/// The fields that were given, each at most once.
#[derive(Clone, Debug)]
pub(super) struct Settings([Option<Setting>; Field::ALL.len()]);

impl Default for Settings {
    fn default() -> Self {
        Self([const { None }; Field::ALL.len()])
    }
}

impl Settings {
    /// Gives a field, in place of what it had.
    pub(super) fn set(&mut self, field: Field, setting: Setting) {
        self.0[field as usize] = Some(setting);
    }

    /// Whether nothing was given.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// Forgets a field.
    pub(super) fn clear(&mut self, field: Field) {
        self.0[field as usize] = None;
    }

    /// What was given for a field.
    pub(super) fn get(&self, field: Field) -> Option<&Setting> {
        self.0[field as usize].as_ref()
    }

    /// Lays these over `under`: what both give, these decide.
    pub(super) fn over(&self, under: &Self) -> Self {
        let under = under.without(Field::ALL.into_iter().filter(|field| self.get(*field).is_some()));
        Self(std::array::from_fn(|i| self.0[i].clone().or_else(|| under.0[i].clone())))
    }

    /// These without what any of `fields` decides besides itself.
    pub(super) fn without(&self, fields: impl Iterator<Item = Field>) -> Self {
        let mut left = self.clone();
        fields.flat_map(Field::decides).for_each(|field| left.clear(field));
        left
    }

    /// `base` with all that was given, if it makes sense together; `step` is the place to show if no field is to blame.
    pub(super) fn workload(&self, base: Workload, step: &Range<usize>) -> Result<Workload, Diagnostic> {
        let mut workload = base;
        for field in Field::ALL {
            if let Some(setting) = self.get(field) {
                setting.apply(field, &mut workload)?;
            }
        }
        self.check_replay()?;
        // What is a share of the target makes sense or not on the largest that there could be.
        match workload.on(BYTES_MAX).check() {
            Ok(()) => Ok(workload),
            Err(error) => Err(self.blame(&error, &workload, step)),
        }
    }

    /// That nothing is given beside a trace that the trace itself decides, and one pace at most: who thinks may do so
    /// at another speed.
    fn check_replay(&self) -> Result<(), Diagnostic> {
        let Some(trace) = self.get(Field::ReadIolog) else { return Ok(()) };
        let given = |field: Field| Some((field, self.get(field)?));
        // How many workers there are is a number that may be right.
        let decided = Field::all(Mark::Traced).filter(|field| *field != Field::Numjobs).find_map(given);
        if let Some((field, setting)) = decided {
            let message = format!("the trace determines what `{}` would", field.name());
            return Err(Diagnostic::new("plan::given-twice", setting.span.clone(), message)
                .also(trace.span.clone(), "the trace")
                .help("leave one of them out"));
        }
        let paces = [Field::ReplayNoStall, Field::ReplayThink, Field::ReplayTimeScale];
        let is_off = |field, setting: &Setting| field != Field::ReplayTimeScale && setting.text == "0";
        let mut paces = paces.into_iter().filter_map(given).filter(|(field, setting)| !is_off(*field, setting));
        if let (Some((first @ Field::ReplayNoStall, other)), Some((second, setting))) = (paces.next(), paces.next()) {
            let message = format!("`{}` and `{}` are two timings of one replay", first.name(), second.name());
            return Err(Diagnostic::new("plan::given-twice", setting.span.clone(), message)
                .also(other.span.clone(), "the other")
                .help("leave one of them out"));
        }
        Ok(())
    }

    /// The mistake at the place of the field that `error` is about.
    fn blame(&self, error: &Invalid, workload: &Workload, step: &Range<usize>) -> Diagnostic {
        let (message, help) = split(&error.to_string());
        let place = error.fields(workload).iter().find_map(|field| self.get(*field));
        let (code, span) = match (error, place) {
            (Invalid::Endless, _) => ("plan::endless", step.clone()),
            (_, Some(setting)) => ("plan::workload", setting.span.clone()),
            (_, None) => ("plan::workload", step.clone()),
        };
        let mistake = Diagnostic::new(code, span, message);
        let mistake = if place.is_none() { mistake.label("in this step") } else { mistake };
        Diagnostic { help, ..mistake }
    }
}

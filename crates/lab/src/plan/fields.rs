//! The fields of a workload, read from text by fio's names.

use std::ops::Range;

use block::{Bytes, Nanos, ParseError, parse_bytes, parse_count, parse_duration, parse_percent};
use thiserror::Error;
use workload::{Invalid, ListError, Pattern, Process, REPLAY_DEPTH, Replay, ReplayPace, Spare, Workload};

use super::diagnostic::{Diagnostic, suggestion};
use super::{Field, profile};

/// The largest size, offset or amount of data: more than any target holds, and far from overflow.
pub(crate) const BYTES_MAX: Bytes = Bytes::from_gib(1 << 30);
/// The longest duration: ten years.
pub(crate) const TIME_MAX: Nanos = Nanos::from_secs(10 * 365 * 86_400);
/// The most requests of a worker.
pub(crate) const COUNT_MAX: u64 = 1_000_000_000_000_000;

/// Why a text is not a value of a field.
#[non_exhaustive]
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FieldError {
    /// There is no such pattern.
    #[error("unknown pattern `{found}`; {}", suggestion(found, &patterns()))]
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

impl Field {
    /// Sets this field of `workload` to what `text` says, in fio's notation.
    ///
    /// Says nothing of whether the fields make sense together: that is [`Workload::check`].
    ///
    /// # Errors
    /// Says what was found and what would be right.
    pub fn set(self, workload: &mut Workload, text: &str) -> Result<(), FieldError> {
        match self {
            Self::Profile => profile::apply(text, workload)?,
            Self::ReadIolog => {
                replay(workload).source = text.to_owned();
                workload.queue_depth = REPLAY_DEPTH;
            }
            Self::ReplayNoStall => {
                if one_of(text, &["0", "1"])? == 1 {
                    replay(workload).pace = ReplayPace::AsFast;
                }
            }
            Self::ReplayThink => {
                if one_of(text, &["0", "1"])? == 1 {
                    let replay = replay(workload);
                    replay.pace = replay.pace.thinking();
                }
            }
            Self::ReplayTimeScale => {
                let percent = small_count(text.strip_suffix('%').unwrap_or(text).trim_end())?;
                let replay = replay(workload);
                replay.pace = replay.pace.at(percent);
            }
            Self::ReplayScale => replay(workload).scale = small_count(text)?,
            Self::Rw => (workload.pattern, workload.skip) = pattern_and_skip(text)?,
            Self::Bs => (workload.block, workload.sizes) = (bytes(text)?, None),
            Self::Bssplit => workload.sizes = Some(text.parse()?),
            Self::Iodepth => workload.queue_depth = small_count(text)?,
            Self::Numjobs => workload.workers = small_count(text)?,
            Self::Rwmixread => workload.read_percent = parse_percent(text)?,
            Self::PercentageRandom => workload.random_percent = parse_percent(text)?,
            Self::Norandommap => workload.no_repeat = one_of(text, &["0", "1"])? == 0,
            Self::SprOp => workload.sprandom = Some(spare(text)?),
            Self::Sprandom => {
                let given = workload.sprandom.or(Some(Spare::FIOS));
                workload.sprandom = given.filter(|_| text != "0");
                one_of(text, &["0", "1"])?;
            }
            Self::Blockalign => workload.align = Some(bytes(text)?),
            Self::RandomDistribution => workload.distribution = text.parse()?,
            Self::BufferCompressPercentage => workload.compressible = parse_percent(text)?,
            Self::ZeroBuffers => {
                workload.compressible = if one_of(text, &["0", "1"])? == 1 { 100 } else { workload.compressible }
            }
            Self::DedupePercentage => workload.duplicates = parse_percent(text)?,
            Self::Sync => workload.durable = one_of(text, &["none", "0", "sync", "1", "dsync"])? > 1,
            Self::Fsync => workload.fsync = small_count(text)?,
            Self::Fdatasync => workload.fdatasync = small_count(text)?,
            Self::Thinktime => workload.arrival.think = think_time(text)?,
            Self::ThinktimeBlocks => workload.arrival.burst = small_count(text)?,
            Self::RateIops => workload.arrival.rate = small_count(text)?,
            Self::RateProcess => {
                workload.arrival.process = [Process::Linear, Process::Poisson][one_of(text, &["linear", "poisson"])?];
            }
            Self::Verify => workload.verify.stamps = one_of(text, &["none", "0", "null", "crc32c"])? == 3,
            Self::DoVerify => workload.verify.read_back = one_of(text, &["0", "1"])? == 1,
            Self::VerifyOnly => workload.verify.only = one_of(text, &["0", "1"])? == 1,
            Self::VerifyFatal => workload.verify.fatal = one_of(text, &["0", "1"])? == 1,
            Self::Size => (workload.size, workload.share) = sized(text)?,
            Self::Offset => {
                let (offset, place) = sized(text)?;
                (workload.offset, workload.place) = (offset.unwrap_or_default(), place);
            }
            Self::Runtime => workload.stop.time = Some(time(text)?),
            Self::NumberIos => workload.stop.requests = Some(count(text)?),
            Self::IoSize => (workload.stop.bytes, workload.stop.span) = moved(text)?,
            Self::RampTime => workload.ramp = time(text)?,
        }
        Ok(())
    }
}

/// What is replayed, of which nothing may have been said yet.
fn replay(workload: &mut Workload) -> &mut Replay {
    workload.replay.get_or_insert_with(|| Replay::of(""))
}

/// The patterns' names.
fn patterns() -> [&'static str; 8] {
    Pattern::ALL.map(|(name, _)| name)
}

fn pattern(text: &str) -> Result<Pattern, FieldError> {
    text.parse().map_err(|()| FieldError::UnknownPattern { found: text.to_owned() })
}

/// `read`, or `read:60k` to pass over 60 KiB after each request.
fn pattern_and_skip(text: &str) -> Result<(Pattern, Bytes), FieldError> {
    match text.split_once(':') {
        Some((name, skip)) => Ok((pattern(name)?, bytes(skip)?)),
        None => Ok((pattern(text)?, Bytes::ZERO)),
    }
}

fn bytes(text: &str) -> Result<Bytes, ParseError> {
    at_most(BYTES_MAX, "1 EiB", text, parse_bytes(text))
}

/// An amount of data, or a share of the span that may be more than all of it.
fn moved(text: &str) -> Result<(Option<Bytes>, Option<u32>), ParseError> {
    match text.strip_suffix('%') {
        Some(share) => {
            let share = at_most(1_000_000, "1000000 %", text, parse_count(share))?;
            Ok((None, Some(share as u32)))
        }
        None => Ok((Some(bytes(text)?), None)),
    }
}

/// So much, or that share of the target in percent.
fn sized(text: &str) -> Result<(Option<Bytes>, Option<u8>), ParseError> {
    match text.ends_with('%') {
        true => Ok((None, Some(parse_percent(text)?))),
        false => Ok((Some(bytes(text)?), None)),
    }
}

fn time(text: &str) -> Result<Nanos, ParseError> {
    at_most(TIME_MAX, "10 years", text, parse_duration(text))
}

/// A bare number is in microseconds, as fio has it for this one.
fn think_time(text: &str) -> Result<Nanos, ParseError> {
    let is_bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_bare { time(&format!("{text}us")) } else { time(text) }
}

/// A share of the capacity as fio has it, `0.07`, or in percent.
fn spare(text: &str) -> Result<Spare, ParseError> {
    if text.trim_end().ends_with('%') {
        return text.parse();
    }
    let (found, example) = (text.to_owned(), "over-provisioning looks like `0.07` or `7%` of the capacity");
    match text.trim().parse::<f64>() {
        Ok(share) if share > 10.0 => Err(ParseError::TooLarge { found, max: "10" }),
        Ok(share) if share < 0.0 => Err(ParseError::Negative { found, example }),
        Ok(share) => {
            Spare::from_millionths((share * 1e6).round() as u64).ok_or(ParseError::TooSmall { found, min: "0.001" })
        }
        Err(_) => Err(ParseError::NotANumber { found, example }),
    }
}

/// Which of the `known` words it is.
fn one_of(text: &str, known: &'static [&'static str]) -> Result<usize, FieldError> {
    let place = known.iter().position(|word| *word == text);
    place.ok_or_else(|| FieldError::UnknownWord { found: text.to_owned(), known })
}

fn count(text: &str) -> Result<u64, ParseError> {
    at_most(COUNT_MAX, "1e15", text, parse_count(text))
}

/// A count of requests or workers. `Workload::check` knows how many are too many together; this bound only
/// keeps the number within its type.
fn small_count(text: &str) -> Result<u32, ParseError> {
    at_most(1_000_000_000, "65536", text, parse_count(text)).map(|count| count as u32)
}

fn at_most<T: PartialOrd>(
    most: T,
    max: &'static str,
    text: &str,
    read: Result<T, ParseError>,
) -> Result<T, ParseError> {
    match read {
        Ok(value) if value <= most => Ok(value),
        Ok(_) | Err(ParseError::TooLarge { .. }) => Err(ParseError::TooLarge { found: text.to_owned(), max }),
        Err(error) => Err(error),
    }
}

/// The parts of a message before and behind its semicolon: what was found, what would be right.
fn split(said: &str) -> (String, Option<String>) {
    said.split_once("; ").map_or((said.to_owned(), None), |(what, help)| (what.to_owned(), Some(help.to_owned())))
}

/// What was found and what would be right, apart.
pub(super) fn told(error: &ParseError) -> (String, Option<String>) {
    match error {
        ParseError::Empty { example } => ("empty value".to_owned(), Some((*example).to_owned())),
        ParseError::NotANumber { found, example } => {
            (format!("`{found}` is not a number"), Some((*example).to_owned()))
        }
        ParseError::Negative { found, example } => (format!("`{found}` is negative"), Some((*example).to_owned())),
        ParseError::UnknownUnit { found, unit, units } => {
            (format!("unknown unit `{unit}` in `{found}`"), Some(format!("use one of {units}")))
        }
        ParseError::TooLarge { found, max } => {
            (format!("`{found}` is out of range"), Some(format!("at most {max} is possible")))
        }
        ParseError::TooSmall { found, min } => {
            (format!("`{found}` is out of range"), Some(format!("at least {min} is needed")))
        }
        error => (error.to_string(), None),
    }
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
                FieldError::UnknownPattern { found } => {
                    (format!("unknown pattern `{found}`"), Some(suggestion(found, &patterns())))
                }
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
        fields.flat_map(Field::decides).for_each(|field| left.clear(*field));
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
        let given = |field: &Field| Some((*field, self.get(*field)?));
        // How many workers there are is a number that may be right.
        let decided = Field::TRACED.iter().filter(|field| **field != Field::Numjobs).find_map(given);
        if let Some((field, setting)) = decided {
            let message = format!("the trace determines what `{}` would", field.name());
            return Err(Diagnostic::new("plan::given-twice", setting.span.clone(), message)
                .also(trace.span.clone(), "the trace")
                .help("leave one of them out"));
        }
        let paces = [Field::ReplayNoStall, Field::ReplayThink, Field::ReplayTimeScale];
        let is_off = |field, setting: &Setting| field != Field::ReplayTimeScale && setting.text == "0";
        let mut paces = paces.iter().filter_map(given).filter(|(field, setting)| !is_off(*field, setting));
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
        let place = to_blame(error, workload).iter().find_map(|field| self.get(*field));
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

/// The fields that may have caused `error`, the likeliest first.
pub(crate) fn to_blame(error: &Invalid, workload: &Workload) -> &'static [Field] {
    match error {
        Invalid::Block { .. } | Invalid::BlockTooLarge { .. } => &[Field::Bssplit, Field::Bs],
        Invalid::Nobody { depth: 0, .. } => &[Field::Iodepth],
        Invalid::Nobody { .. } => &[Field::Numjobs],
        Invalid::TooDeep { depth, workers, .. } if depth >= workers => &[Field::Iodepth, Field::Numjobs],
        Invalid::TooDeep { .. } => &[Field::Numjobs, Field::Iodepth],
        Invalid::ReadShare { .. } => &[Field::Rwmixread],
        Invalid::Offset { .. } | Invalid::OffsetBeyond { .. } => &[Field::Offset],
        Invalid::TooLarge { .. } | Invalid::TooSmall { .. } => &[Field::Size],
        Invalid::EndsAtOnce { .. } if workload.stop.time == Some(Nanos::ZERO) => &[Field::Runtime],
        Invalid::EndsAtOnce { .. } if workload.stop.requests == Some(0) => &[Field::NumberIos],
        Invalid::EndsAtOnce { .. } => &[Field::IoSize],
        Invalid::Alignment { .. } => &[Field::Blockalign],
        Invalid::Skip { .. } => &[Field::Rw],
        Invalid::OnceEach => &[Field::Norandommap],
        Invalid::SteadyOrder => &[Field::Sprandom, Field::SprOp],
        Invalid::TwoFlushes => &[Field::Fdatasync, Field::Fsync],
        Invalid::EmptyBurst => &[Field::ThinktimeBlocks],
        Invalid::TwoPaces => &[Field::Thinktime, Field::RateIops],
        Invalid::RateTooHigh { .. } => &[Field::RateIops],
        Invalid::Duplicates { .. } => &[Field::DedupePercentage],
        Invalid::VerifiesNothing => &[Field::VerifyOnly, Field::VerifyFatal],
        Invalid::NothingToVerify | Invalid::VerifiedParts | Invalid::VerifiedDuplicates => &[Field::Verify],
        Invalid::VerifyOnlyForATime => &[Field::VerifyOnly],
        Invalid::ReplayOfNothing => {
            &[Field::ReadIolog, Field::ReplayNoStall, Field::ReplayThink, Field::ReplayTimeScale, Field::ReplayScale]
        }
        Invalid::ReplayWorkers { .. } => &[Field::Numjobs, Field::ReadIolog],
        Invalid::ReplayStands { .. } => &[Field::ReplayTimeScale],
        Invalid::ReplayScale { .. } => &[Field::ReplayScale],
        Invalid::ReplayPaced => &[Field::ReadIolog],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use workload::Stop;

    use super::*;

    #[test]
    fn spare_flash_is_read_as_fio_has_it_and_in_percent() {
        let spare = |fields: &[(Field, &str)]| {
            let mut workload = Workload::default();
            fields.iter().try_for_each(|(field, text)| field.set(&mut workload, text))?;
            Ok::<_, FieldError>(workload.sprandom.map(|spare| spare.to_string()))
        };
        let told = |text: &str| Some(text.to_owned());
        assert_eq!(spare(&[(Field::SprOp, "0.0734"), (Field::Sprandom, "1")]), Ok(told("7.34 %")));
        assert_eq!(spare(&[(Field::SprOp, "7.34%")]), Ok(told("7.34 %")));
        assert_eq!(spare(&[(Field::Sprandom, "1")]), Ok(told("15 %")));
        assert_eq!(spare(&[(Field::SprOp, "0.07"), (Field::Sprandom, "0")]), Ok(None));
        for (text, words) in
            [("0", "at least 0.001"), ("11", "at most 10"), ("-1", "negative"), ("seven", "not a number"), ("NaN", "")]
        {
            let said = spare(&[(Field::SprOp, text)]).expect_err(text).to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
        assert!(spare(&[(Field::Sprandom, "yes")]).is_err());
    }

    #[test]
    fn every_field_is_set_from_fios_notation() {
        let mut workload = Workload::default();
        for (name, text) in [
            ("rw", "randrw"),
            ("bs", "8k"),
            ("iodepth", "32"),
            ("numjobs", "2"),
            ("rwmixread", "67%"),
            ("size", "1g"),
            ("offset", "1m"),
            ("runtime", "10"),
            ("number_ios", "10k"),
            ("io_size", "2g"),
            ("ramp_time", "500ms"),
        ] {
            Field::named(name).expect(name).set(&mut workload, text).expect(name);
        }
        let stop = Stop {
            time: Some(Nanos::from_secs(10)),
            requests: Some(10_000),
            bytes: Some(Bytes::from_gib(2)),
            span: None,
        };
        let expected = Workload {
            pattern: Pattern::RandRw,
            read_percent: 67,
            block: Bytes::from_kib(8),
            queue_depth: 32,
            workers: 2,
            offset: Bytes::from_mib(1),
            size: Some(Bytes::from_gib(1)),
            stop,
            ramp: Nanos::from_millis(500),
            ..Workload::default()
        };
        assert_eq!(workload, expected);
    }

    #[test]
    fn what_reviews_ask_for_is_set_from_fios_notation() {
        let set = |texts: &[(&str, &str)]| {
            let mut workload = Workload { pattern: Pattern::RandRw, ..Workload::default() };
            texts.iter().for_each(|(name, text)| Field::named(name).expect(name).set(&mut workload, text).expect(name));
            let options = workload.options().into_iter().map(|(name, value)| format!("{name}={value}"));
            options.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            set(&[
                ("bssplit", "4k/60:64k/"),
                ("percentage_random", "80"),
                ("ba", "512"),
                ("random_distribution", "zipf:1.2"),
                ("buffer_compress_percentage", "46"),
                ("sync", "1"),
                ("fsync", "32"),
                ("thinktime", "500"),
                ("thinktime_blocks", "4"),
            ]),
            "bssplit=4k/60:64k/40 percentage_random=80 blockalign=512 random_distribution=zipf:1.2 \
             buffer_compress_percentage=46 sync=dsync fsync=32 thinktime=500us thinktime_blocks=4"
        );
        assert_eq!(
            set(&[("zero_buffers", "1"), ("fdatasync", "8"), ("rate_iops", "10k"), ("rate_process", "poisson")]),
            "zero_buffers=1 fdatasync=8 rate_iops=10000 rate_process=poisson"
        );
        assert_eq!(
            set(&[("verify", "crc32c"), ("do_verify", "0"), ("verify_only", "1"), ("verify_fatal", "1")]),
            "verify=crc32c do_verify=0 verify_only=1 verify_fatal=1"
        );
        assert_eq!(set(&[("dedupe_percentage", "30"), ("verify", "none")]), "dedupe_percentage=30");
        assert_eq!(set(&[("thinktime", "5ms"), ("sync", "0"), ("zero_buffers", "0")]), "thinktime=5ms");
        assert_eq!(set(&[("bssplit", "4k/100"), ("bs", "8k")]), "", "one size takes the place of several");
    }

    #[test]
    fn a_field_refuses_what_it_cannot_hold() {
        for (field, text, words) in [
            (Field::Rw, "randreed", "did you mean `randread`?"),
            (Field::Rw, "scan", "use one of read, write"),
            (Field::Bs, "4q", "unknown unit `q`"),
            (Field::Size, "2000p", "at most 1 EiB"),
            (Field::Runtime, "20000d", "at most 10 years"),
            (Field::Iodepth, "99999999999", "at most 65536"),
            (Field::NumberIos, "2000000g", "at most 1e15"),
            (Field::Rwmixread, "101", "at most 100 %"),
            (Field::Bssplit, "4k/60:8k/30", "must make 100 %"),
            (Field::RandomDistribution, "zipf", "try zipf:1.2"),
            (Field::Verify, "md5", "use one of none, 0, null, crc32c"),
            (Field::DedupePercentage, "101", "at most 100 %"),
            (Field::Sync, "always", "use one of none, 0, sync, 1, dsync"),
            (Field::ZeroBuffers, "2", "use one of 0, 1"),
            (Field::RateProcess, "uniform", "use one of linear, poisson"),
            (Field::Profile, "databse", "did you mean `database`?"),
            (Field::PercentageRandom, "120", "at most 100 %"),
        ] {
            let said = field.set(&mut Workload::default(), text).expect_err(words).to_string();
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn settings_are_stored_in_the_order_of_all() {
        for (place, field) in Field::ALL.into_iter().enumerate() {
            assert_eq!(field as usize, place, "{field:?}");
        }
    }
}

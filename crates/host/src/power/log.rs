//! A log of power that another program writes.

use std::path::Path;

use block::Nanos;
use jiff::Timestamp;

use super::PowerError;
use super::samples::{MeterUnit, Samples};
use super::source::{Csv, Logged};

/// The longest log: ten readings each second for a month are shorter.
const LENGTH_MAX: u64 = 1 << 30;
/// The latest time that is taken for one in seconds, which is in the year 2286; what is more is in smaller units.
const SECONDS_MAX: f64 = 1e10;

const TIME: &str = "a time in Unix seconds (1763740000.25) or by RFC 3339 (2026-11-21T16:00:00.5Z)";
const NUMBER: &str = "a number";
const LATER: &str = "later than the entry before";

/// All whole entries of a log, at their times since 1970-01-01 UTC.
///
/// # Errors
/// If the file cannot be read, lacks a column, or an entry cannot be understood.
pub(super) fn read(log: &Csv) -> Result<Samples, PowerError> {
    let text = crate::open::text(&log.path, LENGTH_MAX)
        .map_err(|error| PowerError::Unreadable { path: log.path.clone(), error: error.into() })?;
    // Whoever writes it may be in the middle of a line.
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let delimiter = delimiter(whole);
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.delimiter(delimiter).has_headers(false).flexible(true).trim(csv::Trim::All);
    let mut rows = reader.from_reader(whole.as_bytes()).into_records();
    let header = rows.next().transpose().map_err(|error| unreadable(&log.path, error))?.unwrap_or_default();
    let header: Vec<&str> = header.iter().collect();
    let column = |name: &str| column(&log.path, &header, name);
    let time = column(&log.time)?;
    let (first, second, factor) = match &log.value {
        Logged::Power(power) => (column(power)?, None, 1.0),
        Logged::Current(current, volts) => (column(current)?, None, *volts),
        Logged::Both(current, voltage) => (column(current)?, Some(column(voltage)?), 1.0),
    };
    let mut samples = Samples::new(MeterUnit::Watts);
    // A log without names begins with an entry.
    if moment(header[time]).is_some() {
        return Err(PowerError::Entry {
            path: log.path.clone(),
            line: 1,
            found: header.join(","),
            right: "the names of the columns, with which a log begins",
        });
    }
    for row in rows {
        let row = row.map_err(|error| unreadable(&log.path, error))?;
        let line = row.position().map_or(0, csv::Position::line);
        let wrong =
            |found: &str, right| PowerError::Entry { path: log.path.clone(), line, found: found.to_owned(), right };
        let field = |column: usize| row.get(column).unwrap_or_default();
        let number = |column: usize| {
            let number = field(column).parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| wrong(field(column), NUMBER))
        };
        let at = moment(field(time)).ok_or_else(|| wrong(field(time), TIME))?;
        if samples.last().is_some_and(|last| at <= last) {
            return Err(wrong(field(time), LATER));
        }
        samples.add(at, number(first)? * second.map_or(Ok(factor), number)?);
    }
    Ok(samples)
}

/// What stands between the columns: whichever of comma, semicolon and tab is most frequent in the first line.
fn delimiter(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default();
    let count = |sign: &u8| first.bytes().filter(|byte| byte == sign).count();
    [b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',')
}

/// The place of the column of this name, or of this number from 1.
fn column(path: &Path, header: &[&str], name: &str) -> Result<usize, PowerError> {
    let named = header.iter().position(|known| known.trim_start_matches('\u{feff}') == name);
    let numbered =
        name.parse().ok().filter(|number| (1..=header.len()).contains(number)).map(|number: usize| number - 1);
    named.or(numbered).ok_or_else(|| PowerError::NoColumn {
        path: path.to_owned(),
        column: name.to_owned(),
        found: header.iter().map(|&name| name.to_owned()).collect(),
    })
}

/// The time since 1970-01-01 UTC.
fn moment(text: &str) -> Option<Nanos> {
    if let Ok(seconds) = text.parse::<f64>() {
        return (0.0..SECONDS_MAX).contains(&seconds).then(|| Nanos::from_nanos((seconds * 1e9).round() as u64));
    }
    let timestamp: Timestamp = text.parse().ok()?;
    u64::try_from(timestamp.as_nanosecond()).ok().map(Nanos::from_nanos)
}

fn unreadable(path: &Path, error: csv::Error) -> PowerError {
    PowerError::Unreadable { path: path.to_owned(), error: error.into() }
}

#[cfg(test)]
mod tests {
    use super::super::source::MeterKind;
    use super::*;

    /// What comes of a log with this text that is read with these settings.
    fn logged(text: &str, settings: &str) -> Result<Samples, PowerError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let source: super::super::MeterSource = format!("csv:{}?{settings}", file.path().display()).parse()?;
        let MeterKind::Csv(log) = &source.kind else { panic!("{source:?}") };
        read(log)
    }

    fn joules(text: &str, settings: &str, from: u64, to: u64) -> f64 {
        let samples = logged(text, settings).unwrap();
        samples.energy(Nanos::from_millis(from), Nanos::from_millis(to)).unwrap().joules
    }

    #[test]
    fn watts_and_amperes_at_unix_seconds_and_times_of_day_give_the_same_energy() {
        let seconds: String = (100..120).map(|at| format!("{at}.5,2.0,0.4,5.0\n")).collect();
        let unix = format!("time,power,current,voltage\n{seconds}");
        for settings in ["time=time&power=power", "time=1&current=3&volts=5", "time=time&current=current&voltage=4"] {
            let found = joules(&unix, settings, 102_000, 112_000);
            assert!((found - 20.0).abs() < 1e-6, "{settings}: {found}");
        }
        let dated: String = (0..20).map(|at| format!("1970-01-01T01:01:{at:02}.25+01:00; 2.0\r\n")).collect();
        let found = joules(&format!("\u{feff}When;P\r\n{dated}"), "time=When&power=P", 62_000, 72_000);
        assert!((found - 20.0).abs() < 1e-6, "{found}");
    }

    #[test]
    fn a_line_that_is_still_being_written_is_left_for_later() {
        let samples = logged("t,p\n1,5\n2,5\n3,5", "time=t&power=p").unwrap();
        assert_eq!(samples.last(), Some(Nanos::from_secs(2)));
        let said = logged("t,p", "time=t&power=p").unwrap_err().to_string();
        assert!(said.contains("has no column `t`; it has no complete line yet"), "{said}");
    }

    #[test]
    fn every_mistake_in_a_log_is_told_with_its_line() {
        let cases = [
            ("t,p\n1,5\n", "time=when&power=p", "has no column `when`; its columns are t, p"),
            ("t,p\n1,5\n", "time=1&power=3", "has no column `3`"),
            ("t,p\n1,5\n2,much\n", "time=t&power=p", ":3: `much` is not a number"),
            ("t,p\n1,5\nnoon,5\n", "time=t&power=p", ":3: `noon` is not a time in Unix seconds"),
            ("t,p\n1700000000000,5\n", "time=t&power=p", "`1700000000000` is not a time in Unix seconds"),
            ("t,p\n2026-11-21T16:00:00,5\n", "time=t&power=p", "by RFC 3339 (2026-11-21T16:00:00.5Z)"),
            ("t,p\n2,5\n1,5\n", "time=t&power=p", ":3: `1` is not later than the entry before"),
            ("t,p\n1\n", "time=t&power=p", ":2: `` is not a number"),
            ("1,5\n2,5\n", "time=1&power=2", ":1: `1,5` is not the names of the columns"),
        ];
        for (text, settings, words) in cases {
            let said = logged(text, settings).expect_err(words).to_string();
            assert!(said.contains(words), "{said}");
        }
        let absent: super::super::MeterSource = "csv:/nowhere/log.csv?time=t&power=p".parse().unwrap();
        let MeterKind::Csv(log) = &absent.kind else { panic!() };
        let said = read(log).unwrap_err().to_string();
        assert!(said.contains("/nowhere/log.csv cannot be read") && said.contains("name one that is there"), "{said}");
    }
}

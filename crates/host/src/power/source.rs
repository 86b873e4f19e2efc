//! A meter as it is asked for on the command line.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::PowerError;

/// The port where instruments listen for SCPI, unless another is given.
///
/// Source: IANA, "Service Name and Transport Protocol Port Number Registry", `scpi-raw`.
const PORT: u16 = 5025;
/// How often sensors are read, unless it is said otherwise.
const SENSOR_EVERY: Duration = Duration::from_millis(100);
/// How often an instrument is read at most, unless it is said otherwise: a fast one would keep a processor busy.
const INSTRUMENT_EVERY: Duration = Duration::from_millis(20);
/// How long an instrument may take to answer, unless it is said otherwise: the slowest of the 8846A's integration times
/// takes 4 s with the automatic zero.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// How long the last entries of a log are waited for.
const LOG_WITHIN: Duration = Duration::from_secs(3);

/// A meter as it is asked for: `scpi://10.0.0.7:3490?volts=5`, `rapl`, `csv:log.csv?time=t&power=p`.
#[derive(Clone, Debug, PartialEq)]
pub struct MeterSource {
    text: String,
    pub(super) kind: MeterKind,
}

/// What kind of meter, with its settings.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MeterKind {
    /// An instrument that speaks SCPI.
    Scpi(Scpi),
    /// The processors' own counters: all packages, or the zone of this name.
    Rapl { zone: Option<String>, every: Duration },
    /// A sensor on the board: the only one, or that of this chip and channel.
    Hwmon { chip: Option<String>, channel: Option<u32>, every: Duration },
    /// The machine's batteries, or the one of this name.
    Battery { name: Option<String>, every: Duration },
    /// A log that another program writes.
    Csv(Csv),
}

/// An instrument that speaks SCPI.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scpi {
    pub address: Address,
    /// The voltage of the supply whose current is measured; none where the answers are watts.
    pub volts: Option<f64>,
    /// What it is told before it is read.
    pub configure: Vec<String>,
    /// What makes it measure and answer.
    pub read: String,
    /// The least time from one reading to the next.
    pub every: Duration,
    /// How long an answer may take.
    pub timeout: Duration,
}

/// Where an instrument is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// A host with its port: `10.0.0.7:3490`.
    Tcp(String),
    /// A serial device with its speed in bits a second.
    Serial { device: PathBuf, baud: u32 },
}

/// A log that another program writes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Csv {
    pub path: PathBuf,
    /// The column with the time.
    pub time: String,
    pub value: Logged,
    /// How long its last entries are waited for.
    pub wait: Duration,
}

/// What a log holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Logged {
    /// Watts in this column.
    Power(String),
    /// Amperes in this column, at so many volts.
    Current(String, f64),
    /// Amperes and volts in these columns.
    Both(String, String),
}

impl fmt::Display for MeterSource {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for MeterSource {
    type Err = PowerError;

    fn from_str(text: &str) -> Result<Self, PowerError> {
        let (name, settings) = text.split_once('?').unwrap_or((text, ""));
        let (kind, rest) = name.split_once(':').map_or((name, None), |(kind, rest)| (kind, Some(rest)));
        let rest = rest.filter(|rest| !rest.is_empty()).map(str::to_owned);
        let mut settings = MeterSettings::of(name, settings)?;
        let kind = match (kind, rest) {
            ("scpi", Some(rest)) => MeterKind::Scpi(scpi(&rest, &mut settings)?),
            ("csv", Some(path)) => MeterKind::Csv(csv(path.into(), &mut settings)?),
            ("rapl", zone) => MeterKind::Rapl { zone, every: settings.every(&["every"], SENSOR_EVERY)? },
            ("battery", name) => MeterKind::Battery { name, every: settings.every(&["every"], SENSOR_EVERY)? },
            ("hwmon", chip) => {
                let channel = settings.take("channel").map(|text| whole("channel", &text)).transpose()?;
                MeterKind::Hwmon { chip, channel, every: settings.every(&["channel", "every"], SENSOR_EVERY)? }
            }
            _ => return Err(PowerError::Unknown { found: text.to_owned() }),
        };
        Ok(Self { text: text.to_owned(), kind })
    }
}

fn scpi(rest: &str, settings: &mut MeterSettings) -> Result<Scpi, PowerError> {
    const KNOWN: [&str; 9] =
        ["volts", "measure", "configure", "read", "range", "nplc", "every", "timeout", "baud (of a serial device)"];
    let is_current = match settings.take("measure").as_deref() {
        None | Some("current") => true,
        Some("power") => false,
        Some(other) => return Err(value("measure", other, "`current` or `power`")),
    };
    let volts = settings.take("volts").map(|text| positive("volts", &text)).transpose()?;
    let volts = match (is_current, volts) {
        (true, None) => {
            let help = "the meter measures current; power also needs the supply voltage, as in `?volts=5`; for an \
                instrument that measures power give `?measure=power`";
            return Err(settings.lacking("volts", help));
        }
        (false, Some(_)) => return Err(value("volts", "…", "it only where current is measured")),
        (_, volts) => volts,
    };
    let range = settings.take("range").map(|text| positive("range", &text)).transpose()?;
    let speed = settings.take("nplc").map(|text| positive("nplc", &text)).transpose()?;
    let configure = match settings.take("configure") {
        Some(commands) => vec![commands],
        None if !is_current => Vec::new(),
        None => {
            let mut commands = vec![range.map_or("CONF:CURR:DC".into(), |range| format!("CONF:CURR:DC {range}"))];
            commands.extend(speed.map(|speed| format!("CURR:DC:NPLC {speed}")));
            commands
        }
    };
    let read = settings.take("read").unwrap_or_else(|| "READ?".to_owned());
    let timeout = settings.duration("timeout", ANSWER_WITHIN)?;
    let baud = settings.take("baud").map(|text| whole("baud", &text)).transpose()?;
    let address = match (rest.strip_prefix("//"), baud) {
        (None, baud) => Address::Serial { device: rest.into(), baud: baud.unwrap_or(9600) },
        (Some(_), Some(baud)) => {
            return Err(value("baud", &baud.to_string(), "it only for a serial device, scpi:/dev/ttyUSB0"));
        }
        (Some(host), None) => Address::Tcp(with_port(host)),
    };
    let every = settings.every(&KNOWN, INSTRUMENT_EVERY)?;
    Ok(Scpi { address, volts, configure, read, every, timeout })
}

/// The host with a port, its own or the usual one; an IPv6 address stands in brackets.
fn with_port(host: &str) -> String {
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if has_port { host.to_owned() } else { format!("{host}:{PORT}") }
}

fn csv(path: PathBuf, settings: &mut MeterSettings) -> Result<Csv, PowerError> {
    const KNOWN: [&str; 6] = ["time", "power", "current", "voltage", "volts", "wait"];
    let time = settings.take("time");
    let time = time.ok_or_else(|| settings.lacking("time", "name the column with the times, or give its number"))?;
    let volts = settings.take("volts").map(|text| positive("volts", &text)).transpose()?;
    let columns = (settings.take("power"), settings.take("current"), settings.take("voltage"), volts);
    let value = match columns {
        (Some(power), None, None, None) => Logged::Power(power),
        (None, Some(current), None, Some(volts)) => Logged::Current(current, volts),
        (None, Some(current), Some(voltage), None) => Logged::Both(current, voltage),
        _ => {
            let help = "a log holds watts (`power=COLUMN`), amperes at one voltage (`current=COLUMN&volts=5`), or both \
                        (`current=COLUMN&voltage=COLUMN`)";
            return Err(settings.lacking("power", help));
        }
    };
    let wait = settings.duration("wait", LOG_WITHIN)?;
    settings.finish(&KNOWN)?;
    Ok(Csv { path, time, value, wait })
}

/// The settings behind a meter's name that have not been used yet.
struct MeterSettings {
    name: String,
    left: Vec<(String, String)>,
}

impl MeterSettings {
    fn of(name: &str, text: &str) -> Result<Self, PowerError> {
        let pair = |part: &str| match part.split_once('=') {
            Some((key, found)) if !found.is_empty() => Ok((key.to_owned(), found.to_owned())),
            _ => Err(value(part.trim_end_matches('='), "", "a value behind each setting, as in `volts=5`")),
        };
        let left = text.split('&').filter(|part| !part.is_empty()).map(pair).collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), left })
    }

    fn take(&mut self, key: &str) -> Option<String> {
        let place = self.left.iter().position(|(known, _)| known == key)?;
        Some(self.left.remove(place).1)
    }

    fn duration(&mut self, key: &'static str, otherwise: Duration) -> Result<Duration, PowerError> {
        let Some(text) = self.take(key) else { return Ok(otherwise) };
        let time = block::parse_duration(&text).map_err(|_| value(key, &text, "a time, such as 200ms or 2s"))?;
        Ok(time.to_std())
    }

    /// How often the meter is read; the last setting, for nothing else may be left then.
    fn every(&mut self, known: &'static [&'static str], otherwise: Duration) -> Result<Duration, PowerError> {
        let every = self.duration("every", otherwise)?;
        self.finish(known)?;
        Ok(every)
    }

    fn finish(&mut self, known: &'static [&'static str]) -> Result<(), PowerError> {
        match self.left.pop() {
            None => Ok(()),
            Some((key, _)) => Err(PowerError::Setting { key, source_name: self.name.clone(), known }),
        }
    }

    fn lacking(&self, key: &'static str, help: &'static str) -> PowerError {
        PowerError::Lacking { key, source_name: self.name.clone(), help }
    }
}

fn value(key: &str, found: &str, right: &'static str) -> PowerError {
    PowerError::Value { key: key.to_owned(), found: found.to_owned(), right }
}

fn positive(key: &'static str, text: &str) -> Result<f64, PowerError> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| value(key, text, "a number above zero, such as 5 or 0.2"))
}

fn whole(key: &'static str, text: &str) -> Result<u32, PowerError> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| value(key, text, "a whole number above zero"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> MeterKind {
        text.parse::<MeterSource>().unwrap_or_else(|error| panic!("{text}: {error}")).kind
    }

    #[test]
    fn an_instrument_has_an_address_a_voltage_and_its_commands() {
        let MeterKind::Scpi(scpi) = source("scpi://10.0.0.7:3490?volts=5.1&range=3&nplc=0.2&every=50ms") else {
            panic!()
        };
        assert_eq!((scpi.address, scpi.volts), (Address::Tcp("10.0.0.7:3490".into()), Some(5.1)));
        assert_eq!(scpi.configure, ["CONF:CURR:DC 3", "CURR:DC:NPLC 0.2"]);
        assert_eq!((scpi.read.as_str(), scpi.every), ("READ?", Duration::from_millis(50)));
        let MeterKind::Scpi(scpi) = source("scpi:/dev/ttyUSB0?baud=19200&volts=12&read=INIT;:FETC?") else { panic!() };
        assert_eq!(scpi.address, Address::Serial { device: "/dev/ttyUSB0".into(), baud: 19200 });
        assert_eq!((scpi.configure, scpi.read.as_str()), (vec!["CONF:CURR:DC".to_owned()], "INIT;:FETC?"));
        let MeterKind::Scpi(scpi) = source("scpi://[::1]?measure=power&read=:NUM:NORM:VAL?") else { panic!() };
        assert_eq!((scpi.address, scpi.volts), (Address::Tcp("[::1]:5025".into()), None));
        assert!(scpi.configure.is_empty());
    }

    #[test]
    fn sensors_are_asked_for_by_kind_or_by_name() {
        assert_eq!(source("rapl"), MeterKind::Rapl { zone: None, every: SENSOR_EVERY });
        assert_eq!(
            source("rapl:dram?every=1s"),
            MeterKind::Rapl { zone: Some("dram".into()), every: Duration::from_secs(1) }
        );
        let chip = Some("ina226".to_owned());
        assert_eq!(source("hwmon:ina226?channel=2"), MeterKind::Hwmon { chip, channel: Some(2), every: SENSOR_EVERY });
        assert_eq!(source("battery"), MeterKind::Battery { name: None, every: SENSOR_EVERY });
    }

    #[test]
    fn a_log_names_its_columns() {
        let MeterKind::Csv(log) = source("csv:a/b.csv?time=Time&current=3&volts=12") else { panic!() };
        assert_eq!((log.time.as_str(), log.value), ("Time", Logged::Current("3".into(), 12.0)));
        let MeterKind::Csv(log) = source("csv:b.csv?time=1&current=2&voltage=3&wait=10s") else { panic!() };
        assert_eq!((log.value, log.wait), (Logged::Both("2".into(), "3".into()), Duration::from_secs(10)));
    }

    #[test]
    fn every_mistake_says_what_would_be_right() {
        let cases = [
            ("wattmeter", "`wattmeter` is not a power meter; give scpi://HOST:PORT?volts=5"),
            ("scpi:", "is not a power meter"),
            ("scpi://host", "lacks `volts`: the meter measures current"),
            ("scpi://host?volts=-5", "invalid `volts=-5` of a power meter; give a number above zero"),
            ("scpi://host?volts=", "give a value behind each setting"),
            ("scpi://host?volts=5&measure=heat", "give `current` or `power`"),
            ("scpi://host?volts=5&measure=power", "only where current is measured"),
            ("scpi://host?volts=5&baud=9600", "only for a serial device"),
            ("scpi://host?volts=5&ranges=3", "scpi://host has no setting `ranges`; its settings are volts"),
            ("rapl?every=often", "give a time, such as 200ms"),
            ("hwmon?channel=0", "give a whole number above zero"),
            ("battery?volts=5", "battery has no setting `volts`; its settings are every"),
            ("csv:a.csv?power=p", "csv:a.csv lacks `time`: name the column"),
            ("csv:a.csv?time=t", "csv:a.csv lacks `power`: a log holds watts"),
            ("csv:a.csv?time=t&power=p&unit=W", "csv:a.csv has no setting `unit`"),
        ];
        for (text, words) in cases {
            let said = text.parse::<MeterSource>().expect_err(text).to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
    }
}

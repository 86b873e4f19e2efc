//! Multimeters and power analysers that speak SCPI.

use super::PowerError;
use super::gauge::Gauge;
use super::line::MeterLine;
use super::samples::MeterUnit;
use super::source::Scpi;

/// What a meter answers when more flows than its range holds.
///
/// Source: Fluke, "8845A/8846A Digital Multimeter Programmers Manual", "Overload": ±9.9E+37.
const OVERLOAD: f64 = 9.0e37;

/// An instrument, set up to be read.
///
/// Source of the commands: Fluke, "8845A/8846A Digital Multimeter Programmers Manual"; SCPI-1999, volume 2, 3
/// ("Measurement Instructions") and 21.8 (":ERRor Subsystem").
pub(super) struct Instrument {
    settings: Scpi,
    name: String,
    /// None while it is to be set up anew.
    line: Option<MeterLine>,
}

impl Instrument {
    /// Connects to it and sets it up.
    ///
    /// # Errors
    /// If it cannot be reached, does not answer, or does not take a setting.
    pub fn open(settings: &Scpi) -> Result<Self, PowerError> {
        let (line, identity) = set_up(settings)?;
        Ok(Self { name: name(&identity, settings), settings: settings.clone(), line: Some(line) })
    }
}

/// A line to the instrument, which is ready to be read, and how it names itself.
fn set_up(settings: &Scpi) -> Result<(MeterLine, String), PowerError> {
    let mut line = MeterLine::open(&settings.address, settings.timeout)?;
    // Over a serial line the 8846A takes settings only when it is told that it is remote. Who does not know the command
    // notes an error, which is cleared.
    line.say("SYST:REM")?;
    line.say("*CLS")?;
    let identity = line.ask("*IDN?")?;
    for command in &settings.configure {
        line.say(command)?;
        let answer = line.ask("SYST:ERR?")?;
        let code = answer.split(',').next().and_then(|code| code.trim().parse::<i32>().ok());
        if code != Some(0) {
            return Err(PowerError::Refused { address: line.address, command: command.clone(), answer });
        }
    }
    Ok((line, identity))
}

/// `FLUKE 8846A at 5 V`: maker and model of `FLUKE,8846A,1234567,08-02-10-03:53`.
fn name(identity: &str, settings: &Scpi) -> String {
    let words: Vec<&str> = identity.split(',').map(str::trim).filter(|word| !word.is_empty()).take(2).collect();
    let volts = settings.volts.map_or_else(String::new, |volts| format!(" at {volts} V"));
    words.join(" ") + &volts
}

impl Gauge for Instrument {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn unit(&self) -> MeterUnit {
        MeterUnit::Watts
    }

    fn pause(&self) -> std::time::Duration {
        self.settings.every
    }

    fn read(&mut self) -> Result<f64, PowerError> {
        let line = self.line.as_mut().expect("an instrument is set up again before it is read again");
        let query = &self.settings.read;
        let answer = line.ask(query)?;
        let address = || line.address.clone();
        let Some(number) = answer.parse().ok().filter(|number: &f64| number.is_finite()) else {
            return Err(PowerError::Answer { address: address(), query: query.clone(), answer });
        };
        if number.abs() >= OVERLOAD {
            return Err(PowerError::Overload { address: address() });
        }
        Ok(number * self.settings.volts.unwrap_or(1.0))
    }

    /// A late answer would be taken for that of the next query, so the connection is made anew; first the old one is
    /// closed, because most instruments serve but one.
    fn reopen(&mut self) -> Result<(), PowerError> {
        self.line = None;
        self.line = Some(set_up(&self.settings)?.0);
        Ok(())
    }
}

impl Drop for Instrument {
    /// Gives its keys back to whoever stands before it.
    fn drop(&mut self) {
        if let Some(line) = &mut self.line {
            line.say("SYST:LOC").ok();
        }
    }
}

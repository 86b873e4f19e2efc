//! Why a meter cannot be used, or has failed.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

/// Why a meter cannot be used, or has failed.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum PowerError {
    /// What was asked for is no kind of meter.
    #[error(
        "`{found}` is not a power meter; give scpi://HOST:PORT?volts=5, scpi:/dev/ttyUSB0?volts=5&baud=9600, rapl, \
         hwmon, battery, or csv:FILE?time=COLUMN&power=COLUMN"
    )]
    Unknown {
        /// As it was given.
        found: String,
    },
    /// A kind of meter does not have this setting.
    #[error("{source_name} has no setting `{key}`; its settings are {}", known.join(", "))]
    Setting {
        /// The setting.
        key: String,
        /// The meter as it was given.
        source_name: String,
        /// The settings that there are.
        known: &'static [&'static str],
    },
    /// The value of a setting makes no sense.
    #[error("invalid `{key}={found}` of a power meter; give {right}")]
    Value {
        /// The setting.
        key: String,
        /// Its value as it was given.
        found: String,
        /// What would be right.
        right: &'static str,
    },
    /// A setting without which nothing can be metered.
    #[error("{source_name} lacks `{key}`: {help}")]
    Lacking {
        /// The setting.
        key: &'static str,
        /// The meter as it was given.
        source_name: String,
        /// What it is needed for.
        help: &'static str,
    },
    /// The meter cannot be reached.
    #[error("the meter at {address} cannot be reached: {error}; {}", reach(error))]
    Unreachable {
        /// Host and port, or the serial device.
        address: String,
        /// What the system says.
        error: io::Error,
    },
    /// The connection broke.
    #[error("the connection to the meter at {address} broke: {error}")]
    Broken {
        /// Host and port, or the serial device.
        address: String,
        /// What the system says.
        error: io::Error,
    },
    /// The meter did not answer.
    #[error(
        "the meter at {address} did not answer `{query}` within {} s; check its settings (SCPI, baud rate), or give \
         it longer with `timeout=20s`", patience.as_secs_f64()
    )]
    Silent {
        /// Host and port, or the serial device.
        address: String,
        /// What it was asked.
        query: String,
        /// How long it was waited for.
        patience: Duration,
    },
    /// The meter does not take a setting.
    #[error(
        "the meter at {address} rejected `{command}`: {answer}; set `configure=` to a command that it supports, or \
         `range=` to a range that it supports"
    )]
    Refused {
        /// Host and port, or the serial device.
        address: String,
        /// What it was told.
        command: String,
        /// The entry of its error queue.
        answer: String,
    },
    /// The answer is not a number.
    #[error(
        "the meter at {address} answered `{query}` with `{answer}`, which is not one number; set `read=` to a \
             query that is answered by one"
    )]
    Answer {
        /// Host and port, or the serial device.
        address: String,
        /// What it was asked.
        query: String,
        /// What it said.
        answer: String,
    },
    /// More flows than the meter's range holds.
    #[error("the meter at {address} reports an overrange; give a larger range, such as `range=3`")]
    Overload {
        /// Host and port, or the serial device.
        address: String,
    },
    /// A file of a sensor or a log cannot be read.
    #[error("{} cannot be read: {error}{}", path.display(), remedy(error))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file of a sensor holds something else.
    #[error("{} holds `{found}`, where a whole number is expected", path.display())]
    NotANumber {
        /// The file.
        path: PathBuf,
        /// What it holds.
        found: String,
    },
    /// There is no such sensor.
    #[error("there is no {wanted} on this machine; {}", there_is(found))]
    Absent {
        /// What was looked for.
        wanted: String,
        /// What is there.
        found: Vec<String>,
    },
    /// Several sensors would do.
    #[error("{wanted} may be any of {}; name one, as in `{example}`", found.join(", "))]
    Several {
        /// What was asked for.
        wanted: String,
        /// What is there.
        found: Vec<String>,
        /// One of them, as it would be asked for.
        example: String,
    },
    /// A battery that gives nothing says nothing of what is used.
    #[error(
        "{battery} is not discharging (status `{status}`), so it does not power the machine; unplug the power supply"
    )]
    NotDischarging {
        battery: String,
        /// Its state by the kernel.
        status: String,
    },
    /// A log has no such column.
    #[error("{} has no column `{column}`; {}", path.display(), columns(found))]
    NoColumn {
        /// The log.
        path: PathBuf,
        /// The name or number that was asked for.
        column: String,
        /// The names of its columns.
        found: Vec<String>,
    },
    /// An entry of a log cannot be understood.
    #[error("{}:{line}: `{found}` is not {right}", path.display())]
    Entry {
        /// The log.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is there.
        found: String,
        /// What is expected.
        right: &'static str,
    },
    /// No thread can be had to read the meter.
    #[error("no thread can be started to read a meter: {error}; end other programs, or raise the limit (`ulimit -u`)")]
    Thread {
        /// What the system says.
        error: io::Error,
    },
}

/// What to do about a file that cannot be read.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; put sudo before the command",
        io::ErrorKind::NotFound => "; name one that is there",
        _ => "",
    }
}

fn columns(found: &[String]) -> String {
    match found {
        [] => "it has no complete line yet".to_owned(),
        found => format!("its columns are {}", found.join(", ")),
    }
}

/// How a meter that is there is reached.
fn reach(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "join the group that the device belongs to, often `dialout`, or put sudo before the command"
        }
        _ => "switch it on, and see that the address is right and no other program uses it",
    }
}

/// What there is in place of what was looked for.
fn there_is(found: &[String]) -> String {
    match found {
        [] => "`assay doctor` lists the power meters of this machine".to_owned(),
        found => format!("there is {}", found.join(", ")),
    }
}

//! The tables and values of a drive's file as they are written.

use toml::Value;

/// The file being written.
#[derive(Debug)]
pub struct File(pub String);

impl File {
    /// A table with its source and its fields.
    pub fn table(&mut self, name: &str, source: &str, fields: &[(&str, String)]) {
        self.0 += &format!("\n[{name}]\nsource = {}\n", quoted(source));
        for (field, value) in fields {
            self.0 += &format!("{field} = {value}\n");
        }
    }
}

/// A string of TOML.
pub fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// An amount of bytes.
pub fn bytes(amount: f64) -> String {
    format!("\"{amount:.0} B\"")
}

/// The same in KiB.
pub fn kib(amount: f64) -> String {
    format!("\"{:.0} KiB\"", amount / 1024.0)
}

/// A time given in microseconds.
pub fn nanoseconds(microseconds: f64) -> String {
    format!("\"{:.0} ns\"", microseconds * 1000.0)
}

/// A time given in milliseconds, to a microsecond.
pub fn milliseconds(time: f64) -> String {
    format!("\"{} ms\"", (time * 1e3).round() / 1e3)
}

/// A rate given in bytes a second.
pub fn megabytes(rate: f64) -> String {
    match (rate / 1e4).fract() == 0.0 {
        true => format!("\"{} MB/s\"", (rate / 1e4).round() / 1e2),
        false => format!("\"{rate:.0} B/s\""),
    }
}

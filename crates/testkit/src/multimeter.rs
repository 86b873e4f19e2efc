//! A multimeter that speaks the part of the Fluke 8846A's SCPI that power takes, on a port of its own.
//!
//! Source: Fluke, "8845A/8846A Digital Multimeter Programmers Manual".

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How long it measures for one reading.
const MEASURES_FOR: Duration = Duration::from_millis(5);

/// What it does when it is read.
#[derive(Clone, Debug)]
pub enum Manner {
    /// So many amperes flow.
    Amperes(f64),
    /// So many flow until it has been read so often; then it hangs up and is gone.
    Until(u64, f64),
    /// It says this.
    Says(&'static str),
    /// It never answers anything.
    Mute,
    /// It does not know how to be configured.
    Stubborn,
}

/// A multimeter on a port of its own, for as long as the test runs.
pub struct Multimeter {
    /// Where it listens, on this machine alone.
    pub port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Multimeter {
    /// One that serves a connection after the other.
    pub fn new(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let (port, heard) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(Vec::new())));
        let theirs = Arc::clone(&heard);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.expect("a connection");
                stream.set_nodelay(true).unwrap();
                let reader = BufReader::new(stream.try_clone().expect("a second handle"));
                serve(reader, stream, &manner, &theirs);
                if matches!(manner, Manner::Until(..)) {
                    break;
                }
            }
        });
        Self { port, heard }
    }

    /// The option that names it.
    pub fn at(&self, settings: &str) -> String {
        format!("scpi://127.0.0.1:{}?{settings}", self.port)
    }

    /// All that it was told, in order.
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

/// Serves whoever is at the other end of a serial line, until that hangs up; what it was told.
pub fn serve_serial(line: File, manner: &Manner, heard: &Mutex<Vec<String>>) {
    serve(BufReader::new(line.try_clone().expect("a second handle")), line, manner, heard);
}

fn serve(reader: impl BufRead, mut writer: impl Write, manner: &Manner, heard: &Mutex<Vec<String>>) {
    let (mut errors, mut readings, mut held) = (Vec::new(), 0, String::new());
    for line in reader.lines() {
        let Ok(line) = line else { return };
        heard.lock().unwrap().push(line.clone());
        if matches!(manner, Manner::Mute) {
            continue;
        }
        for command in line.split(';') {
            let answer = match command.trim_start_matches(':') {
                "*IDN?" => Some("FLUKE,8846A,9518001,08-02-10-03:53".to_owned()),
                "*CLS" => {
                    errors.clear();
                    None
                }
                "SYST:REM" | "SYST:LOC" => None,
                "SYST:ERR?" => Some(errors.pop().unwrap_or_else(|| "+0,\"No error\"".to_owned())),
                command if command.starts_with("CONF:CURR:DC") || command.starts_with("CURR:DC:NPLC ") => {
                    if matches!(manner, Manner::Stubborn) {
                        errors.push("-222,\"Data out of range\"".to_owned());
                    }
                    None
                }
                "INIT" => {
                    held = reading(manner);
                    None
                }
                "FETCH?" | "FETC?" => Some(std::mem::take(&mut held)),
                "READ?" => {
                    readings += 1;
                    if matches!(manner, Manner::Until(most, _) if readings > *most) {
                        return;
                    }
                    Some(reading(manner))
                }
                _ => {
                    errors.push("-113,\"Undefined header\"".to_owned());
                    None
                }
            };
            if let Some(answer) = answer
                && writer.write_all(format!("{answer}\r\n").as_bytes()).is_err()
            {
                return;
            }
        }
    }
}

/// What it measures, as it writes it.
fn reading(manner: &Manner) -> String {
    thread::sleep(MEASURES_FOR);
    match manner {
        Manner::Amperes(amperes) | Manner::Until(_, amperes) => {
            let exponent = amperes.abs().log10().floor() as i32;
            format!("{:+.8}E{exponent:+03}", amperes / 10f64.powi(exponent))
        }
        Manner::Says(words) => (*words).to_owned(),
        Manner::Mute | Manner::Stubborn => "+1.00000000E-01".to_owned(),
    }
}

//! Meters read over TCP, over a serial line and from the kernel, and what is said of those that fail.

use std::fs::{self, File};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use assay_lab::power::{MeterSource, PowerMeter};
use engine::Consumption;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use testkit::multimeter::{Manner, Multimeter, serve_serial};

fn open(meters: &[String]) -> PowerMeter {
    let sources: Vec<MeterSource> = meters.iter().map(|meter| meter.parse().unwrap()).collect();
    PowerMeter::open(&sources, Path::new("/")).unwrap_or_else(|error| panic!("{error}"))
}

/// What is consumed while a real time passes, from just now, and the power by the time that it took.
fn consumed_in(meter: &PowerMeter, time: Duration) -> (Consumption, f64) {
    let from = Instant::now();
    thread::sleep(time);
    let to = Instant::now();
    let consumption = meter.consumed(from, to);
    let watts = consumption.joules.map_or(0.0, |joules| joules / (to - from).as_secs_f64());
    (consumption, watts)
}

#[test]
fn meters_on_two_rails_add_up() {
    let (five, twelve) = (Multimeter::new(Manner::Amperes(0.42)), Multimeter::new(Manner::Amperes(0.0731)));
    let meter = open(&[five.at("volts=5&range=3&nplc=0.2"), twelve.at("volts=12&read=INIT;:FETC?")]);
    assert_eq!(meter.name(), "FLUKE 8846A at 5 V + FLUKE 8846A at 12 V");
    let (consumption, watts) = consumed_in(&meter, Duration::from_millis(2000));
    let expected = 5.0 * 0.42 + 12.0 * 0.0731;
    assert!((watts / expected - 1.0).abs() < 1e-6, "{watts} W for {expected} W: {consumption:?}");
    assert!(consumption.readings.unwrap() >= 10, "{consumption:?}");
    drop(meter);
    // A busy machine may let the meter hear of it a moment later.
    let is_told = || five.heard().last().is_some_and(|last| last == "SYST:LOC");
    for _ in 0..200 {
        if is_told() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let heard = five.heard();
    let begin = ["SYST:REM", "*CLS", "*IDN?", "CONF:CURR:DC 3", "SYST:ERR?", "CURR:DC:NPLC 0.2", "SYST:ERR?", "READ?"];
    assert_eq!(heard[..begin.len()], begin);
    assert_eq!(heard.last().map(String::as_str), Some("SYST:LOC"), "its keys are given back");
    assert!(twelve.heard().contains(&"INIT;:FETC?".to_owned()));
}

#[test]
fn a_meter_on_a_serial_line_is_read() {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let device = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&heard);
    // The line is held open, so that the master does not see it hang up before it is used.
    let held = File::options().read(true).write(true).open(&device).unwrap();
    thread::spawn(move || serve_serial(File::from(master), &Manner::Amperes(0.25), &theirs));
    let meter = open(&[format!("scpi:{device}?volts=5&baud=19200")]);
    let speed = rustix::termios::tcgetattr(&held).unwrap();
    assert_eq!((speed.output_speed(), speed.input_speed()), (19_200, 19_200));
    let (consumption, watts) = consumed_in(&meter, Duration::from_millis(2000));
    assert!((watts / 1.25 - 1.0).abs() < 1e-6, "{consumption:?}");
    assert_eq!(heard.lock().unwrap()[0], "SYST:REM");
}

#[test]
fn the_kernel_s_own_meters_are_read_below_a_root() {
    let root = tempfile::tempdir().unwrap();
    let chip = root.path().join("sys/class/hwmon/hwmon3");
    fs::create_dir_all(&chip).unwrap();
    fs::write(chip.join("name"), "ina226\n").unwrap();
    fs::write(chip.join("power1_input"), "2500000\n").unwrap();
    let source: MeterSource = "hwmon:ina226?every=5ms".parse().unwrap();
    let meter = PowerMeter::open(&[source], root.path()).unwrap();
    let (consumption, watts) = consumed_in(&meter, Duration::from_millis(2000));
    assert!((watts - 2.5).abs() < 1e-6, "{consumption:?}");
    fs::remove_file(chip.join("power1_input")).unwrap();
    let (consumption, _) = consumed_in(&meter, Duration::from_millis(2000));
    assert_eq!(consumption.joules, None, "never zero");
    assert!(consumption.doubts[0].contains("hwmon ina226, channel 1 failed during the measurement"), "{consumption:?}");
}

#[test]
fn a_meter_that_fails_midway_leaves_no_energy_but_its_reason() {
    let (whole, broken) = (Multimeter::new(Manner::Amperes(0.1)), Multimeter::new(Manner::Until(10, 0.1)));
    let meter = open(&[whole.at("volts=5"), broken.at("volts=12")]);
    let (consumption, _) = consumed_in(&meter, Duration::from_millis(400));
    assert_eq!((consumption.joules, consumption.readings), (None, None), "that of one rail is not that of the drive");
    let [doubt] = &consumption.doubts[..] else { panic!("{consumption:?}") };
    assert!(doubt.contains("FLUKE 8846A at 12 V failed during the measurement") && doubt.contains("broke"), "{doubt}");
}

#[test]
fn too_few_readings_and_swapped_leads_are_told() {
    let slow = Multimeter::new(Manner::Amperes(0.1));
    let (consumption, _) = consumed_in(&open(&[slow.at("volts=5&every=80ms")]), Duration::from_millis(200));
    assert_eq!(consumption.joules, None);
    assert!(consumption.doubts[0].contains("readings in this time") && consumption.doubts[0].contains("--runtime"));
    let swapped = Multimeter::new(Manner::Amperes(-0.1));
    let (consumption, _) = consumed_in(&open(&[swapped.at("volts=5")]), Duration::from_millis(200));
    assert_eq!(consumption.joules, None);
    assert!(consumption.doubts[0].contains("swap its leads"), "{consumption:?}");
}

#[test]
fn a_meter_that_cannot_be_used_is_told_at_once_with_what_to_do() {
    let refusal = |meter: &str| {
        let source: MeterSource = meter.parse().unwrap();
        PowerMeter::open(&[source], Path::new("/")).err().expect("no such meter").to_string()
    };
    let cases = [
        (Manner::Mute, "volts=5&timeout=200ms", "did not answer `*IDN?` within 0.2 s; check its settings"),
        (Manner::Stubborn, "volts=5", "rejected `CONF:CURR:DC`: -222,\"Data out of range\""),
        (Manner::Says("+9.90000000E+37"), "volts=5", "reports an overrange; give a larger range"),
        (Manner::Says("ready"), "volts=5", "answered `READ?` with `ready`, which is not one number"),
        (Manner::Says("+1.0E+00,+2.0E+00"), "measure=power", "which is not one number; set `read=`"),
    ];
    for (manner, settings, words) in cases {
        let said = refusal(&Multimeter::new(manner).at(settings));
        assert!(said.contains(words), "{said}");
    }
    // A port that was given back a moment ago: nobody is there.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let said = refusal(&format!("scpi://127.0.0.1:{port}?volts=5"));
    assert!(said.contains("cannot be reached") && said.contains("switch it on"), "{said}");
    let said = refusal("scpi:/dev/no-such-line?volts=5");
    assert!(said.contains("the meter at /dev/no-such-line cannot be reached"), "{said}");
    let said = refusal("scpi:/dev/null?volts=5");
    assert!(said.contains("/dev/null cannot be reached"), "a device that is no serial line: {said}");
}

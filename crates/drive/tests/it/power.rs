//! What a whole flash drive consumes, how it wakes, and how it slows down when it gets hot.

use assay_drive::flash::FlashDrive;
use assay_drive::preset::{Preset, Spec};
use assay_drive::{Counters, Drive};
use block::{Lba, Nanos, Op, Request, Tag};
use testkit::alike;

/// The X25-M with changes.
fn drive(changes: &str) -> FlashDrive {
    let name = alike!("x25-m?").to_owned() + &changes.replacen('?', "&", 1);
    let Spec::Flash(spec) = Preset::find(&name).unwrap().spec else { panic!("it is flash") };
    FlashDrive::new(spec)
}

/// Submits at `at` and waits for the answer; when it came.
fn ask(drive: &mut FlashDrive, at: Nanos, op: Op, page: u64) -> Nanos {
    drive.submit(at, Tag(0), Request::new(op, Lba::new(page * 8), 8));
    drive.complete(Nanos::MAX).expect("one is in flight").at
}

/// Writes 128 KiB after 128 KiB, four in flight, for that long; what it did and the time it took.
fn write_for(drive: &mut FlashDrive, time: Nanos) -> (Counters, Nanos) {
    let (began, before) = (drive.now(), drive.counters());
    let request = |index: u64| Request::new(Op::Write, Lba::new(index % 100_000 * 256), 256);
    (0..4).for_each(|index| drive.submit(began, Tag(0), request(index)));
    let mut index = 4;
    while drive.now() < began + time {
        let at = drive.complete(Nanos::MAX).unwrap().at;
        drive.submit(at, Tag(0), request(index));
        index += 1;
    }
    while drive.complete(Nanos::MAX).is_some() {}
    (drive.counters() - before, drive.now() - began)
}

#[test]
fn a_read_costs_its_time_its_page_and_its_bytes() {
    let mut drive = drive("");
    ask(&mut drive, Nanos::ZERO, Op::Write, 0);
    let before = drive.counters();
    let began = drive.now();
    let done = ask(&mut drive, began, Op::Read, 0);
    let milliwatts = 60 + 700;
    let expected = (done - began).as_nanos() * milliwatts / 1_000 + 4_125 + 4_096 / 2;
    let used = (drive.counters() - before).energy_nj;
    assert!(used.abs_diff(expected) <= 1, "{used} nJ, not {expected}: reading a counter rounds down");
}

#[test]
fn an_idle_drive_consumes_its_idle_power() {
    let mut drive = drive("");
    let first = ask(&mut drive, Nanos::ZERO, Op::Read, 0);
    let before = drive.counters().energy_nj;
    drive.submit(first + Nanos::from_secs(100), Tag(0), Request::FLUSH);
    assert_eq!(drive.counters().energy_nj - before, 6_000_000_000, "60 mW for 100 s");
}

/// Source: the second generation's most is 3.0 W, tomshardware.com, 2908; see the preset.
#[test]
fn a_writing_x25_m_takes_about_two_watts() {
    let (counters, time) = write_for(&mut drive(""), Nanos::from_secs(10));
    let watts = counters.energy_nj as f64 / time.as_nanos() as f64;
    assert!((1.9..2.2).contains(&watts), "{watts} W");
}

#[test]
fn a_sleeping_drive_consumes_less_and_answers_later_once() {
    let sleep = "?power.light=10 mW&power.light_after=1s&power.light_exit=5ms";
    let pause = Nanos::from_secs(11);
    let latency = |drive: &mut FlashDrive| {
        let first = ask(drive, Nanos::ZERO, Op::Read, 0);
        let began = first + pause;
        let woken = ask(drive, began, Op::Read, 0) - began;
        let at = drive.now();
        (woken, ask(drive, at, Op::Read, 0) - at)
    };
    let (mut awake, mut asleep) = (drive(""), drive(sleep));
    let (first, second) = latency(&mut awake);
    assert_eq!(latency(&mut asleep), (first + Nanos::from_millis(5), second));
    // Ten of eleven seconds at 10 instead of 60 mW; 5 ms of waking at 760.
    let saved = awake.counters().energy_nj - asleep.counters().energy_nj;
    assert_eq!(saved, 50 * 10 * 1_000_000 - 760 * 5 * 1_000);
}

/// 30 K/W: 2 W would make it 85 °C warm, in about a minute.
const HOT: &str = "?thermal.ambient=25 C&thermal.resistance=30 K/W&thermal.heat_capacity=2 J/K&thermal.warm=60 C\
                   &thermal.warm_pace=200%&thermal.hot=75 C&thermal.hot_pace=400%&thermal.hysteresis=2 C";

#[test]
fn a_hot_drive_slows_down_and_so_stays_below_what_it_would_reach() {
    let mut cool = drive("");
    let (at_full_pace, _) = write_for(&mut cool, Nanos::from_secs(300));
    let mut hot = drive(HOT);
    let (counters, time) = write_for(&mut hot, Nanos::from_secs(300));
    // At half the rate it uses 60 + 700 + 1,300 / 2 mW, which keeps it 42 K above the air. It began to slow down
    // when it had gone 35 of the 61 K up to where 2.04 W would take it: after 60 s ln(61 / 26).
    let health = hot.health();
    let warm = [health.temperature, health.temperature_max].map(|warm| warm.unwrap().as_celsius());
    assert!(warm.iter().all(|warm| (66..=68).contains(warm)), "{warm:?} °C");
    let slow = counters.throttled.as_secs_f64();
    assert!((slow - (300.0 - 51.0)).abs() < 3.0, "{slow} s of {time}");
    let share = counters.host_written.get() as f64 / at_full_pace.host_written.get() as f64;
    let expected = (51.0 + 249.0 / 2.0) / 300.0;
    assert!((share - expected).abs() < 0.02, "{share} of what a cool drive writes, not {expected}");
    assert_eq!(at_full_pace.throttled, Nanos::ZERO);
}

#[test]
fn a_drive_that_has_cooled_down_is_as_fast_as_before() {
    let mut drive = drive(HOT);
    let fresh = ask(&mut drive, Nanos::ZERO, Op::Read, 0);
    write_for(&mut drive, Nanos::from_secs(300));
    let later = drive.now() + Nanos::from_secs(600);
    assert_eq!(ask(&mut drive, later, Op::Read, 9_999_999) - later, fresh);
    assert_eq!(drive.health().temperature.unwrap().as_celsius(), 25 + 60 * 30 / 1_000, "60 mW at 30 K/W");
}

#[test]
fn looking_at_the_gauges_changes_nothing() {
    let run = |look: bool| {
        let mut drive = drive(HOT);
        for index in 0..20_000 {
            let at = drive.now() + Nanos::from_millis(index % 7 * 40);
            ask(&mut drive, at, Op::Write, index * 7_919 % 1_000_000);
            if look {
                drive.health();
                drive.counters();
            }
        }
        (drive.counters(), drive.health(), drive.now())
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn a_clone_is_as_warm_and_as_slow() {
    let mut original = drive(HOT);
    write_for(&mut original, Nanos::from_secs(200));
    let mut used = drive("");
    used.clone_from(&original);
    let mut fresh = original.clone();
    let told = write_for(&mut fresh, Nanos::from_secs(20));
    assert_eq!(write_for(&mut used, Nanos::from_secs(20)), told);
    assert_eq!(write_for(&mut original, Nanos::from_secs(20)), told);
}

#[test]
fn what_makes_no_power_or_thermal_table_is_explained() {
    for (change, words) in [
        ("power.idle=2 VA", "use one of uW, mW, W"),
        ("power.light=10 mW", "a sleep state needs its power"),
        (
            "power.light=1 mW&light_after=2s&light_exit=0s&deep=1 mW&deep_after=1s&deep_exit=0s",
            "the lighter sleep state must begin first",
        ),
        ("thermal.warm=70 C", "missing field"),
        (&HOT[1..].replace("=75 C", "=50 C"), "ambient < warm ≤ hot"),
        (&HOT[1..].replace("=400%", "=150%"), "100% ≤ warm_pace ≤ hot_pace"),
        (&HOT[1..].replace("=2 J/K", "=0.01 J/K"), "from a second to some years"),
        ("power.idel=1 W", "did you mean `power.idle`?"),
    ] {
        let said = Preset::find(&format!("x25-m?{change}")).unwrap_err().to_string();
        assert!(said.contains(words), "{change}: {said}");
    }
}

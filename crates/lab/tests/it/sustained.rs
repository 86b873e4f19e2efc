//! Random writes that drives for servers sustain, beside what their makers rate: whole drives in the steady state, at the scale
//! at which published figures are replicated.

use assay_lab::Silent;
use assay_lab::replicate::{QosRequest, replicate_qos};
use block::Seed;
use drive::preset::sheet::Ratings;
use drive::preset::{Preset, Promise, Rated};
use plan::replicate::qos;
use testkit::figures;

/// What these sustain after as many random overwrites as bring them into the steady state, a second.
fn sustained(drives: Vec<Preset>) -> Vec<f64> {
    let figures: String = (0..drives.len())
        .map(|place| {
            let (id, workers) = (format!("d{place}"), if drives[place].rated.random_depth > Some(32) { 8 } else { 1 });
            let cond = format!("rw = \"randwrite\", bs = 4096, qd = 32, workers = {workers}, overwrites = 2");
            figures::drive(&id, "x25-m", "any")
                + &figures::experiment(
                    &format!("{id}/writes"),
                    &id,
                    "check",
                    &cond,
                    "{ q = \"mean\", v = 1 }, { q = \"IOPS\", v = 1, unit = \"IOPS\" }",
                )
        })
        .collect();
    let qos = qos::parse(&figures).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    let drives = drives.into_iter().map(|drive| Some(Ok(drive))).collect();
    let request = QosRequest { qos: &qos, drives, seed: Seed::new(1), is_quick: true, blocks: None, states: None };
    let run = replicate_qos(&request, &Silent);
    run.answers.iter().map(|answers| answers[1].simulated.as_ref().expect("it was simulated").value).collect()
}

/// Which of these are farther from their ratings than that, and beyond what is excused.
fn off(drives: &[(Preset, f64)], tolerance: f64, is_excused: impl Fn(&Preset) -> bool) -> Vec<String> {
    let found = sustained(drives.iter().map(|(preset, _)| preset.clone()).collect());
    let mut wrong = Vec::new();
    for ((preset, rated), found) in drives.iter().zip(found) {
        let by = found / rated - 1.0;
        println!("{:<16} {rated:>8.0} rated {found:>8.0} sustained {:+.1} %", preset.name, by * 100.0);
        if (by.abs() > tolerance) != is_excused(preset) {
            wrong.push(format!("{}: {found:.0} a second, rated {rated:.0}", preset.name));
        }
    }
    wrong
}

/// What its file says of its ratings.
fn said(preset: &Preset) -> String {
    let file: toml::Table = preset.text.parse().unwrap();
    file["rated"]["source"].as_str().unwrap().to_owned()
}

/// The first of each family that is rated by what it sustains, and siblings that something else holds.
const DRIVES: [&str; 22] = [
    "7450-max-800",
    "7450-pro-960",
    "7450-pro-3840",
    "dc500m-480",
    "dc500m-960",
    "p3700-800",
    "p400m-400",
    "p4500-1tb",
    "p5520-7680",
    "pe8110-960",
    "pm883-480",
    "pm883-960",
    "pm983-960",
    "pm983-1920",
    "pm9a3-960",
    "s3500-m2-80",
    "s3610-400",
    "s3610-480",
    "s3610-800",
    "s3700-400",
    "sm843-480",
    "sn640-960",
];

/// Those that are not met are the maxima of a series, which its smaller drives do not reach, or their files say why not.
#[test]
fn drives_for_servers_sustain_the_random_writes_that_are_rated() {
    let rated = |preset: Preset| (preset.rated.random_write_iops.expect("it is rated") as f64, preset);
    let drives = DRIVES.map(|name| rated(Preset::find(name).unwrap())).map(|(rated, preset)| (preset, rated));
    let is_excused = |preset: &Preset| {
        let Rated { fitted, .. } = &preset.rated;
        let is_maximum = !fitted.is_empty() && !fitted.contains(&Promise::RandomWriteIops);
        said(preset).contains("random_write_iops: not met")
            || is_maximum && said(preset).contains("maxima of the series")
    };
    let wrong = off(&drives, 0.10, is_excused);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Client drives are rated empty; of those for servers the spare follows from the rating.
#[test]
fn drives_made_of_data_sheets_sustain_the_random_writes_that_are_rated() {
    let sheets = [
        ("960GB, interface=PCIe 4.0 x4, nand=TLC", 6500, 1500, 580_000, 70_000),
        ("1.92TB, interface=PCIe 4.0 x4, nand=TLC", 7000, 2700, 800_000, 145_000),
        ("1.6TB, interface=PCIe 4.0 x4, nand=TLC", 7000, 4300, 1_000_000, 300_000),
        ("480GB, interface=SATA 6Gb/s, nand=TLC", 550, 520, 98_000, 24_000),
        ("400GB, interface=SATA 6Gb/s, nand=MLC", 500, 460, 75_000, 36_000),
        ("960GB, interface=SATA 6Gb/s, nand=TLC", 555, 520, 98_000, 70_000),
    ];
    let made = |(facts, read, write, random_read, random_write): (&str, u32, u32, u32, u32)| {
        let text = format!(
            "capacity={facts}, class=server, sequential-read={read} MB/s, sequential-write={write} MB/s, \
             random-read={random_read} IOPS, random-write={random_write} IOPS"
        );
        let file = Ratings::read([&*text]).unwrap().file(&format!("d{random_write}")).unwrap();
        (Preset::parse(&file).unwrap(), f64::from(random_write))
    };
    let wrong = off(&sheets.map(made), 0.06, |_| false);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

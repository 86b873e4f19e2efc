//! Fitting drives of a family to latencies that the model itself made with other parameters.

use assay_lab::Silent;
use assay_lab::calibrate::{Calibration, FamilyDrive, FamilyRequest, FitPoints, Search, calibrate_family, parse_list};
use assay_lab::replicate::qos::{Qos, parse};
use assay_lab::replicate::{QosRequest, replicate_qos};
use block::Seed;
use drive::preset::Preset;
use testkit::figures::{drive, experiment};

/// Two drives that share a controller and have each their own flash.
const DRIVES: [&str; 2] = ["x25-m?capacity.user=64MiB&spare=400%", "x25-e-32?capacity.user=64MiB&spare=400%"];
const TRUTH: &str = "controller.command=31us&controller.retire=70us";

/// Points of both drives; those that check are multiplied by `lie`.
fn figures(values: &[[f64; 3]; 2], lie: f64) -> Qos {
    let mut text = String::new();
    for preset in ["x25-m", "x25-e-32"] {
        text += &drive(&format!("of-{preset}"), preset, "D");
    }
    for (preset, [mean, rate, check]) in ["x25-m", "x25-e-32"].into_iter().zip(values) {
        let points = format!(
            "{{ q = \"mean\", v = {mean} }}, {{ q = \"IOPS QD16\", v = {rate}, unit = \"IOPS\", qd = 16 }}, \
             {{ q = \"p50 QD4\", v = {}, use = \"check\", qd = 4 }}, {{ q = \"max\", v = 1 }}",
            check * lie
        );
        let conditions = "rw = \"randread\", bs = 4096, qd = 1, overwrites = 0";
        text += &experiment(&format!("{preset}/reads"), &format!("of-{preset}"), "fit", conditions, &points);
    }
    parse(&text).unwrap()
}

/// What the drives give with the true parameters.
fn made(lie: f64) -> Qos {
    let blank = figures(&[[1.0; 3]; 2], 1.0);
    let drives = DRIVES.map(|name| Some(Ok(Preset::find(&format!("{name}&{TRUTH}")).unwrap())));
    let request = QosRequest {
        qos: &blank,
        drives: drives.into(),
        seed: Seed::new(5),
        is_quick: true,
        blocks: None,
        states: None,
    };
    let run = replicate_qos(&request, &Silent);
    let value = |group: usize, at: usize| run.answers[group][at].simulated.unwrap().value;
    figures(&[0, 1].map(|group| [0, 1, 2].map(|at| value(group, at))), lie)
}

fn request(drives: &[&str], rounds: u32) -> FamilyRequest {
    let qos = figures(&[[1.0; 3]; 2], 1.0);
    let drive = |name: &&str| FamilyDrive::named(&qos, name, Preset::find(name).unwrap()).unwrap();
    let bounds = "controller.command=5us..60us,controller.retire=20us..150us";
    FamilyRequest {
        figures: "mine.toml".to_owned(),
        drives: drives.iter().map(drive).collect(),
        search: Search { parameters: parse_list(bounds).unwrap(), only: Vec::new(), seed: Seed::new(5), rounds },
        is_quick: true,
        blocks: None,
    }
}

fn fit(qos: &Qos, request: &FamilyRequest) -> Calibration {
    calibrate_family(qos, request, &Silent).unwrap()
}

#[test]
fn parameters_that_two_drives_share_are_found_again_and_written_as_their_class() {
    let found = fit(&made(1.0), &request(&DRIVES, 4));
    for (fitted, truth) in found.parameters.iter().zip([31_000.0, 70_000.0]) {
        let error = fitted.value as f64 / truth - 1.0;
        assert!(error.abs() < 0.05, "{}: {} for {truth}, seed 5", fitted.parameter.name, fitted.value);
    }
    assert_eq!((found.fitted[1].judged, found.checked[1].judged), (4, 2), "maxima are not looked at");
    assert!(found.fitted[0].median > found.fitted[1].median && found.checked[1].median.unwrap() < 0.05);
    let class: toml::Table = found.text.parse().unwrap();
    assert_eq!(class["kind"].as_str(), Some("flash"));
    let table = class["controller"].as_table().unwrap();
    assert_eq!(table["command"].as_str(), Some(format!("{} ns", found.parameters[0].value).as_str()));
    let source = table["source"].as_str().unwrap();
    assert!(source.contains("Fitted to `mine.toml` by `assay calibrate` (seed 5): command, retire;"), "{source}");
    assert!(source.contains("x25-m") && source.contains("x25-e-32"), "{source}");
}

#[test]
fn checked_points_are_never_read_while_fitting() {
    let short = request(&DRIVES[..1], 1);
    let (honest, lying) = (fit(&made(1.0), &short), fit(&made(3.0), &short));
    assert_eq!(honest.parameters, lying.parameters, "checked points three times too high change nothing");
    assert_eq!(honest.text, lying.text);
    assert_ne!(honest.checked, lying.checked, "but it is told that they are missed");
    let seen = FitPoints::of(&made(1.0), &short).unwrap();
    assert_eq!(seen.points().map(|point| point.name.as_str()).collect::<Vec<_>>(), ["mean", "IOPS QD16"]);
    assert!(Preset::parse(&honest.text).is_ok(), "one drive is written as a whole");
}

#[test]
fn what_cannot_be_fitted_is_explained() {
    let said = |change: fn(&mut FamilyRequest)| {
        let mut request = request(&DRIVES, 1);
        change(&mut request);
        calibrate_family(&figures(&[[1.0; 3]; 2], 1.0), &request, &Silent).expect_err("it cannot be fitted").to_string()
    };
    assert!(said(|request| request.drives.clear()).contains("no figure"));
    assert!(said(|request| request.search.only = vec!["nothing".to_owned()]).contains("widen --only"));
    let wrong = said(|request| request.search.parameters = parse_list("controller.comand=1us..2us").unwrap());
    assert!(wrong.contains("did you mean `controller.command`?"), "{wrong}");
    let twice = said(|request| request.drives[1] = request.drives[0].clone());
    assert!(twice.contains("would both be fitted to the figures of x25-m"), "{twice}");
    let qos = figures(&[[1.0; 3]; 2], 1.0);
    let other = || Preset::find("990-pro").unwrap();
    let said = FamilyDrive::named(&qos, "990-pro", other()).expect_err("there are none").to_string();
    assert!(said.contains("no figures of a drive `990-pro`"), "{said}");
    let said = FamilyDrive::only(&qos, other()).expect_err("there are two").to_string();
    assert!(said.contains("990-pro") && said.contains("--on: x25-m, x25-e-32"), "{said}");
}

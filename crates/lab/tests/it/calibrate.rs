//! Fitting a drive to figures that the model itself made with other parameters.

use assay_lab::Silent;
use assay_lab::calibrate::{Calibration, CalibrationRequest, FitFigures, Parameter, Search, calibrate, parse_list};
use assay_lab::plan::catalog::PlanSource;
use assay_lab::replicate::{Review, replicate};
use block::Seed;
use drive::preset::Preset;

const METHOD: &str = r#"
name = "made"

[[part]]
name = "flash"
target = "x25-m?capacity.user=800MB"

[[part.step]]
name = "fill"
do = "fill"

[[part.step]]
name = "read"
rw = "randread"
number_ios = 150
sweep.bs = ["512", "1k", "4k", "8k"]
yields.iops = "made/{bs}"

[[part.step]]
name = "deep-read"
same-as = "read"
iodepth = 32
number_ios = 600
sweep.bs = ["512", "1k"]
yields.iops = "made/deep-{bs}"

[[part]]
name = "elsewhere"
target = "x26-m"

[[part.step]]
name = "read"
rw = "randread"
number_ios = 10
yields.iops = "made/elsewhere"
"#;

/// What the figures are made with.
const TRUTH: [(&str, u64); 3] = [("nand.read", 43_000), ("controller.command", 31_000), ("nand.channel", 37_000_000)];

/// Figures by block size, one at a time, which latencies decide together, and 32 at once, which the controller
/// decides alone; every second is `fit`, and the others are multiplied by `lie`.
fn figures(of: impl Fn(&str) -> f64, lie: f64) -> String {
    let sizes = ["512", "1k", "4k", "8k", "deep-512", "deep-1k"];
    let line = |(place, size): (usize, &&str)| {
        let (usage, value) = if place % 2 == 0 { ("fit", of(size)) } else { ("check", of(size) * lie) };
        format!("    {{ id = \"made/{size}\", use = \"{usage}\", value = {value:.3} }},\n")
    };
    let lines: String = sizes.iter().enumerate().map(line).collect();
    format!(
        "review = \"made\"\ntitle = \"Made\"\nsource = \"the model itself\"\n\n[[group]]\ntitle = \"Reads\"\ntolerance = \"5%\"\n\n\
         [[group.series]]\ntitle = \"Reads\"\nunit = \"IOPS\"\nfigures = [\n{lines}    \
         {{ id = \"made/elsewhere\", use = \"fit\", value = 1 }},\n]\n"
    )
}

fn review(figures: &str, method: &str) -> Review {
    let source = |text: &str| PlanSource { file_name: "made.toml".to_owned(), text: text.to_owned() };
    Review::new(source(figures), source(method)).unwrap()
}

/// The review whose figures the drive with the true parameters gives.
fn made(lie: f64) -> Review {
    let unit = ["ns", "ns", "B/s"];
    let truth: String = TRUTH.iter().zip(unit).map(|((name, value), unit)| format!("&{name}={value} {unit}")).collect();
    let method = METHOD.replace("800MB", &format!("800MB{truth}"));
    let done = replicate(&[review(&figures(|_| 1.0, 1.0), &method)], Seed::new(5), &Silent).remove(0);
    let of = |size: &str| {
        let id = format!("made/{size}");
        let answer = done.all().find(|answer| answer.figure.id == id);
        answer.and_then(|answer| answer.measured).unwrap_or_else(|| panic!("{id}: {:?}", done.missing))
    };
    review(&figures(of, lie), METHOD)
}

fn request() -> CalibrationRequest {
    let bounds = "nand.read=20us..90us,controller.command=5us..60us,nand.channel=20MB/s..80MB/s";
    CalibrationRequest {
        drive: "x25-m".to_owned(),
        search: Search { parameters: parse_list(bounds).unwrap(), only: Vec::new(), seed: Seed::new(5), rounds: 6 },
    }
}

fn rounds(rounds: u32) -> CalibrationRequest {
    let CalibrationRequest { drive, search } = request();
    CalibrationRequest { drive, search: Search { rounds, ..search } }
}

fn fit(review: &Review, request: &CalibrationRequest) -> Calibration {
    calibrate(review, request, &Silent).unwrap()
}

#[test]
fn known_parameters_are_found_again() {
    let found = fit(&made(1.0), &request());
    for (fitted, (name, truth)) in found.parameters.iter().zip(TRUTH) {
        let error = fitted.value as f64 / truth as f64 - 1.0;
        assert!(error.abs() < 0.03, "{name}: {} for {truth}, seed 5", fitted.value);
        assert!(!fitted.is_at_bound(), "{name}");
        assert!(fitted.sensitivity.iter().all(|change| change.unwrap() > 0.0), "{name}: any change makes it worse");
    }
    assert_eq!((found.fitted[1].judged, found.checked[1].judged), (3, 3));
    assert!(found.fitted[0].median.unwrap() > 0.05 && found.fitted[1].median.unwrap() < 0.005, "{:?}", found.fitted);
    assert!(found.checked[1].median.unwrap() < 0.01, "what was not fitted is predicted: {:?}", found.checked);
    let written = Preset::parse(&found.text).unwrap();
    assert_eq!(found.parameters[0].parameter.current(&written.text), Some(found.parameters[0].value));
    assert!(found.text.contains("Fitted to `made` by `assay calibrate` (seed 5): command;"), "{}", found.text);
}

#[test]
fn checked_figures_are_never_read_while_fitting() {
    let short = rounds(2);
    let (honest, lying) = (fit(&made(1.0), &short), fit(&made(3.0), &short));
    assert_eq!(honest.parameters, lying.parameters, "checked figures three times too high change nothing");
    assert_eq!(honest.text, lying.text);
    assert_ne!(honest.checked, lying.checked, "but it is told that they are missed");
    let seen = FitFigures::of(&made(1.0), "x25-m", &[], Seed::new(5)).unwrap();
    assert_eq!(seen.ids().collect::<Vec<_>>(), ["made/512", "made/4k", "made/deep-512"]);
}

#[test]
fn one_seed_tells_one_story() {
    let short = rounds(1);
    assert_eq!(fit(&made(1.0), &short), fit(&made(1.0), &short));
}

#[test]
fn only_the_figures_that_are_named_are_fitted_to() {
    let seen = FitFigures::of(&made(1.0), "x25-m", &["/4k".to_owned()], Seed::new(5)).unwrap();
    assert_eq!(seen.ids().collect::<Vec<_>>(), ["made/4k"]);
}

#[test]
fn a_parameter_at_its_bound_is_told() {
    let parameters = vec![Parameter::parse("controller.command=5us..12us").unwrap()];
    let CalibrationRequest { drive, search } = rounds(2);
    let found = fit(&made(1.0), &CalibrationRequest { drive, search: Search { parameters, ..search } });
    assert!(found.parameters[0].is_at_bound(), "31 µs lies beyond: {:?}", found.parameters[0]);
}

#[test]
fn what_cannot_be_fitted_is_explained() {
    let review = made(1.0);
    let said = |change: fn(&mut CalibrationRequest)| {
        let mut request = request();
        change(&mut request);
        calibrate(&review, &request, &Silent).expect_err("it cannot be fitted").to_string()
    };
    assert!(said(|request| request.drive = "x25m".to_owned()).contains("did you mean `x25-m`?"));
    assert!(
        said(|request| request.search.parameters = parse_list("nand.reed=1us..2us").unwrap())
            .contains("did you mean `nand.read`?")
    );
    assert!(said(|request| request.search.only = vec!["nothing".to_owned()]).contains("widen --only"));
    let elsewhere = METHOD.replace("x25-m?capacity.user=800MB", "x27-m");
    let review = self::review(&figures(|_| 1.0, 1.0), &elsewhere);
    let said = calibrate(&review, &request(), &Silent).unwrap_err().to_string();
    assert!(said.contains("no part of `made` measures `x25-m`; its parts run on x26-m, x27-m"), "{said}");
}

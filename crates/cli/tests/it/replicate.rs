//! Repeating a review, and fitting a drive to it, from the command line.

use crate::support::{FIGURES, METHOD, Place};
use serde_json::Value;
use testkit::figures::{drive, experiment};

fn place() -> (Place, String) {
    let place = Place::new();
    let figures = place.small_review();
    (place, figures)
}

#[test]
fn a_review_of_ones_own_is_repeated_and_reported() {
    let (place, figures) = place();
    let told = place.succeeds(&["replicate", &figures]);
    assert!(told.lines().all(|line| line.chars().count() <= 80 || line.starts_with("Report: ")), "{told}");
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Fitted: 1 of 1 met") && words.contains("Checked: 1 of 1 met"), "{told}");
    let path = told.lines().last().unwrap().strip_prefix("Report: ").expect("the last line says where the report is");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.contains("A small review") && path.ends_with("assay-reports/replicate-small.html"), "{path}");
    assert!(page.contains("and the same files") && page.contains(&format!("assay replicate {figures} --seed 1")));
    assert_eq!(place.succeeds(&["replicate", &figures]), told, "one seed tells one story");
}

#[test]
fn a_document_has_each_figure_and_nothing_is_written_unasked() {
    let (place, figures) = place();
    let document: Value = serde_json::from_str(&place.succeeds(&["replicate", &figures, "--format", "json"])).unwrap();
    let figure = &document["figures"][0];
    for key in ["id", "use", "published", "measured", "error"] {
        assert!(!figure[key].is_null(), "{key}: {figure}");
    }
    assert_eq!(document["reviews"][0]["conditions"][0]["target"], "sim:x25-m");
    assert!(!place.path("assay-reports").exists());
}

#[test]
fn what_is_wrong_is_refused_with_its_place() {
    let (place, figures) = place();
    assert!(place.refuses(&["replicate", "solid-dat"]).contains("did you mean `solid-data`?"));
    std::fs::write(place.path("small.toml"), FIGURES.replace("use = \"fit\"", "use = \"fti\"")).unwrap();
    let said = place.refuses(&["replicate", &figures]);
    assert!(said.contains("small.toml:15") && said.contains("did you mean `fit`?"), "{said}");
}

#[test]
fn a_drive_that_there_is_not_is_named() {
    let (place, figures) = place();
    std::fs::write(place.path("small-method.toml"), METHOD.replace("target = \"x25-m\"", "target = \"x26-m\""))
        .unwrap();
    let told = place.succeeds(&["replicate", &figures]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("there is no simulated drive `x26-m`"), "{told}");
    assert!(told.contains("Incomplete: 2 figures were not measured."), "{told}");
}

#[test]
fn a_drive_is_fitted_told_and_written() {
    let (place, figures) = place();
    let fit = ["calibrate", "x25-m", "--figures", &figures, "--parameters", "nand.read=20us..120us", "--rounds", "1"];
    let told = place.succeeds(&fit);
    assert!(told.lines().all(|line| line.chars().count() <= 80 || line.starts_with("Drive: ")), "{told}");
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("nand.read 46 µs") && words.contains("20 µs to 120 µs"), "{told}");
    let tally = |word: &str| told.lines().find(|line| line.starts_with(word)).map(str::to_owned).unwrap_or_default();
    assert!(tally("Fitted").contains("1 of 1") && tally("Checked").contains("of 1"), "{told}");
    let path = told.lines().last().unwrap().strip_prefix("Drive: ").expect("the last line says where the drive is");
    let drive = std::fs::read_to_string(path).unwrap();
    assert!(drive.contains("# Intel X25-M, first generation") && drive.contains("Fitted to `small`"), "{drive}");
    assert_eq!(place.succeeds(&fit), told, "one seed tells one story");
    assert_eq!(std::fs::read_to_string(path).unwrap(), drive);
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let (place, figures) = place();
    let said =
        |drive: &str, list: &str| place.refuses(&["calibrate", drive, "--figures", &figures, "--parameters", list]);
    assert!(said("x25m", "nand.read=20us..80us").contains("did you mean `x25-m`?"));
    assert!(said("x25-m", "nand.reed=20us..80us").contains("did you mean `nand.read`?"));
    assert!(said("x25-m", "nand.read=20us").contains("nand.read=20us..80us"));
}

/// The drive with the fewest figures, in place of which a small one is simulated.
const QOS: [&str; 6] = ["replicate", "qos", "--drive", "pm983-960", "--quick", "--on"];
const SMALL: &str = "x25-m?capacity.user=256MiB&spare=20%";

#[test]
fn published_latencies_stand_beside_simulated_ones_and_are_recorded() {
    let place = Place::new();
    let words = [&QOS[..], &[SMALL, "--record", "record.toml"]].concat();
    let told = place.succeeds(&words);
    let is_narrow = |line: &str| line.chars().count() <= 80 || line.starts_with("Report: ");
    assert!(told.lines().all(is_narrow), "{told}");
    assert!(told.contains("datasheet, random read latency typ, µs") && told.contains("≤ 85.0"), "{told}");
    assert!(told.contains("Ratings and bounds") && told.contains("no points"), "{told}");
    let record = std::fs::read_to_string(place.path("record.toml")).unwrap();
    assert!(record.contains("[\"x25-m?capacity.user=256MiB&spare=20%\"]"), "{record}");
    let page = std::fs::read_to_string(place.path("assay-reports/replicate-qos.html")).unwrap();
    assert!(page.contains("Prediction errors of the drives") && page.contains("Samsung PM983"));
    let command =
        format!("assay replicate qos --drive pm983-960 --on '{}' --quick --seed 1", SMALL.replace('&', "&amp;"));
    assert!(page.contains(&command), "the report says how to repeat it");
    let json = [&QOS[..], &[SMALL, "--format", "json"]].concat();
    let document: Value = serde_json::from_str(&place.succeeds(&json)).unwrap();
    assert_eq!(document["points"].as_array().unwrap().len(), 4);
    assert_eq!(document["points"][0]["standing"], "bound");
    assert!(document["points"][0]["grade"] == "A" && document["points"][0]["seen"].is_string(), "{document}");
    assert_eq!(document["drives"][0]["preset"], "pm983-960");
    assert_eq!(document["bars"].as_array().unwrap().len(), 10);
}

#[test]
fn what_the_published_latencies_do_not_take_is_refused() {
    let place = Place::new();
    for (words, said) in [
        (vec!["replicate", "qos", "solid-data"], "give it alone"),
        (vec!["replicate", "--quick"], "--quick belongs to `assay replicate qos` and files"),
        (vec!["replicate", "qos", "--drive", "pe8110-960"], "there are no figures of `pe8110-960`, but facts alone"),
        (vec!["replicate", "qos", "--drive", "pm983-96"], "did you mean `pm983-960`?"),
        (vec!["replicate", "qos", "--on", "x25-m"], "name that with --drive"),
        (vec!["replicate", "qos", "--drive", "pm983-960", "--on", "x26-m"], "there is no simulated drive `x26-m`"),
        (vec!["replicate", "qos", "--blocks", "3"], "--blocks"),
    ] {
        let told = place.refuses(&words);
        assert!(told.contains(said), "{words:?}: {told}");
    }
}

/// Figures of one's own: of a built-in drive, of one that is known by its id, and of one that is not.
fn own() -> String {
    let head =
        "schema_version = 1\n[how]\n\"log\" = \"a log\"\n[[drive]]\nid = \"samsung-pm983\"\nsplit = \"points\"\n";
    let steady = "rw = \"randread\", bs = 4096, qd = 4, state = \"steady\"";
    let points = "{ q = \"p50\", v = 200 }, { q = \"IOPS\", v = 20000, unit = \"IOPS\" }, { q = \"fastest\", v = 1 }";
    let mean = "{ q = \"mean\", v = 85 }";
    [
        head.to_owned(),
        drive("mine", "x25-m", "Mine"),
        drive("theirs", "./theirs.toml", "Theirs"),
        experiment("mine/randread-qd4", "mine", "check", steady, points),
        experiment("samsung-pm983/sheet", "samsung-pm983", "check", "bs = 4096", mean),
        experiment("theirs/randread", "theirs", "check", "rw = \"randread\", bs = 4096, qd = 1", mean),
    ]
    .concat()
}

fn words(told: &str) -> String {
    told.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn figures_of_ones_own_stand_beside_simulated_ones() {
    let place = Place::new();
    std::fs::write(place.path("my own.toml"), own()).unwrap();
    let own = ["replicate", "./my own.toml", "--quick", "--drive", "mine", "--on"];
    let told = place.succeeds(&[&own[..], &[SMALL]].concat());
    assert!(told.contains("randread-qd4, p50, µs") && words(&told).contains("1 drive, 2 points simulated"), "{told}");
    assert!(words(&told).contains("Not simulated, `fastest` names no quantity that is simulated"), "{told}");
    let page = std::fs::read_to_string(place.path("assay-reports/replicate-my-own.html")).unwrap();
    let command =
        format!("assay replicate './my own.toml' --drive mine --on '{}' --quick --seed 1", SMALL.replace('&', "&amp;"));
    assert!(page.contains(&command), "the report says how to repeat it");
    let json = [&own[..], &[SMALL, "--format", "json", "--seed", "7"]].concat();
    let document: Value = serde_json::from_str(&place.succeeds(&json)).unwrap();
    assert_eq!((&document["seed"], &document["points"][2]["standing"]), (&Value::from(7), &Value::from("unmeasured")));
}

#[test]
fn a_drive_that_is_not_simulated_says_why_and_its_own_file_takes_its_place() {
    let place = Place::new();
    std::fs::write(place.path("own.toml"), own()).unwrap();
    std::fs::write(place.path("theirs.toml"), "name = \"read by nobody\"").unwrap();
    let told = words(&place.succeeds(&["replicate", "own.toml", "--quick", "--drive", "theirs"]));
    assert!(told.contains("Not simulated: `./theirs.toml` is no built-in preset"), "{told}");
    assert!(told.contains("`--drive theirs --on ./theirs.toml`"), "what to do instead: {told}");
    let told = words(&place.succeeds(&["replicate", "own.toml", "--quick", "--drive", "pm983-960"]));
    assert!(told.contains("sim:pm983-960"), "known by its id: {told}");
    assert!(told.contains("its conditions have no `rw`; add `rw = \"randread\"`"), "{told}");
    std::fs::write(place.path("theirs.toml"), place.succeeds(&["drives", "show", "--toml", SMALL])).unwrap();
    let told = place.succeeds(&["replicate", "own.toml", "--quick", "--drive", "theirs", "--on", "./theirs.toml"]);
    assert!(told.contains("1 drive, 1 point simulated"), "{told}");
    assert!(place.refuses(&["replicate", "own.toml", "--on", "x25-m"]).contains("name that with --drive"));
}

#[test]
fn what_a_drive_cannot_be_brought_to_is_told_and_its_other_experiments_are_simulated() {
    let place = Place::new();
    let points = "{ q = \"mean\", v = 85 }, { q = \"IOPS\", v = 9000, unit = \"IOPS\" }";
    let on = |id: &str, drive: &str, more: &str| {
        experiment(id, drive, "check", &format!("bs = 4096, qd = 1, rw = {more}"), points)
    };
    let text = [
        drive("zones", "zn540-1tb", "Z"),
        drive("disk", "nearline-7200", "N"),
        on("zones/worn", "zones", "\"randread\", overwrites = 1"),
        on("zones/filled", "zones", "\"randread\""),
        on("zones/trim", "zones", "\"randtrim\""),
        on("disk/worn", "disk", "\"randread\", overwrites = 1"),
    ];
    std::fs::write(place.path("zones.toml"), text.concat()).unwrap();
    std::fs::write(place.path("trim.toml"), drive("d", "x25-m", "D") + &on("d/trim", "d", "\"randtrim\"")).unwrap();
    let run = |name: &str, more: &[&str]| -> Value {
        let words = [&["replicate", name, "--quick", "--format", "json"], more].concat();
        serde_json::from_str(&place.succeeds(&words)).unwrap()
    };
    let document = run("zones.toml", &[]);
    let standings: Vec<&str> =
        document["points"].as_array().unwrap().iter().map(|point| point["standing"].as_str().unwrap()).collect();
    let (no, yes) = (["unmeasured"; 2], ["counts"; 2]);
    assert_eq!(standings, [no, yes, no, yes].concat());
    let told = words(&document.to_string());
    assert!(told.contains("cannot be overwritten at random; leave `overwrites` out"), "{told}");
    assert!(told.contains("do not take this workload: a trim resets a zone") && !told.contains("--"), "{told}");
    let trims = run("trim.toml", &["--on", SMALL]);
    for point in trims["points"].as_array().unwrap() {
        assert!(point["simulated"].as_f64().is_some_and(|value| value > 0.0), "{point}");
    }
}

#[test]
fn what_holds_no_figures_is_refused() {
    let place = Place::new();
    let write = |name: &str, text: &[u8]| std::fs::write(place.path(name), text).unwrap();
    write("own.toml", own().as_bytes());
    write("bytes.toml", b"[[qos]]\n\xff\xfe");
    write("syntax.toml", b"[[qos]]\nid = \n");
    write("key.toml", own().replace("qd = 4", "qdd = 4").as_bytes());
    write("value.toml", own().replace("v = 200", "v = -200").as_bytes());
    write("huge.toml", own().replace("qd = 4", "qd = 99999999999999999999").as_bytes());
    write("version.toml", own().replace("schema_version = 1", "schema_version = 2").as_bytes());
    write("nothing.toml", b"qos = []");
    write("empty.toml", b"");
    write("place.toml", own().replace("unit = \"us\"\n", "unit = \"us\"\noverwrites = 3\n").as_bytes());
    write("unit.toml", own().replace("bs = 4096", "bs = \"4k\"").as_bytes());
    // Sparse: no disk is filled.
    std::fs::File::create(place.path("large.toml")).unwrap().set_len(100_000_000).unwrap();
    std::fs::create_dir(place.path("folder.toml")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(place.path("fifo.toml")).status().unwrap();
    assert!(fifo.success());
    for (name, said) in [
        ("missing.toml", "No such file"),
        ("bytes.toml", "not UTF-8"),
        ("large.toml", "more than 1 MiB"),
        ("folder.toml", "it is a folder"),
        ("fifo.toml", "the FIFO has no writer"),
        ("/dev/zero", "it is a character device"),
        ("syntax.toml", "syntax.toml:2"),
        ("key.toml", "did you mean `qd`?"),
        ("value.toml", "-200 is not a valid figure"),
        ("huge.toml", "99999999999999999999 is out of range"),
        ("version.toml", "only version 1"),
        ("nothing.toml", "there are no experiments"),
        ("empty.toml", "it is empty, and neither `review` nor `[[qos]]`"),
        ("place.toml", "`overwrites` is not read in `[[qos]]`"),
        ("unit.toml", "write `bs = 4096`"),
    ] {
        let told = place.refuses(&["replicate", name]);
        assert!(told.contains(said), "{name}: {told}");
    }
    assert!(place.refuses(&["replicate", "own.toml", "solid-data"]).contains("give it alone"));
    let told = place.refuses(&["calibrate", "x25-m", "--figures", "solid-data", "--quick"]);
    assert!(told.contains("belong to `--figures qos`"), "{told}");
    let told = place.refuses(&["calibrate", "./mine.toml", "--figures", "solid-data"]);
    assert!(told.contains("`./mine.toml` is a file; fit it to latencies"), "{told}");
}

/// From a drive of one's own to a model of it: measured by fio's line, its output as figures, and a drive's file that was wrong
/// fitted to them.
#[test]
fn what_fio_measured_is_compared_and_a_drives_file_is_fitted_to_it() {
    let place = Place::new();
    let small = "capacity.user=512MiB&spare=20%";
    let job = "[global]\nioengine=libaio\ndirect=1\nfilename=drive\nbs=4k\nrw=randread\ntime_based\nruntime=1\n\
               [fill]\nrw=write\nbs=1m\ntime_based=0\nruntime=0\nio_size=512m\n\
               [one]\nstonewall\n[four]\nstonewall\niodepth=4\n[sixteen]\nstonewall\niodepth=16\n\
               [writes]\nstonewall\nrw=randwrite\n";
    std::fs::write(place.path("job.fio"), job).unwrap();
    let measured = format!("sim:x25-m?{small}&nand.read=61us");
    place.succeeds(&["fio", &measured, "job.fio", "--output-format=json", "--output=results.json"]);
    let made = place.assay(&["import", "results.json", "--drive", "mine", "--fit", "half", "-o", "figures.toml"]);
    assert!(made.code == Some(0) && made.stderr.contains("--overwrites"), "{}", made.stderr);
    std::fs::write(place.path("mine.toml"), place.succeeds(&["drives", "show", &format!("x25-m?{small}"), "--toml"]))
        .unwrap();

    let ratios = |drive: &str| -> Vec<(String, f64)> {
        let told = place.succeeds(&["replicate", "figures.toml", "--on", drive, "--format", "json", "--state-cache=0"]);
        let document: Value = serde_json::from_str(&told).unwrap();
        let points = document["points"].as_array().unwrap().iter();
        let ratio = |point: &Value| Some((point["id"].as_str()?.to_owned(), point["ratio"].as_f64()?));
        let is_plain = |name: &str| ["/mean", "/IOPS", "/p50", "/p99"].iter().any(|end| name.ends_with(end));
        points.filter_map(ratio).filter(|(name, _)| is_plain(name)).collect()
    };
    let same = ratios(&measured["sim:".len()..]);
    assert_eq!(same.len(), 20, "{same:?}");
    assert!(same.iter().all(|(_, ratio)| (0.93..1.07).contains(ratio)), "the drive itself: {same:?}");
    let wrong = ratios("./mine.toml");
    assert!(wrong.iter().any(|(name, ratio)| name == "mine/one/mean" && *ratio < 0.95), "{wrong:?}");

    let fit = [
        "calibrate",
        "./mine.toml",
        "--figures",
        "figures.toml",
        "--parameters",
        "nand.read=30us..90us",
        "--rounds",
        "2",
    ];
    let told = place.succeeds(&fit);
    let found = told.lines().find(|line| line.starts_with("nand.read")).expect("it is told").to_owned();
    let value: f64 = found.split_whitespace().nth(3).unwrap().parse().unwrap();
    assert!((58.0..64.0).contains(&value), "61 us are true: {found}");
    assert!(std::fs::read_to_string(place.path("mine-fitted.toml")).unwrap().contains("Fitted to `figures.toml`"));

    // A pipe can be read once alone.
    let piped = format!("{} import <(cat results.json) --drive mine --fit half", env!("CARGO_BIN_EXE_assay"));
    let said = std::process::Command::new("bash").args(["-c", &piped]).current_dir(place.path("")).output().unwrap();
    let whole = std::fs::read_to_string(place.path("figures.toml")).unwrap();
    let (piped, whole) = (String::from_utf8(said.stdout).unwrap(), whole.split_once('\n').unwrap().1.to_owned());
    assert_eq!(piped.split_once('\n').map(|(_, rest)| rest), Some(whole.as_str()), "all but the file's name");
    let job = format!("{} import <(cat job.fio)", env!("CARGO_BIN_EXE_assay"));
    let said = std::process::Command::new("bash").args(["-c", &job]).current_dir(place.path("")).output().unwrap();
    assert!(said.status.success() && !said.stdout.is_empty(), "{}", String::from_utf8_lossy(&said.stderr));

    let refused = |arguments: &[&str], said: &str| {
        let told = place.refuses(arguments).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(said), "{arguments:?}: {told}");
    };
    refused(&["calibrate", "x25-m", "--figures", "figures.toml"], "no figures of a drive `x25-m`");
    refused(&["import", "results.json", "job.fio"], "job.fio is no output of fio's: it has no JSON");
    refused(&["import", "job.fio", "--fit", "all"], "are for fio's JSON output");
    refused(&["import", "job.fio", "job.fio"], "one by one");
    refused(&["import", "results.json", "--drive", "./mine.toml"], "give it as `--on ./mine.toml`");
    refused(&["import", "results.json", "--strict"], "refused by --strict");
    refused(&["import", "results.json", "--section", "one"], "are for fio's job files");
}

#[test]
fn a_drive_says_how_well_it_predicts() {
    let place = Place::new();
    let told = place.succeeds(&["drives", "show", "optane-p4800x"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("to 4 of its ratings") && told.contains("for validation"), "{told}");
}

//! fio's logs and documents: what a job asks for, where it goes, and that others' tools read it as they read fio's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Place, fio_plot, skip, tool};

/// A job that makes 200 requests a second in each direction for three of a simulated drive's seconds.
const PACED: [&str; 10] = [
    "fio",
    "sim:x25-m?capacity.user=1GiB",
    "--name=a",
    "--rw=randrw",
    "--bs=4k",
    "--rate_iops=200",
    "--runtime=3",
    "--time_based",
    "--iodepth=4",
    "--size=64m",
];

/// All logs of intervals of half a second.
const ALL: [&str; 6] = [
    "--write_bw_log=x",
    "--write_lat_log=x",
    "--write_iops_log=x",
    "--write_hist_log=x",
    "--log_hist_msec=500",
    "--log_avg_msec=500",
];

fn rows(path: &Path) -> Vec<Vec<u64>> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| line.split(", ").map(|cell| cell.parse().unwrap()).collect()).collect()
}

/// The names in a folder that end in `.log`.
fn logs(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".log"))
        .collect();
    names.sort();
    names
}

#[test]
fn intervals_have_a_line_for_each_direction_and_clones_files_of_their_own() {
    let place = Place::new();
    place.succeeds(&[&PACED[..], &ALL, &["--numjobs=2"]].concat());
    let kinds = ["bw", "clat", "clat_hist", "iops", "lat", "slat"];
    let names: Vec<String> =
        kinds.iter().flat_map(|kind| [format!("x_{kind}.1.log"), format!("x_{kind}.2.log")]).collect();
    assert_eq!(logs(&place.path(".")), names);
    let iops = rows(&place.path("x_iops.1.log"));
    let ends: Vec<u64> = iops.iter().filter(|row| row[2] == 0).map(|row| row[0]).collect();
    assert_eq!(ends, [500, 1000, 1500, 2000, 2500, 3000]);
    for both in iops.chunks(2) {
        let all = both[0][1] + both[1][1];
        assert!(all.abs_diff(400) <= 4 && both[0][3..] == [0, 0] && both[0].len() == 5, "{both:?}");
    }
    for both in rows(&place.path("x_bw.2.log")).chunks(2) {
        assert!((both[0][1] + both[1][1]).abs_diff(1600) <= 16, "{both:?} is not 400 × 4 KiB a second");
    }
    let latencies = rows(&place.path("x_lat.1.log"));
    assert!(latencies.len() >= 10 && latencies.iter().all(|row| row[1] > 10_000), "{latencies:?}");
    let histograms = rows(&place.path("x_clat_hist.1.log"));
    assert!(histograms.iter().all(|row| row.len() == 3 + 1856), "as fio 3.33 has them");
    let counted: u64 = histograms.iter().flat_map(|row| &row[3..]).sum();
    assert!((800..=1200).contains(&counted), "{counted} of 1200 requests of the worker");
    assert!(
        rows(&place.path("x_slat.1.log")).iter().all(|row| row[1] == 0),
        "to hand over takes a simulated drive no time"
    );
}

#[test]
fn a_line_for_each_request_has_the_columns_that_are_asked_for() {
    let place = Place::new();
    let line = ["fio", "--name=a", "--filename=f", "--size=64k", "--rw=write", "--bs=16k"];
    place.succeeds(
        &[&line[..], &["--write_bw_log=d", "--write_iops_log", "--write_lat_log=d", "--log_offset=1", "--log_prio=1"]]
            .concat(),
    );
    let iops = fs::read_to_string(place.path("a_iops.1.log")).unwrap();
    let told: Vec<&str> = iops.lines().map(|line| line.split_once(", ").unwrap().1).collect();
    assert_eq!(told, [0, 16384, 32768, 49152].map(|offset| format!("1, 1, 16384, {offset}, 0x0000")));
    assert_eq!(fs::read_to_string(place.path("d_slat.1.log")).unwrap(), "", "as fio's is of an engine that waits");
    let queued = ["--ioengine=libaio", "--iodepth=4", "--direct=1", "--write_lat_log=q", "--rw=read"];
    place.succeeds(&[&line[..], &queued].concat());
    let slat = rows(&place.path("q_slat.1.log"));
    assert!(slat.len() == 4 && slat.iter().all(|row| row[1] > 0), "{slat:?}");
    for kind in ["bw", "lat", "clat"] {
        let text = fs::read_to_string(place.path(&format!("d_{kind}.1.log"))).unwrap();
        assert_eq!(text.lines().count(), 4, "{kind}");
    }
    // One log of all clones and of both jobs, with times since 1970.
    let both =
        ["--per_job_logs=0", "--write_iops_log=all", "--log_unix_epoch=1", "--size=64k", "--rw=read", "--bs=16k"];
    place.succeeds(&[&["fio"], &both[..], &["--name=b", "--numjobs=2", "--name=c"]].concat());
    let all = rows(&place.path("all_iops.log"));
    assert!(all.len() == 12 && all.iter().all(|row| row[0] > 1_700_000_000_000), "{all:?}");
}

#[test]
fn one_seed_gives_one_log_on_a_simulated_drive() {
    let log = || {
        let place = Place::new();
        place.succeeds(&[&PACED[..], &["--write_lat_log=x", "--log_offset=1"]].concat());
        fs::read(place.path("x_lat.1.log")).unwrap()
    };
    let first = log();
    assert!(first.len() > 10_000 && first == log());
}

#[test]
fn a_job_file_chooses_the_beginning_of_a_name_and_no_folder() {
    let place = Place::new();
    for folder in ["jobs", "logs"] {
        fs::create_dir(place.path(folder)).unwrap();
    }
    let run = |named: &str, more: &[&str]| {
        let job = format!("[a]\nrw=randread\nsize=1m\nnumber_ios=9\nwrite_iops_log={named}\n");
        fs::write(place.path("jobs/job.fio"), job).unwrap();
        place.assay(&[&["fio", "jobs/job.fio", "sim:x25-m?capacity.user=1GiB"], more].concat())
    };
    for named in ["/etc/cron.d/x", "../../x", "x"] {
        let said = run(named, &[]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        assert!(said.stderr.contains("Logs are written: x_iops.1.log"), "{}", said.stderr);
        assert_eq!(rows(&place.path("x_iops.1.log")).len(), 9);
        fs::remove_file(place.path("x_iops.1.log")).unwrap();
    }
    assert_eq!(run("/x", &["--log-dir=logs"]).code, Some(0));
    assert_eq!(logs(&place.path("logs")), ["x_iops.1.log"]);
    fs::write(place.path("mine_iops.1.log"), "mine").unwrap();
    for (named, words) in [("mine", "is not as assay wrote it"), ("a/.x", "not allowed"), ("a/", "not allowed")] {
        let said = run(named, &[]);
        assert!(said.code == Some(1) && said.stderr.contains(words), "{named}: {}", said.stderr);
    }
    assert_eq!(fs::read_to_string(place.path("mine_iops.1.log")).unwrap(), "mine");
    let many = run("x\nbs=512\nnumjobs=2000", &[]);
    assert!(many.code == Some(1) && many.stderr.contains("--per_job_logs=0"), "{}", many.stderr);
    // The command line may name any place, as with --output.
    place.succeeds(&[&PACED[..], &["--write_iops_log=logs/typed"]].concat());
    assert!(place.path("logs/typed_iops.1.log").exists());
}

/// A tool of fio's package, unpacked where Debian keeps it as documentation.
fn of_fio(place: &Place, name: &str) -> Option<PathBuf> {
    let packed = PathBuf::from(format!("/usr/share/doc/fio/{name}.gz"));
    tool("python3").filter(|_| packed.exists())?;
    let unpacked = Command::new("gzip").args(["-dc"]).arg(packed).output().ok()?;
    let path = place.path(name);
    fs::write(&path, unpacked.stdout).unwrap();
    Some(path)
}

/// What a tool prints of the logs in a folder.
fn read_by(program: &Path, words: &[&str], folder: &Path) -> String {
    let done = Command::new("python3").arg(program).args(words).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{} {words:?}: {said}", program.display());
    String::from_utf8(done.stdout).unwrap()
}

/// fio itself, asked for the same logs in a folder of its own; none where it is not installed.
fn fios(place: &Place, words: &[&str]) -> Option<PathBuf> {
    tool("fio")?;
    let folder = place.path("theirs");
    fs::create_dir(&folder).unwrap();
    let line = ["--name=a", "--size=1m", "--rw=randrw", "--bs=4k", "--rate_iops=200", "--runtime=3", "--time_based"];
    let done = Command::new("fio").args(line).args(words).current_dir(&folder).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(folder)
}

/// As users do for fio 3.33, whose logs have a column more than its own parser takes.
fn without_last_column(log: &Path, to: &Path) {
    let text = fs::read_to_string(log).unwrap();
    let lines = text.lines().map(|line| line.rsplit_once(", ").unwrap().0.to_owned() + "\n");
    fs::write(to, lines.collect::<String>()).unwrap();
}

/// How many columns each line has.
fn shape(text: &str) -> Vec<usize> {
    text.lines().map(|line| line.split_whitespace().count()).collect()
}

#[test]
fn fiologparser_reads_our_logs_as_it_reads_fio_s() {
    let place = Place::new();
    let Some(parser) = of_fio(&place, "fiologparser.py") else {
        return skip("fio's fiologparser.py or python3 is not installed (Debian: fio)");
    };
    let words = ["--write_lat_log=x", "--log_avg_msec=100"];
    place.succeeds(&[&PACED[..], &words].concat());
    let Some(theirs) = fios(&place, &words) else { return skip("fio is not installed") };
    let read = |folder: &Path| {
        without_last_column(&folder.join("x_lat.1.log"), &folder.join("cut"));
        read_by(&parser, &["-i", "1000", "cut"], folder)
    };
    let (ours, theirs) = (read(&place.path(".")), read(&theirs));
    assert_eq!(shape(&ours), shape(&theirs), "{ours}\n{theirs}");
    let values: Vec<u64> = rows(&place.path("x_lat.1.log")).iter().map(|row| row[1]).collect();
    let (least, most) = (*values.iter().min().unwrap() as f64, *values.iter().max().unwrap() as f64);
    let mean: f64 = ours.trim().parse().unwrap();
    assert!((least..=most).contains(&mean), "{mean} is none of {least} to {most}");
}

#[test]
fn fio_s_percentiles_of_histograms_are_those_of_the_run() {
    let place = Place::new();
    let Some(program) = of_fio(&place, "fio-histo-log-pctiles.py") else {
        return skip("fio's fio-histo-log-pctiles.py or python3 is not installed (Debian: fio)");
    };
    let words = ["--write_hist_log=x", "--log_hist_msec=250", "--output-format=json"];
    let document: serde_json::Value = serde_json::from_str(&place.succeeds(&[&PACED[..], &words].concat())).unwrap();
    let said = read_by(&program, &["--fio-version", "3", "--time-quantum", "1", "x_clat_hist.1.log"], &place.path("."));
    let rows = said.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    let medians: Vec<f64> = rows.map(|line| line.split(',').nth(3).unwrap().trim().parse().unwrap()).collect();
    let of = |rw: &str| document["jobs"][0][rw]["clat_ns"]["percentile"]["50.000000"].as_f64().unwrap() / 1e3;
    let (least, most) = (of("read").min(of("write")) * 0.95, of("read").max(of("write")) * 1.05);
    assert!(medians.len() >= 2 && medians.iter().all(|median| (least..most).contains(median)), "{said}");
}

#[test]
fn fio2gnuplot_and_fio_plot_read_our_logs() {
    let place = Place::new();
    place.succeeds(&[&PACED[..], &ALL].concat());
    match tool("fio2gnuplot") {
        None => skip("fio2gnuplot is not installed (Debian: fio)"),
        Some(program) => {
            let done = Command::new(program).args(["-b", "-t", "ours"]).current_dir(place.path(".")).output().unwrap();
            let said = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
            match said.contains("No module named") {
                true => skip("fio2gnuplot lacks a module of Python (Debian: python3-six)"),
                false => assert!(done.status.success() && said.contains("|-> x_bw.1.log"), "{said}"),
            }
        }
    }
    let Some(program) = fio_plot() else { return skip("fio-plot is not installed (scripts/tools)") };
    // It looks for logs by the names that bench-fio gives them.
    let folder = place.path("plotted");
    fs::create_dir(&folder).unwrap();
    for kind in ["bw", "iops", "lat", "clat", "slat"] {
        let text = fs::read(place.path(&format!("x_{kind}.1.log"))).unwrap();
        fs::write(folder.join(format!("randrw-iodepth-4-numjobs-1_{kind}.1.log")), text).unwrap();
    }
    let done = Command::new(program)
        .args([
            "-i", ".", "-T", "t", "-g", "-t", "bw", "iops", "lat", "-r", "randrw", "-d", "4", "-n", "1", "-o", "p.png",
        ])
        .current_dir(&folder)
        .env("MPLBACKEND", "Agg")
        .env("MPLCONFIGDIR", place.path("matplotlib"))
        .output()
        .unwrap();
    let said = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(done.status.success() && !said.contains("Traceback"), "{said}");
    assert!(fs::read(folder.join("p.png")).is_ok_and(|picture| picture.len() > 20_000), "{said}");
}

#[test]
fn the_status_is_printed_at_intervals_and_the_end_is_the_last() {
    let place = Place::new();
    let line = ["fio", "--name=a", "--filename=f", "--size=1m", "--rw=randread", "--bs=4k", "--rate_iops=100"];
    let long = ["--runtime=3", "--time_based", "--status-interval=1", "--output-format=terse,normal"];
    let told = place.succeeds(&[&line[..], &long].concat());
    let counts: Vec<u64> = told
        .lines()
        .filter(|line| line.starts_with("3;"))
        .map(|line| line.split(';').nth(5).unwrap().parse().unwrap())
        .collect();
    assert!((2..=5).contains(&counts.len()), "{told}");
    assert!(counts.windows(2).all(|pair| pair[0] <= pair[1]), "none has less than the one before: {counts:?}");
    assert_eq!(told.matches("rw=randread, bs=").count(), 1, "the heading is printed once: {told}");
    assert_eq!(told.matches("a: (groupid=0").count(), counts.len());
    let (terse, normal) = (told.find("\n3;").unwrap(), told.find("a: (groupid=0").unwrap());
    assert!(terse < normal, "in fio's order: terse, json, normal");
    let said = place.assay(&[&line[..], &["--status-interval=x"]].concat());
    assert!(said.code == Some(1) && said.stderr.contains("--status-interval=x is no interval"), "{}", said.stderr);
}

#[test]
fn formats_are_combined_as_fio_combines_them() {
    let place = Place::new();
    // What fio 3.33 prints for each, by what its parts begin with.
    let table: [(&[&str], &str); 8] = [
        (&["--output-format=normal,json"], "json normal"),
        (&["--output-format=json,json+"], "json"),
        (&["--output-format=json", "--append-terse"], "terse json"),
        (&["--append-terse", "--output-format=json"], "json"),
        (&["--append-terse"], "terse normal"),
        (&["--minimal", "--output-format=normal"], "normal"),
        (&["--minimal", "--append-terse"], "terse"),
        (&["--output-format=normal", "--minimal"], "terse"),
    ];
    for (words, expected) in table {
        let line = ["fio", "--name=a", "--size=64k", "--bs=4k", "--filename=f"];
        let told = place.succeeds(&[&line[..], words].concat());
        let part = |line: &str| match line {
            "{" => Some("json"),
            line if line.starts_with("3;") => Some("terse"),
            line if line.starts_with("a: (groupid") => Some("normal"),
            _ => None,
        };
        let parts: Vec<&str> = told.lines().filter_map(part).collect();
        assert_eq!(parts.join(" "), expected, "{words:?}");
    }
    let said = place.assay(&["fio", "--latency-log=x", "--name=a", "--size=64k", "--filename=f"]);
    assert!(said.code == Some(1) && said.stderr.contains("write_lat_log"), "as fio ends: {}", said.stderr);
}

#[derive(serde::Deserialize)]
struct Recipes {
    recipes: Vec<Recipe>,
}

#[derive(serde::Deserialize)]
struct Recipe {
    filter: String,
    source: String,
}

#[test]
fn what_scripts_ask_of_fio_s_documents_by_jq_ours_answer_too() {
    let (Some(jq), Some(fio)) = (tool("jq"), tool("fio")) else { return skip("jq or fio is not installed") };
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/jq.toml");
    let recipes: Recipes = toml::from_str(&fs::read_to_string(list).unwrap()).unwrap();
    let (ours, theirs) = (Place::new(), Place::new());
    let line = ["--name=a", "--filename=f", "--size=1m", "--rw=randrw", "--bs=4k", "--fsync=8", "--output-format=json"];
    let line = [&line[..], &["--rate_iops=60", "--runtime=2", "--time_based"]].concat();
    fs::write(ours.path("d.json"), ours.succeeds(&[&["fio"], &line[..]].concat())).unwrap();
    let done = Command::new(fio).args(&line).current_dir(theirs.path(".")).output().unwrap();
    fs::write(theirs.path("d.json"), done.stdout).unwrap();
    let ask = |place: &Place, filter: &str| {
        let done = Command::new(&jq).args(["-c", filter, "d.json"]).current_dir(place.path(".")).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let answer = String::from_utf8(done.stdout).unwrap();
        let shape = answer.lines().map(|line| kind(&serde_json::from_str(line).unwrap())).collect::<Vec<_>>();
        (done.status.success(), said, shape)
    };
    for Recipe { filter, source } in &recipes.recipes {
        // What no kernel counts of a file's device, as of one in memory, neither program has.
        let (expected, found) = (ask(&theirs, filter), ask(&ours, filter));
        assert!(expected.0, "{filter} ({source}): {}", expected.1);
        assert_eq!(found, expected, "{filter} ({source})");
    }
}

/// What a value is, with all that it holds.
fn kind(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "text".to_owned(),
        Value::Array(all) => format!("[{}]", all.iter().map(kind).collect::<Vec<_>>().join(", ")),
        Value::Object(all) => {
            let all: Vec<String> = all.iter().map(|(key, value)| format!("{key}: {}", kind(value))).collect();
            format!("{{{}}}", all.join(", "))
        }
    }
}

//! fio-plot, which draws what fio measured, given what assay measured.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::{Place, fio_plot, skip};

/// Writes the document of a short run into `place`, under any name: fio-plot looks at what a document says.
fn measured(place: &Place, rw: &str, sizes: &str, depth: &str, workers: &str) {
    let [rw_option, depth_option, workers_option] =
        [("rw", rw), ("iodepth", depth), ("numjobs", workers)].map(|(name, value)| format!("--{name}={value}"));
    let run =
        ["run", "sim:x25-m?capacity.user=1GiB", &rw_option, sizes, &depth_option, &workers_option, "--number_ios=2000"];
    let document = place.succeeds(&[&run[..], &["--format=fio"]].concat());
    std::fs::write(place.path(&format!("{rw}-{depth}-{workers}.json")), document).unwrap();
}

/// Draws a chart of the documents in `place`; the picture's width and height.
fn drawn(program: &Path, place: &Place, name: &str, chart: &[&str]) -> (u32, u32) {
    let picture = place.path(name);
    let Output { status, stdout, stderr } = Command::new(program)
        .args(["--input-directory", ".", "--title", "x25-m", "--source", "assay", "--output-filename"])
        .arg(&picture)
        .args(chart)
        .current_dir(place.path("."))
        .env("MPLBACKEND", "Agg")
        .env("MPLCONFIGDIR", place.path("matplotlib"))
        .output()
        .unwrap();
    let said = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(status.success() && !said.contains("Traceback"), "fio-plot {chart:?}: {said}");
    let bytes =
        std::fs::read(&picture).unwrap_or_else(|error| panic!("fio-plot {chart:?} drew nothing: {error}: {said}"));
    assert!(bytes.len() > 20_000, "{name}: {} bytes are too few for a chart", bytes.len());
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n", "{name}");
    assert_eq!(&bytes[bytes.len() - 8..bytes.len() - 4], b"IEND", "{name} is not whole");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn fio_plot_draws_pictures_of_our_documents() {
    let Some(program) = fio_plot() else {
        return skip("fio-plot is not installed (scripts/tools, or pip install fio-plot)");
    };
    let place = Place::new();
    for depth in ["1", "4", "32"] {
        for workers in ["1", "2", "4"] {
            measured(&place, "randread", "--bs=4k", depth, workers);
        }
        measured(&place, "randrw", "--profile=file-server", depth, "4");
    }
    let (depths, workers) = (["-d", "1", "4", "32"], ["-n", "1", "2", "4"]);
    let charts: [(&str, Vec<&str>); 5] = [
        ("depths.png", [&["-l", "-r", "randread", "-n", "1"], &depths[..]].concat()),
        ("workers.png", [&["-N", "-r", "randread", "-d", "32"], &workers[..]].concat()),
        ("both.png", [&["-L", "-t", "iops", "-r", "randread"], &depths[..], &workers[..]].concat()),
        ("histogram.png", vec!["-H", "-r", "randread", "-d", "32", "-n", "1"]),
        ("mixed.png", [&["-l", "-r", "randrw", "-f", "read", "-n", "4", "--show-cpu"], &depths[..]].concat()),
    ];
    for (name, chart) in charts {
        let (width, height) = drawn(&program, &place, name, &chart);
        assert!(
            (600..10_000).contains(&width) && (300..10_000).contains(&height),
            "{name} has {width} × {height} dots"
        );
    }
}

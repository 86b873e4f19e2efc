//! What Prometheus reads of a review.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Place, skip, tool};

/// The samples of a text, each by its name; a line that is none of the format's ends the test.
fn samples(text: &str) -> HashMap<String, f64> {
    let mut found = HashMap::new();
    let mut family = String::new();
    assert!(text.ends_with("# EOF\n"), "the text is whole:\n{text}");
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            family = rest.split(' ').next().unwrap().to_owned();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            assert_eq!(rest, format!("{family} gauge"));
        } else {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert_eq!(name.split('{').next().unwrap(), family, "{line}");
            let is_new = found.insert(family.clone(), value.parse().unwrap()).is_none();
            assert!(is_new, "{family} stands twice");
        }
    }
    found
}

#[test]
fn a_finished_review_leaves_its_figures() {
    let place = Place::new();
    let plan = place.short_plan();
    place.succeeds(&["review", "--plan", &plan, "--metrics", "assay.prom"]);
    let text = std::fs::read_to_string(place.path("assay.prom")).unwrap();
    let samples = samples(&text);
    assert_eq!((samples["assay_running"], samples["assay_progress_ratio"]), (0.0, 1.0), "{text}");
    let measured = place.succeeds(&["show", "last", "--format", "jsonl"]).lines().count();
    assert_eq!(samples["assay_measurements"], measured as f64, "{text}");
    assert!(samples["assay_last_iops"] > 0.0 && samples["assay_last_latency_p99_seconds"] < 1.0, "{text}");
    assert!(text.contains("plan=\"short\"") && text.contains("target=\"sim:x25-m\""), "{text}");
    let left = std::fs::read_dir(place.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.filter(|name| name.to_string_lossy().starts_with("assay.prom")).count() == 1, "no half is left");

    let Some(promtool) = tool("promtool") else { return skip("promtool is not installed") };
    let mut check = Command::new(promtool).args(["check", "metrics"]).stdin(Stdio::piped()).spawn().unwrap();
    check.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(check.wait().unwrap().success(), "promtool refuses:\n{text}");
}

#[test]
fn a_review_under_way_tells_how_far_it_is() {
    let place = Place::new();
    let mut review = place.command(&["review", "--metrics", "assay.prom"]);
    let mut review = review.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    let told = loop {
        let text = std::fs::read_to_string(place.path("assay.prom")).unwrap_or_default();
        let told = if text.is_empty() { HashMap::new() } else { samples(&text) };
        if told.get("assay_progress_ratio").is_some_and(|share| *share > 0.0) {
            break told;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "nothing is told: {text}");
        std::thread::sleep(Duration::from_millis(50));
    };
    review.kill().unwrap();
    review.wait().unwrap();
    assert_eq!(told["assay_running"], 1.0);
    assert!(told["assay_progress_ratio"] < 1.0 && told["assay_left_seconds"] > 0.0, "{told:?}");
}

#[test]
fn a_file_that_cannot_be_written_is_refused_at_once() {
    let place = Place::new();
    let said = place.refuses(&["review", "--metrics", "no/such/folder/assay.prom"]);
    assert!(said.contains("no/such/folder/assay.prom") && said.contains("name another file"), "{said}");
    assert!(place.refuses(&["show", "last"]).contains("no run"), "nothing was begun");
}

/// What is answered at an address: the head and the body.
fn asked(address: &str, question: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(question.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

#[test]
fn a_review_under_way_answers_at_an_address() {
    let place = Place::new();
    let mut review = place.command(&["review", "--metrics", "127.0.0.1:0"]);
    let mut review = review.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(review.stderr.take().unwrap()).lines().map(Result::unwrap);
    // The rest is read to its end, so that the program is not kept from telling it.
    let mut said = said.inspect(|line| eprintln!("{line}"));
    let place = said.find_map(|line| Some(line.strip_prefix("Metrics: http://")?.to_owned())).unwrap();
    let address = place.strip_suffix("/metrics").unwrap();
    let began = Instant::now();
    let told = loop {
        // Before the run begins nobody answers yet; whoever asks waits.
        let (head, body) = asked(address, &format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n"));
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("application/openmetrics-text"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
        let told = samples(&body);
        if told["assay_progress_ratio"] > 0.0 && told["assay_measurements"] > 0.0 {
            break told;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "nothing is told: {body}");
        std::thread::sleep(Duration::from_millis(50));
    };
    let status = |path: &str, host: &str| asked(address, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")).0;
    assert!(status("/secrets", address).starts_with("HTTP/1.1 404"));
    assert!(status("/metrics", "evil.example").starts_with("HTTP/1.1 403"), "a page's own name may lead here");
    review.kill().unwrap();
    review.wait().unwrap();
    assert_eq!(told["assay_running"], 1.0);
    assert!(told["assay_last_iops"] > 0.0, "{told:?}");
}

#[test]
fn an_address_that_others_reach_or_that_is_taken_is_refused_at_once() {
    let place = Place::new();
    let said = place.refuses(&["review", "--metrics", "0.0.0.0:0"]);
    assert!(said.contains("0.0.0.0:0 is reachable from other machines") && said.contains("--metrics-public"), "{said}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let said = place.refuses(&["review", "--metrics", &taken.local_addr().unwrap().to_string()]);
    assert!(said.contains("cannot listen on 127.0.0.1:") && said.contains("give another port"), "{said}");
    let said = place.refuses(&["review", "--metrics", "somewhere:9187"]);
    assert!(said.contains("an address and a port in numbers"), "{said}");
    assert!(place.refuses(&["show", "last"]).contains("no run"), "nothing was begun");
}

#[test]
fn an_address_that_others_reach_is_had_where_that_is_meant() {
    let place = Place::new();
    let plan = place.short_plan();
    let said = place.assay(&["review", "--plan", &plan, "--metrics", "0.0.0.0:0", "--metrics-public"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stderr.contains("Metrics: http://0.0.0.0:"), "{}", said.stderr);
}

//! A store of ten thousand runs is as quick to look through as one of ten.

use std::time::{Duration, Instant};

use crate::support::Place;
use crate::support::served::Served;
use rusqlite::Connection;

const RUNS: u64 = 10_000;
/// What the first page may take of the server's processor time.
const FIRST_PAGE: Duration = Duration::from_millis(200);
/// How often each page is asked for.
const TIMES: u32 = 15;

/// Copies the first run until there are so many, on a hundred drives and by four plans, some of them failed. Texts of
/// plans and environments are as long as they really are.
fn multiply(place: &Place) {
    let connection = Connection::open(place.store()).unwrap();
    let plan = include_str!("../../../../plans/review.toml");
    let environment = format!("{{\"cpu\": \"{}\"}}", "x".repeat(3000));
    let sql = "WITH RECURSIVE number (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < ?1) \
         INSERT INTO run (plan, plan_text, quick, target, target_identity, seed, state, started_ms, finished_ms, version, \
                          git_commit, environment) \
         SELECT 'plan-' || (n % 4), ?2, n % 2, '/dev/disk/by-id/drive-' || (n % 100), 'Maker Model ' || (n % 100), n, \
                CASE n % 10 WHEN 0 THEN 'failed' ELSE 'complete' END, started_ms + n * 60000, started_ms + n * 61000, version, \
                git_commit, ?3 FROM number, run WHERE run.id = 1";
    connection.pragma_update(None, "synchronous", "OFF").unwrap();
    connection.execute(sql, (RUNS as i64, plan, environment)).unwrap();
}

#[test]
fn the_first_page_of_ten_thousand_runs_takes_less_than_200_ms() {
    let place = Place::new();
    place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", "--rw=randread", "--number_ios=10"]);
    multiply(&place);
    let served = Served::new(&place, &[]);
    let first = served.get("/").body;
    assert!(
        first.contains("10,000 runs") && first.contains("/run/10000\"") && first.contains("/run/9951\""),
        "{first}"
    );
    let last = served.get("/?page=200").body;
    assert!(last.contains("/run/1\"") && last.contains("/run/50\"") && !last.contains("/run/51\""), "{last}");
    let found = served.get("/?q=model+42&state=failed").body;
    assert!(found.contains("No run matches"), "drive 42 never has a number that ends with 0: {found}");
    let found = served.get("/?q=model+40&state=failed&plan=plan-0").body;
    assert!(
        found.contains("1–50 of 100 runs") && !found.contains("/run/40\"") && found.contains("/run/9940\""),
        "{found}"
    );

    for page in
        ["/", "/?page=100", "/?q=model+42", "/?target=%2Fdev%2Fdisk%2Fby-id%2Fdrive-7&state=complete", "/?q=nothing"]
    {
        let before = served.processor_time();
        let mut waits: Vec<Duration> = (0..TIMES)
            .map(|_| {
                let since = Instant::now();
                assert_eq!(served.get(page).status, 200);
                since.elapsed()
            })
            .collect();
        waits.sort();
        let each = (served.processor_time() - before) / TIMES;
        println!("{page}: {each:?} of the processor, median wait {:?}", waits[waits.len() / 2]);
        assert!(each < FIRST_PAGE, "{page}: {each:?}");
    }
}

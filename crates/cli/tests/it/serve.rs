//! `assay serve` over the wire: what is found, what is refused, and that many may ask at once.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::support::Place;
use crate::support::served::Served;

/// A place with two runs of a short plan, which differ by their seeds.
fn reviewed() -> Place {
    let place = Place::new();
    let plan = place.short_plan();
    for seed in ["1", "2"] {
        place.succeeds(&["review", "sim:x25-m", "--plan", &plan, "--seed", seed, "--out", "reports"]);
    }
    place
}

#[test]
fn runs_are_listed_found_shown_and_compared() {
    let place = reviewed();
    place.succeeds(&["run", "sim:x25-m", "--rw=randread", "--number_ios=100"]);
    let served = Served::new(&place, &[]);

    let list = served.get("/");
    assert_eq!(list.status, 200);
    assert!(list.body.contains("3 runs") && list.body.contains("/run/3"), "{}", list.body);
    let found = served.get("/?q=SHORT&target=sim%3Ax25-m&plan=short&state=complete").body;
    assert!(found.contains("/run/1\"") && found.contains("/run/2\"") && !found.contains("/run/3\""), "{found}");
    assert!(served.get("/?state=failed").body.contains("No run matches"));
    let nasty = served.get("/?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E%25_").body;
    assert!(!nasty.contains("<script>alert") && nasty.contains("No run matches"), "{nasty}");

    let report = served.get("/run/1");
    assert!(report.body.contains("Every kind of step") && report.body.contains("/run/1/csv"), "{}", report.body);
    assert_eq!(served.get("/run/1/json").body, place.succeeds(&["show", "1", "--format", "json"]));
    assert_eq!(served.get("/run/1/csv").body, place.succeeds(&["show", "1", "--format", "csv"]));
    assert!(served.get("/run/1/text").head.contains("text/plain"));
    for address in ["/compare?runs=2%2C1", "/compare?runs=2&runs=1"] {
        let comparison = served.get(address);
        assert_eq!(comparison.status, 200, "{}", comparison.body);
        let title = if address.contains("%2C") { "Run 1 compared with run 2" } else { "Run 2 compared with run 1" };
        assert!(comparison.body.contains(title), "{address}");
    }
    assert!(served.get("/plans").body.contains("snia-enterprise"));
    let drives = served.get("/drives").body;
    assert!(drives.contains("sim:x25-m") && drives.contains("/?target=sim%3Ax25-m"), "{drives}");
}

#[test]
fn what_is_not_there_is_said_with_what_to_do() {
    let place = reviewed();
    let served = Served::new(&place, &[]);
    let cases = [
        ("/run/9", 404, "the store has runs 1 to 2"),
        ("/run/9/json", 404, "There is no run 9"),
        ("/live/9", 404, "There is no run 9"),
        ("/run/one", 400, "Invalid run number"),
        ("/run/1/xml", 404, "All runs"),
        ("/compare", 400, "Select two or more runs"),
        ("/compare?runs=1", 400, "Select two or more runs"),
        ("/compare?runs=1,1", 400, "given twice"),
        ("/compare?runs=1,2,3,4,5,6,7,8,9,10,11,12,13", 404, "No such run"),
        ("/?page=x", 400, "the first is 1"),
        ("/?state=odd", 400, "complete, running, interrupted or failed"),
        ("/../../etc/passwd", 404, "All runs"),
        ("/assets/x/../../../etc/passwd", 404, "All runs"),
        ("/assets/x/%2e%2e%2fCargo.toml", 404, "All runs"),
        ("/live/1/step/step-none", 404, "All runs"),
    ];
    for (address, status, words) in cases {
        let answer = served.get(address);
        assert_eq!(answer.status, status, "{address}");
        assert!(answer.body.contains(words), "{address}: {}", answer.body);
    }
    assert_eq!(served.get("/?page=99").status, 200, "the last page there is");
}

#[test]
fn an_empty_store_says_how_the_first_run_is_made() {
    let place = Place::new();
    let served = Served::new(&place, &[]);
    let list = served.get("/");
    assert!(list.status == 200 && list.body.contains("assay review"), "{}", list.body);
}

#[test]
fn requests_that_are_none_are_refused_and_pages_are_only_read() {
    let place = Place::new();
    let served = Served::new(&place, &[]);
    let host = &served.host;
    let post = served.raw(&format!("POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\n\r\nx"));
    assert!(post.status == 405 && post.head.contains("Allow: GET, HEAD"), "{post:?}");
    let head = served.raw(&format!("HEAD / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert!(head.status == 200 && head.body.is_empty() && !head.head.contains("Content-Length: 0"), "{head:?}");
    assert_eq!(served.raw("no request at all\r\n\r\n").status, 400);
    assert_eq!(served.raw(&format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n")).status, 400);
    assert_eq!(served.raw(&format!("GET / HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n")).status, 400);
    for elsewhere in ["//evil.example", "/\\evil.example"] {
        assert_eq!(served.get(elsewhere).status, 400, "{elsewhere}");
    }
    assert_eq!(served.get(&format!("/?q={}", "x".repeat(20_000))).status, 431);
    let lines: Vec<String> = (0..80).map(|number| format!("X-{number}: 1")).collect();
    assert_eq!(served.ask("/", &lines.iter().map(String::as_str).collect::<Vec<_>>()).status, 431);
}

#[test]
fn every_answer_forbids_what_pages_do_not_need() {
    let place = Place::new();
    let served = Served::new(&place, &[]);
    for address in ["/", "/nothing", "/plans"] {
        let head = served.get(address).head;
        for line in
            ["default-src 'none'; script-src 'self'", "nosniff", "no-referrer", "frame-ancestors 'none'", "no-store"]
        {
            assert!(head.contains(line), "{address}: {head}");
        }
        assert!(!served.get(address).body.contains("<script>"), "no script stands in a page");
    }
}

#[test]
fn a_browser_that_was_sent_here_under_a_foreign_name_is_refused() {
    let place = Place::new();
    let served = Served::new(&place, &[]);
    let port = served.host.rsplit(':').next().unwrap();
    for (host, status) in
        [("localhost", 200), ("[::1]", 200), ("evil.example", 403), ("127.0.0.1.evil.example", 403), ("10.0.0.7", 403)]
    {
        let answer = served.ask("/", &[&format!("Host: {host}:{port}")]);
        assert_eq!(answer.status, status, "{host}");
        assert!(status == 200 || !answer.body.contains("results.sqlite"), "{}", answer.body);
    }
    assert_eq!(served.raw("GET / HTTP/1.1\r\n\r\n").status, 403, "no name at all");
}

#[test]
fn with_a_token_only_those_who_know_it_are_let_in() {
    let place = Place::new();
    let token = "a-token-of-20-letters";
    let served = Served::new(&place, &["--token", token]);
    assert_eq!(served.link, format!("http://{}/?token={token}", served.host));
    let stranger = served.get("/");
    assert!(stranger.status == 401 && !stranger.body.contains("results.sqlite"), "{stranger:?}");
    assert!(stranger.body.contains("Access token required") && stranger.body.contains("name=\"token\""));
    let wrong = served.get("/?token=a-token-of-20-letterz");
    assert!(wrong.status == 401 && wrong.body.contains("Wrong token"), "{wrong:?}");
    assert_eq!(served.ask("/", &[&format!("Authorization: Bearer {token}")]).status, 200);

    let admitted = served.get(&format!("/plans?a=b&token={token}"));
    assert_eq!(admitted.status, 303);
    assert!(admitted.head.contains("\r\nLocation: /plans?a=b\r\n"), "{}", admitted.head);
    let cookie = admitted.head.lines().find_map(|line| line.strip_prefix("Set-Cookie: ")).unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(served.ask("/", &[&format!("Cookie: other=1; {pair}")]).status, 200);
    assert_eq!(served.ask("/", &[&format!("Cookie: {pair}x")]).status, 401);
    assert_eq!(served.ask("/", &[&format!("Cookie: {pair}"), "Host: tunnel.example"]).status, 200);
}

#[test]
fn on_other_addresses_a_token_is_made_up() {
    let place = Place::new();
    let served = Served::at(&place, "0.0.0.0:0", &[]);
    let (_, token) = served.link.split_once("/?token=").expect("the address has the token");
    assert_eq!(token.len(), 32);
    assert_eq!(served.get("/").status, 401);
    assert_eq!(served.ask("/", &[&format!("Authorization: Bearer {token}")]).status, 200);
    let refused = place.refuses(&["serve", "--token", "short"]);
    assert!(refused.contains("at least 16"), "{refused}");
}

#[test]
fn a_port_that_is_taken_is_explained() {
    let place = Place::new();
    let served = Served::new(&place, &[]);
    let refused = place.refuses(&["serve", "--listen", &served.host]);
    assert!(refused.contains(&served.host) && refused.contains("127.0.0.1:0"), "{refused}");
}

#[test]
fn many_ask_at_once_while_others_are_slow_and_ctrl_c_ends_it_all() {
    let place = Place::new();
    let mut served = Served::new(&place, &[]);
    // They begin a request and say no more.
    let mut slow: Vec<_> = (0..20).map(|_| served.connect()).collect();
    slow.iter_mut().for_each(|stream| stream.write_all(b"GET / HT").unwrap());
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| (0..5).for_each(|_| assert_eq!(served.get("/").status, 200)));
        }
    });
    let since = Instant::now();
    assert_eq!(served.interrupt(), Some(0), "Ctrl-C is how a server ends");
    assert!(since.elapsed() < Duration::from_secs(9), "the slow ones are not waited for: {:?}", since.elapsed());
    // Their connections are ended too.
    slow.iter_mut().for_each(|stream| drop(stream.read_to_string(&mut String::new())));
}

#[test]
fn the_first_of_too_many_connections_without_a_request_makes_room() {
    let place = Place::new();
    let served = Served::new(&place, &[]);
    let mut waiting: Vec<_> = (0..64).map(|_| served.connect()).collect();
    assert_eq!(served.get("/").status, 200);
    let mut told = Vec::new();
    // It is hung up on without a word, by whatever way that reaches it.
    assert!(waiting[0].read_to_end(&mut told).is_err() || told.is_empty());
}

#[test]
fn a_run_that_was_cut_off_is_told_from_one_under_way() {
    let place = reviewed();
    let connection = rusqlite::Connection::open(place.store()).unwrap();
    connection.execute_batch("UPDATE run SET state = 'running', finished_ms = NULL WHERE id = 2").unwrap();
    let served = Served::new(&place, &[]);
    assert!(served.get("/").body.contains("interrupted"));
    assert!(served.get("/?state=interrupted").body.contains("/run/2\""));
    assert!(served.get("/?state=unfinished").body.contains("/run/2\""), "the name that it had once");
    assert!(served.get("/?state=running").body.contains("No run matches"));
    let state: serde_json::Value = serde_json::from_str(&served.get("/live/2/state").body).unwrap();
    assert_eq!((&state["state"], &state["goes_on"]), (&"interrupted".into(), &false.into()));
    assert!(state["line"].as_str().unwrap().contains("assay review --resume 2"), "{state}");
    let state: serde_json::Value = serde_json::from_str(&served.get("/live/1/state").body).unwrap();
    assert_eq!((&state["state"], state["share"].as_f64()), (&"complete".into(), Some(1.0)));
    assert!(served.get("/live/1/step/step-read").body.starts_with("<section"));
}

#[test]
fn runs_stay_selected_from_page_to_page_and_from_search_to_search() {
    let place = Place::new();
    place.succeeds(&["run", "sim:x25-m", "--rw=randread", "--number_ios=10"]);
    let connection = rusqlite::Connection::open(place.store()).unwrap();
    let copy = "INSERT INTO run (plan, plan_text, quick, target, target_identity, seed, state, started_ms, version, git_commit, \
                environment) SELECT plan, plan_text, quick, target, target_identity, seed, state, started_ms, version, git_commit, \
                environment FROM run WHERE id = 1";
    for _ in 0..60 {
        connection.execute(copy, []).unwrap();
    }
    let served = Served::new(&place, &[]);
    let checked = |page: &str| -> Vec<String> {
        let all = page.split("<input ").filter(|input| input.contains("name=\"runs\"") && input.contains(" checked"));
        all.map(|input| input.split("value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()).collect()
    };
    // The button to another page sends the form: what is selected on this page and what was on others.
    let first = served.get("/?runs=60&runs=3").body;
    assert_eq!(checked(&first), ["3", "60"], "{first}");
    assert!(first.contains("name=\"page\" value=\"2\"") && first.contains("Selected on other pages"), "{first}");
    let second = served.get("/?q=&state=&runs=3&runs=60&page=2").body;
    assert_eq!(checked(&second), ["60", "3"], "{second}");
    assert_eq!(checked(&served.get("/?q=nothing&runs=3,60").body), ["3", "60"], "where no run is found too");
    // What else the form has is not a part of the address of a comparison.
    let compared = served.get("/compare?q=x&state=complete&page=2&runs=60&runs=3");
    assert_eq!(compared.status, 303);
    assert!(compared.head.contains("\r\nLocation: /compare?runs=3,60\r\n"), "{}", compared.head);
    assert_eq!(served.get("/?runs=x").status, 400);
    let many: Vec<String> = (0..201).map(|run| run.to_string()).collect();
    assert!(served.get(&format!("/?runs={}", many.join(","))).body.contains("at most 200"));
}

#[test]
fn a_drive_has_a_page_with_its_figures_from_run_to_run_and_drives_have_one_together() {
    let place = reviewed();
    let plan = place.short_plan();
    place.succeeds(&["review", "sim:x25-m#2", "--plan", &plan, "--tag", "rack", "--out", "reports"]);
    let connection = rusqlite::Connection::open(place.store()).unwrap();
    connection.execute_batch("UPDATE run SET version = '9.9.9' WHERE id = 2").unwrap();
    let served = Served::new(&place, &[]);
    let drive = served.get("/drive?target=sim:x25-m").body;
    assert!(drive.contains("Key figures from run to run") && drive.contains("→ 9.9.9"), "{drive}");
    assert!(
        drive.contains("/run/1\"") && drive.contains("/run/2\"") && !drive.contains("/run/3\""),
        "another specimen"
    );
    let fleet = served.get("/fleet").body;
    assert!(fleet.contains("/drive?target=sim%3Ax25-m%232") && fleet.contains("Key figures"), "{fleet}");
    let tagged = served.get("/fleet?tag=rack").body;
    assert!(tagged.contains("%232") && !tagged.contains("target=sim%3Ax25-m\""), "{tagged}");
    assert!(served.get("/fleet?tag=none").body.contains("No drive matches"));
    assert!(served.get("/drive?serial=none").body.contains("has no run of the drive none"));
    assert_eq!(served.get("/drive").status, 400);
}

#[test]
fn what_a_stranger_wrote_into_a_store_stays_text_on_every_page() {
    let place = reviewed();
    let connection = rusqlite::Connection::open(place.store()).unwrap();
    let evil = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>&runs=9";
    let device = serde_json::json!({"hostname": evil, "device": {"name": evil, "model": evil, "serial": evil, "firmware": evil}});
    connection
        .execute(
            "UPDATE run SET environment = ?1, target = ?2, target_identity = ?2, version = ?2, group_name = 'g', drive = NULL \
             WHERE id = 2",
            (device.to_string(), evil),
        )
        .unwrap();
    connection.execute("INSERT INTO annotation (run, kind, text) VALUES (2, 'tag', 'rack')", ()).unwrap();
    connection.execute("UPDATE run SET drive = NULL, target = ?1 WHERE id = 1", [evil]).unwrap();
    let served = Served::new(&place, &[]);
    let form: String = evil.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let pages = [
        "/".to_owned(),
        format!("/?serial={form}&host={form}&model={form}&tag={form}&group={form}"),
        format!("/drive?serial={form}"),
        format!("/drive?target={form}"),
        format!("/drive?serial={form}&plan={form}"),
        "/fleet".to_owned(),
        format!("/fleet?model={form}&tag={form}&plan={form}&group={form}"),
        "/live/2".to_owned(),
        "/run/2".to_owned(),
    ];
    for page in pages {
        let body = served.get(&page).body;
        assert!(!body.contains("<script>alert") && !body.contains("<img src=x"), "{page}: {body}");
        assert!(body.contains("alert(1)"), "{page}: it is shown");
    }
    for document in ["/api/drives".to_owned(), format!("/api/drive?serial={form}"), "/api/runs/2/live".to_owned()] {
        let answer = served.get(&document);
        assert!(answer.head.contains("application/json") && answer.head.contains("nosniff"), "{document}");
        assert!(serde_json::from_str::<serde_json::Value>(&answer.body).is_ok(), "{document}: {}", answer.body);
    }
}

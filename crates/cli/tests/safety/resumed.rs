//! A store that a stranger wrote, and what it has `assay review --resume` open.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;

use rusqlite::Connection;

use crate::support::Place;
use crate::{Loop, needs};

/// A place with a run on the file `a.bin` that failed before its first measurement.
fn cut_off() -> Place {
    let place = Place::new();
    let plan = "name = \"p\"\nrepeats = 1\n[[step]]\nname = \"a\"\nrw = \"write\"\nnumber_ios = 4\n";
    fs::write(place.path("plan.toml"), plan).unwrap();
    place.succeeds(&["review", "a.bin", "--size=2m", "--plan=plan.toml"]);
    tamper(&place, "DELETE FROM measurement; UPDATE run SET state = 'failed'");
    place
}

fn tamper(place: &Place, sql: &str) {
    let store = Connection::open(place.store()).unwrap();
    store.execute_batch(&format!("PRAGMA foreign_keys = off; {sql}")).unwrap();
}

/// Found: a device was written to that stood in the store alone, without what tells it from others.
#[test]
fn a_store_chooses_no_device() {
    let place = cut_off();
    fs::write(place.path("disk"), vec![0; 2 << 20]).unwrap();
    let device = needs!(Loop::over(&place.path("disk")));
    let set = |what: &str| tamper(&place, &format!("UPDATE run SET target = '{}', {what}", device.0));
    set("target_fingerprint = NULL, size_bytes = NULL");
    for words in [&["review", "--resume"][..], &["review", "--resume", "1", "--destroy-data", &device.0]] {
        let said = place.refuses(words);
        let advice = format!("assay review {} --resume 1", device.0);
        assert!(said.contains("which only the store names") && said.contains(&advice), "{said}");
    }
    assert!(fs::read(place.path("disk")).unwrap() == vec![0; 2 << 20], "it was written to");
    // Who names it means it; then it must be what it was.
    let said = place.refuses(&["review", &device.0, "--resume"]);
    assert!(said.contains("is not the target of run 1"), "{said}");
}

/// A file is taken from a store only where it is known and assay's.
#[test]
fn a_store_chooses_no_file_that_is_not_assays() {
    let place = cut_off();
    let file = place.path("a.bin");
    let kept = Connection::open(place.store()).unwrap();
    let fingerprint: String = kept.query_row("SELECT target_fingerprint FROM run", [], |row| row.get(0)).unwrap();
    drop(kept);
    tamper(&place, "UPDATE run SET target_fingerprint = NULL");
    let said = place.refuses(&["review", "--resume", "--overwrite"]);
    assert!(said.contains("which only the store names"), "{said}");
    // It is as long as it was, but somebody has written to it since.
    tamper(&place, &format!("UPDATE run SET target_fingerprint = '{fingerprint}'"));
    fs::File::options().write(true).open(&file).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    let before = fs::read(&file).unwrap();
    let said = place.refuses(&["review", "--resume", "--overwrite"]);
    assert!(said.contains("without assay's mark"), "{said}");
    assert!(fs::read(&file).unwrap() == before);
    place.succeeds(&["review", "a.bin", "--resume", "--overwrite"]);
}

/// Found: the file of a simulated drive that stood in the store was read, and its text quoted in an error.
#[test]
fn a_store_chooses_no_file_of_a_drive() {
    let place = cut_off();
    let secret = place.path("secret");
    fs::write(&secret, "root:hunter2:1::\n").unwrap();
    for name in [secret.display().to_string(), "secret.toml".to_owned(), format!("{}?gc.policy=fifo", secret.display())]
    {
        tamper(&place, &format!("UPDATE run SET target = 'sim:{name}', target_fingerprint = NULL"));
        let said = place.refuses(&["review", "--resume"]);
        assert!(said.contains("which only the store names") && !said.contains("hunter2"), "{said}");
    }
    let said = place.refuses(&["review", "--resume", "--", &format!("sim:{}?gc.policy=fifo", secret.display())]);
    assert!(!said.contains("in the store alone"), "who names it means it: {said}");
}

/// Found: the meters of a store were connected to, and the text of a log that one named was quoted.
#[test]
fn a_store_chooses_no_meter() {
    let place = cut_off();
    let secret = place.path("secret");
    fs::write(&secret, "root:hunter2:1::\n").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let scpi = format!("scpi://{}?volts=5", listener.local_addr().unwrap());
    for meter in [scpi, format!("csv:{}?time=t&power=p", secret.display()), "wattmeter".to_owned()] {
        tamper(
            &place,
            &format!(
                "DELETE FROM measurement; UPDATE run SET state = 'failed', \
                 environment = json_set(environment, '$.power', json_array('{meter}'), '$.power_baseline', '1 ms')"
            ),
        );
        let said = place.assay(&["review", "--resume"]);
        assert_eq!(said.code, Some(0), "{meter}: {}", said.stderr);
        assert!(said.stderr.contains("name the meters again with --power"), "{meter}: {}", said.stderr);
        assert!(!(said.stdout + &said.stderr).contains("hunter2"), "{meter}");
    }
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "a meter of the store's was connected to");
    let store = Connection::open(place.store()).unwrap();
    let findings = "SELECT count(*) FROM finding WHERE text LIKE '%continues without%'";
    assert_eq!(store.query_row(findings, [], |row| row.get(0)), Ok(1));
}

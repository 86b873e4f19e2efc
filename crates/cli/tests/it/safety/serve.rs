//! Those who ask the server of the store.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::Place;
use crate::support::served::Served;

/// The most connections at a time.
const MOST: usize = 64;

#[test]
fn as_many_slow_clients_as_there_may_be_keep_nobody_from_a_page() {
    let place = Place::new();
    place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", "--rw=randread", "--number_ios=10"]);
    let served = Served::new(&place, &[]);
    let mut slow: Vec<TcpStream> = (0..MOST).map(|_| served.connect()).collect();
    for letter in "GET / HTTP/1.1".bytes() {
        // Who was let go by now comes again, as such clients do.
        for stream in &mut slow {
            if stream.write_all(&[letter]).is_err() {
                *stream = served.connect();
            }
        }
        let answer = served.get("/");
        assert_eq!(answer.status, 200, "{}", answer.head);
    }
}

#[test]
fn clients_that_do_not_take_their_answers_keep_nobody_from_a_page() {
    let place = Place::new();
    place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", "--rw=randread", "--number_ios=10"]);
    let served = Served::new(&place, &[]);
    let deaf: Vec<TcpStream> = (0..MOST / 2)
        .map(|_| {
            let mut stream = served.connect();
            stream.write_all(format!("GET /run/1 HTTP/1.1\r\nHost: {}\r\n\r\n", served.host).as_bytes()).unwrap();
            stream
        })
        .collect();
    assert_eq!(served.get("/run/1").status, 200);
    // They are answered all the same, whenever they look.
    for mut stream in deaf {
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        assert!(text.starts_with(b"HTTP/1.1 200 OK"));
    }
}

#[test]
fn a_head_without_an_end_or_with_control_characters_ends_its_own_connection_alone() {
    let place = Place::new();
    place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", "--rw=randread", "--number_ios=10"]);
    let served = Served::new(&place, &[]);
    let long = format!("GET /{} HTTP/1.1\r\n", "a".repeat(32 << 10));
    let lines = format!("GET / HTTP/1.1\r\n{}", "A: b\r\n".repeat(4096));
    for head in
        [&long, &lines, "GET /\x1b[2J HTTP/1.1\r\n\r\n", "\0\0\0\0\r\n\r\n", "GET / HTTP/1.1\r\nA\x1b: b\r\n\r\n"]
    {
        let answer = served.raw(head);
        assert!([400, 431].contains(&answer.status), "{head:?}: {}", answer.status);
        assert!(!answer.body.contains(['\x1b', '\0']), "{head:?}");
    }
    let escaped = served.get("/run/%1b[2J");
    assert!(escaped.status == 400 && !escaped.body.contains('\x1b'), "{}", escaped.body);
    assert_eq!(served.get("/").status, 200);
}

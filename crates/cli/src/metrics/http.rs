//! As much of HTTP as it takes to answer one question.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long one who asks may take to do so, and to take the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest question.
const QUESTION_MAX: usize = 8 << 10;

/// Answers all who ask for `/metrics`, from a thread of its own, until the program ends.
pub fn answer(listener: Arc<TcpListener>, text: impl Fn() -> String + Send + 'static) {
    let serve = move || {
        for stream in listener.incoming() {
            match stream {
                // Whoever goes away before the answer is through does not want it.
                Ok(stream) => converse(stream, &text).unwrap_or_default(),
                // There may be too many files open just now.
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    };
    std::thread::spawn(serve);
}

fn converse(mut stream: TcpStream, text: impl Fn() -> String) -> std::io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let question = question(&mut stream)?;
    stream.write_all(response(&question, text).as_bytes())?;
    stream.shutdown(std::net::Shutdown::Write)
}

/// What is asked, up to the empty line behind the header; nobody may take longer than the others' patience.
fn question(stream: &mut TcpStream) -> std::io::Result<String> {
    let until = Instant::now() + PATIENCE;
    let mut question = Vec::new();
    let mut part = [0; 1024];
    while !question.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || question.len() > QUESTION_MAX {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part)? {
            0 => break,
            read => question.extend(&part[..read]),
        }
    }
    Ok(String::from_utf8_lossy(&question).into_owned())
}

/// Source: RFC 9112; the type is that of OpenMetrics 1.0.
fn response(question: &str, text: impl Fn() -> String) -> String {
    const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    const PLAIN: &str = "text/plain; charset=utf-8";
    let mut words = question.lines().next().unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = path.split('?').next().unwrap_or_default();
    let (status, kind, body) = match (method, path) {
        ("GET" | "HEAD", "/metrics") => ("200 OK", METRICS, text()),
        ("GET" | "HEAD", path) if path.starts_with('/') => {
            ("404 Not Found", PLAIN, "metrics are at /metrics\n".to_owned())
        }
        (_, path) if path.starts_with('/') => {
            ("405 Method Not Allowed\r\nAllow: GET, HEAD", PLAIN, "only GET and HEAD\n".to_owned())
        }
        _ => ("400 Bad Request", PLAIN, "ask with GET /metrics HTTP/1.1\n".to_owned()),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    if method == "HEAD" { head } else { head + &body }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_metrics_are_told_and_only_to_those_who_read() {
        //            question                              status                     body
        let table = [
            ("GET /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK", "\r\n\r\nx 1\n"),
            ("GET /metrics?a=b HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK", "\r\n\r\nx 1\n"),
            ("HEAD /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK", "Content-Length: 4\r\nConnection: close\r\n\r\n"),
            ("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found", "at /metrics\n"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed", "only GET and HEAD\n"),
            ("\u{16}\u{3}\u{1}", "HTTP/1.1 400 Bad Request", "HTTP/1.1\n"),
            ("", "HTTP/1.1 400 Bad Request", "HTTP/1.1\n"),
        ];
        for (question, status, end) in table {
            let response = response(question, || "x 1\n".to_owned());
            assert!(response.starts_with(status) && response.ends_with(end), "{question:?}: {response}");
        }
    }

    #[test]
    fn one_who_asks_nothing_keeps_nobody_waiting_for_long() {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
        let address = listener.local_addr().unwrap();
        answer(listener, || "x 1\n".to_owned());
        let silent = TcpStream::connect(address).unwrap();
        let mut asks = TcpStream::connect(address).unwrap();
        asks.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut told = String::new();
        asks.read_to_string(&mut told).unwrap();
        assert!(told.ends_with("x 1\n"), "{told}");
        drop(silent);
    }
}

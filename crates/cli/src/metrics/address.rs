//! The address at which the figures of a run are had.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use crate::http::{PLAIN, Request, Response, Trouble};

/// How long one who asks may take to do so, and to take the answer: others wait meanwhile.
const PATIENCE: Duration = Duration::from_secs(2);
/// The type of the figures. Source: OpenMetrics 1.0.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

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
    let asked = match Request::take(&mut stream, PATIENCE) {
        Ok(None) => return Ok(()),
        Ok(Some(request)) => Ok(request),
        Err(trouble) => Err(trouble),
    };
    let head_only = asked.as_ref().is_ok_and(|request| request.head_only);
    response(asked, text).send(&mut stream, head_only, PATIENCE)
}

fn response(asked: Result<Request, Trouble>, text: impl Fn() -> String) -> Response {
    match asked {
        Ok(request) if request.path == "/metrics" => Response::text(METRICS, text()),
        Ok(_) => Response::of(404, PLAIN, "metrics are at /metrics\n"),
        Err(trouble) => {
            Response::of(trouble.status, PLAIN, format!("{} Ask with GET /metrics HTTP/1.1\n", trouble.words))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::Shutdown;

    use super::*;

    /// What is answered to this question.
    fn told(question: &str) -> String {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
        let mut asks = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        answer(listener, || "x 1\n".to_owned());
        asks.write_all(question.as_bytes()).unwrap();
        asks.shutdown(Shutdown::Write).unwrap();
        let mut told = String::new();
        asks.read_to_string(&mut told).unwrap();
        told
    }

    #[test]
    fn only_the_metrics_are_told_and_only_to_those_who_read() {
        //            question                              status                     body
        let table = [
            ("GET /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK", "\r\n\r\nx 1\n"),
            ("GET /metrics?a=b HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK", "\r\n\r\nx 1\n"),
            ("HEAD /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK", "\r\n\r\n"),
            ("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found", "at /metrics\n"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed", "HTTP/1.1\n"),
            ("GET /metrics HTTP/1.1\r\n", "HTTP/1.1 400 Bad Request", "HTTP/1.1\n"),
            ("\u{16}\u{3}\u{1}", "HTTP/1.1 400 Bad Request", "HTTP/1.1\n"),
            ("", "", ""),
        ];
        for (question, status, end) in table {
            let told = told(question);
            assert!(told.starts_with(status) && told.ends_with(end), "{question:?}: {told}");
        }
        assert!(told("HEAD /metrics HTTP/1.1\r\n\r\n").contains("Content-Length: 4\r\n"));
        assert!(told("GET /metrics HTTP/1.1\r\n\r\n").contains("Content-Type: application/openmetrics-text; "));
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

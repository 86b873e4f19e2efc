//! The address at which the figures of a run are had.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use crate::http::{self, HttpRequest, HttpResponse, Limits, PLAIN, Trouble};
use crate::terminal::notice;

/// Whoever asks may take so long to do so, and to take the answer. Prometheus asks once in some seconds.
const LIMITS: Limits =
    Limits { most: 16, arrival: Duration::from_secs(2), departure: Duration::from_secs(2), takes: false };
/// The type of the figures. Source: OpenMetrics 1.0.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// By which names of this machine the figures may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostNames {
    /// Those that only this machine has: a foreign page can have its own name point here, and a browser read it.
    OfThisMachine,
    /// Any: they are public.
    Any,
}

/// Answers all who ask for `/metrics` by one of these names, from threads of its own, until the program ends.
pub fn answer(listener: Arc<TcpListener>, names: HostNames, text: impl Fn() -> String + Send + Sync + 'static) {
    std::thread::spawn(move || {
        if let Err(error) = http::serve(&listener, LIMITS, None, move |asked| response(asked, names, &text)) {
            notice(format_args!("metrics cannot be served: {error}; the run continues"));
        }
    });
}

fn response(asked: Result<&HttpRequest, Trouble>, names: HostNames, text: impl Fn() -> String) -> HttpResponse {
    match asked {
        Ok(request) if names == HostNames::OfThisMachine && !request.names_this_machine() => {
            let words = "metrics are served to http://127.0.0.1 and http://localhost; for another host name start the \
                review with --metrics-public\n";
            HttpResponse::of(403, PLAIN, words)
        }
        Ok(request) if request.path() == "/metrics" => HttpResponse::text(METRICS, text()),
        Ok(_) => HttpResponse::of(404, PLAIN, "metrics are at /metrics\n"),
        Err(trouble) => {
            HttpResponse::of(trouble.status, PLAIN, format!("{} Ask with GET /metrics HTTP/1.1\n", trouble.words))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpStream};

    use super::*;

    /// What is answered to this question, to those who may ask by these names.
    fn told(names: HostNames, question: &str) -> String {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
        let mut asks = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        answer(listener, names, || "x 1\n".to_owned());
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
            ("GET /metrics?a=b HTTP/1.0\r\n\r\n", "HTTP/1.0 200 OK", "\r\n\r\nx 1\n"),
            ("HEAD /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK", "\r\n\r\n"),
            ("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found", "at /metrics\n"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed", "HTTP/1.1\n"),
            ("GET http://else/metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request", "HTTP/1.1\n"),
            ("\u{16}\u{3}\u{1}", "HTTP/1.1 400 Bad Request", "\r\n\r\n"),
            ("GET /metrics HTTP/1.1\r\n", "", ""),
            ("", "", ""),
        ];
        for (question, status, end) in table {
            let told = told(HostNames::Any, question);
            assert!(told.starts_with(status) && told.ends_with(end), "{question:?}: {told}");
        }
        assert!(told(HostNames::Any, "HEAD /metrics HTTP/1.1\r\n\r\n").contains("Content-Length: 4\r\n"));
        assert!(
            told(HostNames::Any, "GET /metrics HTTP/1.1\r\n\r\n")
                .contains("Content-Type: application/openmetrics-text; ")
        );
    }

    #[test]
    fn a_page_whose_name_was_made_to_lead_here_is_told_nothing() {
        let asks = |names, host: &str| told(names, &format!("GET /metrics HTTP/1.1\r\n{host}\r\n"));
        for own in ["Host: 127.0.0.1:9187\r\n", "Host: localhost\r\n", "Host: [::1]:9187\r\n"] {
            assert!(asks(HostNames::OfThisMachine, own).starts_with("HTTP/1.1 200 OK"), "{own}");
        }
        for foreign in ["Host: evil.example\r\n", "Host: 127.0.0.1.evil.example:9187\r\n", ""] {
            let said = asks(HostNames::OfThisMachine, foreign);
            assert!(said.starts_with("HTTP/1.1 403") && !said.contains("x 1"), "{foreign}: {said}");
            assert!(said.contains("--metrics-public"), "{foreign}: {said}");
            assert!(asks(HostNames::Any, foreign).starts_with("HTTP/1.1 200 OK"), "{foreign}");
        }
    }

    #[test]
    fn those_who_ask_nothing_or_a_letter_at_a_time_keep_nobody_waiting() {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
        let address = listener.local_addr().unwrap();
        answer(listener, HostNames::Any, || "x 1\n".to_owned());
        let mut slow: Vec<TcpStream> = (0..64).map(|_| TcpStream::connect(address).unwrap()).collect();
        slow.iter_mut().skip(1).step_by(2).for_each(|slow| slow.write_all(b"G").unwrap_or_default());
        let mut asks = TcpStream::connect(address).unwrap();
        // One after the other, at two seconds each, they would take two minutes.
        asks.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        asks.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut told = String::new();
        asks.read_to_string(&mut told).unwrap();
        assert!(told.ends_with("x 1\n"), "{told}");
        drop(slow);
    }
}

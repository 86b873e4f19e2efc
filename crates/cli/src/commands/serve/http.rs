//! As much of HTTP as pages that are only read need: one request a connection, without a body, and its answer.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use form_urlencoded::Serializer;

/// The longest head of a request, in bytes.
const HEAD_MOST: usize = 16 << 10;
/// The most lines of a head.
const LINES_MOST: usize = 64;
/// How long a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);
/// How long an answer may take to be taken.
const DEPARTURE: Duration = Duration::from_secs(60);
/// How long to wait for the other side to hang up.
const FAREWELL: Duration = Duration::from_millis(500);

/// What browsers may do with any answer: show it by the site's own style and scripts. Charts set styles of elements.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What was asked.
#[derive(Debug, Default)]
pub struct Request {
    /// Whether the answer's head alone is wanted.
    pub head_only: bool,
    /// What comes before the question mark, as it was sent.
    pub path: String,
    /// What comes behind it.
    parameters: Vec<(String, String)>,
    headers: Vec<(String, String)>,
}

impl Request {
    /// Takes a request from the stream. Nothing on a stream that ends at once is no request: browsers open such.
    ///
    /// # Errors
    /// With what to answer, if it is none that is understood.
    pub fn take(stream: &mut TcpStream) -> Result<Option<Self>, Response> {
        let until = Instant::now() + ARRIVAL;
        let mut head = Vec::new();
        let mut part = [0; 4096];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let got = match left.is_zero() {
                true => Err(ErrorKind::TimedOut.into()),
                false => stream.set_read_timeout(Some(left)).and_then(|()| stream.read(&mut part)),
            };
            match got {
                Ok(0) if head.is_empty() => return Ok(None),
                Ok(0) => {
                    return Err(Response::trouble(400, "Half a request", "The request ended before it was whole."));
                }
                Ok(count) => head.extend_from_slice(&part[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) if head.is_empty() => return Ok(None),
                Err(_) => {
                    return Err(Response::trouble(
                        408,
                        "Too slow",
                        "The request took more than ten seconds to arrive.",
                    ));
                }
            }
            if let Some(request) = Self::read(&head)? {
                return Ok(Some(request));
            }
            if head.len() >= HEAD_MOST {
                return Err(Response::trouble(431, "Too long", "The request's head is longer than 16 KiB."));
            }
        }
    }

    /// The request with this head; none if there is more to come.
    fn read(head: &[u8]) -> Result<Option<Self>, Response> {
        let unlike = || Response::trouble(400, "Not understood", "This is no request of HTTP/1.1.");
        let mut lines = [httparse::EMPTY_HEADER; LINES_MOST];
        let mut parsed = httparse::Request::new(&mut lines);
        match parsed.parse(head) {
            Ok(status) if status.is_partial() => return Ok(None),
            Ok(_) => {}
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Response::trouble(431, "Too long", "The request's head has more than 64 lines."));
            }
            Err(_) => return Err(unlike()),
        }
        let head_only = match parsed.method {
            Some("GET") => false,
            Some("HEAD") => true,
            _ => {
                let words = "Nothing can be changed from here: pages can be read (GET) alone.";
                return Err(Response::trouble(405, "Only for reading", words).with("Allow", "GET, HEAD".to_owned()));
            }
        };
        // Browsers take two strokes, and backslashes for them, for the beginning of another host.
        let is_ours = |path: &&str| path.starts_with('/') && !path.starts_with("//") && !path.contains('\\');
        let target = parsed.path.filter(is_ours).ok_or_else(unlike)?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let header = |line: &httparse::Header| -> Result<(String, String), Response> {
            let value = std::str::from_utf8(line.value).map_err(|_| unlike())?;
            Ok((line.name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        let headers = parsed.headers.iter().map(header).collect::<Result<Vec<_>, _>>()?;
        if headers.iter().filter(|(name, _)| name == "host").count() > 1 {
            return Err(unlike());
        }
        let parameters = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Ok(Some(Self { head_only, path: path.to_owned(), parameters, headers }))
    }

    /// The value of a header, whose name is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a cookie.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let lines = self.headers.iter().filter(|(known, _)| known == "cookie");
        let mut pairs = lines.flat_map(|(_, line)| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The first value of a parameter; none where it is missing or empty.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// All values of a parameter that are not empty.
    pub fn all<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r str> {
        let of_name = self.parameters.iter().filter(move |(known, _)| known == name);
        of_name.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The parameters without those of this name, as they stand in an address.
    pub fn without(&self, name: &str) -> String {
        let rest = self.parameters.iter().filter(|(known, _)| known != name);
        Serializer::new(String::new()).extend_pairs(rest).finish()
    }
}

/// What is answered.
#[derive(Debug)]
pub struct Response {
    status: u16,
    media_type: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Cow<'static, str>,
    /// Whether a browser may keep it, under an address that changes with it.
    keeps: bool,
}

impl Response {
    /// A text of this kind.
    pub fn text(media_type: &'static str, body: impl Into<Cow<'static, str>>) -> Self {
        Self { status: 200, media_type, headers: Vec::new(), body: body.into(), keeps: false }
    }

    /// A page.
    pub fn html(status: u16, body: String) -> Self {
        Self { status, ..Self::text("text/html; charset=utf-8", body) }
    }

    /// A page that says what went wrong and what to do.
    pub fn trouble(status: u16, title: &str, words: &str) -> Self {
        Self::html(status, report::site::trouble(title, words, env!("CARGO_PKG_VERSION")))
    }

    /// The way to another place of the site.
    pub fn see(place: &str) -> Self {
        Self { status: 303, ..Self::text("text/plain; charset=utf-8", "") }.with("Location", place.to_owned())
    }

    /// The same with one more header.
    pub fn with(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The same, for a browser to keep.
    pub fn kept(self) -> Self {
        Self { keeps: true, ..self }
    }

    /// Sends it, and ends the connection so that all of it arrives.
    pub fn send(&self, stream: &mut TcpStream, head_only: bool) -> io::Result<()> {
        const PART: usize = 64 << 10;
        let until = Instant::now() + DEPARTURE;
        let head = self.head();
        let body = if head_only { &[] } else { self.body.as_bytes() };
        for part in std::iter::once(head.as_bytes()).chain(body.chunks(PART)) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            stream.set_write_timeout(Some(left))?;
            stream.write_all(part)?;
        }
        farewell(stream)
    }

    fn head(&self) -> String {
        let reason = match self.status {
            200 => "OK",
            303 => "See Other",
            400 => "Bad Request",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            431 => "Request Header Fields Too Large",
            503 => "Service Unavailable",
            _ => "Internal Server Error",
        };
        let cache = if self.keeps { "private, max-age=31536000, immutable" } else { "no-store" };
        let mut head = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: {cache}\r\nContent-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\n",
            self.status,
            self.media_type,
            self.body.len()
        );
        for (name, value) in &self.headers {
            // What would begin a line of its own cannot be part of one.
            head += &format!("{name}: {}\r\n", value.replace(['\r', '\n'], ""));
        }
        head + "\r\n"
    }
}

/// Hangs up once the other side has. What it still sent is read, for else the kernel would throw the answer away.
fn farewell(stream: &mut TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let until = Instant::now() + FAREWELL;
    let mut rest = [0; 4096];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        stream.set_read_timeout(Some(left))?;
        if matches!(stream.read(&mut rest), Ok(0) | Err(_)) {
            return Ok(());
        }
    }
}

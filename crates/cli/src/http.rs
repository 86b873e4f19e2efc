//! As much of HTTP as what is only read needs: one request a connection, without a body, and its answer.

mod host;

use std::borrow::Cow;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use form_urlencoded::Serializer;

/// The longest head of a request, in bytes.
const HEAD_MOST: usize = 16 << 10;
/// The kind of a text without more to it.
pub const PLAIN: &str = "text/plain; charset=utf-8";
/// The most lines of a head.
const LINES_MOST: usize = 64;
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
    /// Takes a request from the stream, for whose arrival it waits so long. Nothing on a stream that ends at once is no
    /// request: browsers open such.
    ///
    /// # Errors
    /// If it is none that is understood.
    pub fn take(stream: &mut TcpStream, patience: Duration) -> Result<Option<Self>, Trouble> {
        let until = Instant::now() + patience;
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
                    return Err(Trouble::new(400, "Incomplete request", "The request ended before it was complete."));
                }
                Ok(count) => head.extend_from_slice(&part[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) if head.is_empty() => return Ok(None),
                Err(_) => {
                    let words = format!("The request took more than {} seconds to arrive.", patience.as_secs());
                    return Err(Trouble::new(408, "Too slow", words));
                }
            }
            if let Some(request) = Self::read(&head)? {
                return Ok(Some(request));
            }
            if head.len() >= HEAD_MOST {
                return Err(Trouble::new(431, "Too long", "The request's head is longer than 16 KiB."));
            }
        }
    }

    /// The request with this head; none if there is more to come.
    ///
    /// # Errors
    /// If it is none that is understood.
    pub fn read(head: &[u8]) -> Result<Option<Self>, Trouble> {
        let unlike = || Trouble::new(400, "Not understood", "This is not an HTTP/1.1 request.");
        let mut lines = [httparse::EMPTY_HEADER; LINES_MOST];
        let mut parsed = httparse::Request::new(&mut lines);
        match parsed.parse(head) {
            Ok(status) if status.is_partial() => return Ok(None),
            Ok(_) => {}
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Trouble::new(431, "Too long", "The request's head has more than 64 lines."));
            }
            Err(_) => return Err(unlike()),
        }
        let head_only = match parsed.method {
            Some("GET") => false,
            Some("HEAD") => true,
            _ => {
                let words = "This server is read-only: only GET and HEAD are supported.";
                return Err(Trouble::new(405, "Read-only", words));
            }
        };
        // Browsers take two strokes, and backslashes for them, for the beginning of another host.
        let is_ours = |path: &&str| path.starts_with('/') && !path.starts_with("//") && !path.contains('\\');
        let target = parsed.path.filter(is_ours).ok_or_else(unlike)?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let header = |line: &httparse::Header| -> Result<(String, String), Trouble> {
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

/// What is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The number that HTTP has for it.
    pub status: u16,
    /// What it is, in two or three words.
    pub title: &'static str,
    /// What went wrong and what to do, in whole sentences.
    pub words: String,
}

impl Trouble {
    fn new(status: u16, title: &'static str, words: impl Into<String>) -> Self {
        Self { status, title, words: words.into() }
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
        Self::of(200, media_type, body)
    }

    /// A text of this kind, under a number that says how it came to it.
    pub fn of(status: u16, media_type: &'static str, body: impl Into<Cow<'static, str>>) -> Self {
        Self { status, media_type, headers: Vec::new(), body: body.into(), keeps: false }
    }

    /// A page.
    pub fn html(status: u16, body: String) -> Self {
        Self::of(status, "text/html; charset=utf-8", body)
    }

    /// The way to another place of the site.
    pub fn see(place: &str) -> Self {
        Self::of(303, PLAIN, "").with("Location", place.to_owned())
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

    /// Sends it, for which the other side has so long, and ends the connection so that all of it arrives.
    pub fn send(&self, stream: &mut TcpStream, head_only: bool, patience: Duration) -> io::Result<()> {
        const PART: usize = 64 << 10;
        let until = Instant::now() + patience;
        let head = self.head();
        let body = if head_only { &[] } else { self.body.as_bytes() };
        for part in std::iter::once(head.as_bytes()).chain(body.chunks(PART)) {
            write(stream, part, until)?;
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
        if self.status == 405 {
            head += "Allow: GET, HEAD\r\n";
        }
        for (name, value) in &self.headers {
            // What would begin a line of its own cannot be part of one.
            head += &format!("{name}: {}\r\n", value.replace(['\r', '\n'], ""));
        }
        head + "\r\n"
    }
}

/// Writes all of this until then. A reader who takes a byte a minute gets no more time than one who takes none.
fn write(stream: &mut TcpStream, mut bytes: &[u8], until: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_once_it_is_whole() {
        let read = |head: &str| Request::read(head.as_bytes());
        assert!(read("GET /run/1?step=a&step=b HT").unwrap().is_none() && read("").unwrap().is_none());
        let head = "HEAD /run/1?step=a&step=&token=b HTTP/1.1\r\nHost: x\r\nCookie: a=1; b=2\r\n\r\n";
        let request = read(head).unwrap().unwrap();
        assert!(request.head_only && request.path == "/run/1");
        assert_eq!((request.header("host"), request.cookie("b")), (Some("x"), Some("2")));
        assert_eq!(request.all("step").collect::<Vec<_>>(), ["a"]);
        assert_eq!(request.without("token"), "step=a&step=");
    }

    #[test]
    fn what_is_no_request_is_told_by_its_number() {
        let many = "A: b\r\n".repeat(LINES_MOST + 1);
        let table = [
            ("POST / HTTP/1.1\r\n\r\n".to_owned(), 405),
            ("GET //elsewhere HTTP/1.1\r\n\r\n".to_owned(), 400),
            ("GET /a\\b HTTP/1.1\r\n\r\n".to_owned(), 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n".to_owned(), 400),
            (format!("GET / HTTP/1.1\r\n{many}\r\n"), 431),
            ("\u{16}\u{3}\u{1}".to_owned(), 400),
        ];
        for (head, status) in table {
            assert_eq!(Request::read(head.as_bytes()).unwrap_err().status, status, "{head:?}");
        }
        let head = Response::of(405, PLAIN, "no").head();
        assert!(
            head.starts_with("HTTP/1.1 405 Method Not Allowed\r\n") && head.contains("\r\nAllow: GET, HEAD\r\n"),
            "{head}"
        );
    }
}

//! What is asked of a server of pages or figures, and what it answers. The protocol itself is hyper's.

mod body;
pub mod client;
mod connection;
mod host;
mod limits;
mod server;

use std::borrow::Cow;
use std::io::Write;
use std::sync::Mutex;

use form_urlencoded::Serializer;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode, header};

use body::RequestBody;

pub use body::BodyError;
pub use limits::Limits;
pub use server::serve;

/// The kind of a text without more to it.
pub const PLAIN: &str = "text/plain; charset=utf-8";

/// The kind of a JSON document.
pub const JSON: &str = "application/json";

/// What browsers may do with any answer: show it by the site's own style and scripts. Charts set styles of elements.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What was asked.
#[derive(Debug)]
pub struct HttpRequest {
    head: Parts,
    /// What comes behind the question mark.
    parameters: Vec<(String, String)>,
    /// What comes behind the head, until it is read.
    body: Mutex<Option<RequestBody>>,
}

impl HttpRequest {
    /// What is asked by a request with this head, and what is sent, where something is taken.
    ///
    /// # Errors
    /// If it is nothing that can be read from here.
    fn of(head: Parts, body: Option<RequestBody>) -> Result<Self, Trouble> {
        let unlike =
            || Trouble::new(400, "Not understood", "This is not an HTTP/1.1 request for a page of this server.");
        let is_sent = head.method == Method::POST && body.is_some();
        if !matches!(head.method, Method::GET | Method::HEAD) && !is_sent {
            let words = "This server is read-only: only GET and HEAD are supported.";
            return Err(Trouble::new(405, "Read-only", words));
        }
        // Browsers take two strokes, and backslashes for them, for the beginning of another host.
        let path = head.uri.path();
        let is_ours = path.starts_with('/') && !path.starts_with("//") && !path.contains('\\');
        let hosts = head.headers.get_all(header::HOST).iter().count();
        if !is_ours || head.uri.authority().is_some() || hosts > 1 {
            return Err(unlike());
        }
        let query = head.uri.query().unwrap_or_default();
        let parameters = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Ok(Self { head, parameters, body: Mutex::new(body.filter(|_| is_sent)) })
    }

    /// What comes before the question mark, as it was sent.
    pub fn path(&self) -> &str {
        self.head.uri.path()
    }

    /// Whether it sends something.
    pub fn is_post(&self) -> bool {
        self.head.method == Method::POST
    }

    /// Writes what is sent somewhere, at most so many bytes of it.
    ///
    /// # Errors
    /// If it is longer, does not arrive, or cannot be written.
    pub fn body(&self, into: &mut impl Write, most: u64) -> Result<(), BodyError> {
        let taken = self.body.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        taken.map_or(Ok(()), |body| body.write_to(into, most))
    }

    pub fn header(&self, name: HeaderName) -> Option<&str> {
        self.head.headers.get(name)?.to_str().ok()
    }

    pub fn cookie(&self, name: &str) -> Option<&str> {
        let lines = self.head.headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
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

/// What is wrong with a request, or with us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The number that HTTP has for it.
    pub status: u16,
    /// What it is, in two or three words.
    pub title: &'static str,
    /// What went wrong and what to do, in whole sentences.
    pub words: &'static str,
}

impl Trouble {
    const fn new(status: u16, title: &'static str, words: &'static str) -> Self {
        Self { status, title, words }
    }
}

/// What is answered.
#[derive(Debug)]
pub struct HttpResponse {
    status: u16,
    media_type: &'static str,
    headers: Vec<(HeaderName, String)>,
    body: Cow<'static, str>,
    /// Whether a browser may keep it, under an address that changes with it.
    keeps: bool,
}

impl HttpResponse {
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
        Self::of(303, PLAIN, "").with(header::LOCATION, place.to_owned())
    }

    /// The same with one more header.
    pub fn with(mut self, name: HeaderName, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// A refusal as a program reads it: its number and its headers with these words. The way to another place stays.
    pub fn for_programs(self, words: &str) -> Self {
        match self.status {
            400.. => Self { headers: self.headers, ..Self::json_error(self.status, words) },
            _ => self,
        }
    }

    /// The same, for a browser to keep.
    pub fn kept(self) -> Self {
        Self { keeps: true, ..self }
    }
}

impl From<HttpResponse> for hyper::Response<Full<Bytes>> {
    fn from(response: HttpResponse) -> Self {
        let body = match response.body {
            Cow::Borrowed(text) => Bytes::from_static(text.as_bytes()),
            Cow::Owned(text) => Bytes::from(text),
        };
        let mut sent = Self::new(Full::new(body));
        *sent.status_mut() = StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let cache = if response.keeps { "private, max-age=31536000, immutable" } else { "no-store" };
        let headers = sent.headers_mut();
        for (name, value) in [
            (header::CONTENT_TYPE, response.media_type),
            (header::CONNECTION, "close"),
            (header::CACHE_CONTROL, cache),
            (header::CONTENT_SECURITY_POLICY, POLICY),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        match response.status {
            405 => headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD")),
            503 => headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1")),
            _ => None,
        };
        // What would begin a line of its own cannot be part of one.
        let given = response.headers.into_iter().filter_map(|(name, value)| Some((name, value.try_into().ok()?)));
        headers.extend(given);
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is asked by a request to this address, with these headers.
    fn asked(method: &str, address: &str, headers: &[(&str, &str)]) -> Result<HttpRequest, Trouble> {
        let mut request = hyper::Request::builder().method(method).uri(address);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        HttpRequest::of(request.body(()).unwrap().into_parts().0, None)
    }

    #[test]
    fn a_request_tells_its_parameters_and_cookies() {
        let headers = [("host", "x"), ("cookie", "a=1; b=2")];
        let request = asked("HEAD", "/run/1?step=a&step=&token=b", &headers).unwrap();
        assert_eq!(request.path(), "/run/1");
        assert_eq!((request.header(header::HOST), request.cookie("b")), (Some("x"), Some("2")));
        assert_eq!(request.all("step").collect::<Vec<_>>(), ["a"]);
        assert_eq!(request.without("token"), "step=a&step=");
    }

    #[test]
    fn what_is_not_for_this_server_is_told_by_its_number() {
        let table = [
            ("POST", "/", &[][..], 405),
            ("GET", "//elsewhere", &[], 400),
            ("GET", "/a\\b", &[], 400),
            ("GET", "http://elsewhere/", &[], 400),
            ("GET", "/", &[("host", "a"), ("host", "b")], 400),
        ];
        for (method, address, headers, status) in table {
            assert_eq!(asked(method, address, headers).unwrap_err().status, status, "{method} {address}");
        }
    }

    #[test]
    fn a_header_cannot_begin_another() {
        let answer = HttpResponse::see("/a\r\nSet-Cookie: b=c").with(header::WWW_AUTHENTICATE, "Bearer".to_owned());
        let sent = hyper::Response::from(answer);
        assert_eq!(sent.headers().get(header::WWW_AUTHENTICATE).unwrap(), "Bearer");
        assert!(!sent.headers().contains_key(header::SET_COOKIE) && !sent.headers().contains_key(header::LOCATION));
        assert!(hyper::Response::from(HttpResponse::of(405, PLAIN, "no")).headers().contains_key(header::ALLOW));
    }
}

//! Asking another machine's server.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Request, Uri};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::connection::Connection;

/// How long to wait for a connection, and for an answer. Others may be before us.
const TO_CONNECT: Duration = Duration::from_secs(10);
const TO_ANSWER: Duration = Duration::from_secs(600);
/// The longest answer, in bytes.
const ANSWER_MOST: usize = 16 << 20;
/// The port of `assay serve`.
const PORT: u16 = 7878;

/// A server of assay, by its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    host: String,
    port: u16,
}

impl FromStr for Server {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let uri: Uri = text.parse().map_err(|_| "give an address such as http://results:7878".to_owned())?;
        match (uri.scheme_str(), uri.host()) {
            (Some("https"), _) => {
                Err("https is not spoken; push through an ssh tunnel: ssh -L 7878:localhost:7878 HOST, then \
                 assay push http://localhost:7878"
                    .to_owned())
            }
            (Some("http") | None, Some(host)) if matches!(uri.path(), "" | "/") && uri.query().is_none() => {
                Ok(Self { host: host.to_owned(), port: uri.port_u16().unwrap_or(PORT) })
            }
            _ => Err("give a host and a port alone, such as http://results:7878; the token comes from --token-file"
                .to_owned()),
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}:{}", self.host, self.port)
    }
}

impl Server {
    /// Sends something to a path there; the answer's number and body.
    ///
    /// # Errors
    /// If the server is not reached, or the connection breaks.
    pub fn post(&self, path: &str, token: &str, media_type: &str, body: &[u8]) -> io::Result<(u16, Vec<u8>)> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let answered = runtime.block_on(async {
            let name = self.host.trim_start_matches('[').trim_end_matches(']');
            let late = |_| io::Error::from(io::ErrorKind::TimedOut);
            let stream = timeout(TO_CONNECT, TcpStream::connect((name, self.port))).await.map_err(late)??;
            let (mut sender, connection) = http1::handshake(Connection::new(stream)).await.map_err(io::Error::other)?;
            let conversation = tokio::spawn(connection);
            let request = Request::post(path)
                .header(HOST, format!("{}:{}", self.host, self.port))
                .header(AUTHORIZATION, format!("Bearer {token}"))
                .header(CONTENT_TYPE, media_type)
                .body(Full::new(Bytes::copy_from_slice(body)))
                .map_err(io::Error::other)?;
            let answer = timeout(TO_ANSWER, sender.send_request(request)).await.map_err(late)?;
            let answer = answer.map_err(io::Error::other)?;
            let (head, body) = answer.into_parts();
            let body = Limited::new(body, ANSWER_MOST).collect();
            let body = timeout(TO_ANSWER, body).await.map_err(late)?.map_err(io::Error::other)?;
            conversation.abort();
            Ok((head.status.as_u16(), body.to_bytes().to_vec()))
        });
        runtime.shutdown_background();
        answered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_host_and_a_port_and_has_no_secret() {
        let read = |text: &str| text.parse::<Server>().map(|server| server.to_string());
        assert_eq!(read("http://results").as_deref(), Ok("http://results:7878"));
        assert_eq!(read("http://[::1]:80/").as_deref(), Ok("http://[::1]:80"));
        assert_eq!(read("results:9000").as_deref(), Ok("http://results:9000"));
        for (wrong, words) in [
            ("https://results", "ssh tunnel"),
            ("http://results/?token=a", "--token-file"),
            ("http://results/run/1", "a host and a port alone"),
            ("ftp://results", "a host and a port alone"),
            ("", "http://results:7878"),
        ] {
            assert!(read(wrong).is_err_and(|said| said.contains(words)), "{wrong}");
        }
    }
}

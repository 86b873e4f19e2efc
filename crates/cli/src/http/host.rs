//! By which name this machine was called.

use std::net::{IpAddr, Ipv6Addr};

use hyper::header;

use super::HttpRequest;

impl HttpRequest {
    /// Whether it calls this machine by its own name, as nobody else can: a foreign page can have its own name point here, and
    /// so have a browser read what is here as if it were that page's own.
    pub fn names_this_machine(&self) -> bool {
        self.header(header::HOST).is_some_and(is_loopback)
    }
}

/// Whether a `Host` is this machine: `localhost:7878`, `127.0.0.1`, `[::1]:7878`.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => {
            return rest.split_once(']').is_some_and(|(name, port)| {
                name.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback()) && is_port(port)
            });
        }
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    let port = &host[name.len()..];
    is_port(port)
        && (name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()))
}

/// Whether this is nothing, or a colon with a port.
fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_loopback() {
        for host in ["localhost", "LOCALHOST:7878", "127.0.0.1:1", "127.8.0.1", "[::1]", "[::1]:80"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "localhost.example.com:7878",
            "127.0.0.1.example.com",
            "10.0.0.1",
            "[::2]",
            "localhost:x",
            "localhost:80:80",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}

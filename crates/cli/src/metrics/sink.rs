//! Where the figures of a run are to be found.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use host::Output;

use super::HostNames;
use crate::failure::Failure;
use crate::outputs;
use crate::terminal::notice;

/// What was asked for: a file, or an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetricsSink {
    /// A file that is written.
    File(PathBuf),
    /// An address that answers.
    Address(SocketAddr),
}

/// A place that was tried.
pub enum OpenMetricsSink {
    /// A file that can be written.
    File(Arc<Mutex<Output>>),
    /// What waits for those who ask.
    Listener {
        /// What waits.
        listener: Arc<TcpListener>,
        /// By which names they may ask.
        names: HostNames,
    },
}

impl FromStr for MetricsSink {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((host, port)) = text.rsplit_once(':').filter(|(host, _)| !host.contains('/')) else {
            return Ok(Self::File(text.into()));
        };
        let address = || match host {
            "" | "localhost" => Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port.parse().ok()?)),
            _ => text.parse().ok(),
        };
        match address() {
            Some(address) => Ok(Self::Address(address)),
            None => Err(format!(
                "give an address and a port in numbers (127.0.0.1:9187, [::1]:9187), or a file whose name has a colon with \
                 its folder: ./{text}"
            )),
        }
    }
}

impl MetricsSink {
    /// Tries the place, before anything is begun: empties the file, or takes the port and says what to ask for.
    ///
    /// # Errors
    /// If it cannot be had, or the address is one that others reach and `is_public` does not say that this is meant.
    pub fn open(&self, is_public: bool) -> Result<OpenMetricsSink, Failure> {
        let address = match self {
            Self::File(path) => {
                let mut output = outputs::at(path)?;
                if !output.is_stream() {
                    output.write(b"").map_err(Failure::usage)?;
                }
                return Ok(OpenMetricsSink::File(Arc::new(Mutex::new(output))));
            }
            Self::Address(address) => address,
        };
        if !address.ip().is_loopback() && !is_public {
            return Err(Failure::usage(format!(
                "{address} is reachable from other machines; give 127.0.0.1:{port} for this machine only, or \
                 --metrics-public to allow it",
                port = address.port()
            )));
        }
        let listened = TcpListener::bind(address).and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (taken, listener) = listened.map_err(|error| {
            Failure::usage(format!(
                "cannot listen on {address} for metrics: {error}; give another port, or 0 for a free one"
            ))
        })?;
        notice(format_args!("Metrics: http://{taken}/metrics"));
        let names = if is_public { HostNames::Any } else { HostNames::OfThisMachine };
        Ok(OpenMetricsSink::Listener { listener: Arc::new(listener), names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_port_is_an_address() {
        let address = |text: &str| Ok(MetricsSink::Address(text.parse().unwrap()));
        let file = |text: &str| Ok(MetricsSink::File(text.into()));
        assert_eq!(MetricsSink::from_str("127.0.0.1:9187"), address("127.0.0.1:9187"));
        assert_eq!(MetricsSink::from_str("[::1]:0"), address("[::1]:0"));
        assert_eq!(MetricsSink::from_str(":9187"), address("127.0.0.1:9187"));
        assert_eq!(MetricsSink::from_str("localhost:9187"), address("127.0.0.1:9187"));
        assert_eq!(MetricsSink::from_str("assay.prom"), file("assay.prom"));
        assert_eq!(MetricsSink::from_str("./night:1"), file("./night:1"));
        for wrong in ["night:1", "127.0.0.1:99999", "::1:9187:", "localhost:http"] {
            assert!(MetricsSink::from_str(wrong).is_err_and(|why| why.contains(&format!("./{wrong}"))), "{wrong}");
        }
    }
}

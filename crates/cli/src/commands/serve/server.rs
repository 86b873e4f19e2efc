//! Serves the site until somebody asks for the end.

use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use super::routes::answer;
use super::site::Site;
use crate::http::{self, HttpResponse, Limits};

/// For one connection too many a slow one makes room, or else it is told to come back.
const LIMITS: Limits =
    Limits { most: 64, arrival: Duration::from_secs(10), departure: Duration::from_secs(60), takes: false };

/// Serves until Ctrl-C or a signal to end, then lets answers that are on their way arrive.
pub fn serve(listener: &TcpListener, site: Site) -> io::Result<()> {
    let (ended, end) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM] {
        pipe::register(signal, end.try_clone()?)?;
    }
    let limits = Limits { takes: site.accepts.is_some(), ..LIMITS };
    http::serve(listener, limits, Some(ended), move |asked| {
        asked.map_or_else(HttpResponse::from, |request| answer(&site, request))
    })
}

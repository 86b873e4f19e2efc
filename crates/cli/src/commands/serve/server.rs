//! Takes connections until somebody asks for the end; each is served by a thread of its own.

use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use super::Site;
use super::routes::answer;
use crate::connections::{Connections, Limits};
use crate::http::{Request, Response};

/// For one connection too many a slow one makes room, or else it is told to come back.
const LIMITS: Limits = Limits { most: 64, arrival: Duration::from_secs(10), departure: Duration::from_secs(60) };
/// How long answers may take to be sent after somebody asked for the end.
const GRACE: Duration = Duration::from_secs(2);

/// Serves until Ctrl-C or a signal to end, then lets answers that are on their way arrive.
pub fn serve(listener: &TcpListener, site: Site) -> io::Result<()> {
    let (ended, end) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM] {
        pipe::register(signal, end.try_clone()?)?;
    }
    // A connection that is given up between the poll and the accept must not be waited for.
    listener.set_nonblocking(true)?;
    let site = Arc::new(site);
    let open = Connections::new(LIMITS);
    loop {
        let mut waits = [PollFd::new(listener, PollFlags::IN), PollFd::new(&ended, PollFlags::IN)];
        match poll(&mut waits, None) {
            Err(Errno::INTR) => continue,
            other => other?,
        };
        if !waits[1].revents().is_empty() {
            break;
        }
        match listener.accept() {
            Ok((stream, _)) => {
                let site = Arc::clone(&site);
                open.serve(stream, busy, move |asked| {
                    asked.map_or_else(Response::from, |asked| answered(&site, asked))
                });
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // The connection broke, or the process has no file descriptor left, which passes.
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
    let until = Instant::now() + GRACE;
    while open.count() > 0 && Instant::now() < until {
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

fn busy() -> Response {
    let words = "64 connections are open already; try again in a moment.";
    Response::trouble(503, "Too many connections", words).with("Retry-After", "1".to_owned())
}

/// The answer to a request. A mistake of ours in one page must not take the others with it.
fn answered(site: &Site, request: &Request) -> Response {
    catch_unwind(AssertUnwindSafe(|| answer(site, request))).unwrap_or_else(|_| {
        let words = "This page could not be made because of a bug in assay. The server's output says where.";
        Response::trouble(500, "A bug in assay", words)
    })
}

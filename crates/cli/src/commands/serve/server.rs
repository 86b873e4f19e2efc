//! Takes connections until somebody asks for the end; each is served by a thread of its own.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use super::Site;
use super::routes::answer;
use crate::http::{Request, Response};

/// The most connections at a time; more are told to come back.
const CONNECTIONS: usize = 64;
/// How long a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);
/// How long an answer may take to be taken.
const DEPARTURE: Duration = Duration::from_secs(60);
/// How long answers may take to be sent after somebody asked for the end.
const GRACE: Duration = Duration::from_secs(2);

/// One of the connections that are open.
struct Open(Arc<AtomicUsize>);

impl Open {
    /// One more, unless there are too many.
    fn one_more(open: &Arc<AtomicUsize>) -> Option<Self> {
        let before = open.fetch_add(1, Ordering::SeqCst);
        let one = Self(Arc::clone(open));
        (before < CONNECTIONS).then_some(one)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Serves until Ctrl-C or a signal to end, then lets answers that are on their way arrive.
pub fn serve(listener: &TcpListener, site: Site) -> io::Result<()> {
    let (ended, end) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM] {
        pipe::register(signal, end.try_clone()?)?;
    }
    // A connection that is given up between the poll and the accept must not be waited for.
    listener.set_nonblocking(true)?;
    let site = Arc::new(site);
    let open = Arc::new(AtomicUsize::new(0));
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
            Ok((stream, _)) => take(stream, &site, &open),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // The connection broke, or the process has no file descriptor left, which passes.
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
    let until = Instant::now() + GRACE;
    while open.load(Ordering::SeqCst) > 0 && Instant::now() < until {
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Has a thread serve the connection. One that is broken is nobody's loss: whoever made it has to try again anyway.
fn take(mut stream: TcpStream, site: &Arc<Site>, open: &Arc<AtomicUsize>) {
    let Some(one) = Open::one_more(open) else {
        let busy =
            Response::trouble(503, "Too many at once", "64 connections are open already; try again in a moment.");
        let busy = busy.with("Retry-After", "1".to_owned());
        // Without waiting: what does not fit into the kernel's buffer is lost, and nothing is held up.
        stream.set_nonblocking(true).ok();
        busy.send(&mut stream, false, DEPARTURE).ok();
        return;
    };
    let site = Arc::clone(site);
    let serve = move || {
        let _one = one;
        stream.set_nonblocking(false).ok();
        let (answer, head_only) = match Request::take(&mut stream, ARRIVAL) {
            Ok(None) => return,
            Ok(Some(request)) => (answered(&site, &request), request.head_only),
            Err(trouble) => (trouble.into(), false),
        };
        answer.send(&mut stream, head_only, DEPARTURE).ok();
    };
    thread::Builder::new().name("page".to_owned()).spawn(serve).ok();
}

/// The answer to a request. A mistake of ours in one page must not take the others with it.
fn answered(site: &Site, request: &Request) -> Response {
    catch_unwind(AssertUnwindSafe(|| answer(site, request))).unwrap_or_else(|_| {
        let words = "This page could not be made, which is a mistake in assay. What the server printed says where.";
        Response::trouble(500, "A mistake in assay", words)
    })
}

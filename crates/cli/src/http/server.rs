//! Takes connections, has hyper read what is asked on each, and answers beside it.

use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::body::RequestBody;
use super::connection::Connection;
use super::limits::{Connections, Limits, Phase, Place};
use super::{HttpRequest, HttpResponse, Trouble};

/// The longest head of a request, in bytes, and the most lines of one.
const HEAD_MOST: usize = 16 << 10;
const LINES_MOST: usize = 64;
/// How long answers may take to be sent after somebody asked for the end.
const GRACE: Duration = Duration::from_secs(2);

/// Answers all who ask, each with what `answer` makes of it in a thread of its own, until something can be read from `end`;
/// what is being answered then has a moment to arrive. A connection is for one request.
///
/// # Errors
/// If the system refuses what every server needs.
pub fn serve(
    listener: &TcpListener,
    limits: Limits,
    end: Option<UnixStream>,
    answer: impl Fn(Result<&HttpRequest, Trouble>) -> HttpResponse + Send + Sync + 'static,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .thread_name("page")
        .max_blocking_threads(2 * limits.most)
        .build()?;
    let ended = runtime.block_on(async {
        let listener = listener.try_clone()?;
        listener.set_nonblocking(true)?;
        let connections = Connections::new(limits);
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let taking = tokio::spawn(take(listener, Arc::clone(&connections), Arc::new(answer)));
        match end {
            None => pending().await,
            Some(end) => {
                end.set_nonblocking(true)?;
                tokio::net::UnixStream::from_std(end)?.readable().await?;
            }
        }
        taking.abort();
        let until = Instant::now() + GRACE;
        while connections.are_answered() && Instant::now() < until {
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    });
    // An answer that nobody waits for any more is not waited for here.
    runtime.shutdown_background();
    ended
}

async fn take<A>(listener: tokio::net::TcpListener, connections: Arc<Connections>, answer: Arc<A>)
where
    A: Fn(Result<&HttpRequest, Trouble>) -> HttpResponse + Send + Sync + 'static,
{
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let Some(place) = connections.admit().map(Arc::new) else { continue };
                let task = tokio::spawn(converse(stream, Arc::clone(&place), Arc::clone(&answer)));
                place.served_by(task.abort_handle());
            }
            // The connection broke, or the process has no file descriptor left, which passes.
            Err(_) => sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Serves a connection until it ends or the client's time is up. One that breaks is nobody's loss: whoever made it has to try
/// again anyway.
async fn converse<A>(stream: TcpStream, place: Arc<Place>, answer: Arc<A>)
where
    A: Fn(Result<&HttpRequest, Trouble>) -> HttpResponse + Send + Sync + 'static,
{
    let (asked, takes) = (Arc::clone(&place), place.takes());
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (place, answer) = (Arc::clone(&asked), Arc::clone(&answer));
        async move {
            if place.is_refused() {
                return Ok::<_, Infallible>(answer(Err(BUSY)).into());
            }
            place.is(Phase::Working);
            let (held, made) = (Arc::clone(&place), Arc::clone(&answer));
            let (head, body) = request.into_parts();
            let body = takes.then(|| RequestBody::new(body, Handle::current()));
            let request = HttpRequest::of(head, body);
            let make = move || {
                // Whoever hangs up meanwhile leaves room only when the work is done.
                let _held = held;
                made(request.as_ref().map_err(Clone::clone))
            };
            let made = spawn_blocking(make).await;
            place.is(Phase::Departing);
            // A mistake of ours in one answer must not take the others with it.
            Ok(made.unwrap_or_else(|_| answer(Err(MISTAKE))).into())
        }
    });
    let mut protocol = Builder::new();
    // Whoever has asked may close that half of the connection before it is answered.
    protocol.keep_alive(false).half_close(true).title_case_headers(true);
    protocol.max_buf_size(HEAD_MOST).max_headers(LINES_MOST);
    let mut conversation = pin!(protocol.serve_connection(Connection::new(stream), service));
    let mut patience = pin!(sleep(Duration::ZERO));
    poll_fn(|context| {
        if conversation.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let Some(deadline) = place.deadline() else { return Poll::Pending };
        patience.as_mut().reset(deadline.into());
        patience.as_mut().poll(context)
    })
    .await;
}

const BUSY: Trouble =
    Trouble::new(503, "Too many connections", "Too many connections are open already; try again in a moment.");
const MISTAKE: Trouble = Trouble::new(
    500,
    "A bug in assay",
    "This page could not be made because of a bug in assay. The server's output says where.",
);

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::SocketAddr;
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;

    use super::super::PLAIN;
    use super::*;

    const LIMITS: Limits =
        Limits { most: 1, arrival: Duration::from_secs(60), departure: Duration::from_secs(60), takes: false };

    /// A server with these limits whose answers wait until they are allowed, one by one: where it is, what tells that one is
    /// being made, and what allows it.
    fn server(limits: Limits) -> (SocketAddr, Receiver<()>, Sender<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let ((begin, begun), (allow, allowed)) = (channel(), channel());
        let allowed = Mutex::new(allowed);
        let answer = move |asked: Result<&HttpRequest, Trouble>| match asked {
            Ok(request) if request.path() == "/mistake" => panic!("a mistake"),
            Ok(_) => {
                begin.send(()).ok();
                allowed.lock().unwrap().recv().ok();
                HttpResponse::text(PLAIN, "made")
            }
            Err(trouble) => HttpResponse::of(trouble.status, PLAIN, trouble.words),
        };
        thread::spawn(move || serve(&listener, limits, None, answer));
        (address, begun, allow)
    }

    fn ask(address: SocketAddr, path: &str) -> std::net::TcpStream {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        stream
    }

    fn told(mut stream: std::net::TcpStream) -> String {
        let mut told = String::new();
        stream.read_to_string(&mut told).unwrap();
        told
    }

    #[test]
    fn one_too_many_while_all_are_being_answered_is_told_to_come_back() {
        let (address, begun, allow) = server(LIMITS);
        let first = ask(address, "/");
        begun.recv().unwrap();
        let refused = told(ask(address, "/"));
        assert!(refused.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{refused}");
        assert!(refused.contains("Retry-After: 1") && refused.ends_with("try again in a moment."), "{refused}");
        allow.send(()).unwrap();
        assert!(told(first).ends_with("\r\n\r\nmade"));
    }

    #[test]
    fn a_panic_is_an_answer_and_the_next_is_answered_as_ever() {
        let (address, _begun, allow) = server(LIMITS);
        let said = told(ask(address, "/mistake"));
        assert!(said.starts_with("HTTP/1.1 500") && said.contains("a bug in assay"), "{said}");
        allow.send(()).unwrap();
        assert!(told(ask(address, "/")).ends_with("made"));
    }

    #[test]
    fn who_does_not_ask_in_time_is_hung_up_on_and_who_is_answered_late_is_not() {
        let (address, begun, allow) = server(Limits { most: 4, arrival: Duration::from_secs(1), ..LIMITS });
        let asks = ask(address, "/");
        begun.recv().unwrap();
        let mut slow = std::net::TcpStream::connect(address).unwrap();
        slow.write_all(b"GET / HT").unwrap();
        // The end of this one is waited for, however long a busy machine takes.
        assert!(slow.read_to_end(&mut Vec::new()).is_ok_and(|count| count == 0));
        allow.send(()).unwrap();
        assert!(told(asks).ends_with("made"), "its request had come in time");
    }
}

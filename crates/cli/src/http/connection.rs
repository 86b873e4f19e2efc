//! A connection as hyper reads and writes it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// How long to wait for the other side to hang up.
const FAREWELL: Duration = Duration::from_millis(500);
/// What is read at a time. Requests are short.
const PART: usize = 4096;

/// A connection that hangs up once the other side has: what that still sends is read, for else the kernel would throw the
/// answer away.
pub(super) struct Connection {
    stream: TcpStream,
    farewell: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    /// Over this stream.
    pub fn new(stream: TcpStream) -> Self {
        Self { stream, farewell: None }
    }

    fn poll_part(&mut self, context: &mut Context<'_>, part: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, part)
    }
}

impl Read for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut part = [0; PART];
        let mut part = ReadBuf::new(&mut part[..into.remaining().min(PART)]);
        ready!(self.poll_part(context, &mut part))?;
        into.put_slice(part.filled());
        Poll::Ready(Ok(()))
    }
}

impl Write for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.farewell.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            self.farewell = Some(Box::pin(sleep(FAREWELL)));
        }
        loop {
            let mut rest = [0; PART];
            let mut rest = ReadBuf::new(&mut rest);
            match self.poll_part(context, &mut rest) {
                Poll::Ready(Ok(())) if !rest.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => break,
            }
        }
        let farewell = self.farewell.as_mut().expect("it began above");
        farewell.as_mut().poll(context).map(Ok)
    }
}

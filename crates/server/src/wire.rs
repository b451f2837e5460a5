//! A connection as hyper reads and writes it. Whoever does not take what it asked for is not waited for: the answer would
//! stay in memory for as long as it likes.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Read, ReadBufCursor, Sleep, Timer, Write};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// For how long nothing of an answer may be taken.
pub(crate) const STALL: Duration = Duration::from_secs(20);

/// How much is read at once.
const PIECE: usize = 8 << 10;

/// A connection.
pub(crate) struct Wire {
    stream: TcpStream,
    piece: Box<[u8; PIECE]>,
    stalled: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, piece: Box::new([0; PIECE]), stalled: None }
    }

    /// What became of writing: pending for too long is an end.
    fn wrote<T>(&mut self, context: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.stalled = None;
            return done;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(STALL)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Read for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let room = into.remaining().min(PIECE);
        let mut piece = ReadBuf::new(this.piece.get_mut(..room).unwrap_or_default());
        match Pin::new(&mut this.stream).poll_read(context, &mut piece) {
            Poll::Ready(Ok(())) => {
                into.put_slice(piece.filled());
                Poll::Ready(Ok(()))
            }
            other => other,
        }
    }
}

impl Write for Wire {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let done = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.wrote(context, done)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let done = Pin::new(&mut this.stream).poll_flush(context);
        this.wrote(context, done)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let done = Pin::new(&mut this.stream).poll_shutdown(context);
        this.wrote(context, done)
    }
}

/// The runtime's clock, for hyper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock;

/// A time to wait.
struct Wait(Pin<Box<tokio::time::Sleep>>);

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.get_mut().0.as_mut().poll(context)
    }
}

impl Sleep for Wait {}

impl Timer for Clock {
    fn sleep(&self, span: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Wait(Box::pin(tokio::time::sleep(span))))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Wait(Box::pin(tokio::time::sleep_until(deadline.into()))))
    }
}

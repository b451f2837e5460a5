//! Bodies: what comes in is bounded in size and time, what goes out is a whole document or a stream of events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::Receiver;

use crate::problem::{Own, Problem};

/// The longest body.
pub(crate) const LONGEST: usize = 1 << 20;
/// For how long one may come in.
const PATIENCE: Duration = Duration::from_secs(10);

/// What goes out.
pub(crate) enum Answer {
    /// A document.
    Whole(Option<Bytes>),
    /// Events, for as long as there are some.
    Events(Receiver<Bytes>),
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Events(events) => events.poll_recv(context).map(|bytes| Some(Ok(Frame::data(bytes?)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

/// Reads a whole body.
pub(crate) async fn read(body: Incoming) -> Result<Vec<u8>, Problem> {
    if body.size_hint().lower() > LONGEST as u64 {
        return Err(Problem::plain(Own::TooLarge));
    }
    tokio::time::timeout(PATIENCE, pieces(body)).await.unwrap_or_else(|_| Err(Problem::plain(Own::TooSlow)))
}

async fn pieces(mut body: Incoming) -> Result<Vec<u8>, Problem> {
    let mut whole = Vec::new();
    while let Some(frame) = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|error| Problem::bad(format!("the body cannot be read: {error}")))?;
        if let Some(piece) = frame.data_ref() {
            if whole.len() + piece.len() > LONGEST {
                return Err(Problem::plain(Own::TooLarge));
            }
            whole.extend_from_slice(piece);
        }
    }
    Ok(whole)
}

/// The value that a body is. How deep it goes is bounded by whoever parses it.
pub(crate) fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| Problem::bad(format!("the body is not understood: {error}")))
}

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

/// For how long, and how much, the rest of a body is read that is not wanted.
const LINGER: Duration = Duration::from_millis(500);
const MOST_LEFT: usize = 8 << 20;

/// An answer.
pub(crate) struct Made {
    /// One JSON document.
    pub(crate) text: Bytes,
    /// What tells it from an earlier one, where somebody may have that.
    pub(crate) tag: Option<String>,
}

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
    let (mut body, mut whole) = (body, Vec::new());
    let announced = body.size_hint().lower();
    let read = match announced > LONGEST as u64 {
        true => Err(Problem::plain(Own::TooLarge)),
        false => tokio::time::timeout(PATIENCE, pieces(&mut body, &mut whole))
            .await
            .unwrap_or_else(|_| Err(Problem::plain(Own::TooSlow))),
    };
    if let Err(Problem::Own(Own::TooLarge, _)) = &read {
        // Whoever is still sending does not read: with a little of the rest taken off the wire it hears the answer.
        let _ = tokio::time::timeout(LINGER, rest(&mut body)).await;
    }
    read.map(|()| whole)
}

/// Takes what is left of a body off the wire, as far as that is sensible.
async fn rest(body: &mut Incoming) {
    let mut left = MOST_LEFT;
    while let Some(Ok(frame)) = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await
    {
        let length = frame.data_ref().map_or(0, |piece| piece.len());
        match left.checked_sub(length) {
            Some(less) => left = less,
            None => return,
        }
    }
}

async fn pieces(body: &mut Incoming, whole: &mut Vec<u8>) -> Result<(), Problem> {
    while let Some(frame) = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await {
        let frame = frame.map_err(|error| Problem::bad(format!("the body cannot be read: {error}")))?;
        if let Some(piece) = frame.data_ref() {
            if whole.len() + piece.len() > LONGEST {
                return Err(Problem::plain(Own::TooLarge));
            }
            whole.extend_from_slice(piece);
        }
    }
    Ok(())
}

/// The value that a body is. How deep it goes is bounded by whoever parses it.
pub(crate) fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    // A list would be taken for the members of an object, in their order.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(Problem::bad("the body is no JSON object"));
    }
    serde_json::from_slice(body).map_err(|error| Problem::bad(format!("the body is not understood: {error}")))
}

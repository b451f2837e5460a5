//! `/api/events`: what happens, to a follower that may be slow, may go away and may come back. Nobody waits for it: it has a
//! few messages of room, and whoever falls too far behind is told to begin anew.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use holdfast_tracker::feed::{Happened, Kind};
use hyper::Response;
use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::{Instant, interval_at};

use crate::body::Answer;
use crate::message::event;
use crate::problem::Problem;
use crate::query::Query;
use crate::watch::{Follower, Told, Watch};

/// How often a sign of life is sent.
const BEAT: Duration = Duration::from_secs(15);
/// How many messages wait for a follower.
const ROOM: usize = 16;

/// Follows what happens.
///
/// # Errors
/// When too many do, or the request is not understood.
pub(crate) async fn follow(watch: &Arc<Watch>, head: &Parts) -> Result<Response<Answer>, Problem> {
    let query = Query::parse(head.uri.query().unwrap_or_default(), &["board"])?;
    // What cannot be a cursor leads nowhere, like one that is too old.
    let cursor = head.headers.get("last-event-id");
    let cursor = cursor.map(|cursor| cursor.to_str().unwrap_or_default().to_owned());
    let follower = watch.follow(cursor, query.one("board")?.is_some()).await?;
    let (sender, receiver) = channel(ROOM);
    tokio::spawn(tell(follower, sender));
    let mut response = Response::new(Answer::Events(receiver));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Tells a follower what happens until it goes away.
async fn tell(mut follower: Follower, sender: Sender<Bytes>) {
    let mut first = String::from(": here\nretry: 1000\n\n");
    match follower.missed.take() {
        Some(missed) => missed.iter().for_each(|one| first.push_str(&message(one))),
        None => first.push_str(&anew(&follower.cursor)),
    }
    if let Some(trouble) = &follower.trouble {
        first.push_str(&event("trouble", None, trouble));
    }
    let mut beats = interval_at(Instant::now() + BEAT, BEAT);
    let mut next = Bytes::from(first);
    loop {
        if sender.send(next).await.is_err() {
            return;
        }
        next = tokio::select! {
            // Of what happened it is told before what came of it.
            biased;
            () = sender.closed() => return,
            told = follower.news.recv() => match told {
                Ok(Told::Happened(one)) => message(&one).into(),
                Ok(Told::Changed(cursor)) => event("changed", Some(&cursor), "{}").into(),
                Ok(Told::Trouble(why)) => event("trouble", None, &why).into(),
                Ok(Told::Well) => event("well", None, "{}").into(),
                // It was told nothing for so long that its place is gone: without an id it comes back with the one it has.
                Err(RecvError::Lagged(_)) => event("anew", None, "{}").into(),
                Err(RecvError::Closed) => return,
            },
            changed = board(&mut follower.boards) => changed,
            _ = beats.tick() => Bytes::from_static(b": still here\n\n"),
        };
    }
}

/// How the board changes next. Whoever has missed one finds that it does not fit, and asks for the whole.
async fn board(boards: &mut Option<Receiver<Bytes>>) -> Bytes {
    let Some(boards) = boards else { return pending().await };
    loop {
        match boards.recv().await {
            Ok(changed) => return changed,
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return pending().await,
        }
    }
}

fn message(one: &Happened) -> String {
    let name = match one.kind {
        Kind::Claim => "claim",
        Kind::Issue => "issue",
    };
    event(name, Some(&one.cursor), &one.event.to_string())
}

/// That the place of a follower is not known, so that it has to look at everything again.
fn anew(cursor: &str) -> String {
    event("anew", Some(cursor), "{}")
}

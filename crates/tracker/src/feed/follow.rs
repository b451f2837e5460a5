//! Following what happens: looking often costs little, and the repository is only opened when something has changed.

use std::collections::BTreeSet;
use std::path::Path;

use holdfast_kernel::{Millis, Stamp};

use super::{Feed, Happened, Traces};
use crate::caller::Caller;
use crate::error::Result;
use crate::session::Session;

/// After how long the repository is looked at anew, whatever was seen: it may be somewhere else.
const ANEW: Millis = Millis::from_secs(5);

/// Somebody who follows what happens.
pub struct Follow {
    caller: Caller,
    feed: Feed,
    traces: Traces,
    seen: Traces,
    anew: Stamp,
    is_well: bool,
}

impl Follow {
    /// Follows from here on: whatever is read of the repository after this and changes then is told.
    ///
    /// # Errors
    /// When what is there cannot be read.
    pub fn start(session: &Session, caller: Caller) -> Result<Self> {
        let traces = Traces::of(session);
        let seen = traces.taken(session.sys());
        let anew = session.sys().clock.now()?;
        Ok(Self { caller, feed: Feed::open(session)?, traces, seen, anew, is_well: true })
    }

    /// The directories in which something changes when something happens.
    #[must_use]
    pub fn places(&self) -> BTreeSet<&Path> {
        self.traces.places()
    }

    /// Where it is.
    #[must_use]
    pub fn cursor(&self) -> String {
        self.feed.cursor()
    }

    /// What happened after a cursor and up to the last look; none if that cannot be told any more.
    ///
    /// # Errors
    /// When a log cannot be read.
    pub fn since(&self, cursor: &str) -> Result<Option<Vec<Happened>>> {
        self.feed.since(&Session::open(&self.caller)?, cursor)
    }

    /// What has happened since the last look; none if nothing has. Where nothing is in it, something else is not as it
    /// was: notes, branches, worktrees.
    ///
    /// # Errors
    /// When the repository cannot be read. The next look tries again.
    pub fn look(&mut self) -> Result<Option<Vec<Happened>>> {
        let looked = self.poll();
        self.is_well = looked.is_ok();
        looked
    }

    fn poll(&mut self) -> Result<Option<Vec<Happened>>> {
        let now = self.caller.sys.clock.now()?;
        if now.since(&self.anew).forward() >= ANEW || !self.is_well {
            let session = Session::open(&self.caller)?;
            // Whatever can be seen of the claims has to be readable, too.
            session.claims().view()?;
            (self.traces, self.anew) = (Traces::of(&session), now);
        }
        if self.seen == self.traces.taken(&self.caller.sys) {
            return Ok(None);
        }
        let session = Session::open(&self.caller)?;
        // There may be other worktrees. What happens from here on is seen by the next look.
        let traces = Traces::of(&session);
        let seen = traces.taken(&self.caller.sys);
        session.claims().view()?;
        let happened = self.feed.poll(&session)?;
        (self.traces, self.seen) = (traces, seen);
        Ok(Some(happened))
    }
}

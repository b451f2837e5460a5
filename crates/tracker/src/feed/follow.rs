//! Following what happens: looking often costs little, and the repository is only opened when something has changed.

use super::{Feed, Happened, Traces};
use crate::caller::Caller;
use crate::error::Result;
use crate::session::Session;

/// After how many looks the repository is looked at anew: it may have other worktrees, or be somewhere else.
const ANEW: u32 = 25;

/// Somebody who follows what happens.
pub struct Follow {
    caller: Caller,
    feed: Feed,
    traces: Traces,
    seen: Traces,
    looks: u32,
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
        Ok(Self { caller, feed: Feed::open(session)?, traces, seen, looks: 0, is_well: true })
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
        self.looks += 1;
        if self.looks >= ANEW || !self.is_well {
            self.looks = 0;
            let session = Session::open(&self.caller)?;
            // Whatever can be seen of the claims has to be readable, too.
            session.claims().view()?;
            self.traces = Traces::of(&session);
        }
        let seen = self.traces.taken(&self.caller.sys);
        if self.seen == seen {
            return Ok(None);
        }
        let session = Session::open(&self.caller)?;
        session.claims().view()?;
        let happened = self.feed.poll(&session)?;
        self.seen = seen;
        Ok(Some(happened))
    }
}

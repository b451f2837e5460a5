//! Waiting for an issue that somebody else has claimed: in order of arrival, without asking the log more
//! often than it changes, and gone at once when a signal comes.

use holdfast_kernel::{Answer, Lease, Millis, Refusal, Stamp};
use holdfast_sys::Stat;

use super::queue::{Queue, Ticket};
use super::{Claimant, Claims, Objection, Terms, keeper, lease};
use crate::agent::AgentId;
use crate::caller::Caller;
use crate::control::Access;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::notice::Notice;
use crate::wait::Waits;

/// What stands for as long as it takes, in the place of a number of seconds.
const FOREVER: &str = "forever";

/// How often the log's length is looked at: often at first, seldom later.
const SHORTEST: u64 = 20;
const LONGEST: u64 = 250;

/// Somebody who waits.
pub struct Waiter<'a> {
    /// Who asks.
    pub caller: &'a Caller,
    /// The claims.
    pub claims: &'a Claims,
    /// What is wanted: all of it or nothing.
    pub issues: &'a [IssueId],
    /// By whom.
    pub agent: &'a AgentId,
    /// Who may use the control plane.
    pub access: Access,
    /// What may speak against it inside the grant.
    pub objection: Option<&'a Objection<'a>>,
}

/// What stands in the way.
enum Blocked {
    /// Somebody holds the issue.
    Held(Box<Refusal>),
    /// Others came earlier.
    Behind(Vec<String>),
}

impl Blocked {
    /// The lease that is in the way.
    fn lease(&self) -> Option<&Lease> {
        match self {
            Self::Held(refusal) => refusal.blocker(),
            Self::Behind(_) => None,
        }
    }
}

/// The places of a waiter in the lines for what it wants.
struct Line<'a> {
    lines: &'a [Queue],
    tickets: &'a [Ticket<'a>],
}

impl Line<'_> {
    /// Who stands before it in any of them.
    fn ahead(&self) -> Result<Vec<String>> {
        let mut ahead: Vec<String> = Vec::new();
        for (line, ticket) in self.lines.iter().zip(self.tickets) {
            let before = line.ahead(ticket)?;
            ahead.extend(before.into_iter().filter(|who| !ahead.contains(who)).collect::<Vec<_>>());
        }
        Ok(ahead)
    }
}

impl Waiter<'_> {
    /// Acquires the issues within `limit`, and gives an answer for each.
    ///
    /// # Errors
    /// The refusal once the time is over, a signal, or what failed.
    pub fn acquire(
        &self,
        who: &Claimant,
        terms: &Terms,
        limit: Millis,
        patience: &dyn Waits,
    ) -> Result<Vec<Answer>> {
        let sys = &self.caller.sys;
        let started = sys.clock.now()?;
        let line = |issue: &IssueId| Queue::new(sys, &self.claims.control, &issue.to_string(), self.access);
        let lines: Vec<Queue> = self.issues.iter().map(line).collect();
        let tickets = Queue::join_all(&lines, self.agent)?;
        let line = Line { lines: &lines, tickets: &tickets };
        let mut said = String::new();
        // The lease whose keeper was gone before its holder was last found in the way: that answer knows of it.
        let mut gone = None;
        loop {
            let seen = self.log_stat();
            let blocked = match self.attempt(&line, who, terms)? {
                Ok(answer) => return Ok(answer),
                Err(blocked) => blocked,
            };
            let now = sys.clock.now()?;
            let left = limit.get().saturating_sub(now.since(&started).forward().get());
            if left == 0 {
                return Err(self.too_late(blocked));
            }
            self.announce(&blocked, &now, &mut said);
            let keeper = blocked.lease().filter(|lease| Some(lease.id) != gone);
            self.rest(patience, &line, (&blocked, keeper), seen, Millis::new(left))?;
            gone = blocked.lease().filter(|lease| keeper::is_gone(sys, lease)).map(|lease| lease.id);
        }
    }

    /// Asks for the issues, if nobody came earlier.
    fn attempt(
        &self,
        line: &Line<'_>,
        who: &Claimant,
        terms: &Terms,
    ) -> Result<std::result::Result<Vec<Answer>, Blocked>> {
        let ahead = line.ahead()?;
        if !ahead.is_empty() {
            return Ok(Err(Blocked::Behind(ahead)));
        }
        let answers = match (self.issues, self.objection) {
            ([only], None) => self.claims.acquire(*only, who, terms).map(|answer| vec![answer]),
            (several, objection) => self.claims.acquire_all(several, who, terms, objection),
        };
        match answers {
            Err(Error::Refused(refusal)) if waits(&refusal) => Ok(Err(Blocked::Held(refusal))),
            answer => answer.map(Ok),
        }
    }

    /// Waits until something may have changed: the log, the line, the keeper of the lease that is given with what is in
    /// the way, or the time.
    fn rest(
        &self,
        patience: &dyn Waits,
        line: &Line<'_>,
        (blocked, watched): (&Blocked, Option<&Lease>),
        seen: Option<Stat>,
        left: Millis,
    ) -> Result<()> {
        let sys = &self.caller.sys;
        let from = sys.clock.now()?;
        let most = match blocked {
            Blocked::Held(refusal) => retry(refusal).map_or(left, |retry| left.min(retry)),
            Blocked::Behind(_) => left,
        };
        let mut pause = SHORTEST;
        loop {
            let spent = sys.clock.now()?.since(&from).forward().get();
            let rest = most.get().saturating_sub(spent);
            if rest == 0 {
                return Ok(());
            }
            patience.wait(Millis::new(pause.min(rest)))?;
            pause = (pause * 2).min(LONGEST);
            let moved_up = match blocked {
                Blocked::Behind(before) => line.ahead()? != *before,
                Blocked::Held(_) => {
                    self.claims.poll();
                    self.log_stat() != seen || watched.is_some_and(|lease| keeper::is_gone(sys, lease))
                }
            };
            if moved_up {
                return Ok(());
            }
        }
    }

    fn named(&self) -> String {
        let names: Vec<String> = self.issues.iter().map(ToString::to_string).collect();
        names.join(" ")
    }

    fn log_stat(&self) -> Option<Stat> {
        self.caller.sys.files.stat(&self.claims.log_path()).ok()
    }

    /// Says whom it waits for, once and whenever that changes.
    fn announce(&self, blocked: &Blocked, now: &Stamp, said: &mut String) {
        let issue = self.named();
        let (whom, notice) = match blocked {
            Blocked::Held(refusal) => match refusal.blocker() {
                Some(blocker) => {
                    let left = lease::left_and_keeper(&self.caller.sys, blocker, now);
                    let lease = Box::new(blocker.clone());
                    (blocker.id.to_string(), Notice::WaitingFor { issue, lease, left })
                }
                None => (refusal.code().to_owned(), Notice::WaitingOn(refusal.to_string())),
            },
            Blocked::Behind(ahead) => (ahead.join(", "), Notice::InLine { issue, ahead: ahead.clone() }),
        };
        if whom != *said {
            self.caller.notice(&notice);
            *said = whom;
        }
    }

    fn too_late(&self, blocked: Blocked) -> Error {
        match blocked {
            Blocked::Held(refusal) => Error::Refused(refusal),
            Blocked::Behind(ahead) => Error::InLine { issue: self.named(), ahead: ahead.join(", ") },
        }
    }
}

/// Whether it is worth waiting.
const fn waits(refusal: &Refusal) -> bool {
    refusal.blocker().is_some()
}

/// When to ask again at the latest.
const fn retry(refusal: &Refusal) -> Option<Millis> {
    let Refusal::Held { retry_after, .. } = refusal else { return None };
    *retry_after
}

/// A length of time that was typed after `--wait`.
///
/// # Errors
/// When it is none.
pub fn limit(text: &str) -> Result<Millis> {
    if text == FOREVER {
        return Ok(Millis::LONGEST);
    }
    super::seconds("--wait", text).map(Millis::from_secs)
}

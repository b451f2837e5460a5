//! The landing lease: whoever moves the target holds it, in order of arrival. It stands in the same log as the claims,
//! names the landing process as its keeper, and is over with that process: nobody waits for a dead one.
//!
//! It is there so that nobody starves and nothing is built in vain. What keeps two from moving the target at once is the
//! comparison with where it was.

use holdfast_kernel::{
    Acquire, Again, Answer, Claim, Command, Lease, Millis, Mode, Name, Policy, Refusal, Request, Resource,
};
use holdfast_store::liveness;

use crate::claims::queue::{Queue, Ticket};
use crate::claims::{branch_tags, keeper, lease};
use crate::error::{Error, Result};
use crate::notice::Notice;
use crate::session::Session;

/// How long it lasts without a sign of life, where nobody can tell whether its keeper lives.
const TTL: Millis = Millis::from_secs(60);

/// How often whoever waits looks again: often at first, seldom later.
const SHORTEST: u64 = 5;
const LONGEST: u64 = 100;
const LONGEST_SHARED: u64 = 1_000;

/// How long whoever waits for another machine does so.
const PATIENCE: Millis = Millis::from_secs(20);

/// The right to move the target. Dropping it gives it back.
pub(super) struct Turn<'a> {
    session: &'a Session,
    branch: String,
    /// None where all clones share their claims and nobody waits: then the comparison alone decides.
    lease: Option<Lease>,
}

impl<'a> Turn<'a> {
    /// Waits for the turn to move a branch. Where all clones share their claims, nobody who is alone pays for it.
    ///
    /// # Errors
    /// What failed.
    pub(super) fn take(session: &'a Session, branch: &str) -> Result<Self> {
        let claims = session.claims_to_change()?;
        if claims.shared.is_some() {
            let (view, resource) = (claims.view()?, resource(branch)?);
            let waits = view.table.on(&resource).any(|lease| !lease.standing(&view.now).is_over());
            if !waits {
                return Ok(Self { session, branch: branch.to_owned(), lease: None });
            }
        }
        Self::wait(session, branch)
    }

    /// This turn, and for certain: somebody was faster.
    ///
    /// # Errors
    /// What failed.
    pub(super) fn insist(self) -> Result<Self> {
        if self.lease.is_some() { Ok(self) } else { Self::wait(self.session, &self.branch) }
    }

    fn wait(session: &'a Session, branch: &str) -> Result<Self> {
        let claims = session.claims_to_change()?;
        let resource = resource(branch)?;
        let name = resource.to_string();
        let began = session.sys().clock.now()?;
        let line: String = name.replace('/', "+").chars().take(100).collect();
        let queue = Queue::new(session.sys(), &claims.control, &line, session.access()?);
        let ticket = queue.join(&session.agent()?.id)?;
        let (mut pause, mut said) = (SHORTEST, String::new());
        loop {
            match attempt(session, &queue, &ticket, &resource)? {
                Ok(lease) => return Ok(Self { session, branch: branch.to_owned(), lease: Some(lease) }),
                Err((whom, notice)) if pause >= LONGEST && whom != said => {
                    session.notice(&notice);
                    said = whom;
                }
                Err(_) => {}
            }
            let waited = session.sys().clock.now()?.since(&began).forward();
            // Whether somebody on another machine has died cannot be seen from here, and it is for fairness alone.
            if claims.shared.is_some() && waited >= PATIENCE {
                return Ok(Self { session, branch: branch.to_owned(), lease: None });
            }
            session.sys().clock.sleep(Millis::new(pause));
            pause = (pause * 2).min(if claims.shared.is_some() { LONGEST_SHARED } else { LONGEST });
        }
    }

    /// The lease.
    pub(super) const fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    /// What a write under it shows.
    pub(super) fn claims(&self) -> Vec<Claim> {
        self.lease.iter().map(Lease::claim).collect()
    }
}

/// What is leased by whoever moves a branch.
fn resource(branch: &str) -> Result<Resource> {
    let name = format!("branch:{branch}");
    let named = Name::new(&name).map(Resource::from);
    named.map_err(|why| Error::Internal(format!("'{name}' cannot be leased: {why}")))
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // One that cannot be given back ends with this process.
        let Some(lease) = &self.lease else { return };
        let release = Command::Release { lease: lease.id, holder: lease.holder.clone() };
        let _ = self.session.claims().command(&release);
    }
}

/// Whom somebody waits for, and how that is said.
type Waiting = (String, Notice);

/// Asks for the turn, if nobody came earlier.
fn attempt(
    session: &Session,
    queue: &Queue,
    ticket: &Ticket<'_>,
    resource: &Resource,
) -> Result<std::result::Result<Lease, Waiting>> {
    let issue = resource.to_string();
    let ahead = queue.ahead(ticket)?;
    if !ahead.is_empty() {
        return Ok(Err((ahead.join(", "), Notice::InLine { issue, ahead })));
    }
    let mut dead = Vec::new();
    loop {
        let blocker = match ask(session, resource, &dead) {
            Ok(lease) => return Ok(Ok(lease)),
            Err(Error::Refused(refusal)) => match blocking(&refusal) {
                Some(blocker) => blocker,
                None => return Err(Error::Refused(refusal)),
            },
            Err(error) => return Err(error),
        };
        // Whoever landed and died holds nobody up, be it this very agent in an earlier life.
        if !dead.contains(&blocker.id) && keeper::is_gone(session.sys(), &blocker) {
            dead.push(blocker.id);
            continue;
        }
        let left = lease::left_and_keeper(session.sys(), &blocker, &session.sys().clock.now()?);
        let whom = blocker.id.to_string();
        return Ok(Err((whom, Notice::WaitingFor { issue, lease: Box::new(blocker), left })));
    }
}

/// The lease in the way, be it another's or this very holder's.
fn blocking(refusal: &Refusal) -> Option<Lease> {
    if let Refusal::AlreadyHeld { lease } = refusal {
        return Some(Lease::clone(lease));
    }
    refusal.blocker().cloned()
}

fn ask(session: &Session, resource: &Resource, dead: &[holdfast_kernel::LeaseId]) -> Result<Lease> {
    let claims = session.claims();
    let tags = branch_tags(session.branch()?.as_deref());
    let me = session.sys().processes.me().ok().filter(|me| me.boot.is_some());
    let tags = me.and_then(|me| liveness::describe(&me, tags.clone())).unwrap_or(tags);
    let holder = session.holder()?.clone();
    let range = claims.policy.rule_for(&holder).ttl;
    let command = Command::Acquire(Acquire {
        id: claims.fresh_id()?,
        resource: resource.clone(),
        holder,
        mode: Mode::Exclusive,
        request: Request::Finite(TTL.max(range.min).min(range.max)),
        reason: None,
        tags,
        dead: dead.to_vec(),
    });
    // Two landings of one agent in one worktree are two.
    let policy = Policy { again: Again::Refuse, ..claims.policy.clone() };
    match claims.medium.transact(&policy, &command)? {
        Answer::Granted(lease) => Ok(lease),
        other => Err(Error::unexpected("grant the landing lease", &other)),
    }
}

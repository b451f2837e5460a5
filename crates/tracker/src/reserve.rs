//! Reserving paths: taking, showing, giving back, and asking whether a path may be written. A pattern is relative to the
//! root of the repository; whether there is such a path makes no difference.

use std::path::{Component, Path, PathBuf};

use holdfast_kernel::{
    Answer, Command, Lease, LeaseId, Millis, Mode, Pattern, PatternError, Refusal, Request, Resource, Stamp,
    Table, Text,
};
use holdfast_store::View;

use crate::claims::reserved::{self, claim_of};
use crate::claims::{Claimant, Paths, keeper, lease};
use crate::durable;
use crate::error::{Error, Result};
use crate::held::{held_here, own_lease, several};
use crate::ids::IssueId;
use crate::issues::Issues;
use crate::notice::Notice;
use crate::session::Session;
use crate::take::Patience;

/// The most patterns that are reserved at once.
const MOST: usize = 256;

/// How often whoever waits looks again: often at first, seldom later.
const SHORTEST: u64 = 20;
const LONGEST: u64 = 250;

/// Which claim reserved paths belong to.
#[derive(Clone, Copy, Debug)]
pub enum Owner<'a> {
    /// The one on this issue.
    Issue(&'a str),
    /// The only one that is held here; none if none is.
    Held,
    /// None.
    Alone,
}

/// Paths that were reserved.
#[derive(Debug)]
pub struct Reserved {
    /// The leases, and whether each was held already.
    pub leases: Vec<(Lease, bool)>,
    /// The issue whose claim they belong to.
    pub issue: Option<IssueId>,
    /// When it was looked at.
    pub now: Stamp,
}

/// What was found about a path.
#[derive(Debug)]
pub struct Checked {
    /// The path, from the root of the repository.
    pub path: String,
    /// The leases of others that it is reserved by.
    pub by: Vec<Lease>,
}

/// The patterns that were typed, each once.
///
/// # Errors
/// What is wrong with the first that is none.
pub fn patterns(typed: &[String]) -> Result<Vec<Pattern>> {
    if typed.len() > MOST {
        let why = format!("at most {MOST} can be reserved at once");
        return Err(Error::BadValue { what: "the patterns", given: typed.len().to_string(), why });
    }
    let mut patterns: Vec<Pattern> = Vec::with_capacity(typed.len());
    for text in typed {
        let pattern = pattern(text)?;
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    Ok(patterns)
}

fn pattern(text: &str) -> Result<Pattern> {
    let plain = text.strip_prefix("./").unwrap_or(text);
    Pattern::new(plain).map_err(|error| {
        let why = match (&error, plain.strip_suffix('/')) {
            (PatternError::EmptySegment, Some(directory)) => {
                format!("write '{directory}/**' for everything below it")
            }
            _ => error.to_string(),
        };
        Error::BadValue { what: "a pattern", given: text.to_owned(), why }
    })
}

/// What was typed about paths that are wanted.
///
/// # Errors
/// When it cannot be had.
pub fn paths(
    typed: &[String],
    shared: bool,
    request: Option<Request>,
    reason: Option<Text>,
) -> Result<Paths> {
    if request == Some(Request::Indefinite) {
        let why = "a reservation needs a deadline; commands that write renew it".to_owned();
        return Err(Error::BadValue { what: "--ttl", given: "0".to_owned(), why });
    }
    let mode = if shared { Mode::Shared } else { Mode::Exclusive };
    Ok(Paths { patterns: patterns(typed)?, mode, request, reason })
}

/// Reserves paths, at once or within the time that there is: all of them or none.
///
/// # Errors
/// The refusal, a signal, or what failed.
pub fn add(
    session: &Session,
    paths: &Paths,
    owner: Owner<'_>,
    patience: Option<&Patience<'_>>,
) -> Result<Reserved> {
    let claims = session.claims_to_change()?;
    let who = Claimant { holder: session.holder()?.clone(), tags: session.tags()? };
    let claim = match owner {
        Owner::Issue(typed) => {
            let id = Issues::new(session).resolve(typed)?;
            Some((id, own_lease(session, id, "reserving paths for")?))
        }
        Owner::Alone => None,
        Owner::Held => {
            let mut held = held_here(session)?;
            if held.len() > 1 {
                return Err(several(session, &held).into());
            }
            held.pop()
        }
    };
    let claim_lease = claim.as_ref().map(|(_, lease)| lease);
    let answers = within(session, patience, || claims.reserve(paths, &who, claim_lease))?;
    let mut leases = Vec::new();
    for answer in answers {
        match answer {
            Answer::Granted(lease) => leases.push((lease, false)),
            Answer::AlreadyHeld(lease) => leases.push((lease, true)),
            Answer::Valid(_) | Answer::Swept(_) => {}
            other => return Err(Error::unexpected("reserve paths", &other)),
        }
    }
    let view = claims.view()?;
    session.used(&view);
    // What was held already may just have been renewed.
    let view = if leases.iter().any(|(_, already)| *already) { claims.view()? } else { view };
    let fresh = |lease: Lease| view.table.get(lease.id).cloned().unwrap_or(lease);
    let leases = leases.into_iter().map(|(lease, already)| (fresh(lease), already)).collect();
    Ok(Reserved { leases, issue: claim.map(|(id, _)| id), now: view.now })
}

/// Asks as often as the time that there is allows, whenever the claims have changed.
fn within<T>(session: &Session, patience: Option<&Patience<'_>>, ask: impl Fn() -> Result<T>) -> Result<T> {
    let Some(patience) = patience else { return ask() };
    let (sys, claims) = (session.sys(), session.claims());
    let started = sys.clock.now()?;
    let mut said = None;
    loop {
        let seen = sys.files.stat(&claims.log_path()).ok();
        let refusal = match ask() {
            Err(Error::Refused(refusal)) if refusal.blocker().is_some() => refusal,
            done => return done,
        };
        let now = sys.clock.now()?;
        let passed = now.since(&started).forward().get();
        let Some(left) = patience.limit.get().checked_sub(passed).filter(|left| *left > 0) else {
            return Err(Error::Refused(refusal));
        };
        let Some(blocker) = refusal.blocker() else { return Err(Error::Refused(refusal)) };
        if said != Some(blocker.id) {
            let left = lease::left_and_keeper(sys, blocker, &now);
            let issue = blocker.resource.to_string();
            session.notice(&Notice::WaitingFor { issue, lease: Box::new(blocker.clone()), left });
            said = Some(blocker.id);
        }
        let mut most = left;
        if let Refusal::Held { retry_after: Some(span), .. } = &*refusal {
            most = span.get().min(left);
        }
        let was_gone = keeper::is_gone(sys, blocker);
        let (mut spent, mut pause) = (0, SHORTEST);
        while spent < most {
            let step = pause.min(most - spent);
            patience.waits.wait(Millis::new(step))?;
            (spent, pause) = (spent + step, (pause * 2).min(LONGEST));
            claims.poll();
            let changed = sys.files.stat(&claims.log_path()).ok() != seen;
            if changed || (!was_gone && keeper::is_gone(sys, blocker)) {
                break;
            }
        }
    }
}

/// The reservations in force, and when that was.
///
/// # Errors
/// When the claims cannot be read.
pub fn list(session: &Session) -> Result<(Vec<Lease>, View)> {
    let view = session.claims().view()?;
    let mut leases: Vec<Lease> = reserved::in_force(&view.table, &view.now).cloned().collect();
    leases.sort_by(|a, b| (&a.resource, a.fence).cmp(&(&b.resource, b.fence)));
    Ok((leases, view))
}

/// The patterns that are reserved for a claim.
///
/// # Errors
/// When the claims cannot be read.
pub fn patterns_of(session: &Session, claim: LeaseId) -> Result<Vec<String>> {
    let (leases, _) = list(session)?;
    let own = leases.iter().filter(|lease| claim_of(lease) == Some(claim));
    Ok(own.map(|lease| lease.resource.to_string()).collect())
}

/// The issue of the claim that a reservation belongs to.
#[must_use]
pub fn issue_of(table: &Table, lease: &Lease) -> Option<IssueId> {
    claim_of(lease).and_then(|claim| table.get(claim)).and_then(|claim| IssueId::of(&claim.resource))
}

/// Gives reservations of this worktree back: those of these patterns, or all of them if none are given. All or none.
///
/// # Errors
/// When one of them is not reserved here, or what failed.
pub fn release(session: &Session, typed: &[String]) -> Result<Vec<Lease>> {
    let claims = session.claims_to_change()?;
    let holder = session.holder()?.clone();
    let wanted = patterns(typed)?;
    let table = claims.view()?.table;
    let mine = table.iter().filter(|lease| lease.holder == holder && lease.resource.pattern().is_some());
    let is_wanted = |lease: &&Lease| {
        wanted.is_empty() || lease.resource.pattern().is_some_and(|pattern| wanted.contains(pattern))
    };
    let leases: Vec<Lease> = mine.filter(is_wanted).cloned().collect();
    let is_there = |pattern: &&Pattern| leases.iter().any(|lease| lease.resource.pattern() == Some(*pattern));
    if let Some(missing) = wanted.iter().find(|pattern| !is_there(pattern)) {
        return Err(Error::NoReservation(missing.to_string()));
    }
    let plan = |view: &View| {
        let still = leases.iter().filter(|lease| view.table.get(lease.id).is_some());
        Ok(still.map(|lease| Command::Release { lease: lease.id, holder: holder.clone() }).collect())
    };
    claims.medium.transact_together(&claims.policy, &plan)?;
    session.used(&claims.view()?);
    Ok(leases)
}

/// Whether paths are reserved by others, and may therefore not be written by whoever asks. A directory is reserved if
/// anything in it is.
///
/// # Errors
/// When the claims cannot be read, or a path is none.
pub fn check(session: &Session, typed: &[String]) -> Result<(Vec<Checked>, View)> {
    let view = session.claims().view()?;
    let mut found = Vec::with_capacity(typed.len());
    let others = Others::of(session, &view)?;
    for text in typed {
        let Some(path) = inside(session, text)? else {
            // What is not in the worktree cannot be reserved.
            found.push(Checked { path: text.clone(), by: Vec::new() });
            continue;
        };
        let root = session.root().map(Path::to_path_buf).unwrap_or_default();
        let is_directory = text.ends_with('/')
            || path.is_empty()
            || durable::is_dir(session.sys(), &root.join(&path)).unwrap_or(false);
        let by = if is_directory { others.below(&path) } else { others.of_path(&path) };
        found.push(Checked { path, by: by.into_iter().cloned().collect() });
    }
    Ok((found, view))
}

/// What others have reserved exclusively.
pub struct Others<'v> {
    leases: Vec<&'v Lease>,
}

impl<'v> Others<'v> {
    /// Everything that somebody else than whoever asks has reserved for itself alone.
    ///
    /// # Errors
    /// When it cannot be told who asks.
    pub fn of(session: &Session, view: &'v View) -> Result<Self> {
        let alone = reserved::in_force(&view.table, &view.now).filter(|lease| lease.mode == Mode::Exclusive);
        let mut leases: Vec<&Lease> = alone.collect();
        // Nobody needs an identity where nothing is reserved.
        if !leases.is_empty() && session.known_agent().is_some() && session.has_identity()? {
            let holder = session.holder()?;
            leases.retain(|lease| lease.holder != *holder);
        }
        Ok(Self { leases })
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.leases.is_empty()
    }

    /// Those that a path is reserved by.
    #[must_use]
    pub fn of_path(&self, path: &str) -> Vec<&'v Lease> {
        let has_it = |lease: &&&Lease| lease.resource.pattern().is_some_and(|pattern| pattern.matches(path));
        self.leases.iter().filter(has_it).copied().collect()
    }

    /// Those that anything in a directory is reserved by.
    fn below(&self, directory: &str) -> Vec<&'v Lease> {
        let all = if directory.is_empty() { "**".to_owned() } else { format!("{directory}/**") };
        let Ok(all) = Pattern::new(&all).map(Resource::from) else { return self.of_path(directory) };
        self.leases.iter().filter(|lease| lease.resource.overlaps(&all)).copied().collect()
    }
}

/// A path that was typed, from the root of the worktree on; none if it is not in it. It need not exist.
fn inside(session: &Session, text: &str) -> Result<Option<String>> {
    let bad = |why: &str| Error::BadValue { what: "a path", given: text.to_owned(), why: why.to_owned() };
    if text.is_empty() {
        return Err(bad("it is empty"));
    }
    let Some(root) = session.root() else {
        return Err(Error::NoWorktree(session.control().to_path_buf()));
    };
    let given = session.caller.start.join(text);
    let mut plain = PathBuf::new();
    for part in given.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    let Ok(path) = plain.strip_prefix(root) else { return Ok(None) };
    path.to_str().map(|path| Some(path.to_owned())).ok_or_else(|| bad("it is not UTF-8"))
}

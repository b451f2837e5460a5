//! Taking a claim: on an issue, on the best one, on a fresh one. The issue is brought into the worktree on the way,
//! so that there is something to work on.

use std::collections::BTreeSet;

use holdfast_kernel::{
    Again, Answer, Command, Lease, LeaseId, Millis, Policy, Refusal, RefusalKind, Stamp, Standing,
};

use holdfast_store::{Error as StoreError, Trouble, View};

use crate::alone;
use crate::claims::wait::Waiter;
use crate::claims::{Claimant, Claims, Objection, Terms};
use crate::error::{Error, Result};
use crate::gone;
use crate::ids::IssueId;
use crate::issues::{Issues, Sets, Whose};
use crate::notice::Notice;
use crate::queries::{Board, Claimed, Filter, Keep, can_be_worked_on, missing};
use crate::session::Session;
use crate::wait::Waits;
use crate::writes::{self, Draft, Fresh, Writer};

/// How often the target may move while somebody looks for something to do.
const MOST_FETCHES: u32 = 8;

/// How long to wait before it is looked again, in milliseconds: a little at first, and longer later.
const PAUSE: u64 = 50;
const LONGEST_PAUSE: u64 = 1_000;

/// A claim that was granted.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The lease.
    pub lease: Lease,
    /// Whether it was held already.
    pub already_held: bool,
    /// When it was looked at.
    pub now: Stamp,
}

/// How long to wait for an issue that somebody else holds, and how.
pub struct Patience<'a> {
    /// At most this long.
    pub limit: Millis,
    /// Whoever waits.
    pub waits: &'a dyn Waits,
}

/// What is done after a grant by somebody who then begins to work on the issue. That writes it into the worktree, so it is
/// not brought there before.
pub type Between<'a> = &'a dyn Fn(&Lease) -> Result<()>;

/// Claims an issue, at once or within the time that there is.
///
/// # Errors
/// The refusal, a signal, or what failed.
pub fn acquire(
    session: &Session,
    issue: IssueId,
    terms: &Terms,
    patience: Option<&Patience<'_>>,
) -> Result<Taken> {
    acquire_then(session, issue, terms, patience, None)
}

/// As [`acquire`]; where `between` fails, a fresh grant is given back.
///
/// # Errors
/// As [`acquire`], or what `between` fails with.
pub fn acquire_then(
    session: &Session,
    issue: IssueId,
    terms: &Terms,
    patience: Option<&Patience<'_>>,
    between: Option<Between<'_>>,
) -> Result<Taken> {
    let answers = asked(session, &[issue], terms, patience, None)?;
    let answer = answers.into_iter().next();
    taken(session, answer.ok_or_else(|| Error::Internal(format!("nothing was said of {issue}")))?, between)
}

/// Claims several issues: all of them or none, in one step, at once or within the time that there is.
///
/// # Errors
/// The first refusal, a signal, or what failed. Nothing is claimed then.
pub fn acquire_all(
    session: &Session,
    issues: &[IssueId],
    terms: &Terms,
    patience: Option<&Patience<'_>>,
) -> Result<Vec<Taken>> {
    let answers = asked(session, &in_order(issues), terms, patience, None)?;
    answers.into_iter().map(|answer| taken(session, answer, None)).collect()
}

/// As [`acquire_all`], once everything that they depend on has landed. That is decided inside the grant: whatever takes
/// back that something has landed comes before it, and nothing is granted, or after it.
///
/// # Errors
/// As [`acquire_all`], or what is missing once the time is over.
pub fn acquire_ready(
    session: &Session,
    issues: &[IssueId],
    terms: &Terms,
    patience: Option<&Patience<'_>>,
) -> Result<Vec<Taken>> {
    let sys = session.sys();
    let started = sys.clock.now()?;
    let (mut pause, mut said) = (PAUSE, String::new());
    loop {
        catch_up(session)?;
        let waited = sys.clock.now()?.since(&started).forward().get();
        let left = patience.map(|patience| patience.limit.get().saturating_sub(waited));
        let missing = match waits_for(session, issues)? {
            // Nobody stands in line for what waits.
            Some(missing) => missing,
            None => {
                let patience = patience.zip(left);
                let patience =
                    patience.map(|(known, left)| Patience { limit: Millis::new(left), waits: known.waits });
                match acquire_if_ready(session, issues, terms, patience.as_ref()) {
                    Err(missing @ Error::NotReady { .. }) => missing,
                    done => return done,
                }
            }
        };
        let (Some(patience), Some(left)) = (patience, left.filter(|left| *left > 0)) else {
            return Err(missing);
        };
        if missing.to_string() != said {
            said = missing.to_string();
            session.notice(&Notice::WaitingOn(format!("waiting: {said}")));
        }
        patience.waits.wait(Millis::new(pause.min(left)))?;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Fetches what others have landed and pushed since, where the claims say that they have.
///
/// # Errors
/// When it cannot be had.
pub(crate) fn catch_up(session: &Session) -> Result<()> {
    session.claims_to_change()?.catch_up()?;
    writes::settle(session)
}

fn acquire_if_ready(
    session: &Session,
    issues: &[IssueId],
    terms: &Terms,
    patience: Option<&Patience<'_>>,
) -> Result<Vec<Taken>> {
    let objection = |view: &View| {
        let known = Issues::new(session);
        known.know(view.clone());
        waiting(&known, issues)
    };
    let wanted = in_order(issues);
    let answers = asked(session, &wanted, terms, patience, Some(&objection))?;
    answers.into_iter().map(|answer| taken(session, answer, None)).collect()
}

/// What the first of these issues that waits for something waits for.
///
/// # Errors
/// When that cannot be told.
pub fn waits_for(session: &Session, issues: &[IssueId]) -> Result<Option<Error>> {
    waiting(&Issues::new(session), issues)
}

fn waiting(known: &Issues<'_>, issues: &[IssueId]) -> Result<Option<Error>> {
    for id in issues {
        let missing = missing(known, *id)?;
        if !missing.is_empty() {
            return Ok(Some(Error::NotReady { issue: known.handle(*id), missing }));
        }
    }
    Ok(None)
}

/// Each once, and in one order, whoever asks.
fn in_order(issues: &[IssueId]) -> Vec<IssueId> {
    issues.iter().copied().collect::<BTreeSet<_>>().into_iter().collect()
}

fn asked(
    session: &Session,
    issues: &[IssueId],
    terms: &Terms,
    patience: Option<&Patience<'_>>,
    objection: Option<&Objection<'_>>,
) -> Result<Vec<Answer>> {
    let claims = session.claims_to_change()?;
    let who = claimant(session)?;
    let answers = match (patience, issues) {
        (None, [only]) if objection.is_none() => {
            claims.acquire(*only, &who, terms).map(|answer| vec![answer])
        }
        (None, several) => claims.acquire_all(several, &who, terms, objection),
        (Some(Patience { limit, waits }), issues) => {
            let (agent, access) = (&session.agent()?.id, session.access()?);
            let waiter = Waiter { caller: &session.caller, claims, issues, agent, access, objection };
            waiter.acquire(&who, terms, *limit, *waits)
        }
    };
    answers.map_err(|error| in_the_way(session, error))
}

/// What keeps somebody from an issue. Nobody gives back what was claimed in a worktree that is gone.
fn in_the_way(session: &Session, error: Error) -> Error {
    let Error::Refused(refusal) = &error else { return error };
    let Some(lease) = refusal.blocker() else { return error };
    let is_gone = session.worktrees().is_ok_and(|worktrees| gone::is_gone(lease, &worktrees));
    if is_gone { Error::HolderGone { lease: Box::new(lease.clone()) } } else { error }
}

/// Claims the best issue that is available and wanted: nobody can come in between looking and taking. With `resume`,
/// what is held here already comes first.
///
/// # Errors
/// When there is none, or what failed.
pub fn next(session: &Session, terms: &Terms, filter: &Filter, resume: bool) -> Result<Taken> {
    next_then(session, terms, filter, resume, None)
}

/// Asks for what may not be available yet, as often as the time that there is allows: an issue may become free, or be
/// made.
///
/// # Errors
/// As `ask`, or a signal.
pub fn within<T>(
    session: &Session,
    patience: Option<&Patience<'_>>,
    ask: impl Fn() -> Result<T>,
) -> Result<T> {
    let Some(patience) = patience else { return ask() };
    let sys = session.sys();
    let started = sys.clock.now()?;
    let mut pause = PAUSE;
    loop {
        let (why, words) = match ask() {
            Err(Error::NothingAvailable) => {
                (Error::NothingAvailable, "waiting for an issue to become available".to_owned())
            }
            Err(Error::Refused(refusal)) if is_reserved(&refusal) => {
                let words = format!("waiting for paths: {refusal}");
                (Error::Refused(refusal), words)
            }
            done => return done,
        };
        let waited = sys.clock.now()?.since(&started).forward();
        let Some(left) = patience.limit.get().checked_sub(waited.get()).filter(|left| *left > 0) else {
            return Err(why);
        };
        if pause == PAUSE {
            session.notice(&Notice::WaitingOn(words));
        }
        patience.waits.wait(Millis::new(pause.min(left)))?;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Whether paths are refused, not an issue.
fn is_reserved(refusal: &Refusal) -> bool {
    refusal.blocker().is_some_and(|lease| lease.resource.pattern().is_some())
}

/// What is available and wanted, the best first.
///
/// # Errors
/// When that cannot be told.
pub fn available(session: &Session, filter: &Filter) -> Result<Vec<IssueId>> {
    catch_up(session)?;
    let claims = session.claims_to_change()?;
    let dead = claims.given_up(&claimant(session)?)?;
    candidates(session, &Issues::new(session), &dead, filter)
}

fn candidates(
    session: &Session,
    issues: &Issues<'_>,
    dead: &[LeaseId],
    filter: &Filter,
) -> Result<Vec<IssueId>> {
    let claimed = Claimed::load(session)?.without(dead);
    let sets = Sets { labels: Whose::Nobody, deps: Whose::Workable };
    let board: Board = Board::to_be_done(issues, claimed, filter, Keep::Nothing, sets)?;
    issues.warn(&board.problems);
    Ok(board.available().iter().map(|node| node.id).collect())
}

/// As [`next`]; where `between` fails, a fresh grant is given back.
///
/// # Errors
/// As [`next`], or what `between` fails with.
pub fn next_then(
    session: &Session,
    terms: &Terms,
    filter: &Filter,
    resume: bool,
    between: Option<Between<'_>>,
) -> Result<Taken> {
    alone::tell_once(session);
    let mut left = MOST_FETCHES;
    loop {
        match next_once(session, terms, filter, resume, between) {
            // Something landed after it was looked at: what is left to do is looked at anew.
            Err(Error::Store(StoreError::Shared { trouble: Trouble::Behind, .. })) if left > 0 => left -= 1,
            done => return done,
        }
    }
}

fn next_once(
    session: &Session,
    terms: &Terms,
    filter: &Filter,
    resume: bool,
    between: Option<Between<'_>>,
) -> Result<Taken> {
    catch_up(session)?;
    let claims = session.claims_to_change()?;
    let who = claimant(session)?;
    let mut dead = claims.given_up(&who)?;
    let issues = Issues::new(session);
    let mut candidates = candidates(session, &issues, &dead, filter)?;
    if resume {
        dead.extend(claims.without_keeper(&who)?);
        let table = claims.view()?.table;
        let mine = |lease: &&Lease| lease.holder == who.holder;
        let held = table.iter().filter(mine).filter_map(|lease| IssueId::of(&lease.resource));
        candidates.splice(..0, held);
    }
    // What this agent holds already is not available, not even to itself.
    let again = if resume { Again::Return } else { Again::Refuse };
    let policy = Policy { again, ..claims.policy.clone() };
    // While an issue is free, somebody else may take, finish and release it after it was looked at. Once it is held,
    // nobody can.
    loop {
        let first = if terms.reserve.is_some() || claims.most_of(&who.holder).is_some() {
            one_by_one(claims, &candidates, &who, terms, resume)?
        } else {
            let ask = |issue: &IssueId| claims.acquiring(*issue, &who, terms, dead.clone());
            let commands: Vec<_> = candidates.iter().map(ask).collect::<Result<_>>()?;
            claims.medium.transact_first(&policy, &commands, &is_taken)?
        };
        let (at, answer) = first.ok_or(Error::NothingAvailable)?;
        let Answer::Granted(lease) = &answer else { return taken(session, answer, between) };
        let issue = candidates.drain(..=at).next_back();
        let claimed = Claimed::load(session)?;
        if issue.map_or(Ok(false), |issue| can_be_worked_on(&issues, &claimed, issue))? {
            return taken(session, answer, between);
        }
        claims.command(&Command::Release { lease: lease.id, holder: who.holder.clone() })?;
    }
}

/// The first of these issues that can be had together with the paths that are wanted, and within what an agent of this kind
/// may claim. Paths that somebody else has are refused: no other issue would help.
fn one_by_one(
    claims: &Claims,
    candidates: &[IssueId],
    who: &Claimant,
    terms: &Terms,
    resume: bool,
) -> Result<Option<(usize, Answer)>> {
    for (at, issue) in candidates.iter().enumerate() {
        match claims.acquire(*issue, who, terms) {
            Ok(Answer::AlreadyHeld(_)) if !resume => {}
            Ok(answer) => return Ok(Some((at, answer))),
            Err(Error::Refused(refusal)) if is_taken(&refusal) => {
                if is_reserved(&refusal) {
                    return Err(Error::Refused(refusal));
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// In how long a claim that is in the way of others may be over, if nobody renews it.
///
/// # Errors
/// When that cannot be told.
pub fn next_end(session: &Session) -> Result<Option<Millis>> {
    let view = session.claims().view()?;
    let over_in = |lease: &Lease| match lease.standing(&view.now) {
        Standing::Live { left } => Some(left.plus(lease.skew).plus(lease.grace)),
        Standing::Lapsed { takeover_in, .. } => Some(takeover_in),
        Standing::Beating | Standing::Stale { .. } | Standing::Open { .. } => None,
    };
    Ok(view.table.iter().filter_map(over_in).min())
}

/// Creates an issue and claims it.
///
/// # Errors
/// When it cannot be written or claimed.
pub fn create(session: &Session, fresh: Fresh, terms: &Terms) -> Result<(Draft, Taken)> {
    let claims = session.claims_to_change()?;
    let who = claimant(session)?;
    let draft = Writer::open(session)?.create(fresh)?;
    let answer = claims.acquire(draft.id(), &who, terms)?;
    Ok((draft, taken(session, answer, None)?))
}

/// Whoever asks, as it claims.
fn claimant(session: &Session) -> Result<Claimant> {
    Ok(Claimant { holder: session.holder()?.clone(), tags: session.tags()? })
}

const fn is_taken(refusal: &Refusal) -> bool {
    refusal.blocker().is_some() || matches!(refusal.kind(), RefusalKind::AlreadyHeld)
}

/// A grant, with its issue in this worktree. The lease is granted whether or not that succeeds, and its holder has to
/// be told of it.
fn taken(session: &Session, answer: Answer, between: Option<Between<'_>>) -> Result<Taken> {
    let (lease, already_held) = match answer {
        Answer::AlreadyHeld(lease) => (lease, true),
        Answer::Granted(lease) => (lease, false),
        other => return Err(Error::unexpected("grant a lease", &other)),
    };
    let begin = || {
        // What was fetched for this grant says how the issue stands.
        writes::settle(session)?;
        between.map_or(Ok(()), |between| between(&lease))
    };
    if !already_held && let Err(error) = begin() {
        let holder = lease.holder.clone();
        session.claims().command(&Command::Release { lease: lease.id, holder })?;
        return Err(error);
    }
    if between.is_none()
        && let Some(id) = IssueId::of(&lease.resource)
    {
        let brought = Writer::open(session).and_then(|writer| writer.bring(id));
        if let Err(error) = brought {
            session.notice(&Notice::NotBrought { issue: id.to_string(), why: error.to_string() });
        }
    }
    let view = session.claims().view()?;
    session.used(&view);
    if !already_held {
        return Ok(Taken { lease, already_held, now: view.now });
    }
    // It may just have been renewed.
    let view = session.claims().view()?;
    let lease = view.table.get(lease.id).cloned().unwrap_or(lease);
    Ok(Taken { lease, already_held, now: view.now })
}

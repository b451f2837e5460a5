//! Leases: who may change the lineage of a document. The kernel decides, inside the transaction of the
//! medium; here words become commands and answers become words.
//!
//! Time is the caller's `now_ms` and nothing else, so that a recorded sequence can be replayed: the kernel
//! sees a wall clock without a boot-time clock, and no skew.

use std::collections::BTreeMap;

use holdfast_kernel::{
    Acquire, Again, Answer, Command, Holder, KindRule, Lease, LeaseId, Limits, Millis, Mode, Name, Policy,
    Request, Stamp, Tags, TtlRange,
};
use holdfast_store::Held;

use crate::document::{documents, known};
use crate::error::{Error, Result, moment, name};
use crate::medium::{Database, Found, Section};
use crate::secret::Token;
use crate::wire;

/// How long a lease lasts.
pub const LEASE: Millis = Millis::new(900_000);

/// Where every owner works: what tells two owners apart is their name, and what proves a lease is its token.
const PLACE: &str = "lineage";

/// Acquires the lease on a document.
///
/// # Errors
/// `Held` while anybody has it, the same owner too; `DocNotFound`; otherwise what cannot be used or failed.
pub fn lineage_lock_acquire(
    conn: &mut Database,
    doc_id: &str,
    owner: &str,
    now_ms: i64,
) -> Result<wire::Lease> {
    let (doc, owner, now) = (name("doc_id", doc_id)?, name("owner", owner)?, moment(now_ms)?);
    let section = conn.write()?;
    let before = known(section.on(&doc)?, &doc)?;
    let wanted = Command::Acquire(Acquire {
        // The counter moves with every grant, so no two get the same id, and a replay gets the same ones.
        id: LeaseId::from_parts(now.wall_ms(), u128::from(section.position()?.next.get())),
        resource: doc.into(),
        holder: Holder { agent: owner, place: name("place", PLACE)? },
        mode: Mode::Exclusive,
        request: Request::Finite(LEASE),
        reason: None,
        tags: Tags::none(),
        dead: Vec::new(),
    });
    let answer = section.decide(&before, &policy(), &wanted, &now)?;
    let Answer::Granted(lease) = answer else {
        return Err(Error::Internal(format!("an acquisition was answered with {}", answer.name())));
    };
    let told = granted(&section, &lease);
    section.commit()?;
    Ok(told)
}

/// Gives the lease back. Nobody waits for the deadline after that.
///
/// # Errors
/// `TokenInvalid`, or `TokenExpired` if somebody took the lease over; otherwise what failed.
pub fn lineage_lock_release(conn: &mut Database, doc_id: &str, token: &str) -> Result<()> {
    let doc = name("doc_id", doc_id)?;
    let section = conn.write()?;
    let found = section.on(&doc)?;
    let lease = proven(&section, &found, &doc, token)?;
    let release = Command::Release { lease: lease.id, holder: lease.holder.clone() };
    // A release names no moment, and any clock of ours would be another one than the caller's: the record
    // bears the last moment that is known of the lease.
    section.decide(&found.table, &policy(), &release, lease.last_sign())?;
    Ok(section.commit()?)
}

/// Who holds the lease on a document.
///
/// # Errors
/// `DocNotFound`; otherwise what cannot be used or failed.
pub fn lineage_lock_status(conn: &mut Database, doc_id: &str, now_ms: i64) -> Result<wire::Lock> {
    let (doc, now) = (name("doc_id", doc_id)?, moment(now_ms)?);
    let table = conn.look(|section| known(section.on(&doc)?, &doc))?;
    Ok(shown(doc.as_str(), table.iter().next(), &now))
}

/// Who holds the lease on each document, in the order of their ids.
///
/// # Errors
/// What cannot be used or failed.
pub fn lineage_lock_status_all(conn: &mut Database, now_ms: i64) -> Result<Vec<wire::Lock>> {
    let now = moment(now_ms)?;
    let (table, docs) = conn.look(|section| Ok::<_, Error>((section.all()?, documents(section)?)))?;
    let leases: BTreeMap<&str, &Lease> = table.iter().map(|lease| (lease.resource.text(), lease)).collect();
    Ok(docs.iter().map(|doc| shown(doc, leases.get(doc.as_str()).copied(), &now)).collect())
}

/// Runs `act` while the token's lease on the document is in force: check and act are one transaction.
///
/// # Errors
/// `TokenInvalid`, `TokenExpired`, `BeforeLease`, `DocNotFound`, what `act` said; then nothing has changed.
pub(crate) fn under<T>(
    section: Section<'_>,
    doc: &Name,
    token: &str,
    now: &Stamp,
    act: impl FnOnce(&Section<'_>, &Held<'_>) -> Result<T>,
) -> Result<T> {
    let found = section.on(doc)?;
    let lease = proven(&section, &found, doc, token)?;
    if now.wall_ms() < lease.granted.wall_ms() {
        let (at, granted) = (now.wall_ms(), lease.granted.wall_ms());
        return Err(Error::BeforeLease { doc: doc.as_str().to_owned(), at, granted });
    }
    let claim = lease.claim();
    let held = section.hold(&found.table, &claim, now)?;
    let done = act(&section, &held)?;
    section.commit()?;
    Ok(done)
}

/// The lease on the document that the token proves. Whether it is in force is the kernel's to say.
fn proven<'f>(section: &Section<'_>, found: &'f Found, doc: &Name, token: &str) -> Result<&'f Lease> {
    let ended = |error: fn(String) -> Error| Err(error(doc.as_str().to_owned()));
    let token = Token::parse(token);
    // What was found is about the document and nothing else.
    let lease = found.table.iter().find(|lease| token.is_some_and(|token| section.proves(&token, lease)));
    match (lease, token) {
        (Some(lease), _) => Ok(lease),
        _ if !found.is_known => ended(Error::DocNotFound),
        (None, Some(token)) if section.ran_out(doc, &token)? => ended(Error::TokenExpired),
        _ => ended(Error::TokenInvalid),
    }
}

fn granted(section: &Section<'_>, lease: &Lease) -> wire::Lease {
    wire::Lease {
        doc_id: lease.resource.text().to_owned(),
        owner: lease.holder.agent.as_str().to_owned(),
        token: section.token(lease).to_string(),
        fence: lease.fence.get(),
        acquired_at_ms: lease.granted.wall_ms(),
        expires_at_ms: lease.granted.plus(LEASE).wall_ms(),
    }
}

fn shown(doc: &str, lease: Option<&Lease>, now: &Stamp) -> wire::Lock {
    wire::Lock {
        doc_id: doc.to_owned(),
        held: lease.is_some_and(|lease| !lease.standing(now).is_over()),
        owner: lease.map(|lease| lease.holder.agent.as_str().to_owned()),
        fence: lease.map(|lease| lease.fence.get()),
        acquired_at_ms: lease.map(|lease| lease.granted.wall_ms()),
        expires_at_ms: lease.and_then(Lease::deadline).map(|at| at.wall_ms()),
    }
}

/// One lease a document for everybody, of one length, and over when it is over.
fn policy() -> Policy {
    Policy {
        again: Again::Refuse,
        rule: KindRule { ttl: TtlRange { min: LEASE, max: LEASE }, indefinite: false },
        kinds: BTreeMap::new(),
        skew: Millis::ZERO,
        grace: Millis::ZERO,
        stale_after: LEASE,
        limits: Limits::NONE,
    }
}

//! Leases for locks that have no owner to read. They have a holder that nobody is, the smallest fence, and
//! an id that says which directory was looked at, so that what is decided of one is never done to another.

use holdfast_kernel::{Fence, Holder, Lease, LeaseId, Millis, Mode, Name, Stamp, Tags, Term, Text};
use holdfast_sys::Stat;

use super::layout::Spot;
use super::marker::Marker;
use super::{DAMAGED, GHOST, NEWER, Settings};
use crate::{Error, liveness};

/// A lock that only its directory keeps: somebody locks by plain `mkdir`, or died before the owner was
/// written. It counts as a lease from when the directory last changed, so that it is taken over like any
/// other whose holder is silent. If a marker says which process made it, it lasts as long as that one.
pub(super) fn ghost(spot: &Spot, stat: &Stat, marker: Option<&Marker>, settings: &Settings) -> Lease {
    let span = settings.ghost_after.clamp(Millis::SHORTEST, Millis::LONGEST);
    let process = marker.and_then(|marker| marker.process.as_ref());
    let term = match process {
        Some(_) => Term::Indefinite { beat: last_change(stat), stale_after: span },
        None => Term::Finite { ttl: span, from: last_change(stat) },
    };
    let what = match marker {
        Some(_) => "made by mkdir, with a marker",
        None => "made by mkdir, without an owner",
    };
    let mut lease = lease(spot, stat, settings, term, (GHOST, text(what)));
    if let Some(owner) = marker.and_then(|marker| marker.owner.clone()) {
        lease.holder.agent = owner;
    }
    if let Some(tags) = process.and_then(|process| liveness::describe(process, lease.tags.clone())) {
        lease.tags = tags;
    }
    lease
}

/// A lock that nobody can read. It never ends by itself: only a person who has looked can tell.
pub(super) fn damaged(spot: &Spot, stat: &Stat, error: &Error, settings: &Settings) -> Lease {
    let term = Term::Indefinite { beat: last_change(stat), stale_after: Millis::SHORTEST };
    let mut lease = lease(spot, stat, settings, term, (DAMAGED, text(&error.to_string())));
    if let (Error::Newer { .. }, Ok(tags)) = (error, lease.tags.clone().with(NEWER, text("yes"))) {
        lease.tags = tags;
    }
    lease
}

/// A lock that others wrote down in their own way. It never ends by itself.
pub(super) fn of_others(spot: &Spot, stat: &Stat, settings: &Settings, tag: &str, what: &str) -> Lease {
    let stale_after = settings.ghost_after.clamp(Millis::SHORTEST, Millis::LONGEST);
    let term = Term::Indefinite { beat: last_change(stat), stale_after };
    lease(spot, stat, settings, term, (tag, text(what)))
}

fn lease(spot: &Spot, stat: &Stat, settings: &Settings, term: Term, (tag, what): (&str, Text)) -> Lease {
    Lease {
        id: incarnation(spot, stat),
        resource: spot.resource.clone(),
        holder: nobody(),
        mode: Mode::Exclusive,
        // The counter starts above it, so every grant that follows has a larger one.
        fence: Fence::FIRST,
        granted: last_change(stat),
        term,
        skew: settings.ghost_skew.min(Millis::LONGEST),
        grace: Millis::ZERO,
        reason: Some(what.clone()),
        tags: Tags::none().with(tag, what).unwrap_or_default(),
    }
}

/// The same directory has the same id until something in it changes.
fn incarnation(spot: &Spot, stat: &Stat) -> LeaseId {
    let mut hasher = blake3::Hasher::new();
    for number in [stat.identity.device, stat.identity.inode, stat.modified_ms.cast_unsigned()] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(spot.resource.text().as_bytes());
    let mut bits = [0; 16];
    hasher.finalize_xof().fill(&mut bits);
    LeaseId::new(u128::from_le_bytes(bits))
}

/// When a directory last changed. A time that no lease could carry is brought into range: what claims to be
/// older than 1970 is old, and what claims to come from the far future is a wrong clock either way.
fn last_change(stat: &Stat) -> Stamp {
    const FAR: i64 = 1 << 47;
    #[expect(clippy::expect_used, reason = "2^47 ms is the year 6429")]
    Stamp::new(stat.modified_ms.clamp(0, FAR), None).expect("a date that can be written")
}

fn nobody() -> Holder {
    #[expect(clippy::expect_used, reason = "a constant that is a name")]
    let name = Name::new("unknown").expect("a name");
    Holder { agent: name.clone(), place: name }
}

/// A text for people, wherever the words come from.
fn text(words: &str) -> Text {
    let shown: String = words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(250).collect();
    #[expect(clippy::expect_used, reason = "at most 1,000 bytes, no control character, and never blank")]
    Text::new(&shown).expect("a text")
}

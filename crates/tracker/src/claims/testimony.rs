//! What `events/control.jsonl` tells of the claims, for a repair of the log that it was written from. It has no hashes
//! and leaves some things out, so it is asked only where the log cannot be read any more.

use std::path::Path;

use holdfast_kernel::{
    Cause, Event, Fence, Holder, Lease, LeaseId, Millis, Mode, Name, Pattern, Stamp, Tags, Term, Text,
};
use holdfast_store::{Projected, wall_ms};
use holdfast_sys::{Open, Sys};
use serde_json::Value;

use super::branch_tags;
use super::projection;
use super::reserved;
use crate::error::Result;

/// What the event log of a control plane tells. A lease without a deadline goes stale after `stale_after`.
///
/// # Errors
/// When it is there and cannot be read.
pub fn projected(sys: &Sys, control: &Path, stale_after: Millis) -> Result<Projected> {
    let path = control.join("events/control.jsonl");
    let bytes = match sys.files.open(&path, Open::Read) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Projected::default()),
        handle => handle?.read_from(0, usize::MAX)?,
    };
    let mut events = Vec::new();
    let mut last = 0;
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        // Lines without numbers are numbered by their order, which has no gaps.
        last += 1;
        let Some(line) = serde_json::from_slice::<Value>(line).ok() else { continue };
        let told = Line { line: &line, stale_after };
        let Some((number, event)) = told.number(last).zip(told.event()) else { continue };
        last = number.get();
        events.push((number, event));
    }
    Ok(Projected { counter: projection::counter(sys, control), events })
}

/// A line of the event log, in either of its forms.
struct Line<'a> {
    line: &'a Value,
    stale_after: Millis,
}

impl Line<'_> {
    fn number(&self, next: u64) -> Option<Fence> {
        Fence::new(self.line.get("sequence").and_then(Value::as_u64).unwrap_or(next)).ok()
    }

    fn event(&self) -> Option<Event> {
        let lease = || self.text("lease_id")?.parse::<LeaseId>().ok();
        let at = || moment(self.line.get("timestamp").or_else(|| self.line.get("at"))?.as_str()?);
        let kind = self.line.get("event_type").or_else(|| self.line.get("op"))?.as_str()?;
        Some(match kind {
            "claim.acquired" | "acquire" | "eviction.requested" | "eviction.approved"
            | "escalation.fired" => Event::Granted { lease: self.lease(at()?)? },
            "claim.transferred" | "transfer" => Event::Transferred {
                from: self.text("from_lease_id")?.parse().ok()?,
                lease: self.lease(at()?)?,
                why: Text::new(self.text("reason")?).ok()?,
            },
            "claim.renewed" | "renew" | "escalation.done" => {
                Event::Renewed { lease: lease()?, ttl: self.length(&at()?)?, at: at()? }
            }
            "claim.heartbeat" | "heartbeat" => Event::Beaten { lease: lease()?, at: at()? },
            "claim.released" | "release" => Event::Released { lease: lease()?, at: at()? },
            "claim.evicted" | "auto-evict" | "force-evict" | "eviction.closed" | "escalation.closed" => {
                Event::Evicted { lease: lease()?, at: at()?, cause: Cause::Expired }
            }
            _ => return None,
        })
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.line.get("payload").unwrap_or(self.line).get(name)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.field(name)?.as_str()
    }

    /// How long the lease lasts from `at`; none without a deadline.
    fn length(&self, at: &Stamp) -> Option<Millis> {
        let end = wall_ms(self.text("expires_at")?)?;
        Some(Millis::new(end.checked_sub(at.wall_ms())?))
    }

    fn lease(&self, at: Stamp) -> Option<Lease> {
        let term = match self.length(&at) {
            Some(ttl) => Term::Finite { ttl, from: at },
            None => Term::Indefinite { beat: at, stale_after: self.stale_after },
        };
        let tags: Tags = branch_tags(self.text("branch"));
        let tags = match self.text("claim_lease_id").and_then(|claim| claim.parse().ok()) {
            Some(claim) => reserved::tagged(tags, claim).ok()?,
            None => tags,
        };
        let shared = self.field("shared").and_then(Value::as_bool).unwrap_or(false);
        Some(Lease {
            id: self.text("lease_id")?.parse().ok()?,
            resource: match self.text("pattern") {
                Some(pattern) => Pattern::new(pattern).ok()?.into(),
                // What is about an issue and not on it names both.
                None => Name::new(self.text("resource").or_else(|| self.text("issue_id"))?).ok()?.into(),
            },
            holder: Holder {
                agent: Name::new(self.text("agent_id")?).ok()?,
                place: Name::new(self.text("worktree_id")?).ok()?,
            },
            mode: if shared { Mode::Shared } else { Mode::Exclusive },
            fence: Fence::new(self.field("fence")?.as_u64()?).ok()?,
            granted: at,
            term,
            skew: Millis::ZERO,
            grace: Millis::ZERO,
            reason: self.text("reason").and_then(|text| Text::new(text).ok()),
            tags,
        })
    }
}

/// A moment by the wall clock alone: an event log does not keep the other one.
fn moment(text: &str) -> Option<Stamp> {
    Stamp::new(i64::try_from(wall_ms(text)?).ok()?, None).ok()
}

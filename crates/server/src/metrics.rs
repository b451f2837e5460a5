//! `/metrics`: what happened and how things stand, as Prometheus reads it. Counts of claims are those of the log, so they go
//! on where a server before left off; counts of everything else begin with this one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use holdfast_kernel::{Cause, Event};
use holdfast_store::Record;
use holdfast_tracker::claims::lease::is_record;
use holdfast_tracker::feed::{Happened, Kind};
use holdfast_tracker::times;
use serde::Deserialize;
use serde_json::Value;

/// The bounds of how long claims were held, in seconds.
const BOUNDS: [u64; 10] = [1, 10, 60, 300, 600, 1_800, 3_600, 14_400, 86_400, 604_800];
/// How many claims are known that have not ended: one that ran out may never be told of.
const OPEN: usize = 10_000;

/// What happened so far.
#[derive(Clone, Default, Debug)]
pub(crate) struct Tally {
    acquired: u64,
    renewed: u64,
    beats: u64,
    /// Claims that ended, by how.
    ended: BTreeMap<&'static str, u64>,
    /// For how long they were held: by the first bound that is not below it.
    held: [u64; BOUNDS.len()],
    held_count: u64,
    held_ms: u64,
    /// When claims were granted that have not ended.
    since: BTreeMap<String, u64>,
    created: u64,
    done: u64,
    gates: BTreeMap<&'static str, u64>,
    refused: BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Counts what the log has.
    pub(crate) fn record(&mut self, record: &Record) {
        // Requests, approvals and escalations are no claims.
        if is_record(&record.lease) {
            return;
        }
        let (lease, at) = (record.lease.id.to_string(), record.event.at().wall_ms());
        match &record.event {
            Event::Granted { .. } => self.begin(lease, at),
            Event::Renewed { .. } => self.renewed += 1,
            Event::Beaten { .. } => self.beats += 1,
            Event::Released { .. } => self.end(&lease, at, "released"),
            Event::Transferred { from, lease, .. } => {
                self.pass_on(&from.to_string(), lease.id.to_string(), at)
            }
            Event::Evicted { cause: Cause::Expired, .. } => self.end(&lease, at, "expired"),
            Event::Evicted { cause: Cause::Dead, .. } => self.end(&lease, at, "dead"),
            Event::Evicted { cause: Cause::Forced { .. }, .. } => self.end(&lease, at, "forced"),
        }
    }

    /// Counts what is told as it happens.
    pub(crate) fn happened(&mut self, one: &Happened) {
        let event = &one.event;
        let payload = event.get("payload").unwrap_or(event);
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
        let what = text(event, "event_type").or_else(|| text(event, "op")).unwrap_or_default();
        if one.kind == Kind::Issue {
            return self.issue(&what, payload);
        }
        let at = text(event, "timestamp").or_else(|| text(event, "at"));
        let at = at.and_then(|at| times::millis(&at)).unwrap_or_default();
        let lease = text(payload, "lease_id").unwrap_or_default();
        if what.starts_with("eviction.") || what.starts_with("escalation.") {
            return;
        }
        match (what.as_str(), text(payload, "cause").as_deref()) {
            ("claim.acquired" | "acquire", _) => self.begin(lease, at),
            ("claim.renewed" | "renew", _) => self.renewed += 1,
            ("claim.heartbeat" | "heartbeat", _) => self.beats += 1,
            ("claim.released" | "release", _) => self.end(&lease, at, "released"),
            ("claim.transferred" | "transfer", _) => {
                self.pass_on(&text(payload, "from_lease_id").unwrap_or_default(), lease, at);
            }
            (_, Some("expired")) => self.end(&lease, at, "expired"),
            (_, Some("dead")) => self.end(&lease, at, "dead"),
            (_, Some("forced")) => self.end(&lease, at, "forced"),
            _ => {}
        }
    }

    fn issue(&mut self, what: &str, payload: &Value) {
        match what {
            "issue.created" => self.created += 1,
            "issue.updated" if payload.pointer("/changes/state/to") == Some(&Value::from("done")) => {
                self.done += 1;
            }
            "gate.completed" => {
                let passed = payload.get("status").and_then(Value::as_str) == Some("passed");
                *self.gates.entry(if passed { "passed" } else { "failed" }).or_default() += 1;
            }
            _ => {}
        }
    }

    /// Counts what this server refused.
    pub(crate) fn refuse(&mut self, code: &'static str) {
        *self.refused.entry(code).or_default() += 1;
    }

    fn begin(&mut self, lease: String, at: u64) {
        self.acquired += 1;
        self.since.insert(lease, at);
        // Ids sort by age.
        while self.since.len() > OPEN {
            self.since.pop_first();
        }
    }

    fn end(&mut self, lease: &str, at: u64, how: &'static str) {
        *self.ended.entry(how).or_default() += 1;
        let Some(since) = self.since.remove(lease) else { return };
        let ms = at.saturating_sub(since);
        let within = BOUNDS.iter().zip(&mut self.held).find(|(bound, _)| ms <= **bound * 1_000);
        if let Some((_, count)) = within {
            *count += 1;
        }
        self.held_count += 1;
        self.held_ms += ms;
    }

    fn pass_on(&mut self, from: &str, to: String, at: u64) {
        self.end(from, at, "transferred");
        self.begin(to, at);
    }
}

/// As much of a board as is measured.
#[derive(Deserialize, Default)]
pub(crate) struct Stand {
    board: StandBoard,
}

#[derive(Deserialize, Default)]
struct StandBoard {
    issues: Vec<StandIssue>,
    unreadable: u64,
    agents: Vec<StandLane>,
    attention: Vec<StandNeed>,
}

#[derive(Deserialize)]
struct StandIssue {
    state: String,
}

#[derive(Deserialize)]
struct StandLane {
    leases: Vec<StandLease>,
    waits_for: Vec<Value>,
}

#[derive(Deserialize)]
struct StandLease {
    stale: bool,
}

#[derive(Deserialize)]
struct StandNeed {
    kind: String,
}

/// The kinds of what needs a person: each is there also while there is none, so that an alert has something to go by.
const NEEDS: [&str; 7] =
    ["needs_attention", "gated", "not_landed", "lost", "abandoned", "stale", "holder_gone"];
const STATES: [&str; 7] = ["backlog", "ready", "in_progress", "gated", "done", "rejected", "archived"];
const ENDS: [&str; 5] = ["released", "transferred", "expired", "dead", "forced"];

/// One page of numbers.
#[derive(Default)]
struct Sheet(String);

impl Sheet {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn value(&mut self, name: &str, label: Option<(&str, &str)>, value: impl std::fmt::Display) {
        let _ = match label {
            None => writeln!(self.0, "{name} {value}"),
            Some((label, of)) => writeln!(self.0, "{name}{{{label}=\"{of}\"}} {value}"),
        };
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, kind, help);
        self.value(name, None, value);
    }

    fn counts<'a>(&mut self, name: &str, label: &str, all: impl Iterator<Item = (&'a str, u64)>) {
        for (of, value) in all {
            self.value(name, Some((label, of)), value);
        }
    }
}

/// Everything, as text. Without a look at how things stand only what is counted is there.
pub(crate) fn page(tally: &Tally, stand: Option<&Stand>, followers: usize) -> String {
    let mut sheet = Sheet::default();
    sheet.family("jit_build_info", "gauge", "The version of the server; always 1.");
    sheet.value("jit_build_info", Some(("version", env!("CARGO_PKG_VERSION"))), 1);
    let up = u8::from(stand.is_some());
    sheet.one("jit_repository_readable", "gauge", "Whether issues and claims can be read.", up);
    sheet.one("jit_followers", "gauge", "Who follows events.", followers);
    claims(&mut sheet, tally);
    sheet.one(
        "jit_issues_created_total",
        "counter",
        "Issues created, since the server began.",
        tally.created,
    );
    sheet.one(
        "jit_issues_done_total",
        "counter",
        "Issues that became done, since the server began.",
        tally.done,
    );
    sheet.family("jit_gate_results_total", "counter", "Verdicts on gates, since the server began.");
    let of = |name: &'static str| (name, tally.gates.get(name).copied().unwrap_or(0));
    sheet.counts("jit_gate_results_total", "status", ["passed", "failed"].map(of).into_iter());
    if !tally.refused.is_empty() {
        sheet.family(
            "jit_refused_total",
            "counter",
            "What this server refused, by the code of the error, since it began.",
        );
        sheet.counts("jit_refused_total", "code", tally.refused.iter().map(|(code, n)| (*code, *n)));
    }
    if let Some(stand) = stand {
        standing(&mut sheet, &stand.board);
    }
    sheet.0
}

fn claims(sheet: &mut Sheet, tally: &Tally) {
    sheet.one("jit_claims_acquired_total", "counter", "Claims granted, by the log.", tally.acquired);
    sheet.one("jit_claims_renewed_total", "counter", "Renewals of claims, by the log.", tally.renewed);
    sheet.one("jit_claim_beats_total", "counter", "Signs of life of claims without a deadline.", tally.beats);
    sheet.family(
        "jit_claims_ended_total",
        "counter",
        "Claims that ended, by how: expired and dead ones were taken over, forced ones evicted.",
    );
    let ended = ENDS.map(|how| (how, tally.ended.get(how).copied().unwrap_or(0)));
    sheet.counts("jit_claims_ended_total", "how", ended.into_iter());
    sheet.family("jit_claim_held_seconds", "histogram", "For how long claims were held that have ended.");
    let mut sum = 0;
    for (bound, count) in BOUNDS.iter().zip(tally.held) {
        sum += count;
        sheet.value("jit_claim_held_seconds_bucket", Some(("le", &bound.to_string())), sum);
    }
    sheet.value("jit_claim_held_seconds_bucket", Some(("le", "+Inf")), tally.held_count);
    let (secs, ms) = (tally.held_ms / 1_000, tally.held_ms % 1_000);
    sheet.value("jit_claim_held_seconds_sum", None, format!("{secs}.{ms:03}"));
    sheet.value("jit_claim_held_seconds_count", None, tally.held_count);
}

fn standing(sheet: &mut Sheet, board: &StandBoard) {
    let count =
        |wanted: &str, all: &mut dyn Iterator<Item = &str>| all.filter(|one| *one == wanted).count() as u64;
    sheet.family("jit_issues", "gauge", "Issues, by their state.");
    let states =
        STATES.map(|state| (state, count(state, &mut board.issues.iter().map(|one| one.state.as_str()))));
    sheet.counts("jit_issues", "state", states.into_iter());
    sheet.one("jit_issues_unreadable", "gauge", "Issues that cannot be read.", board.unreadable);
    let leases = || board.agents.iter().flat_map(|lane| &lane.leases);
    sheet.one("jit_claims_held", "gauge", "Claims that are held.", leases().count());
    sheet.one(
        "jit_claims_stale",
        "gauge",
        "Claims whose holder was silent for too long.",
        leases().filter(|lease| lease.stale).count(),
    );
    let waiting: usize = board.agents.iter().map(|lane| lane.waits_for.len()).sum();
    sheet.one("jit_claims_waiting", "gauge", "Who waits for a claim.", waiting);
    sheet.family("jit_attention", "gauge", "What needs a person, by why.");
    let needs =
        NEEDS.map(|kind| (kind, count(kind, &mut board.attention.iter().map(|one| one.kind.as_str()))));
    sheet.counts("jit_attention", "kind", needs.into_iter());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(kind: Kind, event: Value) -> Happened {
        Happened { cursor: String::new(), kind, event }
    }

    fn claim(what: &str, secs: u64, payload: Value) -> Happened {
        let at = format!("2026-01-01T00:{:02}:{:02}.000Z", secs / 60, secs % 60);
        told(Kind::Claim, json!({ "event_type": what, "timestamp": at, "payload": payload }))
    }

    #[test]
    fn what_is_told_is_counted() {
        let mut tally = Tally::default();
        for one in [
            claim("claim.acquired", 0, json!({ "lease_id": "a" })),
            claim("claim.renewed", 5, json!({ "lease_id": "a" })),
            claim("claim.transferred", 20, json!({ "lease_id": "b", "from_lease_id": "a" })),
            claim("claim.evicted", 25, json!({ "lease_id": "b", "cause": "expired" })),
            claim("claim.released", 26, json!({ "lease_id": "nobody knows" })),
            told(
                Kind::Issue,
                json!({ "event_type": "issue.updated", "payload": { "changes": { "state": { "to": "done" } } } }),
            ),
            told(Kind::Issue, json!({ "op": "gate.completed", "status": "failed" })),
        ] {
            tally.happened(&one);
        }
        tally.refuse("ALREADY_CLAIMED");
        let text = page(&tally, None, 3);
        for line in [
            "jit_claims_acquired_total 2",
            "jit_claims_renewed_total 1",
            "jit_claims_ended_total{how=\"transferred\"} 1",
            "jit_claims_ended_total{how=\"expired\"} 1",
            "jit_claims_ended_total{how=\"released\"} 1",
            "jit_claim_held_seconds_bucket{le=\"1\"} 0",
            "jit_claim_held_seconds_bucket{le=\"10\"} 1",
            "jit_claim_held_seconds_bucket{le=\"60\"} 2",
            "jit_claim_held_seconds_bucket{le=\"+Inf\"} 2",
            "jit_claim_held_seconds_sum 25.000",
            "jit_issues_done_total 1",
            "jit_gate_results_total{status=\"failed\"} 1",
            "jit_refused_total{code=\"ALREADY_CLAIMED\"} 1",
            "jit_repository_readable 0",
            "jit_followers 3",
        ] {
            assert!(text.lines().any(|one| one == line), "{line} is not in\n{text}");
        }
    }
}

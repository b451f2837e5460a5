//! The functions, the program and the procedure calls, driven with the same sequences: all say the same, word
//! for word, leave the same database, and what they say is what a few lines of naive rules say.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::arm::{Arm, Cli, Core, Op, Outcome, Rpc};
use crate::bench::{Bench, LEASE, NOW};

const DOCS: [&str; 3] = ["doc-a", "doc-b", "no-such"];
const OWNERS: [&str; 2] = ["ann", "bob"];

/// What to do next; tokens and overlays are named by their place among those that were told of.
#[derive(Clone, Debug)]
struct Step {
    kind: u8,
    doc: usize,
    owner: usize,
    token: usize,
    node: u8,
    passes: i64,
}

fn step() -> impl Strategy<Value = Step> {
    let passes = prop_oneof![
        6 => Just(0), 2 => 1..1_000i64, 1 => Just(LEASE - 1), 2 => Just(LEASE), 1 => Just(-1_000),
        1 => Just(-NOW - 1)
    ];
    let doc = prop_oneof![5 => Just(0usize), 2 => Just(1), 1 => Just(2)];
    (0..10u8, doc, 0..OWNERS.len(), 0..4usize, 0..3u8, passes)
        .prop_map(|(kind, doc, owner, token, node, passes)| Step { kind, doc, owner, token, node, passes })
}

/// What was told so far.
#[derive(Default)]
struct Told {
    now: i64,
    tokens: Vec<String>,
    overlays: Vec<String>,
}

impl Told {
    fn op(&mut self, step: &Step) -> Op {
        let now = self.now + step.passes;
        // A moment that cannot be is tried once; time then goes on from where it was.
        if now >= 0 {
            self.now = now;
        }
        let doc = DOCS[step.doc].to_owned();
        let token = self.tokens.iter().rev().nth(step.token).cloned().unwrap_or_default();
        match step.kind {
            0..=2 => Op::Acquire { doc, owner: OWNERS[step.owner].to_owned(), now },
            3 => Op::Release { doc, token },
            4 | 5 => {
                Op::Add { doc, from: format!("node-{}", step.node), evidence: "seen".into(), token, now }
            }
            6 => {
                let overlay = self.overlays.iter().rev().nth(usize::from(step.node)).cloned();
                Op::Remove { overlay: overlay.unwrap_or_else(|| "none".into()), token, now }
            }
            7 => Op::Status { doc: Some(doc), now },
            8 => Op::Status { doc: None, now },
            _ => Op::List { doc },
        }
    }

    fn hear(&mut self, outcome: &Outcome) {
        let Ok(said) = outcome else { return };
        let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
        self.tokens.extend(text(&said["lease"]["token"]));
        self.overlays.extend(text(&said["overlay"]["overlay_id"]));
    }
}

/// The rules, as naively as they can be written.
#[derive(Default)]
struct Naive {
    /// Document to token and deadline.
    held: BTreeMap<String, (String, i64)>,
    /// Document and token of leases that were taken over.
    ran_out: BTreeSet<(String, String)>,
    /// Overlay to document and node.
    overlays: BTreeMap<String, (String, String)>,
}

const OK: &str = "ok";

impl Naive {
    /// The code that is due.
    fn due(&self, op: &Op) -> &'static str {
        let now = match op {
            Op::Acquire { now, .. }
            | Op::Status { now, .. }
            | Op::Add { now, .. }
            | Op::Remove { now, .. } => *now,
            Op::Release { .. } | Op::List { .. } => 0,
        };
        if now < 0 {
            return "KC_LINEAGE_QUERY_FAILED";
        }
        let doc = match op {
            Op::Acquire { doc, .. } | Op::Release { doc, .. } | Op::Add { doc, .. } | Op::List { doc } => {
                Some(doc)
            }
            Op::Status { doc, .. } => doc.as_ref(),
            Op::Remove { overlay, .. } => match self.overlays.get(overlay) {
                None => return "KC_LINEAGE_OVERLAY_NOT_FOUND",
                Some((doc, _)) => Some(doc),
            },
        };
        if doc.is_some_and(|doc| doc == "no-such") {
            return "KC_LINEAGE_DOC_NOT_FOUND";
        }
        match (op, doc) {
            (Op::Acquire { doc, now, .. }, _) if self.held.get(doc).is_some_and(|(_, end)| end > now) => {
                "KC_LINEAGE_LOCK_HELD"
            }
            (Op::Release { token, .. }, Some(doc)) => self.shown(doc, token, None),
            (Op::Add { from, token, now, .. }, Some(doc)) => match self.shown(doc, token, Some(*now)) {
                OK if self.overlays.values().any(|there| *there == (doc.clone(), from.clone())) => {
                    "KC_LINEAGE_OVERLAY_CONFLICT"
                }
                code => code,
            },
            (Op::Remove { token, now, .. }, Some(doc)) => self.shown(doc, token, Some(*now)),
            _ => OK,
        }
    }

    /// A release names no moment.
    fn shown(&self, doc: &str, token: &str, now: Option<i64>) -> &'static str {
        match self.held.get(doc) {
            Some((held, end)) if held == token => match now {
                Some(now) if now >= *end => "KC_LINEAGE_LOCK_EXPIRED",
                Some(now) if now < end - LEASE => "KC_LINEAGE_OVERLAY_INVALID",
                _ => OK,
            },
            _ if self.ran_out.contains(&(doc.to_owned(), token.to_owned())) => "KC_LINEAGE_LOCK_EXPIRED",
            _ => "KC_LINEAGE_LOCK_INVALID",
        }
    }

    fn hear(&mut self, op: &Op, said: &Value) {
        match op {
            Op::Acquire { doc, now, .. } => {
                let token = said["lease"]["token"].as_str().unwrap().to_owned();
                if let Some((before, _)) = self.held.insert(doc.clone(), (token, now + LEASE)) {
                    self.ran_out.insert((doc.clone(), before));
                }
            }
            Op::Release { doc, .. } => drop(self.held.remove(doc)),
            Op::Add { doc, from, .. } => {
                let id = said["overlay"]["overlay_id"].as_str().unwrap().to_owned();
                self.overlays.insert(id, (doc.clone(), from.clone()));
            }
            Op::Remove { overlay, .. } => drop(self.overlays.remove(overlay)),
            Op::Status { doc: Some(doc), now } => {
                let held = self.held.get(doc).is_some_and(|(_, end)| end > now);
                assert_eq!(said["lock"]["held"], held);
            }
            Op::List { doc } => {
                let due: Vec<&String> =
                    self.overlays.iter().filter(|(_, there)| there.0 == *doc).map(|(id, _)| id).collect();
                let list = said["overlays"].as_array().unwrap();
                assert_eq!(
                    list.iter().map(|overlay| overlay["overlay_id"].as_str().unwrap()).collect::<Vec<_>>(),
                    due
                );
            }
            Op::Status { doc: None, .. } => {}
        }
    }
}

/// Runs the steps through the first arm, holds what it says to the naive rules, and gives all of it.
fn drive(arm: &mut dyn Arm, steps: &[Step]) -> Vec<(Op, Outcome)> {
    let mut told = Told { now: NOW, ..Told::default() };
    let mut naive = Naive::default();
    let run = |step: &Step| {
        let op = told.op(step);
        let outcome = arm.run(&op);
        let code = outcome.as_ref().map_or_else(|(code, _)| code.as_str(), |_| OK);
        assert_eq!(code, naive.due(&op), "{op:?}");
        told.hear(&outcome);
        if let Ok(said) = &outcome {
            naive.hear(&op, said);
        }
        (op, outcome)
    };
    steps.iter().map(run).collect()
}

fn check(cases: u32, steps: std::ops::Range<usize>, test: impl Fn(Vec<Step>)) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let result = TestRunner::new(config).run(&vec(step(), steps), |steps| {
        test(steps);
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn the_functions_do_what_the_naive_rules_say() {
    let vault = Bench::new(&DOCS[..2]);
    check(ProptestConfig::default().cases, 1..40, |steps| {
        let bench = vault.copy();
        drive(&mut Core(bench.open()), &steps);
        holdfast_kc::verify::verify(&mut bench.open()).unwrap();
    });
}

#[test]
fn the_functions_the_program_and_the_procedure_calls_say_the_same() {
    let vault = Bench::new(&DOCS[..2]);
    // Each step starts a process, so a tenth of the cases is as long.
    check(ProptestConfig::default().cases / 10, 1..30, |steps| {
        let benches = [vault.copy(), vault.copy(), vault.copy()];
        let told = drive(&mut Core(benches[0].open()), &steps);
        let mut cli = Cli(&benches[1]);
        let mut rpc = Rpc::new(&benches[2]);
        for (op, outcome) in &told {
            assert_eq!(cli.run(op), *outcome, "{op:?}");
            assert_eq!(rpc.run(op), *outcome, "{op:?}");
        }
        drop(rpc);
        assert_eq!(benches[1].dump(), benches[0].dump());
        assert_eq!(benches[2].dump(), benches[0].dump());
    });
}

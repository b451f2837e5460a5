//! Every way to change something refuses every token that proves nothing, with the right code, through every
//! side of the door; and a refusal changes nothing.

use crate::arm::{Arm, Cli, Core, Op, Outcome, Rpc};
use crate::bench::{Bench, LEASE, NOW};

const INVALID: &str = "KC_LINEAGE_LOCK_INVALID";
const EXPIRED: &str = "KC_LINEAGE_LOCK_EXPIRED";

fn text(text: &str) -> String {
    text.to_owned()
}

/// Every operation that changes something, with this token at this moment.
fn changes(token: &str, overlay: &str, now: i64) -> [Op; 3] {
    let (doc, token) = (text("doc"), text(token));
    [
        Op::Add { doc: doc.clone(), from: text("from"), evidence: text("new"), token: token.clone(), now },
        Op::Remove { overlay: text(overlay), token: token.clone(), now },
        Op::Release { doc, token },
    ]
}

fn code(outcome: &Outcome) -> &str {
    &outcome.as_ref().expect_err("a refusal").0
}

fn acquire(doc: &str, owner: &str, now: i64) -> Op {
    Op::Acquire { doc: text(doc), owner: text(owner), now }
}

/// A vault whose document has been held, released, held and let run out; and the tokens of that.
struct Past {
    bench: Bench,
    overlay: String,
    released: String,
    ran_out: String,
    foreign: String,
}

impl Past {
    fn new() -> Self {
        let bench = Bench::new(&["doc", "other"]);
        let mut core = Core(bench.open());
        let token = |outcome: Outcome| outcome.unwrap()["lease"]["token"].as_str().unwrap().to_owned();
        let released = token(core.run(&acquire("doc", "ann", NOW)));
        let [add, _, release] = changes(&released, "", NOW);
        let Op::Add { doc, from, token: shown, now, .. } = add else { panic!("the first one adds") };
        let old = Op::Add { doc, from, evidence: text("old"), token: shown, now };
        let overlay = core.run(&old).unwrap()["overlay"]["overlay_id"].as_str().unwrap().to_owned();
        core.run(&release).unwrap();
        let ran_out = token(core.run(&acquire("doc", "ann", NOW)));
        let foreign = token(core.run(&acquire("other", "ann", NOW)));
        Self { bench, overlay, released, ran_out, foreign }
    }

    /// The operations with this token are refused with this code, and nothing changes.
    fn refuses(&self, arm: &mut dyn Arm, token: &str, now: i64, due: &str, also_release: bool) {
        let before = self.bench.dump();
        let count = if also_release { 3 } else { 2 };
        for op in changes(token, &self.overlay, now).iter().take(count) {
            assert_eq!(code(&arm.run(op)), due, "{op:?}");
            assert_eq!(self.bench.dump(), before, "{op:?} was refused and changed something");
        }
    }
}

fn through(make: fn(&Bench) -> Box<dyn Arm + '_>) {
    let past = Past::new();
    let mut arm = make(&past.bench);
    let unknown = format!("blake3:{}", "0".repeat(64));
    let live = past.ran_out.to_uppercase();
    for wrong in ["", "blake3:", "nonsense", &unknown, &past.foreign, &past.released, &live] {
        past.refuses(&mut *arm, wrong, NOW, INVALID, true);
    }
    let last = NOW + LEASE - 1;
    let [add, remove, _] = changes(&past.ran_out, &past.overlay, last);
    arm.run(&add).expect("in force up to the last millisecond");
    // A release names no moment, so it is allowed until somebody acquires the lease over.
    past.refuses(&mut *arm, &past.ran_out, NOW + LEASE, EXPIRED, false);
    arm.run(&acquire("doc", "bob", NOW + LEASE)).expect("a takeover");
    past.refuses(&mut *arm, &past.ran_out, NOW + LEASE, EXPIRED, true);
    past.refuses(&mut *arm, &past.ran_out, last, EXPIRED, true);
    past.refuses(&mut *arm, &past.released, NOW + LEASE, INVALID, true);
    assert_eq!(code(&arm.run(&remove)), EXPIRED);
    // With the documents, owners and moments that cannot be, nothing changes either.
    let before = past.bench.dump();
    for (op, due) in others(&past) {
        assert_eq!(code(&arm.run(&op)), due, "{op:?}");
        assert_eq!(past.bench.dump(), before, "{op:?} was refused and changed something");
    }
}

/// Operations that are refused for other reasons than their token, while bob holds the lease.
fn others(past: &Past) -> Vec<(Op, &'static str)> {
    let (failed, held) = ("KC_LINEAGE_QUERY_FAILED", "KC_LINEAGE_LOCK_HELD");
    let missing = "KC_LINEAGE_DOC_NOT_FOUND";
    let now = NOW + LEASE;
    let add = |doc: &str, from: &str, now| Op::Add {
        doc: text(doc),
        from: text(from),
        evidence: text("e"),
        token: past.foreign.clone(),
        now,
    };
    vec![
        (acquire("doc", "ann", now), held),
        (acquire("doc", "bob", now), held),
        (acquire("doc", "ann", 0), held),
        (acquire("no-such", "ann", now), missing),
        (acquire("", "ann", now), failed),
        (acquire("other", "", now + LEASE), failed),
        (acquire("other", &"x".repeat(257), now + LEASE), failed),
        (acquire("other", "a\nb", now + LEASE), failed),
        (acquire("other", "ann", -1), failed),
        (acquire("other", "ann", i64::MIN), failed),
        (acquire("other", "ann", i64::MAX), failed),
        (acquire("other", "ann", 253_402_300_799_999), failed),
        (Op::Status { doc: Some(text("doc")), now: -1 }, failed),
        (Op::Status { doc: Some(text("no-such")), now }, missing),
        (Op::List { doc: text("no-such") }, missing),
        (Op::Release { doc: text("no-such"), token: past.foreign.clone() }, missing),
        (add("no-such", "from", NOW), missing),
        (add("other", "", NOW), "KC_LINEAGE_OVERLAY_INVALID"),
        (add("other", "a\u{1b}b", NOW), "KC_LINEAGE_OVERLAY_INVALID"),
        (
            Op::Remove { overlay: text("no-such"), token: past.foreign.clone(), now },
            "KC_LINEAGE_OVERLAY_NOT_FOUND",
        ),
    ]
}

#[test]
fn tokens_that_prove_nothing_are_refused_by_the_functions() {
    through(|bench| Box::new(Core(bench.open())));
}

#[test]
fn tokens_that_prove_nothing_are_refused_by_the_program() {
    through(|bench| Box::new(Cli(bench)));
}

#[test]
fn tokens_that_prove_nothing_are_refused_by_the_procedure_calls() {
    through(|bench| Box::new(Rpc::new(bench)));
}

#[test]
fn a_refused_program_leaves_every_byte_of_the_vault() {
    let past = Past::new();
    let before = past.bench.bytes();
    let mut arm = Cli(&past.bench);
    for op in changes(&past.released, &past.overlay, NOW) {
        assert_eq!(code(&arm.run(&op)), INVALID);
        assert_eq!(past.bench.bytes(), before, "{op:?}");
    }
    arm.run(&Op::Status { doc: None, now: NOW }).unwrap();
    assert_eq!(past.bench.bytes(), before, "looking wrote something");
}

#[test]
fn the_same_overlay_twice_is_a_conflict_whoever_adds_it_and_when() {
    let bench = Bench::new(&["doc"]);
    let mut core = Core(bench.open());
    for (owner, now) in [("ann", NOW), ("bob", NOW + 5)] {
        let token =
            core.run(&acquire("doc", owner, now)).unwrap()["lease"]["token"].as_str().unwrap().to_owned();
        let [add, _, release] = changes(&token, "", now);
        match owner {
            "ann" => drop(core.run(&add).unwrap()),
            _ => assert_eq!(code(&core.run(&add)), "KC_LINEAGE_OVERLAY_CONFLICT"),
        }
        core.run(&release).unwrap();
    }
    let list = core.run(&Op::List { doc: text("doc") }).unwrap();
    assert_eq!(list["overlays"].as_array().unwrap().len(), 1);
    assert_eq!(list["overlays"][0]["fence"], 1);
}

#[test]
fn a_change_that_is_dated_before_its_lease_is_refused() {
    for make in [
        (|bench| Box::new(Core(bench.open()))) as fn(&Bench) -> Box<dyn Arm + '_>,
        |bench| Box::new(Cli(bench)),
        |bench| Box::new(Rpc::new(bench)),
    ] {
        let bench = Bench::new(&["doc"]);
        let token = bench.acquire("doc", "ann", NOW);
        let mut arm = make(&bench);
        let [add, ..] = changes(&token, "", NOW);
        let overlay = arm.run(&add).unwrap()["overlay"]["overlay_id"].as_str().unwrap().to_owned();
        let before = bench.dump();
        for early in [NOW - 1, 0] {
            let (doc, from, evidence) = (text("doc"), text("from"), text("early"));
            for op in [
                Op::Add { doc, from, evidence, token: token.clone(), now: early },
                Op::Remove { overlay: overlay.clone(), token: token.clone(), now: early },
            ] {
                let (code, message) = arm.run(&op).expect_err("a refusal");
                assert_eq!(code, "KC_LINEAGE_OVERLAY_INVALID", "{op:?}: {message}");
                assert!(message.contains(&NOW.to_string()), "{message}");
                assert_eq!(bench.dump(), before, "{op:?} was refused and changed something");
            }
        }
        let [_, remove, _] = changes(&token, &overlay, NOW);
        arm.run(&remove).unwrap();
    }
}

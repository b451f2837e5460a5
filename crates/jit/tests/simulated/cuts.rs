//! Each command that changes a claim, cut off at its calls: by a kill, by the power, by a disk that fails or is full. A
//! third of the calls in each run, all of them in a long one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holdfast_sys::sim::{Choice, Choices, Config, Fault, Faults, Moment, NameOrder, Odds, Random};
use holdfast_trial::share;
use serde_json::Value;

use crate::stage::{ANNA, Agent, BERTA, ISSUE, OTHER, Stage, Told};

/// Strikes once, at the nth occasion after it was armed; then fate has it what survives.
struct Strike {
    what: Choice,
    countdown: u64,
    armed: Arc<AtomicBool>,
    fate: Random,
}

impl Choices for Strike {
    fn choose(&mut self, what: Choice, options: usize, at: &Moment<'_>) -> usize {
        match what {
            Choice::Survive(_) => self.fate.choose(what, options, at),
            _ if what != self.what || !self.armed.load(Ordering::SeqCst) => 0,
            _ if self.countdown > 0 => {
                self.countdown -= 1;
                0
            }
            _ => {
                self.armed.store(false, Ordering::SeqCst);
                1
            }
        }
    }
}

const STRIKES: [Choice; 4] =
    [Choice::Kill, Choice::PowerLoss, Choice::Fault(Fault::Eio), Choice::Fault(Fault::Enospc)];

fn stage(what: Choice, nth: u64, names: NameOrder) -> Stage {
    let armed = Arc::new(AtomicBool::new(false));
    let once = Odds::new(0, 1);
    let faults = Faults { kill: once, power_loss: once, eio: once, enospc: once, ..Faults::NONE };
    let config = Config { faults, lose_ppm: 500_000, names, ..Config::default() };
    let strike = Strike { what, countdown: nth, armed: Arc::clone(&armed), fate: Random::new(nth) };
    Stage::new(config, strike, armed)
}

/// One call in so many is where a commit cuts; the next commit cuts at others, and a long run at all.
const SHARE: u64 = 3;

/// Cuts `args` off at its calls, each time on a stage that `before` has set; `after` judges.
pub(crate) fn cut(before: fn(&mut Stage), args: &[&str], after: fn(&mut Stage, Told)) {
    cut_of(ANNA, before, args, after);
}

/// As [`cut`], for somebody else than Anna.
pub(crate) fn cut_of(who: Agent, before: fn(&mut Stage), args: &[&str], after: fn(&mut Stage, Told)) {
    cut_in(NameOrder::PerDirectory, who, before, args, after);
}

/// As [`cut`], where names of one directory survive the power in their order, and where each does so on its own.
pub(crate) fn cut_in_any_order(before: fn(&mut Stage), args: &[&str], after: fn(&mut Stage, Told)) {
    for names in [NameOrder::PerDirectory, NameOrder::PerName] {
        cut_in(names, ANNA, before, args, after);
    }
}

fn cut_in(names: NameOrder, who: Agent, before: fn(&mut Stage), args: &[&str], after: fn(&mut Stage, Told)) {
    for what in STRIKES {
        let mut cuts = 0;
        for nth in share(SHARE) {
            let mut stage = stage(what, nth, names);
            before(&mut stage);
            let (struck, told) = stage.struck(who, args);
            if !struck {
                break;
            }
            after(&mut stage, told);
            tells_the_same_everywhere(&mut stage);
            cuts += 1;
        }
        assert!(cuts > 1, "{what:?} hardly struck {args:?}");
    }
}

/// The log is whole, and whoever writes next has caught its projection up.
fn tells_the_same_everywhere(stage: &mut Stage) {
    let checks = stage.quietly(ANNA, &["validate", "leases"]).unwrap();
    assert_eq!(checks["checks"][0]["ok"], true, "{checks}");
    stage.quietly(BERTA, &["claim", "create", "--title", "one more"]).unwrap();
    let history = stage.quietly(ANNA, &["claim", "history"]).unwrap();
    let projected = stage.lines("/repo/.git/jit/events/control.jsonl");
    let mut events = history["events"].as_array().unwrap().clone();
    for event in events.iter_mut().filter_map(Value::as_object_mut) {
        event.remove("handle");
        event.remove("title");
    }
    assert_eq!(events, projected);
}

fn lease(answer: &Value) -> (String, u64) {
    let lease = &answer["lease"];
    (lease["lease_id"].as_str().unwrap().to_owned(), lease["fence"].as_u64().unwrap())
}

pub(crate) fn held(stage: &mut Stage) {
    stage.quietly(ANNA, &["claim", "acquire", ISSUE]).unwrap();
}

/// Whatever happened, exactly one of the two gets it; the one who was told so before keeps it.
#[test]
fn a_claim_that_was_told_of_is_kept_and_one_that_was_not_locks_nobody_out() {
    cut(
        |_| (),
        &["claim", "acquire", ISSUE],
        |stage, told| {
            let again = stage.quietly(ANNA, &["claim", "acquire", ISSUE]);
            let again = again.unwrap_or_else(|code| panic!("the holder itself is refused with {code}"));
            if let Some(Ok(told)) = told {
                assert_eq!((lease(&again), &again["already_held"]), (lease(&told), &Value::Bool(true)));
            }
            assert_eq!(stage.quietly(BERTA, &["claim", "acquire", ISSUE]), Err(4));
            stage.lose_power();
            assert_eq!(lease(&stage.quietly(ANNA, &["claim", "acquire", ISSUE]).unwrap()), lease(&again));
        },
    );
}

#[test]
fn what_was_given_back_is_free_and_what_was_not_is_held() {
    cut(held, &["claim", "release", ISSUE], |stage, told| {
        let before = stage.quietly(BERTA, &["claim", "status", "--issue", ISSUE]).unwrap();
        let is_held = before["count"] == 1;
        assert!(!(is_held && matches!(told, Some(Ok(_)))), "it was given back and is held: {before}");
        let other = stage.quietly(BERTA, &["claim", "acquire", ISSUE]);
        assert_eq!(other.as_ref().err(), is_held.then_some(&4));
        if let Ok(other) = other {
            assert!(lease(&other).1 > 1, "a fence was given out twice: {other}");
        }
    });
}

#[test]
fn a_renewal_that_was_told_of_holds() {
    cut(held, &["claim", "renew", ISSUE, "--ttl", "6000"], |stage, told| {
        let after = stage.quietly(ANNA, &["claim", "acquire", ISSUE]).unwrap();
        assert_eq!(after["already_held"], true);
        if let Some(Ok(told)) = told {
            assert_eq!(after["lease"]["expires_at"], told["lease"]["expires_at"]);
        }
    });
}

#[test]
fn a_forced_eviction_happens_whole_or_not_at_all() {
    cut(held, &["claim", "force-evict", ISSUE, "--reason", "gone"], |stage, told| {
        let other = stage.quietly(BERTA, &["claim", "acquire", ISSUE]);
        let anna = stage.quietly(ANNA, &["claim", "renew", ISSUE]);
        assert_ne!(other.is_ok(), anna.is_ok(), "{other:?} {anna:?}");
        assert!(other.is_ok() || !matches!(told, Some(Ok(_))), "it was evicted and is held");
    });
}

#[test]
fn the_next_issue_is_handed_out_once() {
    cut(
        |_| (),
        &["claim", "next"],
        |stage, told| {
            let mine = told.and_then(Result::ok).map(|told| told["lease"]["issue_id"].clone());
            let theirs = [(); 2].map(|()| stage.quietly(BERTA, &["claim", "next"]));
            let given: Vec<_> =
                theirs.iter().flatten().map(|told| told["lease"]["issue_id"].clone()).collect();
            assert!(mine.is_none_or(|mine| !given.contains(&mine)), "{given:?}");
            assert!(given.len() > usize::from(given.first() == given.get(1)), "handed out twice: {given:?}");
        },
    );
}

#[test]
fn a_claim_is_handed_over_whole_or_not_at_all() {
    fn known(stage: &mut Stage) {
        held(stage);
        stage.quietly(BERTA, &["worktree", "init"]).unwrap();
        let identity = r#"{"schema_version":1,"worktree_id":"wt:0000000b","branch":null,"root":"/linked",
            "created_at":"2026-01-01T00:00:00.000Z"}"#;
        stage.write("/repo/.git/worktrees/linked/jit-worktree.json", identity);
    }
    let to = ["--to-agent", "agent:berta", "--to-worktree", "wt:0000000b", "--reason", "end of shift"];
    cut(known, &[&["claim", "transfer", ISSUE], &to[..]].concat(), |stage, told| {
        let berta = stage.quietly(BERTA, &["claim", "renew", ISSUE]);
        let anna = stage.quietly(ANNA, &["claim", "renew", ISSUE]);
        assert_ne!(berta.is_ok(), anna.is_ok(), "{berta:?} {anna:?}");
        assert!(berta.is_ok() || !matches!(told, Some(Ok(_))), "it was handed over and is not");
        if let Ok(berta) = berta {
            assert!(lease(&berta).1 > 1, "a fence was given out twice: {berta}");
        }
    });
}

/// The patterns that are reserved, and by whom.
fn reserved(stage: &mut Stage) -> Vec<(String, String)> {
    let listed = stage.quietly(BERTA, &["reserve", "list"]).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = listed["reservations"].as_array().unwrap();
    all.iter().map(|one| (text(&one["pattern"]), text(&one["agent_id"]))).collect()
}

#[test]
fn paths_are_reserved_all_or_none_wherever_it_is_cut_off() {
    cut(
        |_| (),
        &["reserve", "add", "src/**", "docs/*.md", "Cargo.toml"],
        |stage, told| {
            let there = reserved(stage);
            assert!([0, 3].contains(&there.len()), "{there:?}");
            assert!(there.len() == 3 || !matches!(told, Some(Ok(_))), "it was reserved and is not");
            let berta = stage.quietly(BERTA, &["reserve", "add", "src/x.rs"]);
            assert_eq!(berta.err(), (there.len() == 3).then_some(4));
        },
    );
}

#[test]
fn several_issues_are_claimed_all_or_none_wherever_it_is_cut_off() {
    cut(
        |_| (),
        &["claim", "acquire", ISSUE, OTHER],
        |stage, told| {
            let listed = stage.quietly(BERTA, &["claim", "list"]).unwrap();
            assert!(listed["count"] == 0 || listed["count"] == 2, "{listed}");
            assert!(listed["count"] == 2 || !matches!(told, Some(Ok(_))), "they were claimed and are not");
            stage.quietly(ANNA, &["claim", "acquire", ISSUE, OTHER]).unwrap();
            assert_eq!(stage.quietly(BERTA, &["claim", "acquire", OTHER]), Err(4));
        },
    );
}

#[test]
fn what_is_reserved_ends_with_its_claim_wherever_that_is_cut_off() {
    fn with_paths(stage: &mut Stage) {
        held(stage);
        stage.quietly(ANNA, &["reserve", "add", "src/**", "docs/**"]).unwrap();
    }
    cut(with_paths, &["claim", "release", ISSUE], |stage, told| {
        let is_held = stage.quietly(BERTA, &["claim", "status", "--issue", ISSUE]).unwrap()["count"] == 1;
        let there = reserved(stage);
        assert_eq!(there.len(), if is_held { 2 } else { 0 }, "{there:?}");
        assert!(!(is_held && matches!(told, Some(Ok(_)))), "it was given back and is held");
        let berta = stage.quietly(BERTA, &["reserve", "add", "src/x.rs"]);
        assert_eq!(berta.is_ok(), !is_held);
    });
}

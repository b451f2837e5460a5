//! Any bytes as the files of a record: read or refused by name, never believed in part, never lost.

use crate::machine::{FOLDER, everything, name, on_a_machine, policy, wants};
use crate::pair::{pair, present};
use holdfast_kernel::{Answer, Refusal, Standing};
use holdfast_store::record::{Paths, Record, Settings};
use holdfast_store::{Codec, Error, Json, Medium, View};
use holdfast_sys::Sys;

const RESOURCE: &str = "issue-1";

/// Feeds it.
pub(crate) fn check(input: &[u8]) {
    let (fence, lock) = pair(input);
    if let Ok(stored) = Json.read(lock) {
        let counter = stored.counter.expect("this format has room for it");
        assert_eq!(Json.write(&stored.lease, counter), lock, "one lease has one form");
    }
    on_a_machine(&present([("r.fence", fence), ("r.lock", lock)]), |sys| read(&sys));
}

fn record(sys: &Sys) -> Record {
    let paths = Paths::new(std::path::Path::new(FOLDER), "r");
    Record::new(sys.clone(), paths, name(RESOURCE), Settings::default())
}

fn read(sys: &Sys) {
    let before = everything(sys);
    let looked = record(sys).view();
    assert_eq!(everything(sys), before, "looking changes nothing");
    match looked {
        Ok(view) => goes_on(sys, &view),
        Err(error) => refused(sys, &error),
    }
}

/// Whoever holds it in force keeps it; otherwise anybody gets it, with a fence that nobody had.
fn goes_on(sys: &Sys, before: &View) {
    let held = before.table.iter().next();
    assert!(held.is_none_or(|lease| lease.fence < before.next), "no lease has a number that is to come");
    match record(sys).transact(&policy(), &wants(RESOURCE)) {
        Ok(Answer::Granted(lease)) => {
            let free = |standing| matches!(standing, Standing::Open { .. });
            assert!(
                held.is_none_or(|old| free(old.standing(&lease.granted))),
                "nobody loses what is in force"
            );
            assert!(lease.fence >= before.next, "the fence is fresh");
            let view = record(sys).view().expect("what was written can be read");
            assert_eq!(view.table.iter().collect::<Vec<_>>(), [&lease], "and is what was granted");
        }
        Err(Error::Refused(Refusal::Held { .. } | Refusal::ClockSkew { .. })) => {
            assert!(held.is_some(), "somebody is in the way");
            let view = record(sys).view().expect("a refusal leaves it readable");
            assert_eq!(view.table, before.table, "and changes nothing");
        }
        Err(Error::Refused(Refusal::FencesExhausted)) => {}
        other => panic!("neither granted nor held: {other:?}"),
    }
}

/// What cannot be read is not written either; damage can be set aside, and is kept.
fn refused(sys: &Sys, error: &Error) {
    let named = |error: &Error| matches!(error, Error::Damaged { .. } | Error::Newer { .. });
    assert!(named(error), "a named error, not {error:?}");
    let refusal = record(sys).transact(&policy(), &wants(RESOURCE)).expect_err("it cannot be read");
    assert!(named(&refusal), "a named error, not {refusal:?}");
    let before: Vec<Vec<u8>> = everything(sys).into_iter().map(|(_, bytes)| bytes).collect();
    if record(sys).set_aside().is_ok() {
        let after: Vec<Vec<u8>> = everything(sys).into_iter().map(|(_, bytes)| bytes).collect();
        assert!(before.iter().all(|bytes| after.contains(bytes)), "what is set aside is kept");
        let looked = record(sys).view();
        assert!(matches!(looked, Ok(_) | Err(Error::Newer { .. })), "what was damaged is out of the way");
    }
}

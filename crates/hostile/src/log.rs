//! Any bytes as a log: read, refused by name, or repaired; never believed in part, never lost.

use crate::chain::Forgery;
use crate::machine::{content, names, on_a_machine, path, policy, wants};
use holdfast_kernel::{Answer, Refusal};
use holdfast_store::log::{Log, Paths, Settings};
use holdfast_store::{Error, Medium, View};
use holdfast_sys::Sys;

/// Feeds it.
pub(crate) fn check(input: &[u8]) {
    let (forgery, bytes) = Forgery::chosen(input);
    let file = forgery.forge(bytes);
    on_a_machine(&[("log", &file.clone())], move |sys| read(&sys, &file));
}

fn read(sys: &Sys, file: &[u8]) {
    let looked = log(sys).view();
    let replayed = log(sys).history(&mut |_| {});
    assert_eq!(content(sys, &paths().log), file, "reading writes nothing");
    assert_eq!(names(sys), ["log"], "and makes nothing");
    match looked {
        Ok(view) => goes_on(sys, file, &view),
        Err(error) => {
            assert!(replayed.is_err(), "a log that cannot be looked at has no history");
            refused(sys, file, &error);
        }
    }
}

fn paths() -> Paths {
    Paths { log: path("log"), index: path("index"), guard: path("guard") }
}

/// A handle as a new process has it.
fn log(sys: &Sys) -> Log {
    Log::new(sys.clone(), paths(), Settings::default())
}

/// Whoever can read the log can also write to it, and what was there stays.
fn goes_on(sys: &Sys, file: &[u8], before: &View) {
    assert!(
        before.table.iter().all(|lease| lease.fence < before.next),
        "no lease has a number that is to come"
    );
    let lease = match log(sys).transact(&policy(), &wants("\u{fffd}something")) {
        Ok(Answer::Granted(lease)) => lease,
        Err(Error::Refused(Refusal::FencesExhausted)) => return,
        other => panic!("a stranger gets what nobody has, not {other:?}"),
    };
    assert_eq!(lease.fence, before.next, "the fence that was next");
    let indexed = log(sys).view().expect("the log, by its index");
    sys.files.remove_file(&paths().index).expect("an index");
    let rebuilt = log(sys).view().expect("the log, by its lines");
    assert_eq!(
        (&indexed.table, indexed.next),
        (&rebuilt.table, rebuilt.next),
        "the index says what the log says"
    );
    assert_eq!(rebuilt.table.len(), before.table.len() + 1, "one lease more");
    assert!(before.table.iter().all(|old| rebuilt.table.get(old.id) == Some(old)), "and no other change");
    nothing_lost(sys, file);
}

/// The bytes are in the log, or beside it if they were never a whole line.
fn nothing_lost(sys: &Sys, file: &[u8]) {
    let torn = names(sys).into_iter().filter(|name| name.starts_with("log.torn-"));
    let torn: Vec<u8> = torn.flat_map(|name| content(sys, &path(&name))).collect();
    let (kept, cut) = file.split_at(file.len() - torn.len());
    assert_eq!(cut, torn, "the torn tail is kept");
    assert!(content(sys, &paths().log).starts_with(kept), "the rest stays where it is");
}

/// Whoever cannot read the log cannot write to it either, until it is repaired; and the damage is kept.
fn refused(sys: &Sys, file: &[u8], error: &Error) {
    assert!(matches!(error, Error::Damaged { .. } | Error::Newer { .. }), "a named error, not {error:?}");
    let refused = log(sys).transact(&policy(), &wants("\u{fffd}something"));
    assert!(matches!(refused, Err(Error::Damaged { .. } | Error::Newer { .. })), "{refused:?}");
    let found = log(sys).recover(&policy(), false);
    assert_eq!(content(sys, &paths().log), file, "neither a refusal nor a look for damage changes anything");
    if found.is_ok() {
        let repaired = log(sys).recover(&policy(), true).expect("what was found can be repaired");
        assert_eq!(content(sys, &repaired.kept.expect("a kept log")), file, "the damage is kept");
        log(sys).view().expect("a repaired log can be read");
        log(sys).history(&mut |_| {}).expect("and has a history");
    }
}

//! Any bytes as the index of a good log: the index may be worthless, but the leases are the log's. Only a whole index says
//! something about the log: one of another log, or of a later one, shows that the log is not the one that was there.

use crate::chain::Forgery;
use crate::machine::{on_a_machine, path, policy, wants};
use holdfast_store::log::{Log, Paths, Settings};
use holdfast_store::{Error, Medium};
use holdfast_sys::Sys;

/// A good log, whole to its last line. The seeds are indexes of it and of what it was before.
const LOG: &[u8] = include_bytes!("../../../fuzz/seeds/good.log");

/// Feeds it.
pub(crate) fn check(input: &[u8]) {
    let (forgery, bytes) = Forgery::chosen(input);
    let index = forgery.forge(bytes);
    // Spaces behind the object only fill the line up, and what comes behind the line is left of a longer one.
    let line = index.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = [line.trim_ascii_end(), b"\n"].concat();
    let is_whole = Forgery::Sealed.forge(&line) == line;
    on_a_machine(&[("log", LOG), ("index", &index)], move |sys| read(&sys, forgery, is_whole));
}

fn read(sys: &Sys, forgery: Forgery, is_whole: bool) {
    let truth = log(sys, "no-index").view().expect("a good log");
    let looked = log(sys, "index").view();
    let history = log(sys, "index").history(&mut |_| {});
    let believed = looked.as_ref().is_ok_and(|view| view.table != truth.table);
    let is_refused = matches!(looked, Err(Error::Damaged { .. }));
    if forgery == Forgery::None && !(is_refused && is_whole) {
        let view = looked.expect("a damaged index hinders nobody");
        assert_eq!((&view.table, view.next), (&truth.table, truth.next), "and changes nothing");
        log(sys, "index")
            .transact(&policy(), &wants("\u{fffd}something"))
            .expect("nor does it hinder a writer");
    }
    // A forger who also gets the hash right is believed until somebody compares with the history.
    assert!(!(believed && history.is_ok()), "the history shows a forged index");
}

/// A handle as a new process has it, with the index of this name.
fn log(sys: &Sys, index: &str) -> Log {
    let paths = Paths { log: path("log"), index: path(index), guard: path("guard") };
    Log::new(sys.clone(), paths, Settings::default())
}

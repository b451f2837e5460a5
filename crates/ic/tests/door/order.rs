//! C7: the order in which locks are taken, and circles of those who wait.

use holdfast_trial::until;

use crate::site::{Site, end};

fn take(site: &Site, owner: &str, name: &str, code: i32, more: &[&str]) -> String {
    let timeout: &[&str] = if more.contains(&"--timeout") { &[] } else { &["--timeout", "0"] };
    let words = [&["acquire", name, "x", "--owner", owner], timeout, more].concat();
    site.lock(code, &words).err
}

fn give_back(site: &Site, owner: &str, names: &[&str]) {
    for name in names {
        site.lock(0, &["release", name, "x", "--owner", owner]);
    }
}

#[test]
fn c7_an_order_that_is_turned_round_is_told_with_both_chains() {
    let site = Site::new();
    assert_eq!(take(&site, "anna", "a", 0, &[]), "");
    assert_eq!(take(&site, "anna", "b", 0, &[]), "");
    assert!(site.lock(0, &["order"]).out.starts_with("a/x\tb/x\tanna\t"));
    give_back(&site, "anna", &["b", "a"]);
    assert_eq!(take(&site, "berta", "b", 0, &[]), "");
    let told = take(&site, "berta", "a", 0, &[]);
    assert!(told.contains("berta takes b/x → a/x") && told.contains("anna took a/x → b/x"), "{told}");
    give_back(&site, "berta", &["b", "a"]);
}

#[test]
fn c7_strict_order_refuses_and_takes_nothing() {
    let site = Site::new();
    for name in ["a", "b", "c"] {
        take(&site, "anna", name, 0, &[]);
    }
    give_back(&site, "anna", &["a", "b", "c"]);
    // What was seen leads from a to c by way of b, whoever holds them by now.
    take(&site, "berta", "c", 0, &["--strict-order"]);
    let told = take(&site, "berta", "a", 1, &["--strict-order"]);
    assert!(told.contains("berta takes c/x → a/x"), "{told}");
    assert_eq!(site.list(), ["c/x"]);
    // In the known order it is fine, and so is one lock at a time.
    give_back(&site, "berta", &["c"]);
    assert_eq!(take(&site, "berta", "a", 0, &["--strict-order"]), "");
    assert_eq!(take(&site, "berta", "c", 0, &["--strict-order"]), "");
}

#[test]
fn c7_what_was_given_back_or_taken_away_is_in_no_chain() {
    let site = Site::new();
    take(&site, "anna", "a", 0, &[]);
    give_back(&site, "anna", &["a"]);
    take(&site, "anna", "b", 0, &[]);
    assert_eq!(site.lock(0, &["order"]).out, "");
    // A directory that went behind everybody's back is not held either.
    std::fs::remove_dir_all(site.root().join("b/x")).unwrap();
    take(&site, "anna", "c", 0, &[]);
    assert_eq!(site.lock(0, &["order"]).out, "");
}

#[test]
fn c7_whoever_would_close_a_circle_is_refused_at_once() {
    let site = Site::new();
    take(&site, "anna", "a", 0, &[]);
    take(&site, "berta", "b", 0, &[]);
    take(&site, "clara", "c", 0, &[]);
    let wait = |owner: &str, name: &str| {
        site.start(&["lock", "acquire", name, "x", "--owner", owner, "--timeout", "1h"])
    };
    let anna = wait("anna", "b");
    until("anna's wait", || site.waiting() == 1);
    let berta = wait("berta", "c");
    until("berta's wait", || site.waiting() == 2);
    // An hour is allowed, so only a refusal ends this.
    let said = end(wait("clara", "a"));
    assert_eq!(said.code, 1);
    let told = "deadlock: clara would wait for a/x, held by anna, who waits for b/x, held by berta, \
                who waits for c/x, held by clara";
    assert!(said.err.contains(told), "{said:?}");
    // The others were not in the way of themselves and go on.
    give_back(&site, "clara", &["c"]);
    assert_eq!(end(berta).code, 0);
    give_back(&site, "berta", &["b"]);
    assert_eq!(end(anna).code, 0);
}

#[test]
fn c7_waiting_for_oneself_is_refused_at_once() {
    let site = Site::new();
    take(&site, "anna", "a", 0, &[]);
    let said = site.lock(1, &["acquire", "a", "x", "--owner", "anna", "--timeout", "1h"]);
    assert!(said.err.contains("already held by anna"), "{said:?}");
}

#[test]
fn c7_a_command_under_a_lock_belongs_to_the_chain_around_it() {
    let site = Site::new();
    let inner = format!("{} lock run a x --timeout 1h -- true", crate::site::IC);
    let said = site.lock(1, &["run", "a", "x", "--owner", "outer", "--", "sh", "-c", &inner]);
    assert!(said.err.contains("deadlock") && said.err.contains("held by outer"), "{said:?}");
    let inner = inner.replacen(" a ", " b ", 1);
    site.lock(0, &["run", "a", "x", "--owner", "outer", "--", "sh", "-c", &inner]);
    assert!(site.lock(0, &["order"]).out.starts_with("a/x\tb/x\t"));
}

#[test]
fn c7_the_notes_of_the_dead_close_no_circle() {
    let site = Site::new();
    take(&site, "anna", "a", 0, &[]);
    take(&site, "berta", "b", 0, &[]);
    let mut anna = site.start(&["lock", "acquire", "b", "x", "--owner", "anna", "--timeout", "1h"]);
    until("anna's wait", || site.waiting() == 1);
    anna.kill().unwrap();
    anna.wait().unwrap();
    assert_eq!(site.waiting(), 1, "it left its note");
    let told = take(&site, "berta", "a", 1, &["--timeout", "20ms"]);
    assert!(told.contains("a/x is held by anna") && !told.contains("deadlock"), "{told}");
    assert_eq!(site.waiting(), 0);
}

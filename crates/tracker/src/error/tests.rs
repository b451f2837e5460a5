//! Holds `spec/errors.md` against what jit does, cell by cell: `HOLDFAST_BLESS=1` writes jit's cells anew.
#![expect(clippy::disallowed_methods, reason = "tests read the crate's own sources")]

use std::collections::BTreeSet;
use std::path::Path;

use holdfast_kernel::Answer;
use holdfast_trial::{Page, Table, lease, medium_errors};

use super::Error;
use crate::code::{Code, Exit, Source};

/// The tables that all doors share, and how many of their rows come from each.
const SHARED: [&str; 2] = ["Refused by the rules", "Failed in a medium"];

/// What a medium says, with its code, and what becomes of it here.
fn samples() -> Vec<(&'static str, Error)> {
    medium_errors().into_iter().map(|error| (error.code(), Error::from(error))).collect()
}

fn cell(table: &Table, code: &str, column: &str) -> String {
    // What another door does is known to its own test.
    table.get(code).and_then(|row| row.get(column)).cloned().unwrap_or_else(|| "?".into())
}

fn exit(code: Code) -> String {
    match code.exit() {
        Exit::Signal(_) => "128 + signal".into(),
        other => other.code().to_string(),
    }
}

/// A row of a table that all doors share. Where jit has a code of its own, it says so, and the advice is its own.
fn shared_row(table: &Table, code: &str, error: &Error) -> String {
    let ours = error.code();
    let (advice, jit) = if ours.as_str() == code {
        (ours.advice().to_owned(), exit(ours))
    } else {
        (cell(table, code, "what to do"), format!("{}, as `{}`", exit(ours), ours.as_str()))
    };
    let others = ["jvs", "kc", "ic", "browser"].map(|door| cell(table, code, door)).join(" | ");
    format!("| `{code}` | {} | {advice} | {jit} | {others} | {} |", ours.meaning(), ours.http())
}

fn rows_of(source: Source, row: fn(Code) -> String) -> Vec<String> {
    Code::ALL.iter().filter(|code| code.source() == source).map(|code| row(*code)).collect()
}

#[test]
fn the_page_says_what_jit_does() {
    let mut page = Page::errors();
    let samples = samples();
    let (rules, media) = samples.split_at(holdfast_kernel::RefusalKind::ALL.len());
    for (heading, samples) in SHARED.iter().zip([rules, media]) {
        let table = page.table(heading);
        let mut lines = vec![
            "| code | meaning | what to do | jit | jvs | kc | ic | browser | HTTP |".to_owned(),
            "|---|---|---|---|---|---|---|---|---|".to_owned(),
        ];
        lines.extend(samples.iter().map(|(code, error)| shared_row(&table, code, error)));
        page.compare(heading, &lines);
    }
    let mut own =
        vec!["| code | meaning | what to do | exit | HTTP |".to_owned(), "|---|---|---|---|---|".to_owned()];
    own.extend(rows_of(Source::Tracker, |code| {
        let (name, meaning, advice) = (code.as_str(), code.meaning(), code.advice());
        format!("| `{name}` | {meaning} | {advice} | {} | {} |", exit(code), code.http())
    }));
    page.compare("Codes of jit alone", &own);
    let mut hooks = vec!["| code | meaning | what to do |".to_owned(), "|---|---|---|".to_owned()];
    hooks.extend(rows_of(Source::Hooks, |code| {
        format!("| `{}` | {} | {} |", code.as_str(), code.meaning(), code.advice())
    }));
    page.compare("Found by jit's hooks", &hooks);
}

#[test]
fn a_code_is_the_name_of_its_variant_and_there_once() {
    let codes: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(codes.len(), Code::ALL.len());
    for code in Code::ALL {
        assert_eq!(code.as_str().replace('_', "").to_lowercase(), format!("{code:?}").to_lowercase());
        assert!((400..600).contains(&code.http()), "{code:?} is an error");
        assert_ne!(code.exit(), Exit::Ok);
        assert!(!code.meaning().contains('|') && !code.advice().contains('|'), "{code:?} fits a table");
    }
}

#[test]
fn what_leases_say_is_what_a_medium_can_say() {
    let given: BTreeSet<Code> = samples().iter().map(|(_, error)| error.code()).collect();
    for code in Code::ALL {
        let aliased = [Code::LeaseNotFound, Code::Io].contains(code);
        let from_medium = code.source() == Source::Leases || aliased;
        assert_eq!(given.contains(code), from_medium, "{code:?}");
    }
}

/// Every text of the sources below a directory, without this one and the table's own.
fn sources(directory: &Path, text: &mut String) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, text);
        } else if !path.ends_with("error/tests.rs") && !path.ends_with("code.rs") {
            text.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_code_is_given_by_something() {
    let mut text = String::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut text);
    let is_named = |code: &Code| {
        let name = format!("Code::{code:?}");
        text.match_indices(&name).any(|(at, _)| !text[at + name.len()..].starts_with(char::is_alphanumeric))
    };
    let unused: Vec<&Code> = Code::ALL.iter().filter(|code| !is_named(code)).collect();
    assert!(unused.is_empty(), "nothing gives {unused:?}");
}

#[test]
fn an_impossible_answer_asks_for_a_report() {
    let error = Error::unexpected("grant a lease", &Answer::Swept(vec![lease()]));
    assert_eq!((error.code(), error.exit().code(), error.code().http()), (Code::Internal, 1, 500));
    let text = error.to_string();
    assert!(text.starts_with("the claim log answered Swept("), "{text}");
    assert!(text.ends_with("when asked to grant a lease: this is a bug in jit; please report it"), "{text}");
}

//! Holds `spec/errors.md` against what jvs does, cell by cell.

use std::collections::BTreeSet;

use holdfast_trial::{Page, lease, medium_errors};

use super::{Class, Error};

const OWN: &str = "Codes of jvs alone";

fn cell(class: Class) -> String {
    match (class, class.exit()) {
        (Class::Internal, _) => "–".into(),
        (_, 1) => format!("`{}`", class.code()),
        (_, exit) => format!("`{}`, exit {exit}", class.code()),
    }
}

#[test]
fn the_page_says_what_jvs_does_with_each_refusal_and_failure() {
    let mut table = Page::errors().tables(&["Refused by the rules", "Failed in a medium"]);
    for error in medium_errors() {
        let code = error.code();
        let row = table.remove(code).unwrap_or_else(|| panic!("{code} has no row in spec/errors.md"));
        assert_eq!(row["jvs"], cell(Error::from(error).class()), "the cell of jvs for {code}");
    }
    assert!(table.is_empty(), "rows of what nothing gives: {:?}", table.keys());
}

#[test]
fn every_class_is_on_the_page_and_every_row_is_a_class() {
    let page = Page::errors();
    let known: BTreeSet<&str> = Class::ALL.iter().map(|class| class.code()).collect();
    let rows: BTreeSet<String> = page.table(OWN).into_keys().collect();
    let strange: Vec<&String> = rows.iter().filter(|row| !known.contains(row.as_str())).collect();
    assert!(strange.is_empty(), "no class of jvs: {strange:?}");
    let shared: BTreeSet<&str> =
        medium_errors().into_iter().map(|error| Error::from(error).class().code()).collect();
    let missing: Vec<&&str> =
        known.iter().filter(|code| !rows.contains(**code) && !shared.contains(**code)).collect();
    assert!(missing.is_empty(), "not on the page: {missing:?}");
    for internal in ["E_INTERNAL", "E_INTERRUPTED"] {
        assert!(rows.contains(internal), "{internal} is no lease's");
    }
}

#[test]
fn no_error_names_a_nonce() {
    let held = lease();
    for error in medium_errors() {
        let code = error.code();
        let error = Error::from(error);
        let all = format!("{error} {:?} {}", error.advice(), error.document());
        assert!(!all.contains(held.holder.agent.as_str()), "{code}: {all}");
    }
}

#[test]
fn what_cannot_happen_asks_for_a_report() {
    let refusal = holdfast_kernel::Refusal::ReasonRequired;
    let error = Error::from(refusal);
    assert_eq!((error.class().code(), error.class().exit()), ("E_INTERNAL", 1));
    let said = "the lock refused with REASON_REQUIRED: this is a bug in jvs; please report it";
    assert_eq!(error.to_string(), said);
}

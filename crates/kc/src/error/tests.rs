//! Holds `spec/errors.md` against what kc_cli does, cell by cell.

use std::collections::BTreeSet;

use holdfast_trial::{Page, medium_errors};

use super::{AppError, Code, Error};

fn cell(error: &Error) -> String {
    match error {
        Error::Internal(_) => "–".into(),
        other => format!("`{}`", other.code().as_str()),
    }
}

#[test]
fn the_page_says_what_kc_does_with_each_refusal_and_failure() {
    let mut table = Page::errors().tables(&["Refused by the rules", "Failed in a medium"]);
    for error in medium_errors() {
        let code = error.code();
        let row = table.remove(code).unwrap_or_else(|| panic!("{code} has no row in spec/errors.md"));
        // What is said instead may follow.
        let said = row["kc"].split(';').next().unwrap_or_default();
        assert_eq!(said, cell(&Error::from(error)), "the cell of kc for {code}");
    }
    assert!(table.is_empty(), "rows of what nothing gives: {:?}", table.keys());
}

#[test]
fn every_code_has_a_row_and_every_row_a_code() {
    let rows: BTreeSet<String> = Page::errors().table("Codes of kc").into_keys().collect();
    let codes: BTreeSet<String> = Code::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    assert_eq!(rows, codes);
}

#[test]
fn what_cannot_happen_asks_for_a_report() {
    let error = Error::from(holdfast_kernel::Refusal::ReasonRequired);
    let told = AppError::from(&error);
    assert_eq!((told.code, told.category, told.retryable), ("KC_LINEAGE_QUERY_FAILED", "storage", false));
    let said = "the vault refused with REASON_REQUIRED: this is a bug in kc_cli; please report it";
    assert_eq!(told.message, said);
}

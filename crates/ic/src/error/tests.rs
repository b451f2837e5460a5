//! Holds `spec/errors.md` against what ic does, cell by cell.

use std::collections::BTreeSet;

use holdfast_trial::{Page, medium_errors};

use super::{Code, Error, Exit};

const OWN: &str = "Codes of ic alone";

fn exit(code: Code) -> String {
    match code.exit() {
        Exit::Command(_) => "126, 127".into(),
        Exit::Signal(_) => "128 + signal".into(),
        other => other.code().to_string(),
    }
}

#[test]
fn the_page_says_what_ic_does_with_each_refusal_and_failure() {
    let mut table = Page::errors().tables(&["Refused by the rules", "Failed in a medium"]);
    for error in medium_errors() {
        let code = error.code();
        let row = table.remove(code).unwrap_or_else(|| panic!("{code} has no row in spec/errors.md"));
        let error = Error::from(error);
        let is = match error.code() {
            Code::Internal => "–".into(),
            ours => {
                assert_eq!(ours.as_str(), code, "ic has no other name for it");
                exit(ours)
            }
        };
        assert_eq!(row["ic"], is, "the cell of ic for {code}");
    }
    assert!(table.is_empty(), "rows of what nothing gives: {:?}", table.keys());
}

#[test]
fn every_code_of_its_own_has_a_row_and_every_row_a_code() {
    let mut rows = Page::errors().table(OWN);
    let shared: BTreeSet<&str> = medium_errors().iter().map(holdfast_store::Error::code).collect();
    for code in Code::ALL.iter().filter(|code| !shared.contains(code.as_str())) {
        let row =
            rows.remove(code.as_str()).unwrap_or_else(|| panic!("{code:?} has no row in spec/errors.md"));
        assert_eq!(row["exit"], exit(*code), "the exit code of {code:?}");
    }
    assert!(rows.is_empty(), "rows without a code: {:?}", rows.keys());
}

#[test]
fn how_a_command_ends_that_could_not_be_started() {
    let ended =
        |kind: std::io::ErrorKind| Error::Command { program: "make".into(), why: kind.into() }.exit().code();
    assert_eq!(ended(std::io::ErrorKind::NotFound), 127);
    assert_eq!(ended(std::io::ErrorKind::PermissionDenied), 126);
    assert_eq!(Error::Interrupted(15).exit().code(), 143);
}

#[test]
fn what_cannot_happen_asks_for_a_report() {
    let error = Error::from(holdfast_store::Error::Refused(holdfast_kernel::Refusal::ReasonRequired));
    assert_eq!((error.code().as_str(), error.exit()), ("INTERNAL", Exit::Unexpected));
    let said = "the locks refused with REASON_REQUIRED: this is a bug in ic; please report it";
    assert_eq!(error.to_string(), said);
}

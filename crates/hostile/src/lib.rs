//! Everything that reads bytes or decides, fed with any bytes, and what must hold afterwards. The fuzz targets in `fuzz`
//! hunt with it for as long as one likes; the tests beside this change the same seeds in every run of the test command.
//!
//! Nothing here catches a panic: a failed assertion is the finding.
#![expect(clippy::expect_used, clippy::panic, reason = "a check that cannot go on has found something")]

mod chain;
mod decide;
mod index;
mod issue;
pub mod list;
mod log;
pub mod machine;
mod overlap;
mod owner;
mod pair;
mod paths;
mod record;
mod referee;
mod script;

/// What is fed with any bytes.
pub type Check = fn(&[u8]);

/// Every check with its name, which its seeds and its fuzz target have too.
pub const CHECKS: [(&str, Check); 8] = [
    ("decide", decide::check),
    ("index_reader", index::check),
    ("issue_reader", issue::check),
    ("list_reader", list::check),
    ("log_reader", log::check),
    ("overlap", overlap::check),
    ("owner_reader", owner::check),
    ("record_reader", record::check),
];

/// The check of this name.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn check(name: &str) -> Check {
    let known = CHECKS.iter().find(|(known, _)| *known == name);
    known.map(|(_, check)| *check).unwrap_or_else(|| panic!("there is no check {name}"))
}

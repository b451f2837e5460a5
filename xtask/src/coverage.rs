//! `cargo xtask coverage`: runs all tests with programs that count what runs in them, and looks which of the places that make an
//! error with a code (`spec/errors.md`) were reached. What no test reaches is explained in `spec/coverage.md`, or a test is
//! missing.

mod counts;
mod measure;
mod names;
mod places;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::explained;
use crate::report::Outcome;
use crate::tidy::Tree;
use counts::Counts;
use places::Place;

const PAGE: &str = "spec/coverage.md";

/// What says that something has happened that cannot happen. Nobody asks for a test of that.
const BUGS: [&str; 5] = ["Internal", "ServerInternal", "impossible", "internal", "unexpected"];

/// Counts, or reads what was counted last, and says what was reached.
#[must_use]
pub fn run(root: &Path, again: bool) -> bool {
    match covered(root, again) {
        Ok(text) => println!("ok      {text}"),
        Err(why) => {
            eprintln!("{why}");
            return false;
        }
    }
    true
}

fn covered(root: &Path, again: bool) -> Result<String, String> {
    let page = root.join(PAGE);
    let page = std::fs::read_to_string(&page).map_err(|why| format!("{}: {why}", page.display()))?;
    let tree = Tree::load(root)?;
    let places = places::all(&tree)?;
    let (counts, tests) = if again { (measure::last(root)?, None) } else { measure::measure(root)? };
    let places = places.into_iter().map(|place| Judged::new(place, &counts)).collect::<Vec<_>>();
    println!("\n{}", table(&places, &counts));
    let said = judged(&places, &page)?;
    match tests {
        Some(Outcome::Ran { failed: failed @ 1.., .. }) => {
            Err(format!("{said}; {failed} tests failed, and what they would have made may be missing"))
        }
        _ => Ok(said),
    }
}

/// A place, and how often it was reached; none if nobody can tell.
struct Judged {
    place: Place,
    times: Option<u64>,
}

impl Judged {
    fn new(place: Place, counts: &Counts) -> Self {
        let times = place.code.as_ref().and_then(|code| counts.within(&place.file, code));
        Self { place, times }
    }

    /// `crates/ic`.
    fn folder(&self) -> &str {
        self.place.file.split_once("/src/").map_or(&self.place.file, |(folder, _)| folder)
    }

    /// Whether it reports a bug of ours.
    fn is_bug(&self) -> bool {
        self.place.what.rsplit("::").next().is_some_and(|name| BUGS.contains(&name))
    }

    fn name(&self) -> String {
        format!("{}: {}", self.place.file, self.place.what)
    }
}

/// How many places were reached of those that can be told, in each crate; then those that were not or cannot be.
fn table(places: &[Judged], counts: &Counts) -> String {
    let mut crates: BTreeMap<&str, Reached> = BTreeMap::new();
    let mut bugs = Reached::default();
    for place in places {
        let reached = if place.is_bug() { &mut bugs } else { crates.entry(place.folder()).or_default() };
        reached.add(place);
    }
    let mut text = String::new();
    for place in places.iter().filter(|place| place.times == Some(0) && !place.is_bug()) {
        let _ = writeln!(text, "not reached: {}", place.name());
    }
    for place in places.iter().filter(|place| place.times.is_none()) {
        let _ = writeln!(text, "cannot be told: {}", place.name());
    }
    text.push_str("\n| crate | places reached | of | lines run | of |\n|---|---|---|---|---|\n");
    for (folder, Reached { reached, all }) in crates {
        let lines = counts.lines(&format!("{folder}/src/"));
        let _ = writeln!(text, "| `{folder}` | {reached} | {all} | {} | {} |", lines.run, lines.all);
    }
    let _ = writeln!(text, "\n{} of {} places that report a bug were reached", bugs.reached, bugs.all);
    text
}

/// How many were reached of those that can be told.
#[derive(Clone, Copy, Default)]
struct Reached {
    reached: usize,
    all: usize,
}

impl Reached {
    fn add(&mut self, place: &Judged) {
        self.reached += usize::from(place.times > Some(0));
        self.all += usize::from(place.times.is_some());
    }
}

/// Each error was made at one place at least, or the page has a row for it; and it has none besides.
fn judged(places: &[Judged], page: &str) -> Result<String, String> {
    let mut errors: BTreeMap<&str, Reached> = BTreeMap::new();
    for place in places.iter().filter(|place| place.times.is_some() && !place.is_bug()) {
        errors.entry(&place.place.what).or_default().add(place);
    }
    let sum = |of: fn(&Reached) -> usize| errors.values().map(of).sum::<usize>();
    let (reached, all) = (sum(|error| error.reached), sum(|error| error.all));
    if reached == 0 {
        return Err("nothing was counted".into());
    }
    let never = errors.iter().filter(|(_, error)| error.reached == 0);
    let never: Vec<String> = never.map(|(what, _)| (*what).to_owned()).collect();
    let made = errors.len() - never.len();
    let said = format!("{made} of {} errors were made, at {reached} of {all} places", errors.len());
    let stray = Some("explained, but made or not there");
    explained::judge(said, never, explained::rows(page), PAGE, stray)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places of these errors, each with how often it was reached.
    fn places(all: &[(&str, Option<u64>)]) -> Vec<Judged> {
        let place = |what: &str| Place { file: "crates/a/src/b.rs".into(), what: what.into(), code: None };
        all.iter().map(|(what, times)| Judged { place: place(what), times: *times }).collect()
    }

    const ROW: &str = "| `a::Error::C` | it cannot happen |\n";

    #[test]
    fn what_no_test_makes_is_explained_or_named() {
        let places = places(&[("a::Error::B", Some(7)), ("a::Error::C", Some(0)), ("a::Error::D", None)]);
        assert_eq!(judged(&places, ROW), Ok("1 of 2 errors were made, at 1 of 2 places".into()));
        let why = judged(&places, "").unwrap_err();
        assert!(why.contains("1 of 2 errors") && why.contains("not explained: a::Error::C"), "{why}");
    }

    #[test]
    fn one_place_of_an_error_is_enough() {
        let places = places(&[("a::Error::B", Some(7)), ("a::Error::B", Some(0))]);
        assert_eq!(judged(&places, ""), Ok("1 of 1 errors were made, at 1 of 2 places".into()));
    }

    #[test]
    fn an_explanation_of_what_is_made_is_named() {
        let why = judged(&places(&[("a::Error::C", Some(1))]), ROW).unwrap_err();
        assert!(why.contains("made or not there: a::Error::C"), "{why}");
    }

    #[test]
    fn nothing_counted_is_not_all_explained() {
        assert!(judged(&places(&[("a::Error::C", Some(0))]), ROW).is_err() && judged(&[], "").is_err());
    }

    #[test]
    fn nobody_is_asked_for_a_test_of_what_cannot_happen() {
        let places = places(&[
            ("a::Error::C", Some(1)),
            ("a::Error::Internal", Some(0)),
            ("a::Error::internal", Some(2)),
        ]);
        assert_eq!(judged(&places, ""), Ok("1 of 1 errors were made, at 1 of 1 places".into()));
        let said = table(&places, &Counts::default());
        assert!(said.ends_with("\n1 of 2 places that report a bug were reached\n"), "{said}");
    }

    #[test]
    fn each_crate_has_a_row_and_places_that_were_not_reached_are_named() {
        let said =
            table(&places(&[("a::X", Some(7)), ("a::Y", Some(0)), ("a::Z", None)]), &Counts::default());
        let named = "not reached: crates/a/src/b.rs: a::Y\ncannot be told: crates/a/src/b.rs: a::Z\n";
        assert!(said.starts_with(named) && said.contains("\n| `crates/a` | 1 | 2 | 0 | 0 |\n"), "{said}");
    }
}

//! What is a place that makes an error, and what is none.

use super::{Place, Span, all, patterns};
use crate::tidy::Tree;

/// What is found in a file of `crates/ic`, each with the line and column that tell whether it was made.
fn found(text: &str) -> Vec<(String, Option<Span>)> {
    found_in(&[("crates/ic/src/a.rs", text)])
}

fn found_in(files: &[(&str, &str)]) -> Vec<(String, Option<Span>)> {
    all(&Tree::of(files)).unwrap().into_iter().map(|Place { what, code, .. }| (what, code)).collect()
}

fn names(text: &str) -> Vec<String> {
    found(text).into_iter().map(|(what, _)| what).collect()
}

const USE: &str = "use crate::error::Error;\n";

#[test]
fn an_error_that_is_made_is_a_place() {
    let text = "use crate::error::Error;
fn f() -> Result<(), Error> {
    if g() { return Err(Error::Usage(String::new())); }
    Err(Error::NotHeld { lock })
}";
    let place = |what: &str, at| (what.to_owned(), Some(at));
    assert_eq!(
        found(text),
        [place("ic::Error::Usage", (3, 25)..(3, 52)), place("ic::Error::NotHeld", (4, 9)..(4, 32))]
    );
}

#[test]
fn whoever_looks_at_an_error_makes_none() {
    let looks = [
        "match e { Error::A => 1, Error::B { x, .. } | Error::C(_) if x > 1 => { 2 } Error::D => 3 }",
        "if let Error::A(x) = e && let Some(Error::B) = g() {}",
        "let Error::A(x) = e else { return };",
        "matches!(e, Error::A { .. } | Error::B)",
        "e == Error::A || e != Error::B",
        "use crate::error::Error::A;",
        "#[doc = Error::A] let x = 1;",
        "fn g() -> Error { Error::from(e) }",
    ];
    for text in looks {
        assert_eq!(names(&format!("{USE}fn f() {{ {text} }}")), [""; 0], "{text}");
    }
}

#[test]
fn an_arm_that_makes_one_is_a_place_and_so_is_what_is_matched() {
    let text = format!(
        "{USE}fn f() {{ match g(Error::A) {{ Error::B => Error::C, _ => {{ h(Error::D) }} Error::E => 1 }} }}"
    );
    assert_eq!(names(&text), ["ic::Error::A", "ic::Error::C", "ic::Error::D"]);
    let text = format!(
        "{USE}fn f() {{ let Some(x) = g(Error::A) else {{ return Error::B }}; matches!(Error::C, x) }}"
    );
    assert_eq!(names(&text), ["ic::Error::A", "ic::Error::B", "ic::Error::C"]);
}

#[test]
fn what_is_made_before_anybody_knows_is_told_by_the_question_mark() {
    let text = format!(
        "{USE}fn f() {{\n x.ok_or(Error::A)?;\n x.map_err(Error::B)\n}}\nfn g() {{ x.ok_or_else(|| Error::C) }}"
    );
    let place = |what: &str, at| (what.to_owned(), at);
    let expected = [
        place("ic::Error::A", Some((3, 19)..(3, 20))),
        place("ic::Error::B", None),
        place("ic::Error::C", Some((6, 26)..(6, 34))),
    ];
    assert_eq!(found(&text), expected);
}

#[test]
fn a_function_that_gives_an_error_is_one_wherever_it_is_called() {
    let error = "pub enum Error { A }
impl Error {
    pub fn corrupt(path: &Path) -> Self { Self::A }
    pub fn new(class: Class) -> Self { make() }
    pub fn from(x: X) -> Self { make() }
    pub fn hint(mut self) -> Self { self }
    pub fn code(&self) -> Code { match self { Self::A => Code::A } }
}
impl From<X> for Error { fn from(x: X) -> Self { Self::A } }";
    let user = format!(
        "{USE}fn f() {{ Error::corrupt(p); Error::new(c); Error::from(x); Error::hint(e); Other::corrupt(p) }}"
    );
    let files = [("crates/ic/src/b.rs", user.as_str()), ("crates/ic/src/error.rs", error)];
    let found: Vec<String> = found_in(&files).into_iter().map(|(what, _)| what).collect();
    assert_eq!(found, ["ic::Error::corrupt", "ic::Error::A", "ic::Error::A"]);
}

#[test]
fn only_errors_with_a_code_count_and_tests_and_what_is_not_shipped_do_not() {
    let makes = "use holdfast_kernel::Refusal;\nfn f() { Refusal::Held { blocker } }\n";
    let others =
        "use std::io::Error;\nfn f() { Error::Other; crate::Thing::New; holdfast_ic::error::Error::ALL }\n";
    let tests = format!("#[cfg(test)]\nmod tests {{ {makes} }}\n#[cfg(test)]\nmod aside;\n");
    let files = [
        ("crates/remote/src/a.rs", makes),
        ("crates/remote/src/b.rs", others),
        ("crates/remote/src/c.rs", tests.as_str()),
        ("crates/remote/src/c/aside.rs", makes),
        ("crates/remote/src/c/tests.rs", makes),
        ("crates/remote/tests/it.rs", makes),
        ("crates/sim/src/a.rs", makes),
        ("xtask/src/a.rs", makes),
    ];
    let found = all(&Tree::of(&files)).unwrap();
    assert_eq!(found.iter().map(|place| place.file.as_str()).collect::<Vec<_>>(), ["crates/remote/src/a.rs"]);
}

#[test]
fn a_hook_makes_an_error_where_it_says_the_code() {
    let text = "use crate::code::Code;\nfn f() { Problem::of(Code::Reserved, message) }\n";
    let files = [("crates/tracker/src/hooks/a.rs", text), ("crates/tracker/src/error/a.rs", text)];
    assert_eq!(found_in(&files), [("tracker::Code::Reserved".to_owned(), Some((2, 22)..(2, 36)))]);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let why = all(&Tree::of(&[("crates/ic/src/a.rs", "fn f( {")])).unwrap_err();
    assert!(why.contains("crates/ic/src/a.rs"), "{why}");
}

#[test]
fn what_stands_before_an_arrow_looks() {
    let tokens: Vec<_> =
        "a => b, c => { d } e".parse::<proc_macro2::TokenStream>().unwrap().into_iter().collect();
    let looks: Vec<String> = tokens
        .iter()
        .zip(patterns(&tokens))
        .filter(|(_, looks)| *looks)
        .map(|(token, _)| token.to_string())
        .collect();
    assert_eq!(looks, ["a", "c"]);
}

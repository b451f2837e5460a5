//! Keeps `spec/errors.md` complete: every code of the kernel and of the media is a row of its tables.

use std::collections::BTreeSet;

use crate::support::files::{read, snake, variants};

/// The codes in the first column of the page's tables.
fn rows() -> Vec<String> {
    codes_in(&read("spec/errors.md"))
}

fn codes_in(page: &str) -> Vec<String> {
    let cell = |line: &str| line.strip_prefix("| `")?.split_once('`').map(|(code, _)| code.to_owned());
    page.lines().filter_map(cell).collect()
}

/// The codes that `Refusal::code` can give, read from its source.
fn codes() -> BTreeSet<String> {
    let source = read("crates/kernel/src/refusal.rs");
    let (_, body) = source.split_once("pub const fn code").expect("the function");
    let (body, _) = body.split_once("\n    }\n").expect("its end");
    let code = |line: &str| line.split_once("=> \"")?.1.split_once('"').map(|(code, _)| code.to_owned());
    body.lines().filter_map(code).collect()
}

#[test]
fn every_refusal_has_the_code_of_its_name_and_a_row() {
    let names: BTreeSet<String> = variants("crates/kernel/src/refusal.rs", "Refusal")
        .iter()
        .map(|name| snake(name).to_uppercase())
        .collect();
    assert!(names.len() > 15, "the source was not understood");
    assert_eq!(codes(), names);
    let page = read("spec/errors.md");
    let (rules, _) = page.split_once("\n## Failed in a medium").expect("the second table");
    let mut rows = codes_in(rules);
    rows.sort();
    assert_eq!(rows, names.into_iter().collect::<Vec<_>>(), "one row for each, and no other");
}

/// The codes of the media, by the names of their errors; a refusal keeps its own.
fn media() -> Vec<String> {
    let names = variants("crates/store/src/error.rs", "Error");
    assert!(names.len() > 2, "the source was not understood");
    let code = |name: &String| match name.as_str() {
        "Newer" => "NEWER_FORMAT".to_owned(),
        _ => snake(name).to_uppercase(),
    };
    names.iter().filter(|name| *name != "Refused").map(code).collect()
}

#[test]
fn every_error_of_a_medium_has_a_row() {
    let rows = rows();
    for code in media() {
        assert_eq!(
            rows.iter().filter(|row| **row == code).count(),
            1,
            "{code} has one row in spec/errors.md"
        );
    }
}

#[test]
fn every_row_has_all_its_columns() {
    let page = read("spec/errors.md");
    let mut columns = 0;
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let cells = line.matches('|').count();
        columns = if line.starts_with("| code") { cells } else { columns };
        assert_eq!(cells, columns, "{line}");
        assert!(!line.contains("|  |"), "an empty cell in {line}");
    }
    assert!(columns > 3, "the page was not understood");
}

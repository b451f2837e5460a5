//! Keeps `spec/errors.md` complete: every code of the kernel and of the media is a row of its tables.

use std::collections::{BTreeMap, BTreeSet};

use holdfast_kernel::RefusalKind;

use crate::support::files::{read, snake, variants};

/// The codes in the first column of the page's tables.
fn rows() -> Vec<String> {
    codes_in(&read("spec/errors.md"))
}

fn codes_in(page: &str) -> Vec<String> {
    let cell = |line: &str| line.strip_prefix("| `")?.split_once('`').map(|(code, _)| code.to_owned());
    page.lines().filter_map(cell).collect()
}

#[test]
fn every_refusal_has_the_code_of_its_name_and_a_row() {
    let names: BTreeSet<String> = variants("crates/kernel/src/refusal.rs", "Refusal")
        .iter()
        .map(|name| snake(name).to_uppercase())
        .collect();
    assert!(names.len() > 15, "the source was not understood");
    let codes: BTreeSet<String> = RefusalKind::ALL.iter().map(|kind| kind.code().to_owned()).collect();
    assert_eq!(codes, names);
    let page = read("spec/errors.md");
    let (rules, _) = page.split_once("\n## Failed in a medium").expect("the second table");
    let mut rows = codes_in(rules);
    rows.sort();
    assert_eq!(rows, names.into_iter().collect::<Vec<_>>(), "one row for each, and no other");
}

/// The codes of the media, by the names of their errors; a refusal keeps its own, and what a shared register has to say
/// has a name for each.
fn media() -> Vec<String> {
    let names = variants("crates/store/src/error.rs", "Error");
    let troubles = variants("crates/store/src/error.rs", "Trouble");
    assert!(names.len() > 2 && troubles.len() > 2, "the source was not understood");
    let code = |name: &String| match name.as_str() {
        "Newer" => "NEWER_FORMAT".to_owned(),
        "Missing" => "NO_REGISTER".to_owned(),
        "Copied" => "COPIED_CLONE".to_owned(),
        "Full" => "LIMIT_REACHED".to_owned(),
        _ => snake(name).to_uppercase(),
    };
    let own = names.iter().filter(|name| *name != "Refused" && *name != "Shared");
    own.chain(&troubles).map(code).collect()
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
    let (mut tables, mut columns) = (0, None);
    for line in page.lines() {
        if !line.starts_with('|') {
            columns = None;
            continue;
        }
        let cells = line.matches('|').count();
        tables += usize::from(columns.is_none());
        assert_eq!(cells, *columns.get_or_insert(cells), "{line}");
        assert!(!line.contains("|  |"), "an empty cell in {line}");
    }
    assert!(tables > 5, "the page was not understood");
}

/// What the browser package says of each refusal that it knows, read from its source.
fn browser() -> BTreeMap<String, String> {
    let source = read("packages/project-lock/src/errors.ts");
    let quoted = |text: &str| text.split('\'').nth(1).map(str::to_owned);
    let constant = |name: &str| {
        let start = format!("const {name} = [");
        source.split_once(&start).and_then(|(_, rest)| quoted(rest)).expect("a constant")
    };
    let (_, table) = source.split_once("const TOLD").expect("the table");
    let (_, table) = table.split_once("= {\n").expect("its first line");
    let (table, _) = table.split_once("\n};").expect("its end");
    let entry = |line: &str| {
        let line = line.trim().trim_end_matches(',');
        let (code, said) = line.split_once(": ").unwrap_or((line, line));
        (code.to_owned(), quoted(said).unwrap_or_else(|| constant(said)))
    };
    table.lines().map(entry).collect()
}

#[test]
fn the_page_says_what_the_browser_says() {
    let said = browser();
    assert!(said.len() > 5, "the source was not understood");
    let source = read("packages/project-lock/src/errors.ts");
    let (_, rest) = source.split_once("TOLD[code] ?? (['").expect("what it says of the others");
    let others = rest.split('\'').next().map(|code| format!("`{code}`")).expect("a code");
    let page = read("spec/errors.md");
    for kind in RefusalKind::ALL {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", kind.code())));
        let cell = row.and_then(|row| row.split(" | ").nth(7)).expect("its row");
        match said.get(kind.code()) {
            Some(code) => assert!(cell.starts_with(&format!("`{code}`")), "{kind:?}: {cell}, not {code}"),
            None => {
                assert!(cell.starts_with('–') || cell.starts_with(&others), "{kind:?}: {cell}, not {others}")
            }
        }
    }
}

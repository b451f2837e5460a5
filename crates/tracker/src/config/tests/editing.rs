//! Changing a text leaves every other byte of it alone.

use proptest::prelude::*;

use super::super::edit::{remove, set};

fn path(key: &str) -> Vec<&str> {
    key.split('.').collect()
}

/// Sets a key and shows what was cut and what was put in its place.
#[track_caller]
fn sets(text: &str, key: &str, value: &str, expected: &str) {
    assert_eq!(set(text, &path(key), value).unwrap(), expected);
}

#[track_caller]
fn removes(text: &str, key: &str, expected: &str) {
    assert_eq!(remove(text, &path(key)).unwrap().as_deref(), Some(expected));
}

#[test]
fn a_value_is_replaced_where_it_stands() {
    sets("[ a ]\n  b   =  1  # why\n\n# end", "a.b", "2", "[ a ]\n  b   =  2  # why\n\n# end");
    sets("a.b = 1", "a.b", "2", "a.b = 2");
    sets("a = { b = 1, c = 2 }\n", "a.b", "3", "a = { b = 3, c = 2 }\n");
    sets("[a]\nb = [\n  1, # one\n  2,\n]\nc = 3\n", "a.b", "[]", "[a]\nb = []\nc = 3\n");
    sets("[a]\r\nb = 1\r\n", "a.b", "2", "[a]\r\nb = 2\r\n");
    sets("\u{feff}a.b = 1\n", "a.b", "2", "\u{feff}a.b = 2\n");
    sets("[a]\n\"b\" = \"\"\"x\ny\"\"\" # t\n", "a.b", "1", "[a]\n\"b\" = 1 # t\n");
}

#[test]
fn a_setting_joins_its_table() {
    sets("[a]\n  b = 1 # one\n# about x\n[x]\n", "a.c", "2", "[a]\n  b = 1 # one\n  c = 2\n# about x\n[x]\n");
    sets("[a] # empty\n# none yet\n[x]\n", "a.c", "2", "[a] # empty\nc = 2\n# none yet\n[x]\n");
    sets("[a]", "a.c", "2", "[a]\nc = 2\n");
    sets("[a]\nb = 1", "a.c", "2", "[a]\nb = 1\nc = 2\n");
    sets("[a]\r\nb = 1\r\n[x]\r\n", "a.c", "2", "[a]\r\nb = 1\r\nc = 2\r\n[x]\r\n");
    sets("[a]\nb = 1\n[a.d]\ne = 1\n", "a.c", "2", "[a]\nb = 1\nc = 2\n[a.d]\ne = 1\n");
    sets("[a]\nb = [\n 1,\n]\n", "a.c", "2", "[a]\nb = [\n 1,\n]\nc = 2\n");
}

#[test]
fn a_setting_joins_dotted_keys_and_inline_tables() {
    sets("a.b = 1\nx = 1\na.d = 3\n[t]\n", "a.c", "2", "a.b = 1\nx = 1\na.d = 3\na.c = 2\n[t]\n");
    sets("[a]\nk.ci.max = 5\n", "a.k.ci.min", "2", "[a]\nk.ci.max = 5\nk.ci.min = 2\n");
    sets("[a]\nk.ci.max = 5\n", "a.k.zz.min", "2", "[a]\nk.ci.max = 5\nk.zz.min = 2\n");
    sets("a.k.ci.max = 5\n", "a.b", "2", "a.k.ci.max = 5\na.b = 2\n");
    sets("a = { b = 1 } # t\n", "a.c", "2", "a = { b = 1, c = 2 } # t\n");
    sets("a = {}\n", "a.c", "2", "a = { c = 2 }\n");
    sets("a = { k.ci.max = 5 }\n", "a.k.ci.min", "2", "a = { k.ci.max = 5, k.ci.min = 2 }\n");
    sets("a = { b = 1 }\n", "a.k.ci.min", "2", "a = { b = 1, k.ci.min = 2 }\n");
}

#[test]
fn a_table_that_is_missing_comes_last() {
    sets("", "a.b", "1", "[a]\nb = 1\n");
    sets("# only a comment", "a.b", "1", "# only a comment\n\n[a]\nb = 1\n");
    sets("[x]\ny = 1\n# end\n", "a.b", "1", "[x]\ny = 1\n# end\n\n[a]\nb = 1\n");
    sets("[a.k.ci]\nmax = 5\n", "a.b", "1", "[a.k.ci]\nmax = 5\n\n[a]\nb = 1\n");
    sets("[a]\nb = 1\n", "a.k.ci.max", "5", "[a]\nb = 1\n\n[a.k.ci]\nmax = 5\n");
    sets("\u{feff}", "a.b", "1", "\u{feff}[a]\nb = 1\n");
    sets("x = 1\r\n", "a.b", "1", "x = 1\r\n\r\n[a]\r\nb = 1\r\n");
}

#[test]
fn removing_takes_the_line_and_leaves_the_comment_above() {
    removes("[a]\n# about b\nb = 1 # one\n\nc = 2\n", "a.b", "[a]\n# about b\n\nc = 2\n");
    removes("[a]\nb = [\n  1, # x\n]\nc = 2\n", "a.b", "[a]\nc = 2\n");
    removes("a.b = 1\na.c = 2", "a.c", "a.b = 1\n");
    removes("\u{feff}a.b = 1\r\nc = 1\r\n", "a.b", "\u{feff}c = 1\r\n");
    removes("a = { b = 1, c = 2 }\n", "a.b", "a = { c = 2 }\n");
    removes("a = { b = 1, c = 2 }\n", "a.c", "a = { b = 1 }\n");
    removes("a = { b = 1 }\n", "a.b", "a = {  }\n");
    assert_eq!(remove("[a]\n", &path("a.b")), Ok(None));
    assert_eq!(remove("", &path("a.b")), Ok(None));
}

#[test]
fn what_is_no_table_or_no_value_is_left_to_a_person() {
    assert!(set("x = 1\na = 3\n", &path("a.b"), "1").is_err_and(|awkward| awkward.0 == 6));
    assert!(set("[[a]]\nb = 1\n", &path("a.b"), "1").is_err());
    assert!(set("[a.b]\nc = 1\n", &path("a.b"), "1").is_err());
    assert!(remove("[a.b]\nc = 1\n", &path("a.b")).is_err());
    assert!(set("a = \n", &path("a.b"), "1").is_err());
}

/// A file in one of the many ways in which the same settings can be written.
fn file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("[a]"),
        Just("[ b ] # header"),
        Just("[a.k.x]"),
        Just("  c = 1  # c"),
        Just("d = [\n  1, # one\n]"),
        Just("a.c = 1"),
        Just("k.x.m = 1"),
        Just("b = { c = 1, d = 2 }"),
        Just("b = {}"),
        Just("# comment"),
        Just(""),
        Just("e = \"\"\"\n[a]\n\"\"\""),
    ];
    let eol = prop_oneof![Just("\n"), Just("\r\n")];
    let text = (proptest::collection::vec(line, 0..8), eol, any::<bool>()).prop_map(|(lines, eol, last)| {
        let text = lines.join("\n").replace('\n', eol);
        if last { text + eol } else { text }
    });
    text.prop_filter("it is TOML", |text| meaning(text).is_some())
}

fn key() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("a.c"),
        Just("a.n"),
        Just("b.d"),
        Just("b.n"),
        Just("a.k.x.m"),
        Just("a.k.y.n"),
        Just("q.n")
    ]
}

/// What a text says, without where.
fn meaning(text: &str) -> Option<toml_edit::DocumentMut> {
    text.parse().ok()
}

fn at<'a>(document: &'a toml_edit::DocumentMut, key: &str) -> Option<&'a toml_edit::Item> {
    path(key).into_iter().try_fold(document.as_item(), |item, name| item.get(name))
}

/// Whether something else has the name of the key or of a table that it belongs to.
fn is_taken(document: &toml_edit::DocumentMut, key: &str) -> bool {
    let tables = key.match_indices('.').filter_map(|(end, _)| at(document, key.get(..end)?));
    tables.into_iter().any(|item| !item.is_table_like())
        || at(document, key).is_some_and(|item| !item.is_value())
}

/// Whether everything in `part` is in `whole`, in the same order.
fn survives(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|wanted| rest.any(|found| found == wanted))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn whatever_the_file_looks_like_one_setting_changes_and_no_other_byte(text in file(), key in key()) {
        let document = meaning(&text).unwrap();
        let was_there = at(&document, key).is_some();
        let Ok(changed) = set(&text, &path(key), "77") else {
            prop_assert!(is_taken(&document, key), "{text:?}");
            return Ok(());
        };
        let after = meaning(&changed);
        prop_assert!(after.is_some(), "{text:?}\n{changed:?}");
        let after = after.unwrap();
        prop_assert_eq!(at(&after, key).and_then(|item| item.as_integer()), Some(77), "{:?}\n{:?}", text, changed);
        if !was_there {
            prop_assert!(survives(&text, &changed), "{text:?}\n{changed:?}");
            // What was added can be taken away again; at most an empty table stays.
            let back = remove(&changed, &path(key)).unwrap().unwrap();
            prop_assert!(survives(&text, &back) && meaning(&back).is_some(), "{text:?}\n{back:?}");
        }
    }
}

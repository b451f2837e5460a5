//! What is put into a file of somebody else's is put in once, touches nothing else, and can be taken out again.

use clap::ValueEnum as _;
use proptest::prelude::*;
use serde_json::Value;

use super::Content;
use super::json::Edit;
use super::scan::scan;
use crate::cli::Client;

/// Every way of writing a value that clients accept.
fn value() -> impl Strategy<Value = String> {
    let plain = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("-1.5e3".to_owned()),
        Just(r#""a \" } ] // ä""#.to_owned()),
    ];
    plain.prop_recursive(4, 24, 4, |inner| {
        let part = (blank(), inner, blank());
        let part = part.prop_map(|(before, value, after)| format!("{before}{value}{after}")).boxed();
        prop_oneof![
            (prop::collection::vec(part.clone(), 0..3), blank(), any::<bool>())
                .prop_map(|(items, blank, comma)| wrapped('[', &items, &blank, comma, ']')),
            object(part),
        ]
    })
}

fn object(part: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let names = prop::sample::subsequence(
        vec!["a", "b", "mcp", "mcpServers", "hooks", "SessionStart", "sessionStart", "version"],
        0..4,
    );
    (names, prop::collection::vec((blank(), part), 4), blank(), any::<bool>()).prop_map(
        |(names, parts, blank, comma)| {
            let members: Vec<String> = names
                .iter()
                .zip(parts)
                .map(|(name, (before, value))| format!("{before}\"{name}\":{value}"))
                .collect();
            wrapped('{', &members, &blank, comma, '}')
        },
    )
}

fn wrapped(open: char, parts: &[String], blank: &str, comma: bool, close: char) -> String {
    let comma = if comma && !parts.is_empty() { "," } else { "" };
    format!("{open}{}{comma}{blank}{close}", parts.join(","))
}

fn blank() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "",
        " ",
        "\n  ",
        "\r\n\t",
        "/* { */",
        " // [\n",
        "\n\n    ",
        " /* x */\n  // y\r\n  ",
    ])
    .prop_map(ToOwned::to_owned)
}

fn file() -> impl Strategy<Value = String> {
    let text = (any::<bool>(), blank(), object(value().boxed()), blank());
    text.prop_map(|(mark, before, value, after)| {
        format!("{}{before}{value}{after}", if mark { "\u{feff}" } else { "" })
    })
}

fn contents() -> Vec<Content> {
    let pieces = Client::value_variants().iter().flat_map(|client| client.pieces());
    pieces.map(|piece| piece.content).collect()
}

fn entries() -> Vec<super::Entry> {
    let entry = |content| match content {
        Content::Json(entry) => Some(entry),
        _ => None,
    };
    contents().into_iter().filter_map(entry).collect()
}

/// The value without one of ours, as a program reads it.
fn without(text: &str, path: &[&str], name: Option<&str>, mark: &str) -> Value {
    fn strip(value: &mut Value, path: &[&str], name: Option<&str>, mark: &str) -> bool {
        match (path, value) {
            ([first, rest @ ..], Value::Object(members)) => {
                let empty = members.get_mut(*first).is_some_and(|inner| strip(inner, rest, name, mark));
                if empty {
                    members.remove(*first);
                }
                members.is_empty()
            }
            ([], Value::Object(members)) => {
                members.remove(name.unwrap_or_default());
                members.is_empty()
            }
            ([], Value::Array(items)) => {
                items.retain(|item| !item.to_string().contains(mark));
                items.is_empty()
            }
            _ => false,
        }
    }
    let mut value = scan(text).unwrap().value();
    strip(&mut value, path, name, mark);
    value
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_put_in_is_there_once_and_taken_out_leaves_the_file_as_it_was(text in file()) {
        prop_assume!(scan(&text).is_ok());
        for entry in entries() {
            let Edit::Text(changed) = entry.put(&text) else { continue };
            prop_assert_eq!(entry.put(&changed), Edit::Same, "{:?}", changed);
            let before = without(&text, entry.path, entry.name, entry.mark);
            let after = without(&changed, entry.path, entry.name, entry.mark);
            prop_assert_eq!(before, after, "{:?}", changed);
            prop_assert_eq!(entry.take_out(&changed), Edit::Text(text.clone()), "{:?}", changed);
            prop_assert_eq!(entry.take_out(&text), Edit::Same);
        }
    }

    #[test]
    fn whatever_a_text_is_the_block_is_there_once_and_can_be_taken_out(
        text in prop_oneof!["[a\r\n# ]{0,12}", "(x?\r\n){0,4}", "\u{feff}?(## ä\n|\n|x){0,5}"]
    ) {
        for content in contents() {
            let Content::Markdown(block, _) = content else { continue };
            let Edit::Text(changed) = block.put(&text) else { panic!("{text:?}") };
            prop_assert!(changed.starts_with(&text) && changed.contains(block.begin), "{changed:?}");
            prop_assert_eq!(block.put(&changed), Edit::Same, "{:?}", changed);
            prop_assert_eq!(block.take_out(&changed), Edit::Text(text.clone()), "{:?}", changed);
            prop_assert_eq!(block.take_out(&text), Edit::Same);
        }
    }
}

#[test]
fn a_file_that_was_made_goes_again() {
    for content in contents() {
        let alone = content.alone();
        let (again, out) = match &content {
            Content::Json(entry) => (entry.put(&alone), entry.take_out(&alone)),
            Content::Markdown(block, _) | Content::Toml(block, _) => {
                (block.put(&alone), block.take_out(&alone))
            }
        };
        assert_eq!((again, out), (Edit::Same, Edit::Gone), "{alone}");
    }
}

#[test]
fn what_was_there_and_empty_stays() {
    let server = entries().into_iter().find(|entry| entry.path == ["mcpServers"]).unwrap();
    for text in ["{}", "{}\n", "{ }", "{\"mcpServers\":{}}", "{\n  \"mcpServers\": {\n  }\n}\n", "{/* x */}"]
    {
        let Edit::Text(changed) = server.put(text) else { panic!("{text}") };
        assert_eq!(server.take_out(&changed), Edit::Text(text.into()), "{changed}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_refused_with_its_line() {
    let server = &entries()[0];
    for (text, why) in [
        ("", "line 1: it ends too early"),
        ("{\n\"a\": }", "line 2: a value is not valid"),
        ("{\"a\": 1 \"b\": 2}", "line 1: a comma is missing"),
        ("{\"a\": 1}}", "line 1: something follows its end"),
        ("{/* ", "line 1: a comment does not end"),
        ("{\"a", "line 1: a text in quotes does not end"),
        ("{\"a\":1,\"a\":2}", "line 1: a name stands there twice"),
    ] {
        let Edit::Refused(said) = server.put(text) else { panic!("{text}") };
        assert_eq!(said, format!("it is not JSON that jit can read ({why})"), "{text}");
    }
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    assert!(matches!(server.put(&deep), Edit::Refused(_)));
    for (text, why) in [
        ("[]", "it has something else where an object belongs"),
        ("{\"mcpServers\": 1}", "its 'mcpServers' is something else than it should be"),
        ("{\"mcpServers\": {\"jit\": {\"command\": \"other\"}}}", "it has another 'jit' already"),
    ] {
        assert_eq!(server.put(text), Edit::Refused(why.into()));
    }
}

#[test]
fn what_others_added_to_ours_is_not_lost() {
    let hook = entries().into_iter().find(|entry| entry.path == ["hooks", "SessionStart"]).unwrap();
    let text =
        "{\"hooks\":{\"SessionStart\":[{\"hooks\":[{\"command\":\"jit prime\"},{\"command\":\"theirs\"}]}]}}";
    assert_eq!(hook.put(text), Edit::Same);
    assert!(matches!(hook.take_out(text), Edit::Refused(_)));
    let server = entries().into_iter().find(|entry| entry.path == ["mcpServers"]).unwrap();
    // With variables of their own it is still the same server.
    let own = "{\"mcpServers\":{\"jit\":{\"command\":\"jit\",\"args\":[\"mcp\"],\"env\":{\"A\":\"b\"}}}}";
    assert_eq!(server.put(own), Edit::Same);
    // Behind others, where somebody moved it.
    let moved = "{\"mcpServers\":{\"a\":1, \"jit\":{\"command\":\"jit\",\"args\":[\"mcp\"]}}}";
    assert_eq!(server.take_out(moved), Edit::Text("{\"mcpServers\":{\"a\":1}}".into()));
}

//! JSON that is too large to be held twice: objects that are text already, put together in pieces.

use holdfast_terminal::json_line;
use serde::Serialize;

/// An object with one more member. `object` is the JSON of an object that has some.
#[must_use]
pub fn with_member(object: &str, name: &str, value: &impl Serialize) -> String {
    let open = object.strip_suffix('}').unwrap_or(object);
    let value = json_line(value);
    format!("{open},\"{name}\":{value}}}")
}

/// The pieces of `{"<name>":[<objects>],"count":<their number>}`.
#[must_use]
pub fn listed(name: &str, objects: Vec<String>) -> Vec<String> {
    let count = objects.len();
    let mut pieces = Vec::with_capacity(2 * count + 2);
    pieces.push(format!("{{\"{name}\":["));
    for (index, object) in objects.into_iter().enumerate() {
        if index > 0 {
            pieces.push(",".to_owned());
        }
        pieces.push(object);
    }
    pieces.push(format!("],\"count\":{count}}}"));
    pieces
}

#[cfg(test)]
mod tests {
    use super::{listed, with_member};

    #[test]
    fn pieces_make_one_document() {
        for (objects, text) in [
            (vec![], r#"{"issues":[],"count":0}"#),
            (vec!["1".to_owned(), "2".into()], r#"{"issues":[1,2],"count":2}"#),
        ] {
            assert_eq!(listed("issues", objects).concat(), text);
        }
        assert_eq!(with_member(r#"{"a":1}"#, "b", &[2]), r#"{"a":1,"b":[2]}"#);
    }
}

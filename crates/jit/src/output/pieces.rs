//! JSON that is too large to be held twice: objects that are text already, put together in pieces.

use holdfast_door::Clean;
use serde::Serialize;

/// An object with one more member. `object` is the JSON of an object that has some.
#[must_use]
pub fn with_member(object: &Clean, name: &str, value: &impl Serialize) -> Clean {
    let open = object.as_str().strip_suffix('}').unwrap_or(object.as_str());
    Clean::from(open) + format!(",\"{name}\":") + Clean::json(value) + "}"
}

/// The pieces of `{"<name>":[<objects>],"count":<their number>}`, and `"more"` if some were left out.
#[must_use]
pub fn listed(name: &str, objects: Vec<Clean>, more: usize) -> Vec<Clean> {
    let count = objects.len();
    let mut pieces = Vec::with_capacity(2 * count + 2);
    pieces.push(format!("{{\"{name}\":[").into());
    for (index, object) in objects.into_iter().enumerate() {
        if index > 0 {
            pieces.push(",".into());
        }
        pieces.push(object);
    }
    let more = if more > 0 { format!(",\"more\":{more}") } else { String::new() };
    pieces.push(format!("],\"count\":{count}{more}}}").into());
    pieces
}

#[cfg(test)]
mod tests {
    use super::{Clean, listed, with_member};

    #[test]
    fn pieces_make_one_document() {
        for (objects, text) in [
            (vec![], r#"{"issues":[],"count":0}"#),
            (vec!["1".into(), "2".into()], r#"{"issues":[1,2],"count":2}"#),
        ] {
            assert_eq!(listed("issues", objects, 0).iter().collect::<Clean>().as_str(), text);
        }
        assert_eq!(with_member(&r#"{"a":1}"#.into(), "b", &[2]).as_str(), r#"{"a":1,"b":[2]}"#);
    }
}

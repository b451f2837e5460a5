//! Server-sent events as they are written.

use std::fmt::Write as _;

/// One message. Neither a cursor nor a JSON document has the end of a line in it.
pub(crate) fn event(name: &str, id: Option<&str>, data: &str) -> String {
    let mut text = format!("event: {name}\n");
    if let Some(id) = id {
        let _ = writeln!(text, "id: {id}");
    }
    let _ = write!(text, "data: {data}\n\n");
    text
}

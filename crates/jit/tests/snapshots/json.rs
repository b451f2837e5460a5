//! JSON laid out over several lines, so that a difference is a line. Nothing else changes: keys stay in the order in
//! which they were printed, and placeholders may stand where values do.

/// What fits in so many columns stays on one line.
const WIDTH: usize = 100;

enum Node<'a> {
    /// A text, a number, a word.
    Atom(&'a str),
    /// An object or an array: its brackets, and each member with its key.
    Group(char, char, Vec<(Option<&'a str>, Node<'a>)>),
}

/// A line that is a JSON document, laid out; none if it is anything else.
pub(crate) fn laid_out(line: &str) -> Option<String> {
    if !line.starts_with(['{', '[']) {
        return None;
    }
    let mut rest = line;
    let node = node(&mut rest)?;
    if !rest.is_empty() {
        return None;
    }
    let mut text = String::new();
    write(&node, 0, &mut text);
    Some(text)
}

fn node<'a>(rest: &mut &'a str) -> Option<Node<'a>> {
    let (open, close) = match rest.chars().next()? {
        '{' => ('{', '}'),
        '[' => ('[', ']'),
        _ => return atom(rest).map(Node::Atom),
    };
    *rest = &rest[1..];
    let mut members = Vec::new();
    while !rest.starts_with(close) {
        if !members.is_empty() {
            *rest = rest.strip_prefix(',')?;
        }
        let key = if open == '{' { Some(atom(rest)?) } else { None };
        if key.is_some() {
            *rest = rest.strip_prefix(':')?;
        }
        members.push((key, node(rest)?));
    }
    *rest = &rest[1..];
    Some(Node::Group(open, close, members))
}

fn atom<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let length = if let Some(text) = rest.strip_prefix('"') {
        let mut escaped = false;
        let end = text.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        })?;
        end + 2
    } else {
        rest.find([',', ':', '}', ']']).unwrap_or(rest.len())
    };
    let (atom, after) = rest.split_at(length);
    *rest = after;
    (!atom.is_empty()).then_some(atom)
}

fn flat(node: &Node<'_>) -> String {
    match node {
        Node::Atom(text) => (*text).to_owned(),
        Node::Group(open, close, members) => {
            let member = |(key, node): &(Option<&str>, Node<'_>)| match key {
                Some(key) => format!("{key}: {}", flat(node)),
                None => flat(node),
            };
            let inside = members.iter().map(member).collect::<Vec<_>>().join(", ");
            if *open == '{' && !members.is_empty() {
                format!("{open} {inside} {close}")
            } else {
                format!("{open}{inside}{close}")
            }
        }
    }
}

fn write(node: &Node<'_>, depth: usize, text: &mut String) {
    let on_one_line = flat(node);
    let Node::Group(open, close, members) = node else { return text.push_str(&on_one_line) };
    if members.is_empty() || 2 * depth + on_one_line.chars().count() <= WIDTH {
        return text.push_str(&on_one_line);
    }
    text.push(*open);
    for (n, (key, member)) in members.iter().enumerate() {
        text.push_str(if n > 0 { ",\n" } else { "\n" });
        text.push_str(&"  ".repeat(depth + 1));
        if let Some(key) = key {
            text.push_str(key);
            text.push_str(": ");
        }
        write(member, depth + 1, text);
    }
    text.push('\n');
    text.push_str(&"  ".repeat(depth));
    text.push(*close);
}

#[test]
fn only_the_space_between_values_changes() {
    let line = format!(r#"{{"b":[1,"two, \"3\": {{"],"a":{{"x":<TIME>,"y":[]}},"c":"{}"}}"#, "z".repeat(90));
    let laid_out = laid_out(&line).unwrap();
    assert!(
        laid_out
            .starts_with("{\n  \"b\": [1, \"two, \\\"3\\\": {\"],\n  \"a\": { \"x\": <TIME>, \"y\": [] },\n")
    );
    assert_eq!(self::laid_out("{not json"), None);
    assert_eq!(self::laid_out("{}"), Some("{}".to_owned()));
}

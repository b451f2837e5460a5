//! JSON that keeps the order of its fields and fits a page: what fits on one line is on one line.

use std::fmt::Write as _;

const WIDTH: usize = 120;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(u64),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Json {
    pub(crate) fn object<const N: usize>(fields: [(&str, Self); N]) -> Self {
        Self::Object(fields.map(|(key, value)| (key.to_owned(), value)).into())
    }

    /// An object with a `type` before its other fields.
    pub(crate) fn tagged<const N: usize>(tag: &str, fields: [(&str, Self); N]) -> Self {
        let Self::Object(rest) = Self::object(fields) else { unreachable!() };
        let head = ("type".to_owned(), Self::text(tag));
        Self::Object([vec![head], rest].concat())
    }

    pub(crate) fn text(text: impl ToString) -> Self {
        Self::Text(text.to_string())
    }

    pub(crate) fn list<T>(items: impl IntoIterator<Item = T>, encode: impl Fn(T) -> Self) -> Self {
        Self::List(items.into_iter().map(encode).collect())
    }

    pub(crate) fn optional<T>(value: Option<T>, encode: impl Fn(T) -> Self) -> Self {
        value.map_or(Self::Null, encode)
    }

    /// The text of a file.
    pub(crate) fn page(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0, 0);
        out.push('\n');
        out
    }

    /// On one line.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Null => "null".into(),
            Self::Bool(value) => value.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => quoted(text),
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::line).collect::<Vec<_>>().join(", "))
            }
            Self::Object(fields) if fields.is_empty() => "{}".into(),
            Self::Object(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(key, value)| format!("{}: {}", quoted(key), value.line())).collect();
                format!("{{ {} }}", fields.join(", "))
            }
        }
    }

    /// Writes the value at a column. What does not fit on the line is broken up.
    fn write(&self, out: &mut String, indent: usize, column: usize) {
        let line = self.line();
        if column + line.len() < WIDTH {
            out.push_str(&line);
            return;
        }
        match self {
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(|item| (String::new(), item)).collect();
                block(out, indent, "[]", &items);
            }
            Self::Object(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(key, value)| (format!("{}: ", quoted(key)), value)).collect();
                block(out, indent, "{}", &fields);
            }
            _ => out.push_str(&line),
        }
    }
}

/// Fills lines with what fits; what has to be broken up gets lines of its own.
fn block(out: &mut String, indent: usize, braces: &str, items: &[(String, &Json)]) {
    let (open, close) = braces.split_at(1);
    let inner = indent + 2;
    let mut column = WIDTH;
    out.push_str(open);
    for (n, (head, value)) in items.iter().enumerate() {
        let length = head.len() + value.line().len();
        let comma = if n == 0 { "" } else { "," };
        if column + length + 2 < WIDTH {
            write!(out, "{comma} {head}").unwrap();
            column += 2 + head.len();
        } else {
            write!(out, "{comma}\n{:inner$}{head}", "").unwrap();
            column = inner + head.len();
        }
        let broken = column + value.line().len() >= WIDTH;
        value.write(out, inner, column);
        column = if broken { WIDTH } else { column + value.line().len() };
    }
    write!(out, "\n{:indent$}{close}", "").unwrap();
}

fn quoted(text: &str) -> String {
    assert!(text.chars().all(|c| !c.is_control() && c != '"' && c != '\\'), "{text:?} would need escapes");
    format!("\"{text}\"")
}

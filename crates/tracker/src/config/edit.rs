//! Changing one setting in the text of a file. Only the bytes of that setting change: comments, order,
//! spacing and line ends stay as their author left them.
//!
//! The parser says where things stand, and the text is cut there. Its own way of writing a document back
//! is not used: it moves scattered keys together and rewrites line ends.

use std::ops::Range;

use toml_edit::{Document, Item, Table, TableLike, Value};

/// A file is written in a way that is better changed by hand; the byte to look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Awkward(pub(super) usize);

/// The text with the setting at `path` set to `value`, which is TOML.
pub(super) fn set(text: &str, path: &[&str], value: &str) -> Result<String, Awkward> {
    let document = Document::parse(text).map_err(|_| Awkward(0))?;
    match walk(document.as_table(), path)? {
        Spot::There { value: place, .. } => splice(text, place, value).ok_or(Awkward(0)),
        Spot::Missing(place) => place.insert(text, path, value).ok_or(Awkward(0)),
    }
}

/// The text without the setting at `path`; none if it is not there.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<Option<String>, Awkward> {
    let document = Document::parse(text).map_err(|_| Awkward(0))?;
    match walk(document.as_table(), path)? {
        Spot::Missing(_) => Ok(None),
        Spot::There { key, value, inline } => {
            let place = if inline { entry(text, &key, &value) } else { lines(text, &key, &value) };
            splice(text, place, "").map(Some).ok_or(Awkward(value.start))
        }
    }
}

/// The text with something else at a place; none if that is no place in it, so that no byte of a file is ever lost.
fn splice(text: &str, place: Range<usize>, with: &str) -> Option<String> {
    Some([text.get(..place.start)?, with, text.get(place.end..)?].concat())
}

/// What a path leads to.
enum Spot<'a> {
    There { key: Range<usize>, value: Range<usize>, inline: bool },
    Missing(Place<'a>),
}

/// The innermost table on a path that is there.
struct Place<'a> {
    table: &'a dyn TableLike,
    /// Its `[header]`, or the braces of an inline table.
    span: Option<Range<usize>>,
    /// How many parts of the path lead to it.
    depth: usize,
    /// How many parts of the path lead to the table that a line or an entry here is written in. Fewer
    /// than `depth` if this table exists only as `a.b = 1`.
    home: usize,
    inline: bool,
}

fn walk<'a>(root: &'a Table, path: &[&str]) -> Result<Spot<'a>, Awkward> {
    let mut place = Place { table: root, span: None, depth: 0, home: 0, inline: false };
    for name in path {
        let Some((key, item)) = place.table.get_key_value(name) else { return Ok(Spot::Missing(place)) };
        let key = key.span().ok_or(Awkward(0))?;
        if place.depth + 1 == path.len() {
            let value = item.as_value().and_then(Value::span).ok_or(Awkward(key.start))?;
            return Ok(Spot::There { key, value, inline: place.inline });
        }
        place = place.enter(item).ok_or(Awkward(key.start))?;
    }
    Ok(Spot::Missing(place))
}

impl<'a> Place<'a> {
    fn enter(self, item: &'a Item) -> Option<Self> {
        let table = item.as_table_like()?;
        let depth = self.depth + 1;
        let home = if table.is_dotted() { self.home } else { depth };
        let inline = self.inline || item.is_inline_table();
        let is_written = !table.is_dotted() && !item.as_table().is_some_and(Table::is_implicit);
        Some(Self { table, span: item.span().filter(|_| is_written), depth, home, inline })
    }

    /// The text with one more setting.
    fn insert(&self, text: &str, path: &[&str], value: &str) -> Option<String> {
        let (leaf, parent) = path.split_last()?;
        let here = format!("{} = {value}", path.get(self.home..)?.join("."));
        let fits = self.inline || self.table.is_dotted() || self.depth == parent.len();
        let sibling = last(self.table).filter(|_| fits);
        match (sibling, &self.span) {
            (Some((_, value)), _) if self.inline => splice(text, value.end..value.end, &format!(", {here}")),
            (None, Some(braces)) if self.inline => {
                let inside = braces.start + 1;
                splice(text, inside..inside, &format!(" {here} "))
            }
            (Some((key, value)), _) => insert_line(text, value.end, indent(text, key.start), &here),
            (None, Some(header)) if fits => insert_line(text, header.end, "", &here),
            _ => Some(append(text, &parent.join("."), &format!("{leaf} = {value}"))),
        }
    }
}

/// The last setting that is written in a table itself, not under a header of its own: its key and value.
fn last(table: &dyn TableLike) -> Option<(Range<usize>, Range<usize>)> {
    let settings = table.iter().filter_map(|(name, item)| match item.as_table_like() {
        Some(inner) if inner.is_dotted() => last(inner),
        Some(_) if item.is_table() => None,
        _ => Some((table.key(name)?.span()?, item.as_value()?.span()?)),
    });
    settings.max_by_key(|(_, value)| value.end)
}

/// Adds a line after the one that `byte` is on.
fn insert_line(text: &str, byte: usize, indent: &str, line: &str) -> Option<String> {
    let end = line_end(text, byte);
    let eol = eol(text);
    let complete = text.get(..end).is_some_and(|before| before.ends_with('\n'));
    let line = if complete { format!("{indent}{line}{eol}") } else { format!("{eol}{indent}{line}{eol}") };
    splice(text, end..end, &line)
}

/// Adds a table at the end.
fn append(text: &str, table: &str, line: &str) -> String {
    let eol = eol(text);
    let gap = match text.strip_prefix(BOM).unwrap_or(text) {
        "" => String::new(),
        text if text.ends_with('\n') => eol.to_owned(),
        _ => eol.repeat(2),
    };
    format!("{text}{gap}[{table}]{eol}{line}{eol}")
}

const BOM: char = '\u{feff}';

/// The lines of a setting, which has them for itself.
fn lines(text: &str, key: &Range<usize>, value: &Range<usize>) -> Range<usize> {
    line_start(text, key.start)..line_end(text, value.end)
}

/// An entry of an inline table, with the comma that parts it from the next one or, for the last, from the
/// one before.
fn entry(text: &str, key: &Range<usize>, value: &Range<usize>) -> Range<usize> {
    let after = text.get(value.end..).unwrap_or_default();
    if let Some(next) = after.trim_start().strip_prefix(',') {
        return key.start..text.len() - next.trim_start_matches(' ').len();
    }
    let before = text.get(..key.start).unwrap_or_default();
    match before.trim_end().strip_suffix(',') {
        Some(previous) => previous.len()..value.end,
        None => key.start..value.end,
    }
}

fn line_start(text: &str, byte: usize) -> usize {
    let before = text.get(..byte).unwrap_or_default();
    let first = if text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
    before.rfind('\n').map_or(first, |end| end + 1)
}

/// Where the line after the one of `byte` begins, or the text ends.
fn line_end(text: &str, byte: usize) -> usize {
    let after = text.get(byte..).unwrap_or_default();
    after.find('\n').map_or(text.len(), |end| byte + end + 1)
}

fn indent(text: &str, byte: usize) -> &str {
    let line = text.get(line_start(text, byte)..).unwrap_or_default();
    line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
}

fn eol(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

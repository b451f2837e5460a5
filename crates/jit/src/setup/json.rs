//! One value of ours in a JSON file of somebody else's, put in and taken out in place: every other byte stays.
//!
//! What was put in can be taken out by looking at the file alone. Objects and arrays that had to be made have a blank
//! after their opening bracket; those that were there and empty are filled without one. So it can be told which of them
//! go again.

use std::ops::Range;

use serde_json::Value;

use super::scan::{Form, Member, Node, after_blanks, scan};

/// A value of ours and where it belongs.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The names of the objects that lead there, from the outermost on.
    pub path: &'static [&'static str],
    /// Its name in the last of them; none if that is an array.
    pub name: Option<&'static str>,
    /// The value.
    pub value: Value,
    /// What tells it from those of others: one of its texts begins like this.
    pub mark: &'static str,
    /// Members of the outermost object that a file needs which has nothing else.
    pub head: &'static [(&'static str, u64)],
}

/// How a file stands to what belongs into it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Edit {
    /// It is as wanted.
    Same,
    /// It becomes this.
    Text(String),
    /// It goes.
    Gone,
    /// It cannot be changed, because of this.
    Refused(String),
}

impl Entry {
    /// The file for an entry alone.
    #[must_use]
    pub fn alone(&self) -> String {
        let style = Style { end: "\n", unit: "  ".to_owned(), is_spread: true };
        let head = self.head.iter().map(|(name, value)| format!("  \"{name}\": {value},\n"));
        let members: Vec<&str> = self.path.to_vec();
        let (first, inner) =
            members.split_first().map_or(("", [].as_slice()), |(first, inner)| (*first, inner));
        let body = self.nested(inner, &style, 1);
        format!("{{\n{}  \"{first}\": {body}\n}}\n", head.collect::<String>())
    }

    /// The text with the entry in it.
    #[must_use]
    pub fn put(&self, text: &str) -> Edit {
        let root = match scan(text) {
            Ok(root) => root,
            Err(why) => return Edit::Refused(format!("it is not JSON that jit can read ({why})")),
        };
        let way = match self.way(&root) {
            Ok(way) => way,
            Err(why) => return Edit::Refused(why),
        };
        if let Some(found) = self.find(&way) {
            let same = found.0.is_none_or(|value| self.is_ours(&value.value()));
            let name = self.name.unwrap_or_default();
            return if same { Edit::Same } else { Edit::Refused(format!("it has another '{name}' already")) };
        }
        let Some(container) = way.last() else { return Edit::Refused("it is not an object".into()) };
        let missing = self.path.get(way.len() - 1..).unwrap_or_default();
        let style = Style::of(text);
        let (at, lead, depth) = place(text, container, &style);
        let mut ours = lead;
        match (missing, self.name) {
            ([first, inner @ ..], _) => {
                ours += &format!("\"{first}\": {}", self.nested(inner, &style, depth))
            }
            ([], Some(name)) => ours += &format!("\"{name}\": {}", style.value(&self.value, depth)),
            ([], None) => ours += &style.value(&self.value, depth),
        }
        if !container.parts().is_empty() {
            ours.push(',');
        }
        let (Some(before), Some(after)) = (text.get(..at), text.get(at..)) else { return Edit::Same };
        Edit::Text(format!("{before}{ours}{after}"))
    }

    /// The text without the entry.
    #[must_use]
    pub fn take_out(&self, text: &str) -> Edit {
        if text == self.alone() {
            return Edit::Gone;
        }
        let root = match scan(text) {
            Ok(root) => root,
            Err(why) => return Edit::Refused(format!("it is not JSON that jit can read ({why})")),
        };
        let Ok(way) = self.way(&root) else { return Edit::Same };
        let Some((value, mut span)) = self.find(&way) else { return Edit::Same };
        match value.map(Node::value) {
            Some(value) if !self.is_ours(&value) => return Edit::Same,
            Some(value) if !self.is_only_ours(&value) => {
                return Edit::Refused("there is more than jit's in its entry".into());
            }
            _ => {}
        }
        for container in way.iter().rev() {
            let parts = container.parts();
            let lead = text.get(container.span.start + 1..span.start).unwrap_or_default();
            let tail = text.get(span.end..container.span.end - 1).unwrap_or_default();
            let is_made = !lead.is_empty() && lead.trim().is_empty() && tail.trim().is_empty();
            if parts.len() > 1 || !is_made {
                return cut(text, container, &parts, &span);
            }
            if container.span == root.span {
                return Edit::Gone;
            }
            span = holder(&way, container).unwrap_or_else(|| container.span.clone());
        }
        Edit::Same
    }

    /// The objects on the way to the entry, as far as they are there.
    fn way<'n>(&self, root: &'n Node) -> Result<Vec<&'n Node>, String> {
        let mut way = vec![root];
        for (at, name) in self.path.iter().enumerate() {
            let Some(Node { form: Form::Object(members), .. }) = way.last() else {
                return Err("it has something else where an object belongs".into());
            };
            let Some(member) = members.iter().find(|member| member.name == *name) else { return Ok(way) };
            let is_last = at + 1 == self.path.len();
            let fits = match &member.value.form {
                Form::Object(_) => !is_last || self.name.is_some(),
                Form::Array(_) => is_last && self.name.is_none(),
                Form::Plain(_) => false,
            };
            if !fits {
                return Err(format!("its '{name}' is something else than it should be"));
            }
            way.push(&member.value);
        }
        Ok(way)
    }

    /// The entry in the container that it belongs into: its value, and what would go.
    fn find<'n>(&self, way: &[&'n Node]) -> Option<(Option<&'n Node>, Range<usize>)> {
        let container = way.last().filter(|_| way.len() == self.path.len() + 1)?;
        match (&container.form, self.name) {
            (Form::Object(members), Some(name)) => {
                let Member { start, value, .. } = members.iter().find(|member| member.name == name)?;
                Some((Some(value), *start..value.span.end))
            }
            (Form::Array(items), None) => {
                let item = items.iter().find(|item| self.is_ours(&item.value()))?;
                Some((Some(item), item.span.clone()))
            }
            _ => None,
        }
    }

    fn is_ours(&self, value: &Value) -> bool {
        texts(value).iter().any(|text| text.starts_with(self.mark))
    }

    /// Whether nothing in it runs anything else.
    fn is_only_ours(&self, value: &Value) -> bool {
        let Some(hooks) = value.get("hooks").and_then(Value::as_array) else { return true };
        hooks.iter().all(|hook| self.is_ours(hook))
    }

    /// The value inside of objects that have to be made.
    fn nested(&self, inner: &[&str], style: &Style, depth: usize) -> String {
        let (open, close, body) = match (inner.split_first(), self.name) {
            (Some((first, rest)), _) => {
                ('{', '}', format!("\"{first}\": {}", self.nested(rest, style, depth + 1)))
            }
            (None, Some(name)) => ('{', '}', format!("\"{name}\": {}", style.value(&self.value, depth + 1))),
            (None, None) => ('[', ']', style.value(&self.value, depth + 1)),
        };
        format!("{open}{}{body}{}{close}", style.lead(depth + 1), style.lead(depth))
    }
}

/// The member that holds a container of the way.
fn holder(way: &[&Node], container: &Node) -> Option<Range<usize>> {
    way.iter().find_map(|node| {
        let Form::Object(members) = &node.form else { return None };
        let member = members.iter().find(|member| member.value.span == container.span)?;
        Some(member.start..member.value.span.end)
    })
}

/// The text without one part of a container.
fn cut(text: &str, container: &Node, parts: &[Range<usize>], span: &Range<usize>) -> Edit {
    let at = parts.iter().position(|part| part == span);
    let follows = at.is_some_and(|at| at + 1 < parts.len());
    let previous = at.and_then(|at| at.checked_sub(1)).and_then(|at| parts.get(at));
    let (start, end) = match previous {
        None if follows => {
            let comma = after_blanks(text, span.end).unwrap_or(span.end);
            (lead_of(text, container.span.start + 1, span.start), comma + 1)
        }
        None => (span.start, span.end),
        // Somebody has moved it behind others.
        Some(previous) => (previous.end, span.end),
    };
    match (text.get(..start), text.get(end..)) {
        (Some(before), Some(after)) => Edit::Text(format!("{before}{after}")),
        _ => Edit::Refused("it cannot be taken out of it".into()),
    }
}

/// Where the blanks begin that stand before a part: behind the last comment.
fn lead_of(text: &str, from: usize, to: usize) -> usize {
    let between = text.get(from..to).unwrap_or_default();
    from + between.trim_end().len()
}

/// Where an entry is put into a container: the place, what stands before it, and how deep that is.
fn place(text: &str, container: &Node, style: &Style) -> (usize, String, usize) {
    let open = container.span.start + 1;
    let depth = style.depth(text, open);
    let Some(first) = container.parts().first().map(|part| part.start) else {
        return (open, String::new(), depth);
    };
    let gap = text.get(open..first).unwrap_or_default();
    if gap.trim().is_empty() {
        let depth = if gap.contains('\n') { style.depth(text, first) } else { depth };
        return (open, gap.to_owned(), depth);
    }
    // A comment in the line of the bracket belongs to it; any other to what follows.
    let line = gap.split_inclusive('\n').next().unwrap_or_default();
    let kept = if line.trim_start().starts_with("//") { line.trim_end().len() } else { 0 };
    (open + kept, style.lead(style.depth(text, first).max(1)), style.depth(text, first).max(1))
}

/// How a file is written.
struct Style {
    end: &'static str,
    unit: String,
    is_spread: bool,
}

impl Style {
    fn of(text: &str) -> Self {
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indent = |line: &str| {
            let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
            line.get(..blanks).filter(|unit| !unit.is_empty() && unit.len() <= 8).map(ToOwned::to_owned)
        };
        let unit = text.lines().skip(1).find_map(indent).unwrap_or_else(|| "  ".to_owned());
        Self { end, unit, is_spread: text.trim().contains('\n') }
    }

    /// How deep the line is in which a place is.
    fn depth(&self, text: &str, at: usize) -> usize {
        let line = text.get(..at).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        blanks.div_ceil(self.unit.len().max(1))
    }

    /// What stands before something that is so deep.
    fn lead(&self, depth: usize) -> String {
        if self.is_spread { format!("{}{}", self.end, self.unit.repeat(depth)) } else { " ".to_owned() }
    }

    /// A value of ours.
    fn value(&self, value: &Value, depth: usize) -> String {
        let inner = |parts: Vec<String>, open, close| {
            let between = format!(",{}", self.lead(depth + 1));
            format!("{open}{}{}{}{close}", self.lead(depth + 1), parts.join(&between), self.lead(depth))
        };
        match value {
            Value::Object(members) => {
                let part = |(name, value): (&String, &Value)| {
                    format!("{}: {}", Value::from(name.as_str()), self.value(value, depth + 1))
                };
                inner(members.iter().map(part).collect(), '{', '}')
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                inner(items.iter().map(|item| self.value(item, depth + 1)).collect(), '[', ']')
            }
            Value::Array(items) => {
                format!("[{}]", items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
            }
            plain => plain.to_string(),
        }
    }
}

/// The texts in a value, and those of an array as one line too.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => {
            let inner: Vec<String> = items.iter().flat_map(texts).collect();
            inner.iter().cloned().chain([inner.join(" ")]).collect()
        }
        Value::Object(members) => {
            // A server's command and its arguments are one line.
            let line = ["command", "args"].iter().filter_map(|name| members.get(*name)).flat_map(texts);
            let line = line.collect::<Vec<_>>().join(" ");
            members.values().flat_map(texts).chain([line]).collect()
        }
        _ => Vec::new(),
    }
}

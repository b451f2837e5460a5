//! Where things stand in a JSON text, with the comments and trailing commas that clients allow. Nothing is changed
//! here, and nothing is lost: every part is a range of the text.

use std::ops::Range;

use serde_json::{Map, Value};

/// Deeper than anybody nests a configuration.
const DEEPEST: usize = 100;

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    /// From its first to its last character.
    pub span: Range<usize>,
    /// What it is.
    pub form: Form,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum Form {
    /// An object.
    Object(Vec<Member>),
    /// An array.
    Array(Vec<Node>),
    /// Anything else.
    Plain(Value),
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    /// Where its name begins.
    pub start: usize,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Node,
}

impl Node {
    /// The value, without where it stands.
    pub(super) fn value(&self) -> Value {
        match &self.form {
            Form::Plain(value) => value.clone(),
            Form::Array(items) => items.iter().map(Self::value).collect(),
            Form::Object(members) => {
                let members = members.iter().map(|member| (member.name.clone(), member.value.value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    /// Where the parts of an object or array begin and end.
    pub(super) fn parts(&self) -> Vec<Range<usize>> {
        match &self.form {
            Form::Plain(_) => Vec::new(),
            Form::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            Form::Object(members) => {
                members.iter().map(|member| member.start..member.value.span.end).collect()
            }
        }
    }
}

/// The value that a text holds.
///
/// # Errors
/// What is wrong with it, and in which line.
pub(super) fn scan(text: &str) -> Result<Node, String> {
    let mut scanner = Scanner { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } };
    let node = scanner.blank().and_then(|()| scanner.value(0)).and_then(|node| {
        scanner.blank()?;
        if scanner.at == text.len() { Ok(node) } else { Err("something follows its end") }
    });
    node.map_err(|why| {
        let before = text.get(..scanner.at).unwrap_or_default();
        format!("line {}: {why}", before.matches('\n').count() + 1)
    })
}

/// The end of blanks and comments that begin at `at`.
///
/// # Errors
/// When a comment does not end.
pub(super) fn after_blanks(text: &str, at: usize) -> Result<usize, &'static str> {
    let mut scanner = Scanner { text, at };
    scanner.blank().map(|()| scanner.at)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

type Scanned<T> = Result<T, &'static str>;

impl Scanner<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blank(&mut self) -> Scanned<()> {
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").ok_or("a comment does not end")? + 2;
            } else if matches!(self.next(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
                self.at += 1;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Scanned<Node> {
        if depth > DEEPEST {
            return Err("it is nested too deeply");
        }
        let start = self.at;
        let form = match self.next() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Form::Plain(Value::String(self.string()?)),
            Some(_) => self.word()?,
            None => return Err("it ends too early"),
        };
        Ok(Node { span: start..self.at, form })
    }

    fn object(&mut self, depth: usize) -> Scanned<Form> {
        let mut members: Vec<Member> = Vec::new();
        self.at += 1;
        while self.goes_on(b'}')? {
            let start = self.at;
            if self.next() != Some(b'"') {
                return Err("a name in quotes is missing");
            }
            let name = self.string()?;
            self.blank()?;
            if self.next() != Some(b':') {
                return Err("a colon is missing");
            }
            self.at += 1;
            self.blank()?;
            if members.iter().any(|member| member.name == name) {
                return Err("a name stands there twice");
            }
            let value = self.value(depth + 1)?;
            members.push(Member { start, name, value });
            self.comma(b'}')?;
        }
        Ok(Form::Object(members))
    }

    fn array(&mut self, depth: usize) -> Scanned<Form> {
        let mut items = Vec::new();
        self.at += 1;
        while self.goes_on(b']')? {
            items.push(self.value(depth + 1)?);
            self.comma(b']')?;
        }
        Ok(Form::Array(items))
    }

    /// Whether another part comes before `end`, which is passed if not.
    fn goes_on(&mut self, end: u8) -> Scanned<bool> {
        self.blank()?;
        let ends = self.next() == Some(end);
        self.at += usize::from(ends);
        Ok(!ends)
    }

    fn comma(&mut self, end: u8) -> Scanned<()> {
        self.blank()?;
        match self.next() {
            Some(b',') => self.at += 1,
            Some(next) if next == end => {}
            Some(_) => return Err("a comma is missing"),
            None => return Err("it ends too early"),
        }
        Ok(())
    }

    fn string(&mut self) -> Scanned<String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.next() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => return Err("a text in quotes does not end"),
            }
        }
        self.at += 1;
        let text = self.text.get(start..self.at).ok_or("a text in quotes does not end")?;
        serde_json::from_str(text).map_err(|_| "a text in quotes is not valid")
    }

    fn word(&mut self) -> Scanned<Form> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let rest = self.rest();
        let word = rest.get(..rest.find(|c| !is_word(c)).unwrap_or(rest.len())).unwrap_or_default();
        let value = serde_json::from_str(word).map_err(|_| "a value is not valid")?;
        self.at += word.len();
        Ok(Form::Plain(value))
    }
}

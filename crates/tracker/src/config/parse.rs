//! From the text of a file to its settings and everything that is wrong with it. It stops at nothing: one
//! mistake must not hide the next one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::{Found, Key, Schema};
use super::keys::{AGENT, CONFIG, ESCALATE};
use super::layers;
use super::problem::{Fault, Problem, ProblemKind, shown};
use super::source::Source;
use super::texts;
use super::value::Value;

/// More problems than this in one file help nobody, and a hostile file would have half a million.
const MOST: usize = 50;

/// A setting and the line it stands on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Placed {
    pub(super) value: Value,
    pub(super) line: usize,
}

/// The settings of a file by the full names of their keys.
pub(super) type Settings = BTreeMap<String, Placed>;

/// Reads the settings of a file.
pub(super) fn parse(schema: &Schema, source: &Source) -> (Settings, Vec<Problem>) {
    let text = source.text();
    let (table, errors) = DeTable::parse_recoverable(text);
    let lines = Lines::of(text);
    let mut reader = Reader { schema, source, lines, settings: Settings::new(), problems: Vec::new() };
    reader.problems.extend(source.problem());
    for error in errors.iter().take(MOST) {
        reader.broken(error);
    }
    reader.table(&[], table.get_ref());
    let Reader { settings, problems, .. } = reader;
    (settings, sorted(problems))
}

/// In the order of the file. What follows from a mistake on the same line is left out.
fn sorted(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by_key(|problem| problem.line);
    let mut seen = BTreeSet::new();
    problems.retain(|problem| problem.line.is_none_or(|line| seen.insert(line)));
    problems
}

struct Reader<'a> {
    schema: &'a Schema,
    source: &'a Source,
    lines: Lines,
    settings: Settings,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn table(&mut self, path: &[&str], table: &DeTable<'_>) {
        for (name, value) in table {
            if self.problems.len() >= MOST {
                return;
            }
            let path: Vec<&str> = path.iter().copied().chain([name.get_ref().as_ref()]).collect();
            self.entry(&path, name.span(), value);
        }
    }

    fn entry(&mut self, path: &[&str], place: Range<usize>, value: &Spanned<DeValue<'_>>) {
        // A list of tables, which is read by itself.
        if path == ESCALATE && matches!(self.schema.find(&["policy"]), Found::Table) {
            return;
        }
        match (self.schema.find(path), value.get_ref()) {
            (Found::Key(key), value) => self.setting(key, path, &place, value),
            (Found::Table, DeValue::Table(table)) => self.table(path, table),
            (Found::Table, _) => {
                let fault = Fault::new(ProblemKind::WrongType, "expected a table of settings");
                self.problem(
                    path,
                    &place,
                    fault.fix(format!("write [{}] on a line of its own", path.join("."))),
                );
            }
            (Found::Nothing, DeValue::Table(table)) if !table.is_empty() && path.len() < DEEPEST => {
                self.table(path, table);
            }
            (Found::Nothing, _) => self.unknown(path, &place),
        }
    }

    fn setting(&mut self, key: &Key, path: &[&str], place: &Range<usize>, value: &DeValue<'_>) {
        match key.form.read(value) {
            Ok(value) => {
                let line = self.lines.at(place.start);
                self.settings.insert(path.join("."), Placed { value, line });
            }
            Err(fault) => self.problem(path, place, fault),
        }
    }

    fn unknown(&mut self, path: &[&str], place: &Range<usize>) {
        let key = path.join(".");
        let fault = Fault::new(ProblemKind::UnknownKey, "there is no such key");
        let fault = if CONFIG.key(&key).is_some() {
            fault.fix("it belongs in config.toml")
        } else if AGENT.key(&key).is_some() {
            fault.fix("it belongs in the user's agent.toml")
        } else if layers::kind_of(&key).is_some_and(|kind| !texts::is_kind(kind)) {
            fault.fix(texts::KIND)
        } else {
            fault.did_you_mean(&self.schema.near(&key))
        };
        self.problem(path, place, fault);
    }

    fn broken(&mut self, error: &toml::de::Error) {
        let duplicate = error.message().starts_with("duplicate key");
        let kind = if duplicate { ProblemKind::DuplicateKey } else { ProblemKind::Syntax };
        let place = error.span().unwrap_or_default();
        let line = self.lines.at(place.start);
        let what = if duplicate {
            let name = self.source.text().get(place).unwrap_or_default();
            format!("{} is there a second time", shown(name))
        } else {
            shown(error.message())
        };
        let path = Arc::clone(&self.source.path);
        self.problems.push(Problem { path, line: Some(line), key: None, fault: Fault::new(kind, what) });
    }

    fn problem(&mut self, path: &[&str], place: &Range<usize>, fault: Fault) {
        let line = Some(self.lines.at(place.start));
        let key = Some(shown(&path.join(".")));
        self.problems.push(Problem { path: Arc::clone(&self.source.path), line, key, fault });
    }
}

/// Unknown tables are looked into, so that each unknown key is named; but not for ever.
const DEEPEST: usize = 8;

/// Where the lines of a text begin.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line of a byte, counted from 1.
    pub(super) fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|end| *end < byte) + 1
    }
}

//! `[[policy.escalate]]`: what is done when something takes too long or goes wrong. The one list of tables in a
//! configuration: the files' lists are put together, and none replaces another.
//!
//! A command is taken from the user's and the machine's files only: a repository's file comes with a pull, and must not
//! run code.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::form::Form;
use super::keys::ESCALATE as PATH;
use super::layers::Origin;
use super::parse::Lines;
use super::problem::{Fault, Problem, ProblemKind, shown};
use super::source::{Layer, Source};
use super::texts;
use super::value::{Typed as _, Value};
use super::words::When;

/// More of them in one file help nobody.
const MOST: usize = 64;

const AFTER: Form = Form::Number { least: 0, most: 315_360_000 };
const NOTE: Form = Form::Text(texts::REMARK);
const RUN: Form = Form::Text(texts::COMMAND);

/// What its keys are.
const KEYS: [&str; 4] = ["when", "after_secs", "note", "run"];

/// What is done when something takes too long or goes wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Escalation {
    /// When.
    pub when: When,
    /// After how many seconds of that.
    pub after_secs: u64,
    /// What is done.
    pub act: Act,
    /// Where it is configured.
    pub origin: Origin,
}

/// What is done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Act {
    /// A note is put on the issue.
    Note(String),
    /// A command is run, with what happened as JSON on its standard input.
    Run(String),
}

impl Escalation {
    /// What tells it from others: where it stands does not.
    #[must_use]
    pub fn mark(&self) -> String {
        let (kind, text) = match &self.act {
            Act::Note(text) => ("note", text),
            Act::Run(text) => ("run", text),
        };
        let whole = format!("{}\0{}\0{kind}\0{text}", self.when.as_str(), self.after_secs);
        blake3::hash(whole.as_bytes()).to_hex().as_str().get(..16).unwrap_or_default().to_owned()
    }

    /// As a person reads it.
    #[must_use]
    pub fn words(&self) -> String {
        let act = match &self.act {
            Act::Note(text) => format!("note: {text}"),
            Act::Run(text) => format!("run: {text}"),
        };
        format!("{} after {} s, {act}", self.when.as_str(), self.after_secs)
    }
}

/// The escalations of a file, and what is wrong with them.
pub(super) fn parse(source: &Source) -> (Vec<Escalation>, Vec<Problem>) {
    let text = source.text();
    // What is no TOML is told by whoever reads the rest.
    let (table, _) = DeTable::parse_recoverable(text);
    let mut reader = Reader { source, lines: Lines::of(text), found: Vec::new(), problems: Vec::new() };
    let [first, second] = PATH;
    if let Some(DeValue::Table(policy)) = table.get_ref().get(first).map(Spanned::get_ref)
        && let Some((name, value)) = policy.get_key_value(second)
    {
        reader.list(&name.span(), value.get_ref());
    }
    (reader.found, reader.problems)
}

struct Reader<'a> {
    source: &'a Source,
    lines: Lines,
    found: Vec<Escalation>,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn list(&mut self, place: &Range<usize>, value: &DeValue<'_>) {
        let wrong = || {
            Fault::new(ProblemKind::WrongType, "expected a list of tables")
                .fix("write [[policy.escalate]] on a line of its own, and its keys below it")
        };
        let DeValue::Array(entries) = value else { return self.problem(place, None, wrong()) };
        if entries.len() > MOST {
            let fault = Fault::new(ProblemKind::OutOfRange, format!("there are more than {MOST} of them"));
            return self.problem(place, None, fault);
        }
        for entry in entries.iter() {
            match entry.get_ref() {
                DeValue::Table(table) => self.entry(&entry.span(), table),
                _ => self.problem(&entry.span(), None, wrong()),
            }
        }
    }

    fn entry(&mut self, place: &Range<usize>, table: &DeTable<'_>) {
        let before = self.problems.len();
        for name in table.keys().filter(|name| !KEYS.contains(&name.get_ref().as_ref())) {
            let near = super::suggest::near(name.get_ref(), KEYS);
            let fault = Fault::new(ProblemKind::UnknownKey, "there is no such key").did_you_mean(&near);
            self.problem(&name.span(), Some(name.get_ref().as_ref()), fault);
        }
        let when = self.value(table, "when", &When::FORM);
        let after = self.value(table, "after_secs", &AFTER);
        let note = self.value(table, "note", &NOTE);
        let run = self.value(table, "run", &RUN);
        if let Some((name, _)) = table.get_key_value("run")
            && self.source.layer == Layer::Repository
        {
            let what = "a repository's file comes with a pull and must not run commands";
            let fault = Fault::new(ProblemKind::Conflict, what)
                .fix("move this entry to the user's config.toml or to the machine's");
            self.problem(&name.span(), Some("run"), fault);
        }
        if self.problems.len() > before {
            return;
        }
        let Some(when) = When::from_value(when.as_ref()) else {
            let fault = Fault::new(ProblemKind::Conflict, "`when` is missing");
            return self.problem(place, None, fault.fix(format!("expected {}", When::FORM.expects())));
        };
        let act = match (note, run) {
            (Some(Value::Text(note)), None) => Act::Note(note),
            (None, Some(Value::Text(run))) => Act::Run(run),
            (None, None) => {
                let fault = Fault::new(ProblemKind::Conflict, "it says neither `note` nor `run`");
                return self.problem(place, None, fault.fix("say what is to be done"));
            }
            _ => {
                let fault = Fault::new(ProblemKind::Conflict, "it says both `note` and `run`");
                return self.problem(place, None, fault.fix("make two of it"));
            }
        };
        let after_secs = match after {
            Some(Value::Number(secs)) => secs,
            _ if when.needs_time() => {
                let fault = Fault::new(ProblemKind::Conflict, "`after_secs` is missing");
                return self.problem(place, None, fault.fix("say after how many seconds"));
            }
            _ => 0,
        };
        let (layer, path) = (self.source.layer, Arc::clone(&self.source.path));
        let origin = Origin::File { layer, path, line: self.lines.at(place.start) };
        self.found.push(Escalation { when, after_secs, act, origin });
    }

    fn value(&mut self, table: &DeTable<'_>, key: &str, form: &Form) -> Option<Value> {
        let (name, value) = table.get_key_value(key)?;
        form.read(value.get_ref()).map_err(|fault| self.problem(&name.span(), Some(key), fault)).ok()
    }

    fn problem(&mut self, place: &Range<usize>, key: Option<&str>, fault: Fault) {
        let list = PATH.join(".");
        let key = key.map_or_else(|| list.clone(), |key| shown(&format!("{list}.{key}")));
        let line = Some(self.lines.at(place.start));
        self.problems.push(Problem { path: Arc::clone(&self.source.path), line, key: Some(key), fault });
    }
}

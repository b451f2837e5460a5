//! The gates that are defined for everybody.

use holdfast_door::table;
use holdfast_sys::LockMode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::cli::DefineGate;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::Session;
use holdfast_tracker::agent::AgentId;
use holdfast_tracker::error::{Error, Result, WriteError};
use holdfast_tracker::gates::{FILE, Gate, LONGEST_TIMEOUT, Mode, Registry};
use holdfast_tracker::writes::{self, Writer};

/// A gate, as it is defined.
#[derive(Serialize, JsonSchema)]
pub struct Defined {
    /// What it is called.
    pub key: String,
    /// How it is defined.
    #[serde(flatten)]
    pub gate: Gate,
}

/// A gate after its definition, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct GateDefineOutput {
    /// The gate.
    pub gate: Defined,
    /// Whether anything was written.
    pub changed: bool,
}

/// A gate, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct GateShowOutput {
    /// The gate.
    pub gate: Defined,
}

/// All gates, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct GateListOutput {
    /// The gates.
    pub gates: Vec<Defined>,
    /// How many.
    pub count: usize,
}

impl Defined {
    fn new(key: &str, gate: &Gate) -> Self {
        Self { key: key.to_owned(), gate: gate.clone() }
    }
}

/// Defines a gate. It concerns everybody, so it is held to the rules for that.
pub(super) fn run(context: &Context, session: &Session, typed: &DefineGate) -> Result<Report> {
    let (key, gate) = (writes::key(&typed.key)?, gate(typed)?);
    let writer = Writer::open(session)?;
    super::super::config::require_global(context)?;
    let mut scope = writer.locks().scope()?;
    let _section = scope.enter(&context.caller.sys, LockMode::Exclusive)?;
    let mut registry = Registry::load(session)?;
    let before = registry.gates.insert(key.clone(), gate.clone());
    if before.as_ref().is_some_and(|before| *before != gate) && !typed.replace {
        return Err(WriteError::GateExists(key).into());
    }
    let changed = before.as_ref() != Some(&gate);
    if changed {
        let payload = json!({ "gate": Defined::new(&key, &gate) });
        let after = registry.bytes();
        writer.announce("gate.defined", payload, (FILE, &after), || registry.write(session))?;
    }
    let text = format!("the gate {key} is defined{}\n", if changed { "" } else { " already" });
    Ok(Report::new(text, &GateDefineOutput { gate: Defined::new(&key, &gate), changed }).brief(key))
}

/// An agent, or the beginning of one and a `*`.
fn pattern(text: &str) -> Result<String> {
    let start = text.strip_suffix('*');
    let sample = start.map_or_else(|| text.to_owned(), |start| format!("{start}x"));
    if AgentId::new(&sample).is_ok() && !start.unwrap_or(text).contains('*') {
        return Ok(text.to_owned());
    }
    let why = "must be an agent, kind:name, or the beginning of one and a *, such as person:*".to_owned();
    Err(Error::BadValue { what: "--by", given: text.to_owned(), why })
}

fn gate(typed: &DefineGate) -> Result<Gate> {
    let command = typed.command.as_deref().map(writes::description).transpose()?;
    let mode = if command.is_some() { Mode::Command } else { Mode::Manual };
    let title = typed.title.as_deref().map(writes::title).transpose()?;
    let timeout_secs = (mode == Mode::Command).then_some(typed.timeout);
    let by = typed.by.as_deref().map(pattern).transpose()?;
    let gate = Gate {
        mode,
        title,
        command,
        timeout_secs,
        by,
        not_author: typed.not_author,
        rest: Default::default(),
    };
    match gate.fault() {
        None => Ok(gate),
        Some(_) if typed.timeout == 0 || typed.timeout > LONGEST_TIMEOUT => Err(Error::BadValue {
            what: "--timeout",
            given: typed.timeout.to_string(),
            why: format!("must be 1 to {LONGEST_TIMEOUT} seconds"),
        }),
        Some(why) => Err(Error::BadValue {
            what: "--command",
            given: typed.command.clone().unwrap_or_default(),
            why: why.to_owned(),
        }),
    }
}

pub(super) fn list(session: &Session) -> Result<Report> {
    let registry = Registry::load(session)?;
    let rows: Vec<_> = registry.gates.iter().map(|(key, gate)| row(key, gate)).collect();
    let text = if rows.is_empty() {
        "no gates are defined\n".into()
    } else {
        table(["GATE", "MODE", "TIMEOUT", "COMMAND", "TITLE"], &rows)
    };
    let gates: Vec<_> = registry.gates.iter().map(|(key, gate)| Defined::new(key, gate)).collect();
    let brief: Vec<_> = registry.gates.keys().map(String::as_str).collect();
    let count = gates.len();
    Ok(Report::new(text, &GateListOutput { gates, count }).brief(brief.join("\n")))
}

fn row(key: &str, gate: &Gate) -> [String; 5] {
    let mode = if gate.mode == Mode::Manual { "manual" } else { "command" };
    let timeout = gate.timeout_secs.map(|secs| format!("{secs}s")).unwrap_or_default();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    [key.to_owned(), mode.to_owned(), timeout, text(&gate.command), text(&gate.title)]
}

pub(super) fn show(session: &Session, key: &str) -> Result<Report> {
    let registry = Registry::load(session)?;
    let gate = registry.get(key)?;
    let [key, mode, timeout, command, title] = row(key, gate);
    let mut text = format!("{key}  {title}\nmode: {mode}\n");
    if gate.mode == Mode::Command {
        text.push_str(&format!("command: {command}\ntimeout: {timeout}\n"));
    }
    Ok(Report::new(text, &GateShowOutput { gate: Defined::new(&key, gate) }).brief(command))
}

//! `jit gate check`: runs the commands of an issue's gates. The exit code is the verdict, and what a command
//! that failed has to say is shown.

use holdfast_kernel::Millis;
use schemars::JsonSchema;
use serde::Serialize;

use super::is_checker;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::Session;
use holdfast_tracker::answers::gates::{Standing, absent, check_judge, standings};
use holdfast_tracker::answers::show::Whole;
use holdfast_tracker::code::Exit;
use holdfast_tracker::error::Result;
use holdfast_tracker::gates::{Gate, Outcome, Registry, Run, outputs};
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::writes::{Changed, Draft, Finished, GateResult, Verdict, Writer};

/// How long a command may take whose definition does not say.
const USUAL: u64 = 600;

/// What came of a check, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct GateCheckOutput {
    /// Whether every gate that was asked for is passed.
    pub passed: bool,
    /// How each gate of the issue stands.
    pub gates: Vec<Standing>,
    /// The issue.
    pub issue: Whole,
}

/// A gate whose command was run.
struct Checked {
    key: String,
    outcome: Outcome,
}

pub(super) fn run(context: &Context, session: &Session, id: &str, keys: &[String]) -> Result<Report> {
    let writer = Writer::open(session)?;
    let id = writer.issues.resolve(id)?;
    // A command that runs for minutes is not begun for somebody who may not keep what comes of it.
    let is_checker = is_checker(session);
    if !is_checker {
        writer.may(id, "checking the gates of")?;
    }
    let issue = writer.issues.read(id)?;
    let gates = issue.gates.clone();
    let wanted: Vec<String> = if keys.is_empty() { gates.iter().cloned().collect() } else { keys.to_vec() };
    let registry = Registry::load(session)?;
    let mut checked = Vec::new();
    for key in wanted.iter().filter(|key| gates.contains(*key)) {
        check_judge(session, &issue, key)?;
        if let Some(outcome) = outcome(context, session, id, key, registry.get(key)?)? {
            checked.push(Checked { key: key.clone(), outcome });
        }
    }
    // What they wrote is for whoever looks into it, and no part of the history.
    checked.iter().for_each(|one| outputs::keep(session, id, &one.key, &one.outcome));
    if is_checker {
        let keep =
            |draft: &Draft| checked.iter().map(|one| (one.key.clone(), one.judgement(draft))).collect();
        let draft = writer.report(id, keep)?;
        let changed = Changed { value: (), draft, written: true };
        return Ok(report(session, &writer.issues, &changed, &wanted, &checked));
    }
    let changed = writer.change(id, "recording the gates of", |draft| {
        match wanted.iter().find(|key| !draft.issue().gates.contains(*key)) {
            Some(key) => Err(absent(draft, key)),
            None => {
                checked.iter().for_each(|one| one.keep(draft));
                Ok(())
            }
        }
    });
    if changed.is_err() {
        // Nobody else will ever see it.
        checked.iter().for_each(|one| context.printer.progress(&one.text()));
    }
    Ok(report(session, &writer.issues, &changed?, &wanted, &checked))
}

fn outcome(
    context: &Context,
    session: &Session,
    id: IssueId,
    key: &str,
    gate: &Gate,
) -> Result<Option<Outcome>> {
    let Some(command) = &gate.command else { return Ok(None) };
    let directory = session.root().unwrap_or(&context.caller.start);
    context.printer.progress(&format!("{key}: {command}"));
    let issue = id.to_string();
    let variables = [("JIT_ISSUE_ID", issue.as_str()), ("JIT_GATE", key)];
    let limit = Millis::from_secs(gate.timeout_secs.unwrap_or(USUAL));
    let run = Run { sys: &context.caller.sys, command, directory, variables: &variables, limit };
    run.run().map(Some)
}

impl Checked {
    fn keep(&self, draft: &mut Draft) {
        let judgement = self.judgement(draft);
        draft.judge(&self.key, judgement);
    }

    fn judgement(&self, draft: &Draft) -> GateResult {
        let verdict = if self.outcome.passed() { Verdict::Passed } else { Verdict::Failed };
        GateResult {
            exit_code: self.outcome.code,
            timed_out: self.outcome.timed_out,
            ..draft.judgement(verdict, None)
        }
    }

    /// How it went; with what it wrote, if it failed.
    fn text(&self) -> String {
        let Outcome { code, timed_out, output } = &self.outcome;
        let end = match (code, timed_out) {
            (_, true) => "took too long and was stopped".to_owned(),
            (Some(0), _) => return format!("{}: passed\n", self.key),
            (Some(code), _) => format!("failed with exit code {code}"),
            (None, _) => "was stopped by a signal".to_owned(),
        };
        let lines: String = output.lines().map(|line| format!("  {line}\n")).collect();
        format!("{}: {end}\n{lines}", self.key)
    }
}

fn report(
    session: &Session,
    issues: &Issues<'_>,
    changed: &Changed<()>,
    wanted: &[String],
    checked: &[Checked],
) -> Report {
    let draft = &changed.draft;
    let mut text: String = checked.iter().map(Checked::text).collect();
    let manual = wanted.iter().filter(|key| !checked.iter().any(|one| one.key == **key));
    for key in manual {
        let status = if draft.results().passed(key) { "passed" } else { "open: jit gate pass says when" };
        text.push_str(&format!("{key}: {status}\n"));
    }
    if draft.finished() == Some(Finished::Done) {
        text.push_str("every gate is passed: done\n");
    }
    let passed = wanted.iter().all(|key| draft.results().passed(key));
    let (gates, issue) =
        (standings(session, draft.id(), draft.issue(), draft.results()), Whole::new(issues, draft));
    let document = GateCheckOutput { passed, gates, issue };
    let exit = if passed { Exit::Ok } else { Exit::Failed };
    Report::new(text, &document).brief(if passed { "passed" } else { "failed" }).exit(exit)
}

//! `jit dep`: what waits for what. A circle is refused with the circle shown.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Dep as Command;
use crate::commands::issue;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::answers::show::Whole;
use holdfast_tracker::error::Result;
use holdfast_tracker::ids::{IssueId, Typed};
use holdfast_tracker::issues::Issues;
use holdfast_tracker::writes::{Changed, Writer};

/// Issues whose dependencies were changed, as one JSON object: one issue, or several.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DepOutput {
    /// One issue was named.
    One(Box<DepChange>),
    /// Several were named.
    Many {
        /// What became of each.
        changes: Vec<DepChange>,
        /// How many.
        count: usize,
    },
}

/// An issue whose dependencies were changed.
#[derive(Serialize, JsonSchema)]
pub struct DepChange {
    /// The issue.
    pub issue: Whole,
    /// Whether anything was written.
    pub changed: bool,
    /// The ids of the issues that it waits for since then.
    pub added: Vec<String>,
    /// The ids of the issues that it waited for until then.
    pub removed: Vec<String>,
}

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    let session = context.session()?;
    let writer = Writer::open(&session)?;
    let (from, to, there) = match command {
        Command::Add { from, to } => (from, to, true),
        Command::Rm { from, to } => (from, to, false),
    };
    let from = issue::several(&writer.issues, from)?;
    let changed = if there {
        let to = to.iter().map(|id| writer.issues.resolve(id)).collect::<Result<Vec<_>>>()?;
        writer.depend(&from, &to)?
    } else {
        // Also on issues that are not there any more.
        let to = to.iter().map(|id| Typed::new(id)).collect::<Result<Vec<_>>>()?;
        writer.undepend(&from, &to)?
    };
    Ok(report(&writer.issues, changed, there))
}

fn report(issues: &Issues<'_>, changed: Vec<Changed<Vec<String>>>, there: bool) -> Report {
    let called = |id: &str| IssueId::parse(id).map_or_else(|| id.to_owned(), |id| issues.handle(id));
    let verb = if there { "depends on" } else { "no longer depends on" };
    let mut text = String::new();
    for one in &changed {
        let issue = issues.handle(one.draft.id());
        if one.value.is_empty() {
            text.push_str(&format!("unchanged {issue}\n"));
        }
        one.value.iter().for_each(|on| text.push_str(&format!("{issue} {verb} {}\n", called(on))));
    }
    let brief = match changed.as_slice() {
        [one] => one.value.join("\n"),
        several => several.iter().map(|one| one.draft.id().to_string()).collect::<Vec<_>>().join("\n"),
    };
    let change = |one: Changed<Vec<String>>| {
        let issue = Whole::new(issues, &one.draft);
        let (added, removed) = if there { (one.value, Vec::new()) } else { (Vec::new(), one.value) };
        DepChange { issue, changed: one.written, added, removed }
    };
    let mut changes: Vec<DepChange> = changed.into_iter().map(change).collect();
    let count = changes.len();
    let document = match changes.pop() {
        Some(only) if count == 1 => DepOutput::One(Box::new(only)),
        last => {
            changes.extend(last);
            DepOutput::Many { changes, count }
        }
    };
    Report::new(text, &document).brief(brief)
}

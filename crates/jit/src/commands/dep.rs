//! `jit dep`: what waits for what. A circle is refused with the circle shown.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Dep as Command;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::answers::show::Whole;
use holdfast_tracker::error::Result;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::writes::{Changed, Writer};

/// An issue whose dependencies were changed, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct DepOutput {
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
    let from = writer.issues.resolve(from)?;
    let changed = if there {
        let to = to.iter().map(|id| writer.issues.resolve(id)).collect::<Result<Vec<_>>>()?;
        writer.depend(from, &to)?
    } else {
        remove(&writer, from, to)?
    };
    Ok(report(&writer.issues, changed, there))
}

/// Removes dependencies, also on issues that are not there any more.
fn remove(writer: &Writer<'_>, from: IssueId, to: &[String]) -> Result<Changed<Vec<String>>> {
    writer.change(from, "removing a dependency from", |draft| {
        let known: Vec<IssueId> = draft.dependencies().iter().filter_map(|id| IssueId::parse(id)).collect();
        let mut changed = Vec::new();
        for typed in to {
            let meant = holdfast_tracker::ids::Typed::new(typed)?.only(known.iter().copied())?;
            if let Some(on) = meant.map(|id| id.to_string())
                && draft.depend(&on, false)?
            {
                changed.push(on);
            }
        }
        Ok(changed)
    })
}

fn report(issues: &Issues<'_>, changed: Changed<Vec<String>>, there: bool) -> Report {
    let called = |id: &str| IssueId::parse(id).map_or_else(|| id.to_owned(), |id| issues.handle(id));
    let issue = issues.handle(changed.draft.id());
    let verb = if there { "depends on" } else { "no longer depends on" };
    let mut text: String =
        changed.value.iter().map(|on| format!("{issue} {verb} {}\n", called(on))).collect();
    if text.is_empty() {
        text = format!("unchanged {issue}\n");
    }
    let brief = changed.value.join("\n");
    let (added, removed) = if there { (changed.value, Vec::new()) } else { (Vec::new(), changed.value) };
    let issue = Whole::new(issues, &changed.draft);
    let document = DepOutput { issue, changed: changed.written, added, removed };
    Report::new(text, &document).brief(brief)
}

//! `jit dep`: what waits for what. A circle is refused with the circle shown.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Dep as Command;
use crate::commands::issue::show::Whole;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::error::Result;
use holdfast_tracker::ids::IssueId;
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

/// Does what was typed.
///
/// # Errors
/// What went wrong.
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
    Ok(report(changed, there))
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

fn report(changed: Changed<Vec<String>>, there: bool) -> Report {
    let issue = changed.draft.issue();
    let verb = if there { "depends on" } else { "no longer depends on" };
    let mut text: String = changed.value.iter().map(|on| format!("{} {verb} {on}\n", issue.id)).collect();
    if text.is_empty() {
        text = format!("unchanged {}\n", issue.id);
    }
    let brief = changed.value.join("\n");
    let (added, removed) = if there { (changed.value, Vec::new()) } else { (Vec::new(), changed.value) };
    let document = DepOutput { issue: Whole::from(&changed.draft), changed: changed.written, added, removed };
    Report::new(text, &document).brief(brief)
}

//! `jit issue update`.

use super::described;
use crate::cli::UpdateIssue;
use crate::output::Report;
use holdfast_tracker::Session;
use holdfast_tracker::answers::update::{self, Change, Updated};
use holdfast_tracker::error::Result;
use holdfast_tracker::issues::{Issues, State};
use holdfast_tracker::writes::Finished;

pub(super) fn run(session: &Session, typed: &UpdateIssue) -> Result<Report> {
    let change = Change {
        title: typed.title.clone(),
        description: described(typed.description.as_deref())?,
        state: typed.state.clone(),
        priority: typed.priority.clone(),
        kind: typed.kind.clone(),
        labels: typed.labels.clone(),
        remove_labels: typed.remove_labels.clone(),
        relates: typed.relates.clone(),
        duplicates: typed.duplicates.clone(),
        unrelate: typed.unrelate.clone(),
        links: typed.links.clone(),
        assignee: typed.assignee.clone(),
        unassign: typed.unassign,
        strict: typed.strict,
    };
    let updated = update::update(session, &typed.ids, &change)?;
    Ok(report(&Issues::new(session), &updated))
}

fn report(issues: &Issues<'_>, updated: &Updated) -> Report {
    let mut text = String::new();
    for one in &updated.changed {
        let verb = if one.written { "updated" } else { "unchanged" };
        let handle = issues.handle(one.draft.id());
        text.push_str(&format!("{verb} {handle}: {}\n", one.draft.issue().title));
        if let (Some(State::Done | State::Gated), Some(Finished::Gated(open))) =
            (updated.state, one.draft.finished())
        {
            text.push_str(&format!("gated, not done: {} open\n", open.join(", ")));
        }
    }
    let brief: Vec<_> = updated.changed.iter().map(|one| one.draft.issue().id.clone()).collect();
    Report::new(text, &updated.document).brief(brief.join("\n"))
}

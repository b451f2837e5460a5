//! `jvs status`: where a worktree stands. Its head, who may write to it, and what is in no snapshot yet.

use holdfast_kernel::Standing;
use serde_json::json;

use super::diff::{documents, lines};
use crate::context::Context;
use crate::diff::unsaved;
use crate::error::Result;
use crate::holder::holder_of;
use crate::lock::Lock;
use crate::output::Report;
use crate::payload::Progress;
use crate::repo::Repo;
use crate::snapshot;
use crate::worktree::{Isolation, Worktree};

/// Shows where a worktree stands.
pub(super) fn run(context: &Context, name: Option<&str>) -> Result<Report> {
    let repo = context.repo()?;
    let worktree = context.worktree(&repo, name)?;
    let (state, by) = lock(context, &repo, &worktree)?;
    let progress = Progress::default();
    let found = context.printer.watch("comparing", &progress, || unsaved(&repo, &worktree, &progress))?;
    let head = match worktree.head {
        None => "no snapshot yet".to_owned(),
        Some(head) => {
            let note = snapshot::load(&repo, head)?.0.note;
            format!("head {head}{}", note.map_or_else(String::new, |note| format!(" '{note}'")))
        }
    };
    let lock = match (state, &by) {
        ("mine", _) => "locked by this session".to_owned(),
        (_, Some(by)) => format!("locked by {by}"),
        (state, None) => state.to_owned(),
    };
    let changes = match found.len() {
        0 => "nothing is unsaved\n".to_owned(),
        1 => format!("1 unsaved change:\n{}", lines(&found)),
        many => format!("{many} unsaved changes:\n{}", lines(&found)),
    };
    let text = format!("worktree '{}', {head}, {lock}\n{changes}", worktree.name);
    let json = json!({
        "worktree": worktree.name, "head": worktree.head, "lock": state, "holder_id": by,
        "clean": found.is_empty(), "count": found.len(), "changes": documents(&found),
    });
    Ok(Report::new(text, &json))
}

/// Who may write: `free`, `shared`, `mine` or `held`, and by whom.
fn lock(context: &Context, repo: &Repo, worktree: &Worktree) -> Result<(&'static str, Option<String>)> {
    if worktree.isolation == Isolation::Shared {
        return Ok(("shared", None));
    }
    let view = Lock::of(repo, worktree)?.view()?;
    let held = view.table.iter().find(|lease| matches!(lease.standing(&view.now), Standing::Live { .. }));
    let Some(lease) = held else { return Ok(("free", None)) };
    let session = context.session(repo, worktree)?;
    let state = if session.is_some_and(|one| one.lock_id == lease.id) { "mine" } else { "held" };
    Ok((state, Some(holder_of(lease))))
}

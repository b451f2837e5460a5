//! `jvs gc`: list what nobody needs, and delete exactly that.

use holdfast_door::table;
use serde_json::json;

use crate::cli;
use crate::context::Context;
use crate::error::Result;
use crate::gc;
use crate::output::Report;

pub(super) fn run(context: &Context, command: &cli::Gc) -> Result<Report> {
    let repo = context.repo()?;
    match command {
        cli::Gc::Plan => {
            let plan = gc::plan(&repo)?;
            let bytes: u64 = plan.snapshots.iter().map(|one| one.bytes).sum();
            let rows: Vec<[String; 4]> = plan
                .snapshots
                .iter()
                .map(|one| {
                    let note = one.note.clone().unwrap_or_default();
                    [one.snapshot_id.to_string(), one.worktree.to_string(), one.bytes.to_string(), note]
                })
                .collect();
            let json = json!({
                "plan_id": plan.id, "delete": plan.snapshots, "kept": plan.kept, "bytes": bytes,
            });
            let list = table(["ID", "WORKTREE", "BYTES", "NOTE"], &rows);
            let text = format!(
                "{list}{} snapshots with {bytes} bytes could be deleted, {} are needed\n\
                 jvs gc run --plan-id {}\n",
                rows.len(),
                plan.kept,
                plan.id
            );
            Ok(Report::new(text, &json))
        }
        cli::Gc::Run { plan_id } => {
            let deleted = gc::run(&repo, plan_id)?;
            let text = format!("deleted {} snapshots\n", deleted.len());
            Ok(Report::new(text, &json!({ "plan_id": plan_id, "deleted": deleted })))
        }
    }
}

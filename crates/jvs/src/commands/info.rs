//! `jvs info`: what holds for a repository.

use serde_json::json;

use crate::context::Context;
use crate::error::Result;
use crate::output::Report;
use crate::repo::FORMAT;
use crate::snapshot;
use crate::worktree::{Survey, Worktree};

/// Shows what holds.
pub(super) fn run(context: &Context) -> Result<Report> {
    let repo = context.repo()?;
    let Survey { readable: worktrees, damaged } = Worktree::survey(&repo)?;
    for one in &damaged {
        context.printer.warn(&format!("a worktree is not counted: {}", one.error));
    }
    let snapshots = snapshot::all(&repo)?;
    let risky: Vec<&str> = worktrees
        .iter()
        .filter(|worktree| {
            snapshots.iter().any(|one| Some(one.snapshot_id) == worktree.head && one.risk.is_some())
        })
        .map(|worktree| worktree.name.as_str())
        .collect();
    let (files, bytes) = snapshots.iter().fold((0, 0), |(f, b), one| (f + one.files, b + one.bytes));
    let policy = repo.config.policy;
    let json = json!({
        "root": repo.root,
        "repo_id": repo.config.repo_id,
        "format_version": FORMAT,
        "engine": "reflink-or-copy",
        "default_isolation": "exclusive",
        "default_consistency": "quiesced",
        "policy": policy,
        "totals": { "worktrees": worktrees.len(), "snapshots": snapshots.len(), "files": files, "bytes": bytes },
        "risk": !risky.is_empty(),
        "risky_heads": risky,
    });
    let risk = if risky.is_empty() { "none".to_owned() } else { risky.join(", ") };
    let text = format!(
        "repository {} ({})\nformat {FORMAT}, engine reflink or copy, default isolation exclusive, default \
         consistency quiesced\nlease {} ms, renewed every {} ms, clocks may be {} ms apart, grace {} ms\n\
         {} worktrees, {} snapshots with {files} files and {bytes} bytes\nheads with a risk: {risk}\n",
        repo.root.display(),
        repo.config.repo_id,
        policy.lease_duration_ms,
        policy.renew_interval_ms,
        policy.max_clock_skew_ms,
        policy.steal_grace_ms,
        worktrees.len(),
        snapshots.len(),
    );
    Ok(Report::new(text, &json))
}

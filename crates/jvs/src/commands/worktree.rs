//! `jvs worktree`: make, list, find, rename and remove worktrees.

use holdfast_door::table;
use serde_json::json;

use crate::change;
use crate::cli;
use crate::context::Context;
use crate::error::Result;
use crate::names::{OpId, WorktreeName};
use crate::output::Report;
use crate::payload::Progress;
use crate::worktree::{Isolation, Survey, Worktree};

pub(super) fn run(context: &Context, command: &cli::Worktree) -> Result<Report> {
    match command {
        cli::Worktree::Create { name, from, isolation } => {
            let isolation = match isolation {
                cli::Isolation::Exclusive => Isolation::Exclusive,
                cli::Isolation::Shared => Isolation::Shared,
            };
            create(context, name, from.as_deref(), isolation)
        }
        cli::Worktree::List => list(context),
        cli::Worktree::Path { name } => path(context, name.as_deref()),
        cli::Worktree::Rename { from, to } => rename(context, from, to),
        cli::Worktree::Remove { name, force } => remove(context, name, *force),
    }
}

/// Makes a worktree.
pub(super) fn create(
    context: &Context,
    name: &str,
    from: Option<&str>,
    isolation: Isolation,
) -> Result<Report> {
    let name = WorktreeName::new(name)?;
    let from = from.map(OpId::typed).transpose()?;
    let repo = context.repo()?;
    let progress = Progress::default();
    let made = context
        .printer
        .watch("copying", &progress, || change::create(&repo, name, isolation, from, &progress))?;
    let path = repo.payload(&made.name);
    let text = format!("made the worktree '{}' in {}\n", made.name, path.display());
    Ok(Report::new(text, &json!({ "worktree": made, "path": path })))
}

fn list(context: &Context) -> Result<Report> {
    let repo = context.repo()?;
    let Survey { readable: all, damaged } = Worktree::survey(&repo)?;
    for one in &damaged {
        context.printer.warn(&format!("a worktree cannot be shown: {}", one.error));
    }
    let damaged: Vec<&str> = damaged.iter().map(|one| one.worktree_id.as_str()).collect();
    let rows: Vec<[String; 4]> = all
        .iter()
        .map(|worktree| {
            let isolation = match worktree.isolation {
                Isolation::Exclusive => "exclusive",
                Isolation::Shared => "shared",
            };
            let head = worktree.head.map_or_else(|| "-".to_owned(), |head| head.to_string());
            let path = repo.payload(&worktree.name).to_string_lossy().into_owned();
            [worktree.name.to_string(), isolation.to_owned(), head, path]
        })
        .collect();
    let json = json!({ "count": all.len(), "worktrees": all, "damaged": damaged });
    Ok(Report::new(table(["NAME", "ISOLATION", "HEAD", "PATH"], &rows), &json))
}

fn path(context: &Context, name: Option<&str>) -> Result<Report> {
    let repo = context.repo()?;
    let worktree = context.worktree(&repo, name)?;
    let path = repo.payload(&worktree.name);
    let json = json!({ "name": worktree.name, "path": path });
    Ok(Report::new(format!("{}\n", path.display()), &json))
}

fn rename(context: &Context, from: &str, to: &str) -> Result<Report> {
    let (from, to) = (WorktreeName::new(from)?, WorktreeName::new(to)?);
    let repo = context.repo()?;
    let renamed = change::rename(&repo, &Worktree::named(&repo, &from)?, to)?;
    let text = format!("'{from}' is '{}' from now on\n", renamed.name);
    Ok(Report::new(text, &json!({ "worktree": renamed, "path": repo.payload(&renamed.name) })))
}

fn remove(context: &Context, name: &str, force: bool) -> Result<Report> {
    let name = WorktreeName::new(name)?;
    let repo = context.repo()?;
    let worktree = Worktree::named(&repo, &name)?;
    let progress = Progress::default();
    context.printer.watch("comparing", &progress, || change::remove(&repo, &worktree, force, &progress))?;
    Ok(Report::new(format!("removed the worktree '{name}'\n"), &json!({ "removed": worktree })))
}

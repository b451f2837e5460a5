//! `jvs restore`: bring a snapshot back, as a worktree of its own or in the place of a payload.

use serde_json::json;

use super::snapshot::{held_session, kept};
use crate::change;
use crate::context::Context;
use crate::error::{Class, Error, Result};
use crate::names::OpId;
use crate::output::Report;
use crate::payload::Progress;
use crate::publish::{Wanted, publish};
use crate::snapshot::Consistency;
use crate::worktree::Isolation;

/// The longest reason, in bytes.
const LONGEST_REASON: usize = 1_024;

/// What becomes of a payload that is in no snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unsaved {
    /// It stays, and nothing happens.
    Refuse,
    /// It is lost.
    Lose,
    /// A snapshot of it is taken.
    Save,
}

impl Unsaved {
    /// What the flags say.
    pub(super) const fn new(force: bool, snapshot_first: bool) -> Self {
        match (force, snapshot_first) {
            (true, _) => Self::Lose,
            (false, true) => Self::Save,
            (false, false) => Self::Refuse,
        }
    }
}

/// Brings a snapshot back as a worktree of its own.
pub(super) fn beside(context: &Context, id: &str, name: Option<&str>) -> Result<Report> {
    let from = OpId::typed(id)?;
    let name = name.map_or_else(|| format!("restored-{from}"), str::to_owned);
    super::worktree::create(context, &name, Some(id), Isolation::Exclusive)
}

/// That something was typed as a reason, and not a book.
pub(super) fn is_a_reason(text: &str) -> Result<()> {
    if text.trim().is_empty() || text.len() > LONGEST_REASON {
        return Err(Error::usage(format!("a reason has 1 to {LONGEST_REASON} bytes")));
    }
    Ok(())
}

/// Puts a snapshot in the place of a payload.
pub(super) fn in_place(
    context: &Context,
    id: &str,
    name: Option<&str>,
    reason: Option<&str>,
    unsaved: Unsaved,
) -> Result<Report> {
    let from = OpId::typed(id)?;
    let reason = reason.ok_or_else(|| Error::usage("--inplace needs --reason"))?;
    is_a_reason(reason)?;
    let repo = context.repo()?;
    let mut worktree = context.worktree(&repo, name)?;
    let session = held_session(context, &repo, &worktree)?;
    let progress = Progress::default();
    let mut first = None;
    if unsaved == Unsaved::Save {
        // There is no use in saving what is to be replaced by something that is not there.
        crate::snapshot::load(&repo, from)?;
        let saved =
            context.printer.watch("comparing", &progress, || change::saved(&repo, &worktree, "", &progress));
        match saved {
            Err(error) if error.class() == Class::UnsavedChanges => {
                let note = Some(format!("before {from} was restored"));
                let wanted = Wanted { note, consistency: Consistency::Quiesced, session: session.as_ref() };
                let work = || publish(&repo, &worktree, &wanted, &progress);
                let work = || context.printer.watch("copying", &progress, work);
                first = Some(kept(&repo, &worktree, session.as_ref(), work)?.snapshot_id);
                worktree = context.worktree(&repo, name)?;
            }
            saved => drop(saved?),
        }
    }
    let left = worktree.head;
    let unsaved = if unsaved == Unsaved::Lose { change::Unsaved::Lose } else { change::Unsaved::Refuse };
    let work = || change::restore(&repo, &worktree, from, reason, session.as_ref(), unsaved, &progress);
    kept(&repo, &worktree, session.as_ref(), || context.printer.watch("copying", &progress, work))?;
    let path = repo.payload(&worktree.name);
    let saved = first.map_or_else(String::new, |id| format!("what was unsaved is in {id}\n"));
    let text = format!(
        "{saved}'{}' is {from} again\na shell that is inside has to enter {} anew\n",
        worktree.name,
        path.display()
    );
    let json = json!({
        "worktree": worktree.name, "restored": from, "reason": reason, "path": path, "head_before": left,
        "snapshot_first": first,
    });
    Ok(Report::new(text, &json))
}

//! `jvs restore`: bring a snapshot back, as a worktree of its own or in the place of a payload.

use serde_json::json;

use super::snapshot::{held_session, kept};
use crate::change;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::names::OpId;
use crate::output::Report;
use crate::payload::Progress;
use crate::worktree::Isolation;

/// The longest reason, in bytes.
const LONGEST_REASON: usize = 1_024;

/// Where a snapshot goes.
pub(super) enum Place<'a> {
    /// Into a worktree of its own, with this name if there is one.
    Worktree(Option<&'a str>),
    /// In the place of the payload of a worktree.
    InPlace {
        /// Which worktree.
        worktree: Option<&'a str>,
        /// Why.
        reason: &'a str,
    },
}

impl<'a> Place<'a> {
    /// What the flags say.
    pub(super) fn new(
        name: Option<&'a str>,
        inplace: bool,
        reason: Option<&'a str>,
        worktree: Option<&'a str>,
    ) -> Self {
        if inplace {
            Self::InPlace { worktree, reason: reason.unwrap_or_default() }
        } else {
            Self::Worktree(name)
        }
    }
}

/// Brings a snapshot back.
pub(super) fn run(context: &Context, id: &str, place: &Place<'_>) -> Result<Report> {
    let from = OpId::typed(id)?;
    match place {
        Place::Worktree(name) => {
            let name = name.map_or_else(|| format!("restored-{from}"), str::to_owned);
            super::worktree::create(context, &name, Some(id), Isolation::Exclusive)
        }
        Place::InPlace { worktree, reason } => in_place(context, from, *worktree, reason),
    }
}

/// That something was typed as a reason, and not a book.
pub(super) fn is_a_reason(text: &str) -> Result<()> {
    if text.trim().is_empty() || text.len() > LONGEST_REASON {
        return Err(Error::usage(format!("a reason has 1 to {LONGEST_REASON} bytes")));
    }
    Ok(())
}

fn in_place(context: &Context, from: OpId, name: Option<&str>, reason: &str) -> Result<Report> {
    is_a_reason(reason)?;
    let repo = context.repo()?;
    let worktree = context.worktree(&repo, name)?;
    let session = held_session(context, &repo, &worktree)?;
    let progress = Progress::default();
    let work = || change::restore(&repo, &worktree, from, reason, session.as_ref(), &progress);
    kept(&repo, &worktree, session.as_ref(), || context.printer.watch("copying", &progress, work))?;
    let path = repo.payload(&worktree.name);
    let text = format!(
        "'{}' is {from} again\na shell that is inside has to enter {} anew\n",
        worktree.name,
        path.display()
    );
    let json = json!({ "worktree": worktree.name, "restored": from, "reason": reason, "path": path });
    Ok(Report::new(text, &json))
}

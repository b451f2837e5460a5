//! The short way: names, flags and help of what one does all day.

use clap::Args;

use super::{Filters, Terms};

/// Beginning work.
#[derive(Args, Debug)]
pub struct Start {
    /// The issue; the best one that is available if not given
    pub issue: Option<String>,
    /// The terms of the claim.
    #[command(flatten)]
    pub terms: Terms,
    /// Which issues are wanted.
    #[command(flatten)]
    pub filters: Filters,
    /// Wait that long for the issue to become free, or for one to become available, in seconds; as long as it takes if no number is given
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "forever", allow_negative_numbers = true)]
    pub wait: Option<String>,
    /// Reserve these paths with it, or claim nothing
    #[arg(long, value_name = "PATTERN")]
    pub reserve: Vec<String>,
    /// In a worktree of its own, which is made for it
    #[arg(long, conflicts_with_all = ["here", "another"])]
    pub worktree: bool,
    /// Stay on the branch that this worktree is on
    #[arg(long)]
    pub here: bool,
    /// One more, also if this worktree holds one already
    #[arg(long)]
    pub another: bool,
}

/// Finishing work.
#[derive(Args, Debug)]
pub struct Finish {
    /// The issue; the one that this worktree holds if not given
    pub issue: Option<String>,
    /// What the commit says; the title of the issue if not given
    #[arg(short, long, value_name = "TEXT")]
    pub message: Option<String>,
    /// Commit everything that is not ignored, new files too
    #[arg(short, long)]
    pub all: bool,
    /// Leave changes here that are not staged
    #[arg(long, conflicts_with = "all")]
    pub leave: bool,
    /// There is nothing to change; the message says why
    #[arg(long, requires = "message")]
    pub empty: bool,
    /// Keep it on its branch, for a review
    #[arg(long)]
    pub no_land: bool,
    /// Another issue that this branch may change
    #[arg(long, value_name = "ISSUE")]
    pub with: Vec<String>,
}

/// Giving work back.
#[derive(Args, Debug)]
pub struct Drop {
    /// The issue; the one that this worktree holds if not given
    pub issue: Option<String>,
    /// Why, as a note for whoever takes it next
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Making parts of an issue.
#[derive(Args, Debug)]
pub struct Split {
    /// The issue, which this worktree holds
    pub issue: String,
    /// The title of a part, for each of them
    #[arg(long, value_name = "TITLE", num_args = 1.., required = true)]
    pub into: Vec<String>,
}

/// Landing what others finished.
#[derive(Args, Debug)]
pub struct Land {
    /// The issues
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub issues: Vec<String>,
    /// Everything that is finished on a branch and held by nobody
    #[arg(long)]
    pub all: bool,
    /// Another issue that the branch may change
    #[arg(long, value_name = "ISSUE")]
    pub with: Vec<String>,
}

/// Opening an issue again.
#[derive(Args, Debug)]
pub struct Reopen {
    /// The issue
    pub issue: String,
    /// Why, as a note for whoever takes it next
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Take back what landed for it as well, with a commit on this branch
    #[arg(long)]
    pub revert: bool,
}

/// Closing an issue without work.
#[derive(Args, Debug)]
pub struct Close {
    /// The issue
    pub issue: String,
    /// How it ends: `rejected`, or `duplicate-of` and another issue
    #[arg(long = "as", value_name = "HOW", num_args = 1..=2, required = true)]
    pub how: Vec<String>,
    /// Why, as a note
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

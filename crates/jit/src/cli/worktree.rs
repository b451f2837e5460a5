//! `jit worktree`: names, flags and help.

use clap::{Args, Subcommand};

/// Worktrees.
#[derive(Subcommand, Debug)]
pub enum Worktree {
    /// Show this worktree
    Info,
    /// List all worktrees
    List,
    /// Give this worktree an identity, and to an agent
    #[command(after_help = "Examples:\n  jit worktree init\n  jit worktree init --agent agent:ann")]
    Init {
        /// Who works here, unless `--agent-id` or `JIT_AGENT_ID` says otherwise
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
    },
    /// Make a worktree for an agent
    #[command(
        after_help = "It is made in ../<repository>.worktrees/NAME, or below worktree.dir. Whoever works in it is the \
        agent that it was made for, unless --agent-id or JIT_AGENT_ID says otherwise.\n\nExamples:\n  \
        jit worktree add ann --agent agent:ann\n  jit worktree add fix --branch hotfix --from v1.2\n  \
        cd \"$(jit worktree add -q bob --agent agent:bob)\""
    )]
    Add(AddWorktree),
    /// Remove a worktree that has no work of its own; its branch stays
    #[command(after_help = "Examples:\n  jit worktree remove ann\n  jit worktree remove ann --force")]
    Remove {
        /// Its name, path or id
        name: String,
        /// Also if it has changes that are in no commit, or commits that have not landed
        #[arg(long)]
        force: bool,
    },
    /// End claims whose worktree is gone
    #[command(
        after_help = "A worktree is gone when git does not know it any more.\n\nExamples:\n  jit worktree prune"
    )]
    Prune,
}

/// A worktree that is wanted.
#[derive(Args, Debug)]
pub struct AddWorktree {
    /// What it is called
    pub name: String,
    /// Who works there, `type:name`
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// Its branch; one of the same name if not given
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// Where a new branch begins; where work lands if not given
    #[arg(long, value_name = "REF")]
    pub from: Option<String>,
}

//! What whoever asks should know besides the answer. A notice is a value: a terminal prints it at once, a server
//! puts it beside the answer.

use std::fmt;

use holdfast_kernel::{Holder, Lease, LeaseId, Millis, Resource};

use crate::times::span;

/// Somebody who hears notices.
pub trait Listener: Send + Sync {
    /// Hears a notice at the moment at which it arises.
    fn hear(&self, notice: &Notice);
}

/// Somebody who hears nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Listener for Silent {
    fn hear(&self, _: &Notice) {}
}

/// What whoever asks should know besides the answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// A copy of an issue, or a layer of copies, cannot be used.
    Unusable(String),
    /// So many more like these cannot be used.
    MoreUnusable(usize),
    /// Copies that differ are compared without their fences.
    FencesNotCompared(String),
    /// Who holds what is not known.
    ClaimsUnknown(String),
    /// What is known of the claims is old, because the server that keeps them cannot be reached.
    ClaimsOld {
        /// How old.
        age: Millis,
        /// Why it cannot be reached.
        why: String,
    },
    /// Claims are this clone's alone, although there is a remote that other clones may have.
    ClaimsAlone {
        /// The remote.
        remote: String,
    },
    /// Claims in force that were made in this clone before all clones shared theirs.
    LeftBehind(Vec<String>),
    /// A commit that was landed is not on the target any more.
    LandedGone(String),
    /// What lies on branches is not known.
    BranchesUnknown(String),
    /// The worktrees of the repository cannot be listed.
    WorktreesUnknown(String),
    /// A worktree does not follow the branch that it has checked out.
    NotFollowed {
        /// Where it is.
        root: String,
        /// Why not.
        why: String,
    },
    /// A file was half written when a landing was cut off by a power loss.
    SetAside {
        /// The file.
        path: String,
        /// Where it is kept.
        at: String,
    },
    /// The branch of a worktree stays where it was after its work has landed.
    BranchStays(String),
    /// What a remote said to a push, with an address in it.
    RemoteSays(String),
    /// A remote was asked where its branches are and did not say.
    NotFetched {
        /// The remote.
        remote: String,
        /// Why not.
        why: String,
    },
    /// What landed here is not at the remote.
    NotPushed(String),
    /// An issue was given back whose finished work no commit has.
    NotCommitted(String),
    /// A lease of whoever asks is about to end.
    LeaseEnding {
        /// The lease.
        lease: LeaseId,
        /// The issue that it is on.
        issue: Resource,
        /// How much of it is left.
        left: Millis,
        /// The same in percent of its length.
        percent: u64,
    },
    /// An issue is written to without a claim on it.
    Unclaimed {
        /// What is done to it.
        what: &'static str,
        /// The issue.
        issue: String,
    },
    /// An issue is begun that waits for others.
    Blocked {
        /// The issue.
        issue: String,
        /// What it waits for.
        by: Vec<String>,
    },
    /// The worktree is not where it was.
    WorktreeMoved {
        /// The id of the worktree.
        worktree: String,
        /// Where it was.
        from: String,
        /// Where it is.
        to: String,
    },
    /// The worktree is a copy of one that is still there.
    WorktreeCopied {
        /// The one that was copied.
        original: String,
        /// Where that is.
        at: String,
        /// What the copy is called from now on.
        copy: String,
    },
    /// The claims are a copy of others that are still there.
    ClaimsCopied {
        /// Where those are.
        original: String,
        /// The name that the copy's log has from now on.
        log: String,
    },
    /// The lock of the claims has been held for longer than anything takes.
    LockHeldLong {
        /// The lock.
        path: String,
        /// For how many seconds.
        secs: u64,
        /// By which process.
        pid: u32,
        /// And for whom.
        agent: String,
    },
    /// Whoever finished an issue here was cut off after it had landed; now its claim is given back.
    CutOff(String),
    /// What was done here after something had landed has not, and stays claimed.
    NotAll {
        /// What it was done for.
        handle: String,
        /// What stands in its way.
        why: String,
    },
    /// A clone with claims of its own has landed what is held here; the claim is given back.
    LandedElsewhere(String),
    /// A worktree has work on what is begun again, which is gone on with.
    GoesOn {
        /// The issue.
        handle: String,
        /// What is there.
        what: String,
    },
    /// A worktree goes to another branch, and what it leaves has commits that nobody will land.
    LeftBranch(String),
    /// A claim was granted, but its issue is not in this worktree.
    NotBrought {
        /// The issue.
        issue: String,
        /// The error that kept it away.
        why: String,
    },
    /// A claim was to be ended, and others have to approve that.
    ApprovalNeeded {
        /// What waits.
        what: String,
        /// What to type next.
        hint: String,
    },
    /// A holder has lost its claim to whoever asks.
    Evicted {
        /// The holder.
        holder: Holder,
        /// The issue.
        issue: Resource,
    },
    /// A hook found something that does not stop it.
    HookWarning {
        /// What it found.
        message: String,
        /// What to do.
        hint: String,
    },
    /// So many more like these were found.
    MoreHookWarnings(usize),
    /// A committed configuration cannot be used.
    ConfigNotUsed(String),
    /// Something that is tried again later has failed.
    Failed(String),
    /// Every gate of an issue is passed, and a branch has its work.
    PassedElsewhere {
        /// What the issue is called.
        issue: String,
        /// The branch.
        branch: String,
    },
    /// So much of something that takes long is done.
    Progress {
        /// What is done, in a word.
        what: &'static str,
        /// How many.
        done: usize,
        /// Of how many.
        of: usize,
    },
    /// An issue is waited for that somebody else holds.
    WaitingFor {
        /// The issue.
        issue: String,
        /// The lease in the way.
        lease: Box<Lease>,
        /// What is left of it, in words.
        left: String,
    },
    /// An issue is waited for that the rules do not grant yet.
    WaitingOn(String),
    /// An issue is waited for, and others came earlier.
    InLine {
        /// The issue.
        issue: String,
        /// Who came earlier.
        ahead: Vec<String>,
    },
    /// The command of a gate runs on what would land.
    GateRuns {
        /// The issue.
        issue: String,
        /// The gate.
        gate: String,
    },
}

impl Notice {
    /// Whether it tells of progress, and of nothing that could be wrong.
    #[must_use]
    pub const fn is_progress(&self) -> bool {
        matches!(
            self,
            Self::WaitingFor { .. }
                | Self::WaitingOn(_)
                | Self::InLine { .. }
                | Self::GateRuns { .. }
                | Self::Progress { .. }
        )
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unusable(what) | Self::Failed(what) | Self::WaitingOn(what) => f.write_str(what),
            Self::MoreUnusable(more) => write!(f, "and {more} more that cannot be used"),
            Self::FencesNotCompared(why) => write!(f, "fences are not compared: {why}"),
            Self::ClaimsUnknown(why) => write!(f, "cannot read the claims: {why}"),
            Self::ClaimsOld { age, why } => {
                write!(f, "the claims are as they were {} ago: {why}", span(*age))
            }
            Self::ClaimsAlone { remote } => write!(
                f,
                "claims are this clone's alone: another clone of {remote} may be given the same issue; \
                 to share them: jit engine init git"
            ),
            Self::LeftBehind(claims) => left_behind(f, claims),
            Self::LandedGone(commit) => landed_gone(f, commit),
            Self::BranchesUnknown(why) => write!(f, "cannot read the branches: {why}"),
            Self::WorktreesUnknown(why) => write!(f, "cannot list the worktrees: {why}"),
            Self::NotFollowed { root, why } => {
                write!(f, "{root} does not follow its branch yet ({why}); jit sync tries again")
            }
            Self::SetAside { path, at } => set_aside(f, path, at),
            Self::BranchStays(why) => write!(f, "this branch stays where it was: {why}"),
            Self::RemoteSays(words) => write!(f, "the remote says: {words}"),
            Self::NotFetched { remote, why } => write!(f, "cannot fetch from {remote}: {why}"),
            Self::NotPushed(why) => write!(f, "what landed here is not at the remote: {why}"),
            Self::NotCommitted(issue) => write!(
                f,
                "{issue} is finished, and no commit has it: others do not see the work before it lands"
            ),
            Self::LeaseEnding { issue, left, percent, .. } => ending(f, issue, *left, *percent),
            Self::Unclaimed { what, issue } => {
                write!(f, "{what} {issue} without holding its claim: jit claim acquire {issue}")
            }
            Self::Blocked { issue, by } => write!(f, "{issue} is blocked by {}", by.join(", ")),
            Self::WorktreeMoved { worktree, from, to } => {
                write!(f, "worktree {worktree} was moved from {from} to {to}")
            }
            Self::WorktreeCopied { original, at, copy } => copied(f, original, at, copy),
            Self::ClaimsCopied { original, log } => claims_copied(f, original, log),
            Self::LockHeldLong { path, secs, pid, agent } => held_long(f, path, *secs, *pid, agent),
            Self::CutOff(handle) => write!(f, "finished the interrupted landing of {handle}"),
            Self::NotAll { handle, why } => {
                write!(f, "{handle} has landed, but not all that was done since: {why}")
            }
            Self::LandedElsewhere(handle) => {
                write!(f, "another clone has landed {handle}: the claim on it was given back")
            }
            Self::GoesOn { handle, what } => write!(f, "goes on with {handle} as this worktree is: {what}"),
            Self::LeftBranch(branch) => write!(f, "this worktree has left {branch}, which keeps its commits"),
            Self::NotBrought { issue, why } => {
                write!(f, "{issue} could not be brought into this worktree: {why}")
            }
            Self::ApprovalNeeded { what, hint } => write!(f, "{what}: {hint}"),
            Self::Evicted { holder, issue } => write!(f, "{holder} has lost its claim on {issue}"),
            Self::HookWarning { message, hint } => write!(f, "{message}; {hint}"),
            Self::MoreHookWarnings(more) => write!(f, "and {more} more like these"),
            Self::ConfigNotUsed(why) => write!(f, "the configuration on HEAD is not used: {why}"),
            Self::PassedElsewhere { issue, branch } => {
                write!(f, "every gate of {issue} is passed, and {branch} has the work: jit land {issue}")
            }
            Self::WaitingFor { issue, lease, left } => {
                write!(f, "waiting for {issue}: held by {}, {left}", lease.holder)
            }
            Self::Progress { what, done, of } => write!(f, "{what} {done} of {of}"),
            Self::InLine { issue, ahead } => {
                write!(f, "waiting for {issue}: in line behind {}", ahead.join(", "))
            }
            Self::GateRuns { issue, gate } => write!(f, "running gate '{gate}' of {issue}"),
        }
    }
}

fn held_long(f: &mut fmt::Formatter<'_>, path: &str, secs: u64, pid: u32, agent: &str) -> fmt::Result {
    write!(f, "the lock {path} has been held for {secs} s by process {pid} ({agent}): if it hangs, end it")
}

fn copied(f: &mut fmt::Formatter<'_>, original: &str, at: &str, copy: &str) -> fmt::Result {
    write!(f, "this worktree is a copy of {original} at {at}: it is {copy} from now on")
}

fn claims_copied(f: &mut fmt::Formatter<'_>, original: &str, log: &str) -> fmt::Result {
    write!(f, "these claims are a copy of those in {original}: their log is {log} from now on")
}

fn set_aside(f: &mut fmt::Formatter<'_>, path: &str, at: &str) -> fmt::Result {
    write!(
        f,
        "{path} was neither what it had been nor what landed, after a landing that was cut off: it is as it \
         landed, and what it was is kept at {at}"
    )
}

fn ending(f: &mut fmt::Formatter<'_>, what: &Resource, left: Millis, percent: u64) -> fmt::Result {
    let left = span(left);
    match what {
        Resource::Pattern(pattern) => write!(
            f,
            "the reservation of {pattern} ends in {left} ({percent} % left): jit reserve add '{pattern}' keeps it"
        ),
        Resource::Name(issue) => {
            write!(f, "the claim on {issue} ends in {left} ({percent} % left): jit claim renew {issue}")
        }
    }
}

fn left_behind(f: &mut fmt::Formatter<'_>, claims: &[String]) -> fmt::Result {
    let claims = claims.join(", ");
    write!(
        f,
        "claims of this clone from before all clones shared theirs count no more: {claims}; claim them again"
    )
}

fn landed_gone(f: &mut fmt::Formatter<'_>, commit: &str) -> fmt::Result {
    let short = commit.get(..10).unwrap_or(commit);
    write!(f, "{short} was landed and is not on the target any more: somebody set it back")
}

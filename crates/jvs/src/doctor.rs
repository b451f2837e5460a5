//! What is wrong with a repository, by name, and what can be done about it. Looking changes nothing; repair
//! does what was listed, and nothing else.

mod find;
mod mend;

pub use find::find;
pub use mend::mend;

use std::path::PathBuf;

use serde::Serialize;

use crate::audit::Break;
use crate::names::OpId;

/// What a finding is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A snapshot that nobody is going to publish any more.
    IncompleteSnapshot,
    /// Other work that nobody is going to end.
    AbandonedOperation,
    /// A staging directory that belongs to nothing.
    OrphanedStaging,
    /// A file that a crash left beside the one that it was to replace.
    OrphanedTmp,
    /// The session of a shell that is gone.
    OrphanedSession,
    /// A line of the audit log that a crash cut off.
    TornAuditTail,
    /// The audit log is not what was written.
    AuditBroken,
    /// The clock is not that of the file system.
    ClockOffset,
    /// A lock that cannot be read.
    DamagedLock,
    /// A worktree that cannot be read.
    DamagedWorktree,
    /// A worktree without its payload.
    MissingPayload,
    /// A worktree whose head is no snapshot.
    DanglingHead,
    /// Something among the snapshots that is not whole.
    PartialSnapshot,
    /// A snapshot that was published and is gone.
    MissingSnapshot,
    /// A worktree whose head is not the one that was last set.
    MovedHead,
}

impl Kind {
    /// Its name, as scripts compare it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IncompleteSnapshot => "incomplete_snapshot",
            Self::AbandonedOperation => "abandoned_operation",
            Self::OrphanedStaging => "orphaned_staging",
            Self::OrphanedTmp => "orphaned_tmp",
            Self::OrphanedSession => "orphaned_session",
            Self::TornAuditTail => "torn_audit_tail",
            Self::AuditBroken => "audit_broken",
            Self::ClockOffset => "clock_offset",
            Self::DamagedLock => "damaged_lock",
            Self::DamagedWorktree => "damaged_worktree",
            Self::MissingPayload => "missing_payload",
            Self::DanglingHead => "dangling_head",
            Self::PartialSnapshot => "partial_snapshot",
            Self::MissingSnapshot => "missing_snapshot",
            Self::MovedHead => "moved_head",
        }
    }
}

/// What can be done about a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// Complete or undo the work with this id, and remove what it left.
    EndWork(OpId),
    /// Remove a file or a directory that belongs to nothing.
    Remove(PathBuf),
    /// Set the broken end of the audit log aside.
    MendAudit(Box<Break>),
    /// Set a damaged lock of this worktree aside; whoever held it has lost it.
    SetLockAside(String),
    /// Write down that a snapshot is lost.
    WriteOff(OpId),
    /// Nothing that a program should do by itself.
    None,
}

/// Something that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What it is about.
    pub kind: Kind,
    pub path: PathBuf,
    /// What is wrong there.
    pub text: String,
    /// What can be done.
    pub remedy: Remedy,
}

impl Remedy {
    /// What repair does, for people.
    #[must_use]
    pub const fn text(&self) -> &'static str {
        match self {
            Self::EndWork(_) => "complete or undo it, and remove what it left",
            Self::Remove(_) => "remove it",
            Self::MendAudit(_) => "keep the broken part aside and begin anew behind the good lines",
            Self::SetLockAside(_) => "set it aside; its holder has lost the lock",
            Self::WriteOff(_) => "write down in the audit log that it is lost",
            Self::None => "nothing: a person has to look",
        }
    }
}

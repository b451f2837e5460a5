//! Everything that can go wrong, as the person who typed the command reads it: what failed, why, and what
//! to type next. The kind of the error decides the exit code; nothing else does.

use std::path::PathBuf;

use holdfast_kernel::{Answer, Lease, LeaseId, Refusal};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::agent::BadAgent;
use crate::hooks::Rejected;
use crate::{config, times, writes};

/// How the program ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Exit {
    /// It went well.
    #[default]
    Ok,
    /// It failed.
    Failed,
    /// It was not understood.
    Usage,
    /// It speaks of something that is not there.
    NotFound,
    /// Somebody else holds it.
    Conflict,
    /// The caller's lease is missing, lost, stale or fenced out.
    Lease,
    /// What was given or configured cannot be.
    Invalid,
    /// A check found problems.
    Problems,
    /// Git or the file system failed.
    Io,
    /// A signal ended it.
    Signal(u8),
}

impl Exit {
    /// The exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Conflict => 4,
            Self::Lease => 5,
            Self::Invalid => 6,
            Self::Problems => 7,
            Self::Io => 10,
            Self::Signal(number) => 128 + number,
        }
    }
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was typed is no command.
    #[error("{0}")]
    Usage(String),
    /// Nobody has started tracking issues here.
    #[error("there is no .jit directory in {} or above it", .0.display())]
    NotInitialised(PathBuf),
    /// There is no worktree here to keep issues in.
    #[error("{} has no worktree, so there are no issues here", .0.display())]
    NoWorktree(PathBuf),
    /// The configuration insists on a git repository.
    #[error("worktree.mode is 'on', but {} is not in a git repository", .0.display())]
    NotInGit(PathBuf),
    /// There is no such issue.
    #[error("there is no issue {0}")]
    NoIssue(String),
    /// There is no such worktree.
    #[error("there is no worktree {0}")]
    NoSuchWorktree(String),
    /// Nothing that is claimed has this id.
    #[error("no claim has the lease or issue id {0}: it was released, taken away, or never made")]
    NoLease(String),
    /// Several ids begin like this.
    #[error("{prefix} is the beginning of {} ids", candidates.len())]
    Ambiguous {
        /// What was typed.
        prefix: String,
        /// What it may mean.
        candidates: Vec<String>,
    },
    /// A text that is no id and no beginning of one.
    #[error("'{0}' is not an id: an id, or its first 4 characters or more, is digits and letters")]
    BadId(String),
    /// Nobody said who asks.
    #[error("this needs to know which agent you are")]
    NoAgent,
    /// A text that is no agent id.
    #[error(transparent)]
    BadAgent(#[from] BadAgent),
    /// A value that cannot be.
    #[error("{what} cannot be '{given}': {why}")]
    BadValue {
        /// What it is.
        what: &'static str,
        /// What was given.
        given: String,
        /// Why not.
        why: String,
    },
    /// There is nothing to claim.
    #[error("no issue is available")]
    NothingAvailable,
    /// The heartbeat of this holder runs already.
    #[error("the heartbeat of {0} runs already")]
    HeartbeatRuns(String),
    /// Others wait for the same issue and came earlier.
    #[error("{issue} is free or about to be, but {ahead} came earlier")]
    InLine {
        /// The issue.
        issue: String,
        /// Who came earlier.
        ahead: String,
    },
    /// The rules do not allow it.
    #[error("{}", refusal_text(.0))]
    Refused(Box<Refusal>),
    /// A file does not hold what belongs there.
    #[error("{} cannot be used: {why}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// Not one copy of an issue can be read.
    #[error("{issue} cannot be read{}", problems.iter().map(|why| format!(": {why}")).collect::<String>())]
    Unreadable {
        /// The issue.
        issue: String,
        /// What is wrong with its copies.
        problems: Vec<String>,
    },
    /// Not all issues can be listed.
    #[error("not all issues can be seen{}", .0.iter().map(|why| format!(": {why}")).collect::<String>())]
    Unlisted(Vec<String>),
    /// The claims cannot be used.
    #[error(transparent)]
    Store(holdfast_store::Error),
    /// The operating system failed.
    #[error(transparent)]
    Sys(#[from] holdfast_sys::Error),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] holdfast_git::Error),
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// An issue cannot be changed like that.
    #[error(transparent)]
    Write(#[from] writes::Error),
    /// A hook stopped it.
    #[error("{0}")]
    Rejected(Box<Rejected>),
    /// Hooks cannot be put where git looks for them.
    #[error("hooks cannot be kept in {}: {why}", directory.display())]
    NoHooks {
        /// The directory.
        directory: PathBuf,
        /// Why not.
        why: String,
    },
    /// A signal ended it.
    #[error("interrupted")]
    Interrupted(u8),
    /// What cannot happen has happened.
    #[error("this is a bug in jit; please report it: {0}")]
    Internal(String),
}

/// The result of whatever a command does.
pub type Result<T> = std::result::Result<T, Error>;

impl From<holdfast_store::Error> for Error {
    fn from(error: holdfast_store::Error) -> Self {
        match error {
            holdfast_store::Error::Refused(refusal) => refusal.into(),
            holdfast_store::Error::Sys(error) => Self::Sys(error),
            other => Self::Store(other),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl Error {
    /// The medium answered another question.
    #[must_use]
    pub fn unexpected(asked: &str, answer: &Answer) -> Self {
        Self::Internal(format!("the claim log answered {answer:?} when asked to {asked}"))
    }

    /// How the program ends because of it.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Internal(_) => Exit::Failed,
            Self::NotInitialised(_)
            | Self::NoWorktree(_)
            | Self::NoIssue(_)
            | Self::NoSuchWorktree(_)
            | Self::NothingAvailable => Exit::NotFound,
            Self::NoLease(_) | Self::Rejected(_) => Exit::Lease,
            Self::Ambiguous { .. }
            | Self::BadId(_)
            | Self::NoAgent
            | Self::BadAgent(_)
            | Self::BadValue { .. }
            | Self::NotInGit(_) => Exit::Invalid,
            Self::Config(error) => error.exit(),
            Self::Write(error) => error.exit(),
            Self::InLine { .. } | Self::HeartbeatRuns(_) => Exit::Conflict,
            Self::Refused(refusal) => refused(refusal),
            Self::BadFile { .. }
            | Self::NoHooks { .. }
            | Self::Unreadable { .. }
            | Self::Unlisted(_)
            | Self::Store(_)
            | Self::Sys(_)
            | Self::Git(_) => Exit::Io,
            Self::Interrupted(signal) => Exit::Signal(*signal),
        }
    }

    /// The code that `spec/errors.md` explains.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Usage(_) => "USAGE",
            Self::Internal(_) => "INTERNAL",
            Self::NotInitialised(_) => "NOT_INITIALISED",
            Self::NoWorktree(_) => "NO_WORKTREE",
            Self::NotInGit(_) => "NOT_IN_GIT",
            Self::NoIssue(_) => "ISSUE_NOT_FOUND",
            Self::NoSuchWorktree(_) => "WORKTREE_NOT_FOUND",
            Self::NoLease(_) => "LEASE_NOT_FOUND",
            Self::Ambiguous { .. } => "AMBIGUOUS_ID",
            Self::BadId(_) => "BAD_ID",
            Self::NoAgent => "NO_AGENT",
            Self::BadAgent(_) => "BAD_AGENT",
            Self::BadValue { .. } => "BAD_VALUE",
            Self::NothingAvailable => "NOTHING_AVAILABLE",
            Self::InLine { .. } => "IN_LINE",
            Self::HeartbeatRuns(_) => "HEARTBEAT_RUNS",
            Self::Refused(refusal) => match &**refusal {
                Refusal::NotFound { .. } => "LEASE_NOT_FOUND",
                other => other.code(),
            },
            Self::BadFile { .. } | Self::Unreadable { .. } | Self::Unlisted(_) => "BAD_FILE",
            Self::Store(holdfast_store::Error::Newer { .. }) => "NEWER_FORMAT",
            Self::Store(_) => "DAMAGED",
            Self::Sys(_) => "IO",
            Self::Git(_) => "GIT",
            Self::Config(error) => error.code(),
            Self::Write(error) => error.code(),
            Self::Rejected(_) => "REJECTED",
            Self::NoHooks { .. } => "NO_HOOKS",
            Self::Interrupted(_) => "INTERRUPTED",
        }
    }

    /// Why it went wrong, the nearest cause first.
    #[must_use]
    pub fn causes(&self) -> Vec<String> {
        if let Self::Rejected(rejected) = self {
            return rejected.causes();
        }
        let mut causes = Vec::new();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            causes.push(error.to_string());
            cause = error.source();
        }
        causes
    }

    /// What to type next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Usage(_) => Some("jit --help".into()),
            Self::NotInitialised(_) => Some("jit init".into()),
            Self::NoWorktree(_) => Some("git worktree add <path>, and run jit there".into()),
            Self::NotInGit(_) => Some("git init, or jit config set worktree.mode auto".into()),
            Self::NoIssue(_) => Some("jit issue list".into()),
            Self::NoSuchWorktree(_) => Some("jit worktree list".into()),
            Self::NoLease(_) => Some("jit claim list".into()),
            Self::Ambiguous { candidates, .. } => Some(format!("one of {}", candidates.join(", "))),
            Self::NoAgent | Self::BadAgent(_) => Some("export JIT_AGENT_ID=agent:your-name".into()),
            Self::NothingAvailable => Some("jit claim list shows who works on what".into()),
            Self::HeartbeatRuns(_) => Some("jit heartbeat status".into()),
            Self::InLine { issue, .. } => Some(format!("jit claim acquire {issue} --wait 600")),
            Self::Refused(refusal) => refusal_hint(refusal),
            Self::Store(holdfast_store::Error::Newer { .. }) => Some("update this program".into()),
            Self::Store(_) => Some("jit recover --dry-run says what is wrong, jit recover repairs it".into()),
            Self::Git(error) => Some(error.hint()),
            Self::Config(error) => error.hint(),
            Self::Write(error) => error.hint(),
            Self::Rejected(rejected) => Some(rejected.hint()),
            Self::NoHooks { .. } => Some("git config --show-origin core.hooksPath says who set it".into()),
            Self::Sys(error) => sys_hint(error),
            Self::Unreadable { issue, .. } => {
                Some(format!("git log -- .jit/issues/{issue} shows what it was before"))
            }
            Self::Unlisted(_) => Some("git fsck, and ls -l .jit/issues, say more".into()),
            Self::BadId(_)
            | Self::BadValue { .. }
            | Self::BadFile { .. }
            | Self::Interrupted(_)
            | Self::Internal(_) => None,
        }
    }

    /// What a program can go on with.
    fn details(&self) -> Value {
        match self {
            Self::Ambiguous { prefix, candidates } => json!({ "prefix": prefix, "candidates": candidates }),
            Self::Refused(refusal) => refusal_details(refusal),
            Self::Config(error) => config_details(error),
            Self::Write(error) => error.details(),
            Self::Rejected(rejected) => json!({ "problems": rejected.problems }),
            Self::Sys(error) => json!({ "path": error.path.display().to_string(), "causes": self.causes() }),
            _ => json!({ "causes": self.causes() }),
        }
    }

    /// The error as JSON.
    #[must_use]
    pub fn document(&self) -> Value {
        let error = ErrorBody {
            code: self.code().to_owned(),
            message: self.to_string(),
            hint: self.hint(),
            details: self.details(),
        };
        json!(ErrorDocument { error })
    }
}

/// An error as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ErrorDocument {
    /// The error.
    pub error: ErrorBody,
}

/// What programs are told of an error.
#[derive(Serialize, JsonSchema)]
pub struct ErrorBody {
    /// What kind of error it is, as `spec/errors.md` has it.
    pub code: String,
    /// What went wrong.
    pub message: String,
    /// What to type next.
    pub hint: Option<String>,
    /// What a program can go on with; it depends on the code.
    pub details: Value,
}

const fn refused(refusal: &Refusal) -> Exit {
    match refusal {
        Refusal::Held { .. }
        | Refusal::ClockSkew { .. }
        | Refusal::AlreadyHeld { .. }
        | Refusal::HeldShared { .. }
        | Refusal::NotHolder { .. }
        | Refusal::SameHolder { .. }
        | Refusal::LimitReached { .. } => Exit::Conflict,
        Refusal::NotFound { .. }
        | Refusal::Expired { .. }
        | Refusal::Stale { .. }
        | Refusal::FencedOut { .. } => Exit::Lease,
        Refusal::NotIndefinite { .. }
        | Refusal::NotFinite { .. }
        | Refusal::TtlOutOfRange { .. }
        | Refusal::DeadlineTooFar { .. }
        | Refusal::IndefiniteForbidden
        | Refusal::ReasonRequired => Exit::Invalid,
        Refusal::DuplicateId { .. } | Refusal::FencesExhausted | Refusal::CounterBehind { .. } => {
            Exit::Failed
        }
    }
}

/// A refusal in words, with the moment at which a lease ends.
fn refusal_text(refusal: &Refusal) -> String {
    let Refusal::Held { blocker, retry_after: Some(wait), .. } = refusal else { return refusal.to_string() };
    let until = blocker.deadline().map(|at| times::rfc3339(&at)).unwrap_or_default();
    format!(
        "{} is held by {} until {until}: try again in {}, or sooner if it is released",
        blocker.resource,
        blocker.holder,
        times::span(*wait)
    )
}

fn refusal_hint(refusal: &Refusal) -> Option<String> {
    let again = |lease: &Lease| format!("jit claim acquire {}", lease.resource);
    Some(match refusal {
        Refusal::Held { blocker, retry_after: Some(span), .. } => {
            format!("{} --wait {}", again(blocker), span.get().div_ceil(1_000) + 1)
        }
        Refusal::Held { blocker, .. } | Refusal::ClockSkew { blocker, .. } => {
            format!("if its holder is gone: jit claim force-evict {} --reason '…'", blocker.id)
        }
        Refusal::NotHolder { lease } => format!("jit claim status --issue {}", lease.resource),
        Refusal::NotFound { .. } => "jit claim list".into(),
        Refusal::Expired { lease, .. } => again(lease),
        Refusal::Stale { lease, .. } | Refusal::NotFinite { lease } => {
            format!("jit claim heartbeat {}", lease.id)
        }
        Refusal::NotIndefinite { lease } => format!("jit claim renew {}", lease.id),
        Refusal::FencedOut { resource, .. } => format!("jit claim status --issue {resource}"),
        Refusal::ReasonRequired => "add --reason '…', or give a --ttl above 0".into(),
        Refusal::IndefiniteForbidden => "give a --ttl above 0".into(),
        Refusal::LimitReached { .. } => "jit claim list shows what is held".into(),
        Refusal::CounterBehind { .. } => "jit recover".into(),
        Refusal::DuplicateId { .. } => "run the same command again".into(),
        _ => return None,
    })
}

/// A lease, as far as whoever is refused may go on with it.
pub(crate) fn shown(lease: &Lease) -> Value {
    json!({
        "lease_id": lease.id.to_string(),
        "issue_id": lease.resource.as_str(),
        "agent_id": lease.holder.agent.as_str(),
        "worktree_id": lease.holder.place.as_str(),
        "fence": lease.fence.get(),
        "acquired_at": times::rfc3339(&lease.granted),
        "expires_at": lease.deadline().map(|at| times::rfc3339(&at)),
    })
}

fn refusal_details(refusal: &Refusal) -> Value {
    let id = |lease: &LeaseId| json!({ "lease_id": lease.to_string() });
    match refusal {
        Refusal::Held { blocker, retry_after, .. } => {
            let secs = retry_after.map(|span| span.get().div_ceil(1_000));
            json!({ "held_by": shown(blocker), "retry_after_secs": secs })
        }
        Refusal::ClockSkew { blocker, .. } => json!({ "held_by": shown(blocker) }),
        Refusal::AlreadyHeld { lease }
        | Refusal::HeldShared { lease }
        | Refusal::NotHolder { lease }
        | Refusal::SameHolder { lease }
        | Refusal::Expired { lease, .. }
        | Refusal::Stale { lease, .. }
        | Refusal::NotIndefinite { lease }
        | Refusal::NotFinite { lease }
        | Refusal::CounterBehind { lease, .. } => json!({ "lease": shown(lease) }),
        Refusal::NotFound { lease } | Refusal::DuplicateId { lease } => id(lease),
        Refusal::FencedOut { current, presented, .. } => {
            json!({ "fence": presented.get(), "held_by": current.iter().map(shown).collect::<Vec<_>>() })
        }
        Refusal::LimitReached { limit, kind } => json!({ "limit": limit, "of": kind.to_string() }),
        _ => json!({}),
    }
}

fn config_details(error: &config::Error) -> Value {
    match error {
        config::Error::Invalid(problems) => {
            json!({ "problems": config::wire::problems(&problems.0) })
        }
        config::Error::UnknownKey { near, .. } => json!({ "candidates": near }),
        config::Error::BadValue { key, fault } => json!({ "key": key, "problem": fault.kind.code() }),
        _ => json!({}),
    }
}

fn sys_hint(error: &holdfast_sys::Error) -> Option<String> {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, StorageFull};
    match error.kind() {
        StorageFull => Some("free some space, then run the same command again: nothing was lost".into()),
        ReadOnlyFilesystem => Some("remount it for writing: nothing was changed".into()),
        PermissionDenied => Some(format!("ls -ld {}", error.path.display())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    const PAGE: &str = include_str!("../../../spec/errors.md");

    /// The codes that the functions `code` of a source can give.
    fn codes(source: &str) -> BTreeSet<&str> {
        let (_, rest) = source.split_once("fn code(&self)").unwrap();
        let (body, _) = rest.split_once("\n    }\n").unwrap();
        body.lines().filter_map(|line| line.split_once("=> \"")?.1.split('"').next()).collect()
    }

    /// The codes in the first column of tables.
    fn rows(page: &str) -> BTreeSet<&str> {
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect()
    }

    #[test]
    fn every_code_has_its_row_and_every_row_its_code() {
        let (shared, own) = PAGE.split_once("## Told by jit itself").unwrap();
        let (own, _) = own.split_once("\n## ").unwrap();
        let mut known = codes(include_str!("error.rs"));
        known.extend(codes(include_str!("config/error.rs")));
        known.extend(codes(include_str!("writes/error.rs")));
        known.retain(|code| !rows(shared).contains(code));
        assert_eq!(rows(own), known);
    }
}

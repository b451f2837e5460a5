//! Everything that can go wrong, as the person who typed the command reads it: what failed, why, and what
//! to type next. Every error of the libraries below gets its [`Code`] here, and the code decides the rest.

use std::path::PathBuf;

use holdfast_kernel::{Answer, Lease, Refusal};
use holdfast_store::Trouble;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::agent::BadAgent;
use crate::code::{Code, Exit};
use crate::config;

mod approval;
mod land;
mod refusal;
mod rejected;
mod worktree;
mod write;

pub use approval::ApprovalError;
pub use land::{BegunHere, LandError, NotPushed, Onto};
pub(crate) use land::{NotLanded, named};
pub(crate) use refusal::shown;
pub(crate) use rejected::MOST_TOLD;
pub use rejected::{Problem, Rejected};
pub use worktree::WorktreeError;
pub use write::WriteError;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was typed is no command.
    #[error("{0}")]
    Usage(String),
    /// Nobody has started tracking issues here.
    #[error("not a jit repository: no .jit directory in {} or any directory above it", .0.display())]
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
    /// Whoever asks has not reserved these paths here.
    #[error("{0} is not reserved by you in this worktree")]
    NoReservation(String),
    /// Something that an issue depends on has not landed.
    #[error("{issue} waits for {}", missing.join(", "))]
    NotReady {
        /// The issue.
        issue: String,
        /// What it waits for, in words.
        missing: Vec<String>,
    },
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
    #[error("no agent id was given")]
    NoAgent,
    /// A text that is no agent id.
    #[error(transparent)]
    BadAgent(#[from] BadAgent),
    /// A value that cannot be.
    #[error("invalid value '{given}' for {what}: {why}")]
    BadValue {
        /// The option or setting.
        what: &'static str,
        /// What was given.
        given: String,
        /// Why not.
        why: String,
    },
    /// There is nothing to claim.
    #[error("no issue is available")]
    NothingAvailable,
    /// Claims of this clone are in force that nobody else knows.
    #[error("claims of this clone are in force: {}", local_claims(.0))]
    LocalClaims(Vec<Lease>),
    /// The heartbeat of this holder runs already.
    #[error("a heartbeat of {0} is already running")]
    HeartbeatRuns(String),
    /// A command is run in this worktree already.
    #[error("a run is under way in {}", .0.display())]
    RunUnderWay(PathBuf),
    /// A server of this repository is there already; where it listens.
    #[error("a server of this repository is already running at {0}")]
    ServerRuns(String),
    /// A program that belongs to jit is not where jit is.
    #[error("there is no {}, which belongs beside jit", .0.display())]
    NoProgram(PathBuf),
    /// There is no pool of this name at work.
    #[error("no pool '{0}' is at work")]
    NoPool(String),
    /// No output of a command that worked on this issue was kept.
    #[error("no output of a command that worked on {0} is kept here")]
    NoLog(String),
    /// The heartbeat has nobody to end with.
    #[error("the process that started this heartbeat has ended already, so it would never end")]
    NoParent,
    /// Others wait for the same issue and came earlier.
    #[error("{issue} is free or about to be, but {ahead} came earlier")]
    InLine {
        /// The issue.
        issue: String,
        /// Who came earlier.
        ahead: String,
    },
    /// The rules do not allow it.
    #[error("{}", refusal::text(.0))]
    Refused(Box<Refusal>),
    /// Whoever holds it has left a worktree that is gone.
    #[error("{} is held by {}, and that worktree is gone", lease.resource, lease.holder)]
    HolderGone {
        /// The lease in the way.
        lease: Box<Lease>,
    },
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
    Write(#[from] WriteError),
    /// Work cannot be begun, landed or given back like that.
    #[error(transparent)]
    Land(#[from] LandError),
    /// A worktree cannot be made or taken away like that.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Something needs approval.
    #[error(transparent)]
    Approval(#[from] ApprovalError),
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
    /// Something that cannot happen, in words.
    #[error("{0}: this is a bug in jit; please report it")]
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
    /// The medium answered a question that nobody asked.
    #[must_use]
    pub fn unexpected(asked: &str, answer: &Answer) -> Self {
        Self::Internal(format!("the claim log answered {answer:?} when asked to {asked}"))
    }

    /// How the program ends because of it.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Interrupted(signal) => Exit::Signal(*signal),
            other => other.code().exit(),
        }
    }

    /// What kind of error it is.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Usage(_) => Code::Usage,
            Self::NotInitialised(_) => Code::NotInitialised,
            Self::NoWorktree(_) => Code::NoWorktree,
            Self::NotInGit(_) => Code::NotInGit,
            Self::NoIssue(_) => Code::IssueNotFound,
            Self::NoSuchWorktree(_) => Code::WorktreeNotFound,
            Self::NoLease(_) | Self::NoReservation(_) => Code::LeaseNotFound,
            Self::NotReady { .. } => Code::NotReady,
            Self::Ambiguous { .. } => Code::AmbiguousId,
            Self::BadId(_) => Code::BadId,
            Self::NoAgent => Code::NoAgent,
            Self::BadAgent(_) => Code::BadAgent,
            Self::BadValue { .. } => Code::BadValue,
            Self::NothingAvailable => Code::NothingAvailable,
            Self::InLine { .. } => Code::InLine,
            Self::LocalClaims(_) => Code::LocalClaims,
            Self::HeartbeatRuns(_) => Code::HeartbeatRuns,
            Self::RunUnderWay(_) => Code::RunUnderWay,
            Self::ServerRuns(_) => Code::ServerRuns,
            Self::NoProgram(_) => Code::NoProgram,
            Self::NoPool(_) => Code::NoPool,
            Self::NoLog(_) => Code::NoLog,
            Self::NoParent => Code::NoParent,
            Self::Refused(refusal) => refusal::code(refusal.kind()),
            Self::HolderGone { .. } => Code::Held,
            Self::BadFile { .. } | Self::Unreadable { .. } | Self::Unlisted(_) => Code::BadFile,
            Self::Store(error) => store_code(error),
            Self::Sys(_) => Code::Io,
            Self::Git(_) => Code::Git,
            Self::Config(error) => error.code(),
            Self::Write(error) => error.code(),
            Self::Land(error) => error.code(),
            Self::Worktree(error) => error.code(),
            Self::Approval(error) => error.code(),
            Self::Rejected(_) => Code::Rejected,
            Self::NoHooks { .. } => Code::NoHooks,
            Self::Interrupted(_) => Code::Interrupted,
            Self::Internal(_) => Code::Internal,
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
            Self::NoReservation(_) => Some("jit reserve list".into()),
            Self::NotReady { issue, .. } => Some(format!(
                "jit claim acquire {issue} --when-ready --wait waits for it; jit start takes another"
            )),
            Self::Ambiguous { candidates, .. } => Some(format!("one of {}", candidates.join(", "))),
            Self::NoAgent | Self::BadAgent(_) => Some("export JIT_AGENT_ID=agent:your-name".into()),
            Self::NothingAvailable => Some("jit claim list shows who works on what".into()),
            Self::LocalClaims(_) => Some(
                "finish or release them first: jit claim list shows them, jit finish lands the work".into(),
            ),
            Self::HeartbeatRuns(_) => Some("jit heartbeat status".into()),
            Self::ServerRuns(_) => {
                Some("its token is in .git/jit/server-*/token, unless it was given a file".into())
            }
            Self::NoProgram(_) => Some("install it with the others: cargo xtask install".into()),
            Self::NoPool(_) => Some("jit dispatch status".into()),
            Self::NoLog(_) => Some("jit show tells who worked on it".into()),
            Self::RunUnderWay(_) => Some("jit run --worktree makes a worktree of its own".into()),
            Self::NoParent => {
                Some("jit heartbeat run --parent PID, with the process that it shall end with".into())
            }
            Self::InLine { issue, .. } => Some(format!("jit claim acquire {issue} --wait 600")),
            Self::Refused(refusal) => refusal::hint(refusal),
            Self::HolderGone { lease } => {
                Some(format!("jit claim force-evict {} --reason 'its worktree is gone'", lease.resource))
            }
            Self::Store(error) => store_hint(error),
            Self::Git(error) => Some(error.hint()),
            Self::Config(error) => error.hint(),
            Self::Write(error) => error.hint(),
            Self::Land(error) => error.hint(),
            Self::Worktree(error) => error.hint(),
            Self::Approval(error) => Some(error.hint()),
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
            Self::Refused(refusal) => refusal::details(refusal),
            Self::HolderGone { lease } => json!({ "held_by": shown(lease), "worktree_gone": true }),
            Self::NotReady { issue, missing } => json!({ "issue": issue, "missing": missing }),
            Self::Config(error) => config_details(error),
            Self::Write(error) => error.details(),
            Self::Land(error) => error.details(),
            Self::Worktree(error) => error.details(),
            Self::Approval(error) => error.details(),
            Self::Rejected(rejected) => json!({ "problems": rejected.problems }),
            Self::Sys(error) => json!({ "path": error.path.display().to_string(), "causes": self.causes() }),
            _ => json!({ "causes": self.causes() }),
        }
    }

    /// The error as JSON.
    #[must_use]
    pub fn document(&self) -> Value {
        let error = ErrorBody {
            code: self.code().as_str().to_owned(),
            message: self.to_string(),
            hint: self.hint(),
            details: self.details(),
        };
        json!(ErrorOutput { error })
    }
}

/// An error as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ErrorOutput {
    /// The error.
    pub error: ErrorBody,
}

/// What programs are told of an error.
#[derive(Serialize, JsonSchema)]
pub struct ErrorBody {
    /// What kind of error it is, as `spec/errors.md` has it.
    pub code: String,
    /// The error as a sentence for people.
    pub message: String,
    /// What to type next.
    pub hint: Option<String>,
    /// What a program can go on with; it depends on the code.
    pub details: Value,
}

/// Claims in few words.
fn local_claims(leases: &[Lease]) -> String {
    let shown: Vec<String> =
        leases.iter().take(5).map(|lease| format!("{} of {}", lease.resource, lease.holder.agent)).collect();
    let more = leases.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
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

const fn store_code(error: &holdfast_store::Error) -> Code {
    use holdfast_store::Error as Store;
    match error {
        Store::Refused(refusal) => refusal::code(refusal.kind()),
        Store::Sys(_) => Code::Io,
        Store::Damaged { .. } => Code::Damaged,
        Store::Newer { .. } => Code::NewerFormat,
        Store::Unsupported { .. } => Code::Unsupported,
        Store::Unwitnessed(_) => Code::Unwitnessed,
        Store::Shared { trouble, .. } => shared_code(*trouble),
    }
}

fn store_hint(error: &holdfast_store::Error) -> Option<String> {
    use holdfast_store::Error as Store;
    match error {
        Store::Refused(refusal) => refusal::hint(refusal),
        Store::Sys(error) => sys_hint(error),
        Store::Damaged { .. } => {
            Some("jit recover --dry-run says what is wrong, jit recover repairs it".into())
        }
        Store::Newer { .. } => Some(config::too_old()),
        Store::Unsupported { .. } | Store::Unwitnessed(_) => None,
        Store::Shared { trouble, .. } => Some(shared_hint(*trouble).into()),
    }
}

const fn shared_code(trouble: Trouble) -> Code {
    match trouble {
        Trouble::Unavailable => Code::Unavailable,
        Trouble::Unresolved => Code::Unresolved,
        Trouble::Forked => Code::Forked,
        Trouble::Refused => Code::Refused,
        Trouble::Missing => Code::NoRegister,
        Trouble::Copied => Code::CopiedClone,
        Trouble::Moved => Code::Moved,
        Trouble::Behind => Code::Behind,
        Trouble::Full => Code::LimitReached,
    }
}

const fn shared_hint(trouble: Trouble) -> &'static str {
    match trouble {
        Trouble::Unavailable => {
            "try again once it can be reached; what you hold stays yours until its deadline"
        }
        Trouble::Unresolved => "run the same command again: it finds out, and is not done twice",
        Trouble::Forked => {
            "stop, and ask whoever keeps the server what happened to it; then jit engine recover begins anew"
        }
        Trouble::Refused => "ask whoever keeps the server; git push to it says the same",
        Trouble::Missing => "check coordination.remote and coordination.counter: jit config show",
        Trouble::Copied => "jit claim acquire what you work on",
        Trouble::Moved => "git pull, then run the same command again",
        Trouble::Behind => "git fetch, then run the same command again",
        Trouble::Full => "jit claim list, and release what nobody works on",
    }
}

fn sys_hint(error: &holdfast_sys::Error) -> Option<String> {
    use std::io::ErrorKind::{IsADirectory, PermissionDenied, ReadOnlyFilesystem, StorageFull};
    match error.kind() {
        StorageFull => Some("free some space, then run the same command again: nothing was lost".into()),
        ReadOnlyFilesystem => Some("remount it for writing: nothing was changed".into()),
        PermissionDenied => Some(format!("ls -ld {}", error.path.display())),
        // A directory or a link where a file belongs.
        kind if kind == IsADirectory || error.is_link() => {
            Some(format!("mv {0} {0}.aside, then run the same command again", error.path.display()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;

//! What can be wrong on the way from a claim to the target.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::code::Code;

/// How many files are named.
const MOST_NAMED: usize = 20;

/// What a commit was to go on top of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Onto {
    /// The target, under the name that git has for it.
    Target(String),
    /// What an issue depends on that has not landed.
    Dependencies,
    /// What came after something that is to be taken back.
    Since,
}

/// The issue that a worktree is on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BegunHere {
    /// Its id.
    pub issue: String,
    /// What it is called.
    pub handle: String,
    /// Whether whoever asks holds it here.
    pub is_held: bool,
}

/// What can be wrong on the way from a claim to the target.
#[derive(Debug, thiserror::Error)]
pub enum LandError {
    /// Nothing is claimed here.
    #[error("this worktree holds no claim")]
    NoClaim,
    /// Several issues are claimed here, and none was named.
    #[error("this worktree holds several claims: {}", .0.join(", "))]
    SeveralClaims(Vec<String>),
    /// The worktree has something that going to another branch would leave behind.
    #[error("this worktree cannot go to another branch: {what}{}", named(files))]
    Busy {
        /// What is in the way.
        what: String,
        /// The files that are, if they are in no commit.
        files: Vec<String>,
        /// What it is on, if that can be gone on with.
        begun: Option<Box<BegunHere>>,
        /// The target, under the name that git has for it.
        target: String,
    },
    /// Git is in the middle of something in the worktree.
    #[error("a {what} is under way in this worktree")]
    UnderWay {
        /// What that is.
        what: &'static str,
        /// The command that ends it.
        command: &'static str,
        /// Whether there is anything to go on with: it may have been killed before.
        has_begun: bool,
    },
    /// Nothing was done.
    #[error("{0} would land without a change: nothing differs outside .jit/ since it was claimed")]
    NoChange(String),
    /// Changes that would be left behind.
    #[error("these changes are in no commit{}", named(.0))]
    LeftOver(Vec<String>),
    /// The branch changes other issues too.
    #[error("this branch changes issues besides the one that is finished: {}", .0.join(", "))]
    OtherIssues(Vec<String>),
    /// The work conflicts with what has landed.
    #[error("the work conflicts with what has landed, in commit {}{}", commit.get(..10).unwrap_or(commit), named(files))]
    Conflict {
        /// The files.
        files: Vec<String>,
        /// The commit that cannot be put on top of it.
        commit: String,
        /// What it was to go on top of.
        onto: Onto,
    },
    /// The worktree of the target has something that landing would overwrite.
    #[error("{branch} is checked out in {}, and {what}{}", root.display(), named(files))]
    TargetDirty {
        /// The target.
        branch: String,
        /// The worktree.
        root: PathBuf,
        /// What is in the way.
        what: String,
        /// The files that are.
        files: Vec<String>,
    },
    /// A gate said no.
    #[error("the gate '{gate}' failed on what would land ({})", ended(*code))]
    GateFailed {
        /// The gate.
        gate: String,
        /// The exit code of its command.
        code: Option<i32>,
        /// The end of what it wrote.
        output: String,
    },
    /// A branch is not pushed.
    #[error("{} refuses the push to {branch}: {why}", kind.who())]
    PushRefused {
        /// The branch.
        branch: String,
        /// What whoever refuses it says.
        why: String,
        /// Who that is, and what helps.
        kind: NotPushed,
    },
    /// There is nothing that could land.
    #[error("{0} has no finished work on a branch")]
    NothingToLand(String),
    /// It was finished here, and has landed.
    #[error("{0} has landed")]
    Landed(String),
    /// It is over, and nobody has asked for it to be done again.
    #[error("{handle} is {state} already")]
    Over {
        /// What it is called.
        handle: String,
        /// How it ended.
        state: String,
    },
    /// A clone with claims of its own was faster.
    #[error("{handle} is {state} on {branch} already, in a commit of another clone")]
    Elsewhere {
        /// What it is called.
        handle: String,
        /// How it ended.
        state: String,
        /// The target.
        branch: String,
    },
    /// There is nothing on the target that could be taken back.
    #[error("nothing has landed for {0} that could be taken back")]
    NothingLanded(String),
    /// Others were faster each time.
    #[error("{branch} moved {times} times while this was being landed")]
    Moving {
        /// The target.
        branch: String,
        /// How often.
        times: u32,
    },
}

/// The first of some files, behind a sentence.
pub(crate) fn named(files: &[String]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let shown: Vec<&str> = files.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = files.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(": {}{more}", shown.join(", "))
}

/// Why a branch is not pushed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotPushed {
    /// The remote does not take it, for the branch that finished work lands on.
    Target,
    /// The remote does not take it, for another branch.
    Branch,
    /// The branch has commits there that are not here.
    Behind {
        /// What brings them.
        pull: String,
    },
    /// A hook of this clone says no.
    Hook,
    /// Somebody else was granted the issue since.
    Displaced {
        /// What the issue is called.
        handle: String,
    },
}

impl NotPushed {
    const fn who(&self) -> &'static str {
        match self {
            Self::Target | Self::Branch | Self::Behind { .. } => "the remote",
            Self::Hook => "a hook of this clone",
            Self::Displaced { .. } => "jit",
        }
    }

    fn hint(&self) -> String {
        match self {
            Self::Target => "jit config set landing.via review, if the branch takes no pushes".into(),
            Self::Branch => {
                "git switch -c NAME and jit push, if only the branch of that name takes no pushes".into()
            }
            Self::Behind { pull } => format!("{pull}, then jit push"),
            Self::Hook => "mend what the hook names, then try again: nothing was pushed".into(),
            Self::Displaced { handle } => format!(
                "jit issue show {handle} shows what became of it; if these commits are still wanted: \
                 jit claim acquire {handle}, then jit push"
            ),
        }
    }
}

/// How to go on in a worktree that has something: with that, or without it.
fn leaving(begun: Option<&BegunHere>, files: &[String], target: &str) -> String {
    let stay = "stay on this branch: jit start --here";
    // What jit has written in its own files is taken along.
    let leave = if files.is_empty() {
        format!("git switch --detach {target}")
    } else {
        "git stash -u -- ':!.jit'".to_owned()
    };
    match begun {
        Some(BegunHere { handle, is_held: true, .. }) => format!("jit finish {handle} first, or {stay}"),
        Some(BegunHere { handle, .. }) => format!("jit start {handle} goes on with it; to leave it: {leave}"),
        None => format!("leave it: {leave}, or {stay}"),
    }
}

fn ended(code: Option<i32>) -> String {
    code.map_or_else(|| "it was stopped".to_owned(), |code| format!("exit {code}"))
}

impl LandError {
    /// What kind of error it is.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::NoClaim => Code::NoClaim,
            Self::SeveralClaims(_) => Code::SeveralClaims,
            Self::Busy { .. } | Self::UnderWay { .. } => Code::WorktreeBusy,
            Self::NoChange(_) => Code::NoChange,
            Self::LeftOver(_) => Code::LeftOver,
            Self::OtherIssues(_) => Code::OtherIssues,
            Self::Conflict { .. } => Code::LandConflict,
            Self::TargetDirty { .. } => Code::TargetDirty,
            Self::GateFailed { .. } => Code::GateFailed,
            Self::PushRefused { .. } => Code::PushRefused,
            Self::NothingToLand(_)
            | Self::NothingLanded(_)
            | Self::Landed(_)
            | Self::Over { .. }
            | Self::Elsewhere { .. } => Code::NothingToLand,
            Self::Moving { .. } => Code::TargetMoving,
        }
    }

    /// What to type next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoClaim => "jit start, or name the issue".into(),
            Self::SeveralClaims(handles) => format!("name one: jit finish {}", handles.first()?),
            Self::Busy { begun, files, target, .. } => leaving(begun.as_deref(), files, target),
            Self::UnderWay { command, has_begun: false, .. } => {
                format!("{command} --quit, then the same again")
            }
            Self::UnderWay { command, .. } => {
                format!("{command} --continue or {command} --abort, then the same again")
            }
            Self::NoChange(_) => {
                "commit the work, or say why there is none: jit finish --empty -m 'why'".into()
            }
            Self::LeftOver(_) => "jit finish -a takes them along, --leave leaves them here".into(),
            Self::OtherIssues(handles) => format!("jit finish --with {}", handles.join(" --with ")),
            Self::Conflict { onto: Onto::Target(name), .. } => {
                // The issue itself may be changed here, and that is in no commit yet.
                format!(
                    "git rebase --autostash {name}, resolve, git rebase --continue, then jit finish again"
                )
            }
            Self::Conflict { onto: Onto::Dependencies, .. } => "jit land --all, then jit start again".into(),
            Self::Conflict { onto: Onto::Since, commit, .. } => {
                let commit = commit.get(..10).unwrap_or(commit);
                format!("git revert {commit}, resolve, then jit reopen without --revert")
            }
            Self::TargetDirty { .. } => "commit or stash what is there, then jit land --all".into(),
            Self::GateFailed { .. } => {
                "mend it and run jit finish again: branch and claim are as they were".into()
            }
            Self::PushRefused { kind, .. } => kind.hint(),
            Self::NothingLanded(handle) => format!("jit reopen {handle}, without --revert"),
            Self::Landed(handle) => {
                format!("jit start begins the next one; jit reopen {handle} opens it again")
            }
            Self::Over { handle, .. } => format!("to do it again: jit reopen {handle}"),
            Self::Elsewhere { handle, .. } => {
                format!("jit drop {handle}: your commits stay; to land them as well: jit reopen {handle}")
            }
            Self::NothingToLand(_) => "jit list shows where finished work is".into(),
            Self::Moving { .. } => "jit finish again".into(),
        })
    }

    /// What a program can go on with.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::SeveralClaims(issues) | Self::OtherIssues(issues) => json!({ "issues": issues }),
            Self::Busy { files, .. } | Self::LeftOver(files) => json!({ "files": files }),
            Self::Conflict { files, commit, onto } => {
                let onto = if let Onto::Target(name) = onto { Some(name) } else { None };
                json!({ "files": files, "commit": commit, "onto": onto })
            }
            Self::TargetDirty { branch, root, files, .. } => {
                json!({ "branch": branch, "worktree": root.display().to_string(), "files": files })
            }
            Self::GateFailed { gate, code, output } => {
                json!({ "gate": gate, "exit_code": code, "output": output })
            }
            Self::NoClaim
            | Self::UnderWay { .. }
            | Self::NoChange(_)
            | Self::PushRefused { .. }
            | Self::NothingToLand(_)
            | Self::NothingLanded(_)
            | Self::Landed(_)
            | Self::Over { .. }
            | Self::Elsewhere { .. }
            | Self::Moving { .. } => json!({}),
        }
    }
}

/// What kept finished work from landing and is noted on its issue, for whoever goes on with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotLanded {
    /// It conflicts with what has landed.
    Conflict,
    /// A gate failed on it.
    Gate,
}

const COULD_NOT_LAND: &str = "could not land: ";

impl NotLanded {
    /// The note on an error, if it is one of these.
    pub(crate) fn note(error: &LandError) -> Option<String> {
        matches!(error, LandError::Conflict { .. } | LandError::GateFailed { .. })
            .then(|| format!("{COULD_NOT_LAND}{error}"))
    }

    /// Which of these a note is about, if it is about one.
    pub(crate) fn of(note: &str) -> Option<Self> {
        let why = note.strip_prefix(COULD_NOT_LAND)?;
        if why.starts_with("the work conflicts with ") {
            return Some(Self::Conflict);
        }
        why.starts_with("the gate '").then_some(Self::Gate)
    }
}

#[cfg(test)]
mod tests {
    use super::{LandError, NotLanded, Onto};

    #[test]
    fn a_note_says_what_kept_the_work_from_landing() {
        let onto = Onto::Target("main".into());
        let conflict = LandError::Conflict { files: vec!["a".into()], commit: "c".repeat(40), onto };
        let gate = LandError::GateFailed { gate: "tests".into(), code: Some(1), output: String::new() };
        let about = |error| NotLanded::of(&NotLanded::note(error).unwrap());
        assert_eq!(about(&conflict), Some(NotLanded::Conflict));
        assert_eq!(about(&gate), Some(NotLanded::Gate));
        assert_eq!(NotLanded::note(&LandError::NoClaim), None);
        assert_eq!(NotLanded::of("the work conflicts with mine"), None);
    }
}

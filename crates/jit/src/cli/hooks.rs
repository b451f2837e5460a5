//! Hooks, and what they and git call.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Hooks.
#[derive(Subcommand, Debug)]
pub enum Hooks {
    /// Have git ask jit before it commits and pushes, and merge issues with jit
    #[command(
        after_help = "Examples:\n  jit hooks install\n  jit hooks install --pre-receive /srv/git/project.git"
    )]
    Install {
        /// Have this bare repository ask jit before it accepts a push, instead
        #[arg(long, value_name = "BARE REPOSITORY")]
        pre_receive: Option<PathBuf>,
    },
    /// Put everything back as it was before
    #[command(after_help = "Examples:\n  jit hooks uninstall")]
    Uninstall {
        /// In this bare repository, instead
        #[arg(long, value_name = "BARE REPOSITORY")]
        pre_receive: Option<PathBuf>,
    },
    /// Show which hooks are there
    #[command(after_help = "Exits with 7 if one is missing.\n\nExample:\n  jit hooks status")]
    Status {
        /// In this bare repository, instead
        #[arg(long, value_name = "BARE REPOSITORY")]
        pre_receive: Option<PathBuf>,
    },
}

/// What git runs.
#[derive(Subcommand, Debug, PartialEq, Eq)]
pub enum Hook {
    /// Judge what is staged
    PreCommit,
    /// Name leases in a message that git prepared
    PrepareCommitMsg {
        /// The message
        file: PathBuf,
        /// Where it comes from
        source: Option<String>,
        /// The commit that it comes from
        commit: Option<String>,
    },
    /// Name leases in a message that a person finished
    CommitMsg {
        /// The message
        file: PathBuf,
    },
    /// Judge a push; the refs are read from stdin
    PrePush {
        /// The name of the remote, or its address
        remote: String,
        /// Its address
        url: Option<String>,
    },
    /// Judge a push that arrives; the refs are read from stdin
    PreReceive,
}

impl Hook {
    /// What the hooks of a commit type, without describing a command: every commit waits for that, also the
    /// many that touch no issue. None for whatever else is typed.
    #[must_use]
    pub fn of_commit(arguments: &[OsString]) -> Option<Self> {
        let [_, hook, name, rest @ ..] = arguments else { return None };
        if hook != "hook"
            || rest.iter().any(|word| matches!(word.as_encoded_bytes().first(), None | Some(b'-')))
        {
            return None;
        }
        let text = |word: &OsString| word.to_str().map(ToOwned::to_owned);
        match (name.to_str()?, rest) {
            ("pre-commit", []) => Some(Self::PreCommit),
            ("commit-msg", [file]) => Some(Self::CommitMsg { file: file.into() }),
            ("prepare-commit-msg", [file]) => {
                Some(Self::PrepareCommitMsg { file: file.into(), source: None, commit: None })
            }
            ("prepare-commit-msg", [file, source]) => {
                Some(Self::PrepareCommitMsg { file: file.into(), source: Some(text(source)?), commit: None })
            }
            ("prepare-commit-msg", [file, source, commit]) => Some(Self::PrepareCommitMsg {
                file: file.into(),
                source: Some(text(source)?),
                commit: Some(text(commit)?),
            }),
            _ => None,
        }
    }
}

/// The files that git hands to a merge driver.
#[derive(Args, Debug)]
pub struct MergeDriver {
    /// What both sides began with
    pub base: PathBuf,
    /// Our version, which is overwritten with the result
    pub ours: PathBuf,
    /// Their version
    pub theirs: PathBuf,
    /// How long the marks of a conflict are
    #[arg(default_value_t = 7)]
    pub marker_size: usize,
    /// The file that is merged
    pub path: Option<OsString>,
}

/// What is handed to `git commit`.
#[derive(Args, Debug)]
pub struct Commit {
    /// Arguments of git commit
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS OF GIT COMMIT")]
    pub arguments: Vec<OsString>,
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use clap::Parser;

    use super::Hook;
    use crate::cli::{Cli, Command, Deferred};

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_short_way_understands_what_the_long_one_does() {
        for line in [
            "jit hook pre-commit",
            "jit hook commit-msg .git/COMMIT_EDITMSG",
            "jit hook prepare-commit-msg .git/COMMIT_EDITMSG",
            "jit hook prepare-commit-msg .git/COMMIT_EDITMSG message",
            "jit hook prepare-commit-msg .git/COMMIT_EDITMSG commit HEAD",
        ] {
            let short = Hook::of_commit(&words(line));
            let Command::Hook(Deferred(long)) = Cli::try_parse_from(words(line)).unwrap().command else {
                panic!("{line} is no hook");
            };
            assert_eq!(short, Some(long), "{line}");
        }
    }

    #[test]
    fn whatever_is_unusual_goes_the_long_way() {
        for line in [
            "jit",
            "jit hook",
            "jit hooks status",
            "jit hook pre-commit --json",
            "jit hook pre-commit more",
            "jit hook commit-msg",
            "jit hook commit-msg -h",
            "jit hook commit-msg ",
            "jit hook prepare-commit-msg a b c d",
            "jit hook pre-push origin",
            "jit -C .. hook pre-commit",
        ] {
            assert_eq!(Hook::of_commit(&words(line)), None, "{line}");
        }
        let mut odd = words("jit hook prepare-commit-msg file");
        odd.push(OsString::from_vec(vec![0xff]));
        assert_eq!(Hook::of_commit(&odd), None);
    }
}

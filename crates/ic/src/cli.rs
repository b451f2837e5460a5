//! What can be typed. Only names, flags and help: what they mean is in `commands`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Named locks for scripts.
#[derive(Parser, Debug)]
#[command(
    name = "ic",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 done · 1 held by others for too long, not held, not yours · 2 something unexpected, \
        such as a lock that cannot be read · 3 not understood, or a name that no lock can have\n\n\
        Examples:\n  ic lock run deploy prod -- ./deploy.sh\n  \
        ic lock acquire build main --timeout 30s && { make; ic lock release build main; }"
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Args, Debug, Clone, Default)]
pub struct Global {
    /// Print one JSON document
    #[arg(long, global = true)]
    pub json: bool,
    /// Say what was done
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Where the locks are; else IC_LOCK_ROOT, else /tmp/intercore/locks
    #[arg(long, value_name = "DIR", global = true)]
    pub root: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Locks
    #[command(subcommand)]
    Lock(Lock),
    /// Print what makes a shell complete these commands
    #[command(
        after_help = "Examples:\n  ic completions bash > ~/.local/share/bash-completion/completions/ic"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of a command
    #[command(after_help = "Examples:\n  ic man lock acquire | man -l -")]
    Man {
        /// The command, as `lock acquire`; the program itself if not given
        command: Vec<String>,
    },
}

/// Which lock.
#[derive(Args, Debug)]
pub struct Which {
    /// What kind of thing is locked, such as `deploy`
    pub name: String,
    /// Which one of that kind, such as `prod`
    pub scope: String,
}

/// How a lock is taken.
#[derive(Args, Debug)]
pub struct Taking {
    /// How long to wait for it: 500ms, 1s, 2m; 0 not at all
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub timeout: String,
    /// Whose it is; else the process and the host
    #[arg(long, value_name = "NAME")]
    pub owner: Option<String>,
    /// Refuse to take locks the other way round than before, instead of warning
    #[arg(long)]
    pub strict_order: bool,
}

/// Locks.
#[derive(Subcommand, Debug)]
pub enum Lock {
    /// Take a lock
    #[command(
        after_help = "The lock is the calling shell's: it lasts until that shell releases it or ends.\n\n\
        Examples:\n  ic lock acquire sprint 7\n  ic lock acquire sprint 7 --timeout 30s\n  \
        ic lock acquire sprint 7 --owner nightly --pid $$"
    )]
    Acquire {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        taking: Taking,
        /// The process whose end is the end of the lock; else the calling shell
        #[arg(long, value_name = "PID")]
        pid: Option<u32>,
    },
    /// Give a lock back
    #[command(
        after_help = "Examples:\n  ic lock release sprint 7\n  ic lock release sprint 7 --owner nightly"
    )]
    Release {
        #[command(flatten)]
        which: Which,
        /// Whose it is; else the calling shell's
        #[arg(long, value_name = "NAME")]
        owner: Option<String>,
    },
    /// List all locks: name, scope, owner, age
    #[command(after_help = "Examples:\n  ic lock list\n  ic lock list --json")]
    List,
    /// List locks whose holders are not known to live
    #[command(after_help = "Examples:\n  ic lock stale\n  ic lock stale --older-than 1m")]
    Stale {
        /// Only locks that are at least that old
        #[arg(long, value_name = "TIME", default_value = "5s")]
        older_than: String,
    },
    /// Remove locks whose holders are not known to live, and what crashes left behind
    #[command(after_help = "Examples:\n  ic lock clean\n  ic lock clean --older-than 0 -v")]
    Clean {
        /// Only locks that are at least that old
        #[arg(long, value_name = "TIME", default_value = "5s")]
        older_than: String,
    },
    /// Hold a lock while a command runs
    #[command(
        after_help = "The exit code is the command's: 128 and the signal's number if a signal ended it, \
        127 if there is no such command. Signals are passed on to it.\n\n\
        Examples:\n  ic lock run deploy prod -- ./deploy.sh\n  \
        ic lock run db main --timeout 10m -- sh -c 'dump && upload'"
    )]
    Run {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        taking: Taking,
        /// The command
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
    /// Show in which order locks were taken so far
    #[command(
        after_help = "Each line: the lock that was held, the one that was taken then, by whom, how long ago.\n\n\
        Examples:\n  ic lock order"
    )]
    Order,
}

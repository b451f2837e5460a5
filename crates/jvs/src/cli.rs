//! What can be typed. Only names, flags and help: what they mean is in `commands`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use holdfast_kernel::Millis;

/// One writer per worktree, and snapshots that can be trusted.
#[derive(Parser, Debug)]
#[command(
    name = "jvs",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  jvs init demo && cd demo/main\n  jvs lock acquire\n  jvs snapshot 'before the \
                  rewrite'\n  jvs lock release\n  jvs history"
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
    /// Run as if started in this directory
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// The file with the credentials of the session; else `JVS_SESSION_FILE`, else one of the calling shell's own
    #[arg(long, value_name = "FILE", global = true)]
    pub session_file: Option<PathBuf>,
    /// How long to wait for others at most: for those who are inside a guard (10 seconds if not given), and in
    /// `lock acquire` and `lock run` for the lock (not at all if not given)
    #[arg(long, value_name = "SECONDS", global = true, value_parser = seconds)]
    pub wait: Option<Millis>,
}

/// The longest wait: a week.
const LONGEST_WAIT: Millis = Millis::from_secs(7 * 24 * 3_600);

/// A number of seconds, with up to three digits behind the point.
fn seconds(text: &str) -> Result<Millis, String> {
    let wrong =
        || format!("not a number of seconds from 0 to {}, such as 30 or 0.5", LONGEST_WAIT.get() / 1_000);
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 3 {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let part: u64 = format!("{part:0<3}").parse().map_err(|_| wrong())?;
    let span = whole.checked_mul(1_000).and_then(|ms| ms.checked_add(part)).map(Millis::new);
    span.filter(|span| *span <= LONGEST_WAIT).ok_or_else(wrong)
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Make a repository
    #[command(after_help = "Examples:\n  jvs init demo\n  jvs -C projects init demo")]
    Init {
        /// The directory to make, below the current one
        name: String,
    },
    /// Show what holds for this repository
    Info,
    /// Worktrees
    #[command(subcommand)]
    Worktree(Worktree),
    /// The writer lock of a worktree
    #[command(subcommand)]
    Lock(Lock),
    /// Publish the payload of a worktree as a snapshot
    #[command(
        after_help = "Examples:\n  jvs snapshot 'tests are green'\n  jvs snapshot --consistency best_effort"
    )]
    Snapshot {
        /// What to write about it
        note: Option<String>,
        /// What to promise about its moment
        #[arg(long, value_enum, default_value_t = Consistency::Quiesced)]
        consistency: Consistency,
        /// The worktree; the one of this directory if not given
        #[arg(long, value_name = "NAME")]
        worktree: Option<String>,
    },
    /// List the snapshots of a worktree, the newest first
    History {
        /// At most so many
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// The worktree; the one of this directory if not given
        #[arg(long, value_name = "NAME")]
        worktree: Option<String>,
    },
    /// Bring a snapshot back: as a worktree of its own, or in the place of a payload
    #[command(after_help = "Examples:\n  jvs restore 1767225600000-0badcafe --name review\n  \
                            jvs restore 1767225600000-0badcafe --inplace --reason 'the rewrite was wrong'")]
    Restore {
        /// The snapshot
        id: String,
        /// The worktree to make; `restored-<id>` if not given
        #[arg(long, conflicts_with = "inplace")]
        name: Option<String>,
        /// Replace the payload of the worktree
        #[arg(long, requires = "reason")]
        inplace: bool,
        /// Why it is replaced
        #[arg(long, value_name = "TEXT", requires = "inplace")]
        reason: Option<String>,
        /// The worktree to replace the payload of; the one of this directory if not given
        #[arg(long, value_name = "NAME", requires = "inplace")]
        worktree: Option<String>,
        /// Even if the payload is in no snapshot: what is unsaved is lost
        #[arg(long, requires = "inplace", conflicts_with = "snapshot_first")]
        force: bool,
        /// Take a snapshot of the payload first if it is in none
        #[arg(long, requires = "inplace")]
        snapshot_first: bool,
    },
    /// Show the head and the lock of a worktree, and what is unsaved
    Status {
        /// The worktree; the one of this directory if not given
        #[arg(long, value_name = "NAME")]
        worktree: Option<String>,
    },
    /// Show what differs: head and payload, a snapshot and the payload, or two snapshots
    #[command(after_help = "Examples:\n  jvs diff\n  jvs diff 1767225600000-0badcafe\n  \
                            jvs diff 1767225600000-0badcafe 1767229200000-0defaced")]
    Diff {
        /// The earlier snapshot; the head if not given
        from: Option<String>,
        /// The later snapshot; the payload if not given
        to: Option<String>,
        /// The worktree; the one of this directory if not given
        #[arg(long, value_name = "NAME")]
        worktree: Option<String>,
    },
    /// Keep a snapshot, whatever becomes of the heads
    Pin {
        /// The snapshot
        id: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Let a snapshot go that was pinned
    Unpin {
        /// The snapshot
        id: String,
    },
    /// List the pinned snapshots
    Pins,
    /// Check that snapshots and audit are what was published; the head of the worktree if nothing is named
    Verify {
        /// This snapshot
        #[arg(long, value_name = "ID", conflicts_with = "all")]
        snapshot: Option<String>,
        /// Every snapshot
        #[arg(long)]
        all: bool,
    },
    /// Delete snapshots that nobody needs
    #[command(subcommand)]
    Gc(Gc),
    /// Look for what is wrong
    Doctor {
        /// Also look for what crashes left, and check audit and clock
        #[arg(long)]
        strict: bool,
        /// Do what is listed; looks as with --strict
        #[arg(long)]
        repair: bool,
    },
    /// Show the audit log
    Audit {
        /// What to do with it.
        #[command(subcommand)]
        command: Option<Audit>,
        /// Only so many lines, the last ones
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Print a completion script
    #[command(
        after_help = "Example:\n  jvs completions bash > ~/.local/share/bash-completion/completions/jvs"
    )]
    Completions {
        /// For this shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of a command
    #[command(after_help = "Example:\n  jvs man snapshot | man -l -")]
    Man {
        /// The command, as `worktree create`; the program itself if not given
        command: Vec<String>,
    },
}

/// Worktrees.
#[derive(Subcommand, Debug)]
pub enum Worktree {
    /// Make a worktree
    Create {
        /// Its name
        name: String,
        /// Start with the payload of this snapshot
        #[arg(long, value_name = "ID")]
        from: Option<String>,
        /// Whether it has one writer
        #[arg(long, value_enum, default_value_t = Isolation::Exclusive)]
        isolation: Isolation,
    },
    /// List all worktrees
    List,
    /// Print where the payload of a worktree is
    Path {
        /// Its name; the one of this directory if not given
        name: Option<String>,
    },
    /// Give a worktree another name
    Rename {
        /// Its name
        from: String,
        /// The other name
        to: String,
    },
    /// Remove a worktree
    Remove {
        /// Its name
        name: String,
        /// Even if its payload is in no snapshot
        #[arg(long)]
        force: bool,
    },
}

/// The writer lock of a worktree.
#[derive(Subcommand, Debug)]
pub enum Lock {
    /// Take the lock, also from a holder whose lease has run out
    Acquire {
        /// The worktree; the one of this directory if not given
        #[arg(long, value_name = "NAME")]
        worktree: Option<String>,
        /// How long the lease lasts, in milliseconds
        #[arg(long, value_name = "MS")]
        lease_ms: Option<u64>,
    },
    /// Prolong the lease
    Renew {
        /// The worktree; the one of this directory if not given
        #[arg(long, value_name = "NAME")]
        worktree: Option<String>,
    },
    /// Give the lock back
    Release {
        /// The worktree; the one of this directory if not given
        #[arg(long, value_name = "NAME")]
        worktree: Option<String>,
    },
    /// Show who has the lock
    Status {
        /// The worktree; the one of this directory if not given
        #[arg(long, value_name = "NAME")]
        worktree: Option<String>,
    },
    /// Break a lock that nobody can release
    #[command(
        after_help = "Example:\n  jvs lock break --reason 'its machine is gone'\n\nThe holder of the lock is \
                            refused from then on. The audit log keeps who broke it, from whom and why."
    )]
    Break {
        /// Why; it goes into the audit log
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// The worktree; the one of this directory if not given
        #[arg(long, value_name = "NAME")]
        worktree: Option<String>,
    },
    /// Run a command while holding the lock; it is stopped if the lock is lost
    #[command(after_help = "Example:\n  jvs lock run -- make test\n\nThe command finds the session in \
                            JVS_SESSION_FILE, so it can call `jvs snapshot`.")]
    Run {
        /// The worktree; the one of this directory if not given
        #[arg(long, value_name = "NAME")]
        worktree: Option<String>,
        /// How long the lease lasts between renewals, in milliseconds
        #[arg(long, value_name = "MS")]
        lease_ms: Option<u64>,
        /// The command
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
}

/// Deleting what nobody needs.
#[derive(Subcommand, Debug)]
pub enum Gc {
    /// List what could be deleted
    Plan,
    /// Delete what a plan listed
    Run {
        /// The id of the plan
        #[arg(long, value_name = "ID")]
        plan_id: String,
    },
}

/// The audit log.
#[derive(Subcommand, Debug)]
pub enum Audit {
    /// Check its chain, and that nothing is missing
    Verify,
}

/// Whether a worktree has one writer.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub enum Isolation {
    /// One, who holds the lock
    Exclusive,
    /// Many, and nothing is promised
    Shared,
}

/// What a snapshot promises about its moment.
#[derive(ValueEnum, Clone, Copy, Debug)]
#[value(rename_all = "snake_case")]
pub enum Consistency {
    /// Nobody wrote to the payload meanwhile
    Quiesced,
    /// Somebody may have: the snapshot carries a risk label
    BestEffort,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_to_the_millisecond() {
        for (text, ms) in
            [("0", 0), ("30", 30_000), ("0.5", 500), ("1.25", 1_250), ("0.001", 1), ("604800", 604_800_000)]
        {
            assert_eq!(seconds(text), Ok(Millis::new(ms)), "{text}");
        }
        for text in ["", ".", "1.", ".5", "-1", "+1", "1s", "1e3", "0.0001", "604801", "99999999999999999999"]
        {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}

//! The configuration's defaults, behind the types that the rest of the door reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holdfast_kernel::{Again, KindRule, Limits, Millis, Policy, TtlRange};
use holdfast_sys::Sys;

/// Why a configuration could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system failed.
    #[error(transparent)]
    Sys(#[from] holdfast_sys::Error),
}

impl Error {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        None
    }
}

/// The files that a configuration is made of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sources {
    /// The repository's.
    pub repository: Option<PathBuf>,
    /// The user's.
    pub user: Option<PathBuf>,
    /// The machine's.
    pub system: Option<PathBuf>,
}

/// Whether the worktrees of one repository share their claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorktreeMode {
    /// As git says.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// `[worktree]`.
#[derive(Clone, Debug)]
pub struct Worktree {
    /// Whether claims are shared.
    pub mode: WorktreeMode,
}

/// `[coordination]`.
#[derive(Clone, Debug)]
pub struct Coordination {
    /// The usual length of a lease.
    pub default_ttl_secs: u64,
    /// Between beats.
    pub heartbeat_interval_secs: u64,
    /// Renews by itself.
    pub auto_renew_leases: bool,
    /// When to warn.
    pub lease_renewal_threshold_pct: u8,
    /// Who shares the claims.
    pub shared_group: Option<String>,
}

/// `[locks]`.
#[derive(Clone, Debug)]
pub struct Locks {
    /// When a lock is suspect.
    pub max_age_secs: u64,
    /// Whether a lock says who holds it.
    pub enable_metadata: bool,
}

/// `[events]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Events {
    /// Whether events are numbered.
    pub enable_sequences: bool,
    /// Whether they have the common envelope.
    pub use_unified_envelope: bool,
}

/// What is configured.
#[derive(Clone, Debug)]
pub struct Config {
    /// `[worktree]`.
    pub worktree: Worktree,
    /// `[coordination]`.
    pub coordination: Coordination,
    /// `[locks]`.
    pub locks: Locks,
    /// `[events]`.
    pub events: Events,
}

impl Config {
    /// Reads the configuration.
    ///
    /// # Errors
    /// Never.
    pub fn load(_sys: &Sys, _sources: &Sources) -> Result<Self, Error> {
        Ok(Self {
            worktree: Worktree { mode: WorktreeMode::Auto },
            coordination: Coordination {
                default_ttl_secs: 600,
                heartbeat_interval_secs: 30,
                auto_renew_leases: false,
                lease_renewal_threshold_pct: 10,
                shared_group: None,
            },
            locks: Locks { max_age_secs: 3_600, enable_metadata: true },
            events: Events { enable_sequences: true, use_unified_envelope: true },
        })
    }

    /// The rules that leases are granted by.
    #[must_use]
    pub fn policy(&self) -> Policy {
        let ttl = TtlRange { min: Millis::from_secs(1), max: Millis::from_secs(7 * 86_400) };
        Policy {
            again: Again::Return,
            rule: KindRule { ttl, indefinite: true },
            kinds: BTreeMap::new(),
            skew: Millis::ZERO,
            grace: Millis::ZERO,
            stale_after: Millis::from_secs(3_600),
            limits: Limits { indefinite_per_agent: 2, indefinite_per_table: 10, ..Limits::NONE },
        }
    }

    /// How long a lease lasts whose taker did not say.
    #[must_use]
    pub fn ttl_for(&self, agent: &AgentFile, _kind: Option<&str>) -> Millis {
        Millis::from_secs(agent.agent.default_ttl_secs.unwrap_or(self.coordination.default_ttl_secs))
    }
}

/// `[agent]`.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    /// Who it is.
    pub id: Option<String>,
    /// The usual length of its leases.
    pub default_ttl_secs: Option<u64>,
}

/// `[behavior]`.
#[derive(Clone, Debug, Default)]
pub struct Behavior {
    /// Whether acquiring starts the heartbeat.
    pub auto_heartbeat: bool,
    /// Between beats.
    pub heartbeat_interval: Option<u64>,
}

/// The user's `agent.toml`.
#[derive(Clone, Debug, Default)]
pub struct AgentFile {
    /// Who it is.
    pub agent: Agent,
    /// What is done for it.
    pub behavior: Behavior,
}

impl AgentFile {
    /// Reads the file.
    ///
    /// # Errors
    /// Never.
    pub fn load(_sys: &Sys, _path: Option<&Path>) -> Result<Self, Error> {
        Ok(Self::default())
    }
}

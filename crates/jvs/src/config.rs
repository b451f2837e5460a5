//! The policy of a repository: how long a lease lasts, how often it is renewed, how far clocks may be apart
//! and how long others wait. It is looked at when a lock is granted or renewed; a lock that exists is judged
//! by the values in its own record.

use std::collections::BTreeMap;

use holdfast_kernel::{Again, KindRule, Limits, Millis, Policy as Rules, TtlRange};
use serde::{Deserialize, Serialize};

/// The shortest lease.
pub const SHORTEST_MS: u64 = 100;
/// The longest lease: a day.
pub const LONGEST_MS: u64 = 24 * 3_600 * 1_000;

/// What `.jvs/config.json` holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The version of this file.
    pub format: u64,
    /// Which repository this is.
    pub repo_id: String,
    /// When it was made.
    pub created_at: String,
    /// The values that a lock is granted with.
    pub policy: Policy,
}

/// The values that a lock is granted with, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// How long a lease lasts.
    pub lease_duration_ms: u64,
    /// How often `jvs` renews a lease that it keeps itself.
    pub renew_interval_ms: u64,
    /// How far clocks may be apart.
    pub max_clock_skew_ms: u64,
    /// How long others wait on top of that.
    pub steal_grace_ms: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            lease_duration_ms: 30_000,
            renew_interval_ms: 10_000,
            max_clock_skew_ms: 2_000,
            steal_grace_ms: 1_000,
        }
    }
}

impl Policy {
    /// What is wrong with the values, if anything is.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let lease = self.lease_duration_ms;
        if !(SHORTEST_MS..=LONGEST_MS).contains(&lease) {
            return Some(format!("lease_duration_ms is {lease}, not from {SHORTEST_MS} to {LONGEST_MS}"));
        }
        if self.renew_interval_ms == 0 || self.renew_interval_ms >= lease {
            return Some("renew_interval_ms must be more than 0 and less than lease_duration_ms".to_owned());
        }
        if self.max_clock_skew_ms.max(self.steal_grace_ms) > LONGEST_MS {
            return Some(format!("max_clock_skew_ms and steal_grace_ms must be at most {LONGEST_MS}"));
        }
        None
    }

    /// How often a lease of this length is renewed: as configured, but never so late that one failure loses
    /// it.
    #[must_use]
    pub fn renew_interval(&self, lease_ms: u64) -> u64 {
        self.renew_interval_ms.min(lease_ms / 3).max(1)
    }

    /// The same for the rules. The same holder again gets its lock again.
    #[must_use]
    pub fn rules(&self) -> Rules {
        let ttl = TtlRange { min: Millis::new(SHORTEST_MS), max: Millis::new(LONGEST_MS) };
        Rules {
            again: Again::Return,
            rule: KindRule { ttl, indefinite: false },
            kinds: BTreeMap::new(),
            skew: Millis::new(self.max_clock_skew_ms),
            grace: Millis::new(self.steal_grace_ms),
            stale_after: Millis::LONGEST,
            limits: Limits::NONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Policy;

    #[test]
    fn values_that_cannot_work_are_named() {
        let good = Policy::default();
        assert_eq!(good.problem(), None);
        for wrong in [
            Policy { lease_duration_ms: 99, ..good },
            Policy { lease_duration_ms: 86_400_001, ..good },
            Policy { renew_interval_ms: 0, ..good },
            Policy { renew_interval_ms: 30_000, ..good },
            Policy { max_clock_skew_ms: u64::MAX, ..good },
            Policy { steal_grace_ms: u64::MAX, ..good },
        ] {
            assert!(wrong.problem().is_some(), "{wrong:?}");
        }
    }

    #[test]
    fn a_short_lease_is_renewed_in_time() {
        assert_eq!(Policy::default().renew_interval(30_000), 10_000);
        assert_eq!(Policy::default().renew_interval(300), 100);
        assert_eq!(Policy::default().renew_interval(1), 1);
    }
}

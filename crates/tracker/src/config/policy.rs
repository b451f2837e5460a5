//! What a configuration means for the rules of leases.

use holdfast_kernel::{Again, KindRule, Limits, Millis, Policy, TtlRange};

use super::{AgentFile, Config};

impl Config {
    /// The rules that leases are granted by.
    ///
    /// One machine has one clock, so there is no skew to wait for, and nobody has to wait once a lease is
    /// over.
    #[must_use]
    pub fn policy(&self) -> Policy {
        Policy {
            again: Again::Return,
            rule: self.rule_for(None),
            kinds: self.kinds.keys().map(|kind| (kind.clone(), self.rule_for(Some(kind)))).collect(),
            skew: Millis::ZERO,
            grace: Millis::ZERO,
            stale_after: Millis::from_secs(self.coordination.stale_threshold_secs),
            limits: Limits {
                indefinite_per_agent: self.coordination.max_indefinite_leases_per_agent,
                indefinite_per_table: self.coordination.max_indefinite_leases_per_repo,
                ..Limits::NONE
            },
        }
    }

    /// The rules of claims that several machines share: their clocks may differ.
    #[must_use]
    pub fn shared_policy(&self) -> Policy {
        let skew = Millis::from_secs(self.coordination.skew_secs);
        Policy { skew, grace: skew, ..self.policy() }
    }

    /// How long a lease lasts whose taker did not say: as the agent prefers, else as the repository does,
    /// within what agents of its kind may have.
    #[must_use]
    pub fn ttl_for(&self, agent: &AgentFile, kind: Option<&str>) -> Millis {
        let wanted = agent.agent.default_ttl_secs.unwrap_or(self.coordination.default_ttl_secs);
        let TtlRange { min, max } = self.rule_for(kind).ttl;
        Millis::from_secs(wanted).max(min).min(max)
    }

    fn rule_for(&self, kind: Option<&str>) -> KindRule {
        let general = &self.coordination;
        let own = kind.and_then(|kind| self.kinds.get(kind));
        let secs = |own: Option<u64>, general: u64| Millis::from_secs(own.unwrap_or(general));
        KindRule {
            ttl: TtlRange {
                min: secs(own.and_then(|own| own.min_ttl_secs), general.min_ttl_secs),
                max: secs(own.and_then(|own| own.max_ttl_secs), general.max_ttl_secs),
            },
            indefinite: own.and_then(|own| own.allow_indefinite).unwrap_or(general.allow_indefinite),
        }
    }
}

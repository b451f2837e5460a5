//! What may be granted. A policy is looked at when a lease is granted, renewed or handed over; a lease
//! that exists is judged by its own terms.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;

use crate::{Holder, Millis};

/// What a holder gets that asks for what it holds already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Again {
    /// Its live lease, unchanged: a caller that died before it read the answer is not locked out.
    Return,
    /// A refusal.
    Refuse,
}

/// The shortest and the longest finite lease.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TtlRange {
    /// The shortest one.
    pub min: Millis,
    /// The longest one.
    pub max: Millis,
}

impl TtlRange {
    /// The part of the range that can be granted: no lease is born dead, and none outlasts
    /// [`Millis::LONGEST`], whatever the range says.
    #[must_use]
    pub fn lawful(&self) -> Self {
        Self { min: self.min.max(Millis::SHORTEST), max: self.max.min(Millis::LONGEST) }
    }

    /// Whether a lease may last that long.
    #[must_use]
    pub fn contains(&self, ttl: Millis) -> bool {
        let Self { min, max } = self.lawful();
        (min..=max).contains(&ttl)
    }
}

impl fmt::Display for TtlRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.min <= self.max {
            write!(f, "from {} to {}", self.min, self.max)
        } else {
            f.write_str("no time at all")
        }
    }
}

/// What holders of one kind may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KindRule {
    /// How long their finite leases may be.
    pub ttl: TtlRange,
    /// Whether they may hold without a deadline.
    pub indefinite: bool,
}

/// How much may be held at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Leases of one agent, wherever it works.
    pub leases_per_agent: u32,
    /// Leases in the whole table.
    pub leases_per_table: u32,
    /// Indefinite leases of one agent.
    pub indefinite_per_agent: u32,
    /// Indefinite leases in the whole table.
    pub indefinite_per_table: u32,
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self {
        leases_per_agent: u32::MAX,
        leases_per_table: u32::MAX,
        indefinite_per_agent: u32::MAX,
        indefinite_per_table: u32::MAX,
    };
}

/// What may be granted, to whom and on which terms. Spans beyond [`Millis::LONGEST`] count as that long.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    /// What a holder gets that asks again.
    pub again: Again,
    /// What holders may have whose kind has no rule of its own.
    pub rule: KindRule,
    /// What holders of a certain kind (`kind:name`) may have.
    pub kinds: BTreeMap<String, KindRule>,
    /// How far clocks may be apart.
    pub skew: Millis,
    /// How long others wait after a deadline, on top of the skew.
    pub grace: Millis,
    /// How long an indefinite lease may be silent.
    pub stale_after: Millis,
    /// How much may be held at once.
    pub limits: Limits,
}

impl Policy {
    /// The rule for this holder.
    #[must_use]
    pub fn rule_for(&self, holder: &Holder) -> KindRule {
        holder.kind().and_then(|kind| self.kinds.get(kind)).copied().unwrap_or(self.rule)
    }
}

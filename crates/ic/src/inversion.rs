//! Locks that are taken the other way round than before, as people and programs are told of it. How that is noticed is
//! in `order`.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// That one lock was taken while another was held.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Seen {
    /// The lock that was held.
    pub first: String,
    /// The lock that was taken then.
    pub then: String,
    /// By whom.
    pub owner: String,
    /// All that was held, and the lock that was taken last.
    pub chain: Vec<String>,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

/// Locks that are taken the other way round than before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inversion {
    /// Who does it.
    pub owner: String,
    /// In which order.
    pub chain: Vec<String>,
    /// What was seen before: together these lead from the last lock of the chain to an earlier one.
    pub earlier: Vec<Seen>,
}

impl fmt::Display for Inversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lock order turned round: {} takes {}", self.owner, self.chain.join(" → "))?;
        for seen in &self.earlier {
            write!(f, ", but {} took {}", seen.owner, seen.chain.join(" → "))?;
        }
        f.write_str(" before")
    }
}

impl Inversion {
    /// The inversion as JSON.
    #[must_use]
    pub fn document(&self) -> Value {
        json!({ "owner": self.owner, "chain": self.chain, "earlier": self.earlier })
    }
}

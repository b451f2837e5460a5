//! A circle of owners that wait for each other, as people and programs are told of it. How one is found is in
//! `deadlock`.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

/// One step of a circle: who holds a lock, and is waited for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Link {
    /// The lock.
    pub lock: String,
    /// Who holds it.
    pub holder: String,
}

/// A circle of owners that wait for each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// Who would close it.
    pub owner: String,
    /// What each waits for, beginning with the one who would close it.
    pub links: Vec<Link>,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "deadlock: {}", self.owner)?;
        for (index, link) in self.links.iter().enumerate() {
            let waits = if index == 0 { " would wait for" } else { ", who waits for" };
            write!(f, "{waits} {}, held by {}", link.lock, link.holder)?;
        }
        Ok(())
    }
}

impl Cycle {
    /// The circle as JSON.
    #[must_use]
    pub fn document(&self) -> Value {
        json!({ "owner": self.owner, "waits": self.links })
    }
}

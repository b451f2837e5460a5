//! What must hold of every history. Each property is a file of its own; none looks at how a medium works.

pub mod acknowledged;
pub mod fences;
pub mod linearizable;
pub mod one_writer;
pub mod replay;
pub mod told_no;
pub mod usable;
pub mod writes;

#[cfg(test)]
mod handmade;

use std::fmt;

use holdfast_kernel::Policy;

use crate::history::History;

/// Which property a history breaks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Property {
    /// At every instant at most one holder believes that it is alone.
    OneWriter,
    /// No guarded write of a displaced holder succeeds.
    Writes,
    /// Fences strictly rise.
    Fences,
    /// Nothing acknowledged is lost.
    Acknowledged,
    /// Nothing is held by somebody who was told no.
    ToldNo,
    /// Replaying the records gives the state.
    Replay,
    /// The medium can always be understood, and works when nothing fails.
    Usable,
    /// There is a sequence of the calls that explains every answer.
    Linearizable,
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::OneWriter => "one-writer",
            Self::Writes => "guarded-writes",
            Self::Fences => "fences-rise",
            Self::Acknowledged => "nothing-acknowledged-lost",
            Self::ToldNo => "told-no-holds-nothing",
            Self::Replay => "replay-is-state",
            Self::Usable => "usable",
            Self::Linearizable => "linearizable",
        })
    }
}

/// A property that does not hold, and what shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The property.
    pub property: Property,
    /// What shows it.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.property, self.what)
    }
}

/// The first violation of every property that does not hold.
#[must_use]
pub fn check(history: &History, policy: &Policy) -> Vec<Violation> {
    let found = [
        (Property::OneWriter, one_writer::find(history)),
        (Property::Writes, writes::find(history)),
        (Property::Fences, fences::find(history)),
        (Property::Acknowledged, acknowledged::find(history)),
        (Property::ToldNo, told_no::find(history)),
        (Property::Replay, replay::find(history)),
        (Property::Usable, usable::find(history)),
        (Property::Linearizable, linearizable::find(history, policy)),
    ];
    found.into_iter().filter_map(|(property, what)| what.map(|what| Violation { property, what })).collect()
}

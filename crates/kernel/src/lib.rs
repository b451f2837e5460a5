//! What is allowed, and nothing else.
//!
//! [`decide`] looks at a [`Table`] of leases and says which [`Event`]s a [`Command`] causes, or why it is
//! refused. [`apply`] puts an event into a table. Neither touches a file, a clock, a thread or a random
//! number: time, ids and fences come in as arguments, so the same inputs give the same events, byte for
//! byte, on every machine and in every language that runs `spec/vectors`.
//!
//! The rules are numbered in `spec/lease.md`.
#![warn(missing_docs)]
#![no_std]

extern crate alloc;

mod answer;
mod apply;
mod command;
mod decide;
mod event;
mod fence;
mod inconsistent;
mod kind;
mod lease;
mod name;
mod pattern;
mod policy;
mod refusal;
mod resource;
mod table;
mod time;

pub use answer::{Answer, Decision};
pub use apply::apply;
pub use command::{Acquire, Claim, Command, Request, Transfer};
pub use decide::{check, decide};
pub use event::{Cause, Event};
pub use fence::{Fence, FenceError};
pub use inconsistent::Inconsistent;
pub use kind::RefusalKind;
pub use lease::{Lease, Mode, Standing, Term};
pub use name::{Holder, LeaseId, LeaseIdError, Name, NameError, Tags, TagsError, Text};
pub use pattern::{Pattern, PatternError};
pub use policy::{Again, KindRule, Limits, Policy, TtlRange};
pub use refusal::{LimitKind, Refusal};
pub use resource::Resource;
pub use table::Table;
pub use time::{Boot, BootId, Elapsed, Millis, Stamp, TimeError};

//! The tracker: issues, who works on them, and what may be written by whom.
//!
//! Typed questions come in, typed outcomes and notices go out. Nothing here knows a terminal, an argument, an exit
//! of a process or an environment variable; whoever asks brings the machine and hears the notices.
#![warn(missing_docs)]

pub mod agent;
mod alone;
pub mod answers;
pub mod approvals;
pub mod caller;
pub mod claims;
pub mod code;
mod committed;
pub mod config;
pub mod control;
pub mod divergence;
pub mod documents;
pub mod durable;
pub mod engine;
pub mod error;
pub mod escalate;
pub mod feed;
pub mod gates;
pub mod gone;
pub mod heartbeat;
pub mod held;
mod home;
pub mod hooks;
pub mod ids;
pub mod import;
pub mod issues;
pub mod journal;
mod json;
pub mod keep;
pub mod land;
pub mod layout;
mod leftovers;
pub mod merge;
pub mod names;
mod noted;
pub mod notes;
pub mod notice;
pub mod queries;
mod reach;
pub mod recover;
pub mod reserve;
pub mod run;
mod seek;
pub mod session;
pub mod take;
pub mod target;
pub mod times;
mod tracking;
pub mod validate;
pub mod wait;
pub mod workspace;
pub mod worktree;
pub mod worktrees;
pub mod writes;

pub use caller::Caller;
pub use error::{Error, Result};
pub use notice::{Listener, Notice, Silent};
pub use session::Session;
pub use wait::Waits;

//! What `jit run` and its guardian say to each other, a JSON line each.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::log::Bound;

/// What the guardian is asked to do. It does all of it by itself, in the end, when nobody asks any more.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Keep this lease; the agent in this worktree holds it.
    Keep {
        /// The lease.
        lease: String,
    },
    /// Start a command. There must be none.
    Start(Start),
    /// Send the command a signal.
    Signal(i32),
    /// Stop the command.
    Stop,
}

/// A command to be started.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Start {
    /// The program and its arguments, as bytes.
    pub words: Vec<Vec<u8>>,
    /// Where it is started.
    pub directory: PathBuf,
    /// What it finds in its environment besides.
    pub variables: Vec<(String, String)>,
    /// What it reads.
    pub input: Input,
    /// Where its output goes; none passes it through.
    pub log: Option<Bound>,
    /// Whether it belongs to the foreground of the terminal that `jit run` was started on.
    pub in_foreground: bool,
}

/// What a command reads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Nothing.
    Nothing,
    /// The file that came with the message.
    Given,
    /// This file.
    File(PathBuf),
}

/// What the guardian tells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It is there: this is its number.
    Ready(u32),
    /// The command runs: this is its number.
    Started(u32),
    /// It could not be started.
    NotStarted {
        /// What a shell would say.
        code: u8,
        /// Why not.
        why: String,
    },
    /// The command and all that it started have ended.
    Ended(Ended),
}

/// How a command ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ended {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why it was stopped, if it was.
    pub why: Option<Why>,
    /// Whether it left processes behind that had to be ended.
    pub left_behind: bool,
    /// How many bytes it wrote, if that went to a log.
    pub written: u64,
}

/// Why a command was stopped.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Somebody asked for it.
    Asked,
    /// The claim ended without its doing.
    Lost(String),
    /// It gave the claim back by itself some time ago.
    Released,
}

//! How fast, compared with the least that the same work can cost.
//!
//! Figures of one machine on one day mean nothing on another, so each benchmark measures its floor or peer
//! in turns with ours and the table shows the ratio. Nothing here is a test: no figure ever fails a build.

pub mod crowd;
pub mod ground;
pub mod process;
pub mod row;
pub mod stats;
pub mod table;

mod acquire;
mod agents;
mod depth;
mod fixture;
mod group;
mod hooks;
mod install;
mod issues;
mod jit;
mod jvs;
mod landing;
mod machines;
mod named;
mod open;
mod patterns;
mod rebuild;
mod run;
mod server;
mod simulation;
mod tracker;
mod turns;
mod writing;

use ground::{Failure, Ground};
use row::Row;

/// One benchmark.
pub struct Bench {
    /// What it is called on the command line.
    pub name: &'static str,
    /// Measures; one row for each comparison.
    pub run: fn(&Ground) -> Result<Vec<Row>, Failure>,
}

/// All benchmarks, in the order of the table.
pub const BENCHES: [Bench; 21] = [
    Bench { name: "acquire", run: acquire::run },
    Bench { name: "group", run: group::run },
    Bench { name: "depth", run: depth::run },
    Bench { name: "open", run: open::run },
    Bench { name: "rebuild", run: rebuild::run },
    Bench { name: "patterns", run: patterns::run },
    Bench { name: "jit", run: jit::run },
    Bench { name: "landing", run: landing::run },
    Bench { name: "machines", run: machines::run },
    Bench { name: "hooks", run: hooks::run },
    Bench { name: "issues", run: issues::run },
    Bench { name: "writing", run: writing::run },
    Bench { name: "crowd", run: crowd::run },
    Bench { name: "agents", run: agents::run },
    Bench { name: "run", run: run::run },
    Bench { name: "server", run: server::run },
    Bench { name: "named", run: named::run },
    Bench { name: "simulation", run: simulation::run },
    Bench { name: "kc-turns", run: turns::run },
    Bench { name: "jvs", run: jvs::run },
    Bench { name: "install", run: install::run },
];

//! The pools that run commands for issues.

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;
use crate::run::pool::State;
use crate::session::Session;

/// All pools, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct StatusOutput {
    /// The pools.
    pub pools: Vec<State>,
    /// How many.
    pub count: usize,
}

/// All pools.
///
/// # Errors
/// When what is known of one cannot be read.
pub fn list(session: &Session) -> Result<StatusOutput> {
    let pools = State::all(session)?;
    Ok(StatusOutput { count: pools.len(), pools })
}

//! Where a server listens.

use schemars::JsonSchema;
use serde::Serialize;

/// A server that listens, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ServeOutput {
    /// The server.
    pub server: Served,
}

/// A server that listens.
#[derive(Serialize, JsonSchema)]
pub struct Served {
    /// What a browser opens, with the token behind the `#`, which browsers keep to themselves.
    pub url: String,
    /// The address and port that it listens on.
    pub address: String,
    /// The agent that it acts as.
    pub agent_id: String,
    /// Its process.
    pub pid: u32,
}

//! What can be typed. `jit serve` has the same flags and hands them on.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;

/// Serve the issues and claims of this repository over HTTP.
#[derive(Parser, Debug)]
#[command(name = "jit-server", version, after_help = "Usually started by jit serve.")]
pub(crate) struct Cli {
    /// Run as if started in this directory
    #[arg(short = 'C', value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Act as this agent; person:<user> if nobody says
    #[arg(long, value_name = "ID")]
    pub(crate) agent_id: Option<String>,
    /// Print one JSON object once it listens
    #[arg(long)]
    pub(crate) json: bool,
    /// The address and port to listen on; on this machine only, with the port of last time, if not given
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// The file of the token, made if it is not there; needed to listen to other machines
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// A name by which browsers may reach the server besides its address
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// A directory whose locks of jvs, ic and kc are shown beside the claims
    #[arg(long = "also", value_name = "DIR")]
    pub(crate) also: Vec<PathBuf>,
}

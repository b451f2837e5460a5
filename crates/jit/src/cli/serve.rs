//! `jit serve`: names, flags and help.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// Serving over HTTP.
#[derive(Args, Debug)]
pub struct Serve {
    /// The address and port to listen on; on this machine only, with the port of last time, if not given
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// The file of the token, made if it is not there; needed to listen to other machines
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// A name by which browsers may reach the server besides its address; can be given again
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<String>,
    /// A directory whose locks of jvs, ic and kc are shown beside the claims; can be given again
    #[arg(long = "also", value_name = "DIR")]
    pub also: Vec<PathBuf>,
}

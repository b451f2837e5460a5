//! `jit watch`: names, flags and help.

use clap::Args;

/// Following what happens.
#[derive(Args, Debug)]
pub struct Watch {
    /// The issue; all if not given
    pub id: Option<String>,
    /// Begin behind this cursor, as `--json` prints it; `start` for everything that the logs have
    #[arg(long, value_name = "CURSOR")]
    pub since: Option<String>,
    /// End after so many events
    #[arg(long, value_name = "NUMBER")]
    pub count: Option<u64>,
    /// End after that long, in seconds; 0 for what is there already
    #[arg(long = "for", value_name = "SECONDS")]
    pub secs: Option<u64>,
}

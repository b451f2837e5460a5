//! `jit heartbeat`: names, flags and help.

use clap::Subcommand;

/// Signs of life.
#[derive(Subcommand, Debug)]
pub enum Heartbeat {
    /// Beat until the process that started this, or the last claim, is gone
    #[command(
        after_help = "Examples:\n  jit heartbeat run --auto-renew &\n  jit heartbeat run --interval 10 --parent 4711"
    )]
    Run {
        /// Seconds between beats
        #[arg(long, value_name = "SECONDS")]
        interval: Option<u64>,
        /// Renew claims that are about to end
        #[arg(long)]
        auto_renew: bool,
        /// End with this process instead of the one that started this; needed where that one ends first
        #[arg(long, value_name = "PID")]
        parent: Option<u32>,
    },
    /// Show who was heard of when
    Status,
}

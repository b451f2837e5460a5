//! `jit schema`, `jit completions`, `jit man`: names, flags and help.

use clap::Args;

/// Which schema.
#[derive(Args, Debug)]
pub struct Schema {
    /// The command, as `issue show`; all of them if not given
    pub command: Vec<String>,
}

/// Which shell.
#[derive(Args, Debug)]
pub struct Shell {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Which page.
#[derive(Args, Debug)]
pub struct Man {
    /// The command, as `claim acquire`; the program itself if not given
    pub command: Vec<String>,
}

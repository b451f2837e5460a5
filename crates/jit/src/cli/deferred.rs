//! Commands below a command, described only when they are asked for: describing all of them takes longer than
//! most commands do.

use clap::error::Error;
use clap::{ArgMatches, Command, FromArgMatches, Subcommand};

/// What can be typed below a command.
#[derive(Debug)]
pub struct Deferred<T>(pub T);

impl<T: Subcommand> Subcommand for Deferred<T> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(described::<T>)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        command.defer(T::augment_subcommands_for_update)
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}

/// The command with everything below it. What it is about was said where it stands among the others.
fn described<T: Subcommand>(command: Command) -> Command {
    let about = command.get_about().cloned();
    let command = T::augment_subcommands(command);
    match about {
        Some(about) => command.about(about),
        None => command,
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

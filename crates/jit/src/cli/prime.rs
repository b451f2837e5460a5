//! `jit prime`: names, flags and help.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

/// What an agent must know now.
#[derive(Args, Debug, Clone, Default, PartialEq, Eq)]
pub struct Prime {
    /// Wrap it as the hooks of this client want it
    #[arg(long, value_name = "CLIENT")]
    pub hook: Option<HookOf>,
}

/// A client that runs a command at the start of a session and gives what it prints to its model.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookOf {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Cursor
    Cursor,
    /// Gemini CLI
    Gemini,
    /// Antigravity CLI
    Antigravity,
    /// Copilot
    Copilot,
}

impl Prime {
    /// What hooks type, without describing a command: every session of an agent waits for that, also where no issues
    /// are tracked. None for whatever else is typed.
    #[must_use]
    pub fn of_hook(arguments: &[OsString]) -> Option<Self> {
        match arguments {
            [_, word] if word == "prime" => Some(Self::default()),
            [_, word, flag, client] if word == "prime" && flag == "--hook" => {
                Some(Self { hook: Some(HookOf::from_str(client.to_str()?, false).ok()?) })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::{Parser, ValueEnum as _};

    use super::{HookOf, Prime};
    use crate::cli::{Cli, Command, Deferred, Typed};

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_short_way_understands_what_the_long_one_does() {
        let clients = HookOf::value_variants().iter().filter_map(|client| {
            Some(format!("jit prime --hook {}", client.to_possible_value()?.get_name()))
        });
        for line in std::iter::once("jit prime".to_owned()).chain(clients) {
            let Command::Typed(Typed::Prime(Deferred(long))) =
                Cli::try_parse_from(words(&line)).unwrap().command
            else {
                panic!("{line} is something else");
            };
            assert_eq!(Prime::of_hook(&words(&line)), Some(long), "{line}");
        }
    }

    #[test]
    fn whatever_is_unusual_goes_the_long_way() {
        for line in
            ["jit", "jit prime --json", "jit prime --hook", "jit prime --hook nobody", "jit -C . prime"]
        {
            assert_eq!(Prime::of_hook(&words(line)), None, "{line}");
        }
    }
}

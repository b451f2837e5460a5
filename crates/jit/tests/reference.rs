//! Keeps `docs/jit-reference.md` what the program's own definitions say. `HOLDFAST_BLESS=1` writes it anew.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]
#![expect(clippy::disallowed_methods, reason = "the page is a file of this repository")]

use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, Command, CommandFactory as _};
use holdfast_jit::cli::Cli;

const HEAD: &str = "# jit: every command\n\n\
    Written from the program's own definitions; `jit <command> --help` says the same. What the words mean is in\n\
    [the tutorial](tutorial.md), settings are in [configuration](configuration.md).\n";

fn page() -> String {
    let mut root = Cli::command();
    root.build();
    let mut page = HEAD.to_owned();
    page.push_str("\n## For every command\n\n");
    options(&mut page, root.get_arguments().filter(|arg| arg.is_global_set()));
    for command in visible(&root) {
        write!(page, "\n## jit {}\n\n{}.\n", command.get_name(), about(command)).unwrap();
        section(&mut page, command, &format!("jit {}", command.get_name()));
    }
    page
}

/// A command, or all commands below it.
fn section(page: &mut String, command: &Command, path: &str) {
    if visible(command).next().is_none() {
        return usage(page, command, path);
    }
    for below in visible(command) {
        let path = format!("{path} {}", below.get_name());
        write!(page, "\n### {path}\n\n{}.\n", about(below)).unwrap();
        section(page, below, &path);
    }
}

fn usage(page: &mut String, command: &Command, path: &str) {
    let words: Vec<String> = command.get_positionals().map(positional).collect();
    let has_options = own(command).any(|arg| !arg.is_positional());
    let options_word = if has_options { " [options]" } else { "" };
    let words = words.iter().fold(String::new(), |all, word| format!("{all} {word}"));
    write!(page, "\n```text\n{path}{options_word}{words}\n```\n").unwrap();
    if own(command).next().is_some() {
        page.push('\n');
        options(page, own(command));
    }
    if let Some(help) = command.get_after_help() {
        let examples = help.to_string();
        let lines = examples.lines().skip(1).map(str::trim);
        write!(page, "\n```text\n{}\n```\n", lines.collect::<Vec<_>>().join("\n")).unwrap();
    }
}

fn options<'a>(page: &mut String, args: impl Iterator<Item = &'a Arg>) {
    page.push_str("| | |\n|---|---|\n");
    for arg in args {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let takes = arg.get_action().takes_values();
        let default =
            arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect::<Vec<_>>();
        let default = if default.is_empty() || !takes {
            String::new()
        } else {
            format!(" (default: {})", default.join(", "))
        };
        let cell = format!("{help}{default}").replace('|', "\\|").replace('\n', " ");
        writeln!(page, "| `{}` | {cell} |", name(arg)).unwrap();
    }
}

fn name(arg: &Arg) -> String {
    if arg.is_positional() {
        return positional(arg);
    }
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let both: Vec<String> = short.into_iter().chain(long).collect();
    let takes = arg.get_action().takes_values();
    let value = arg.get_value_names().and_then(|names| names.first()).filter(|_| takes);
    both.join(", ") + &value.map(|value| format!(" <{value}>")).unwrap_or_default()
}

fn positional(arg: &Arg) -> String {
    let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let name = name.unwrap_or_else(|| arg.get_id().to_string().to_uppercase());
    let many = if arg.get_num_args().is_some_and(|range| range.max_values() > 1) { "…" } else { "" };
    if arg.is_required_set() { format!("<{name}>{many}") } else { format!("[{name}]{many}") }
}

fn own(command: &Command) -> impl Iterator<Item = &Arg> {
    let built_in = |arg: &&Arg| matches!(arg.get_id().as_str(), "help" | "version");
    command.get_arguments().filter(move |arg| !arg.is_global_set() && !arg.is_hide_set() && !built_in(arg))
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help")
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default().trim_end_matches('.').to_owned()
}

#[test]
fn the_page_of_all_commands_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/jit-reference.md");
    if std::env::var_os("HOLDFAST_BLESS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    if written != page() {
        panic!(
            "docs/jit-reference.md is out of date: HOLDFAST_BLESS=1 cargo test -p holdfast-jit --test reference"
        );
    }
}

/// Whoever asks for help finds out what everything does, and how it looks when it is typed.
#[test]
fn every_command_and_option_says_what_it_does() {
    let mut root = Cli::command();
    root.build();
    let mut silent = Vec::new();
    walk(&root, "jit", &mut |command, path| {
        if about(command).is_empty() {
            silent.push(path.to_owned());
        }
        for arg in own(command).filter(|arg| arg.get_help().is_none()) {
            silent.push(format!("{path} {}", name(arg)));
        }
    });
    assert_eq!(silent, Vec::<String>::new());
}

fn walk(command: &Command, path: &str, see: &mut dyn FnMut(&Command, &str)) {
    see(command, path);
    for below in visible(command) {
        walk(below, &format!("{path} {}", below.get_name()), see);
    }
}

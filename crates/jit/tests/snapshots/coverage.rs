//! Every command has its answers in a script: for people, and for programs. Whoever adds a command is told here.

use std::collections::BTreeSet;

use clap::{ArgMatches, Command, CommandFactory as _};
use holdfast_jit::cli::Cli;

use crate::{SCRIPTS, kept, script};

/// The words of every command, groups and hidden ones too.
pub(crate) fn commands() -> Vec<Vec<String>> {
    let mut root = Cli::command();
    root.build();
    let mut all = vec![Vec::new()];
    below(&root, &[], &mut all);
    all
}

fn below(command: &Command, path: &[String], all: &mut Vec<Vec<String>>) {
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        let path = [path, &[command.get_name().to_owned()]].concat();
        all.push(path.clone());
        below(command, &path, all);
    }
}

/// What a script cannot do without a server that is not everywhere, or without another program: tests that start those type
/// it.
const NEEDS_A_SERVER: [&str; 3] = ["board", "engine init etcd", "serve"];

#[test]
fn every_command_has_its_answers_for_people_and_for_programs() {
    let all = commands();
    let is_group =
        |path: &[String]| all.iter().any(|other| other.len() > path.len() && other.starts_with(path));
    let (mut people, mut programs) = (BTreeSet::new(), BTreeSet::new());
    for name in SCRIPTS {
        for words in script::done(&kept::read(&format!("scripts/{name}.txt"))).flat_map(typed) {
            let Ok(matches) = Cli::command().try_get_matches_from(&words) else { continue };
            let json = matches.get_flag("json");
            if json { &mut programs } else { &mut people }.insert(path(&matches));
        }
    }
    let mut missing = Vec::new();
    for path in all.iter().filter(|path| !is_group(path)) {
        let line = path.join(" ");
        if NEEDS_A_SERVER.contains(&line.as_str()) {
            continue;
        }
        if !people.contains(path) {
            missing.push(format!("$ jit {line} …"));
        }
        if !programs.contains(path) {
            missing.push(format!("$ jit {line} … --json"));
        }
    }
    assert!(
        missing.is_empty(),
        "no script in crates/jit/tests/snapshots/scripts has these; add a line for each, with its most common \
         failures, then HOLDFAST_BLESS=1 cargo test -p holdfast-jit --test snapshots\n{}",
        missing.join("\n")
    );
}

#[test]
fn every_script_is_run() {
    let files = std::fs::read_dir(kept::path("scripts")).unwrap();
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap().trim_end_matches(".txt").to_owned())
        .collect();
    names.sort();
    assert_eq!(names, SCRIPTS, "main.rs lists the scripts");
}

/// The words of the command and its subcommands.
fn path(matches: &ArgMatches) -> Vec<String> {
    let mut path = Vec::new();
    let mut at = matches;
    while let Some((name, below)) = at.subcommand() {
        path.push(name.to_owned());
        at = below;
    }
    path
}

/// The words of each `jit` in a line of shell.
fn typed(line: &str) -> Vec<Vec<String>> {
    let words = words(line);
    let parts = words.split(|word| matches!(word.as_str(), "|" | "&" | ";" | "(" | ")"));
    let jit = |part: &[String]| {
        let before = |word: &&String| word.contains('=') || matches!(word.as_str(), "until" | "!");
        let part: Vec<String> = part.iter().skip_while(before).cloned().collect();
        let end = part.iter().position(|word| word.trim_start_matches('2').starts_with('>'));
        (part.first().is_some_and(|word| word == "jit")).then(|| part[..end.unwrap_or(part.len())].to_vec())
    };
    parts.filter_map(jit).collect()
}

/// The words of a line without their quotes, and what stands between commands.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quote, mut depth) = (None, 0);
    for c in line.chars() {
        let word = words.last_mut().unwrap();
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => word.push(c),
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') if depth > 0 || word.ends_with('$') => {
                depth += 1;
                word.push(c);
            }
            (None, ')') if depth > 0 => {
                depth -= 1;
                word.push(c);
            }
            (None, _) if depth > 0 => word.push(c),
            (None, '&') if word.ends_with('>') => word.push(c),
            (None, '|' | '&' | ';' | '(' | ')') => words.extend([c.to_string(), String::new()]),
            (None, ' ') => words.push(String::new()),
            (None, _) => word.push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn every_jit_of_a_line_is_found() {
    let line =
        "JIT_AGENT_ID=agent:b jit issue create --title 'Two words; one' 2> file | jit import - && echo jit";
    let found = typed(line);
    assert_eq!(
        found,
        [vec!["jit", "issue", "create", "--title", "Two words; one"], vec!["jit", "import", "-"]]
    );
    assert_eq!(
        typed("sleep 9 & P=$!; jit show $(jit first -q) <ID-1>"),
        [["jit", "show", "$(jit first -q)", "<ID-1>"]]
    );
}

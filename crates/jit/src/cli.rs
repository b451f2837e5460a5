//! What can be typed. Only names, flags and help, one file a noun: what they mean is in `commands`.

mod board;
mod claim;
mod config;
mod deferred;
mod demo;
mod dep;
mod dispatch;
mod doc;
mod engine;
mod gate;
mod heartbeat;
mod hooks;
mod issue;
mod mcp;
mod note;
mod prime;
mod query;
mod reserve;
mod run;
mod serve;
mod setup;
mod shell;
mod validate;
mod watch;
mod work;
mod worktree;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, FromArgMatches, Parser, Subcommand};

pub use board::Board;
pub use claim::{Claim, ClaimKind, Terms};
pub use config::Config;
pub use deferred::Deferred;
pub use demo::Demo;
pub use dep::{Dep, Label};
pub use dispatch::{AboutPool, Client as Headless, Dispatch, Pool};
pub use doc::{Doc, Export, Import};
pub use engine::{Engine, EngineName, InitEngine, Migrate};
pub use gate::{DefineGate, Gate, ReportGate, Said};
pub use heartbeat::Heartbeat;
pub use hooks::{Commit, Hook, Hooks, MergeDriver};
pub use issue::{CreateIssue, Issue, UpdateIssue};
pub use mcp::Mcp;
pub use note::Note;
pub use prime::{HookOf, Prime};
pub use query::{Filters, Fresh, Graph, GraphFormat, ListFilters, Log, Query, Search, Sort};
pub use reserve::{AddReservation, Reserve};
pub use run::{Guardian, Run};
pub use serve::Serve;
pub use setup::{Client, Setup};
pub use shell::{Man, Schema, Shell};
pub use validate::Validate;
pub use watch::Watch;
pub use work::{Close, Drop, Finish, Land, Reopen, Split, Start};
pub use worktree::{AddWorktree, Worktree};

/// Issues and claims for work in parallel git worktrees.
#[derive(Parser, Debug)]
#[command(name = "jit", version, propagate_version = true, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// What was typed.
    ///
    /// # Errors
    /// What is wrong with it, or the help that was asked for.
    pub fn typed(arguments: &[OsString]) -> Result<Self, clap::Error> {
        let global = Global::default;
        if let Some(hook) = Hook::of_commit(arguments) {
            return Ok(Self { global: global(), command: Command::Hook(Deferred(hook)) });
        }
        match Prime::of_hook(arguments) {
            Some(prime) => {
                Ok(Self { global: global(), command: Command::Typed(Typed::Prime(Deferred(prime))) })
            }
            None => Self::of_one_command(arguments).map_or_else(|| Self::try_parse_from(arguments), Ok),
        }
    }

    /// What was typed, if it is right and needs the description of one command only: describing all of them takes as long as
    /// a claim does.
    fn of_one_command(arguments: &[OsString]) -> Option<Self> {
        let mut all = Command::augment_subcommands(clap::Command::new("jit"));
        let named = arguments.iter().skip(1).find_map(|argument| {
            let name = argument.to_str()?;
            all.find_subcommand_mut(name).map(std::mem::take)
        })?;
        // Whatever is not taken as it is, help and versions among it, is told of by those who know all commands.
        let alone =
            Global::augment_args(clap::Command::new("jit")).disable_help_subcommand(true).subcommand(named);
        Self::from_arg_matches(&alone.try_get_matches_from(arguments).ok()?).ok()
    }
}

#[derive(Args, Debug, Clone, Default)]
pub struct Global {
    /// Print one JSON document
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only what a script needs
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Run as if started in this directory
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Act as this agent, `type:name`
    #[arg(long, value_name = "ID", global = true)]
    pub agent_id: Option<String>,
}

#[expect(clippy::large_enum_variant, reason = "there is one, and it lives as long as the program")]
#[derive(Subcommand, Debug)]
pub enum Command {
    /// What somebody types.
    #[command(flatten)]
    Typed(Typed),
    /// What the hooks run
    #[command(subcommand, hide = true)]
    Hook(Deferred<Hook>),
}

/// What somebody types.
#[derive(Subcommand, Debug)]
pub enum Typed {
    /// Start tracking issues here
    Init,
    /// Print what a coding agent must know now, in at most 2,048 bytes
    #[command(
        after_help = "Where no issues are tracked it prints nothing and succeeds, so that it can stand in the hook of \
        every session.\n\nExamples:\n  jit prime\n  jit prime --hook claude"
    )]
    Prime(Deferred<Prime>),
    /// Have a coding client know of jit, by the files that it reads here
    #[command(
        after_help = "Everything else in those files stays as it is. Exits with 7 if something is missing (--check), or has \
        to be done by hand.\n\nExamples:\n  jit setup claude\n  jit setup codex --dry-run\n  jit setup agents-md --check\n  \
        jit setup cursor --remove\n  jit setup gemini --print"
    )]
    Setup(Deferred<Setup>),
    /// Serve a coding client by the Model Context Protocol, on standard input and output
    #[command(
        after_help = "Clients start it themselves; jit setup writes that into their files. While it lives it renews what was \
        claimed through it; a minute after it is gone, others may take that over.\n\nExamples:\n  jit mcp\n  \
        jit mcp --answer-within 20"
    )]
    Mcp(Deferred<Mcp>),
    /// Watch a pool land changes while one worker is killed and one sleeps, in a repository of its own
    #[command(after_help = "Examples:\n  jit demo\n  jit demo --keep")]
    Demo(Deferred<Demo>),
    /// Claim an issue and begin work on it
    #[command(
        after_help = "In a worktree beside the main one it goes to a branch of its own, jit/<handle>, from where the \
        target is. What this worktree holds already is what it goes on with.\n\nExamples:\n  jit start\n  \
        jit start 7k2f --ttl 3600\n  jit start --label ui --another"
    )]
    Start(Deferred<Start>),
    /// Commit, land and release what this worktree works on
    #[command(
        after_help = "What is staged is committed (with -a everything), put on top of the target, judged by the gates \
        of the issue, and becomes part of the target together with the word done. Killed at any moment, it can be \
        typed again.\n\nExamples:\n  jit finish -a -m 'Log in with a passkey'\n  jit finish --empty -m 'not a bug'\n  \
        jit finish --no-land"
    )]
    Finish(Deferred<Finish>),
    /// Give back what this worktree works on
    #[command(after_help = "Examples:\n  jit drop --reason 'needs the new parser first'\n  jit drop 7k2f")]
    Drop(Deferred<Drop>),
    /// Add a note to an issue, for whoever works on it next
    #[command(
        after_help = "Anybody may, whoever holds the issue. Notes are seen in all worktrees at once and become part \
        of the repository with the work on the issue.\n\nExamples:\n  jit note 7k2f 'the failing test is flaky'\n  \
        git log -3 | jit note 7k2f -"
    )]
    Note(Deferred<Note>),
    /// Open an issue again that is over
    #[command(
        after_help = "With --revert a commit on this branch takes back what landed for it as well.\n\nExamples:\n  \
        jit reopen 7k2f --reason 'it still asks twice'\n  jit reopen 7k2f --revert"
    )]
    Reopen(Deferred<Reopen>),
    /// Close an issue that nobody will work on
    #[command(after_help = "Examples:\n  jit close 7k2f --as rejected --reason 'works as meant'\n  \
        jit close 7k2f --as duplicate-of 9x1c")]
    Close(Deferred<Close>),
    /// Land finished branches whose holder is gone
    #[command(after_help = "Examples:\n  jit land 7k2f\n  jit land --all")]
    Land(Deferred<Land>),
    /// Run a command under a claim
    #[command(
        after_help = "The claim is renewed while the command lives. If it ends with 0 and has changed something, that \
        is committed and lands; otherwise the issue is given back with a note. If the claim is lost, or jit run is \
        killed, the command and all that it started are ended. The command finds JIT_ISSUE_ID, JIT_ISSUE_TITLE, \
        JIT_AGENT_ID, JIT_FENCE and JIT_BRIEFING in its environment.\n\nExamples:\n  jit run -- ./agent.sh\n  \
        jit run 7k2f --worktree --stdin -- claude -p\n  jit run --label ui --log -- make fix"
    )]
    Run(Deferred<Run>),
    /// Run a command for one issue after the other, several at once
    #[command(
        after_help = "Each worker has a name, a worktree and a log. A command that ends with 0 and has changed \
        something is finished and lands; otherwise the issue is given back, and offered again until it failed too \
        often. New work is waited for. Ctrl-C lets the running commands finish, twice stops them. Killed and started \
        again, it goes on.\n\nExamples:\n  jit dispatch -n 4 --agent claude --agent-args '--allowedTools Edit,Bash'\n  \
        jit dispatch -n 2 --drain -- ./agent.sh {briefing}\n  jit dispatch --for 8h --label ui -- make fix\n  \
        jit dispatch status"
    )]
    Dispatch(Deferred<Dispatch>),
    /// Serve issues and claims over HTTP: the commands' JSON, and events as they happen
    #[command(
        after_help = "One server per repository, on this machine only unless --listen says otherwise. Whoever asks needs \
        the token, which is behind the # of the address that is printed; programs send it as Authorization: Bearer. \
        Ctrl-C ends it.\n\nExamples:\n  jit serve\n  jit serve --listen 127.0.0.1:8080\n  \
        jit serve --listen 0.0.0.0:8080 --token-file ~/jit.token --host build.example.org\n  \
        jit serve --also ~/vault"
    )]
    Serve(Deferred<Serve>),
    /// Show in this terminal who works on what, and the issues by state
    #[command(
        after_help = "Claims, releases and notes can be made from it; the last line shows the keys, and q quits. Into a pipe, and \
        where a terminal only prints, --once is what can be had.\n\nExamples:\n  jit board\n  jit board --once\n  \
        jit board --json"
    )]
    Board(Deferred<Board>),
    /// Split an issue that you hold into parts that anyone can work on
    #[command(
        after_help = "The parts are ready at once. The issue waits for them: it cannot be finished before they have landed, \
        and can be dropped meanwhile.\n\nExamples:\n  jit split 7k2f --into 'Write the parser' 'Write the printer'\n  \
        jit list --parent 7k2f"
    )]
    Split(Deferred<Split>),
    /// Print what happens to issues and claims as it happens, a line each
    #[command(
        after_help = "With --json each line is one JSON object with a cursor; --since goes on behind it, so that a script \
        that was ended misses nothing.\n\nExamples:\n  jit watch\n  jit watch 7k2f --count 1\n  \
        jit watch --json | jq -r 'select(.event.event_type == \"claim.evicted\") | .handle'\n  \
        jit watch --since start --for 0 --json"
    )]
    Watch(Deferred<Watch>),
    /// Push this branch, if the claims that its work is done under are in force
    #[command(
        after_help = "Where the git server keeps the claims (jit engine init git), the branch and the claims move in one \
        step: whoever has lost a claim is refused by the server. Else, and with nothing claimed, it is git push of this \
        branch.\n\nExample:\n  jit push"
    )]
    Push,
    /// Show as whom commands act here, and why
    Whoami,
    /// Fetch, and have this worktree follow the branch that it is on
    Sync,
    /// List issues, as `jit issue list`
    List(Deferred<ListFilters>),
    /// Show an issue, as `jit issue show`
    Show {
        /// The issue
        id: String,
    },
    /// Create an issue, as `jit issue create`
    #[command(after_help = "Examples:\n  jit create 'Log in with a passkey' --priority high")]
    Create(Deferred<CreateIssue>),
    /// List what can be worked on, as `jit query available`
    Ready(Deferred<ListFilters>),
    /// Show the first of what can be worked on; claims nothing
    Next(Deferred<Filters>),
    /// Change title and description of an issue in your editor; needs a claim
    #[command(
        after_help = "The first line is the title. $VISUAL, else $EDITOR, says which editor.\n\nExamples:\n  jit edit 7k2f"
    )]
    Edit {
        /// The issue
        id: String,
    },
    /// Show what happened: to an issue, or to all
    #[command(after_help = "Examples:\n  jit log\n  jit log 7k2f")]
    Log(Deferred<Log>),
    /// Show the help of a command
    Help {
        /// The command
        command: Vec<String>,
    },
    /// Issues
    #[command(subcommand)]
    Issue(Deferred<Issue>),
    /// Show issues, claims and what to work on next
    #[command(after_help = "Examples:\n  jit status\n  jit status --fresh")]
    Status {
        #[command(flatten)]
        claims: Fresh,
    },
    /// List issues: all, available or blocked
    #[command(subcommand)]
    Query(Deferred<Query>),
    /// Show the dependency graph
    #[command(subcommand)]
    Graph(Deferred<Graph>),
    /// Search issues by text
    #[command(
        after_help = "Examples:\n  jit search login\n  jit search 'session token' --state ready --json"
    )]
    Search(Deferred<Search>),
    /// Dependencies
    #[command(subcommand)]
    Dep(Deferred<Dep>),
    /// Labels
    #[command(subcommand)]
    Label(Deferred<Label>),
    /// Gates that an issue must pass before it is done
    #[command(subcommand)]
    Gate(Deferred<Gate>),
    /// Documents of issues
    #[command(subcommand)]
    Doc(Deferred<Doc>),
    /// Import issues: lines of `jit export`, the issues.jsonl of beads, issues of a forge, or titles
    #[command(
        after_help = "Issues that are not there yet are created. Those that are there are changed, which \
        needs a claim on each.\n\nExamples:\n  jit import issues.jsonl\n  jit import .beads/issues.jsonl\n  \
        gh issue list --json number,title,body,state,labels,url | jit import -\n  \
        jit -C ../other export | jit import -"
    )]
    Import(Deferred<Import>),
    /// Export issues, one JSON object per line
    #[command(after_help = "Examples:\n  jit export > issues.jsonl\n  jit export 01K8ZQ")]
    Export(Deferred<Export>),
    /// Claims on issues: who works on what
    #[command(subcommand)]
    Claim(Deferred<Claim>),
    /// Reservations of paths: what others keep their hands off
    #[command(subcommand)]
    Reserve(Deferred<Reserve>),
    /// Worktrees and their identities
    #[command(subcommand)]
    Worktree(Deferred<Worktree>),
    /// Where claims are kept: in this clone, or by the git server for all clones
    #[command(subcommand)]
    Engine(Deferred<Engine>),
    /// Keep claims alive
    #[command(subcommand)]
    Heartbeat(Deferred<Heartbeat>),
    /// Show and change settings
    #[command(subcommand)]
    Config(Deferred<Config>),
    /// Repair what a crash or a bad disk left behind
    Recover {
        /// Only report what is wrong
        #[arg(long)]
        dry_run: bool,
    },
    /// Check for problems
    #[command(subcommand)]
    Validate(Deferred<Validate>),
    /// Find what is wrong with the set-up here, and what mends it
    #[command(
        after_help = "Looks at git, the programs, the configuration, hooks, files of coding clients, claims, the clock, worktrees \
                      and the engine, and changes nothing. Exits with 7 if something is wrong.\n\nExamples:\n  jit doctor\n  \
                      jit doctor --json"
    )]
    Doctor,
    /// Install, remove and inspect git hooks
    #[command(subcommand)]
    Hooks(Deferred<Hooks>),
    /// Guard a run, for `jit run`
    #[command(hide = true)]
    Guardian(Deferred<Guardian>),
    /// Merge an issue's file, for git
    #[command(hide = true)]
    MergeDriver(Deferred<MergeDriver>),
    /// Commit with the checks and trailers of the hooks, where there are none
    #[command(
        after_help = "Examples:\n  jit commit -a -m \"Fix the login page\"\n  jit commit --amend --no-edit"
    )]
    Commit(Deferred<Commit>),
    /// Print the JSON Schema of what `--json` prints
    #[command(after_help = "Examples:\n  jit schema\n  jit schema issue show")]
    Schema(Deferred<Schema>),
    /// Print the completions of a shell
    #[command(
        after_help = "Example:\n  jit completions bash > ~/.local/share/bash-completion/completions/jit"
    )]
    Completions(Deferred<Shell>),
    /// Print the manual page of a command
    #[command(after_help = "Examples:\n  jit man | man -l -\n  jit man claim acquire > jit-claim-acquire.1")]
    Man(Deferred<Man>),
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::Parser as _;

    use super::Cli;

    fn alone(words: &[&str]) -> Option<String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Cli::of_one_command(&words).map(|cli| format!("{cli:?}"))
    }

    /// Every command of the sessions that are kept as snapshots.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "it reads the sources")]
    fn one_command_alone_means_what_it_means_among_all() {
        let scripts = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/scripts");
        let mut alike = 0;
        for script in std::fs::read_dir(scripts).unwrap() {
            let text = std::fs::read_to_string(script.unwrap().path()).unwrap();
            for line in text.lines().filter_map(|line| line.strip_prefix("$ ")) {
                let words: Vec<&str> = line.split(' ').collect();
                let among_all = Cli::try_parse_from(&words).ok().map(|cli| format!("{cli:?}"));
                let is_quick = words.first() == Some(&"jit");
                assert_eq!(alone(&words), among_all, "{line}");
                alike += usize::from(is_quick && among_all.is_some());
            }
        }
        assert!(alike > 300, "{alike}");
    }

    #[test]
    fn what_is_no_command_alone_is_left_to_those_who_know_all() {
        for words in [
            &["jit"][..],
            &["jit", "--help"],
            &["jit", "claim", "acquire", "--help"],
            &["jit", "done"],
            &["jit", "-C", "claim"],
            &["jit", "list", "--frobnicate"],
        ] {
            assert_eq!(alone(words), None, "{words:?}");
        }
        // Not everything that is called like a command is one.
        for words in [&["jit", "-C", "claim", "list"][..], &["jit", "--agent-id", "show", "claim", "list"]] {
            let among_all = Cli::try_parse_from(words).unwrap();
            assert!(alone(words).is_none_or(|alone| alone == format!("{among_all:?}")), "{words:?}");
        }
    }
}

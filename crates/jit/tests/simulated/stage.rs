//! A simulated repository with a linked worktree, and the real commands run in it as processes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use holdfast_jit::cli::{Cli, Global};
use holdfast_jit::commands;
use holdfast_jit::context::Context;
use holdfast_jit::vars::Vars;
use holdfast_kernel::Millis;
use holdfast_sys::sim::{Choice, Choices, Config, End, Moment, Process, Random, World};
use holdfast_tracker::Session;
use serde_json::Value;

/// The issue that everybody is after.
pub(crate) const ISSUE: &str = "01K0000000000000000000000A";

/// Another one.
pub(crate) const OTHER: &str = "01K0000000000000000000000B";

/// Stands for the number of the process that runs the command, which ends with it.
pub(crate) const ME: &str = "@me";

/// Who works where: each in a worktree of its own.
pub(crate) const ANNA: Agent = Agent { id: "agent:anna", at: "/repo" };
pub(crate) const BERTA: Agent = Agent { id: "agent:berta", at: "/linked" };

#[derive(Clone, Copy, Debug)]
pub(crate) struct Agent {
    pub(crate) id: &'static str,
    at: &'static str,
}

/// What an agent was told: nothing if it did not live to hear it.
pub(crate) type Told = Option<Result<Value, i32>>;

pub(crate) struct Stage {
    world: World,
    armed: Arc<AtomicBool>,
}

/// Chance, which does harm only while the stage is armed: what is set up, and what is looked at afterwards, comes to its end.
pub(crate) struct WhileArmed {
    pub(crate) chance: Random,
    pub(crate) armed: Arc<AtomicBool>,
}

impl Choices for WhileArmed {
    fn choose(&mut self, what: Choice, options: usize, at: &Moment<'_>) -> usize {
        let harms = matches!(what, Choice::Kill | Choice::PowerLoss | Choice::Pause | Choice::Fault(_));
        if harms && !self.armed.load(Ordering::SeqCst) { 0 } else { self.chance.choose(what, options, at) }
    }
}

impl Stage {
    /// A repository in which chance does harm only to what runs [`Stage::dangerously`].
    pub(crate) fn by_chance(config: Config, seed: u64) -> Self {
        let armed = Arc::new(AtomicBool::new(false));
        Self::new(config, WhileArmed { chance: Random::new(seed), armed: Arc::clone(&armed) }, armed)
    }

    /// Runs commands at once while something may go wrong.
    pub(crate) fn dangerously(&mut self, all: &[(Agent, &[&str])]) -> Vec<Told> {
        self.armed.store(true, Ordering::SeqCst);
        let told = self.together(all);
        self.armed.store(false, Ordering::SeqCst);
        told
    }

    /// A repository with two worktrees and two issues. Nothing goes wrong before it is armed.
    pub(crate) fn new(config: Config, choices: impl Choices + 'static, armed: Arc<AtomicBool>) -> Self {
        let mut world = World::new(config, choices);
        for dir in ["objects", "refs/heads", "worktrees/linked"] {
            world.create_dir_all(format!("/repo/.git/{dir}")).unwrap();
        }
        world.create_dir_all("/linked").unwrap();
        for (path, text) in [
            ("/repo/.git/HEAD", "ref: refs/heads/main\n"),
            ("/repo/.git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"),
            ("/repo/.git/worktrees/linked/HEAD", "ref: refs/heads/linked\n"),
            ("/repo/.git/worktrees/linked/commondir", "../..\n"),
            ("/repo/.git/worktrees/linked/gitdir", "/linked/.git\n"),
            ("/linked/.git", "gitdir: /repo/.git/worktrees/linked\n"),
        ] {
            world.write_file(path, text.as_bytes()).unwrap();
        }
        for id in [ISSUE, OTHER] {
            world.create_dir_all(format!("/repo/.jit/issues/{id}")).unwrap();
            let text = format!(
                r#"{{"id":"{id}","title":"t","state":"ready","created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"}}"#
            );
            world.write_file(format!("/repo/.jit/issues/{id}/issue.json"), text.as_bytes()).unwrap();
        }
        Self { world, armed }
    }

    /// Runs a command to its end while nothing goes wrong.
    pub(crate) fn quietly(&mut self, agent: Agent, args: &[&str]) -> Result<Value, i32> {
        self.armed.store(false, Ordering::SeqCst);
        self.together(&[(agent, args)]).remove(0).unwrap_or_else(|| panic!("{args:?} did not end"))
    }

    /// Runs a command while something may go wrong; says whether it did, and what the agent was told.
    pub(crate) fn struck(&mut self, agent: Agent, args: &[&str]) -> (bool, Told) {
        self.armed.store(true, Ordering::SeqCst);
        let told = self.together(&[(agent, args)]).remove(0);
        (!self.armed.swap(false, Ordering::SeqCst), told)
    }

    /// Runs commands at once, each in a process of its own.
    pub(crate) fn together(&mut self, all: &[(Agent, &[&str])]) -> Vec<Told> {
        let told: Vec<_> = all.iter().map(|_| Arc::new(Mutex::new(None))).collect();
        let start = |((agent, args), tell): (&(Agent, &[&str]), &Arc<Mutex<Told>>)| {
            let (agent, tell) = (*agent, Arc::clone(tell));
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            Process::new(agent.id, 0, move |sys| {
                let heard = run(sys, agent, &args);
                *tell.lock().unwrap_or_else(PoisonError::into_inner) = Some(heard);
            })
        };
        let processes = all.iter().zip(&told).map(start).collect();
        let epoch = self.world.run(processes);
        assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new(), "{all:?}");
        assert!(matches!(epoch.end, End::Done | End::PowerLoss), "{all:?}: {:?}", epoch.end);
        told.iter().map(|told| told.lock().unwrap_or_else(PoisonError::into_inner).take()).collect()
    }

    /// Has people ask without a command, at once, while nothing goes wrong or while something may.
    pub(crate) fn ask<T: Send + 'static>(
        &mut self,
        armed: bool,
        all: Vec<(Agent, Question<T>)>,
    ) -> Vec<Option<T>> {
        self.armed.store(armed, Ordering::SeqCst);
        let told: Vec<_> = all.iter().map(|_| Arc::new(Mutex::new(None))).collect();
        let mut processes = Vec::new();
        for ((agent, ask), tell) in all.into_iter().zip(told.iter().map(Arc::clone)) {
            processes.push(Process::new(agent.id, 0, move |sys| {
                let session = Session::open(&context(sys, agent).caller);
                let heard = session.map(|session| ask(&session));
                *tell.lock().unwrap_or_else(PoisonError::into_inner) = heard.ok();
            }));
        }
        let epoch = self.world.run(processes);
        self.armed.store(false, Ordering::SeqCst);
        assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new());
        assert!(matches!(epoch.end, End::Done | End::PowerLoss), "{:?}", epoch.end);
        told.iter().map(|told| told.lock().unwrap_or_else(PoisonError::into_inner).take()).collect()
    }

    /// Whether there is a file.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.world.read_file(path).is_some()
    }

    /// Lets time go by.
    pub(crate) fn sleep(&mut self, span: Millis) {
        self.armed.store(false, Ordering::SeqCst);
        let epoch = self.world.run(vec![Process::new("sleeper", 0, move |sys| sys.clock.sleep(span))]);
        assert_eq!(epoch.end, End::Done);
    }

    /// The power goes, and everything that was not made durable with it.
    pub(crate) fn lose_power(&mut self) {
        self.world.lose_power();
    }

    /// Puts a file there, as somebody outside would.
    pub(crate) fn write(&mut self, path: &str, text: &str) {
        self.world.write_file(path, text.as_bytes()).unwrap();
    }

    /// The event logs of all worktrees.
    pub(crate) fn event_logs(&self) -> Vec<String> {
        let paths = self.world.paths().into_iter().map(|path| path.to_string_lossy().into_owned());
        paths.filter(|path| path.starts_with("/repo/.git/jit/events/wt-")).collect()
    }

    /// The lines of a file up to what a writer that died may have left at its end: half a line, or holes.
    pub(crate) fn whole_lines(&self, path: &str) -> Vec<Value> {
        let bytes = self.world.read_file(path).unwrap_or_default();
        let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        // Half a line is none; one that lacks only its end is whole.
        let last = lines.pop().and_then(|rest| serde_json::from_slice(rest).ok());
        lines.iter().map(|line| serde_json::from_slice(line).unwrap()).chain(last).collect()
    }

    /// The lines of a file.
    pub(crate) fn lines(&self, path: &str) -> Vec<Value> {
        let bytes = self.world.read_file(path).unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }
}

/// What somebody asks who has opened a session.
pub(crate) type Question<T> = Box<dyn FnOnce(&Session) -> T + Send>;

fn context(sys: holdfast_sys::Sys, agent: Agent) -> Context {
    let vars = Vars {
        set: |_| None,
        user: 1000,
        keeper: None,
        config_home: None,
        temporary: "/tmp".into(),
        directory: Ok(agent.at.into()),
    };
    let global = Global { json: true, agent_id: Some(agent.id.to_owned()), ..Global::default() };
    Context::new(sys, &global, vars).unwrap()
}

/// What one run of the program would print as JSON, or its exit code.
fn run(sys: holdfast_sys::Sys, agent: Agent, args: &[String]) -> Result<Value, i32> {
    let own = || sys.processes.me().map(|me| me.pid.to_string()).unwrap_or_default();
    let word = |word: &String| if word == ME { own() } else { word.clone() };
    let words = ["jit", "--quiet"].into_iter().map(str::to_owned).chain(args.iter().map(word));
    let Cli { command, .. } = <Cli as clap::Parser>::try_parse_from(words).unwrap();
    let context = context(sys, agent);
    commands::run(&context, command).and_then(|report| report.document()).map_err(|error| {
        eprintln!("{} {args:?}: {error} {:?}", agent.id, error.causes());
        i32::from(error.exit().code())
    })
}

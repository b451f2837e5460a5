//! A simulated repository with a linked worktree, in which people change issues as processes, one after the other. One call
//! of theirs can be struck: by a death, by a disk that fails, or by the power.

use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdfast_git::Environment;
use holdfast_kernel::Millis;
use holdfast_store::conformance::{self, Watched};
use holdfast_sys::Sys;
use holdfast_sys::sim::{Choice, Choices, Config, End, Fault, Faults, Moment, Odds, Process, World};
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::Issue;
use holdfast_tracker::{Caller, Listener, Notice, Result, Session};
use serde_json::Value;

use crate::support::caller;

/// Two issues that are there from the beginning, and two ids that no issue has yet.
pub(crate) const ONE: &str = "01K0000000000000000000000A";
pub(crate) const TWO: &str = "01K0000000000000000000000B";
pub(crate) const THREE: &str = "01K0000000000000000000000C";
pub(crate) const FOUR: &str = "01K0000000000000000000000D";

/// Anna and Carl work in the main worktree, Berta in the linked one.
pub(crate) const ANNA: Agent = Agent { name: Some("agent:anna"), at: "/repo" };
pub(crate) const BERTA: Agent = Agent { name: Some("agent:berta"), at: "/linked" };
pub(crate) const CARL: Agent = Agent { name: Some("agent:carl"), at: "/repo" };
/// Somebody who does not say who that is.
pub(crate) const NOBODY: Agent = Agent { name: None, at: "/repo" };

/// What all worktrees share.
pub(crate) const SHARED: &str = "/repo/.git/jit";

/// When the issues were made that are there from the beginning.
pub(crate) const LONG_AGO: &str = "2023-01-01T00:00:00.000Z";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Agent {
    pub(crate) name: Option<&'static str>,
    pub(crate) at: &'static str,
}

/// A call by its verb, and by a part of the path that it is about.
pub(crate) type Call = (&'static str, &'static str);

/// What happens to a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Strike {
    /// The process dies before it makes the call.
    Death,
    /// The power goes before the call is made.
    Outage,
    /// The disk fails.
    Failure,
    /// The process stands still for two minutes before it makes the call.
    Pause,
}

#[derive(Clone, Copy)]
enum When {
    /// At the first call like this.
    At(Call),
    /// At the call with this number, from 0 on.
    Nth(u64),
}

#[derive(Default)]
struct Fate {
    next: Option<(Strike, When)>,
}

/// Has what was planned happen once, and nothing else; what was not made durable is lost with the power.
struct Planned(Arc<Mutex<Fate>>);

impl Choices for Planned {
    fn choose(&mut self, what: Choice, options: usize, at: &Moment<'_>) -> usize {
        let mut fate = locked(&self.0);
        match (what, &mut fate.next) {
            (Choice::Survive(_), _) => options - 1,
            (Choice::Kill, Some((Strike::Death, when)))
            | (Choice::PowerLoss, Some((Strike::Outage, when)))
            | (Choice::Pause, Some((Strike::Pause, when)))
            | (Choice::Fault(Fault::Eio), Some((Strike::Failure, when))) => {
                let (verb, path) = at.call();
                let hit = match when {
                    When::At((like, part)) => verb == *like && path.to_string_lossy().contains(*part),
                    When::Nth(0) => true,
                    When::Nth(left) => {
                        *left -= 1;
                        false
                    }
                };
                if hit {
                    fate.next = None;
                }
                usize::from(hit)
            }
            _ => 0,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps what people are told besides the answer.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<Notice>>>);

impl Listener for Heard {
    fn hear(&self, notice: &Notice) {
        locked(&self.0).push(notice.clone());
    }
}

pub(crate) struct Stage {
    pub(crate) world: World,
    fate: Arc<Mutex<Fate>>,
    heard: Heard,
    /// What the machine refuses. Unless there is none, it cannot make a whole file system durable at once either.
    pub(crate) refused: Option<Vec<(conformance::Call, String, ErrorKind)>>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::configured("")
    }

    /// A repository with two issues, and with this configuration in both worktrees.
    pub(crate) fn configured(settings: &str) -> Self {
        Self::of(settings, Config::default())
    }

    /// A repository in which every call is written down.
    pub(crate) fn traced() -> Self {
        Self::of("", Config { trace: true, ..Config::default() })
    }

    fn of(settings: &str, config: Config) -> Self {
        let fate = Arc::new(Mutex::new(Fate::default()));
        let often = Odds::new(0, 1_000);
        let faults = Faults { kill: often, power_loss: often, eio: often, pause: often, ..Faults::NONE };
        let world =
            World::new(Config { faults, pauses_ms: vec![120_000], ..config }, Planned(Arc::clone(&fate)));
        let mut stage = Self { world, fate, heard: Heard::default(), refused: None };
        for dir in
            ["/repo/.git/objects", "/repo/.git/refs/heads", "/repo/.git/worktrees/linked", "/linked/.jit"]
        {
            stage.world.create_dir_all(dir).unwrap();
        }
        for (path, text) in [
            ("/repo/.git/HEAD", "ref: refs/heads/main\n"),
            ("/repo/.git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"),
            ("/repo/.git/worktrees/linked/HEAD", "ref: refs/heads/linked\n"),
            ("/repo/.git/worktrees/linked/commondir", "../..\n"),
            ("/repo/.git/worktrees/linked/gitdir", "/linked/.git\n"),
            ("/linked/.git", "gitdir: /repo/.git/worktrees/linked\n"),
            ("/repo/.jit/config.toml", settings),
            ("/linked/.jit/config.toml", settings),
        ] {
            stage.put(path, text);
        }
        for id in [ONE, TWO] {
            stage.put(&in_main(id, "issue.json"), &issue_text(id));
        }
        stage
    }

    /// Has somebody ask, with a session that is opened for this, while nothing goes wrong.
    pub(crate) fn by<T: Send + 'static>(
        &mut self,
        agent: Agent,
        ask: impl FnOnce(&Session) -> T + Send + 'static,
    ) -> T {
        locked(&self.fate).next = None;
        self.go(agent, ask).unwrap()
    }

    /// Has somebody ask until the first call like this, which is struck; nothing comes of it if that is the end. It is
    /// a mistake of the test if there is no such call.
    pub(crate) fn struck<T: Send + 'static>(
        &mut self,
        agent: Agent,
        strike: Strike,
        at: Call,
        ask: impl FnOnce(&Session) -> T + Send + 'static,
    ) -> Option<T> {
        locked(&self.fate).next = Some((strike, When::At(at)));
        let told = self.go(agent, ask);
        assert!(locked(&self.fate).next.take().is_none(), "there was no call like {at:?}");
        told
    }

    /// As [`Stage::struck`], at the call with this number; says besides whether there were as many.
    pub(crate) fn struck_at<T: Send + 'static>(
        &mut self,
        agent: Agent,
        strike: Strike,
        nth: u64,
        ask: impl FnOnce(&Session) -> T + Send + 'static,
    ) -> (bool, Option<T>) {
        locked(&self.fate).next = Some((strike, When::Nth(nth)));
        let told = self.go(agent, ask);
        (locked(&self.fate).next.take().is_none(), told)
    }

    /// Has somebody ask who stands still before the first call like this, and somebody else meanwhile.
    pub(crate) fn meanwhile<T: Send + 'static, U: Send + 'static>(
        &mut self,
        at: Call,
        first: (Agent, impl FnOnce(&Session) -> T + Send + 'static),
        second: (Agent, impl FnOnce(&Session) -> U + Send + 'static),
    ) -> (T, U) {
        locked(&self.fate).next = Some((Strike::Pause, When::At(at)));
        let (first, told) = self.process(first.0, first.1);
        let (second, told_too) = self.process(second.0, second.1);
        self.run(vec![first, second]);
        assert!(locked(&self.fate).next.take().is_none(), "there was no call like {at:?}");
        let both = (locked(&told).take(), locked(&told_too).take());
        (both.0.unwrap(), both.1.unwrap())
    }

    fn go<T: Send + 'static>(
        &mut self,
        agent: Agent,
        ask: impl FnOnce(&Session) -> T + Send + 'static,
    ) -> Option<T> {
        let (process, told) = self.process(agent, ask);
        self.run(vec![process]);
        locked(&told).take()
    }

    fn process<T: Send + 'static>(
        &self,
        agent: Agent,
        ask: impl FnOnce(&Session) -> T + Send + 'static,
    ) -> (Process, Arc<Mutex<Option<T>>>) {
        let told = Arc::new(Mutex::new(None));
        let (tell, heard, refused) = (Arc::clone(&told), self.heard.clone(), self.refused.clone());
        let process = Process::new(agent.name.unwrap_or("nobody"), 0, move |sys| {
            let sys = if let Some(refused) = refused { refusing(sys, &refused) } else { sys };
            let asked = asking(&sys, agent, heard).map(|session| ask(&session));
            *locked(&tell) = asked.ok();
        });
        (process, told)
    }

    fn run(&mut self, processes: Vec<Process>) {
        let epoch = self.world.run(processes);
        assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new());
        assert!(matches!(epoch.end, End::Done | End::PowerLoss), "{:?}", epoch.end);
    }

    /// What people were told besides answers since this was asked last.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        std::mem::take(&mut *locked(&self.heard.0))
    }

    /// Lets time go by.
    pub(crate) fn wait(&mut self, span: Millis) {
        self.world.advance(span.get());
    }

    /// The power goes while nobody is at anything: what was not made durable is lost.
    pub(crate) fn lose_power(&mut self) {
        self.world.lose_power();
    }

    pub(crate) fn put(&mut self, path: &str, text: &str) {
        self.world.write_file(path, text.as_bytes()).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(self.world.read_file(path).unwrap_or_default()).unwrap()
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.world.read_file(path).is_some()
    }

    /// What a file holds; nothing if there is none.
    pub(crate) fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.text(path)).unwrap_or(Value::Null)
    }

    /// The lines of a file.
    pub(crate) fn lines(&self, path: &str) -> Vec<Value> {
        self.text(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The names of the files below a path, without it.
    pub(crate) fn below(&self, path: &str) -> Vec<String> {
        let paths = self.world.paths();
        let names = paths.iter().filter_map(|file| file.strip_prefix(path).ok());
        names.map(|name| name.to_str().unwrap().to_owned()).collect()
    }

    /// The paths of the event logs of all worktrees.
    pub(crate) fn event_logs(&self) -> Vec<String> {
        let all = self.below(&format!("{SHARED}/events"));
        let logs = all.into_iter().filter(|name| name.starts_with("wt-"));
        logs.map(|name| format!("{SHARED}/events/{name}")).collect()
    }

    /// The events of all worktrees.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.event_logs().iter().flat_map(|log| self.lines(log)).collect()
    }

    /// The kinds of all events, and what they are about.
    pub(crate) fn kinds(&self) -> Vec<(String, Value)> {
        let mut events = self.events();
        let one = |event: &mut Value| (event["event_type"].as_str().unwrap().into(), event["payload"].take());
        events.iter_mut().map(one).collect()
    }

    /// How many events there are of a kind.
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.kinds().iter().filter(|(known, _)| known == kind).count()
    }
}

fn refusing(sys: Sys, refused: &[(conformance::Call, String, ErrorKind)]) -> Sys {
    let files = Watched::new(Arc::clone(&sys.files));
    refused.iter().for_each(|(call, path, how)| files.refuse(*call, path.as_ref(), *how));
    Sys { files: Arc::new(files), ..sys }
}

fn asking(sys: &Sys, agent: Agent, heard: Heard) -> Result<Session> {
    Session::open(&Caller {
        git: Environment::empty(1_000),
        agent: agent.name.map(Into::into),
        listener: Arc::new(heard),
        ..caller(sys, agent.at.as_ref())
    })
}

pub(crate) fn parsed(id: &str) -> IssueId {
    IssueId::parse(id).unwrap()
}

/// A file of an issue in the main worktree, in the linked one, and where worktrees hand over what they write.
pub(crate) fn in_main(id: &str, file: &str) -> String {
    format!("/repo/.jit/issues/{id}/{file}")
}

pub(crate) fn in_linked(id: &str, file: &str) -> String {
    format!("/linked/.jit/issues/{id}/{file}")
}

pub(crate) fn handed_over(id: &str, file: &str) -> String {
    format!("{SHARED}/issues/{id}/{file}")
}

/// The file of an issue that is there from the beginning.
pub(crate) fn issue_text(id: &str) -> String {
    String::from_utf8(Issue::new(id.to_owned(), "t".to_owned(), LONG_AGO.to_owned()).bytes()).unwrap()
}

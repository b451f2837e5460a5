//! A log in a temporary directory, a clock that the test sets, and short ways to say what is done.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use holdfast_kernel::{
    Acquire, Again, Answer, Boot, BootId, Command, Holder, KindRule, Lease, LeaseId, Limits, Millis, Mode,
    Name, Policy, Request, Stamp, Table, Tags, Text, Transfer, TtlRange,
};
use holdfast_store::log::{Log, Paths, Settings, Words};
use holdfast_store::{Medium, Result};
use holdfast_sys::{Clock, Sys};

/// A clock that stands still until the test moves it.
pub(crate) struct TestClock(AtomicU64);

impl Clock for TestClock {
    fn now(&self) -> holdfast_sys::Result<Stamp> {
        let ms = self.0.load(Ordering::SeqCst);
        let boot = Boot { id: BootId::new(7), ms };
        Ok(Stamp::new(1_767_441_600_000 + ms.cast_signed(), Some(boot)).unwrap())
    }

    fn sleep(&self, span: Millis) {
        self.0.fetch_add(span.get(), Ordering::SeqCst);
    }
}

pub(crate) const WORDS: Words =
    Words { resource: "issue_id", agent: "agent_id", place: "worktree_id", tags: &["branch"] };

pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) sys: Sys,
    pub(crate) log: Log,
    pub(crate) policy: Policy,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let sys = Sys { clock: Arc::new(TestClock(AtomicU64::new(1_000))), ..Sys::os() };
        let log = open(&sys, &dir);
        Self { dir, sys, log, policy: policy() }
    }

    pub(crate) fn reopen(&mut self) {
        self.log = open(&self.sys, &self.dir);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap();
    }

    /// The names in the directory that begin like this.
    pub(crate) fn names(&self, prefix: &str) -> Vec<String> {
        let names = std::fs::read_dir(self.dir.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(prefix)).collect()
    }

    pub(crate) fn later(&self, secs: u64) {
        self.sys.clock.sleep(Millis::from_secs(secs));
    }

    pub(crate) fn acquire(&self, issue: &str, agent: &str, request: Request) -> Result<Answer> {
        self.log.transact(&self.policy, &self.acquiring(issue, agent, request))
    }

    pub(crate) fn acquiring(&self, issue: &str, agent: &str, request: Request) -> Command {
        Command::Acquire(Acquire {
            id: self.id(),
            resource: name(issue).into(),
            holder: holder(agent),
            mode: Mode::Exclusive,
            request,
            reason: Some(text("needs \"care\" \\ and ümläute")),
            tags: Tags::none().with("branch", text("main")).unwrap().with("other", text("x")).unwrap(),
            dead: Vec::new(),
        })
    }

    pub(crate) fn id(&self) -> LeaseId {
        self.sys.entropy.lease_id(&self.sys.clock.now().unwrap()).unwrap()
    }

    /// A lease of ten minutes.
    pub(crate) fn grant(&self, issue: &str, agent: &str) -> Lease {
        granted(self.acquire(issue, agent, Request::Finite(Millis::from_secs(600))).unwrap())
    }

    pub(crate) fn release(&self, lease: &Lease) -> Result<Answer> {
        let command = Command::Release { lease: lease.id, holder: lease.holder.clone() };
        self.log.transact(&self.policy, &command)
    }

    /// One of every kind of transition; two leases are left.
    pub(crate) fn busy_history(&self) {
        let first = self.grant("one", "agent:a");
        let renew =
            Command::Renew { lease: first.id, holder: first.holder.clone(), ttl: Some(Millis::new(1_500)) };
        self.log.transact(&self.policy, &renew).unwrap();
        self.later(2);
        let second = self.grant("one", "agent:b");
        let to = Transfer {
            lease: second.id,
            holder: second.holder.clone(),
            id: self.id(),
            to: holder("agent:c"),
            reason: text("hand-over"),
            tags: Tags::none(),
        };
        self.log.transact(&self.policy, &Command::Transfer(to)).unwrap();
        let steady = granted(self.acquire("two", "agent:d", Request::Indefinite).unwrap());
        let beat = Command::Beat { lease: steady.id, holder: steady.holder.clone() };
        self.later(5);
        self.log.transact(&self.policy, &beat).unwrap();
        let gone = self.grant("three", "agent:e");
        self.release(&gone).unwrap();
        let evicted = self.grant("four", "agent:f");
        let evict = Command::Evict { lease: evicted.id, by: holder("human:g"), reason: text("it hangs") };
        self.log.transact(&self.policy, &evict).unwrap();
    }

    pub(crate) fn table(&self) -> Table {
        self.log.view().unwrap().table
    }
}

pub(crate) fn open(sys: &Sys, dir: &tempfile::TempDir) -> Log {
    let paths = Paths {
        log: dir.path().join("claims.jsonl"),
        index: dir.path().join("claims.index.json"),
        guard: dir.path().join("claims.lock"),
    };
    Log::new(sys.clone(), paths, Settings { words: WORDS, ..Settings::default() })
}

pub(crate) fn policy() -> Policy {
    let ttl = TtlRange { min: Millis::new(1), max: Millis::from_secs(86_400) };
    Policy {
        again: Again::Return,
        rule: KindRule { ttl, indefinite: true },
        kinds: std::collections::BTreeMap::new(),
        skew: Millis::ZERO,
        grace: Millis::ZERO,
        stale_after: Millis::from_secs(3_600),
        limits: Limits::NONE,
    }
}

pub(crate) fn granted(answer: Answer) -> Lease {
    match answer {
        Answer::Granted(lease) => lease,
        other => panic!("not granted: {other:?}"),
    }
}

pub(crate) fn holder(agent: &str) -> Holder {
    Holder { agent: name(agent), place: name("wt:abc123ef") }
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn text(text: &str) -> Text {
    Text::new(text).unwrap()
}

//! The whole world as data. Nothing here asks or decides; the [`kernel`](super::kernel) does.

use std::path::PathBuf;

use super::call::{Call, Told};
use super::choice::{Choice, Made};
use super::config::{Config, Faults};
use super::disk::{Disk, NodeId};
use super::epoch::{End, Fate};
use super::hash::Mix;
use super::host::Host;
use super::touch::{Step, Thing};
use super::trace::Trace;
use crate::LockMode;

/// What a process is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    /// It can go on.
    Ready,
    /// It waits for a lock on this.
    Blocked(NodeId),
    /// It sleeps or stands still until this true time.
    Asleep(u64),
    /// It has not begun, and will when that process is gone.
    After(usize),
    /// It is dead, and its stack has yet to unwind.
    Dying,
    /// Its stack is free.
    Ended,
}

/// A process. Its number here is never given out again.
pub(super) struct Proc {
    pub(super) name: String,
    pub(super) host: usize,
    pub(super) pid: u32,
    pub(super) start: u64,
    pub(super) status: Status,
    pub(super) fate: Option<Fate>,
    /// A hash of all that calls told it.
    pub(super) knows: Mix,
    pub(super) nonces: u64,
    /// The call that it makes.
    pub(super) verb: &'static str,
    pub(super) path: PathBuf,
    /// Whether what may happen before its call has happened, and only the call is left.
    pub(super) struck: bool,
}

impl Proc {
    /// Notes the call that it makes, in the space of the one before.
    pub(super) fn about(&mut self, call: &Call<'_>) {
        self.verb = call.verb;
        self.path.clear();
        self.path.push(call.path);
    }

    /// Whether it has begun and is not dead.
    pub(super) const fn is_alive(&self) -> bool {
        !matches!(self.status, Status::After(_) | Status::Dying | Status::Ended)
    }
}

pub(super) struct State {
    pub(super) config: Config,
    /// What may still go wrong.
    pub(super) left: Faults,
    pub(super) began_us: u64,
    pub(super) now_us: u64,
    pub(super) hosts: Vec<Host>,
    pub(super) disk: Disk,
    /// The hash of the disk while it is being changed bit by bit.
    pub(super) disk_was: Option<u128>,
    /// The processes of all epochs; those of this one begin at `first`.
    pub(super) processes: Vec<Proc>,
    pub(super) first: usize,
    pub(super) running: usize,
    pub(super) calls: u64,
    /// The number of calls at which the epoch ends.
    pub(super) last_call: u64,
    pub(super) end: End,
    /// What was answered about the disk while it is being changed bit by bit. All other answers show in
    /// the state at once.
    pub(super) asked: Mix,
    /// What checkers want to tell states apart by.
    pub(super) noted: Mix,
    /// The locks that the process had whose step it is.
    held: Vec<(Thing, LockMode)>,
    pub(super) trace: Trace,
}

impl State {
    pub(super) fn new(config: Config) -> Self {
        let now_us = config.start_ms.saturating_mul(1_000);
        let hosts =
            config.hosts.iter().zip(0..).map(|(host, i)| Host::new(host.clone(), i, now_us)).collect();
        Self {
            left: config.faults,
            began_us: now_us,
            now_us,
            hosts,
            disk: Disk::new(&config),
            disk_was: None,
            processes: Vec::new(),
            first: 0,
            running: usize::MAX,
            calls: 0,
            last_call: u64::MAX,
            end: End::Done,
            asked: Mix::new(1),
            noted: Mix::new(2),
            held: Vec::new(),
            trace: Trace::new(config.trace),
            config,
        }
    }

    #[expect(clippy::indexing_slicing, reason = "a world hands out the numbers and forgets no process")]
    pub(super) fn proc(&self, me: usize) -> &Proc {
        &self.processes[me]
    }

    #[expect(clippy::indexing_slicing, reason = "a world hands out the numbers and forgets no process")]
    pub(super) fn proc_mut(&mut self, me: usize) -> &mut Proc {
        &mut self.processes[me]
    }

    #[expect(clippy::indexing_slicing, reason = "a process is only accepted on a host that there is")]
    pub(super) fn host(&self, me: usize) -> &Host {
        &self.hosts[self.proc(me).host]
    }

    #[expect(clippy::indexing_slicing, reason = "a process is only accepted on a host that there is")]
    pub(super) fn host_mut(&mut self, me: usize) -> &mut Host {
        let host = self.proc(me).host;
        &mut self.hosts[host]
    }

    /// What the wall clock of a process shows, in milliseconds.
    pub(super) fn wall_ms(&self, me: usize) -> i64 {
        self.host(me).wall_ms(self.now_us)
    }

    /// The processes of this epoch.
    pub(super) fn current(&self) -> impl Iterator<Item = (usize, &Proc)> {
        self.processes.iter().enumerate().skip(self.first)
    }

    pub(super) fn is_ready(&self, proc: &Proc) -> bool {
        match proc.status {
            Status::Ready => true,
            Status::Asleep(until) => until <= self.now_us,
            Status::Blocked(_) | Status::After(_) | Status::Dying | Status::Ended => false,
        }
    }

    /// The processes that can go on, beginning with `from`.
    pub(super) fn ready(&self, from: usize) -> impl Iterator<Item = usize> {
        let ready = |(i, proc): (usize, &Proc)| self.is_ready(proc).then_some(i);
        let after = self.current().filter(move |(i, _)| *i >= from).filter_map(ready);
        after.chain(self.current().filter(move |(i, _)| *i < from).filter_map(ready))
    }

    /// The next moment at which somebody wakes up.
    pub(super) fn next_wake(&self) -> Option<u64> {
        let wake = |(_, proc): (usize, &Proc)| match proc.status {
            Status::Asleep(until) => Some(until),
            _ => None,
        };
        self.current().filter_map(wake).min()
    }

    /// Whoever waits for a lock on this tries again.
    pub(super) fn unlocked(&mut self, node: Option<NodeId>) {
        let Some(node) = node else { return };
        for proc in self.processes.iter_mut().filter(|proc| proc.status == Status::Blocked(node)) {
            proc.status = Status::Ready;
        }
    }

    /// A step of a process begins.
    pub(super) fn begin_step(&mut self, me: usize) {
        if self.disk.touched.is_on() {
            self.held = self.disk.locks_of(me);
        }
    }

    /// The step that ends here, if anybody wants to know.
    pub(super) fn end_step(&mut self) -> Option<Step> {
        let touched = self.disk.touched.is_on().then(|| self.disk.touched.take())?;
        Some(Step { touched, held: std::mem::take(&mut self.held) })
    }

    /// A process is gone for everybody: its handles are closed, its number is free.
    pub(super) fn bury(&mut self, me: usize, fate: Fate) {
        self.disk.touched.changed(Thing::lives);
        for handle in self.disk.handles_of(me) {
            let node = self.disk.close(handle);
            self.unlocked(node);
        }
        let now_us = self.now_us;
        let proc = self.proc_mut(me);
        proc.status = Status::Dying;
        proc.fate.get_or_insert(fate);
        let (name, fate) = (proc.name.clone(), proc.fate.clone());
        self.trace.line(now_us - self.began_us, &name, || format!("{fate:?}").to_lowercase());
        self.start_after(me);
    }

    /// Starts those who waited for a process to be gone.
    fn start_after(&mut self, gone: usize) {
        let waits = |(i, proc): (usize, &Proc)| (proc.status == Status::After(gone)).then_some(i);
        let next: Vec<usize> = self.current().filter_map(waits).collect();
        next.into_iter().for_each(|me| self.begin(me));
    }

    /// Gives a process the lowest number that is free on its host, as a busy machine does sooner or later.
    pub(super) fn begin(&mut self, me: usize) {
        let host = self.proc(me).host;
        let used: Vec<u32> =
            self.current().filter(|(_, p)| p.host == host && p.is_alive()).map(|(_, p)| p.pid).collect();
        let now_us = self.now_us;
        let start = self.host_mut(me).start_tick(now_us);
        let proc = self.proc_mut(me);
        proc.pid = (100..).find(|pid| !used.contains(pid)).unwrap_or(u32::MAX);
        proc.start = start;
        proc.status = Status::Ready;
    }

    /// Ends the epoch: whoever is left dies.
    pub(super) fn cut(&mut self, end: End) {
        self.end = end;
        let left = |(i, p): (usize, &Proc)| (!matches!(p.status, Status::Dying | Status::Ended)).then_some(i);
        let all: Vec<usize> = self.current().filter_map(left).collect();
        for me in &all {
            // Before any of them is buried, so that nobody starts in their place.
            self.proc_mut(*me).status = Status::Dying;
        }
        all.into_iter().for_each(|me| self.bury(me, Fate::Cut));
    }

    /// All hosts start anew.
    pub(super) fn reboot(&mut self) {
        self.now_us += self.config.reboot_ms.saturating_mul(1_000);
        let now_us = self.now_us;
        self.hosts.iter_mut().for_each(|host| host.reboot(now_us));
        self.trace.line(now_us - self.began_us, "world", || "boots".to_owned());
    }

    pub(super) fn made(&mut self, made: Made) {
        if self.disk_was.is_some() {
            self.asked.word(made.answer as u64);
        }
        self.trace.made(made);
    }

    /// A call told its process something.
    pub(super) fn told<T: Told>(&mut self, me: usize, call: &Call<'_>, told: &T) {
        let at = self.now_us - self.began_us;
        let proc = self.processes.get_mut(me);
        let Some(proc) = proc else { return };
        told.digest(&mut proc.knows);
        proc.struck = false;
        self.trace.line(at, &proc.name, || format!("{call} → {told:?}"));
    }

    /// A hash of the disk and of who waits for what on it, to be had before the disk is taken apart.
    pub(super) fn disk_digest(&self) -> u128 {
        let mut mix = Mix::new(4);
        self.disk.digest(&mut mix);
        for (_, proc) in self.current() {
            if let Status::Blocked(node) = proc.status {
                mix.word(self.disk.number(node));
            }
        }
        mix.finish()
    }

    pub(super) fn fingerprint(&self, question: Option<(Choice, usize)>) -> u128 {
        let mut mix = Mix::new(3);
        mix.wide(self.disk_was.unwrap_or_else(|| self.disk_digest()));
        let runs = self.processes.get(self.running).is_some_and(|proc| proc.status != Status::Ended);
        // Where it is asked who goes on, it makes no difference who asks.
        let asks = question.is_some_and(|(what, _)| what == Choice::Schedule);
        let running = if runs && !asks { self.running } else { usize::MAX };
        [self.now_us, running as u64, self.end as u64].into_iter().for_each(|word| mix.word(word));
        self.hosts.iter().for_each(|host| host.digest(&mut mix));
        self.current().for_each(|(_, proc)| self.digest_proc(proc, &mut mix));
        self.left.digest(&mut mix);
        [self.asked, self.noted].into_iter().for_each(|part| mix.wide(part.finish()));
        if let Some((what, options)) = question {
            mix.bytes(format!("{what:?}").as_bytes());
            mix.word(options as u64);
        }
        mix.finish()
    }

    fn digest_proc(&self, proc: &Proc, mix: &mut Mix) {
        let (status, detail) = match proc.status {
            Status::Ready => (0, 0),
            Status::Blocked(_) => (1, 0),
            Status::Asleep(until) => (2, until),
            Status::After(other) => (3, other as u64),
            // What the dead knew changes nothing any more.
            Status::Dying => return mix.word(4),
            Status::Ended => return mix.word(5),
        };
        // One that has begun stands before its first call; going there is a step too.
        let struck = u64::from(proc.struck) | u64::from(!proc.verb.is_empty()) << 1;
        [status, detail, struck, u64::from(proc.pid), proc.start].into_iter().for_each(|word| mix.word(word));
        mix.wide(proc.knows.finish());
    }
}

//! The guardian of a run: the keeper of its claim and the parent of its command. It renews the claim while it is there.
//! When the claim ends, or whoever started it does, it ends the command and all that the command started, and then
//! itself: it is the last to go.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use holdfast_kernel::{Millis, Stamp};
use holdfast_sys::command::{Group, command};
use holdfast_sys::os::{self, Channel, ControlGroup, Signals, Teller, Tree, signal};
use holdfast_sys::{Open, Sys};

use super::keeping::{Keeping, Kept};
use super::log::Writing;
use super::message::{Ended, Input, Order, Start, Why, Word};
use super::record::{Record, alone};
use crate::caller::Caller;
use crate::error::Result;
use crate::json;
use crate::leftovers::Leftovers;
use crate::session::Session;

/// Signals that are not for the guardian: those who send them mean the command, or `jit run`.
const DEAF: [i32; 7] = [
    signal::SIGHUP,
    signal::SIGINT,
    signal::SIGQUIT,
    signal::SIGTERM,
    signal::SIGUSR1,
    signal::SIGUSR2,
    signal::SIGCHLD,
];

/// How long a command has that was asked to end.
const GRACE: Millis = Millis::from_secs(10);

/// How long the rest has, once the command itself or whoever started it is gone.
const REST: Millis = Millis::from_secs(2);

/// How long a command may go on that gave its claim back by itself.
const FAREWELL: Millis = Millis::from_secs(10);

/// How often what does not end is killed again: it may have started something in the last moment.
const AGAIN: Millis = Millis::new(20);

/// A message and the file that came with it.
type Heard = (Order, Option<OwnedFd>);

/// Guards a run, by the orders that come on a channel, until nobody gives any and nothing is left of it.
///
/// # Errors
/// When the system fails. Nothing that was started is left then, as far as it can be ended.
pub fn guard(caller: &Caller, mark: &str, orders: Channel) -> Result<()> {
    let signals = Signals::listen(&DEAF)?;
    os::adopt_orphans()?;
    let session = Session::open(caller)?;
    let record = Record::marked(&session, mark)?;
    let _alone = alone(&session)?;
    let teller = orders.teller()?;
    let (tell, heard) = channel();
    let waker = signals.waker()?;
    std::thread::spawn(move || {
        listen(orders, &tell, &waker);
        // Whoever waits has to see that this was the last.
        drop(tell);
        waker.wake();
    });
    let (leftovers, control) = record.guarded(&session)?;
    let mut guardian = Guardian {
        caller,
        session,
        record,
        leftovers,
        control,
        signals,
        teller,
        heard,
        keeping: None,
        running: None,
        has_left: false,
        is_alone: false,
        released: None,
    };
    guardian.tell(&Word::Ready(std::process::id()));
    guardian.run()
}

fn listen(mut orders: Channel, tell: &Sender<Heard>, waker: &os::Waker) {
    while let Ok(Some(line)) = orders.receive() {
        let Ok(order) = serde_json::from_slice(&line) else { return };
        let file = if matches!(order, Order::Start(_)) { orders.take_file() } else { None };
        if tell.send((order, file)).is_err() {
            return;
        }
        waker.wake();
    }
}

struct Guardian<'a> {
    caller: &'a Caller,
    session: Session,
    record: Record,
    /// What git leaves behind in this worktree when it is killed.
    leftovers: Option<Leftovers>,
    /// Where the command is started, if that can be had.
    control: Option<ControlGroup>,
    signals: Signals,
    teller: Teller,
    heard: Receiver<Heard>,
    keeping: Option<Keeping>,
    running: Option<Running>,
    /// Whether this process has a session of its own.
    has_left: bool,
    /// Whether nobody gives orders any more.
    is_alone: bool,
    /// Since when the claim is given back.
    released: Option<Stamp>,
}

/// A command that runs.
struct Running {
    tree: Tree,
    log: Option<Writing>,
    stopping: Option<Stopping>,
    why: Option<Why>,
    left_behind: bool,
}

/// How far the end of a command is.
struct Stopping {
    since: Stamp,
    grace: Millis,
}

impl Guardian<'_> {
    fn run(&mut self) -> Result<()> {
        loop {
            self.obey()?;
            let now = self.sys().clock.now()?;
            self.keep(&now)?;
            self.watch(&now)?;
            if self.is_alone && self.running.is_none() {
                return Ok(());
            }
            let patience = self.patience(&now);
            self.signals.wait(Some(patience))?;
        }
    }

    fn sys(&self) -> &Sys {
        &self.caller.sys
    }

    /// Does what it was asked for.
    fn obey(&mut self) -> Result<()> {
        loop {
            match self.heard.try_recv() {
                Ok((Order::Keep { lease }, _)) => {
                    self.keeping = Some(Keeping::new(Session::open(self.caller)?, &lease)?);
                    self.released = None;
                }
                Ok((Order::Start(start), file)) => self.start(&start, file),
                Ok((Order::Signal(number), _)) => {
                    self.running.iter().for_each(|running| running.tree.tell(number));
                }
                Ok((Order::Stop, _)) => {
                    let now = self.sys().clock.now()?;
                    self.stop(&now, &Why::Asked, GRACE);
                }
                Err(TryRecvError::Empty) => return Ok(()),
                Err(TryRecvError::Disconnected) => {
                    if !self.is_alone {
                        self.is_alone = true;
                        let now = self.sys().clock.now()?;
                        self.stop(&now, &Why::Asked, REST);
                    }
                    return Ok(());
                }
            }
        }
    }

    fn start(&mut self, start: &Start, file: Option<OwnedFd>) {
        if self.running.is_some() {
            return self.tell(&Word::NotStarted { code: 126, why: "another command runs".into() });
        }
        match self.try_start(start, file) {
            Ok(running) => {
                self.tell(&Word::Started(running.tree.id()));
                self.running = Some(running);
            }
            Err(error) => {
                let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
                let program = start.words.first().map_or(&[][..], Vec::as_slice);
                let program = String::from_utf8_lossy(program);
                let why = format!("cannot run {program} in {}: {error}", start.directory.display());
                self.tell(&Word::NotStarted { code, why });
            }
        }
    }

    fn try_start(&mut self, start: &Start, file: Option<OwnedFd>) -> io::Result<Running> {
        let words: Vec<OsString> = start.words.iter().cloned().map(OsString::from_vec).collect();
        let mut command = command(&words).ok_or(io::ErrorKind::InvalidInput)?;
        command.current_dir(&start.directory).envs(start.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(match (&start.input, file) {
            (Input::Given, Some(file)) => file.into(),
            (Input::Given | Input::Nothing, _) => Stdio::null(),
            (Input::File(path), _) => self.reading(path)?,
        });
        let log = start.log.as_ref().map(|bound| Writing::of(self.sys(), bound, &mut command)).transpose()?;
        // What belongs to the terminal's foreground is started from within it, and then this process leaves.
        let group = if start.in_foreground && !self.has_left {
            Group::Caller
        } else {
            self.leave();
            Group::Own
        };
        let tree = Tree::start(&mut command, group, self.control.as_ref())?;
        self.leave();
        Ok(Running { tree, log, stopping: None, why: None, left_behind: false })
    }

    /// What a command reads that reads a file.
    fn reading(&self, path: &std::path::Path) -> io::Result<Stdio> {
        let handle = self.sys().files.open(path, Open::Read).map_err(|error| error.source)?;
        let bytes = handle.read_from(0, 1 << 20).map_err(|error| error.source)?;
        let (output, mut input) = io::pipe()?;
        // A pipe holds less than a long text; whoever does not read it is not waited for.
        std::thread::spawn(move || io::Write::write_all(&mut input, &bytes));
        Ok(output.into())
    }

    /// Begins a session of its own. A process that cannot has one already.
    fn leave(&mut self) {
        if !self.has_left {
            self.has_left = true;
            let _ = os::leave_session();
        }
    }

    /// Looks after the claim, and stops the command once it is over.
    fn keep(&mut self, now: &Stamp) -> Result<()> {
        let Some(keeping) = &mut self.keeping else { return Ok(()) };
        match keeping.tend(now) {
            None => {}
            Some(Kept::Held) => self.released = None,
            Some(Kept::Released) => {
                let since = *self.released.get_or_insert(*now);
                if now.since(&since).forward() >= FAREWELL {
                    self.stop(now, &Why::Released, REST);
                }
            }
            Some(Kept::Lost { why, within }) => self.stop(now, &Why::Lost(why), within.min(GRACE)),
        }
        Ok(())
    }

    /// Has the command stopped. The first reason stays; a shorter time counts.
    fn stop(&mut self, now: &Stamp, why: &Why, grace: Millis) {
        let Some(running) = &mut self.running else { return };
        let is_lost = matches!(why, Why::Lost(_)) && !matches!(running.why, Some(Why::Lost(_)));
        if running.why.is_none() || is_lost {
            running.why = Some(why.clone());
        }
        running.stop(now, grace);
    }

    /// Looks after the command, and tells of its end.
    fn watch(&mut self, now: &Stamp) -> Result<()> {
        let Some(running) = &mut self.running else { return Ok(()) };
        let is_gone = running.tree.is_gone()?;
        if !is_gone {
            if running.tree.status().is_some() && !running.left_behind {
                running.left_behind = true;
                running.stop(now, REST);
            }
            if running.stopping.as_ref().is_some_and(|stopping| stopping.left(now) == Millis::ZERO) {
                running.tree.signal(signal::SIGKILL);
            }
            return Ok(());
        }
        let Some(running) = self.running.take() else { return Ok(()) };
        self.unlock();
        let status = running.tree.status();
        let ended = Ended {
            code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            why: running.why,
            left_behind: running.left_behind,
            written: running.log.map_or(0, Writing::end),
        };
        self.tell(&Word::Ended(ended));
        Ok(())
    }

    /// Removes what a git that was killed has left, before anybody needs it: what the command did is still to land.
    fn unlock(&self) {
        self.leftovers.iter().for_each(|leftovers| leftovers.remove(&self.caller.sys));
    }

    /// How long to wait for the next thing to happen.
    fn patience(&self, now: &Stamp) -> Millis {
        let pace = self.keeping.as_ref().map_or(Millis::from_secs(60), Keeping::pace);
        let stopping = self.running.as_ref().and_then(|running| running.stopping.as_ref());
        let stopping = stopping.map(|stopping| stopping.left(now).max(AGAIN));
        stopping.into_iter().chain([pace]).min().unwrap_or(pace)
    }

    fn tell(&self, word: &Word) {
        // Nobody may be there any more.
        let _ = self.teller.send(json::text(word).as_bytes());
    }
}

impl Running {
    fn stop(&mut self, now: &Stamp, grace: Millis) {
        let left = self.stopping.as_ref().map(|stopping| stopping.left(now));
        if left.is_none() {
            self.tree.signal(signal::SIGTERM);
            // One that stands still hears nothing else.
            self.tree.signal(signal::SIGCONT);
        }
        if left.is_none_or(|left| grace < left) {
            self.stopping = Some(Stopping { since: *now, grace });
        }
    }
}

impl Stopping {
    fn left(&self, now: &Stamp) -> Millis {
        Millis::new(self.grace.get().saturating_sub(now.since(&self.since).forward().get()))
    }
}

impl Drop for Guardian<'_> {
    /// However this ends, nothing is left.
    fn drop(&mut self) {
        while let Some(running) = &mut self.running {
            if running.tree.is_gone().unwrap_or(true) {
                self.running = None;
                self.unlock();
            } else {
                running.tree.signal(signal::SIGKILL);
                let _ = self.signals.wait(Some(AGAIN));
            }
        }
        // Everybody who was in it has been waited for.
        let _ = self.control.as_ref().is_none_or(ControlGroup::remove);
        self.record.close(&self.session);
    }
}

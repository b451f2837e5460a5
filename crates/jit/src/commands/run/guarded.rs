//! The guardian as `jit run` sees it: a process that is given orders and says what happens.
#![expect(clippy::disallowed_methods, reason = "this is where the guardian is started")]

use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use holdfast_sys::os::{Caught, Channel, Signals, Teller, signal};
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::run::{Ended, Input, MARKER, Order, Start, Word};

/// The signals that ask `jit run` to end.
pub(super) const ENDING: [i32; 4] = [signal::SIGHUP, signal::SIGINT, signal::SIGQUIT, signal::SIGTERM];
const OTHERS: [i32; 2] = [signal::SIGUSR1, signal::SIGUSR2];

/// The guardian of a run.
pub(super) struct Guarded {
    child: Child,
    teller: Option<Teller>,
    words: Receiver<Word>,
    signals: Signals,
    /// Its number.
    pub(super) pid: u32,
    /// The signal that asked for the end, if one did.
    pub(super) interrupted: Option<u8>,
    /// The signal that the terminal sent to the command as well.
    typed: Option<u8>,
    in_foreground: bool,
}

/// What became of a command.
pub(super) enum Fate {
    /// It ran, and has ended with all that it started.
    Ended(Ended),
    /// It could not be started.
    NotStarted(String),
    /// Its guardian is gone; nobody knows.
    Unguarded,
}

impl Guarded {
    /// Starts the guardian of a run, for the agent in this directory. From here on no signal ends this process.
    pub(super) fn start(directory: &Path, agent: &str, mark: &str) -> Result<Self> {
        let signals = Signals::listen(&[&ENDING[..], &OTHERS].concat())?;
        let failed =
            |why| Error::from(holdfast_sys::Error::new("start", Path::new("the guardian of the run"), why));
        let (mut orders, other) = Channel::new()?;
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.arg("-C").arg(directory).args(["--agent-id", agent, "--quiet", "guardian", mark]);
        let child = command.env(MARKER, mark).stdin(other).spawn().map_err(failed)?;
        // It holds the guardian's end, which would then never close.
        drop(command);
        let (teller, waker) = (orders.teller()?, signals.waker()?);
        let (tell, words) = channel();
        std::thread::spawn(move || {
            while let Ok(Some(line)) = orders.receive() {
                if serde_json::from_slice(&line).is_ok_and(|word| tell.send(word).is_err()) {
                    break;
                }
                waker.wake();
            }
            drop(tell);
            waker.wake();
        });
        let in_foreground = io::stdin().is_terminal();
        let (teller, pid, interrupted, typed) = (Some(teller), child.id(), None, None);
        let mut guarded = Self { child, teller, words, signals, pid, interrupted, typed, in_foreground };
        match guarded.next()? {
            Some(Word::Ready(_)) => Ok(guarded),
            _ => Err(Error::Internal("the guardian of the run did not start".into())),
        }
    }

    /// Has it keep a lease.
    pub(super) fn keep(&self, lease: &str) -> Result<()> {
        self.order(&Order::Keep { lease: lease.to_owned() })
    }

    /// Runs a command to its end.
    pub(super) fn run(&mut self, start: Start) -> Result<Fate> {
        let start = Start { in_foreground: self.in_foreground, ..start };
        let is_given = start.input == Input::Given;
        let stdin = io::stdin();
        let text = text(&Order::Start(start))?;
        if let Some(teller) = &self.teller {
            teller.send_with(text.as_bytes(), is_given.then(|| stdin.as_fd()))?;
        }
        loop {
            match self.next()? {
                Some(Word::Ended(ended)) => {
                    self.judge(&ended)?;
                    return Ok(Fate::Ended(ended));
                }
                Some(Word::NotStarted { why, .. }) => return Ok(Fate::NotStarted(why)),
                Some(Word::Ready(_) | Word::Started(_)) => {}
                None => return Ok(Fate::Unguarded),
            }
        }
    }

    /// Takes a command that ended by what was typed on its terminal for one that was asked to end: that says nothing
    /// about its work.
    fn judge(&mut self, ended: &Ended) -> Result<()> {
        // Both heard it; who ends first is chance.
        for caught in self.signals.wait(Some(holdfast_kernel::Millis::ZERO))? {
            self.hear(caught);
        }
        let is_it = |typed: &u8| {
            let number = i32::from(*typed);
            ended.signal == Some(number) || ended.code == Some(128 + number)
        };
        self.interrupted = self.interrupted.or(self.typed.filter(is_it));
        Ok(())
    }

    /// What it says next; none if it is gone. Signals that come meanwhile are passed on, or end the command.
    fn next(&mut self) -> Result<Option<Word>> {
        loop {
            match self.words.try_recv() {
                Ok(word) => return Ok(Some(word)),
                Err(TryRecvError::Disconnected) => return Ok(None),
                Err(TryRecvError::Empty) => {}
            }
            for caught in self.signals.wait(None)? {
                self.hear(caught);
            }
        }
    }

    fn hear(&mut self, Caught { number, from_terminal }: Caught) {
        // What the terminal sends to its foreground has reached the command as well; whether that ends it is its own
        // affair. A terminal that is closed ends everything.
        let is_heard = self.in_foreground && from_terminal && number != signal::SIGHUP;
        let order = match number {
            _ if is_heard => {
                self.typed = u8::try_from(number).ok();
                return;
            }
            number if ENDING.contains(&number) => {
                self.interrupted = Some(u8::try_from(number).unwrap_or(u8::MAX));
                Order::Stop
            }
            number => Order::Signal(number),
        };
        // One that is gone needs no orders.
        let _ = self.order(&order);
    }

    /// Whether a signal has asked for the end.
    pub(super) fn is_interrupted(&mut self) -> Result<bool> {
        let zero = holdfast_kernel::Millis::ZERO;
        for Caught { number, .. } in self.signals.wait(Some(zero))? {
            if ENDING.contains(&number) {
                self.interrupted = Some(u8::try_from(number).unwrap_or(u8::MAX));
            }
        }
        Ok(self.interrupted.is_some())
    }

    fn order(&self, order: &Order) -> Result<()> {
        match &self.teller {
            Some(teller) => Ok(teller.send(text(order)?.as_bytes())?),
            None => Ok(()),
        }
    }

    /// Lets it go, and waits until it is gone.
    pub(super) fn dismiss(mut self) {
        self.leave();
    }

    fn leave(&mut self) {
        // The thread that listens has the other half of this end: it hears the last word and leaves, too.
        if let Some(teller) = self.teller.take() {
            teller.close();
        }
        let _ = self.child.wait();
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.leave();
    }
}

fn text(order: &Order) -> Result<String> {
    serde_json::to_string(order)
        .map_err(|error| Error::Internal(format!("an order has no JSON form: {error}")))
}

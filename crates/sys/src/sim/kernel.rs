//! Who runs. Each process has a stack of its own, and one baton goes round: whoever has it runs until it makes a call,
//! where it may have to hand the baton on. Nothing is switched when the same process goes on.
//!
//! A process that dies is unwound by a panic that says nothing. Its destructors may make calls on the way;
//! they find that they are dead, change nothing, and never panic again.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::call::{Call, Told};
use super::choice::{Choice, Choices, Made, Moment, Remnant};
use super::config::{Faults, Odds};
use super::disk::Disk;
use super::epoch::{End, Fate};
use super::hash::Mix;
use super::state::{State, Status};
use super::strand;
use crate::{Error, Result};

/// What unwinds a process that was killed.
struct Killed;

pub(super) type Locked<'a> = MutexGuard<'a, Inner>;

pub(super) struct Kernel {
    inner: Mutex<Inner>,
}

pub(super) struct Inner {
    choices: Box<dyn Choices>,
    pub(super) state: State,
    /// Who goes on when the one that runs stops or is over; nobody at the end of an epoch.
    pub(super) baton: Option<usize>,
    /// What the choices panicked with, when that left nobody to run.
    pub(super) broken: Option<Box<dyn Any + Send>>,
}

/// What a call finds before it happens.
enum Strike {
    Calm,
    /// The baton goes to somebody else first.
    Yield(usize),
}

impl Kernel {
    pub(super) fn new(state: State, choices: Box<dyn Choices>) -> Self {
        Self { inner: Mutex::new(Inner { choices, state, baton: None, broken: None }) }
    }

    pub(super) fn lock(&self) -> Locked<'_> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call of process `me`: whatever may happen before it happens, then the call itself.
    pub(super) fn call<T: Told>(
        &self,
        me: usize,
        call: &Call<'_>,
        act: impl FnOnce(&mut Inner) -> std::io::Result<T>,
    ) -> Result<T> {
        let failed = |error| Error::new(call.verb, call.path, error);
        let Some(mut inner) = self.turn(me, call) else { return Err(failed(dead())) };
        let result = act(&mut inner);
        inner.state.told(me, call, &result);
        result.map_err(failed)
    }

    /// A call that nobody else can see or influence: there is no point in switching before it.
    pub(super) fn quiet<T: Told>(
        &self,
        me: usize,
        call: &Call<'_>,
        act: impl FnOnce(&mut Inner) -> std::io::Result<T>,
    ) -> Result<T> {
        let failed = |error| Error::new(call.verb, call.path, error);
        let Some(mut inner) = self.alive(me) else { return Err(failed(dead())) };
        let result = act(&mut inner);
        inner.state.told(me, call, &result);
        result.map_err(failed)
    }

    /// The world, if `me` is alive in it. A process that panics is as good as dead: the release build aborts.
    fn alive(&self, me: usize) -> Option<Locked<'_>> {
        let inner = (!std::thread::panicking()).then(|| self.lock())?;
        inner.state.proc(me).is_alive().then_some(inner)
    }

    /// Waits until it is the turn of `me` to make a call; none when it is dead.
    pub(super) fn turn(&self, me: usize, call: &Call<'_>) -> Option<Locked<'_>> {
        let mut inner = self.alive(me)?;
        inner.state.proc_mut(me).about(call);
        let next = inner.next_after(me);
        inner = self.pass(inner, me, next);
        if let Strike::Yield(next) = inner.strike(me) {
            inner.state.proc_mut(me).struck = true;
            inner = self.pass(inner, me, next);
        }
        inner.state.calls += 1;
        inner.state.now_us += inner.state.config.call_us;
        Some(inner)
    }

    /// Has `me` wait as `status` says, and comes back when it goes on.
    pub(super) fn park<'a>(&'a self, mut inner: Locked<'a>, me: usize, status: Status) -> Locked<'a> {
        inner.state.proc_mut(me).status = status;
        let next = inner.pick().unwrap_or(me);
        self.pass(inner, me, next)
    }

    /// Hands the baton to `next` and comes back with it; does not come back if `me` is dead by then.
    fn pass<'a>(&'a self, mut inner: Locked<'a>, me: usize, next: usize) -> Locked<'a> {
        if next != me {
            inner.hand(next);
            drop(inner);
            strand::stop();
            inner = self.lock();
        }
        if inner.state.proc(me).status == Status::Dying {
            drop(inner);
            resume_unwind(Box::new(Killed));
        }
        inner.state.proc_mut(me).status = Status::Ready;
        inner
    }

    /// Runs the body of a process on its stack, from the first baton to the last.
    pub(super) fn live(&self, me: usize, body: impl FnOnce()) {
        let doomed = self.lock().state.proc(me).status == Status::Dying;
        let ran = catch_unwind(AssertUnwindSafe(|| if doomed { drop(body) } else { body() }));
        let fate = match ran {
            Ok(()) => Fate::Returned,
            Err(payload) if payload.is::<Killed>() => Fate::Killed,
            Err(payload) => Fate::Panicked(said(payload.as_ref())),
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.finish(me, fate))) {
            self.give_up(payload);
        }
    }

    /// Nobody can say who goes on: whoever runs the world must hear of it instead of waiting for ever.
    fn give_up(&self, payload: Box<dyn Any + Send>) {
        let mut inner = self.lock();
        inner.broken = Some(payload);
        inner.baton = None;
    }

    fn finish(&self, me: usize, fate: Fate) {
        let mut inner = self.lock();
        if let Fate::Panicked(_) = fate {
            // A panic on the way out of a kill is a bug all the same.
            inner.state.proc_mut(me).fate = Some(fate.clone());
        }
        if inner.state.proc(me).status != Status::Dying {
            inner.state.bury(me, fate);
        }
        inner.state.proc_mut(me).status = Status::Ended;
        if let Some(next) = inner.pick() {
            inner.hand(next);
        }
    }
}

impl Inner {
    pub(super) fn ask(&mut self, what: Choice, options: usize, ppm: u32) -> usize {
        let moment = Moment { state: &self.state, what, options, ppm };
        let answer = self.choices.choose(what, options, &moment).min(options.saturating_sub(1));
        self.state.made(Made { what, options, answer });
        answer
    }

    fn go_on(&mut self) -> bool {
        let moment = Moment { state: &self.state, what: Choice::Schedule, options: 1, ppm: 0 };
        self.choices.go_on(&moment)
    }

    /// Asks for something that has a budget, and takes from it if it happens.
    pub(super) fn risk(
        &mut self,
        what: Choice,
        options: usize,
        of: impl Fn(&mut Faults) -> &mut Odds,
    ) -> usize {
        let odds = *of(&mut self.state.left);
        if odds.at_most == 0 || options < 2 {
            return 0;
        }
        let answer = self.ask(what, options, odds.ppm);
        if answer != 0 {
            of(&mut self.state.left).at_most -= 1;
        }
        answer
    }

    /// Changes the disk in a way that depends on what survives.
    pub(super) fn on_disk<T>(&mut self, change: impl FnOnce(&mut Disk, &mut super::disk::Ask<'_>) -> T) -> T {
        let ppm = self.state.config.lose_ppm;
        self.state.disk_was = Some(self.state.disk_digest());
        let empty = Disk::new(&self.state.config);
        let mut disk = std::mem::replace(&mut self.state.disk, empty);
        let mut ask = |what: Remnant, options: usize| self.ask(Choice::Survive(what), options, ppm);
        let result = change(&mut disk, &mut ask);
        self.state.disk = disk;
        self.state.disk_was = None;
        self.state.asked = Mix::new(1);
        result
    }

    /// Who makes the next call, when `me` is about to.
    fn next_after(&mut self, me: usize) -> usize {
        self.end_step();
        let options = self.state.ready(me).count();
        let answer =
            if options > 1 { self.ask(Choice::Schedule, options, self.state.config.switch_ppm) } else { 0 };
        let next = self.state.ready(me).nth(answer).unwrap_or(me);
        self.state.begin_step(next);
        next
    }

    fn end_step(&mut self) {
        if let Some(step) = self.state.end_step() {
            self.choices.stepped(&step);
        }
    }

    /// Who goes on when the one that ran cannot; the dead come first, so that they are out of the way.
    fn pick(&mut self) -> Option<usize> {
        self.end_step();
        let next = self.pick_one()?;
        self.state.begin_step(next);
        Some(next)
    }

    fn pick_one(&mut self) -> Option<usize> {
        loop {
            let dying = self.state.current().find(|(_, proc)| proc.status == Status::Dying);
            if let Some((next, _)) = dying {
                return Some(next);
            }
            let from = self.state.running.max(self.state.first);
            match self.state.ready(from).count() {
                0 => match self.state.next_wake() {
                    Some(wake) => self.state.now_us = self.state.now_us.max(wake),
                    None if self.state.current().all(|(_, proc)| proc.status == Status::Ended) => {
                        return None;
                    }
                    None => self.state.cut(End::Deadlock),
                },
                1 => return self.state.ready(from).next(),
                options => {
                    let answer = self.ask(Choice::Schedule, options, self.state.config.switch_ppm);
                    return self.state.ready(from).nth(answer);
                }
            }
        }
    }

    fn hand(&mut self, next: usize) {
        self.state.running = next;
        self.baton = Some(next);
    }

    /// Gives the baton to the first process of an epoch, unless there is none.
    pub(super) fn first(&mut self) {
        if let Some(next) = self.pick() {
            self.hand(next);
        }
    }

    /// What happens to the process or to the world before a call.
    fn strike(&mut self, me: usize) -> Strike {
        if !self.go_on() {
            self.state.cut(End::Stopped);
            return Strike::Yield(me);
        }
        if self.state.calls >= self.state.last_call {
            self.state.cut(End::TooManyCalls);
            return Strike::Yield(me);
        }
        if self.risk(Choice::PowerLoss, 2, |left| &mut left.power_loss) != 0 {
            self.lose_power();
            return Strike::Yield(me);
        }
        if let Some(victim) = self.victim(me) {
            self.state.bury(victim, Fate::Killed);
            return Strike::Yield(victim);
        }
        self.disturb_clocks(me);
        self.pause(me)
    }

    /// Who dies, if anybody: the one that runs or one that waits. Those who are ready can run first.
    fn victim(&mut self, me: usize) -> Option<usize> {
        if self.state.left.kill.at_most == 0 {
            return None;
        }
        let waits = |(i, proc): (usize, &super::state::Proc)| {
            (i != me && proc.is_alive() && !self.state.is_ready(proc)).then_some(i)
        };
        let victims: Vec<usize> = [me].into_iter().chain(self.state.current().filter_map(waits)).collect();
        let answer = self.risk(Choice::Kill, victims.len() + 1, |left| &mut left.kill);
        answer.checked_sub(1).and_then(|index| victims.get(index).copied())
    }

    fn pause(&mut self, me: usize) -> Strike {
        let options = self.state.config.pauses_ms.len() + 1;
        let answer = self.risk(Choice::Pause, options, |left| &mut left.pause);
        let span = answer.checked_sub(1).and_then(|index| self.state.config.pauses_ms.get(index));
        let Some(span) = span else { return Strike::Calm };
        let until = self.state.now_us + span * 1_000;
        self.state.proc_mut(me).status = Status::Asleep(until);
        Strike::Yield(self.pick().unwrap_or(me))
    }

    fn disturb_clocks(&mut self, me: usize) {
        let options = self.state.config.delays_ms.len() + 1;
        let answer = self.risk(Choice::Delay, options, |left| &mut left.delay);
        if let Some(span) = answer.checked_sub(1).and_then(|i| self.state.config.delays_ms.get(i)) {
            self.state.now_us += span * 1_000;
        }
        let (jumps, stops) = (self.state.config.wall_jumps_ms.len(), self.state.config.wall_stops_ms.len());
        let answer = self.risk(Choice::WallJump, 1 + jumps + stops, |left| &mut left.wall_jump);
        let Some(index) = answer.checked_sub(1) else { return };
        let now_us = self.state.now_us;
        if let Some(by) = self.state.config.wall_jumps_ms.get(index).copied() {
            self.state.host_mut(me).jump(by);
        } else if let Some(span) = self.state.config.wall_stops_ms.get(index - jumps).copied() {
            self.state.host_mut(me).stop(now_us, span);
        }
    }

    /// The power goes: everybody dies, and the hosts start anew on what is left on the disk.
    pub(super) fn lose_power(&mut self) {
        let at_us = self.state.now_us - self.state.began_us;
        self.state.trace.line(at_us, "world", || "loses power".to_owned());
        self.state.cut(End::PowerLoss);
        self.on_disk(Disk::lose_power);
        self.state.reboot();
    }
}

/// What a call of a process that is dead gets.
pub(super) fn dead() -> std::io::Error {
    std::io::Error::other("the process is dead")
}

fn said(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "something".to_owned())
}

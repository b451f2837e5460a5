//! The clock, the processes and the entropy of a simulated process.

use std::io;
use std::path::Path;
use std::sync::Arc;

use holdfast_kernel::{Millis, Stamp};
use rustix::io::Errno;

use super::call::{Call, With};
use super::files::SimFiles;
use super::hash::Mix;
use super::kernel::Kernel;
use super::state::{Proc, State, Status};
use super::touch::Thing;
use crate::process::FIRST;
use crate::{Clock, Entropy, Liveness, ProcessId, Processes, Result, Sys, Watched};

/// The pid namespace that all processes of a host are in.
const NAMESPACE: u64 = 4_026_531_836;

struct Machine {
    kernel: Arc<Kernel>,
    me: usize,
}

/// The machine as a process sees it.
pub(super) fn sys(kernel: &Arc<Kernel>, me: usize) -> Sys {
    let machine = || Machine { kernel: Arc::clone(kernel), me };
    Sys {
        clock: Arc::new(machine()),
        files: Arc::new(SimFiles { kernel: Arc::clone(kernel), me }),
        processes: Arc::new(machine()),
        entropy: Arc::new(machine()),
    }
}

fn call(verb: &'static str, what: &'static str) -> Call<'static> {
    Call::new(verb, Path::new(what), With::Nothing)
}

impl Clock for Machine {
    fn now(&self) -> Result<Stamp> {
        self.kernel.call(self.me, &call("read", "the clock"), |inner| {
            let (host, now_us) = (inner.state.host(self.me), inner.state.now_us);
            let stamp = Stamp::new(host.wall_ms(now_us), host.boot(now_us));
            stamp.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
        })
    }

    fn sleep(&self, span: Millis) {
        let call = Call::new("sleep", Path::new("ms"), With::Number(span.get()));
        let Some(mut inner) = self.kernel.turn(self.me, &call) else { return };
        let until = inner.state.now_us.saturating_add(span.get().saturating_mul(1_000));
        inner.state.told(self.me, &call, &());
        drop(self.kernel.park(inner, self.me, Status::Asleep(until)));
    }
}

impl Processes for Machine {
    fn strand(&self) -> usize {
        self.me
    }

    fn me(&self) -> Result<ProcessId> {
        self.kernel.quiet(self.me, &call("read", "itself"), |inner| {
            let proc = inner.state.proc(self.me);
            Ok(identify(&inner.state, self.me, proc.pid, proc.start))
        })
    }

    fn find(&self, pid: u32) -> Result<ProcessId> {
        let call = Call::new("read", Path::new("process"), With::Number(u64::from(pid)));
        self.kernel.call(self.me, &call, |inner| {
            let start = start_of(&inner.state, self.me, pid).ok_or(Errno::NOENT)?;
            Ok(identify(&inner.state, self.me, pid, start))
        })
    }

    fn parent(&self) -> Result<u32> {
        self.kernel.quiet(self.me, &call("read", "its parent"), |_| Ok(FIRST))
    }

    fn watch(&self, pid: u32) -> Result<Box<dyn Watched + '_>> {
        Ok(Box::new(Known { machine: self, process: self.find(pid)? }))
    }

    fn liveness(&self, process: &ProcessId) -> Liveness {
        let call = Call::new("look for", Path::new("process"), With::Number(u64::from(process.pid)));
        let told = self.kernel.call(self.me, &call, |inner| Ok(judge(&inner.state, self.me, process)));
        told.unwrap_or(Liveness::Unknown)
    }
}

/// A process that is watched.
struct Known<'a> {
    machine: &'a Machine,
    process: ProcessId,
}

impl Watched for Known<'_> {
    fn is_gone(&self) -> bool {
        self.machine.liveness(&self.process) == Liveness::Dead
    }
}

impl Entropy for Machine {
    fn nonce(&self) -> Result<u128> {
        self.kernel.quiet(self.me, &call("read", "random numbers"), |inner| {
            let mut mix = Mix::new(inner.state.config.entropy);
            let proc = inner.state.proc_mut(self.me);
            proc.nonces += 1;
            mix.word(proc.nonces);
            mix.word(self.me as u64);
            Ok(mix.finish())
        })
    }
}

fn identify(state: &State, me: usize, pid: u32, start: u64) -> ProcessId {
    let host = state.host(me);
    ProcessId { host: host.name(), boot: host.boot_id(), namespace: NAMESPACE, pid, start }
}

/// When the process with this number on the host of `me` started, if there is one.
fn start_of(state: &State, me: usize, pid: u32) -> Option<u64> {
    state.disk.touched.read(Thing::lives);
    let host = state.proc(me).host;
    let is_it = |proc: &&Proc| proc.host == host && proc.pid == pid && proc.is_alive();
    let there = state.current().map(|(_, proc)| proc).find(is_it).map(|proc| proc.start);
    there.or((pid == FIRST).then_some(0))
}

/// By the rules of the real machine.
fn judge(state: &State, me: usize, process: &ProcessId) -> Liveness {
    let host = state.host(me);
    if host.name() != process.host || process.boot.is_none() {
        return Liveness::Unknown;
    }
    if host.boot_id() != process.boot {
        return Liveness::Dead;
    }
    match start_of(state, me, process.pid) {
        _ if process.namespace != NAMESPACE => Liveness::Unknown,
        Some(start) if start == process.start => Liveness::Alive,
        _ => Liveness::Dead,
    }
}

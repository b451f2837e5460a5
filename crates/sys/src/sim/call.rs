//! A call and what it told its process: for the trace, and for the hash of what a process knows.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;

use holdfast_kernel::Stamp;

use super::disk::{HandleId, NodeId};
use super::hash::Mix;
use crate::{Liveness, Open, ProcessId, Stat};

/// A call and its arguments. The verb is the one that the real machine's errors have.
pub(super) struct Call<'a> {
    pub(super) verb: &'static str,
    pub(super) path: &'a Path,
    pub(super) with: With<'a>,
}

/// The other arguments.
pub(super) enum With<'a> {
    Nothing,
    How(Open),
    From(&'a Path),
    Bytes(&'a [u8], u64),
    Number(u64),
    Text(&'static str),
}

impl<'a> Call<'a> {
    pub(super) const fn new(verb: &'static str, path: &'a Path, with: With<'a>) -> Self {
        Self { verb, path, with }
    }
}

impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.path.display())?;
        match &self.with {
            With::Nothing => Ok(()),
            With::How(how) => write!(f, " {how:?}"),
            With::From(from) => write!(f, " from {}", from.display()),
            With::Bytes(bytes, at) => write!(f, " at {at}: {} bytes \"{}\"", bytes.len(), Short(bytes)),
            With::Number(number) => write!(f, " {number}"),
            With::Text(text) => write!(f, " {text}"),
        }
    }
}

/// The beginning of some bytes.
struct Short<'a>(&'a [u8]);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = self.0.get(..120).unwrap_or(self.0);
        write!(f, "{}{}", head.escape_ascii(), if head.len() < self.0.len() { "…" } else { "" })
    }
}

/// What a call may tell.
pub(super) trait Told: fmt::Debug {
    /// Adds everything that the process learns.
    fn digest(&self, mix: &mut Mix);
}

impl Told for () {
    fn digest(&self, mix: &mut Mix) {
        mix.word(1);
    }
}

impl Told for bool {
    fn digest(&self, mix: &mut Mix) {
        mix.word(u64::from(*self));
    }
}

impl Told for usize {
    fn digest(&self, mix: &mut Mix) {
        mix.word(*self as u64);
    }
}

impl Told for u32 {
    fn digest(&self, mix: &mut Mix) {
        mix.word(u64::from(*self));
    }
}

impl Told for u128 {
    fn digest(&self, mix: &mut Mix) {
        mix.wide(*self);
    }
}

/// Which handle it is tells a process nothing.
impl Told for HandleId {
    fn digest(&self, mix: &mut Mix) {
        mix.word(2);
    }
}

/// What comes of one try to take a lock.
#[derive(Debug)]
pub(super) enum Attempt {
    Taken,
    Waits(NodeId),
}

impl Told for Attempt {
    fn digest(&self, mix: &mut Mix) {
        mix.word(u64::from(matches!(self, Self::Waits(_))));
    }
}

impl Told for Stat {
    fn digest(&self, mix: &mut Mix) {
        mix.word(self.identity.inode);
        mix.word(self.len);
        mix.word(u64::from(self.mode));
        mix.word(self.kind as u64);
        mix.word(self.modified_ms.cast_unsigned());
    }
}

impl Told for Vec<OsString> {
    fn digest(&self, mix: &mut Mix) {
        mix.word(self.len() as u64);
        self.iter().for_each(|name| mix.bytes(name.as_encoded_bytes()));
    }
}

impl Told for Stamp {
    fn digest(&self, mix: &mut Mix) {
        mix.word(self.wall_ms());
        if let Some(boot) = self.boot() {
            mix.wide(boot.id.get());
            mix.word(boot.ms);
        }
    }
}

impl Told for ProcessId {
    fn digest(&self, mix: &mut Mix) {
        mix.bytes(self.host.as_bytes());
        mix.word(u64::from(self.pid));
        mix.word(self.start);
    }
}

impl Told for Liveness {
    fn digest(&self, mix: &mut Mix) {
        mix.word(*self as u64);
    }
}

impl<T: Told> Told for io::Result<T> {
    fn digest(&self, mix: &mut Mix) {
        match self {
            Ok(told) => told.digest(mix),
            Err(error) => mix.word(!u64::from(error.raw_os_error().unwrap_or(-1).unsigned_abs())),
        }
    }
}

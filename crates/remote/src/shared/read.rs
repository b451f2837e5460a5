//! Reading the head, and judging whether it goes on from what this clone has seen. A head from before is first taken
//! for a stale copy and asked for again; if the way that swaps take shows it too, the register was set back.

use holdfast_kernel::Stamp;
use holdfast_store::{Result, Trouble};

use super::Shared;
use crate::head::Head;
use crate::local::{self, Identity, Intent, Seen, Watched};
use crate::register::{Found, Mark, Version};
use crate::watch;

/// A head to decide on.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    pub(super) head: Head,
    pub(super) version: Version,
    /// When the register was asked for it.
    pub(super) asked: Stamp,
    /// Whether it was read by this operation.
    pub(super) fresh: bool,
}

/// What this clone remembers, under its lock.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) identity: Identity,
    pub(super) local: local::Memory,
    /// Whether a power loss would make it forget a head that was read.
    unkept: bool,
}

impl Memory {
    pub(super) fn watched(&self) -> &[Watched] {
        self.local.seen.as_ref().map_or(&[], |seen| &seen.watched)
    }
}

/// What a head is to a clone that has seen another one.
enum Relation {
    GoesOn,
    /// Something that may be a stale copy, and what it would mean if it is not.
    Apart(&'static str),
}

impl Shared {
    pub(super) fn memory(&self) -> Result<Memory> {
        let identity = self.local.named(&self.sys)?;
        Ok(Memory { identity, local: self.local.memory(&self.sys)?, unkept: false })
    }

    /// Makes durable what is about to be sent, and how far this clone has seen.
    pub(super) fn intend(&self, memory: &mut Memory, intent: Intent) -> Result<()> {
        self.local.keep(&self.sys, memory.identity.clone, &mut memory.local, Some(intent))?;
        memory.unkept = false;
        Ok(())
    }

    /// Makes durable how far this clone has seen, if that is not known to be.
    pub(super) fn settle(&self, memory: &mut Memory) -> Result<()> {
        if !std::mem::take(&mut memory.unkept) {
            return Ok(());
        }
        self.local.keep(&self.sys, memory.identity.clone, &mut memory.local, None)
    }

    /// Has everybody see how far this clone has seen.
    pub(super) fn show(&self, memory: &mut Memory, seen: Seen) -> Result<()> {
        self.local.show(&self.sys, memory.identity.clone, &mut memory.local, seen)
    }

    /// The head that was seen last, if it can be decided on without asking.
    pub(super) fn remembered(&self, memory: &Memory) -> Result<Option<Basis>> {
        match (&memory.local.seen, memory.local.open_intent()) {
            (Some(seen), None) => self.basis_of(seen).map(Some),
            _ => Ok(None),
        }
    }

    fn basis_of(&self, seen: &Seen) -> Result<Basis> {
        let head = Head::decode(&seen.head(), &self.register.place())?;
        let asked = match seen.asked.stamp() {
            Some(asked) => asked,
            None => return Err(self.odd(&"no clock can have shown when it was read")),
        };
        Ok(Basis { head, version: seen.mark().version, asked, fresh: false })
    }

    /// Reads the head, under the lock, and remembers what is new in it. Somebody has to settle that.
    pub(super) fn read(&self, memory: &mut Memory) -> Result<Basis> {
        let (basis, value) = self.ask(memory.local.mark().as_ref())?;
        let ended = self.sys.clock.now()?;
        self.must_be_alone(memory, &basis.head)?;
        self.notice(memory, &basis, &value, &ended)?;
        Ok(basis)
    }

    /// The head to look at, for a clone that remembers this. Writes nothing.
    ///
    /// First what was seen, then the register: the other way round, a step of another process of this clone that comes in
    /// between would look like one that the register has lost.
    pub(super) fn look(&self, memory: &local::Memory, fresh: bool) -> Result<Basis> {
        match &memory.seen {
            Some(seen) if !fresh => self.basis_of(seen),
            _ => self.ask(memory.mark().as_ref()).map(|(basis, _)| basis),
        }
    }

    /// The head and its bytes, asked for as often as it takes.
    pub(super) fn ask(&self, seen: Option<&Mark>) -> Result<(Basis, Vec<u8>)> {
        let mut trouble = None;
        let began = self.sys.clock.now()?;
        for attempt in 0..self.settings.tries {
            if attempt > 0 {
                self.rest(attempt - 1);
            }
            let asked = self.sys.clock.now()?;
            if matches!(trouble, Some(Err(_))) && asked.since(&began).forward() >= self.settings.patience {
                break;
            }
            let found = match self.register.read() {
                Ok(found) => found,
                Err(error) => {
                    trouble = Some(Err(error.0));
                    continue;
                }
            };
            let version = found.as_ref().map(|found| found.version.clone());
            if let Some(found) = &found {
                // One that began anew is another register, and goes on from nothing that was seen.
                self.must_be_configured(&Head::decode(&found.value, &self.register.place())?)?;
            }
            match self.relation(found.as_ref(), seen)? {
                Relation::Apart(what) => trouble = Some(Ok((version, what))),
                Relation::GoesOn => {
                    let Some(found) = found else { continue };
                    let head = self.lawful(&found)?;
                    let basis = Basis { head, version: found.version, asked, fresh: true };
                    return Ok((basis, found.value));
                }
            }
        }
        match trouble {
            Some(Ok((version, what))) => match self.register.confirms(version.as_ref()) {
                Ok(true) if seen.is_none() => Err(Trouble::Missing.because(format!(
                    "there is no register at {}: it is made with jit engine init, and by nothing else",
                    self.register.name()
                ))),
                Ok(true) => Err(self.forked(what)),
                Ok(false) => Err(self.unavailable("it shows an old state")),
                Err(error) => Err(self.unavailable(&error.0)),
            },
            Some(Err(why)) => Err(self.unavailable(&why)),
            None => Err(self.unavailable("it was not asked")),
        }
    }

    fn relation(&self, found: Option<&Found>, seen: Option<&Mark>) -> Result<Relation> {
        let Some(found) = found else { return Ok(Relation::Apart("it is gone")) };
        let Some(mark) = seen else { return Ok(Relation::GoesOn) };
        if found.version == mark.version {
            return Ok(Relation::GoesOn);
        }
        if !self.register.is_same_place(&mark.version, &found.version) {
            return Ok(Relation::Apart("another server answers in its place"));
        }
        let head = Head::decode(&found.value, &self.register.place())?;
        let Mark { height, chain, .. } = mark;
        if head.height < *height {
            return Ok(Relation::Apart("it is behind what was seen"));
        }
        if head.height == *height {
            let same = head.chain == *chain;
            return Ok(if same {
                Relation::GoesOn
            } else {
                Relation::Apart("another step took the place of one")
            });
        }
        match self.register.descends(found, mark) {
            Ok(true) => Ok(Relation::GoesOn),
            Ok(false) => Ok(Relation::Apart("a step that was seen is not in it")),
            Err(error) => Err(self.unavailable(&error.0)),
        }
    }

    fn must_be_configured(&self, head: &Head) -> Result<()> {
        if self.settings.counter.is_none_or(|counter| counter == head.counter) {
            return Ok(());
        }
        let name = self.register.name();
        Err(Trouble::Missing.because(format!(
            "{name} has counter {}, which is not the configured one: git pull, if somebody began anew",
            head.counter
        )))
    }

    /// The head, if it is past everything that is known from elsewhere.
    fn lawful(&self, found: &Found) -> Result<Head> {
        let head = Head::decode(&found.value, &self.register.place())?;
        if let Some(floor) = self.settings.floor.filter(|floor| head.next <= *floor) {
            return Err(
                self.forked(&format!("fence {floor} was given out, but the next one is {}", head.next))
            );
        }
        Ok(head)
    }

    /// A session that names an operation which this clone never sent is that of another clone with the same id.
    fn must_be_alone(&self, memory: &mut Memory, head: &Head) -> Result<()> {
        let session = head.sessions.get(&memory.identity.clone);
        if session.is_none_or(|session| memory.local.has_sent(session.op)) {
            return Ok(());
        }
        self.local.forget(&self.sys)?;
        (memory.local, memory.unkept) = (local::Memory::default(), false);
        memory.identity = self.local.rename(&self.sys)?;
        Err(Trouble::Copied.because(
            "this clone was copied: another one with the same id goes on with its claims. It has a new id now; \
             claim again what it works on",
        ))
    }

    /// Remembers a head that was read: how far the history is, what this clone did last, what is watched since when.
    fn notice(&self, memory: &mut Memory, basis: &Basis, value: &[u8], ended: &Stamp) -> Result<()> {
        let head = &basis.head;
        let known = memory.watched();
        let watched = watch::noted(head, memory.identity.clone, known, ended);
        let mark = Mark { version: basis.version.clone(), height: head.height, chain: head.chain.clone() };
        let done = head.sessions.get(&memory.identity.clone).map(|session| session.op);
        let last_op = done.or_else(|| memory.local.last_op());
        let before = memory.local.seen.as_ref();
        let same = before.is_some_and(|seen| seen.mark() == mark && seen.last_op == last_op);
        let mut seen = Seen::of(&mark, value, &basis.asked)?;
        seen.last_op = last_op;
        seen.watched = match &watched {
            Some(watched) => watched.clone(),
            None => known.to_vec(),
        };
        if same && watched.is_none() {
            memory.local.seen = Some(seen);
            return Ok(());
        }
        memory.unkept |= !same;
        self.show(memory, seen)
    }
}

//! Making a register, leaving one for another, and beginning anew where one was set back. Each step can be asked for
//! again, whoever was cut off in between.

use holdfast_kernel::{Fence, Lease};
use holdfast_store::{CounterId, Result, Trouble, View};

use super::Shared;
use crate::head::{Head, Note, OpId, State, Step};
use crate::local::Intent;
use crate::register::{Next, Swap, Version};

/// What ended when a register began anew.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// The counter before; none if there was no register.
    pub counter: Option<CounterId>,
    /// The number that the next event has.
    pub next: Fence,
    /// The leases that were in it.
    pub leases: Vec<Lease>,
}

impl Shared {
    /// Makes the register, with `next` as the first number; says whether it was this call that made it. An answer that
    /// never came is resolved by reading, and the same call again is harmless.
    ///
    /// # Errors
    /// When there is another one, or it cannot be made.
    pub fn make(&self, counter: CounterId, next: Fence) -> Result<bool> {
        self.make_from(&Head::first(counter, next))
    }

    /// As [`Shared::make`], with the leases of another register that is sealed.
    ///
    /// # Errors
    /// As [`Shared::make`]; also when it was there and left before.
    pub fn make_from(&self, head: &Head) -> Result<bool> {
        let first = head.carried();
        self.exclusively(|| {
            let identity = self.local.named(&self.sys)?;
            let author = self.author(identity.clone, OpId(self.sys.entropy.nonce()?))?;
            let step = first.then(&author, &[], &[Note::Made], Vec::new())?;
            let (mut refused, mut memory) = (None, self.memory()?);
            for attempt in 0..self.settings.tries {
                if let Some(found) = self.register.read().map_err(|error| self.unavailable(&error.0))? {
                    let head = Head::decode(&found.value, &self.register.place())?;
                    self.must_be(&head, &first)?;
                    return Ok(head.sessions.get(&identity.clone).is_some_and(|made| made.op == author.op));
                }
                // Without it, what this clone finds in the register would be somebody else's who has its id.
                let intent = Intent::new(author.op, &Version(String::new()), "a register".into(), Vec::new());
                self.intend(&mut memory, intent)?;
                if let Swap::Lost(Some(words)) = self.register.swap(None, &sent(&step)) {
                    refused = Some(words);
                }
                self.rest(attempt);
            }
            Err(match refused {
                Some(words) => self.refused(&words),
                None => self.unresolved("making the register"),
            })
        })
    }

    /// Whether a register that was found is the one that was to be made.
    fn must_be(&self, found: &Head, first: &Head) -> Result<()> {
        let name = self.register.name();
        if found.counter != first.counter {
            return Err(Trouble::Missing.because(format!("{name} has another register already")));
        }
        match &found.state {
            State::Open if found.next >= first.next => Ok(()),
            State::Open => Err(self.forked("fences were given out that it does not know")),
            State::Sealed | State::Moved(_) => {
                Err(Trouble::Moved.because(format!("{name} was left before: choose another place")))
            }
        }
    }

    /// Has the register change nothing more, if `allows` does not object to the leases as they are then; gives the head
    /// as it stays.
    ///
    /// # Errors
    /// What `allows` objects, or what failed.
    pub fn seal(&self, allows: &dyn Fn(&View) -> Result<()>) -> Result<Head> {
        self.refresh()?;
        if self.known(false)?.head.state == State::Open {
            self.note(&[Note::Sealed], allows)?;
        }
        let known = self.known(false)?;
        match known.head.state {
            State::Open => Err(self.odd(&"it was sealed and is open")),
            State::Sealed | State::Moved(_) => Ok(known.head),
        }
    }

    /// Says where the leases of a sealed register are kept.
    ///
    /// # Errors
    /// When they have moved elsewhere, or what failed.
    pub fn leave(&self, to: &str) -> Result<()> {
        match self.known(true)?.head.state {
            State::Moved(there) if there == to => Ok(()),
            State::Moved(there) => {
                let name = self.register.name();
                Err(Trouble::Moved.because(format!("the claims have moved from {name} to {there} already")))
            }
            State::Open | State::Sealed => self.note(&[Note::Moved { to: to.to_owned() }], &|_| Ok(())),
        }
    }

    /// Ends all leases and goes on under another counter, whatever this clone has seen before: for a register that was
    /// set back, restored or lost. Fences of the counter before no longer compare with those that come.
    ///
    /// # Errors
    /// When it cannot be read or changed.
    pub fn begin_anew(&self, counter: CounterId, reason: &str) -> Result<Ended> {
        self.exclusively(|| {
            let identity = self.local.named(&self.sys)?;
            let author = self.author(identity.clone, OpId(self.sys.entropy.nonce()?))?;
            let mut ended = Ended { counter: None, next: Fence::FIRST, leases: Vec::new() };
            let (mut refused, mut memory) = (None, self.memory()?);
            for attempt in 0..self.settings.tries {
                let found = self.register.read().map_err(|error| self.unavailable(&error.0))?;
                let head = found.as_ref().map(|found| Head::decode(&found.value, &self.register.place()));
                let head = head.transpose()?;
                if head.as_ref().is_some_and(|head| head.counter == counter) {
                    return Ok(ended);
                }
                let step = match &head {
                    Some(head) => {
                        ended.counter = Some(head.counter);
                        ended.leases = head.entries.values().map(|entry| entry.lease.clone()).collect();
                        head.recovered(&author, counter, reason)?
                    }
                    None => {
                        Head::first(counter, Fence::FIRST).then(&author, &[], &[Note::Made], Vec::new())?
                    }
                };
                ended.next = step.head.next;
                let expected = found.map(|found| found.version);
                let replaced = expected.clone().unwrap_or_else(|| Version(String::new()));
                let intent = Intent::new(author.op, &replaced, "a new beginning".into(), Vec::new());
                self.intend(&mut memory, intent)?;
                if let Swap::Lost(Some(words)) = self.register.swap(expected.as_ref(), &sent(&step)) {
                    refused = Some(words);
                }
                self.rest(attempt);
            }
            Err(match refused {
                Some(words) => self.refused(&words),
                None => self.unresolved("beginning anew"),
            })
        })
    }
}

/// A step as a register takes it.
fn sent(step: &Step) -> Next<'_> {
    Next {
        height: step.head.height,
        chain: &step.head.chain,
        head: &step.value,
        step: &step.bytes,
        title: &step.title,
    }
}

//! One operation: decide, write down what is about to be sent, swap, and find out what came of it.

use holdfast_kernel::{Answer, Event, Stamp};
use holdfast_store::{Error, Result, Trouble, View};

use super::read::{Basis, Memory};
use super::{Shared, grants};
use crate::head::{Head, Note, OpId, State, Step};
use crate::local::{Intent, Seen};
use crate::register::{Along, Mark, Next, Swap, Version};

/// What an operation comes to on a head.
pub(super) struct Decided {
    pub(super) events: Vec<Event>,
    pub(super) notes: Vec<Note>,
    pub(super) answers: Vec<Result<Answer>>,
    /// Whether somebody is told no, which may rest only on a head that was read for it.
    pub(super) needs_fresh: bool,
}

/// Says what an operation comes to.
pub(super) type Decide<'a> = dyn FnMut(&View, &Head) -> Result<Decided> + 'a;

/// As many operations as are remembered of which nobody heard.
const MOST_UNHEARD: usize = 64;

/// One operation on its way.
struct Operation<'a> {
    shared: &'a Shared,
    what: &'a str,
    op: OpId,
    memory: Memory,
    /// The value for which a swap was sent and not heard of.
    unheard: Option<Version>,
    /// How often the register answered without the head moving.
    stuck: u32,
    /// The refs that move with it.
    along: &'a [Along],
    /// How often it was sent.
    sent: u32,
}

impl Shared {
    /// Does what `decide` says, once, whatever the register answers.
    pub(super) fn operate(&self, what: &str, decide: &mut Decide<'_>) -> Result<Vec<Result<Answer>>> {
        self.operate_along(what, &[], decide)
    }

    /// As [`Shared::operate`], and moves these refs in the same step. Where one of them is not where it was, nothing is
    /// done, and the error is [`Trouble::Behind`].
    pub(super) fn operate_along(
        &self,
        what: &str,
        along: &[Along],
        decide: &mut Decide<'_>,
    ) -> Result<Vec<Result<Answer>>> {
        self.exclusively(|| {
            let memory = self.memory()?;
            let op = OpId(self.sys.entropy.nonce()?);
            Operation { shared: self, what, op, memory, unheard: None, stuck: 0, along, sent: 0 }.run(decide)
        })
    }
}

impl Operation<'_> {
    fn run(mut self, decide: &mut Decide<'_>) -> Result<Vec<Result<Answer>>> {
        let answered = self.answer(decide);
        let settled = self.shared.settle(&mut self.memory);
        match answered {
            // Whatever was sent rests on what was kept before, and is found by it.
            Ok(answers) if self.sent > 0 => Ok(answers),
            answered => settled.and(answered),
        }
    }

    fn answer(&mut self, decide: &mut Decide<'_>) -> Result<Vec<Result<Answer>>> {
        let mut basis = match self.shared.remembered(&self.memory)? {
            Some(basis) => basis,
            None => self.shared.read(&mut self.memory)?,
        };
        loop {
            let view = self.judged(&basis)?;
            let decided = decide(&view, &basis.head)?;
            let changes = !decided.events.is_empty() || !decided.notes.is_empty();
            if !basis.fresh && (decided.needs_fresh || !changes) {
                basis = self.shared.read(&mut self.memory)?;
                continue;
            }
            if !changes {
                // What was sent may still arrive: a no would be a guess.
                return match self.unheard == Some(basis.version) {
                    true => Err(self.shared.unresolved(self.what)),
                    false => Ok(decided.answers),
                };
            }
            if let Some(refusal) = self.objection(&basis, &decided) {
                if !basis.fresh {
                    basis = self.shared.read(&mut self.memory)?;
                    continue;
                }
                return Err(refusal);
            }
            match self.send(&basis, &view.now, decided)? {
                Sent::Done(answers) => return Ok(answers),
                Sent::Again(next) => basis = *next,
            }
        }
    }

    fn judged(&self, basis: &Basis) -> Result<View> {
        self.shared.view_of(basis, self.memory.identity.clone, self.memory.watched())
    }

    /// Why the register may not be changed in this way, whatever the kernel says.
    fn objection(&self, basis: &Basis, decided: &Decided) -> Option<Error> {
        // Whatever was changed after the leases were taken along would be lost.
        let moves = |note: &Note| matches!(note, Note::Sealed | Note::Moved { .. });
        let only_moves = decided.events.is_empty() && decided.notes.iter().all(moves);
        match &basis.head.state {
            State::Sealed if !only_moves => {
                let name = self.shared.register.name();
                return Some(Trouble::Moved.because(format!(
                    "the claims are about to leave {name}, and nothing is changed there meanwhile"
                )));
            }
            State::Moved(to) if !only_moves => return Some(self.shared.moved(to)),
            State::Open | State::Sealed | State::Moved(_) => {}
        }
        if grants(&decided.events) { self.shared.behind(&basis.head) } else { None }
    }

    /// Sends one step and finds out what came of it.
    fn send(&mut self, basis: &Basis, now: &Stamp, decided: Decided) -> Result<Sent> {
        let shared = self.shared;
        let author =
            crate::head::Author { clone: self.memory.identity.clone, op: self.op, at_ms: now.wall_ms() };
        let kept = decided.answers.iter().enumerate();
        let kept = kept.filter_map(|(at, answer)| answer.as_ref().ok().map(|answer| (at, answer.clone())));
        let notes = [decided.notes.as_slice(), &self.cut(&basis.head)].concat();
        let step = basis.head.then(&author, &decided.events, &notes, kept.collect())?;
        self.intend(basis)?;
        let asked = shared.sys.clock.now()?;
        let next = Next {
            height: step.head.height,
            chain: &step.head.chain,
            head: &step.value,
            step: &step.bytes,
            title: &step.title,
        };
        if self.sent == 1 {
            // What others do in between must not make all of it travel again.
            shared.register.stage(self.along);
        }
        self.sent += 1;
        match shared.register.swap_along(Some(&basis.version), &next, self.along) {
            Swap::Swapped(version) if self.is_there(&version) => {
                self.remember(version, &step, &asked);
                Ok(Sent::Done(decided.answers))
            }
            Swap::Swapped(_) => self.look_at(basis, decided, Answered::Yes),
            Swap::Lost(words) => self.look_at(basis, decided, Answered::No(words)),
            Swap::Unknown(_) => {
                self.unheard = Some(basis.version.clone());
                self.look_at(basis, decided, Answered::Nothing)
            }
        }
    }

    /// Whether a confirmed step needs no further look: it is where it was put, or this register never forgets.
    fn is_there(&self, version: &Version) -> bool {
        let register = &self.shared.register;
        !register.must_be_checked() || register.is_at(version).unwrap_or(false)
    }

    /// Where the refs are that were to move with a step.
    fn there(&self) -> Result<Vec<Option<String>>> {
        let names: Vec<&str> = self.along.iter().map(|along| along.name.as_str()).collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        self.shared.register.refs(&names).map_err(|_| self.shared.unresolved(self.what))
    }

    /// Whether a ref that was to move with a step that is done has not moved.
    fn is_left(&self) -> Result<bool> {
        let left = |(along, at): (&Along, &Option<String>)| {
            along.expected == *at && at.as_deref() != Some(along.to.as_str())
        };
        Ok(self.along.iter().zip(&self.there()?).any(left))
    }

    /// What became of the refs that were to move with a step that was not done.
    fn look_along(&mut self) -> Result<()> {
        let there = self.there()?;
        let moved = |(along, at): &(&Along, &Option<String>)| along.expected != **at;
        let mut moved = self.along.iter().zip(&there).filter(moved);
        match moved.next() {
            None => Ok(()),
            // Servers are known that move one of two refs and die: the step is made up for.
            Some((along, at)) if at.as_ref() == Some(&along.to) && moved.next().is_none() => {
                self.along = &[];
                Ok(())
            }
            Some((along, _)) => {
                Err(Trouble::Behind.because(format!("{} was moved by somebody else", along.name)))
            }
        }
    }

    /// The note that ends a history which has become too long.
    fn cut(&self, head: &Head) -> Vec<Note> {
        let is_long = self.shared.register.wants_cut(head.height, head.cut);
        let cut = || Note::Cut { height: head.height, chain: head.chain.clone() };
        is_long.then(cut).into_iter().collect()
    }

    /// Makes it durable that this operation is about to be sent. Whatever was sent for the same value before and not
    /// heard of is kept with it: of all of them at most one takes effect.
    fn intend(&mut self, basis: &Basis) -> Result<()> {
        let last = self.memory.local.kept.intent.as_ref();
        if last.is_some_and(|intent| intent.op == self.op && intent.expected == basis.version.0) {
            return Ok(());
        }
        let mut earlier: Vec<OpId> = self.memory.local.open_intent().map_or_else(Vec::new, |open| {
            open.earlier.iter().copied().chain([open.op]).filter(|op| *op != self.op).collect()
        });
        earlier.drain(..earlier.len().saturating_sub(MOST_UNHEARD));
        let intent = Intent::new(self.op, &basis.version, self.what.to_owned(), earlier);
        self.shared.intend(&mut self.memory, intent)
    }

    /// Reads the head after a swap: the session says whether it was done, whatever the register answered.
    fn look_at(&mut self, before: &Basis, decided: Decided, answered: Answered) -> Result<Sent> {
        let shared = self.shared;
        let basis = match shared.read(&mut self.memory) {
            Ok(basis) => basis,
            // It cannot be asked, so nobody knows. A register that answered no has done nothing, as far as it goes;
            // but a request that was doubled is answered no too.
            Err(Error::Shared { trouble: Trouble::Unavailable, .. } | Error::Sys(_)) => {
                return Err(shared.unresolved(self.what));
            }
            Err(error) => return Err(error),
        };
        let session = basis.head.sessions.get(&self.memory.identity.clone);
        let session = session.filter(|session| session.op == self.op);
        if session.is_some() && self.is_left()? {
            // Servers are known that move one of two refs and die: the other one moves with a step of its own, if that is
            // still allowed.
            self.op = OpId(shared.sys.entropy.nonce()?);
            return Ok(Sent::Again(Box::new(basis)));
        }
        if let Some(session) = session {
            return Ok(Sent::Done(merged(&session.answers, decided.answers, || {
                shared.unresolved(self.what)
            })));
        }
        if basis.version != before.version {
            // The value that it was to replace is gone, so it never will be done.
            if answered == Answered::Yes {
                return Err(shared.forked("it confirmed a step that is not in it"));
            }
            (self.unheard, self.stuck) = (None, 0);
            return Ok(Sent::Again(Box::new(basis)));
        }
        self.stuck += 1;
        self.look_along()?;
        match answered {
            Answered::Yes => return Err(shared.forked("it confirmed a step and forgot it")),
            Answered::No(words) if self.stuck >= shared.settings.tries => {
                if self.unheard.is_some() {
                    return Err(shared.unresolved(self.what));
                }
                let why = words.as_deref().unwrap_or("it gives no reason");
                return Err(if self.along.is_empty() {
                    shared.refused(why)
                } else {
                    Trouble::Refused.because(why)
                });
            }
            Answered::Nothing if self.stuck >= shared.settings.tries => {
                return Err(shared.unresolved(self.what));
            }
            Answered::No(_) | Answered::Nothing => {}
        }
        shared.rest(self.stuck);
        Ok(Sent::Again(Box::new(basis)))
    }

    /// Remembers a step that is done. Should that fail, or the power go before a disk has it, the next operation finds it in
    /// the session by what was kept before it was sent.
    fn remember(&mut self, version: Version, step: &Step, asked: &Stamp) {
        let mark = Mark { version, height: step.head.height, chain: step.head.chain.clone() };
        if let Ok(mut seen) = Seen::of(&mark, &step.value, asked) {
            seen.last_op = Some(self.op);
            seen.watched = self.memory.watched().to_vec();
            let _ = self.shared.show(&mut self.memory, seen);
        }
    }
}

/// What the register said of a swap.
#[derive(PartialEq, Eq)]
enum Answered {
    Yes,
    No(Option<String>),
    Nothing,
}

enum Sent {
    Done(Vec<Result<Answer>>),
    Again(Box<Basis>),
}

/// The answers that the session kept, and beside them what was refused.
fn merged(
    kept: &[(usize, Answer)],
    decided: Vec<Result<Answer>>,
    unresolved: impl Fn() -> Error,
) -> Vec<Result<Answer>> {
    let longest = kept.iter().map(|(at, _)| at + 1).max().unwrap_or(0).max(decided.len());
    let mut decided = decided.into_iter();
    (0..longest)
        .map(|place| {
            let latest = decided.next();
            match (kept.iter().find(|(at, _)| *at == place), latest) {
                (Some((_, answer)), _) => Ok(answer.clone()),
                (None, Some(Err(error))) => Err(error),
                (None, Some(Ok(_)) | None) => Err(unresolved()),
            }
        })
        .collect()
}

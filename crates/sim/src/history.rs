//! What every caller asked, what it was told, and when by true time. A history only remembers; it never
//! judges, and it never touches the run that it describes.

use holdfast_kernel::{Answer, Claim, Command, Holder, Lease, LeaseId, Refusal, Resource, Stamp, Transfer};
use holdfast_store::View;

/// A place in the one order of everything that happened in a run, and the true time there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Moment {
    /// Larger than that of everything before it.
    pub order: u64,
    /// Milliseconds of true time since the run began.
    pub true_ms: u64,
}

/// One incarnation of a process: the same holder after a reboot is another actor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Actor {
    /// Its name in traces.
    pub name: String,
    /// On which host it runs.
    pub host: usize,
    /// Who it acts for.
    pub holder: Holder,
    /// Whether it ran alone in a world without faults, so that nothing may fail.
    pub calm: bool,
}

/// Which actor of a history.
pub type ActorId = usize;

/// Which call of a history.
pub type CallId = usize;

/// What a caller asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// A transaction.
    Command(Command),
    /// A guarded write.
    Write(Claim),
    /// To look.
    View,
}

/// What a caller was told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Told {
    /// Nothing: it died first, so the outcome is unknown.
    Nothing,
    /// Yes.
    Answer(Answer),
    /// Its guarded write is done.
    Wrote,
    /// What is there.
    View(View),
    /// No; nothing has changed.
    Refused(Refusal),
    /// The machine failed, so the outcome is unknown.
    Failed(String),
    /// The medium's files cannot be understood; nothing has changed.
    Unusable(String),
}

/// One call on a medium.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Who called.
    pub by: ActorId,
    /// What for.
    pub asked: Asked,
    /// When it began.
    pub start: Moment,
    /// When it returned, if it did.
    pub end: Option<Moment>,
    /// What came back.
    pub told: Told,
    /// What the medium read from its clock during the call, and when. Whatever it decided, it decided at
    /// one of these.
    pub readings: Vec<(Moment, Stamp)>,
    /// When the guarded action began and, if it got that far, ended. Nothing else may happen to the
    /// lease in between.
    pub acted: Option<(Moment, Option<Moment>)>,
    /// What the clock of each host showed when the call returned.
    pub clocks: Vec<Stamp>,
}

impl Call {
    /// Whether it returned before that moment.
    #[must_use]
    pub fn ended_before(&self, moment: Moment) -> bool {
        self.end.is_some_and(|end| end < moment)
    }

    /// Whether nobody can say if it took effect.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.told, Told::Nothing | Told::Failed(_))
    }

    /// Whether the caller was told that nothing has changed.
    #[must_use]
    pub const fn was_denied(&self) -> bool {
        matches!(self.told, Told::Refused(_) | Told::Unusable(_))
    }

    /// The id of the lease that this call makes if it succeeds.
    #[must_use]
    pub const fn makes(&self) -> Option<LeaseId> {
        match &self.asked {
            Asked::Command(Command::Acquire(wanted)) => Some(wanted.id),
            Asked::Command(Command::Transfer(wanted)) => Some(wanted.id),
            _ => None,
        }
    }

    /// The lease that this call ends by name if it succeeds.
    #[must_use]
    pub const fn ends(&self) -> Option<LeaseId> {
        match &self.asked {
            Asked::Command(
                Command::Release { lease, .. }
                | Command::Evict { lease, .. }
                | Command::Transfer(Transfer { lease, .. }),
            ) => Some(*lease),
            _ => None,
        }
    }

    /// The lease that this call granted, if its caller was told so.
    #[must_use]
    pub const fn granted(&self) -> Option<&Lease> {
        match &self.told {
            Told::Answer(Answer::Granted(lease) | Answer::Transferred(lease)) => Some(lease),
            _ => None,
        }
    }

    /// The leases that the answer speaks of: those in the table, and those that the call ended.
    pub fn mentions(&self) -> impl Iterator<Item = &Lease> {
        let ended = match &self.told {
            Told::Answer(answer) => ended_by_answer(answer),
            _ => &[],
        };
        self.shows().chain(ended)
    }

    /// The leases that the answer shows to be in the table at some moment of the call. A lease that the
    /// call itself ended is not among them.
    pub fn shows(&self) -> Box<dyn Iterator<Item = &Lease> + '_> {
        match &self.told {
            Told::Answer(answer) => Box::new(shown_by_answer(answer).into_iter()),
            Told::View(view) => Box::new(view.table.iter()),
            Told::Refused(refusal) => shown_by_refusal(refusal),
            Told::Nothing | Told::Wrote | Told::Failed(_) | Told::Unusable(_) => Box::new(std::iter::empty()),
        }
    }
}

fn ended_by_answer(answer: &Answer) -> &[Lease] {
    match answer {
        Answer::Released(lease) | Answer::Evicted(lease) => std::slice::from_ref(lease),
        Answer::Swept(leases) => leases,
        _ => &[],
    }
}

fn shown_by_answer(answer: &Answer) -> Option<&Lease> {
    match answer {
        Answer::Granted(lease)
        | Answer::AlreadyHeld(lease)
        | Answer::Renewed(lease)
        | Answer::Beaten(lease)
        | Answer::Transferred(lease)
        | Answer::Valid(lease) => Some(lease),
        Answer::Released(_) | Answer::Evicted(_) | Answer::Swept(_) => None,
    }
}

fn shown_by_refusal(refusal: &Refusal) -> Box<dyn Iterator<Item = &Lease> + '_> {
    match refusal {
        Refusal::Held { blocker: lease, .. }
        | Refusal::ClockSkew { blocker: lease, .. }
        | Refusal::AlreadyHeld { lease }
        | Refusal::HeldShared { lease }
        | Refusal::NotHolder { lease }
        | Refusal::Expired { lease, .. }
        | Refusal::Stale { lease, .. }
        | Refusal::NotIndefinite { lease }
        | Refusal::NotFinite { lease }
        | Refusal::CounterBehind { lease, .. }
        | Refusal::SameHolder { lease } => Box::new(std::iter::once(&**lease)),
        Refusal::FencedOut { current, .. } => Box::new(current.iter()),
        Refusal::NotFound { .. }
        | Refusal::TtlOutOfRange { .. }
        | Refusal::DeadlineTooFar { .. }
        | Refusal::IndefiniteForbidden
        | Refusal::ReasonRequired
        | Refusal::LimitReached { .. }
        | Refusal::DuplicateId { .. }
        | Refusal::FencesExhausted => Box::new(std::iter::empty()),
    }
}

/// What a medium says of itself once everybody is gone: what it shows, and what its records replay to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// What it shows.
    pub shown: View,
    /// What its records say.
    pub replayed: View,
}

/// Everything that happened to a medium in one run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct History {
    actors: Vec<Actor>,
    ends: Vec<Option<Moment>>,
    calls: Vec<Call>,
    replays: Vec<Replayed>,
    power_losses: Vec<Moment>,
    troubles: Vec<String>,
    far_away: bool,
    last: u64,
}

impl History {
    /// Adds an actor.
    pub fn enter(&mut self, actor: Actor) -> ActorId {
        self.actors.push(actor);
        self.ends.push(None);
        self.actors.len() - 1
    }

    /// Notes that an actor is no more, and that nobody acts on what it was told.
    pub fn leave(&mut self, actor: ActorId, true_ms: u64) {
        let moment = self.moment(true_ms);
        if let Some(end) = self.ends.get_mut(actor) {
            *end = Some(moment);
        }
    }

    /// Notes that a call begins.
    pub fn begin(&mut self, by: ActorId, asked: Asked, true_ms: u64) -> CallId {
        let start = self.moment(true_ms);
        self.calls.push(Call {
            by,
            asked,
            start,
            end: None,
            told: Told::Nothing,
            readings: Vec::new(),
            acted: None,
            clocks: Vec::new(),
        });
        self.calls.len() - 1
    }

    /// Notes that a call returned, and what the clocks showed then.
    pub fn end(&mut self, call: CallId, told: Told, clocks: Vec<Stamp>, true_ms: u64) {
        let end = self.moment(true_ms);
        if let Some(call) = self.calls.get_mut(call) {
            (call.end, call.told, call.clocks) = (Some(end), told, clocks);
        }
    }

    /// Notes what the medium read from its clock during a call.
    pub fn read(&mut self, call: CallId, stamp: Stamp, true_ms: u64) {
        let moment = self.moment(true_ms);
        if let Some(call) = self.calls.get_mut(call) {
            call.readings.push((moment, stamp));
        }
    }

    /// Notes that the guarded action of a call begins, or that it is done.
    pub fn act(&mut self, call: CallId, true_ms: u64) {
        let moment = self.moment(true_ms);
        if let Some(call) = self.calls.get_mut(call) {
            call.acted = Some(match call.acted {
                None => (moment, None),
                Some((began, _)) => (began, Some(moment)),
            });
        }
    }

    /// Notes that the power went: whatever nobody was promised may be gone.
    pub fn power_lost(&mut self, true_ms: u64) {
        let moment = self.moment(true_ms);
        self.power_losses.push(moment);
    }

    /// Notes something that must never happen whatever is asked: a panic, a deadlock, a livelock.
    pub fn trouble(&mut self, what: String) {
        self.troubles.push(what);
    }

    /// Notes that the medium is kept elsewhere, so that what was sent may arrive after its sender has died.
    pub const fn is_of_something_far_away(&mut self) {
        self.far_away = true;
    }

    /// Whether what was sent may arrive after its sender has died.
    #[must_use]
    pub const fn may_arrive_late(&self) -> bool {
        self.far_away
    }

    /// Notes what a medium's records replay to.
    pub fn replay(&mut self, replayed: Replayed) {
        self.replays.push(replayed);
    }

    fn moment(&mut self, true_ms: u64) -> Moment {
        self.last += 1;
        Moment { order: self.last, true_ms }
    }

    /// The actor with this id.
    #[must_use]
    pub fn actor(&self, id: ActorId) -> Option<&Actor> {
        self.actors.get(id)
    }

    /// When an actor was no more, if it went before the power did.
    #[must_use]
    pub fn actor_end(&self, id: ActorId) -> Option<Moment> {
        self.ends.get(id).copied().flatten()
    }

    /// All calls in the order in which they began.
    #[must_use]
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// When the power went.
    #[must_use]
    pub fn power_losses(&self) -> &[Moment] {
        &self.power_losses
    }

    /// What must never happen, and did.
    #[must_use]
    pub fn troubles(&self) -> &[String] {
        &self.troubles
    }

    /// What was replayed.
    #[must_use]
    pub fn replays(&self) -> &[Replayed] {
        &self.replays
    }

    /// A call in one line, for people.
    #[must_use]
    pub fn describe(&self, call: &Call) -> String {
        let who = self.actor(call.by).map_or("?", |actor| actor.name.as_str());
        let end = call.end.map_or_else(|| "never".to_owned(), |end| format!("{} ms", end.true_ms));
        let (asked, told) = (crate::words::asked(&call.asked), crate::words::told(&call.told));
        format!("{} ms – {end}  {who}: {asked} → {told}", call.start.true_ms)
    }

    /// The resource of every lease that was ever asked for.
    #[must_use]
    pub fn resource_of(&self, lease: LeaseId) -> Option<&Resource> {
        let made = self.calls.iter().find(|call| call.makes() == Some(lease))?;
        match &made.asked {
            Asked::Command(Command::Acquire(wanted)) => Some(&wanted.resource),
            Asked::Command(Command::Transfer(wanted)) => self.resource_of(wanted.lease),
            _ => None,
        }
    }
}

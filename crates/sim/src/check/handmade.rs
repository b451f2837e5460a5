//! Histories written by hand: what a medium would have to have done for a checker to speak up. Every host
//! has the true time on its clock.

use holdfast_kernel::{
    Acquire, Answer, Boot, BootId, Claim, Command, Fence, Holder, KindRule, Lease, LeaseId, Limits, Millis,
    Mode, Name, Policy, Request, Stamp, Tags, Term, Text, TtlRange,
};

use crate::history::{Actor, ActorId, Asked, CallId, History, Told};

pub(crate) const SECOND: u64 = 1_000;

pub(crate) struct Book {
    history: History,
    now: u64,
}

pub(crate) fn stamp(ms: u64) -> Stamp {
    let boot = Boot { id: BootId::new(1), ms };
    Stamp::new(1_700_000_000_000 + i64::try_from(ms).unwrap(), Some(boot)).unwrap()
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn policy() -> Policy {
    let ttl = TtlRange { min: Millis::new(1), max: Millis::from_secs(100) };
    Policy {
        again: holdfast_kernel::Again::Return,
        rule: KindRule { ttl, indefinite: true },
        kinds: std::collections::BTreeMap::new(),
        skew: Millis::new(200),
        grace: Millis::new(100),
        stale_after: Millis::from_secs(10),
        limits: Limits::NONE,
    }
}

impl Book {
    pub(crate) fn new() -> Self {
        Self { history: History::default(), now: 0 }
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    pub(crate) fn history_mut(&mut self) -> &mut History {
        &mut self.history
    }

    pub(crate) fn at(&mut self, ms: u64) {
        self.now = ms;
    }

    pub(crate) fn actor(&mut self, text: &str) -> ActorId {
        let holder = Holder { agent: name(text), place: name("here") };
        self.history.enter(Actor { name: text.to_owned(), host: 0, holder, calm: false })
    }

    fn holder(&self, actor: ActorId) -> Holder {
        self.history.actor(actor).unwrap().holder.clone()
    }

    pub(crate) fn die(&mut self, actor: ActorId) {
        self.history.leave(actor, self.now);
    }

    pub(crate) fn begin(&mut self, by: ActorId, asked: Asked) -> CallId {
        let call = self.history.begin(by, asked, self.now);
        self.history.read(call, stamp(self.now), self.now);
        call
    }

    pub(crate) fn end(&mut self, call: CallId, told: Told) {
        self.history.end(call, told, vec![stamp(self.now)], self.now);
    }

    pub(crate) fn call(&mut self, by: ActorId, asked: Asked, told: Told) -> CallId {
        let call = self.begin(by, asked);
        self.end(call, told);
        call
    }

    /// What `actor` asks for to get the lease `id` on the one resource of these histories.
    pub(crate) fn acquire(&self, actor: ActorId, id: u128, mode: Mode, ttl: u64) -> Asked {
        Asked::Command(Command::Acquire(Acquire {
            id: LeaseId::new(id),
            resource: name("r").into(),
            holder: self.holder(actor),
            mode,
            request: Request::Finite(Millis::new(ttl)),
            reason: None,
            tags: Tags::none(),
            dead: Vec::new(),
        }))
    }

    /// The lease that such a request leads to if it is granted here and now.
    pub(crate) fn lease(&self, actor: ActorId, id: u128, fence: u64, mode: Mode, ttl: u64) -> Lease {
        Lease {
            id: LeaseId::new(id),
            resource: name("r").into(),
            holder: self.holder(actor),
            mode,
            fence: Fence::new(fence).unwrap(),
            granted: stamp(self.now),
            term: Term::Finite { ttl: Millis::new(ttl), from: stamp(self.now) },
            skew: policy().skew,
            grace: policy().grace,
            reason: None,
            tags: Tags::none(),
        }
    }

    pub(crate) fn grant(&mut self, by: ActorId, id: u128, fence: u64, ttl: u64) -> Lease {
        let lease = self.lease(by, id, fence, Mode::Exclusive, ttl);
        let asked = self.acquire(by, id, Mode::Exclusive, ttl);
        self.call(by, asked, Told::Answer(Answer::Granted(lease.clone())));
        lease
    }

    pub(crate) fn grant_shared(&mut self, by: ActorId, id: u128, fence: u64) -> Lease {
        let lease = self.lease(by, id, fence, Mode::Shared, 10 * SECOND);
        let asked = self.acquire(by, id, Mode::Shared, 10 * SECOND);
        self.call(by, asked, Told::Answer(Answer::Granted(lease.clone())));
        lease
    }

    pub(crate) fn renew(&mut self, by: ActorId, lease: &Lease) -> Lease {
        let mut renewed = lease.clone();
        if let Term::Finite { from, .. } = &mut renewed.term {
            *from = stamp(self.now);
        }
        let asked = Command::Renew { lease: lease.id, holder: lease.holder.clone(), ttl: None };
        self.call(by, Asked::Command(asked), Told::Answer(Answer::Renewed(renewed.clone())));
        renewed
    }

    pub(crate) fn release(&mut self, by: ActorId, lease: &Lease) {
        let asked = Command::Release { lease: lease.id, holder: lease.holder.clone() };
        self.call(by, Asked::Command(asked), Told::Answer(Answer::Released(lease.clone())));
    }

    pub(crate) fn evict(&mut self, by: ActorId, lease: &Lease) {
        let reason = Text::new("in the way").unwrap();
        let asked = Command::Evict { lease: lease.id, by: self.holder(by), reason };
        self.call(by, Asked::Command(asked), Told::Answer(Answer::Evicted(lease.clone())));
    }

    pub(crate) fn write(&mut self, by: ActorId, lease: &Lease) {
        let (resource, holder) = (lease.resource.clone(), lease.holder.clone());
        let call =
            self.begin(by, Asked::Write(Claim { resource, lease: lease.id, holder, fence: lease.fence }));
        self.history.act(call, self.now);
        self.history.act(call, self.now);
        self.end(call, Told::Wrote);
    }
}

//! The contract of a medium.

use std::fmt;

use holdfast_kernel::{Answer, Claim, Command, Fence, Lease, LeaseId, Policy, Stamp, Table};

use crate::Result;

/// Which counter a fence was drawn from. Fences of two counters cannot be compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CounterId(LeaseId);

impl CounterId {
    /// The counter with this id.
    #[must_use]
    pub const fn new(id: LeaseId) -> Self {
        Self(id)
    }
}

impl fmt::Display for CounterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for CounterId {
    type Err = holdfast_kernel::LeaseIdError;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// What a medium holds at a moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// The leases that no record has ended.
    pub table: Table,
    /// Which counter numbers the grants; none before the first one.
    pub counter: Option<CounterId>,
    /// The number that the next event will have.
    pub next: Fence,
    /// When it was looked at.
    pub now: Stamp,
}

/// Proof that a lease is in force, for as long as it can be borrowed: only a medium makes it, and only
/// inside a section that keeps everybody from taking the lease over.
#[derive(Debug)]
pub struct Held<'a> {
    lease: &'a Lease,
    counter: CounterId,
}

impl<'a> Held<'a> {
    /// Vouches for `lease`. Only a medium does that, inside its section and after the kernel said yes.
    #[must_use]
    pub const fn vouch(lease: &'a Lease, counter: CounterId) -> Self {
        Self { lease, counter }
    }

    /// The lease that is in force.
    #[must_use]
    pub const fn lease(&self) -> &'a Lease {
        self.lease
    }

    /// The counter that its fence was drawn from.
    #[must_use]
    pub const fn counter(&self) -> CounterId {
        self.counter
    }
}

/// What [`Medium::guarded`] gives for as long as the guarded action runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guarding {
    /// Nobody can take the lease over meanwhile: check and act are one step.
    Exclusive,
    /// The lease was in force when the action began, with enough time left for it; whatever the action publishes is
    /// checked against the fence again.
    Fenced,
}

/// A place where leases live.
///
/// Each method is one exclusive section of its own: the state is read inside it, and the clock too.
/// Everything acknowledged survives a crash; a failure leaves either all of an operation or nothing.
pub trait Medium: Send + Sync {
    /// Decides a command, makes its events durable, and answers.
    ///
    /// # Errors
    /// The refusal if it is not allowed; otherwise what failed.
    fn transact(&self, policy: &Policy, command: &Command) -> Result<Answer>;

    /// Runs `act` if the claim is in force, and keeps everybody from taking it over meanwhile: check and
    /// act are one step. `act` must not ask this medium anything: it would wait for itself.
    ///
    /// # Errors
    /// The refusal if the claim is not in force; otherwise what failed. `act` has not run then.
    fn guarded(&self, claim: &Claim, act: &mut dyn FnMut(&Held<'_>)) -> Result<()>;

    /// As [`Medium::guarded`], for an action that needs more than one claim. Here the others are looked at one after the
    /// other before it; a medium that can look at all of them in its section does.
    ///
    /// # Errors
    /// The refusal if one of the claims is not in force; otherwise what failed. `act` has not run then.
    fn guarded_too(&self, claim: &Claim, others: &[Claim], act: &mut dyn FnMut(&Held<'_>)) -> Result<()> {
        for other in others {
            self.guarded(other, &mut |_| {})?;
        }
        self.guarded(claim, act)
    }

    /// What is there. Writes nothing.
    ///
    /// # Errors
    /// When it cannot be read.
    fn view(&self) -> Result<View>;

    /// What `guarded` gives.
    fn guarding(&self) -> Guarding {
        Guarding::Exclusive
    }
}

/// States what a guarded write relies on: what the medium vouches for is what was claimed.
fn check_held(claim: &Claim, held: &Held<'_>) {
    let lease = held.lease();
    assert_eq!(
        (lease.id, lease.fence),
        (claim.lease, claim.fence),
        "the write runs under the grant it showed"
    );
    assert_eq!(lease.resource, claim.resource, "the write is to what is held");
}

impl dyn Medium + '_ {
    /// Runs `act` under the claim and returns what it returned.
    ///
    /// # Errors
    /// As [`Medium::guarded`].
    pub fn write<T>(&self, claim: &Claim, act: impl FnOnce(&Held<'_>) -> T) -> Result<T> {
        self.write_under(claim, &[], act)
    }

    /// As `write`, if these others are in force as well.
    ///
    /// # Errors
    /// As [`Medium::guarded_too`].
    pub fn write_under<T>(
        &self,
        claim: &Claim,
        others: &[Claim],
        act: impl FnOnce(&Held<'_>) -> T,
    ) -> Result<T> {
        let mut act = Some(act);
        let mut result = None;
        self.guarded_too(claim, others, &mut |held| {
            check_held(claim, held);
            result = act.take().map(|act| act(held));
        })?;
        // A medium that answers Ok has run `act` once.
        #[expect(clippy::expect_used, reason = "the contract of `guarded`")]
        let result = result.expect("the medium ran the guarded action");
        Ok(result)
    }
}

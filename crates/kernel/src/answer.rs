//! What a command leads to.

use alloc::vec::Vec;

use crate::{Event, Lease};

/// What the caller is told once the events are durable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The resource was granted.
    Granted(Lease),
    /// The caller holds it already; nothing changed.
    AlreadyHeld(Lease),
    /// The lease was prolonged.
    Renewed(Lease),
    /// The sign of life was noted.
    Beaten(Lease),
    /// The lease was given back; this is what it was.
    Released(Lease),
    /// The lease was handed over; this is the new holder's.
    Transferred(Lease),
    /// The lease was taken away; this is what it was.
    Evicted(Lease),
    /// These leases were over for good.
    Swept(Vec<Lease>),
    /// The guarded write may go ahead, within the same exclusive section.
    Valid(Lease),
}

impl Answer {
    /// The leases that it shows.
    #[must_use]
    pub const fn leases(&self) -> &[Lease] {
        match self {
            Self::Granted(lease)
            | Self::AlreadyHeld(lease)
            | Self::Renewed(lease)
            | Self::Beaten(lease)
            | Self::Released(lease)
            | Self::Transferred(lease)
            | Self::Evicted(lease)
            | Self::Valid(lease) => core::slice::from_ref(lease),
            Self::Swept(leases) => leases.as_slice(),
        }
    }

    /// Which answer it is, without the leases that it shows: those of some doors are secret.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Granted(_) => "granted",
            Self::AlreadyHeld(_) => "already held",
            Self::Renewed(_) => "renewed",
            Self::Beaten(_) => "beaten",
            Self::Released(_) => "released",
            Self::Transferred(_) => "transferred",
            Self::Evicted(_) => "evicted",
            Self::Swept(_) => "swept",
            Self::Valid(_) => "valid",
        }
    }
}

/// What happens if the events become durable, and what to say then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    /// What to make durable, in this order. Every prefix of it is a lawful history of its own, so a
    /// medium may be cut off anywhere in it.
    pub events: Vec<Event>,
    /// What to tell the caller afterwards.
    pub answer: Answer,
}

//! Which refusal it is, without what it carries: what tables about refusals are keyed by.

/// Makes the enum and everything that must name all of it, so that none of them can miss one.
macro_rules! kinds {
    ($($kind:ident = $code:literal,)+) => {
        /// Which refusal it is. `spec/errors.md` has a row for each.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum RefusalKind {
            $(#[doc = concat!("`", $code, "`: [`Refusal::", stringify!($kind), "`](crate::Refusal::", stringify!($kind), ").")]
            $kind,)+
        }

        impl RefusalKind {
            /// All of them, in the order of `spec/errors.md`.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// The code that `spec/errors.md` explains. It never changes.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$kind => $code,)+
                }
            }
        }
    };
}

kinds! {
    Held = "HELD",
    ClockSkew = "CLOCK_SKEW",
    AlreadyHeld = "ALREADY_HELD",
    HeldShared = "HELD_SHARED",
    NotFound = "NOT_FOUND",
    NotHolder = "NOT_HOLDER",
    Expired = "EXPIRED",
    Stale = "STALE",
    FencedOut = "FENCED_OUT",
    NotIndefinite = "NOT_INDEFINITE",
    NotFinite = "NOT_FINITE",
    TtlOutOfRange = "TTL_OUT_OF_RANGE",
    DeadlineTooFar = "DEADLINE_TOO_FAR",
    IndefiniteForbidden = "INDEFINITE_FORBIDDEN",
    ReasonRequired = "REASON_REQUIRED",
    LimitReached = "LIMIT_REACHED",
    DuplicateId = "DUPLICATE_ID",
    SameHolder = "SAME_HOLDER",
    FencesExhausted = "FENCES_EXHAUSTED",
    CounterBehind = "COUNTER_BEHIND",
}

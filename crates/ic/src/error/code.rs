//! The codes that programs know errors by, and how the program ends because of each.

/// How the program ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// It went well.
    Ok,
    /// Not now, not there, or not yours.
    Refused,
    /// Something that should not happen, a lock that cannot be read among it.
    Unexpected,
    /// It was not understood.
    Usage,
    /// A signal ended it.
    Signal(u8),
    /// What the command ended with that ran under the lock.
    Command(u8),
}

impl Exit {
    /// The exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Refused => 1,
            Self::Unexpected => 2,
            Self::Usage => 3,
            Self::Signal(number) => 128_u8.saturating_add(number),
            Self::Command(code) => code,
        }
    }
}

/// Makes the enum and everything that must name all of it, so that none of them can miss one.
macro_rules! codes {
    ($($name:ident = $code:literal, $exit:expr;)+) => {
        /// What kind of error it is. `spec/errors.md` has a row for each.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Code {
            $(#[doc = concat!("`", $code, "`.")]
            $name,)+
        }

        impl Code {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The code as programs know it. It never changes.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// How the program ends. What depends on more than the code is known to the error.
            #[must_use]
            pub const fn exit(self) -> Exit {
                match self {
                    $(Self::$name => $exit,)+
                }
            }
        }
    };
}

codes! {
    Held = "HELD", Exit::Refused;
    ClockSkew = "CLOCK_SKEW", Exit::Refused;
    AlreadyHeld = "ALREADY_HELD", Exit::Refused;
    NotFound = "NOT_FOUND", Exit::Refused;
    NotHolder = "NOT_HOLDER", Exit::Refused;
    Expired = "EXPIRED", Exit::Refused;
    FencedOut = "FENCED_OUT", Exit::Refused;
    DuplicateId = "DUPLICATE_ID", Exit::Unexpected;
    FencesExhausted = "FENCES_EXHAUSTED", Exit::Unexpected;
    CounterBehind = "COUNTER_BEHIND", Exit::Unexpected;
    Damaged = "DAMAGED", Exit::Unexpected;
    NewerFormat = "NEWER_FORMAT", Exit::Unexpected;
    Sys = "SYS", Exit::Unexpected;
    Unsupported = "UNSUPPORTED", Exit::Usage;
    Usage = "USAGE", Exit::Usage;
    BadName = "BAD_NAME", Exit::Usage;
    BadValue = "BAD_VALUE", Exit::Usage;
    NoCaller = "NO_CALLER", Exit::Usage;
    BadRoot = "BAD_ROOT", Exit::Unexpected;
    CallerGone = "CALLER_GONE", Exit::Refused;
    Deadlock = "DEADLOCK", Exit::Refused;
    LockOrder = "LOCK_ORDER", Exit::Refused;
    Command = "COMMAND", Exit::Command(126);
    Interrupted = "INTERRUPTED", Exit::Signal(0);
    Internal = "INTERNAL", Exit::Unexpected;
}

//! Settings that are one word of a few. Each word is written down once, with what it means.

use super::form::{Choice, Form};
use super::value::{Typed, Value};

macro_rules! words {
    ($(
        $(#[doc = $about:literal])+
        pub enum $name:ident { $( #[doc = $means:literal] $variant:ident = $word:literal, )+ }
    )+) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name { $( #[doc = $means] $variant, )+ }

        impl $name {
            pub(super) const FORM: Form =
                Form::Word(&[$(Choice { word: $word, means: $means.trim_ascii() }),+]);

            /// The word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl Typed for $name {
            fn to_value(&self) -> Option<Value> {
                Some(Value::Text(self.as_str().to_owned()))
            }

            fn from_value(value: Option<&Value>) -> Option<Self> {
                match value {
                    $(Some(Value::Text(word)) if word == $word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    )+};
}

words! {
    /// Whether the worktrees of one repository share their claims.
    pub enum WorktreeMode {
        /// as git says: shared in a git repository, alone outside of one
        Auto = "auto",
        /// always; it is an error to be outside of a git repository
        On = "on",
        /// never; claims are kept in this worktree's `.jit/` alone
        Off = "off",
    }

    /// What happens to a write without a lease.
    pub enum EnforceLeases {
        /// it is refused
        Strict = "strict",
        /// it is done, with a warning
        Warn = "warn",
        /// it is done
        Off = "off",
    }

    /// Where claims are kept.
    pub enum Engine {
        /// in this clone: all its worktrees share them, and nobody else
        Local = "local",
        /// on a ref of the git server: all clones share them
        Git = "git",
        /// in etcd: all clones share them
        Etcd = "etcd",
    }

    /// When an issue that others depend on is out of their way.
    pub enum Satisfied {
        /// once it has landed
        Landed = "landed",
        /// once it is done, wherever that is
        Done = "done",
    }

    /// How a finished branch becomes part of the target.
    pub enum Strategy {
        /// its commits follow the target's, one by one
        Rebase = "rebase",
        /// a commit joins both
        Merge = "merge",
        /// one commit has everything
        Squash = "squash",
    }

    /// How finished work comes to the target.
    pub enum Via {
        /// it is put there, and pushed if there is a remote
        Push = "push",
        /// its branch waits for whoever merges it
        Review = "review",
    }

    /// Who may take a claim in force away from its holder.
    pub enum ForceEvict {
        /// whoever gives a reason
        Anyone = "anyone",
        /// nobody alone: somebody asks for it, and others approve
        Approved = "approved",
    }

    /// When something is escalated.
    pub enum When {
        /// a claim was granted that long ago and is in force
        HeldLonger = "held_longer",
        /// somebody has waited that long for an issue
        WaitingLonger = "waiting_longer",
        /// the work could not land for a conflict, or a merge left one in the issue
        Conflicts = "conflicts",
        /// a gate of an open issue was judged as failed, or failed when the work was to land
        GateFailed = "gate_failed",
        /// the issue was finished that long ago, and the target does not have it
        NotLandedLonger = "not_landed_longer",
    }

    /// What a check makes of a fence that another clone's log has issued.
    pub enum ForeignClaims {
        /// it is an error
        Reject = "reject",
        /// it is a warning
        Warn = "warn",
        /// it passes
        Allow = "allow",
    }
}

impl When {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::HeldLonger, Self::WaitingLonger, Self::Conflicts, Self::GateFailed, Self::NotLandedLonger];

    /// Whether it means nothing without a time.
    pub(super) const fn needs_time(self) -> bool {
        matches!(self, Self::HeldLonger | Self::WaitingLonger | Self::NotLandedLonger)
    }
}

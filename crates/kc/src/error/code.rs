//! The codes that callers know errors by.

use std::fmt;

/// Makes the enum and everything that must name all of it, so that none of them can miss one.
macro_rules! codes {
    ($($name:ident = $code:literal,)+) => {
        /// What kind of error it is. `spec/errors.md` has a row for each.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Code {
            $(#[doc = concat!("`", $code, "`.")]
            $name,)+
        }

        impl Code {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The code as callers know it. It never changes.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }
        }
    };
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

codes! {
    LockHeld = "KC_LINEAGE_LOCK_HELD",
    LockInvalid = "KC_LINEAGE_LOCK_INVALID",
    LockExpired = "KC_LINEAGE_LOCK_EXPIRED",
    OverlayInvalid = "KC_LINEAGE_OVERLAY_INVALID",
    OverlayNotFound = "KC_LINEAGE_OVERLAY_NOT_FOUND",
    OverlayConflict = "KC_LINEAGE_OVERLAY_CONFLICT",
    DocNotFound = "KC_LINEAGE_DOC_NOT_FOUND",
    QueryFailed = "KC_LINEAGE_QUERY_FAILED",
}

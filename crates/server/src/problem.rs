//! Why a request is not answered: the server's own reasons, or an error of the tracker. Either becomes one JSON document of
//! the same form, with a status.

use holdfast_tracker::error::{Error, ErrorBody, ErrorOutput};
use serde_json::{Value, json};

/// Makes the enum and its table, so that neither can miss a row.
macro_rules! problems {
    ($($name:ident = $code:literal, $status:literal, $meaning:literal, $advice:literal;)+) => {
        /// What the server itself refuses.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Own {
            $(#[doc = concat!("`", $code, "`: ", $meaning, ".")]
            $name,)+
        }

        impl Own {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Its code, its HTTP status, what it means and what to do.
            #[must_use]
            pub const fn row(self) -> (&'static str, u16, &'static str, &'static str) {
                match self {
                    $(Self::$name => ($code, $status, $meaning, $advice),)+
                }
            }
        }
    };
}

problems! {
    Unauthorized = "UNAUTHORIZED", 401, "no token, no cookie, or one that does not hold",
        "send `Authorization: Bearer` with the token that `jit serve` names, or open its address again";
    ForeignHost = "FOREIGN_HOST", 403, "the `Host` is none of the server's: another name may lead here",
        "use the address that `jit serve` prints; allow a name with `--host`";
    ForeignOrigin = "FOREIGN_ORIGIN", 403, "a page of another origin asks, or a browser does not say which",
        "use the server's own page, or a token";
    NoRoute = "NO_ROUTE", 404, "there is nothing at this path", "`/openapi.json` lists what there is";
    BadMethod = "BAD_METHOD", 405, "this path is not asked like that", "use one of the methods in `Allow`";
    BadRequest = "BAD_REQUEST", 400, "the request is not understood",
        "read the text; `/openapi.json` has what can be asked";
    NotJson = "NOT_JSON", 415, "a body has to be `application/json`", "send JSON";
    TooLarge = "TOO_LARGE", 413, "the body is longer than the maximum of 1 MiB", "send less";
    TooSlow = "TOO_SLOW", 408, "the body did not arrive within 10 seconds", "send it at once";
    Busy = "BUSY", 503, "too many follow the events already", "try again later";
    ServerInternal = "SERVER_INTERNAL", 500, "something happened that cannot happen: a bug in jit-server",
        "please report it, with the whole message";
}

/// Why a request is not answered.
#[derive(Debug)]
pub enum Problem {
    /// The server refuses it.
    Own(Own, String),
    /// The path is asked in another way.
    Method(&'static str),
    /// The tracker says no.
    Tracker(Error),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Tracker(error)
    }
}

impl From<holdfast_sys::Error> for Problem {
    fn from(error: holdfast_sys::Error) -> Self {
        Self::Tracker(error.into())
    }
}

impl Problem {
    /// The problem in the words of its row.
    #[must_use]
    pub fn plain(own: Own) -> Self {
        Self::Own(own, own.row().2.to_owned())
    }

    /// A request that is not understood.
    pub fn bad(why: impl Into<String>) -> Self {
        Self::Own(Own::BadRequest, why.into())
    }

    /// The status.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::Own(own, _) => own.row().1,
            Self::Method(_) => Own::BadMethod.row().1,
            Self::Tracker(error) => error.code().http(),
        }
    }

    /// Its code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Own(own, _) => own.row().0,
            Self::Method(_) => Own::BadMethod.row().0,
            Self::Tracker(error) => error.code().as_str(),
        }
    }

    /// What programs are told.
    #[must_use]
    pub fn document(&self) -> Value {
        match self {
            Self::Tracker(error) => error.document(),
            Self::Method(allowed) => {
                Self::Own(Own::BadMethod, format!("this path is asked with {allowed}")).document()
            }
            Self::Own(own, message) => {
                let (code, _, _, advice) = own.row();
                json!(ErrorOutput {
                    error: ErrorBody {
                        code: code.to_owned(),
                        message: message.clone(),
                        hint: Some(advice.to_owned()),
                        details: Value::Null,
                    }
                })
            }
        }
    }
}

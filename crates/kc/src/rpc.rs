//! The operations as remote procedure calls: one `dispatch` that the program speaks on stdin and stdout, and
//! that a desktop shell can mount as it is. Unknown methods and fields are refused, never ignored.

mod lines;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::error::{AppError, Error, Result};
use crate::lock;
use crate::medium::Database;
use crate::overlay::{Edge, lineage_overlay_add, lineage_overlay_list, lineage_overlay_remove};

pub use lines::{LONGEST_LINE, Unserved, serve};

/// Who adds an overlay if nobody says.
pub const SOMEBODY: &str = "unknown";

/// Every method, in the order of the documentation.
pub const METHODS: [&str; 6] = [
    "lineage_lock_acquire",
    "lineage_lock_release",
    "lineage_lock_status",
    "lineage_overlay_add",
    "lineage_overlay_remove",
    "lineage_overlay_list",
];

/// What comes back.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// It went well.
    Data {
        /// `true`.
        ok: bool,
        /// What there is to say.
        data: Value,
    },
    /// It did not.
    Error {
        /// `false`.
        ok: bool,
        error: AppError,
    },
}

impl Reply {
    /// The reply that a result is.
    #[must_use]
    pub fn of(result: &Result<Value>) -> Self {
        match result {
            Ok(data) => Self::Data { ok: true, data: data.clone() },
            Err(error) => Self::Error { ok: false, error: error.into() },
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request<'a> {
    #[serde(borrow)]
    method: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Acquire {
    doc_id: String,
    owner: String,
    now_ms: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Release {
    doc_id: String,
    // To show no token is to show one that proves nothing.
    token: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Status {
    doc_id: Option<String>,
    now_ms: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    doc_id: String,
    from_node_id: String,
    to_node_id: String,
    relation: String,
    evidence: String,
    lock_token: Option<String>,
    created_at_ms: i64,
    created_by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Remove {
    overlay_id: String,
    lock_token: Option<String>,
    now_ms: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    doc_id: String,
}

/// Does what a method with these parameters says.
#[must_use]
pub fn dispatch(conn: &mut Database, method: &str, params: &RawValue) -> Reply {
    Reply::of(&call(conn, method, params))
}

/// Does what a line asks for.
fn answer(conn: &mut Database, line: &[u8]) -> Reply {
    let read = || -> Result<Request<'_>> {
        named("a request", line)?;
        serde_json::from_slice(line).map_err(|error| misunderstood(&error))
    };
    match read() {
        Ok(request) => dispatch(conn, &request.method, request.params.unwrap_or(RawValue::NULL)),
        Err(error) => Reply::of(&Err(error)),
    }
}

fn call(conn: &mut Database, method: &str, params: &RawValue) -> Result<Value> {
    match method {
        "lineage_lock_acquire" => {
            let Acquire { doc_id, owner, now_ms } = parse(params)?;
            Ok(json!({ "lease": lock::lineage_lock_acquire(conn, &doc_id, &owner, now_ms)? }))
        }
        "lineage_lock_release" => {
            let Release { doc_id, token } = parse(params)?;
            lock::lineage_lock_release(conn, &doc_id, shown(token.as_ref()))?;
            Ok(json!({ "released": true }))
        }
        "lineage_lock_status" => {
            let Status { doc_id, now_ms } = parse(params)?;
            let (name, found) = status(conn, doc_id.as_deref(), now_ms)?;
            Ok(json!({ name: found }))
        }
        "lineage_overlay_add" => add(conn, &parse(params)?),
        "lineage_overlay_remove" => {
            let Remove { overlay_id, lock_token, now_ms } = parse(params)?;
            lineage_overlay_remove(conn, &overlay_id, shown(lock_token.as_ref()), now_ms)?;
            Ok(json!({ "removed_overlay_id": overlay_id }))
        }
        "lineage_overlay_list" => {
            let List { doc_id } = parse(params)?;
            Ok(json!({ "overlays": lineage_overlay_list(conn, &doc_id)? }))
        }
        unknown => {
            let known = METHODS.join(", ");
            Err(Error::Request(format!("there is no method {}; there are {known}", unknown.escape_debug())))
        }
    }
}

/// Who holds the lease on one document, or on each, and what the answer calls it.
///
/// # Errors
/// As the status of one document or of all.
pub(crate) fn status(
    conn: &mut Database,
    doc_id: Option<&str>,
    now_ms: i64,
) -> Result<(&'static str, Value)> {
    match doc_id {
        Some(doc_id) => Ok(("lock", json!(lock::lineage_lock_status(conn, doc_id, now_ms)?))),
        None => Ok(("locks", json!(lock::lineage_lock_status_all(conn, now_ms)?))),
    }
}

fn add(conn: &mut Database, wanted: &Add) -> Result<Value> {
    let edge = Edge {
        from_node_id: &wanted.from_node_id,
        to_node_id: &wanted.to_node_id,
        relation: &wanted.relation,
        evidence: &wanted.evidence,
    };
    let by = wanted.created_by.as_deref().unwrap_or(SOMEBODY);
    let (token, at) = (shown(wanted.lock_token.as_ref()), wanted.created_at_ms);
    Ok(json!({ "overlay": lineage_overlay_add(conn, &wanted.doc_id, &edge, token, at, by)? }))
}

/// The token that was shown: none, or `null`, proves as little as an empty one.
fn shown(token: Option<&String>) -> &str {
    token.map_or("", String::as_str)
}

fn parse<T: DeserializeOwned>(params: &RawValue) -> Result<T> {
    named("params", params.get().as_bytes())?;
    serde_json::from_str(params.get()).map_err(|error| misunderstood(&error))
}

/// Refuses what has no names for its fields: serde would take an array for an object whose fields stand in the order
/// of the program's, and a field more would then change the meaning of a request.
fn named(what: &str, json: &[u8]) -> Result<()> {
    match json.trim_ascii_start().first() {
        Some(b'{') => Ok(()),
        _ => Err(Error::Request(format!("{what} must be an object with named fields"))),
    }
}

fn misunderstood(error: &serde_json::Error) -> Error {
    Error::Request(error.to_string())
}

//! Where messages go out, one whole line after the other, and which calls still want an answer.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;

use holdfast_door::Clean;
use serde_json::Value;

use super::lock::locked;
use super::message::Request;

/// Where messages go out.
pub(super) struct Outlet {
    out: Mutex<Box<dyn Write + Send>>,
    /// The calls that are not answered, and whether nobody waits for the answer any more.
    calls: Mutex<BTreeMap<String, bool>>,
}

impl Outlet {
    pub(super) fn new(out: Box<dyn Write + Send>) -> Self {
        Self { out: Mutex::new(out), calls: Mutex::default() }
    }

    /// Sends a message. Whoever does not listen has gone away, which the end of its own messages tells.
    pub(super) fn send(&self, message: &Value) {
        let line = Clean::json(message);
        let mut out = locked(&self.out);
        let _ = out.write_all(line.as_str().as_bytes()).and_then(|()| out.write_all(b"\n"));
        let _ = out.flush();
    }

    /// Somebody waits for the answer to a call.
    pub(super) fn expect(&self, request: &Request) {
        locked(&self.calls).insert(request.id.to_string(), false);
    }

    /// Sends the answer to a call, unless nobody waits for it any more.
    pub(super) fn conclude(&self, request: &Request, answer: &Value) {
        if locked(&self.calls).remove(&request.id.to_string()) != Some(true) {
            self.send(answer);
        }
    }

    /// Whether nobody waits for a call any more.
    pub(super) fn is_cancelled(&self, request: &Request) -> bool {
        locked(&self.calls).get(&request.id.to_string()) == Some(&true)
    }

    /// Nobody waits for this call any more.
    pub(super) fn cancel(&self, id: &Value) {
        if let Some(cancelled) = locked(&self.calls).get_mut(&id.to_string()) {
            *cancelled = true;
        }
    }
}

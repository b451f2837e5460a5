//! Messages: what came in, which revision it speaks, and the form of answers. Nothing here knows a tool.

use serde_json::{Value, json};

/// The revision that has no sessions.
pub(super) const STATELESS: &str = "2026-07-28";

/// The revisions that open a session, the latest first.
pub(super) const SESSIONS: &[&str] = &["2025-11-25", "2025-06-18"];

/// The longest message, in bytes.
pub(super) const LONGEST: usize = 4 << 20;

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// What kind of mistake a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// It is no JSON.
    Unreadable = -32_700,
    /// It is no request.
    Invalid = -32_600,
    /// There is no such method.
    NoMethod = -32_601,
    /// The method cannot be called like that.
    Parameters = -32_602,
    /// It speaks a revision that is not known here.
    Revision = -32_022,
}

/// A message that came in.
#[derive(Debug)]
pub(super) enum Message {
    /// Somebody waits for an answer.
    Request(Request),
    /// Nobody does.
    Notification {
        /// What it is about.
        method: String,
        /// What it says.
        parameters: Value,
    },
    /// An answer to something that was never asked.
    Answer,
}

/// A question.
#[derive(Debug)]
pub(super) struct Request {
    /// What the answer is called.
    pub id: Value,
    /// What is asked.
    pub method: String,
    /// What it is asked with.
    pub parameters: Value,
}

/// The message in a line; else the answer to it.
pub(super) fn read(line: &[u8]) -> Result<Message, Value> {
    let unreadable = || failure(&Value::Null, Fault::Unreadable, "this line is not JSON", None);
    let mut message: Value = serde_json::from_slice(line).map_err(|_| unreadable())?;
    let invalid = |why: &str| failure(&Value::Null, Fault::Invalid, why, None);
    let Some(members) = message.as_object_mut() else {
        return Err(invalid("a message is one JSON object; several in an array are not understood"));
    };
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid("\"jsonrpc\" must be \"2.0\""));
    }
    let id = members.remove("id");
    let parameters = members.remove("params").unwrap_or_default();
    let Some(method) = members.get("method") else {
        let is_answer = members.contains_key("result") || members.contains_key("error");
        return if is_answer { Ok(Message::Answer) } else { Err(invalid("there is no method")) };
    };
    let Some(method) = method.as_str().map(ToOwned::to_owned) else {
        return Err(invalid("the method is no text"));
    };
    if !(parameters.is_null() || parameters.is_object()) {
        let id = id.filter(is_id).unwrap_or_default();
        return Err(failure(&id, Fault::Parameters, "\"params\" must be an object", None));
    }
    match id {
        None => Ok(Message::Notification { method, parameters }),
        Some(id) if is_id(&id) => Ok(Message::Request(Request { id, method, parameters })),
        Some(_) => Err(invalid("\"id\" must be a text or an integer")),
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

impl Request {
    /// The revision that the request names itself; those of sessions name none.
    pub(super) fn revision(&self) -> Option<&str> {
        self.meta(META_VERSION)?.as_str()
    }

    /// Whether the request stands for itself.
    pub(super) fn is_stateless(&self) -> bool {
        self.method == "server/discover" || self.revision() == Some(STATELESS)
    }

    /// What the client calls itself.
    pub(super) fn client(&self) -> Option<&str> {
        let info = self.meta(META_CLIENT).or_else(|| self.parameters.get("clientInfo"));
        info?.get("name")?.as_str()
    }

    /// By what the client wants to be told of progress.
    pub(super) fn progress_token(&self) -> Option<Value> {
        self.meta("progressToken").filter(|token| is_id(token)).cloned()
    }

    fn meta(&self, name: &str) -> Option<&Value> {
        self.parameters.get("_meta")?.get(name)
    }

    /// The answer with a result.
    pub(super) fn answer(&self, mut result: Value) -> Value {
        if self.is_stateless()
            && let Some(members) = result.as_object_mut()
        {
            members.insert("resultType".into(), "complete".into());
            let server = json!({ "name": "jit", "version": env!("CARGO_PKG_VERSION") });
            members.insert("_meta".into(), json!({ META_SERVER: server }));
        }
        json!({ "jsonrpc": "2.0", "id": self.id, "result": result })
    }

    /// The answer that says what is wrong with the request.
    pub(super) fn fails(&self, fault: Fault, why: &str) -> Value {
        failure(&self.id, fault, why, None)
    }

    /// The answer to a revision that is not known.
    pub(super) fn unknown_revision(&self) -> Value {
        let data = json!({ "supported": supported(), "requested": self.revision() });
        failure(&self.id, Fault::Revision, "this revision of the protocol is not known here", Some(data))
    }
}

/// A part of a document, null where there is none.
pub(super) fn part<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

/// All revisions, the latest first.
pub(super) fn supported() -> Vec<&'static str> {
    std::iter::once(STATELESS).chain(SESSIONS.iter().copied()).collect()
}

/// An answer that says what is wrong.
pub(super) fn failure(id: &Value, fault: Fault, why: &str, data: Option<Value>) -> Value {
    let mut error = json!({ "code": fault as i32, "message": why });
    if let (Some(data), Some(members)) = (data, error.as_object_mut()) {
        members.insert("data".into(), data);
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// A word on how far a call is.
pub(super) fn progress(token: &Value, number: u64, message: &str) -> Value {
    let parameters = json!({ "progressToken": token, "progress": number, "message": message });
    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": parameters })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Message, read};

    #[test]
    fn what_is_no_message_gets_the_answer_that_says_so() {
        for (line, code) in [
            ("", -32_700),
            ("{", -32_700),
            ("\u{0}", -32_700),
            ("[]", -32_600),
            ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32_600),
            ("7", -32_600),
            ("{}", -32_600),
            ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32_600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1}", -32_600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32_600),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32_600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32_600),
            ("{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"ping\"}", -32_600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", -32_602),
        ] {
            let answer = read(line.as_bytes()).unwrap_err();
            assert_eq!(answer["error"]["code"], code, "{line}");
        }
        assert!(read(&[0xff, 0xfe]).is_err());
    }

    #[test]
    fn an_answer_has_the_form_of_the_revision_that_was_spoken() {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        for (parameters, stateless) in [(Value::Null, false), (json!({ "_meta": meta }), true)] {
            let line = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": parameters });
            let Ok(Message::Request(request)) = read(line.to_string().as_bytes()) else { panic!("{line}") };
            assert_eq!(request.is_stateless(), stateless);
            let answer = request.answer(json!({ "tools": [] }));
            assert_eq!(answer["result"].get("resultType").is_some(), stateless, "{answer}");
            assert_eq!(answer["id"], "a");
        }
    }
}

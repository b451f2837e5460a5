//! The same operation through every side of the door: the functions, the program, and the procedure calls of
//! a program that goes on running.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use holdfast_kc::error::{AppError, Error};
use holdfast_kc::overlay::Edge;
use holdfast_kc::{
    Database, lineage_lock_acquire, lineage_lock_release, lineage_lock_status, lineage_lock_status_all,
    lineage_overlay_add, lineage_overlay_list, lineage_overlay_remove,
};
use serde_json::{Value, json};

use crate::bench::{Answer, Bench, KC};

/// Something to do.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Acquire { doc: String, owner: String, now: i64 },
    Release { doc: String, token: String },
    Status { doc: Option<String>, now: i64 },
    Add { doc: String, from: String, evidence: String, token: String, now: i64 },
    Remove { overlay: String, token: String, now: i64 },
    List { doc: String },
}

/// What came of it: what was said, or the code and the message.
pub(crate) type Outcome = Result<Value, (String, String)>;

/// A side of the door.
pub(crate) trait Arm {
    fn run(&mut self, op: &Op) -> Outcome;
}

/// The functions.
pub(crate) struct Core(pub(crate) Database);

impl Arm for Core {
    fn run(&mut self, op: &Op) -> Outcome {
        let told = |error: Error| {
            let error = AppError::from(&error);
            (error.code.to_owned(), error.message)
        };
        self.call(op).map_err(told)
    }
}

impl Core {
    fn call(&mut self, op: &Op) -> Result<Value, Error> {
        let conn = &mut self.0;
        Ok(match op {
            Op::Acquire { doc, owner, now } => {
                json!({ "lease": lineage_lock_acquire(conn, doc, owner, *now)? })
            }
            Op::Release { doc, token } => {
                lineage_lock_release(conn, doc, token)?;
                json!({ "released": true })
            }
            Op::Status { doc: Some(doc), now } => json!({ "lock": lineage_lock_status(conn, doc, *now)? }),
            Op::Status { doc: None, now } => json!({ "locks": lineage_lock_status_all(conn, *now)? }),
            Op::Add { doc, from, evidence, token, now } => {
                let edge = Edge { from_node_id: from, to_node_id: "to", relation: "cites", evidence };
                json!({ "overlay": lineage_overlay_add(conn, doc, &edge, token, *now, "unknown")? })
            }
            Op::Remove { overlay, token, now } => {
                lineage_overlay_remove(conn, overlay, token, *now)?;
                json!({ "removed_overlay_id": overlay })
            }
            Op::List { doc } => json!({ "overlays": lineage_overlay_list(conn, doc)? }),
        })
    }
}

/// The program, once for each operation.
pub(crate) struct Cli<'b>(pub(crate) &'b Bench);

impl Arm for Cli<'_> {
    fn run(&mut self, op: &Op) -> Outcome {
        outcome(&self.0.run(&words(op).iter().map(String::as_str).collect::<Vec<_>>()))
    }
}

fn outcome(answer: &Answer) -> Outcome {
    if answer.code == Some(0) {
        let mut said = answer.ok();
        said.as_object_mut().unwrap().remove("status");
        return Ok(said);
    }
    let code = answer.failed().to_owned();
    let message = answer.stderr.strip_prefix(&format!("{code}: ")).unwrap().trim_end_matches('\n').to_owned();
    Err((code, message))
}

/// What to type for an operation.
pub(crate) fn words(op: &Op) -> Vec<String> {
    let at = |now: &i64| format!("--now-ms={now}");
    let words: Vec<&str> = match op {
        Op::Acquire { doc, owner, now } => {
            return line(&["lineage", "lock", "acquire", "VAULT", doc, owner, &at(now)]);
        }
        Op::Release { doc, token } => vec!["lineage", "lock", "release", "VAULT", doc, token],
        Op::Status { doc: Some(doc), now } => {
            return line(&["lineage", "lock", "status", "VAULT", doc, &at(now)]);
        }
        Op::Status { doc: None, now } => return line(&["lineage", "lock", "status", "VAULT", &at(now)]),
        Op::Add { doc, from, evidence, token, now } => {
            let add = ["lineage", "overlay", "add", "VAULT", doc, from, "to", "cites", evidence, token];
            return line(&[&add[..], &[&at(now)]].concat());
        }
        Op::Remove { overlay, token, now } => {
            return line(&["lineage", "overlay", "remove", "VAULT", overlay, token, &at(now)]);
        }
        Op::List { doc } => vec!["lineage", "overlay", "list", "VAULT", doc],
    };
    line(&words)
}

fn line(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// One program that serves requests.
pub(crate) struct Rpc {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Rpc {
    pub(crate) fn new(bench: &Bench) -> Self {
        let mut command = bench.command(KC, &["rpc", "VAULT"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    /// Sends a line and reads one.
    pub(crate) fn line(&mut self, line: &[u8]) -> Value {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).and_then(|()| input.write_all(b"\n")).and_then(|()| input.flush()).unwrap();
        let mut reply = String::new();
        self.output.read_line(&mut reply).unwrap();
        serde_json::from_str(&reply).unwrap_or_else(|_| panic!("{reply:?}"))
    }

    /// Ends the input, and with it the program.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for Rpc {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

impl Arm for Rpc {
    fn run(&mut self, op: &Op) -> Outcome {
        let reply = self.line(request(op).to_string().as_bytes());
        match reply["ok"].as_bool().unwrap() {
            true => Ok(reply["data"].clone()),
            false => {
                let text = |key: &str| reply["error"][key].as_str().unwrap().to_owned();
                Err((text("code"), text("message")))
            }
        }
    }
}

/// The request for an operation.
pub(crate) fn request(op: &Op) -> Value {
    let (method, params) = match op {
        Op::Acquire { doc, owner, now } => {
            ("lineage_lock_acquire", json!({ "doc_id": doc, "owner": owner, "now_ms": now }))
        }
        Op::Release { doc, token } => ("lineage_lock_release", json!({ "doc_id": doc, "token": token })),
        Op::Status { doc, now } => ("lineage_lock_status", json!({ "doc_id": doc, "now_ms": now })),
        Op::Add { doc, from, evidence, token, now } => (
            "lineage_overlay_add",
            json!({ "doc_id": doc, "from_node_id": from, "to_node_id": "to", "relation": "cites",
                    "evidence": evidence, "lock_token": token, "created_at_ms": now }),
        ),
        Op::Remove { overlay, token, now } => {
            ("lineage_overlay_remove", json!({ "overlay_id": overlay, "lock_token": token, "now_ms": now }))
        }
        Op::List { doc } => ("lineage_overlay_list", json!({ "doc_id": doc })),
    };
    json!({ "method": method, "params": params })
}

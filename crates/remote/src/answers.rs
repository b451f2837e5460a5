//! The answer of an operation, as a session keeps it: whoever did not hear it gets the same one later.

use holdfast_kernel::{Answer, Lease};
use holdfast_store::{read_lease, write_lease};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One answer, and which of the commands of an operation it is for.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wire {
    command: usize,
    answer: String,
    leases: Vec<Box<RawValue>>,
}

/// A lease as a part of a larger object.
pub(crate) fn raw(lease: &Lease) -> Result<Box<RawValue>, String> {
    let text = String::from_utf8(write_lease(lease)).map_err(|error| error.to_string())?;
    RawValue::from_string(text).map_err(|error| error.to_string())
}

impl Wire {
    pub(crate) fn of(command: usize, answer: &Answer) -> Result<Self, String> {
        let leases = match answer {
            Answer::Swept(leases) => leases.iter().collect(),
            Answer::Granted(lease)
            | Answer::AlreadyHeld(lease)
            | Answer::Renewed(lease)
            | Answer::Beaten(lease)
            | Answer::Released(lease)
            | Answer::Transferred(lease)
            | Answer::Evicted(lease)
            | Answer::Valid(lease) => vec![lease],
        };
        let leases = leases.into_iter().map(raw).collect::<Result<_, _>>()?;
        Ok(Self { command, answer: answer.name().to_owned(), leases })
    }

    pub(crate) fn read(&self) -> Result<(usize, Answer), String> {
        let mut leases = self.leases.iter().map(|lease| read_lease(lease.get().as_bytes()));
        if self.answer == "swept" {
            return Ok((self.command, Answer::Swept(leases.collect::<Result<_, _>>()?)));
        }
        let (Some(lease), None) = (leases.next(), leases.next()) else {
            return Err("an answer is about one lease".into());
        };
        let lease = lease?;
        let answer = match self.answer.as_str() {
            "granted" => Answer::Granted(lease),
            "already held" => Answer::AlreadyHeld(lease),
            "renewed" => Answer::Renewed(lease),
            "beaten" => Answer::Beaten(lease),
            "released" => Answer::Released(lease),
            "transferred" => Answer::Transferred(lease),
            "evicted" => Answer::Evicted(lease),
            "valid" => Answer::Valid(lease),
            other => return Err(format!("'{}' is no answer", other.escape_debug())),
        };
        Ok((self.command, answer))
    }
}

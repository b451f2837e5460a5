//! `jit guardian`: the process that stands for a run. It is started by `jit run` and by nobody else.

use holdfast_sys::os::Channel;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::land::{self, Asked};
use holdfast_tracker::run::{self, Record};
use holdfast_tracker::{Session, durable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli;
use crate::commands::work::Ended;
use crate::context::Context;
use crate::output::Report;

/// That a run was guarded to its end, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct GuardianOutput {
    /// The mark of its processes.
    pub guarded: String,
}

/// How a landing went, for `jit run`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Landing {
    /// It went well.
    Finished(Value),
    /// It failed.
    Failed {
        /// The code of the error.
        code: String,
        /// What it says.
        message: String,
    },
}

/// Guards a run, or finishes one.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, typed: &cli::Guardian) -> Result<Report> {
    match &typed.finish {
        None => run::guard(&context.caller, &typed.mark, Channel::given()?)?,
        Some(issue) => finish(context, &typed.mark, issue)?,
    }
    Ok(Report::new("", &GuardianOutput { guarded: typed.mark.clone() }))
}

fn finish(context: &Context, mark: &str, issue: &str) -> Result<()> {
    let session: Session = context.session()?;
    let asked = Asked { all: true, ..Asked::default() };
    let finished = land::meant(&session, Some(issue)).and_then(|id| land::finish(&session, id, &asked));
    let landing = match finished {
        Ok(outcome) => Landing::Finished(as_value(&Ended::from(&outcome))?),
        Err(error) => Landing::Failed { code: error.code().as_str().to_owned(), message: error.to_string() },
    };
    let path = Record::marked(&session, mark)?.outcome();
    let text = as_value(&landing)?.to_string();
    Ok(durable::replace(session.sys(), &path, text.as_bytes(), session.access()?.file())?)
}

fn as_value(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value)
        .map_err(|error| Error::Internal(format!("an outcome has no JSON form: {error}")))
}

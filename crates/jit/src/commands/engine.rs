//! `jit engine`: where claims are kept.

use holdfast_door::Clean;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{Engine as Command, InitEngine};
use crate::commands::config::require_global;
use crate::commands::validate::judged;
use crate::context::Context;
use crate::output::Report;
use holdfast_kernel::Millis;
use holdfast_tracker::Session;
use holdfast_tracker::engine::{self, Checked, EngineStatus, SharedStatus, Wanted};
use holdfast_tracker::error::Result;
use holdfast_tracker::times::span;

/// Where claims are kept, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct EngineOutput {
    /// Where, and how well that is known.
    pub engine: EngineStatus,
}

/// A place that was chosen, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct EngineInitOutput {
    /// Where claims are kept from now on.
    pub engine: EngineStatus,
    /// Whether it was made by this call.
    pub made: bool,
}

/// A clone with a new id, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct EngineJoinOutput {
    /// The id.
    pub clone: String,
}

/// What was looked at, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct EngineCheckOutput {
    /// What was looked at, and what cannot be seen from here.
    #[serde(flatten)]
    pub checked: Checked,
}

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    match command {
        Command::Init(InitEngine::Git(typed)) => {
            let wanted = Wanted { remote: typed.remote.clone(), register: typed.register.clone() };
            init(context, &wanted)
        }
        Command::Status { fresh } => status(&context.session()?, *fresh),
        Command::Check => check(&context.session()?),
        Command::Join => join(&context.session()?),
    }
}

fn init(context: &Context, wanted: &Wanted) -> Result<Report> {
    require_global(context)?;
    let made = engine::init(&context.session()?, wanted)?;
    // What was configured counts from the next question on.
    let engine = engine::status(&context.session()?, false)?;
    let what = if made { "claims are kept" } else { "claims are kept already" };
    let text = format!(
        "{what} on {}\nother clones find them by .jit/config.toml: commit it and push it\n",
        engine.place
    );
    let brief = engine.counter.clone().unwrap_or_default();
    Ok(Report::new(text, &EngineInitOutput { engine, made }).brief(brief))
}

fn status(session: &Session, fresh: bool) -> Result<Report> {
    let engine = engine::status(session, fresh)?;
    let mut text = Clean::from(format!("engine: {}\nkept in: {}\n", engine.engine, engine.place));
    match &engine.shared {
        Some(shared) => text += described(shared),
        None => text += "these claims are this clone's alone; to share them: jit engine init git\n",
    }
    let brief = engine.engine;
    Ok(Report::new(text, &EngineOutput { engine }).brief(brief))
}

fn described(shared: &SharedStatus) -> String {
    let secs = |secs: u64| span(Millis::from_secs(secs));
    let mut text = format!(
        "asked: {} ago; {} claims, {} clones, {} steps\nthis clone: {}\n",
        secs(shared.age_secs),
        shared.leases,
        shared.clones,
        shared.height,
        shared.clone
    );
    if shared.state != "open" {
        text += &format!("state: {}; nothing is granted there\n", shared.state);
    }
    for one in &shared.watched {
        text += &format!(
            "{} of {}: watched {} of {}\n",
            one.resource,
            one.agent_id,
            secs(one.watched_secs.min(one.needed_secs)),
            secs(one.needed_secs)
        );
    }
    if let Some(what) = &shared.unresolved {
        text +=
            &format!("{what} was sent, and nobody said whether it was done: the next command finds out\n");
    }
    text
}

fn check(session: &Session) -> Result<Report> {
    let checked = engine::check(session)?;
    let (mut text, exit) = judged(&checked.checks);
    for advice in &checked.advice {
        text += &format!("cannot be seen from here: {advice}\n");
    }
    Ok(Report::new(text, &EngineCheckOutput { checked }).exit(exit))
}

fn join(session: &Session) -> Result<Report> {
    let clone = engine::join(session)?;
    let text = format!("this clone is {clone} from now on; claim again what is worked on here\n");
    Ok(Report::new(text, &EngineJoinOutput { clone: clone.clone() }).brief(clone))
}

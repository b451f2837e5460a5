//! `jit engine`: where claims are kept.

use std::path::Path;

use holdfast_door::Clean;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{Engine as Command, EngineName, InitEngine, Migrate};
use crate::commands::config::require_global;
use crate::commands::validate::judged;
use crate::context::Context;
use crate::output::Report;
use holdfast_kernel::Millis;
use holdfast_tracker::Session;
use holdfast_tracker::claims;
use holdfast_tracker::claims::chosen::Keeper;
use holdfast_tracker::engine::{self, Checked, EngineStatus, Migrated, Recovered, SharedStatus};
use holdfast_tracker::error::Result;
use holdfast_tracker::issues::Issues;
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

/// Claims that have moved, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct EngineMigrateOutput {
    /// Where claims are kept from now on.
    pub engine: EngineStatus,
    /// How many went along.
    pub claims: usize,
    /// Whether anything was left to do.
    pub changed: bool,
}

/// A place that began anew, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct EngineRecoverOutput {
    /// What ended, and what counts from now on.
    #[serde(flatten)]
    pub recovered: Recovered,
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
            let (remote, register) = (typed.remote.clone(), typed.register.clone());
            init(context, &Keeper::Git { remote, register })
        }
        Command::Init(InitEngine::Etcd(typed)) => {
            init(context, &etcd(context, &typed.endpoints, typed.namespace.as_deref())?)
        }
        Command::Status { fresh } => status(&context.session()?, *fresh),
        Command::Check => check(&context.session()?),
        Command::Join => join(&context.session()?),
        Command::Migrate(typed) => migrate(context, typed),
        Command::Recover { reason, .. } => recover(context, reason),
    }
}

/// A place in etcd, as it was typed.
fn etcd(context: &Context, endpoints: &[String], namespace: Option<&str>) -> Result<Keeper> {
    match namespace {
        Some(namespace) => engine::in_etcd(endpoints, namespace),
        None => engine::in_etcd(endpoints, &own_name(&context.session()?)),
    }
}

/// What the repository's directory is called, as far as a namespace can be called that.
fn own_name(session: &Session) -> String {
    let directory = session.repository().and_then(|repository| repository.common_dir().parent());
    let name = directory.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let name: String = name.chars().map(plain).take(100).collect();
    if name.is_empty() { "default".to_owned() } else { name }
}

fn migrate(context: &Context, typed: &Migrate) -> Result<Report> {
    require_global(context)?;
    let to = match typed.to {
        EngineName::Local => None,
        EngineName::Git => {
            let (remote, register) = (typed.remote.clone(), typed.register.clone());
            Some(Keeper::Git { remote, register })
        }
        EngineName::Etcd => Some(etcd(context, &typed.endpoints, typed.namespace.as_deref())?),
    };
    let Migrated { claims, changed } = engine::migrate(&context.session()?, to.as_ref())?;
    let engine = engine::status(&context.session()?, false)?;
    let text = match (changed, &engine.shared) {
        (false, _) => format!("claims are kept already in {}\n", engine.place),
        (true, Some(_)) => format!(
            "claims are kept in {}, {claims} went along\nother clones find them by .jit/config.toml: commit it and \
             push it\n",
            engine.place
        ),
        (true, None) => {
            "claims are this clone's alone from now on\nrun the same command in every other clone\n"
                .to_owned()
        }
    };
    let brief = engine.engine;
    Ok(Report::new(text, &EngineMigrateOutput { engine, claims, changed }).brief(brief))
}

fn recover(context: &Context, reason: &str) -> Result<Report> {
    require_global(context)?;
    let recovered = engine::recover(&context.session()?, claims::reason("--reason", reason)?.as_str())?;
    let mut text = format!("claims are numbered by {} from now on\n", recovered.counter);
    if let Some(before) = &recovered.before {
        text += &format!("fences of {before} no longer compare with those that come\n");
    }
    let session = context.session()?;
    let issues = Issues::new(&session);
    for claim in &recovered.ended {
        let name = issues.resolve(&claim.resource).map(|id| issues.handle(id));
        let name = name.unwrap_or_else(|_| claim.resource.clone());
        text += &format!("ended: {name} of {} (fence {})\n", claim.agent_id, claim.fence);
    }
    text += "commit .jit/config.toml and push it; whoever works has to claim again\n";
    let brief = recovered.counter.clone();
    Ok(Report::new(text, &EngineRecoverOutput { recovered }).brief(brief))
}

fn init(context: &Context, wanted: &Keeper) -> Result<Report> {
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
        "asked: {} ago; {}, {}, {}\nthis clone: {}\n",
        secs(shared.age_secs),
        counted(shared.leases as u64, "claim"),
        counted(shared.clones as u64, "clone"),
        counted(shared.height, "step"),
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

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
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

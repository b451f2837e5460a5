//! `jit config`: what holds, where it comes from, how to change it. It works where the configuration is
//! wrong, because that is when it is needed.

mod gate;
pub mod output;

use crate::cli::Config as Command;
use crate::context::Context;
use crate::output::Report;
use holdfast_door::table;
use holdfast_tracker::Session;
use holdfast_tracker::code::Exit;
use holdfast_tracker::config::wire::problems;
use holdfast_tracker::config::{self, AgentFile, Change, Config, Places, Problem, Scope, Shown};
use holdfast_tracker::durable;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::times::rfc3339;
use holdfast_tracker::validate::{Check, config_problems as validate};
use holdfast_tracker::workspace::Ground;
use output::{
    ConfigGetOutput, ConfigSetOutput, ConfigShowOutput, ConfigValidateOutput, HierarchyOutput, Level, Place,
    Setting,
};

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    match command {
        Command::Show => show(context),
        Command::Get { key } => get(context, key),
        Command::Set { global, key, value } => {
            let change = |places: &Places, scope| config::set(&context.caller.sys, places, scope, key, value);
            changed(context, *global, |places, scope| dated(context, places, scope, change(places, scope)?))
        }
        Command::Reset { global, key } => {
            let change = |places: &Places, scope| config::reset(&context.caller.sys, places, scope, key);
            changed(context, *global, change)
        }
        Command::Validate => Ok(validated(&validate(&context.caller)?)),
        Command::ShowHierarchy => hierarchy(context),
    }
}

fn load(context: &Context) -> Result<(Config, AgentFile)> {
    let places = Ground::find(&context.caller)?.places(&context.caller);
    let config = Config::load(&context.caller.sys, &places.sources)?;
    Ok((config, AgentFile::load(&context.caller.sys, places.agent.as_deref())?))
}

fn show(context: &Context) -> Result<Report> {
    let (config, agent) = load(context)?;
    let all = config::show(&config, &agent);
    let rows: Vec<_> = all.iter().map(row).collect();
    let brief: Vec<_> = rows.iter().map(|[key, value, _]| format!("{key} = {value}")).collect();
    let count = all.len();
    let many = ConfigShowOutput { config: all.into_iter().map(Setting::from).collect(), count };
    Ok(Report::new(table(["KEY", "VALUE", "FROM"], &rows), &many).brief(brief.join("\n")))
}

fn row(shown: &Shown) -> [String; 3] {
    let value = shown.value.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    [shown.key.clone(), value, shown.origin.to_string()]
}

fn get(context: &Context, key: &str) -> Result<Report> {
    let (config, agent) = load(context)?;
    let found = config::get(&config, &agent, key)?;
    let Some(bare) = found.value.as_ref().map(config::Value::bare) else {
        return Err(config::Error::NotSet { key: found.key }.into());
    };
    Ok(Report::new(bare.clone(), &ConfigGetOutput { setting: found.into() }).brief(bare))
}

fn changed(
    context: &Context,
    global: bool,
    change: impl FnOnce(&Places, Scope) -> std::result::Result<Change, config::Error>,
) -> Result<Report> {
    let ground = Ground::find(&context.caller)?;
    let places = ground.places(&context.caller);
    let scope = if global { Scope::Global } else { Scope::Repository };
    if scope == Scope::Repository {
        require_data(context, &places)?;
        gate::pass(context, &ground, &places.sources)?;
    }
    let report = edited(&change(&places, scope)?);
    if scope == Scope::Repository {
        context.session().iter().for_each(Session::used_unseen);
    }
    Ok(report)
}

/// Lets a change that concerns everybody pass, or says why not.
pub(super) fn require_global(context: &Context) -> Result<()> {
    let ground = Ground::find(&context.caller)?;
    gate::pass(context, &ground, &ground.sources(&context.caller))
}

/// An identity is made when it is set: its file says so.
fn dated(
    context: &Context,
    places: &Places,
    scope: Scope,
    change: Change,
) -> std::result::Result<Change, config::Error> {
    if change.key == "agent.id" && change.changed {
        let now = rfc3339(&context.caller.sys.clock.now()?);
        config::set(&context.caller.sys, places, scope, "agent.created_at", &now)?;
    }
    Ok(change)
}

/// Without a `.jit/` there is nothing to configure, and making one would look as if issues were tracked here.
fn require_data(context: &Context, places: &Places) -> Result<()> {
    let data = places.sources.repository.as_deref().and_then(std::path::Path::parent);
    match data {
        Some(data) if !durable::is_dir(&context.caller.sys, data)? => {
            Err(Error::NotInitialised(context.caller.start.clone()))
        }
        _ => Ok(()),
    }
}

fn edited(change: &Change) -> Report {
    let path = change.path.to_string_lossy();
    let text = match (&change.after, change.changed) {
        (Some(value), true) => format!("{} is {value} in {path}", change.key),
        (Some(value), false) => format!("{} is {value} in {path} already", change.key),
        (None, true) => format!("{} is no longer set in {path}", change.key),
        (None, false) => format!("{} is not set in {path}", change.key),
    };
    Report::new(text, &ConfigSetOutput::from(change))
}

fn validated(found: &[Problem]) -> Report {
    let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
    let ok = found.is_empty();
    let text = if ok { "the configuration is valid".to_owned() } else { lines.join("\n") };
    let exit = if ok { Exit::Ok } else { Exit::Problems };
    let brief = lines.join("\n");
    let document =
        ConfigValidateOutput { checks: vec![Check::new("config", lines)], problems: problems(found) };
    Report::new(text, &document).brief(brief).exit(exit)
}

fn hierarchy(context: &Context) -> Result<Report> {
    let (config, _) = load(context)?;
    let types = &config.types.hierarchy;
    let lines = types.iter().enumerate().map(|(depth, name)| format!("{:1$}{name}", "", depth * 2));
    let level = |(depth, name): (usize, &String)| Level { kind: name.clone(), level: depth + 1 };
    let document = HierarchyOutput {
        hierarchy: types.iter().enumerate().map(level).collect(),
        origin: Place::from(&config.origin("types.hierarchy")),
    };
    Ok(Report::new(lines.collect::<Vec<_>>().join("\n"), &document).brief(types.join("\n")))
}

//! `jit config`: what holds, where it comes from, how to change it. It works where the configuration is
//! wrong, because that is when it is needed.

mod gate;

use serde_json::{Value as Json, json};

use crate::cli::Config as Command;
use crate::config::{self, AgentFile, Change, Config, Origin, Places, Problem, Scope, Shown, Value};
use crate::context::Context;
use crate::durable;
use crate::error::{Error, Exit, Result};
use crate::output::{Report, clean, table};
use crate::times::rfc3339;
use crate::workspace::Ground;

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, command: &Command) -> Result<Report> {
    match command {
        Command::Show => show(context),
        Command::Get { key } => get(context, key),
        Command::Set { global, key, value } => {
            let change = |places: &Places, scope| config::set(&context.sys, places, scope, key, value);
            changed(context, *global, |places, scope| dated(context, places, scope, change(places, scope)?))
        }
        Command::Reset { global, key } => {
            let change = |places: &Places, scope| config::reset(&context.sys, places, scope, key);
            changed(context, *global, change)
        }
        Command::Validate => Ok(validated(&validate(context)?)),
        Command::ShowHierarchy => hierarchy(context),
    }
}

/// Everything that is wrong with the configuration.
///
/// # Errors
/// When it cannot be looked at.
pub fn validate(context: &Context) -> Result<Vec<Problem>> {
    let places = places(context, &Ground::find(context)?);
    Ok(config::validate(&context.sys, &places)?)
}

fn places(context: &Context, ground: &Ground) -> Places {
    Places { sources: ground.sources(context), agent: context.user_file("agent.toml") }
}

fn load(context: &Context) -> Result<(Config, AgentFile)> {
    let places = places(context, &Ground::find(context)?);
    let config = Config::load(&context.sys, &places.sources)?;
    Ok((config, AgentFile::load(&context.sys, places.agent.as_deref())?))
}

fn show(context: &Context) -> Result<Report> {
    let (config, agent) = load(context)?;
    let all = config::show(&config, &agent);
    let rows: Vec<_> = all.iter().map(row).collect();
    let brief: Vec<_> = rows.iter().map(|[key, value, _]| format!("{key} = {value}")).collect();
    let json = json!({ "config": all.iter().map(shown).collect::<Vec<_>>(), "count": all.len() });
    Ok(Report::new(table(["KEY", "VALUE", "FROM"], &rows), &json).brief(clean(&brief.join("\n"))))
}

fn row(shown: &Shown) -> [String; 3] {
    let value = shown.value.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    [shown.key.clone(), value, shown.origin.to_string()]
}

fn get(context: &Context, key: &str) -> Result<Report> {
    let (config, agent) = load(context)?;
    let found = config::get(&config, &agent, key)?;
    let Some(value) = &found.value else {
        return Err(config::Error::NotSet { key: found.key }.into());
    };
    Ok(Report::new(value.bare(), &json!({ "setting": shown(&found) })).brief(value.bare()))
}

fn changed(
    context: &Context,
    global: bool,
    change: impl FnOnce(&Places, Scope) -> std::result::Result<Change, config::Error>,
) -> Result<Report> {
    let ground = Ground::find(context)?;
    let places = places(context, &ground);
    let scope = if global { Scope::Global } else { Scope::Repository };
    if scope == Scope::Repository {
        require_data(context, &places)?;
        gate::pass(context, &ground, &places.sources)?;
    }
    Ok(told(&change(&places, scope)?))
}

/// Lets a change that concerns everybody pass, or says why not.
pub(super) fn require_global(context: &Context) -> Result<()> {
    let ground = Ground::find(context)?;
    gate::pass(context, &ground, &ground.sources(context))
}

/// An identity is made when it is set: its file says so.
fn dated(
    context: &Context,
    places: &Places,
    scope: Scope,
    change: Change,
) -> std::result::Result<Change, config::Error> {
    if change.key == "agent.id" && change.changed {
        let now = rfc3339(&context.sys.clock.now()?);
        config::set(&context.sys, places, scope, "agent.created_at", &now)?;
    }
    Ok(change)
}

/// Without a `.jit/` there is nothing to configure, and making one would look as if issues were tracked here.
fn require_data(context: &Context, places: &Places) -> Result<()> {
    let data = places.sources.repository.as_deref().and_then(std::path::Path::parent);
    match data {
        Some(data) if !durable::is_dir(&context.sys, data)? => {
            Err(Error::NotInitialised(context.start.clone()))
        }
        _ => Ok(()),
    }
}

fn told(change: &Change) -> Report {
    let path = change.path.to_string_lossy();
    let text = match (&change.after, change.changed) {
        (Some(value), true) => format!("{} is {value} in {path}", change.key),
        (Some(value), false) => format!("{} is {value} in {path} already", change.key),
        (None, true) => format!("{} is no longer set in {path}", change.key),
        (None, false) => format!("{} is not set in {path}", change.key),
    };
    let json = json!({ "setting": {
        "key": change.key,
        "value": value(change.after.as_ref()),
        "previous": value(change.before.as_ref()),
        "path": path,
        "changed": change.changed,
    }});
    Report::new(clean(&text), &json)
}

fn validated(found: &[Problem]) -> Report {
    let told: Vec<_> = found.iter().map(ToString::to_string).collect();
    let ok = found.is_empty();
    let check = json!({ "name": "config", "ok": ok, "problems": told });
    let json = json!({ "checks": [check], "problems": problems(found) });
    let text = if ok { "the configuration is valid".to_owned() } else { told.join("\n") };
    let exit = if ok { Exit::Ok } else { Exit::Problems };
    Report::new(clean(&text), &json).brief(clean(&told.join("\n"))).exit(exit)
}

fn hierarchy(context: &Context) -> Result<Report> {
    let (config, _) = load(context)?;
    let types = &config.types.hierarchy;
    let lines = types.iter().enumerate().map(|(depth, name)| format!("{:1$}{name}", "", depth * 2));
    let levels = types.iter().enumerate().map(|(depth, name)| json!({ "type": name, "level": depth + 1 }));
    let json = json!({
        "hierarchy": levels.collect::<Vec<_>>(),
        "origin": origin(&config.origin("types.hierarchy")),
    });
    Ok(Report::new(lines.collect::<Vec<_>>().join("\n"), &json).brief(types.join("\n")))
}

fn shown(shown: &Shown) -> Json {
    json!({
        "key": shown.key,
        "value": value(shown.value.as_ref()),
        "default": value(shown.default.as_ref()),
        "origin": origin(&shown.origin),
        "about": shown.about,
    })
}

fn value(value: Option<&Value>) -> Json {
    match value {
        None => Json::Null,
        Some(Value::Switch(yes)) => json!(yes),
        Some(Value::Number(number)) => json!(number),
        Some(Value::Text(text)) => json!(text),
        Some(Value::List(texts)) => json!(texts),
    }
}

fn origin(origin: &Origin) -> Json {
    match origin {
        Origin::Default => json!({ "kind": "default", "path": null, "line": null }),
        Origin::File { layer, path, line } => {
            json!({ "kind": layer.code(), "path": path.to_string_lossy(), "line": line })
        }
    }
}

/// Problems as programs read them.
pub(crate) fn problems(problems: &[Problem]) -> Vec<Json> {
    let told = |problem: &Problem| {
        json!({
            "code": problem.fault.kind.code(),
            "path": problem.path.to_string_lossy(),
            "line": problem.line,
            "key": problem.key,
            "message": problem.fault.what,
            "fix": problem.fault.fix,
        })
    };
    problems.iter().map(told).collect()
}

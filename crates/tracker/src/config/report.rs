//! What is configured, for a person or a script to read. Nothing is printed here.

use holdfast_sys::Sys;

use super::format;
use super::key::{Key, Schema};
use super::keys::{AGENT, CONFIG};
use super::layers::{self, Origin, Settings};
use super::problem::{Problem, shown};
use super::{AgentFile, Config, Error, Places, Value};

/// A key with its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// The key's full name.
    pub key: String,
    /// Its value; none if it is not set and has no default.
    pub value: Option<Value>,
    /// Where the value comes from.
    pub origin: Origin,
    /// What it would be if no file said anything.
    pub default: Option<Value>,
    /// What it does.
    pub about: &'static str,
}

/// Every key with its value, in the order of the manual.
#[must_use]
pub fn show(config: &Config, agent: &AgentFile) -> Vec<Shown> {
    let common = CONFIG.keys().flat_map(|key| names(config, key).into_iter().map(move |name| (key, name)));
    let common = common.map(|(key, name)| entry(&CONFIG, &config.settings, key, name));
    let own = AGENT.keys().map(|key| entry(&AGENT, &agent.settings, key, key.name.to_owned()));
    let escalations = config.escalations.iter().enumerate().map(|(at, escalation)| Shown {
        key: format!("policy.escalate[{at}]"),
        value: Some(Value::Text(escalation.words())),
        origin: escalation.origin.clone(),
        default: None,
        about: "What is done when something takes too long or goes wrong.",
    });
    common.chain(escalations).chain(own).collect()
}

/// One key with its value.
///
/// # Errors
/// When there is no such key.
pub fn get(config: &Config, agent: &AgentFile, name: &str) -> Result<Shown, Error> {
    let schemas = [(&CONFIG, &config.settings), (&AGENT, &agent.settings)];
    for (schema, settings) in schemas {
        if let Some(key) = schema.key(name) {
            return Ok(entry(schema, settings, key, name.to_owned()));
        }
    }
    let near = schemas.iter().flat_map(|(schema, _)| schema.near(name)).collect();
    Err(Error::UnknownKey { key: shown(name), near })
}

/// Everything that is wrong with the configuration.
///
/// # Errors
/// When the disk fails.
pub fn validate(sys: &Sys, places: &Places) -> Result<Vec<Problem>, Error> {
    let sources = places.sources.read(sys)?;
    if let Some((path, version)) = sources.iter().find_map(format::later) {
        return Err(Error::Newer { path, version });
    }
    let (_, mut problems) = Config::examine(&sources);
    problems.extend(AgentFile::examine(&AgentFile::sources(sys, places.agent.as_deref())?).1);
    Ok(problems)
}

/// The names under which a key is there: one for each kind of agents that has a rule.
fn names(config: &Config, key: &Key) -> Vec<String> {
    if key.name.contains("<kind>") {
        return config.kinds.keys().map(|kind| key.name.replace("<kind>", kind)).collect();
    }
    vec![key.name.to_owned()]
}

fn entry(schema: &Schema, settings: &Settings, key: &Key, name: String) -> Shown {
    let setting = layers::effective(schema, settings, &name);
    let default = layers::effective(schema, &Settings::new(), &name).map(|setting| setting.value);
    let origin = setting.as_ref().map_or(Origin::Default, |setting| setting.origin.clone());
    Shown { key: name, value: setting.map(|setting| setting.value), origin, default, about: key.about }
}

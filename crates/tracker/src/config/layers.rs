//! Several files, one configuration: the nearest file wins, key by key, and each value remembers where it
//! was set. Nothing here touches a disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::key::Schema;
use super::keys::{CONFIG, Kind};
use super::parse;
use super::problem::{Fault, Problem, ProblemKind};
use super::source::{Layer, Source};
use super::value::Value;

/// Where a value comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// From the program.
    Default,
    /// From a file.
    File {
        /// Which one of several.
        layer: Layer,
        /// Its path.
        path: Arc<Path>,
        /// The line, counted from 1.
        line: usize,
    },
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line, .. } => write!(f, "{}:{line}", path.display()),
        }
    }
}

/// A value and where it comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The value.
    pub value: Value,
    /// Where it was set.
    pub origin: Origin,
}

/// What the files set, by the full names of the keys.
pub(super) type Settings = BTreeMap<String, Setting>;

/// Lays files over each other; later ones win.
pub(super) fn merge(schema: &Schema, sources: &[Source]) -> (Settings, Vec<Problem>) {
    let mut settings = Settings::new();
    let mut problems = Vec::new();
    for source in sources {
        let (found, wrong) = parse::parse(schema, source);
        problems.extend(wrong);
        for (key, parse::Placed { value, line }) in found {
            let origin = Origin::File { layer: source.layer, path: Arc::clone(&source.path), line };
            settings.insert(key, Setting { value, origin });
        }
    }
    (settings, problems)
}

/// The kinds of agents that have a rule of their own.
pub(super) fn kinds(settings: &Settings) -> BTreeMap<String, Kind> {
    let named: BTreeSet<_> = settings.keys().filter_map(|key| kind_of(key)).collect();
    let read = |kind: &str| Kind::read(|key| value(settings, &key.replace("<kind>", kind)));
    named.into_iter().map(|kind| (kind.to_owned(), read(kind))).collect()
}

/// What the files set a key to.
pub(super) fn value<'a>(settings: &'a Settings, key: &str) -> Option<&'a Value> {
    settings.get(key).map(|setting| &setting.value)
}

/// The kind of agents that a key is about.
pub(super) fn kind_of(key: &str) -> Option<&str> {
    let rest = key.strip_prefix("coordination.kinds.")?;
    rest.split_once('.').map(|(kind, _)| kind)
}

/// A value, or its default: a kind's is what holds for everybody.
pub(super) fn effective(schema: &Schema, settings: &Settings, key: &str) -> Option<Setting> {
    if let Some(setting) = settings.get(key) {
        return Some(setting.clone());
    }
    match kind_of(key).and_then(|_| key.rsplit_once('.')) {
        Some((_, field)) => effective(schema, settings, &format!("coordination.{field}")),
        None => {
            let value = (schema.key(key)?.default)()?;
            Some(Setting { value, origin: Origin::Default })
        }
    }
}

/// Settings that are fine by themselves and cannot be together.
pub(super) fn conflicts(settings: &Settings) -> Vec<Problem> {
    let kinds = kinds(settings);
    let tables = kinds.keys().map(|kind| format!("coordination.kinds.{kind}"));
    std::iter::once("coordination".to_owned())
        .chain(tables)
        .filter_map(|table| empty_range(settings, &table))
        .collect()
}

fn empty_range(settings: &Settings, table: &str) -> Option<Problem> {
    let (min_key, max_key) = (format!("{table}.min_ttl_secs"), format!("{table}.max_ttl_secs"));
    let (min, max) = (effective(&CONFIG, settings, &min_key)?, effective(&CONFIG, settings, &max_key)?);
    let (Value::Number(least), Value::Number(most)) = (&min.value, &max.value) else { return None };
    if least <= most {
        return None;
    }
    // The nearest file and there the last line is what was added to settings that were fine.
    let own =
        [min_key, max_key].into_iter().filter_map(|key| Some((place(&settings.get(&key)?.origin)?, key)));
    let ((_, line, path), key) = own.max()?;
    let what = format!(
        "no lease can be that long: at least {least} ({}), at most {most} ({})",
        min.origin, max.origin
    );
    let fault = Fault::new(ProblemKind::Conflict, what).fix("raise max_ttl_secs or lower min_ttl_secs");
    Some(Problem { path: Arc::clone(path), line: Some(line), key: Some(key), fault })
}

const fn place(origin: &Origin) -> Option<(Layer, usize, &Arc<Path>)> {
    match origin {
        Origin::Default => None,
        Origin::File { layer, path, line } => Some((*layer, *line, path)),
    }
}

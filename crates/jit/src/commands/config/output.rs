//! Settings as programs read them.

use schemars::JsonSchema;
use serde::Serialize;

use holdfast_tracker::config::{Change, Origin, Shown, Value, wire::Problem};
use holdfast_tracker::validate::Check;

/// All settings, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ConfigShowOutput {
    /// The settings, in the order of the manual.
    pub config: Vec<Setting>,
    /// How many.
    pub count: usize,
}

/// A setting, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ConfigGetOutput {
    /// The setting.
    pub setting: Setting,
}

/// A key with its value.
#[derive(Serialize, JsonSchema)]
pub struct Setting {
    /// The key's full name.
    pub key: String,
    /// Its value; none if it is not set and has no default.
    pub value: Option<Value>,
    /// What it would be if no file said anything.
    pub default: Option<Value>,
    /// Where the value comes from.
    pub origin: Place,
    /// What it does.
    pub about: &'static str,
}

/// Where a value comes from.
#[derive(Serialize, JsonSchema)]
pub struct Place {
    /// `default`, or the file: `system`, `user`, `repository` or `agent`.
    pub kind: &'static str,
    /// The file's path.
    pub path: Option<String>,
    /// The line, counted from 1.
    pub line: Option<usize>,
}

/// A setting that was set or removed, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ConfigSetOutput {
    /// The setting.
    pub setting: Edit,
}

/// A change of a file.
#[derive(Serialize, JsonSchema)]
pub struct Edit {
    /// The key.
    pub key: String,
    /// What the file says.
    pub value: Option<Value>,
    /// What it said before.
    pub previous: Option<Value>,
    /// The file.
    pub path: String,
    /// Whether it was written.
    pub changed: bool,
}

/// What is wrong with the configuration, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ConfigValidateOutput {
    /// What was looked at.
    pub checks: Vec<Check>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// The types of issues, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct HierarchyOutput {
    /// The types, the widest first.
    pub hierarchy: Vec<Level>,
    /// Where they come from.
    pub origin: Place,
}

/// A type of issues.
#[derive(Serialize, JsonSchema)]
pub struct Level {
    /// Its name.
    #[serde(rename = "type")]
    pub kind: String,
    /// How wide it is; 1 for the widest.
    pub level: usize,
}

impl From<Shown> for Setting {
    fn from(shown: Shown) -> Self {
        let Shown { key, value, origin, default, about } = shown;
        Self { key, value, default, origin: Place::from(&origin), about }
    }
}

impl From<&Origin> for Place {
    fn from(origin: &Origin) -> Self {
        match origin {
            Origin::Default => Self { kind: "default", path: None, line: None },
            Origin::File { layer, path, line } => Self {
                kind: layer.code(),
                path: Some(path.to_string_lossy().into_owned()),
                line: Some(*line),
            },
        }
    }
}

impl From<&Change> for ConfigSetOutput {
    fn from(change: &Change) -> Self {
        Self {
            setting: Edit {
                key: change.key.clone(),
                value: change.after.clone(),
                previous: change.before.clone(),
                path: change.path.to_string_lossy().into_owned(),
                changed: change.changed,
            },
        }
    }
}

//! What `cargo metadata` says, as far as the rules need it.

use std::path::Path;

use serde_json::Value;

use crate::child::Child;

/// One package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// Its licence as it states it; empty if it states none.
    pub(crate) licence: String,
    /// Where it comes from; empty if it is of this repository.
    pub(crate) source: String,
    /// The names of the packages that it asks for, whatever for.
    pub(crate) needs: Vec<Need>,
}

/// What a package asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Need {
    /// The package asked for.
    pub(crate) name: String,
    /// Whether it is only for tests.
    pub(crate) for_tests: bool,
}

impl Package {
    /// The packages of a workspace and everything that they are built from. A lock file that is not up to
    /// date is an error: what was committed is then not what gets built.
    pub(super) fn load(root: &Path, manifest: &str) -> Result<Vec<Self>, String> {
        let words =
            ["metadata", "--locked", "--all-features", "--format-version=1", "--manifest-path", manifest];
        let asked = Child::cargo(root, &words).quiet().run();
        if !asked.ok {
            return Err(format!("cargo says nothing about {manifest}: {}", asked.err.trim()));
        }
        let answer: Value = serde_json::from_str(&asked.out).map_err(|why| format!("{manifest}: {why}"))?;
        Ok(list(&answer, "packages").map(Self::from_json).collect())
    }

    fn from_json(json: &Value) -> Self {
        Self {
            name: text(json, "name"),
            version: text(json, "version"),
            licence: text(json, "license"),
            source: text(json, "source"),
            needs: list(json, "dependencies").map(Need::from_json).collect(),
        }
    }

    /// Whether it is of this repository.
    pub(super) const fn is_ours(&self) -> bool {
        self.source.is_empty()
    }
}

impl Need {
    fn from_json(json: &Value) -> Self {
        Self { name: text(json, "name"), for_tests: text(json, "kind") == "dev" }
    }
}

fn text(json: &Value, key: &str) -> String {
    json.get(key).and_then(Value::as_str).unwrap_or_default().into()
}

fn list<'a>(json: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    json.get(key).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_says_is_understood() {
        let json = r#"{"name":"a","version":"1.0.0","license":"MIT","source":null,
            "dependencies":[{"name":"b","kind":null},{"name":"c","kind":"dev"}]}"#;
        let package = Package::from_json(&serde_json::from_str(json).unwrap());
        assert_eq!((package.name.as_str(), package.licence.as_str()), ("a", "MIT"));
        assert!(package.is_ours());
        assert_eq!(package.needs[1], Need { name: "c".into(), for_tests: true });
        assert!(!package.needs[0].for_tests);
    }
}

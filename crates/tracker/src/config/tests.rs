//! What a configuration does, on real files.
#![expect(clippy::disallowed_methods, reason = "tests write the files that are read")]

mod changing;
mod concurrent;
mod editing;
mod escalate;
mod hostile;
mod layering;
mod manual;
mod problems;
mod table;

use std::path::PathBuf;

use holdfast_sys::Sys;
use tempfile::TempDir;

use super::*;

/// A user with a repository and a machine.
struct Home {
    dir: TempDir,
    places: Places,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| Some(dir.path().join(name));
        let places = Places {
            sources: Sources {
                repository: at("r/config.toml"),
                user: at("u/config.toml"),
                system: at("s.toml"),
            },
            agent: at("u/agent.toml"),
        };
        Self { dir, places }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// With the repository's file.
    fn with(text: &str) -> Self {
        let home = Self::new();
        home.write("r/config.toml", text);
        home
    }

    fn load(&self) -> Config {
        Config::load(&Sys::os(), &self.places.sources).unwrap()
    }

    fn agent(&self) -> AgentFile {
        AgentFile::load(&Sys::os(), self.places.agent.as_deref()).unwrap()
    }

    /// All problems as `kind line key`.
    fn problems(&self) -> Vec<String> {
        let told = |problem: &Problem| {
            let line = problem.line.map_or("-".to_owned(), |line| line.to_string());
            format!("{} {line} {}", problem.fault.kind.code(), problem.key.as_deref().unwrap_or("-"))
        };
        validate(&Sys::os(), &self.places).unwrap().iter().map(told).collect()
    }

    fn set(&self, key: &str, value: &str) -> Result<Change, Error> {
        set(&Sys::os(), &self.places, Scope::Repository, key, value)
    }

    fn reset(&self, key: &str) -> Result<Change, Error> {
        reset(&Sys::os(), &self.places, Scope::Repository, key)
    }
}

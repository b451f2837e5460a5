//! The packages for npm: one that people name, with a small launcher, and one for each kind of machine with the programs.
//! None has a script that runs when it is installed.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::stage::{Stage, put};
use super::table::{self, LICENCE, NODE, NPM, SUMMARY, Target};
use super::{Work, empty, read, remove, shown, write};

/// `jit serve` looks for the server beside `jit`.
const PROGRAMS: [&str; 3] = ["jit", "jit-server", "jit-board"];

/// The package with the programs for one kind of machine.
pub(super) fn programs(work: &Work, target: &Target, stage: &Stage) -> Result<PathBuf, String> {
    let folder = work.folder.join("npm");
    empty(&folder)?;
    for entry in stage.programs(&PROGRAMS) {
        put(&folder.join("bin").join(&entry.name), entry)?;
    }
    let (system, processor) = target.node;
    let manifest = json!({
        "name": own_name(target),
        "version": work.version,
        "description": format!("jit for {system} on {processor}: {SUMMARY}"),
        "license": LICENCE,
        "os": [system],
        "cpu": [processor],
        "files": ["bin"],
        "preferUnplugged": true,
    });
    let readme = format!(
        "# {}\n\nThe programs of [{NPM}](https://www.npmjs.com/package/{NPM}) for {system} on {processor}.\n",
        own_name(target)
    );
    write(&folder.join("README.md"), readme.as_bytes())?;
    pack(work, &manifest)
}

/// The package that people name.
pub(super) fn launcher(work: &Work) -> Result<PathBuf, String> {
    let folder = work.folder.join("npm");
    empty(&folder)?;
    for name in ["jit.js", "README.md"] {
        write(&folder.join(name), &read(&work.root.join("packages/jit").join(name))?)?;
    }
    super::stage::mode(&folder.join("jit.js"), 0o755)?;
    pack(work, &manifest(work.version))
}

/// The manifest of the package that people name.
fn manifest(version: &str) -> Value {
    let machines: Map<String, Value> =
        table::built_here().map(|target| (own_name(target), json!(version))).collect();
    json!({
        "name": NPM,
        "version": version,
        "description": SUMMARY,
        "license": LICENCE,
        "bin": { "jit": "jit.js" },
        "files": ["jit.js"],
        "engines": { "node": NODE },
        "optionalDependencies": machines,
        "publishConfig": { "access": "public" },
    })
}

fn own_name(target: &Target) -> String {
    let (system, processor) = target.node;
    format!("{NPM}-{system}-{processor}")
}

/// Adds what every package has, and packs it.
fn pack(work: &Work, manifest: &Value) -> Result<PathBuf, String> {
    let folder = work.folder.join("npm");
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        write(&folder.join(name), &read(&work.root.join(name))?)?;
    }
    let text = serde_json::to_string_pretty(manifest).map_err(|why| why.to_string())?;
    write(&folder.join("package.json"), format!("{text}\n").as_bytes())?;
    let (to, from) = (shown(work.folder), shown(&folder));
    let said =
        work.run("npm", &["pack", "--silent", "--ignore-scripts", "--pack-destination", &to, &from])?;
    let name = said.lines().last().unwrap_or_default().trim();
    remove(&folder)?;
    Ok(work.folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_machine_that_is_built_for_has_a_package_of_the_same_version() {
        let manifest = manifest("1.2.3");
        assert_eq!(manifest["optionalDependencies"], json!({ "@holdfast/jit-linux-x64": "1.2.3" }));
        assert!(manifest.get("scripts").is_none());
        assert_eq!(manifest["bin"]["jit"], "jit.js");
    }
}

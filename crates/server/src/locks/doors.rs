//! What the other doors say of their locks, by their own programs: doors never import each other. They lie beside this one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holdfast_kernel::Stamp;
use holdfast_tracker::Caller;
use holdfast_tracker::durable;
use holdfast_tracker::times::rfc3339;
use serde_json::Value;

use super::{Door, Entry, Found, LAST, Lock, Source, What};

/// Where a repository of `jvs` is told by, and a vault of `kc`.
const JVS: &str = ".jvs";
const KC: &str = "lineage.sqlite3";

const IC_KEEPS_NONE: &str = "ic keeps no history of its locks";
const KC_SHOWS_NONE: &str = "kc_cli has no command that shows the history of a vault";

/// Where the programs of the other doors are.
pub(super) struct Programs(PathBuf);

impl Programs {
    /// Those beside this one.
    pub(super) fn beside() -> Self {
        Self(std::env::current_exe().unwrap_or_else(|_| "jit-server".into()))
    }

    /// What a program says.
    #[expect(clippy::disallowed_methods, reason = "other doors are asked by their programs")]
    fn ask(&self, name: &str, at: &Path, words: &[&str]) -> Result<Value, String> {
        let program = self.0.with_file_name(name);
        let mut command = std::process::Command::new(&program);
        command.args(words).current_dir(at).stdin(std::process::Stdio::null());
        let said = command.output().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!("{name} is not installed beside jit-server"),
            _ => format!("{name} cannot be started: {error}"),
        })?;
        let document: Option<Value> = serde_json::from_slice(&said.stdout).ok();
        let words = String::from_utf8_lossy(&said.stderr);
        let first = words.lines().next().unwrap_or_default();
        match document {
            Some(document) if said.status.success() => Ok(document),
            Some(document) => {
                let message = document.pointer("/error/message").or_else(|| document.get("message"));
                Err(message.and_then(Value::as_str).unwrap_or(first).to_owned())
            }
            None if first.is_empty() => Err(format!("{name} gave no answer ({})", said.status)),
            None => Err(first.to_owned()),
        }
    }
}

fn text(value: &Value, path: &str) -> Option<String> {
    value.pointer(path).and_then(Value::as_str).map(ToOwned::to_owned)
}

/// What a door must say; a cell that it leaves empty would look like an answer.
fn said(value: &Value, path: &str) -> String {
    text(value, path).unwrap_or_else(|| "unknown".to_owned())
}

fn number(value: &Value, path: &str) -> Option<u64> {
    value.pointer(path).and_then(Value::as_u64)
}

fn moment(ms: u64) -> Option<String> {
    Some(rfc3339(&Stamp::new(i64::try_from(ms).ok()?, None).ok()?))
}

fn each<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// Whether a directory is a repository of `jvs`.
pub(super) fn is_jvs(caller: &Caller, place: &Path) -> bool {
    caller.sys.files.stat(&place.join(JVS)).is_ok()
}

/// What is kept at a place that was named: it is looked at which door's it is.
pub(super) fn at(caller: &Caller, programs: &Programs, place: &Path, found: &mut Found) {
    if place.ancestors().any(|folder| is_jvs(caller, folder)) {
        jvs(programs, place, found);
    } else if matches!(durable::is_file(&caller.sys, &place.join(KC)), Ok(true)) {
        kc(programs, place, found);
    } else if caller.sys.files.stat(place).is_ok() {
        ic(programs, Some(place), found);
    } else {
        let problem = Some("there is no such directory".to_owned());
        found.sources.push(Source { door: None, place: shown(place), problem, no_audit: None });
    }
}

fn shown(place: &Path) -> String {
    place.display().to_string()
}

/// The writer locks of the worktrees of a repository of `jvs`.
pub(super) fn jvs(programs: &Programs, at: &Path, found: &mut Found) {
    let place = shown(at);
    let ask = |words: &[&str]| programs.ask("jvs", at, &[&["--json", "--wait", "2"], words].concat());
    let mut problems = Vec::new();
    let listed = ask(&["worktree", "list"]).unwrap_or_else(|why| {
        problems.push(why);
        Value::Null
    });
    let named: BTreeMap<String, String> = each(&listed, "worktrees")
        .filter_map(|worktree| Some((text(worktree, "/worktree_id")?, text(worktree, "/name")?)))
        .collect();
    for name in named.values().cloned() {
        match ask(&["lock", "status", "--worktree", &name]) {
            Err(why) => problems.push(format!("{name}: {why}")),
            Ok(status) if status.get("lock").is_none_or(Value::is_null) => {}
            Ok(status) => found.locks.push(Lock {
                door: Door::Jvs,
                kind: What::Worktree,
                place: place.clone(),
                name,
                title: None,
                issue_id: None,
                holder: text(&status, "/lock/holder_id"),
                since: text(&status, "/lock/created_at"),
                until: text(&status, "/lock/lease_expires_at"),
                fence: number(&status, "/lock/fencing_token"),
                state: said(&status, "/state"),
            }),
        }
    }
    match ask(&["audit", "--limit", &LAST.to_string()]) {
        Err(why) => problems.push(why),
        Ok(audit) => found.audit.extend(each(&audit, "entries").filter_map(|entry| {
            Some(Entry {
                at: text(entry, "/at")?,
                door: Door::Jvs,
                place: place.clone(),
                event: text(entry, "/event")?,
                by: text(entry, "/actor"),
                name: text(entry, "/worktree_id").map(|id| named.get(&id).cloned().unwrap_or(id)),
            })
        })),
    }
    let problem = Some(problems.join("; ")).filter(|problems| !problems.is_empty());
    found.sources.push(Source { door: Some(Door::Jvs), place, problem, no_audit: None });
}

/// The named locks of `ic` under a root, or under the one that it has by itself.
pub(super) fn ic(programs: &Programs, root: Option<&Path>, found: &mut Found) {
    let place = root.map_or_else(|| "the root of ic".to_owned(), shown);
    let typed = root.map(shown);
    let mut words = vec!["--json", "lock", "list"];
    words.extend(typed.iter().flat_map(|root| ["--root", root.as_str()]));
    let listed = programs.ask("ic", root.unwrap_or_else(|| Path::new("/")), &words);
    let problem = listed.as_ref().err().cloned();
    for lock in listed.iter().flat_map(|listed| each(listed, "locks")) {
        let part = |name| said(lock, name);
        let word = part("/state");
        let is_dead = lock.get("alive") == Some(&Value::Bool(false));
        found.locks.push(Lock {
            door: Door::Ic,
            kind: What::NamedLock,
            place: place.clone(),
            name: format!("{} {}", part("/name"), part("/scope")),
            title: None,
            issue_id: None,
            holder: text(lock, "/owner"),
            since: number(lock, "/created").and_then(|secs| moment(secs.checked_mul(1_000)?)),
            until: None,
            fence: number(lock, "/fence"),
            state: if is_dead { "holder gone".to_owned() } else { word },
        });
    }
    let no_audit = problem.is_none().then_some(IC_KEEPS_NONE);
    found.sources.push(Source { door: Some(Door::Ic), place, problem, no_audit });
}

/// The turns on the documents of a vault of `kc`.
fn kc(programs: &Programs, vault: &Path, found: &mut Found) {
    let place = shown(vault);
    let listed = programs.ask("kc_cli", vault, &["lineage", "lock", "status", &place]);
    let problem = listed.as_ref().err().cloned();
    for lock in listed.iter().flat_map(|listed| each(listed, "locks")) {
        let is_held = lock.get("held") == Some(&Value::Bool(true));
        let Some(owner) = text(lock, "/owner") else { continue };
        found.locks.push(Lock {
            door: Door::Kc,
            kind: What::Turn,
            place: place.clone(),
            name: said(lock, "/doc_id"),
            title: None,
            issue_id: None,
            holder: Some(owner),
            since: number(lock, "/acquired_at_ms").and_then(moment),
            until: number(lock, "/expires_at_ms").and_then(moment),
            fence: number(lock, "/fence"),
            state: if is_held { "held" } else { "expired" }.to_owned(),
        });
    }
    let no_audit = problem.is_none().then_some(KC_SHOWS_NONE);
    found.sources.push(Source { door: Some(Door::Kc), place, problem, no_audit });
}

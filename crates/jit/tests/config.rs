//! `jit config` as a user types it.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start processes and write the files that they read"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A repository on the branch `main`, with issues tracked in it, and a user's directory.
struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(repository.path("work")).unwrap();
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        assert_eq!(repository.jit(&["init"]).code, 0);
        repository.git(&["add", "."]);
        repository.commit("start");
        repository
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path("work")).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", self.0.path()).env("JIT_CONFIG_HOME", self.path("user"));
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    fn git(&self, args: &[&str]) {
        let done = self.command("git").args(args).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {done:?}");
    }

    fn commit(&self, message: &str) {
        let name = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        self.git(&[&name[..], &["commit", "--quiet", "--allow-empty", "-m", message]].concat());
    }

    fn jit(&self, args: &[&str]) -> Told {
        Told::from(self.command(env!("CARGO_BIN_EXE_jit")).args(args).output().unwrap())
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.jit(&[args, &["--json"]].concat()).out).unwrap()
    }

    fn file(&self) -> String {
        std::fs::read_to_string(self.path("work/.jit/config.toml")).unwrap()
    }

    fn write(&self, text: &str) {
        std::fs::write(self.path("work/.jit/config.toml"), text).unwrap();
    }
}

/// What a command said.
#[derive(Debug)]
struct Told {
    code: i32,
    out: String,
    err: String,
}

impl From<Output> for Told {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }
}

#[test]
fn what_is_set_can_be_got_shown_and_reset() {
    let repository = Repository::new();
    repository.write("# ours\n[worktree]\nmode = \"auto\" # as it is\n");
    assert_eq!(repository.jit(&["config", "get", "coordination.default_ttl_secs"]).out, "600\n");
    assert_eq!(repository.jit(&["config", "set", "coordination.default_ttl_secs", "1200"]).code, 0);
    assert_eq!(repository.jit(&["config", "get", "coordination.default_ttl_secs"]).out, "1200\n");
    let path = repository.path("work/.jit/config.toml").canonicalize().unwrap();
    let setting = &repository.json(&["config", "get", "coordination.default_ttl_secs"])["setting"];
    assert_eq!(setting["origin"], json!({ "kind": "repository", "path": path, "line": 6 }));
    assert_eq!((&setting["value"], &setting["default"]), (&json!(1_200), &json!(600)));
    let all = repository.json(&["config", "show"]);
    let shown = all["config"].as_array().unwrap().iter().find(|one| one["key"] == setting["key"]);
    assert_eq!(shown, Some(setting));
    assert_eq!(repository.jit(&["config", "reset", "coordination.default_ttl_secs"]).code, 0);
    assert_eq!(repository.file(), "# ours\n[worktree]\nmode = \"auto\" # as it is\n\n[coordination]\n");
    assert_eq!(repository.jit(&["config", "get", "worktree.mode"]).out, "auto\n");
}

#[test]
fn the_users_settings_are_the_users() {
    let repository = Repository::new();
    assert_eq!(repository.jit(&["config", "set", "--global", "agent.id", "agent:alice"]).code, 0);
    let user = std::fs::read_to_string(repository.path("user/agent.toml")).unwrap();
    assert!(user.starts_with("[agent]\nid = \"agent:alice\"\ncreated_at = \""), "{user}");
    let made = repository.jit(&["config", "get", "agent.created_at"]).out;
    assert_eq!(
        (made.len(), made.trim_end().ends_with('Z')),
        ("2026-01-01T00:00:00.000Z\n".len(), true),
        "{made}"
    );
    assert_eq!(repository.jit(&["config", "get", "agent.id"]).out, "agent:alice\n");
    let refused = repository.jit(&["config", "set", "agent.id", "agent:bob"]);
    assert_eq!(refused.code, 6);
    assert!(refused.err.contains("hint: jit config set --global agent.id"), "{}", refused.err);
    assert_eq!(repository.jit(&["config", "set", "--global", "agent.id", "alice"]).code, 6);
}

#[test]
fn a_key_that_is_not_there_or_not_set_is_not_found() {
    let repository = Repository::new();
    let unknown = repository.jit(&["config", "get", "worktree.mod"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (3, ""));
    assert!(unknown.err.contains("hint: did you mean worktree.mode?"), "{}", unknown.err);
    let error = &repository.json(&["config", "get", "worktree.mod"])["error"];
    assert_eq!(
        (&error["code"], &error["details"]["candidates"]),
        (&json!("CONFIG_UNKNOWN_KEY"), &json!(["worktree.mode"]))
    );
    assert_eq!(repository.jit(&["config", "get", "coordination.shared_group"]).code, 3);
    assert_eq!(repository.jit(&["config", "set", "worktree.mode", "maybe"]).code, 6);
    assert_eq!(repository.jit(&["config", "set", "locks.max_age_secs", "-5"]).code, 6);
}

#[test]
fn a_wrong_file_stops_every_command_but_those_that_mend_it() {
    let repository = Repository::new();
    repository.write("[worktree]\nmode = \"maybe\"\nenforce_lease = \"off\"\n");
    for args in [&["claim", "list"][..], &["issue", "list"], &["config", "show"], &["worktree", "info"]] {
        let told = repository.jit(args);
        assert_eq!(told.code, 6, "{args:?}: {told:?}");
        assert!(told.err.contains("config.toml:2: worktree.mode"), "{args:?}: {}", told.err);
        assert!(told.err.contains("config.toml:3: worktree.enforce_lease"), "{args:?}: {}", told.err);
    }
    let told = repository.json(&["config", "validate"]);
    assert_eq!(told["problems"][0]["code"], json!("unknown_word"));
    assert_eq!(told["problems"][1]["line"], json!(3));
    assert_eq!(told["checks"][0]["ok"], json!(false));
    assert_eq!(repository.jit(&["config", "validate"]).code, 7);
    assert_eq!(repository.jit(&["validate", "config"]).code, 7);
    assert_eq!(repository.jit(&["config", "set", "worktree.mode", "on"]).code, 0);
    assert_eq!(repository.jit(&["config", "reset", "worktree.enforce_lease"]).code, 0);
    assert_eq!(repository.jit(&["config", "validate"]).code, 0);
    assert_eq!(repository.jit(&["claim", "list"]).code, 0);
}

#[test]
fn the_repositorys_file_is_changed_on_certain_branches_and_on_top_of_main() {
    let repository = Repository::new();
    repository.git(&["switch", "--quiet", "-c", "feature/x"]);
    let refused = repository.jit(&["config", "set", "worktree.mode", "on"]);
    assert_eq!(refused.code, 4, "{}", refused.err);
    assert!(refused.err.contains("on main or develop, not on feature/x"), "{}", refused.err);
    assert_eq!(repository.jit(&["config", "reset", "worktree.mode"]).code, 4);
    assert_eq!(repository.jit(&["config", "set", "--global", "worktree.mode", "auto"]).code, 0);
    repository.git(&["switch", "--quiet", "-c", "develop"]);
    assert_eq!(repository.jit(&["config", "set", "worktree.mode", "on"]).code, 0);
    repository.git(&["switch", "--quiet", "main"]);
    repository.commit("main goes on");
    repository.git(&["switch", "--quiet", "develop"]);
    let behind = repository.jit(&["config", "set", "worktree.mode", "off"]);
    assert_eq!(behind.code, 4, "{}", behind.err);
    assert!(behind.err.contains("hint: git rebase main"), "{}", behind.err);
    repository.write("[global_operations]\nrequire_main_history = false\nallowed_branches = [\"develop\"]\n");
    assert_eq!(repository.jit(&["config", "set", "worktree.mode", "off"]).code, 0);
}

#[test]
fn a_repository_without_the_allowed_branches_is_not_held_to_them() {
    let repository = Repository::new();
    repository.git(&["branch", "--quiet", "-m", "main", "trunk"]);
    assert_eq!(repository.jit(&["config", "set", "worktree.mode", "on"]).code, 0);
}

#[test]
fn nothing_is_configured_where_no_issues_are_tracked() {
    let repository = Repository::new();
    std::fs::create_dir(repository.path("elsewhere")).unwrap();
    let elsewhere = repository.path("elsewhere").display().to_string();
    assert_eq!(repository.jit(&["-C", &elsewhere, "config", "set", "worktree.mode", "on"]).code, 3);
    assert_eq!(std::fs::read_dir(repository.path("elsewhere")).unwrap().count(), 0);
    assert_eq!(repository.jit(&["-C", &elsewhere, "config", "get", "worktree.mode"]).out, "auto\n");
}

#[test]
fn reading_writes_nothing() {
    let repository = Repository::new();
    let before = repository.command("git").args(["status", "--porcelain", "--ignored"]).output().unwrap();
    for args in [&["show"][..], &["get", "worktree.mode"], &["validate"], &["show-hierarchy"]] {
        assert_eq!(repository.jit(&[&["config"], args].concat()).code, 0, "{args:?}");
    }
    let after = repository.command("git").args(["status", "--porcelain", "--ignored"]).output().unwrap();
    assert_eq!(before.stdout, after.stdout);
    assert!(!repository.path("user").exists());
}

#[test]
fn what_setting_leaves_behind_git_ignores() {
    let repository = Repository::new();
    assert_eq!(repository.jit(&["config", "set", "worktree.mode", "auto"]).code, 0);
    let status = repository.command("git").args(["status", "--porcelain"]).output().unwrap();
    assert_eq!(String::from_utf8(status.stdout).unwrap(), "?? .jit/config.toml\n");
}

#[test]
fn the_hierarchy_is_shown_from_the_widest_to_the_narrowest() {
    let repository = Repository::new();
    let told = repository.jit(&["config", "show-hierarchy"]);
    assert_eq!(told.out, "milestone\n  epic\n    story\n      task\n");
    assert_eq!(repository.jit(&["config", "set", "types.hierarchy", "epic,task"]).code, 0);
    let levels = &repository.json(&["config", "show-hierarchy"])["hierarchy"];
    assert_eq!(levels, &json!([{ "type": "epic", "level": 1 }, { "type": "task", "level": 2 }]));
}

//! Hooks come, live with the hooks that were there, and go without a trace.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::json;

use crate::stage::{Agent, JIT, Stage};

fn script(path: &Path, text: &str, mode: u32) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

/// Every name, kind, mode and content in a directory.
fn snapshot(directory: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut all: Vec<_> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let mode = std::fs::symlink_metadata(&path).unwrap().permissions().mode();
            let content = std::fs::read(&path).unwrap_or_default();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), mode, content)
        })
        .collect();
    all.sort();
    all
}

/// Whether a commit without a lease is stopped.
fn is_judged(agent: &Agent<'_>, issue: &str) -> bool {
    agent.edit(issue, json!({"title": "x"}));
    agent.git(&["add", "-A"]).ok();
    let stopped = agent.git(&["commit", "-q", "-m", "x"]).stderr.contains("this commit is rejected");
    agent.git(&["reset", "-q", "--hard"]).ok();
    stopped
}

#[test]
fn hooks_come_and_go() {
    let stage = Stage::bare();
    let issue = stage.issue("work");
    let main = stage.main();
    let (hooks, config) = (stage.path("repo/.git/hooks"), stage.path("repo/.git/config"));
    let before = (snapshot(&hooks), std::fs::read(&config).unwrap());
    let missing = main.jit(&["--json", "hooks", "status"]);
    assert_eq!((missing.code, &missing.json()["hooks"][0]["state"]), (Some(7), &json!("missing")));
    main.jit(&["hooks", "install"]).ok();
    let once = snapshot(&hooks);
    main.jit(&["hooks", "install"]).ok();
    assert_eq!(snapshot(&hooks), once);
    assert_eq!(main.jit(&["--json", "hooks", "status"]).ok().json()["hooks"][3]["state"], "installed");
    assert!(is_judged(&main, &issue));
    main.jit(&["hooks", "uninstall"]).ok();
    assert_eq!((snapshot(&hooks), std::fs::read(&config).unwrap()), before);
    main.jit(&["hooks", "uninstall"]).ok();
}

#[test]
fn a_hook_that_was_there_still_runs_and_comes_back_byte_for_byte() {
    let stage = Stage::bare();
    let issue = stage.issue("work");
    let main = stage.main();
    let hooks = stage.path("repo/.git/hooks");
    let log = "echo \"$(basename \"$0\") $#\" >> ../log\n";
    script(&hooks.join("pre-commit"), &format!("#!/bin/bash -e\n{log}exit 0"), 0o750);
    script(
        &hooks.join("prepare-commit-msg"),
        &format!("#!/usr/bin/env sh\r\n{log}").replace('\r', ""),
        0o755,
    );
    script(&stage.path("repo/tools/commit-msg"), &format!("#!/bin/sh\n{log}"), 0o755);
    main.commit("tools").ok();
    symlink("../../tools/commit-msg", hooks.join("commit-msg")).unwrap();
    script(
        &hooks.join("pre-push"),
        "#!/bin/sh\nwhile read -r a b c d; do echo \"pushed $c\" >> ../log; done\n",
        0o755,
    );
    let before = snapshot(&hooks);
    main.jit(&["hooks", "install"]).ok();
    let status = main.jit(&["--json", "hooks", "status"]).ok().json();
    assert!(status["hooks"].as_array().unwrap().iter().all(|hook| hook["other"] == true), "{status}");
    assert!(is_judged(&main, &issue));
    std::fs::write(stage.path("log"), "").unwrap();
    main.git(&["commit", "-q", "--allow-empty", "-m", "x"]).ok();
    main.git(&["push", "-q", "origin", "main"]).ok();
    let said = std::fs::read_to_string(stage.path("log")).unwrap();
    let expected = "pre-commit 0\nprepare-commit-msg 2\ncommit-msg.before-jit 1\npushed refs/heads/main\n";
    assert_eq!(said, expected);
    main.jit(&["hooks", "uninstall"]).ok();
    assert_eq!(snapshot(&hooks), before);
}

#[test]
fn a_hook_that_is_no_shell_script_is_kept_beside_ours() {
    let stage = Stage::bare();
    let issue = stage.issue("work");
    let main = stage.main();
    let hooks = stage.path("repo/.git/hooks");
    script(
        &hooks.join("pre-commit"),
        "#!/usr/bin/env -S awk -f\nBEGIN { print \"awk\" > \"../log\"; exit 3 }\n",
        0o755,
    );
    // Somebody switched this one off; it must not wake.
    script(&hooks.join("pre-push"), "#!/bin/sh\nexit 1\n", 0o644);
    let before = snapshot(&hooks);
    main.jit(&["hooks", "install"]).ok();
    main.jit(&["hooks", "install"]).ok();
    assert!(is_judged(&main, &issue));
    main.git(&["commit", "-q", "--allow-empty", "-m", "x"]).refused(&[]);
    assert_eq!(std::fs::read_to_string(stage.path("log")).unwrap(), "awk\n");
    main.git(&["commit", "-q", "--no-verify", "--allow-empty", "-m", "x"]).ok();
    main.git(&["push", "-q", "origin", "main"]).ok();
    main.jit(&["hooks", "uninstall"]).ok();
    assert_eq!(snapshot(&hooks), before);
}

#[test]
fn a_hook_that_was_written_anew_is_not_lost() {
    let stage = Stage::bare();
    let main = stage.main();
    let hook = stage.path("repo/.git/hooks/pre-commit");
    script(&hook, "#!/usr/bin/awk -f\nBEGIN {}\n", 0o755);
    main.jit(&["hooks", "install"]).ok();
    // A tool that manages hooks runs again.
    script(&hook, "#!/bin/sh\necho anew\n", 0o755);
    main.jit(&["hooks", "install"]).refused(&["pre-commit.before-jit", "only one can be kept"]);
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), "#!/bin/sh\necho anew\n");
    std::fs::remove_file(stage.path("repo/.git/hooks/pre-commit.before-jit")).unwrap();
    main.jit(&["hooks", "install"]).ok();
    main.jit(&["hooks", "uninstall"]).ok();
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), "#!/bin/sh\necho anew\n");
}

#[test]
fn husky_goes_on_as_it_was() {
    let stage = Stage::bare();
    let issue = stage.issue("work");
    let main = stage.main();
    // As husky 9 lays it out: what runs is found by the name and the place of the hook.
    let h = "#!/usr/bin/env sh\nn=$(basename \"$0\")\ns=$(dirname \"$(dirname \"$0\")\")/$n\n\
             [ ! -f \"$s\" ] && exit 0\nsh -e \"$s\" \"$@\"\nexit $?\n";
    script(&main.dir.join(".husky/_/h"), h, 0o755);
    for name in ["pre-commit", "commit-msg", "pre-push", "prepare-commit-msg"] {
        script(&main.dir.join(".husky/_").join(name), "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"", 0o755);
    }
    script(&main.dir.join(".husky/pre-commit"), "echo husky > ../log\n", 0o644);
    script(&main.dir.join(".husky/_/.gitignore"), "*", 0o644);
    main.git(&["config", "core.hooksPath", ".husky/_"]).ok();
    let before = snapshot(&main.dir.join(".husky/_"));
    main.jit(&["hooks", "install"]).ok();
    main.git(&["add", "-A"]).ok();
    main.git(&["commit", "-q", "-m", "husky"]).ok();
    assert_eq!(std::fs::read_to_string(stage.path("log")).unwrap(), "husky\n");
    assert!(is_judged(&main, &issue));
    main.jit(&["hooks", "uninstall"]).ok();
    assert_eq!(snapshot(&main.dir.join(".husky/_")), before);
}

#[test]
fn linked_worktrees_and_moved_repositories_are_judged() {
    let stage = Stage::bare();
    let issue = stage.issue("work");
    let a = stage.agent("agent:a", "a");
    a.jit(&["hooks", "install"]).ok();
    assert!(stage.path("repo/.git/hooks/pre-commit").exists());
    assert!(is_judged(&a, &issue) && is_judged(&stage.main(), &issue));
    std::fs::rename(stage.path("repo"), stage.path("moved")).unwrap();
    assert!(is_judged(&stage.at("agent:main", "moved"), &issue));
}

#[test]
fn a_directory_that_cannot_take_hooks_is_named() {
    let stage = Stage::bare();
    let main = stage.main();
    main.git(&["config", "core.hooksPath", "/dev/null"]).ok();
    main.jit(&["hooks", "install"]).refused(&["/dev/null", "core.hooksPath"]);
    main.git(&["config", "core.hooksPath", "/proc/nowhere"]).ok();
    main.jit(&["hooks", "install"]).refused(&["/proc/nowhere"]);
    let outside = Stage::empty();
    outside
        .run(JIT, "agent:a", &["hooks", "install"], &outside.path(""))
        .refused(&["not in a git repository"]);
}

#[test]
fn where_jit_is_gone_nothing_is_committed_to_issues() {
    let stage = Stage::bare();
    let main = stage.main();
    let program = stage.path("bin/jit");
    std::fs::create_dir(stage.path("bin")).unwrap();
    std::fs::copy(JIT, &program).unwrap();
    stage.run(program.to_str().unwrap(), "agent:main", &["hooks", "install"], &main.dir).ok();
    main.git(&["commit", "-q", "--allow-empty", "-m", "found where it was"]).ok();
    std::fs::remove_file(&program).unwrap();
    let words = ["nor on the PATH", "jit hooks uninstall"];
    main.git(&["commit", "-q", "--allow-empty", "-m", "gone"]).refused(&words);
    main.git(&["push", "-q", "origin", "main"]).refused(&words);
    // In a repository without issues the same hook has nothing to say.
    let other = stage.path("other");
    stage.run("git", "x", &["init", "-q", "other"], &stage.path("")).ok();
    let hooks = stage.path("repo/.git/hooks");
    let here = format!("core.hooksPath={}", hooks.display());
    stage.run("git", "x", &["-c", &here, "commit", "-q", "--allow-empty", "-m", "x"], &other).ok();
    // On the PATH it is found again.
    std::fs::create_dir(stage.path("path")).unwrap();
    std::fs::copy(JIT, stage.path("path/jit")).unwrap();
    let path = format!("{}:{}", stage.path("path").display(), std::env::var("PATH").unwrap());
    let mut command = main.command("git", &["commit", "-q", "--allow-empty", "-m", "back"]);
    assert!(command.env("PATH", path).output().unwrap().status.success());
}

#[test]
fn hooks_of_all_repositories_of_a_user_say_so() {
    let stage = Stage::bare();
    let main = stage.main();
    let shared = stage.path("shared");
    main.git(&["config", "--global", "core.hooksPath", shared.to_str().unwrap()]).ok();
    let installed = main.jit(&["hooks", "install"]).ok();
    assert!(installed.stdout.contains("every repository of this user"), "{installed}");
    assert!(shared.join("pre-commit").exists());
}

//! Repositories that belong to somebody else.

use std::path::Path;

use holdfast_git::{Error, Found, discover};
use holdfast_sys::os::OsFiles;

use crate::machine::Machine;
use crate::sandbox::Sandbox;

/// Whether git and we accept `dir` as a user who does not own it; both must say the same.
#[track_caller]
fn accepted(sandbox: &Sandbox, dir: &Path) -> bool {
    let mut command = sandbox.command(dir);
    command.env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1").args(["rev-parse", "--git-dir"]);
    let theirs = command.output().unwrap();
    let mut env = sandbox.env();
    env.user += 1;
    let ours = match discover(&OsFiles, dir, &env) {
        Ok(Found::Repository(_)) => true,
        Err(Error::DubiousOwner { .. }) => false,
        other => panic!("{other:?}"),
    };
    assert_eq!(ours, theirs.status.success(), "{}", String::from_utf8_lossy(&theirs.stderr));
    ours
}

#[test]
fn anothers_repository_needs_to_be_declared_safe() {
    let mut sandbox = Sandbox::new();
    let main = sandbox.repository("shared/main");
    sandbox.dir("shared/main/deep");
    std::os::unix::fs::symlink("shared", sandbox.root.join("link")).unwrap();
    let at = |path: &str| sandbox.root.join(path).to_str().unwrap().to_owned();
    let cases = [
        (vec![], false),
        (vec!["*".to_owned()], true),
        (vec![at("shared/main")], true),
        (vec![at("shared/main/deep")], false),
        (vec![at("shared")], false),
        (vec!["*".to_owned(), String::new()], false),
        (vec![String::new(), at("shared/main")], true),
        (vec!["shared/main".to_owned()], false),
        (vec!["~nobody-at-all/main".to_owned()], false),
    ];
    let configs: Vec<_> = cases.iter().map(|(values, _)| config(values)).collect();
    for (config, (values, safe)) in configs.iter().zip(&cases) {
        sandbox.set("GIT_CONFIG_GLOBAL", sandbox.file("config", config));
        assert_eq!(accepted(&sandbox, &main.join("deep")), *safe, "{values:?}");
    }
}

fn config(values: &[String]) -> String {
    let lines: Vec<_> = values.iter().map(|value| format!("directory = {value}\n")).collect();
    format!("[safe]\n{}", lines.concat())
}

#[test]
fn a_link_or_a_star_can_declare_it_safe() {
    // Recent versions of git understand these; older ones only the plain path.
    let mut sandbox = Sandbox::new();
    let main = sandbox.repository("shared/main");
    std::os::unix::fs::symlink("shared", sandbox.root.join("link")).unwrap();
    let at = |path: &str| sandbox.root.join(path).to_str().unwrap().to_owned();
    for named in [at("link/main"), at("shared/*"), "~/../shared/main".to_owned()] {
        let file = sandbox.file("config", config(std::slice::from_ref(&named)));
        sandbox.set("GIT_CONFIG_GLOBAL", file);
        let mut env = sandbox.env();
        env.user += 1;
        assert!(matches!(discover(&OsFiles, &main, &env), Ok(Found::Repository(_))), "{named}");
    }
}

#[test]
fn the_repository_cannot_declare_itself_safe() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git(&main, &["config", "safe.directory", "*"]);
    assert!(!accepted(&sandbox, &main));
}

#[test]
fn a_command_can_declare_it_safe() {
    let mut sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.set("GIT_CONFIG_COUNT", "1");
    sandbox.set("GIT_CONFIG_KEY_0", "safe.directory");
    sandbox.set("GIT_CONFIG_VALUE_0", &main);
    assert!(accepted(&sandbox, &main));
}

#[test]
fn anothers_linked_worktree_and_bare_repository() {
    let sandbox = Sandbox::new();
    let bare = sandbox.bare("bare.git");
    sandbox.git(&bare, &["worktree", "add", "--quiet", "../linked"]);
    assert!(!accepted(&sandbox, &bare));
    assert!(!accepted(&sandbox, &sandbox.root.join("linked")));
}

#[test]
fn a_named_repository_is_not_judged() {
    let mut sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.set("GIT_DIR", main.join(".git"));
    assert!(accepted(&sandbox, &main));
}

#[test]
fn every_part_of_the_way_counts() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git(&main, &["worktree", "add", "--quiet", "../linked"]);
    let linked = sandbox.root.join("linked");
    let git_dir = main.join(".git/worktrees/linked");
    for (start, foreign) in [
        (&main, main.clone()),
        (&main, main.join(".git")),
        (&linked, linked.clone()),
        (&linked, linked.join(".git")),
        (&linked, git_dir),
    ] {
        let machine = Machine { foreign: Some(foreign.clone()), ..Machine::default() };
        let found = discover(&machine, start, &sandbox.env());
        assert!(matches!(found, Err(Error::DubiousOwner { .. })), "{}: {found:?}", foreign.display());
    }
    let beside = Machine { foreign: Some(main.join("README")), ..Machine::default() };
    assert!(discover(&beside, &main, &sandbox.env()).is_ok());
}

#[test]
fn root_may_use_what_belongs_to_whoever_called_sudo() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let owner = holdfast_sys::os::effective_user();
    let mut env = sandbox.env();
    (env.user, env.sudo_user) = (0, Some(owner));
    assert!(matches!(discover(&OsFiles, &main, &env), Ok(Found::Repository(_))));
    // Only root stands in for somebody else.
    (env.user, env.sudo_user) = (owner + 1, Some(owner));
    assert!(matches!(discover(&OsFiles, &main, &env), Err(Error::DubiousOwner { .. })));
}

#[test]
fn the_error_says_what_to_type() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("it's mine");
    let mut env = sandbox.env();
    env.user += 1;
    let error = discover(&OsFiles, &main, &env).unwrap_err();
    let path = main.to_str().unwrap().replace('\'', "'\\''");
    assert_eq!(error.hint(), format!("if you trust it: git config --global --add safe.directory '{path}'"));
}

#[test]
fn bare_repositories_may_have_to_be_named() {
    let mut sandbox = Sandbox::new();
    let bare = sandbox.bare("bare.git");
    let main = sandbox.repository("main");
    sandbox.set("GIT_CONFIG_GLOBAL", sandbox.file("config", "[safe]\nbareRepository = explicit\n"));
    assert!(!sandbox.ask(&bare, &["rev-parse", "--git-dir"]).status.success());
    assert!(matches!(sandbox.discover(&bare), Err(Error::BareForbidden { .. })));
    sandbox.found(&main);
    sandbox.set("GIT_DIR", &bare);
    sandbox.git(&bare, &["rev-parse", "--git-dir"]);
    sandbox.found(&bare);
}

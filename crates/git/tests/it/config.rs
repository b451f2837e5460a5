//! Configuration, where it comes from, and the hooks that it leads to.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use holdfast_git::config::{Entry, Scope};
use holdfast_git::{Config, Error, hooks};
use holdfast_sys::os::OsFiles;
use proptest::prelude::*;

use crate::sandbox::{Sandbox, property};

fn read(sandbox: &Sandbox, dir: &Path) -> Config {
    Config::read(&OsFiles, &sandbox.env(), Some(&sandbox.found(dir))).unwrap()
}

/// Everything that git lists, against everything that we do: scope, file, key and value.
#[track_caller]
fn agree(sandbox: &Sandbox, dir: &Path) -> Config {
    let config = read(sandbox, dir);
    let list = sandbox.git(dir, &["config", "--list", "--show-scope", "--show-origin", "-z"]);
    let mut fields = list.split(|byte| *byte == 0);
    for entry in config.entries() {
        let theirs = (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap());
        let (scope, origin, pair) = ours(entry);
        assert_eq!(String::from_utf8_lossy(theirs.0), scope);
        assert_eq!(file(dir, theirs.1), file(dir, &origin), "{pair:?}");
        assert_eq!(String::from_utf8_lossy(theirs.2), String::from_utf8_lossy(&pair));
    }
    let more: Vec<_> = fields.map(String::from_utf8_lossy).collect();
    assert_eq!(more, [""], "git lists more");
    config
}

fn ours(entry: &Entry) -> (&'static str, Vec<u8>, Vec<u8>) {
    let scope = match entry.origin.scope {
        Scope::System => "system",
        Scope::Global => "global",
        Scope::Local => "local",
        Scope::Worktree => "worktree",
        Scope::Command => "command",
    };
    let origin = match &entry.origin.file {
        Some(file) => [b"file:", file.as_os_str().as_bytes()].concat(),
        None => b"command line:".to_vec(),
    };
    let mut pair = entry.key.clone();
    if let Some(value) = &entry.value {
        pair.push(b'\n');
        pair.extend(value);
    }
    (scope, origin, pair)
}

/// Git writes a repository's files relative to where it was started.
fn file(dir: &Path, origin: &[u8]) -> Option<PathBuf> {
    let path = origin.strip_prefix(b"file:")?;
    dir.join(std::ffi::OsStr::from_bytes(path)).canonicalize().ok()
}

#[test]
fn every_scope_in_its_order() {
    let mut sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git(&main, &["worktree", "add", "--quiet", "../linked"]);
    let linked = sandbox.root.join("linked");
    sandbox.file("system-config", "[who]\n\tam = system\n");
    sandbox.file("home/.config/git/config", "[who]\n\tam = xdg\n");
    sandbox.file("home/.gitconfig", "[who]\n\tam = home\n[Mixed \"Case\"]\n\tKeY\n");
    sandbox.git(&main, &["config", "who.am", "repository"]);
    sandbox.git(&main, &["config", "extensions.worktreeConfig", "true"]);
    sandbox.git(&linked, &["config", "--worktree", "who.am", "worktree"]);
    agree(&sandbox, &main);
    let config = agree(&sandbox, &linked);
    assert_eq!(config.all("who.am").count(), 5);
    let last = config.get("who.am").unwrap();
    assert_eq!((last.value.as_deref(), last.origin.scope), (Some(&b"worktree"[..]), Scope::Worktree));
    assert_eq!(config.bool("mixed.Case.key").unwrap(), Some(true));
    sandbox.set("XDG_CONFIG_HOME", sandbox.dir("xdg"));
    sandbox.file("xdg/git/config", "[who]\n\tam = moved\n");
    sandbox.set("GIT_CONFIG_COUNT", "2");
    sandbox.set("GIT_CONFIG_KEY_0", "Who.Am");
    sandbox.set("GIT_CONFIG_VALUE_0", "command");
    sandbox.set("GIT_CONFIG_KEY_1", "a.B.c");
    sandbox.set("GIT_CONFIG_VALUE_1", "");
    assert_eq!(agree(&sandbox, &linked).get("who.am").unwrap().origin.scope, Scope::Command);
    sandbox.set("GIT_CONFIG_GLOBAL", sandbox.file("one", "[who]\n\tam = one\n"));
    sandbox.set("GIT_CONFIG_NOSYSTEM", "yes");
    agree(&sandbox, &linked);
    sandbox.set("GIT_CONFIG_GLOBAL", "/dev/null");
    agree(&sandbox, &linked);
}

#[test]
fn what_git_hands_to_its_hooks() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let hook = sandbox
        .file("main/.git/hooks/pre-commit", "#!/bin/sh\nprintf '%s' \"$GIT_CONFIG_PARAMETERS\" > seen\n");
    std::fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let odd = "Odd.It's, a key!.K=a'b!c = d";
    sandbox.git(&main, &["-c", odd, "-c", "plain.true", "commit", "--quiet", "--allow-empty", "-m", "x"]);
    let mut env = sandbox.env();
    env.config_parameters = Some(std::fs::read_to_string(main.join("seen")).unwrap().into());
    let config = Config::read(&OsFiles, &env, Some(&sandbox.found(&main))).unwrap();
    assert_eq!(config.bool("plain.true").unwrap(), Some(true));
    let entry = config.get("odd.It's, a key!.k").unwrap();
    assert_eq!((entry.value.as_deref(), entry.origin.scope), (Some(&b"a'b!c = d"[..]), Scope::Command));
}

#[test]
fn includes() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git(&main, &["remote", "add", "origin", "https://example.org/team/tool.git"]);
    let git_dir = main.join(".git");
    let config = format!(
        "[include]\n path = beside\n path = ~/at-home\n path = missing\n path = {beside}\n\
         [includeIf \"gitdir:{root}/\"]\n path = yes1\n\
         [includeIf \"gitdir:main/.git\"]\n path = yes2\n\
         [includeIf \"gitdir:main/\"]\n path = yes3\n\
         [includeIf \"gitdir/i:MAIN/\"]\n path = yes4\n\
         [includeIf \"gitdir:MAIN/\"]\n path = no1\n\
         [includeIf \"gitdir:./main/\"]\n path = no2\n\
         [includeIf \"gitdir:./../main/**\"]\n path = no3\n\
         [includeIf \"gitdir:~/**\"]\n path = no4\n\
         [includeIf \"gitdir:{root}/m?[ai]*/.git\"]\n path = yes5\n\
         [includeIf \"onbranch:main\"]\n path = yes6\n\
         [includeIf \"onbranch:m*\"]\n path = yes7\n\
         [includeIf \"onbranch:agents/\"]\n path = no5\n\
         [includeIf \"hasconfig:remote.*.url:https://example.org/**\"]\n path = yes8\n\
         [includeIf \"hasconfig:remote.*.url:https://other.org/**\"]\n path = no6\n\
         [includeIf \"unheard:of\"]\n path = no7\n\
         [after]\n all = 1\n",
        root = sandbox.root.display(),
        beside = sandbox.root.join("home/beside").display(),
    );
    sandbox.file("home/.gitconfig", config);
    for name in ["beside", "at-home", "yes1", "yes2", "yes3", "yes4", "yes5", "yes6", "yes7", "yes8"] {
        sandbox.file(format!("home/{name}"), format!("[seen]\n {name}\n"));
    }
    for n in 1..=7 {
        sandbox.file(format!("home/no{n}"), format!("[seen]\n no{n}\n"));
    }
    sandbox.file("main/.git/more", "[include]\n path = even/more\n");
    sandbox.file("main/.git/even/more", "[includeIf \"gitdir:./\"]\n path = x\n");
    sandbox.git(&main, &["config", "include.path", "more"]);
    sandbox.git(&main, &["config", "includeIf.gitdir:./.path", "here"]);
    sandbox.file("main/.git/here", "[seen]\n here\n");
    let config = agree(&sandbox, &main);
    let seen = |name: &str| config.get(&format!("seen.{name}")).is_some();
    assert!((1..=8).all(|n| seen(&format!("yes{n}"))) && !(1..=7).any(|n| seen(&format!("no{n}"))));
    assert!(!seen("here"), "the pattern ./ begins below {}", git_dir.display());
    sandbox.git(&main, &["checkout", "--quiet", "-b", "agents/one"]);
    assert!(agree(&sandbox, &main).get("seen.no5").is_some());
    sandbox.git(&main, &["worktree", "add", "--quiet", "../other"]);
    assert!(agree(&sandbox, &sandbox.root.join("other")).get("seen.here").is_some());
}

#[test]
fn mistakes_are_named() {
    let mut sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let repository = sandbox.found(&main);
    let said = |content: &str| {
        sandbox.file("home/.gitconfig", content);
        assert!(!sandbox.ask(&main, &["config", "--list"]).status.success(), "git accepts it");
        Config::read(&OsFiles, &sandbox.env(), Some(&repository)).unwrap_err()
    };
    let error = said("[ok]\n a = 1\n\n b c\n");
    let file = sandbox.root.join("home/.gitconfig");
    assert_eq!(error.to_string(), format!("bad configuration in line 4 of {}", file.display()));
    assert!(matches!(said("[include]\n path = .gitconfig\n"), Error::IncludeDepth { .. }));
    assert!(matches!(said("[include]\n path\n"), Error::ConfigValue { .. }));
    sandbox.file("home/.gitconfig", "[a]\n b = perhaps\n path\n c = ~nobody-at-all/x\n");
    let config = read(&sandbox, &main);
    let error = config.bool("a.b").unwrap_err();
    let text = format!(
        "the configuration value a.b = 'perhaps' in line 2 of {} is not true or false",
        file.display()
    );
    assert_eq!(error.to_string(), text);
    assert!(config.path("a.path").is_err() && config.path("a.c").is_err());
    assert_eq!((config.bool("a.none").unwrap(), config.path("a.none").unwrap()), (None, None));
    sandbox.set("GIT_CONFIG_COUNT", "1");
    sandbox.set("GIT_CONFIG_KEY_0", "nodot");
    sandbox.set("GIT_CONFIG_VALUE_0", "x");
    assert!(!sandbox.ask(&main, &["config", "--list"]).status.success());
    assert!(Config::read(&OsFiles, &sandbox.env(), None).is_err());
}

#[track_caller]
fn same_hooks(sandbox: &Sandbox, dir: &Path, runs_in: &Path) -> PathBuf {
    let ours = hooks::directory(&sandbox.found(dir), &read(sandbox, dir)).unwrap();
    // Git answers relative to where it was asked; hooks run at the top.
    let theirs = sandbox.git_path(runs_in, &["rev-parse", "--git-path", "hooks"]);
    assert_eq!(ours, runs_in.join(theirs));
    ours
}

#[test]
fn the_hooks_that_git_runs() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let deep = sandbox.dir("main/deep");
    sandbox.git(&main, &["worktree", "add", "--quiet", "../linked"]);
    let linked = sandbox.root.join("linked");
    assert_eq!(same_hooks(&sandbox, &main, &main), main.join(".git/hooks"));
    assert_eq!(same_hooks(&sandbox, &linked, &linked), main.join(".git/hooks"));
    sandbox.git(&main, &["config", "core.hooksPath", "my hooks"]);
    assert_eq!(same_hooks(&sandbox, &deep, &main), main.join("my hooks"));
    assert_eq!(same_hooks(&sandbox, &linked, &linked), linked.join("my hooks"));
    sandbox.git(&main, &["config", "core.hooksPath", "~/hooks"]);
    assert_eq!(same_hooks(&sandbox, &main, &main), sandbox.root.join("home/hooks"));
    sandbox.git(&main, &["config", "extensions.worktreeConfig", "true"]);
    sandbox.git(&linked, &["config", "--worktree", "core.hooksPath", "/dev/null"]);
    assert_eq!(same_hooks(&sandbox, &linked, &linked), Path::new("/dev/null"));
    let bare = sandbox.bare("bare.git");
    assert_eq!(same_hooks(&sandbox, &bare, &bare), bare.join("hooks"));
    sandbox.git(&bare, &["config", "core.hooksPath", "hooks-of-mine"]);
    assert_eq!(same_hooks(&sandbox, &bare, &bare), bare.join("hooks-of-mine"));
    let sub = sandbox.with_submodule().join("sub");
    assert_eq!(same_hooks(&sandbox, &sub, &sub), sandbox.root.join("outer/.git/modules/sub/hooks"));
}

#[test]
fn a_relative_hooks_path_means_the_top_of_the_worktree() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let deep = sandbox.dir("main/deep");
    sandbox.git(&main, &["config", "core.hooksPath", "mine"]);
    let ours = hooks::directory(&sandbox.found(&deep), &read(&sandbox, &deep)).unwrap();
    let hook = sandbox.file(ours.join("pre-commit"), "#!/bin/sh\ntouch \"$PWD/ran\"\n");
    std::fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    sandbox.git(&deep, &["commit", "--quiet", "--allow-empty", "-m", "from below"]);
    assert!(main.join("ran").exists(), "git ran the hook that we said it would");
}

/// Pieces of values that git reads in one way only; versions differ in what white space within becomes.
const PIECES: [&str; 16] = [
    "\"", "\"", "\\\"", "\\\\", "\\n", "\\t", "\\b", "\\x", "\\\n", "#", ";", "x", "y z", "=", " ", "\u{e9}",
];

/// Lines, right and wrong.
const LINES: [&str; 18] = [
    "[a]",
    "[A.b]",
    "[a \"B c\"]",
    "[a \"B\\\"c\"]",
    "[a  \"\"]",
    "[a]k = v",
    " Key-1",
    "k ",
    "k=",
    "# x = y",
    "; z",
    "",
    "1 = 2",
    "k v",
    "[",
    "[a \"b]",
    "[a b]",
    "= v",
];

fn value() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..8)
        .prop_map(|pieces| format!("k = {}", pieces.concat()))
}

fn line() -> impl Strategy<Value = String> {
    let ended = (
        prop_oneof![value(), prop::sample::select(&LINES[..]).prop_map(str::to_owned)],
        prop::sample::select(&["\n", "\n", "\r\n", ""][..]),
    );
    ended.prop_map(|(line, end)| line + end)
}

/// Any file is read as git reads it, or refused as git refuses it.
#[test]
fn any_syntax() {
    let sandbox = Sandbox::new();
    let files = (prop::collection::vec(line(), 0..5), any::<bool>());
    property(300, &files, |(lines, bom)| {
        let text = format!("{}[s]\n{}", if bom { "\u{feff}" } else { "" }, lines.concat());
        let file = sandbox.file("any", &text);
        let args = ["config", "--list", "--no-includes", "-z", "--file", file.to_str().unwrap()];
        let theirs = sandbox.ask(&sandbox.root, &args);
        let mut env = sandbox.env();
        env.config_global = Some(file.into());
        let ours = Config::read(&OsFiles, &env, None);
        prop_assert_eq!(ours.is_ok(), theirs.status.success(), "{:?}: {:?}", text, ours.err());
        if let Ok(ours) = ours {
            let pairs = ours.entries().iter().map(|entry| [self::ours(entry).2, vec![0]].concat());
            let list: Vec<u8> = pairs.flatten().collect();
            prop_assert_eq!(
                String::from_utf8_lossy(&list),
                String::from_utf8_lossy(&theirs.stdout),
                "{:?}",
                text
            );
        }
        Ok(())
    });
}

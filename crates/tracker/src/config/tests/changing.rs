//! Setting and resetting keys in files.

use std::os::unix::fs::PermissionsExt;

use super::*;

const OURS: &str = "\
# Our rules.

[worktree]
mode = \"auto\"   # see the wiki

# Leases are short here.
[coordination]
  default_ttl_secs = 300
";

fn mode(path: PathBuf) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn setting_changes_the_value_and_no_other_byte() {
    let home = Home::with(OURS);
    let change = home.set("coordination.default_ttl_secs", "1200").unwrap();
    assert_eq!((change.before, change.after), (Some(Value::Number(300)), Some(Value::Number(1_200))));
    assert!(change.changed);
    assert_eq!(home.read("r/config.toml"), OURS.replace("300", "1200"));
    home.set("worktree.enforce_leases", "warn").unwrap();
    let text = OURS.replace("300", "1200").replace("wiki\n", "wiki\nenforce_leases = \"warn\"\n");
    assert_eq!(home.read("r/config.toml"), text);
    assert_eq!(home.load().worktree.enforce_leases, EnforceLeases::Warn);
}

#[test]
fn resetting_removes_the_line_and_no_other_byte() {
    let home = Home::with(OURS);
    let change = home.reset("worktree.mode").unwrap();
    assert_eq!((change.before, change.after), (Some(Value::Text("auto".to_owned())), None));
    assert_eq!(home.read("r/config.toml"), OURS.replace("mode = \"auto\"   # see the wiki\n", ""));
    assert!(!home.reset("worktree.mode").unwrap().changed);
    assert!(!home.reset("locks.max_age_secs").unwrap().changed);
}

#[test]
fn what_is_set_already_is_not_written_again() {
    let home = Home::with(OURS);
    let before = std::fs::metadata(home.path("r/config.toml")).unwrap().modified().unwrap();
    assert!(!home.set("worktree.mode", "auto").unwrap().changed);
    assert_eq!(std::fs::metadata(home.path("r/config.toml")).unwrap().modified().unwrap(), before);
}

#[test]
fn every_kind_of_value_can_be_set() {
    let home = Home::new();
    for (key, text, value) in [
        ("locks.enable_metadata", "false", Value::Switch(false)),
        ("worktree.mode", "on", Value::Text("on".to_owned())),
        ("coordination.shared_group", "devs", Value::Text("devs".to_owned())),
        ("coordination.kinds.ci.max_ttl_secs", "60", Value::Number(60)),
        ("types.hierarchy", "epic, task", Value::List(vec!["epic".to_owned(), "task".to_owned()])),
        ("global_operations.allowed_branches", "[\"a,b\"]", Value::List(vec!["a,b".to_owned()])),
    ] {
        assert_eq!(home.set(key, text).unwrap().after, Some(value.clone()), "{key}");
        let shown = get(&home.load(), &home.agent(), key).unwrap();
        assert_eq!(shown.value, Some(value.clone()), "{key}");
        assert!(!home.set(key, &value.bare()).unwrap().changed, "{key}: what is shown can be set");
    }
}

#[test]
fn a_value_that_cannot_be_is_refused_and_nothing_is_written() {
    let home = Home::with(OURS);
    for (key, text) in [
        ("worktree.mode", "maybe"),
        ("locks.enable_metadata", "yes"),
        ("coordination.default_ttl_secs", "0"),
        ("coordination.default_ttl_secs", "-1"),
        ("coordination.default_ttl_secs", "1e3"),
        ("coordination.default_ttl_secs", ""),
        ("coordination.default_ttl_secs", "99999999999999999999999999999999999999999999"),
        ("coordination.shared_group", "a\nb"),
        ("types.hierarchy", ""),
        ("types.hierarchy", "a,,b"),
        ("types.hierarchy", "[1]"),
        ("types.hierarchy", "[\"a\""),
    ] {
        let error = home.set(key, text).unwrap_err();
        assert!(matches!(error, Error::BadValue { .. }), "{key} {text:?}: {error}");
    }
    assert_eq!(home.read("r/config.toml"), OURS);
    let error = home.set("worktree.mode", "offf").unwrap_err().to_string();
    assert!(error.ends_with("did you mean off?"), "{error}");
}

#[test]
fn a_key_that_is_not_there_is_refused_with_what_was_meant() {
    let home = Home::with(OURS);
    for error in [home.set("worktree.mod", "on").unwrap_err(), home.reset("worktree.mod").unwrap_err()] {
        assert_eq!(error.hint().as_deref(), Some("did you mean worktree.mode?"));
    }
    assert!(matches!(home.set("worktree", "on"), Err(Error::UnknownKey { .. })));
    assert!(matches!(home.set("coordination.kinds.a b.min_ttl_secs", "1"), Err(Error::UnknownKey { .. })));
    assert!(matches!(home.set("", "1"), Err(Error::UnknownKey { .. })));
}

#[test]
fn settings_that_exclude_each_other_are_refused() {
    let home = Home::with("[coordination]\nmax_ttl_secs = 60\n");
    let error = home.set("coordination.min_ttl_secs", "61").unwrap_err();
    assert!(
        matches!(error, Error::BadValue { ref fault, .. } if fault.kind == ProblemKind::Conflict),
        "{error}"
    );
    home.write("r/config.toml", "[coordination]\nmin_ttl_secs = 700000\nmax_ttl_secs = 800000\n");
    assert!(home.reset("coordination.max_ttl_secs").is_err(), "the default is too short");
}

#[test]
fn a_wrong_file_can_be_mended_key_by_key() {
    let home = Home::with(
        "[worktree]\nmode = \"maybe\"\nmood = 1\n[coordination]\nmin_ttl_secs = 9\nmax_ttl_secs = 3\n",
    );
    home.set("worktree.mode", "on").unwrap();
    home.reset("worktree.mood").unwrap();
    home.set("coordination.max_ttl_secs", "10").unwrap();
    assert_eq!(home.problems(), [""; 0]);
    assert_eq!(
        home.read("r/config.toml"),
        "[worktree]\nmode = \"on\"\n[coordination]\nmin_ttl_secs = 9\nmax_ttl_secs = 10\n"
    );
}

#[test]
fn what_is_not_toml_is_not_changed() {
    let home = Home::with("[worktree\n");
    assert!(matches!(home.set("worktree.mode", "on"), Err(Error::Invalid(_))));
    home.write("r/config.toml", "[worktree]\nmode = \"on\"\nmode = \"off\"\n");
    assert!(matches!(home.reset("worktree.mode"), Err(Error::Invalid(_))));
    home.write("r/config.toml", "worktree = 3\n");
    assert!(matches!(home.set("worktree.mode", "on"), Err(Error::ByHand { line: 1, .. })));
    assert_eq!(home.read("r/config.toml"), "worktree = 3\n");
}

#[test]
fn the_users_own_go_to_the_users_files_which_are_private() {
    let home = Home::new();
    let set = |key: &str, value: &str| set(&Sys::os(), &home.places, Scope::Global, key, value);
    set("agent.id", "agent:alice").unwrap();
    set("behavior.auto_heartbeat", "true").unwrap();
    set("coordination.default_ttl_secs", "900").unwrap();
    assert_eq!(
        home.read("u/agent.toml"),
        "[agent]\nid = \"agent:alice\"\n\n[behavior]\nauto_heartbeat = true\n"
    );
    assert_eq!(home.read("u/config.toml"), "[coordination]\ndefault_ttl_secs = 900\n");
    assert_eq!(mode(home.path("u")), 0o700);
    assert_eq!((mode(home.path("u/agent.toml")), mode(home.path("u/config.toml"))), (0o600, 0o600));
    assert!(matches!(set("agent.id", "alice"), Err(Error::BadValue { .. })));
    assert!(matches!(home.set("agent.id", "agent:alice"), Err(Error::NotForRepositories { .. })));
    assert!(!home.path("r").exists());
    reset(&Sys::os(), &home.places, Scope::Global, "agent.id").unwrap();
    assert_eq!(home.agent().agent.id, None);
}

#[test]
fn a_file_keeps_its_mode_and_no_litter_stays() {
    let home = Home::with(OURS);
    std::fs::set_permissions(home.path("r/config.toml"), PermissionsExt::from_mode(0o640)).unwrap();
    home.write("r/.config.toml.new-0123", "left by a crash");
    home.set("worktree.mode", "on").unwrap();
    assert_eq!(mode(home.path("r/config.toml")), 0o640);
    let names = Sys::os().files.list(&home.path("r")).unwrap();
    assert_eq!(names, ["cache", "config.toml"]);
}

#[test]
fn without_a_repository_or_a_user_there_is_nowhere_to_keep_it() {
    let nowhere = Places::default();
    for (scope, key) in
        [(Scope::Repository, "worktree.mode"), (Scope::Global, "worktree.mode"), (Scope::Global, "agent.id")]
    {
        let error = set(&Sys::os(), &nowhere, scope, key, "on").unwrap_err();
        assert!(matches!(error, Error::Nowhere { .. }), "{error}");
    }
}

#[test]
fn resetting_makes_no_files() {
    let home = Home::new();
    assert!(!home.reset("worktree.mode").unwrap().changed);
    assert_eq!(Sys::os().files.list(home.dir.path()).unwrap(), [""; 0]);
}

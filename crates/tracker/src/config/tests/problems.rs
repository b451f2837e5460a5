//! Everything that is wrong is named, with its line.

use super::*;

/// The problems of a repository's file with this text.
fn of(text: &str) -> Vec<String> {
    Home::with(text).problems()
}

/// The first problem as a person reads it, without the path.
fn told(text: &str) -> String {
    let home = Home::with(text);
    let problem = validate(&Sys::os(), &home.places).unwrap().remove(0);
    problem.to_string().replace(&home.path("r/config.toml").display().to_string(), "config.toml")
}

#[test]
fn one_mistake_does_not_hide_the_next() {
    let text = "\
[worktree]
mode = \"sometimes\"
enforce_lease = \"strict\"
mode = \"auto\"

[coordination]
default_ttl_secs = \"600\"
heartbeat_interval_secs = 0
stale_threshold_secs = 99999999999999999999999999
auto_renew_leases = 1
shared_group = \"a b\"

[coordination.kinds.ci]
min_ttl_secs = -1
colour = \"red\"

[types]
hierarchy = []

[global_operations]
allowed_branches = [
    \"main\",
    3,
]

[nonsense]
a = 1
b = 2
";
    let expected = [
        "unknown_word 2 worktree.mode",
        "unknown_key 3 worktree.enforce_lease",
        "duplicate_key 4 -",
        "wrong_type 7 coordination.default_ttl_secs",
        "out_of_range 8 coordination.heartbeat_interval_secs",
        "out_of_range 9 coordination.stale_threshold_secs",
        "wrong_type 10 coordination.auto_renew_leases",
        "bad_text 11 coordination.shared_group",
        "out_of_range 14 coordination.kinds.ci.min_ttl_secs",
        "unknown_key 15 coordination.kinds.ci.colour",
        "out_of_range 18 types.hierarchy",
        "wrong_type 21 global_operations.allowed_branches",
        "unknown_key 27 nonsense.a",
        "unknown_key 28 nonsense.b",
    ];
    assert_eq!(of(text), expected);
}

#[test]
fn a_bad_file_is_never_partly_obeyed() {
    let home = Home::with("[worktree]\nenforce_leases = \"off\"\nmood = 1\n");
    let error = Config::load(&Sys::os(), &home.places.sources).unwrap_err();
    assert!(matches!(error, Error::Invalid(Problems(ref all)) if all.len() == 1), "{error}");
    assert!(error.to_string().contains("config.toml:3: worktree.mood: there is no such key"), "{error}");
}

#[test]
fn the_problems_of_all_files_are_named_together() {
    let home = Home::with("x = 1\n");
    home.write("u/config.toml", "\ny = 1\n");
    home.write("s.toml", "\n\nz = 1\n");
    home.write("u/agent.toml", "[agent]\nid = \"alice\"\n[behavior]\nauto_heartbeat = \"yes\"\n");
    assert_eq!(
        home.problems(),
        [
            "unknown_key 3 z",
            "unknown_key 2 y",
            "unknown_key 1 x",
            "bad_text 2 agent.id",
            "wrong_type 4 behavior.auto_heartbeat"
        ]
    );
    assert!(AgentFile::load(&Sys::os(), home.places.agent.as_deref()).is_err());
}

#[test]
fn near_misses_are_proposed() {
    assert_eq!(
        told("worktree.enforce_lease = 1"),
        "config.toml:1: worktree.enforce_lease: there is no such key; did you mean worktree.enforce_leases?"
    );
    assert_eq!(
        told("[coordination]\nenforce_leases = \"strict\""),
        "config.toml:2: coordination.enforce_leases: there is no such key; did you mean worktree.enforce_leases?"
    );
    assert_eq!(
        told("worktree.mode = \"Auto\""),
        "config.toml:1: worktree.mode: \"Auto\" is no word it knows; expected \"auto\" or \"on\" or \"off\"; \
         did you mean auto?"
    );
    assert!(told("agent.id = \"agent:alice\"").ends_with("it belongs in the user's agent.toml"));
    assert!(told("[coordination.kinds.'a b']\nmin_ttl_secs = 1").contains("a kind is up to 32"));
}

#[test]
fn a_type_says_what_was_expected_and_what_was_found() {
    assert_eq!(
        told("locks.enable_metadata = \"yes\""),
        "config.toml:1: locks.enable_metadata: expected true or false, found a text"
    );
    assert_eq!(
        told("coordination.lease_renewal_threshold_pct = 101"),
        "config.toml:1: coordination.lease_renewal_threshold_pct: it must be from 0 to 100"
    );
    assert_eq!(
        told("worktree = 3"),
        "config.toml:1: worktree: expected a table of settings; write [worktree] on a line of its own"
    );
    assert_eq!(of("[[worktree]]\nmode = \"on\"\n"), ["wrong_type 1 worktree"]);
    assert_eq!(of("locks.max_age_secs = 1.5\n"), ["wrong_type 1 locks.max_age_secs"]);
    assert_eq!(of("locks.max_age_secs = 2026-01-01\n"), ["wrong_type 1 locks.max_age_secs"]);
    assert_eq!(of("types.hierarchy = [\"a\", \"b\", \"a\"]\n"), ["bad_text 1 types.hierarchy"]);
}

#[test]
fn what_is_not_toml_is_named_with_its_line() {
    assert_eq!(of("[worktree]\nmode = auto\n"), ["syntax 2 -"]);
    assert_eq!(of("[worktree\nmode = \"on\"\n"), ["syntax 1 -", "unknown_key 2 mode"]);
    assert_eq!(of("\n\n= 3\nlocks.max_age_secs = \n"), ["syntax 3 -", "syntax 4 -"]);
    assert_eq!(of("[locks]\n[worktree]\n[locks]\n"), ["duplicate_key 3 -"]);
    assert!(!told("a = \"\u{1b}[2J\"\n").contains('\u{1b}'));
}

#[test]
fn a_range_without_room_names_both_ends() {
    assert_eq!(
        of("[coordination]\nmin_ttl_secs = 9\nmax_ttl_secs = 5\n"),
        ["conflict 3 coordination.max_ttl_secs"]
    );
    assert_eq!(
        told("[coordination]\nmax_ttl_secs = 5\n[coordination.kinds.ci]\nmin_ttl_secs = 7\n"),
        "config.toml:4: coordination.kinds.ci.min_ttl_secs: no lease can be that long: at least 7 \
         (config.toml:4), at most 5 (config.toml:2); raise max_ttl_secs or lower min_ttl_secs"
    );
    let home = Home::with("[coordination]\nmax_ttl_secs = 5\n");
    home.write("u/config.toml", "[coordination]\nmin_ttl_secs = 7\n");
    let problems = validate(&Sys::os(), &home.places).unwrap();
    assert_eq!((problems.len(), &*problems[0].path), (1, home.path("r/config.toml").as_path()));
}

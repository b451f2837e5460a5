//! Which file wins, and where a value comes from.

use holdfast_kernel::{Again, KindRule, Limits, Millis, TtlRange};

use super::*;

#[test]
fn without_files_everything_is_the_default() {
    let config = Home::new().load();
    assert_eq!(config.worktree.mode, WorktreeMode::Auto);
    assert_eq!(config.worktree.enforce_leases, EnforceLeases::Strict);
    assert_eq!(config.coordination.default_ttl_secs, 600);
    assert_eq!(config.coordination.heartbeat_interval_secs, 30);
    assert_eq!(config.coordination.lease_renewal_threshold_pct, 10);
    assert_eq!(config.coordination.stale_threshold_secs, 3_600);
    assert_eq!(config.coordination.max_indefinite_leases_per_agent, 2);
    assert_eq!(config.coordination.max_indefinite_leases_per_repo, 10);
    assert!(!config.coordination.auto_renew_leases && config.coordination.allow_indefinite);
    assert_eq!(config.coordination.shared_group, None);
    assert!(config.global_operations.require_main_history);
    assert_eq!(config.global_operations.allowed_branches, ["main", "develop"]);
    assert_eq!(config.locks.max_age_secs, 3_600);
    assert!(config.locks.enable_metadata && config.events.enable_sequences);
    assert!(config.events.use_unified_envelope);
    assert_eq!(config.enforcement.foreign_claims, ForeignClaims::Warn);
    assert_eq!(config.types.hierarchy, ["milestone", "epic", "story", "task"]);
    assert_eq!(config.origin("worktree.mode"), Origin::Default);
}

#[test]
fn the_nearer_file_wins_key_by_key_and_each_value_knows_its_line() {
    let home = Home::with("# ours\n[worktree]\nmode = \"off\"\n");
    home.write("u/config.toml", "[worktree]\nmode = \"on\"\nenforce_leases = \"warn\"\n");
    home.write("s.toml", "\n\nworktree.enforce_leases = \"off\"\nlocks.max_age_secs = 7\n");
    let config = home.load();
    assert_eq!(config.worktree.mode, WorktreeMode::Off);
    assert_eq!(config.worktree.enforce_leases, EnforceLeases::Warn);
    assert_eq!(config.locks.max_age_secs, 7);
    let from = |layer, file: &str, line| Origin::File { layer, path: home.path(file).into(), line };
    assert_eq!(config.origin("worktree.mode"), from(Layer::Repository, "r/config.toml", 3));
    assert_eq!(config.origin("worktree.enforce_leases"), from(Layer::User, "u/config.toml", 3));
    assert_eq!(config.origin("locks.max_age_secs"), from(Layer::System, "s.toml", 4));
    assert_eq!(config.origin("locks.enable_metadata"), Origin::Default);
}

#[test]
fn the_sample_of_the_requirements_is_read_as_it_is() {
    let home = Home::with(include_str!("sample.toml"));
    assert_eq!(home.problems(), [""; 0]);
    assert_eq!(home.load().values, Home::new().load().values, "it spells out the defaults");
}

#[test]
fn kinds_have_what_they_set_and_else_what_everybody_has() {
    let home = Home::with(
        "[coordination]\nmin_ttl_secs = 5\n[coordination.kinds.ci]\nmax_ttl_secs = 60\nallow_indefinite = false\n",
    );
    home.write("u/config.toml", "[coordination.kinds.ci]\nmax_ttl_secs = 90\nmin_ttl_secs = 10\n");
    let config = home.load();
    let policy = config.policy();
    let rule = |min, max, indefinite| KindRule {
        ttl: TtlRange { min: Millis::from_secs(min), max: Millis::from_secs(max) },
        indefinite,
    };
    assert_eq!(policy.rule, rule(5, 604_800, true));
    assert_eq!(policy.kinds.keys().collect::<Vec<_>>(), ["ci"]);
    assert_eq!(policy.kinds["ci"], rule(10, 60, false));
}

#[test]
fn the_policy_is_that_of_one_machine_with_the_configured_limits() {
    let home = Home::with(
        "[coordination]\nstale_threshold_secs = 9\nmax_indefinite_leases_per_agent = 0\n\
         max_indefinite_leases_per_repo = 3\n",
    );
    let policy = home.load().policy();
    assert_eq!((policy.again, policy.skew, policy.grace), (Again::Return, Millis::ZERO, Millis::ZERO));
    assert_eq!(policy.stale_after, Millis::from_secs(9));
    let limits = Limits { indefinite_per_agent: 0, indefinite_per_table: 3, ..Limits::NONE };
    assert_eq!(policy.limits, limits);
}

#[test]
fn a_lease_lasts_as_the_agent_prefers_within_what_its_kind_may_have() {
    let home = Home::with(
        "[coordination.kinds.ci]\nmax_ttl_secs = 60\n[coordination.kinds.slow]\nmin_ttl_secs = 1000\n",
    );
    let secs = Millis::from_secs;
    assert_eq!(home.load().ttl_for(&home.agent(), None), secs(600));
    assert_eq!(home.load().ttl_for(&home.agent(), Some("ci")), secs(60));
    assert_eq!(home.load().ttl_for(&home.agent(), Some("slow")), secs(1_000));
    home.write("u/agent.toml", "[agent]\ndefault_ttl_secs = 900\n");
    assert_eq!(home.load().ttl_for(&home.agent(), Some("human")), secs(900));
    assert_eq!(home.load().ttl_for(&home.agent(), Some("ci")), secs(60));
}

#[test]
fn the_agents_file_says_who_works_here() {
    let home = Home::new();
    assert_eq!(home.agent().agent.id, None);
    home.write("u/agent.toml", include_str!("sample-agent.toml"));
    let AgentFile { agent, behavior, .. } = home.agent();
    assert_eq!(agent.id.as_deref(), Some("agent:copilot-1"));
    assert_eq!(agent.created_at.as_deref(), Some("2026-01-03T12:00:00Z"));
    assert_eq!(agent.description.as_deref(), Some("GitHub Copilot Workspace Session 1"));
    assert_eq!(agent.default_ttl_secs, Some(900));
    assert_eq!((behavior.auto_heartbeat, behavior.heartbeat_interval), (false, Some(30)));
}

#[test]
fn showing_names_every_key_with_value_default_and_origin() {
    let home = Home::with("[coordination.kinds.ci]\nmax_ttl_secs = 60\n");
    home.write("u/config.toml", "[coordination]\nallow_indefinite = false\n");
    home.write("u/agent.toml", "[agent]\nid = \"human:alice\"\n");
    let all = show(&home.load(), &home.agent());
    let one = |key: &str| all.iter().find(|shown| shown.key == key).unwrap();
    assert_eq!(all.len(), CONFIG.keys().chain(keys::AGENT.keys()).count());
    assert_eq!(one("worktree.mode").value, Some(Value::Text("auto".to_owned())));
    assert_eq!(one("agent.id").value, Some(Value::Text("human:alice".to_owned())));
    assert_eq!(one("coordination.shared_group").value, None);
    let ci = one("coordination.kinds.ci.allow_indefinite");
    assert_eq!((&ci.value, &ci.default), (&Some(Value::Switch(false)), &Some(Value::Switch(true))));
    assert_eq!(ci.origin.to_string(), format!("{}:2", home.path("u/config.toml").display()));
}

#[test]
fn getting_gives_one_key_or_says_what_was_meant() {
    let home = Home::with("[coordination]\ndefault_ttl_secs = 1200\n");
    let get = |key: &str| get(&home.load(), &home.agent(), key);
    assert_eq!(get("coordination.default_ttl_secs").unwrap().value, Some(Value::Number(1_200)));
    assert_eq!(get("coordination.kinds.any.min_ttl_secs").unwrap().value, Some(Value::Number(1)));
    assert_eq!(get("agent.id").unwrap().value, None);
    let near = |key: &str| match get(key) {
        Err(Error::UnknownKey { near, .. }) => near,
        other => panic!("{other:?}"),
    };
    assert_eq!(near("worktree.mod"), ["worktree.mode"]);
    assert_eq!(near("worktree"), ["worktree.mode", "worktree.enforce_leases", "worktree.dir"]);
    assert_eq!(near("behaviour.auto_heartbeat"), ["behavior.auto_heartbeat"]);
    assert!(near("").is_empty() && near("....").is_empty());
}

//! Whether a branch has everything that the main branch has.

use crate::stage::Stage;

#[test]
fn a_branch_that_lacks_something_of_main_is_told() {
    let stage = Stage::new();
    let (a, main) = (stage.agent("agent:a", "a"), stage.main());
    let check = |agent: &crate::stage::Agent<'_>| {
        let answer = agent.jit(&["--json", "validate", "divergence"]);
        let check = answer.json()["checks"][0].clone();
        assert_eq!(check["name"], "divergence");
        assert_eq!(answer.code, Some(if check["ok"] == true { 0 } else { 7 }), "{answer}");
        check["problems"].as_array().unwrap().clone()
    };
    assert!(check(&a).is_empty() && check(&main).is_empty());
    // What the origin has counts, not what main is here.
    main.git(&["commit", "-q", "--allow-empty", "-m", "main goes on"]).ok();
    assert!(check(&a).is_empty());
    main.git(&["push", "-q", "origin", "main"]).ok();
    let problems = check(&a);
    assert!(problems[0].as_str().unwrap().contains("git rebase origin/main"), "{problems:?}");
    a.jit(&["config", "set", "coordination.default_ttl_secs", "60"]).refused(&["main or develop"]);
    a.git(&["rebase", "-q", "origin/main"]).ok();
    assert!(check(&a).is_empty());
    main.git(&["remote", "remove", "origin"]).ok();
    main.git(&["commit", "-q", "--allow-empty", "-m", "and on"]).ok();
    assert!(check(&a)[0].as_str().unwrap().contains("git rebase main"));
    main.git(&["branch", "-q", "-m", "main", "trunk"]).ok();
    assert!(check(&a).is_empty());
}

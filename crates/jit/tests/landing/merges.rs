//! Files that merge anywhere: a server has neither our merge driver nor our attributes.

use holdfast_trial::Dice;

use crate::ground::{Agent, Ground, pair};

/// What an agent does to an issue that it holds, chosen at random.
fn touch(agent: &Agent<'_>, id: &str, dice: &mut Dice) {
    for _ in 0..=dice.roll(3) {
        let label = format!("l{}", dice.roll(9));
        let note = format!("text {}", dice.roll(1000));
        let args: Vec<&str> = match dice.roll(6) {
            0 => vec!["issue", "update", id, "--title", &note],
            1 => vec!["issue", "update", id, "--priority", "high"],
            2 => vec!["label", "add", id, &label],
            3 => vec!["issue", "update", id, "--description", &note],
            4 => vec!["gate", "add", id, "review"],
            _ => vec!["issue", "update", id, "--state", "in_progress"],
        };
        agent.run(&args).ok();
    }
    if dice.roll(2) == 0 {
        agent.run(&["gate", "add", id, "review"]).ok();
        agent.run(&["gate", "pass", id, "review"]).ok();
    }
    if dice.roll(3) == 0 {
        agent.run(&["issue", "update", id, "--state", "done"]).ok();
    }
}

/// Branches that touch different issues, some of them made one after the other in one worktree: every pair merges clean
/// in a bare repository.
#[test]
fn branches_that_touch_different_issues_merge_on_any_server() {
    for seed in 0..if crate::ground::is_long() { 20 } else { 2 } {
        let mut dice = Dice::new(seed, std::time::Duration::from_millis(1));
        let ground = Ground::new();
        ground.bench.jit(&["gate", "define", "review", "--manual"]).ok();
        ground.commit("a gate");
        let ids: Vec<String> = (0..4).map(|number| ground.issue(&format!("i{number}"), &[])).collect();
        let agents = [ground.agent("one"), ground.agent("two")];
        for (number, id) in ids.iter().enumerate() {
            let agent = &agents[usize::try_from(dice.roll(2)).unwrap()];
            agent.git(&["switch", "-q", "--no-track", "-c", &format!("b{number}"), "main"]);
            agent.run(&["claim", "acquire", id]).ok();
            touch(agent, id, &mut dice);
            if dice.roll(2) == 0 {
                agent.run(&["create", "--title", &format!("found with {number}")]).ok();
            }
            agent.write(&format!("work{number}"), "work\n");
            agent.git(&["add", "-A"]);
            agent.git(&["commit", "-q", "-m", "work"]);
            agent.run(&["claim", "release", id]).ok();
        }
        let bare = ground.bench.root().join("bare.git");
        ground.git(&["clone", "-q", "--bare", "repo", "bare.git"], ground.bench.root());
        for (one, other) in (0..4).flat_map(|one| (one + 1..4).map(move |other| (one, other))) {
            let (one, other) = (format!("b{one}"), format!("b{other}"));
            let merged = ground.try_git(&["merge-tree", "--write-tree", "--name-only", &one, &other], &bare);
            assert_eq!(merged.code, Some(0), "seed {seed}, {one} and {other}: {merged}");
        }
    }
}

/// Two branches that touch one issue conflict in nothing but its own files, and landing one after the other merges them.
#[test]
fn branches_that_touch_one_issue_conflict_in_its_own_files_alone() {
    let ground = Ground::new();
    let id = ground.issue("both", &[]);
    let (one, two) = (ground.agent("one"), ground.agent("two"));
    // The first one writes and gives back what it has on a branch; the second finishes.
    one.begin(&id, "first");
    one.run(&["label", "add", &id, "by:one"]).ok();
    one.git(&["add", "-A"]);
    one.git(&["commit", "-q", "-m", "half"]);
    one.run(&["drop", &id]).ok();
    two.begin(&id, "second");
    two.run(&["label", "add", &id, "by:two"]).ok();
    two.run(&["issue", "update", &id, "--title", "both of us"]).ok();
    let first = one.git(&["branch", "--show-current"]);
    two.git(&["merge", "-q", "--no-commit", "-s", "ours", &first]);
    two.git(&["reset", "-q", "--merge"]);
    two.git(&["add", "-A"]);
    two.git(&["commit", "-q", "-m", "more"]);
    let second = two.git(&["branch", "--show-current"]);
    let bare = ground.bench.root().join("bare.git");
    ground.git(&["clone", "-q", "--bare", "repo", "bare.git"], ground.bench.root());
    let merged = ground
        .try_git(&["merge-tree", "--write-tree", "--name-only", "--no-messages", &first, &second], &bare);
    let files: Vec<&str> = merged.stdout.lines().skip(1).filter(|line| !line.is_empty()).collect();
    let own = [format!(".jit/issues/{id}/"), format!(".jit/gates/results/{id}/")];
    assert!(merged.code == Some(0) || !files.is_empty(), "{merged}");
    assert!(files.iter().all(|file| own.iter().any(|own| file.starts_with(own))), "{merged}");
    // The target gets the first one's half by hand; the second one lands on top of it.
    ground.main(&["merge", "-q", "--no-edit", &first]);
    two.run(&["finish", "-a", "-m", "both"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
    let issue = ground.main(&["show", &format!("main:.jit/issues/{id}/issue.json")]);
    assert!(issue.contains("both of us"), "{issue}");
    for file in ["first", "second"] {
        assert!(ground.bench.repo().join(file).exists(), "{file} is gone");
    }
}

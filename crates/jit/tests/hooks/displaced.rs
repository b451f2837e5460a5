//! Whoever was displaced brings nothing of what it wrote to where others work, by whatever way of git: amended, picked,
//! rebased, joined with others. It is stopped at the commit where git asks, at the push, and at the origin.

use crate::stage::{Agent, Held, Stage};

/// An agent that was displaced by another one, which has pushed its own work to main since.
struct Story<'a> {
    stage: &'a Stage,
    a: Agent<'a>,
    held: Held,
    issue: String,
}

fn displaced(stage: &Stage) -> Story<'_> {
    let origin = stage.path("origin.git");
    stage.main().jit(&["hooks", "install", "--pre-receive", origin.to_str().unwrap()]).ok();
    let issue = stage.issue("work");
    let (a, b) = (stage.agent("agent:a", "a"), stage.agent("agent:b", "b"));
    let held = a.claim(&issue);
    a.work(&held, "by a").ok();
    std::fs::write(a.dir.join("work"), "work\n").unwrap();
    a.commit("the work of a").ok();
    b.jit(&["claim", "force-evict", &issue, "--reason", "it does not answer"]).ok();
    let taken = b.claim(&issue);
    b.work(&taken, "by b").ok();
    b.git(&["push", "-q", "origin", "b:main"]).ok();
    a.git(&["fetch", "-q", "origin"]).ok();
    Story { stage, a: Agent { later: 100, ..a }, held, issue }
}

impl Story<'_> {
    /// A branch of somebody reaches main neither with hooks nor without; what main has stays.
    fn stays_out(&self, agent: &Agent<'_>) {
        for flags in [&["push", "-q"][..], &["push", "-q", "--force"]] {
            let args = [flags, &["origin", "HEAD:main"]].concat();
            let refused = agent.git(&args);
            assert_ne!(refused.code, Some(0), "{args:?}: {refused}");
            let forced = [flags, &["--no-verify", "origin", "HEAD:main"]].concat();
            let refused = agent.git(&forced);
            assert_ne!(refused.code, Some(0), "{forced:?}: {refused}");
        }
        // By force it is not the shape of the history that is in the way.
        let by_force = ["push", "-q", "--force", "origin", "HEAD:main"];
        agent.git(&by_force).refused(&["this push is rejected", &self.issue]);
        let unasked = ["push", "-q", "--force", "--no-verify", "origin", "HEAD:main"];
        agent.git(&unasked).refused(&["remote: error: this push is rejected", &self.issue]);
        self.is_by_b();
    }

    /// What the displaced one wrote.
    fn by_a(&self) -> String {
        let file = format!("a~1:.jit/issues/{}/issue.json", self.issue);
        self.a.git(&["show", &file]).ok().stdout
    }

    fn is_by_b(&self) {
        let origin = self.stage.path("origin.git");
        let file = format!("main:.jit/issues/{}/issue.json", self.issue);
        let there = self.stage.run("git", "x", &["show", &file], &origin).ok();
        assert!(there.stdout.contains("by b"), "{there}");
    }

    /// Somebody who holds nothing, where main is.
    fn bystander(&self, branch: &str) -> Agent<'_> {
        let c = Agent { later: 100, ..self.stage.agent("agent:c", branch) };
        c.git(&["reset", "-q", "--hard", "origin/main"]).ok();
        c
    }
}

#[test]
fn amended() {
    let stage = Stage::new();
    let story = displaced(&stage);
    story.a.write(&story.held, "by a, in other words");
    story.a.git(&["add", "-A"]).ok();
    let amend = ["commit", "-q", "--amend", "--no-edit"];
    story.a.git(&amend).refused(&["this commit is rejected", &story.issue, "agent:b"]);
    story.a.git(&[&amend[..], &["--no-verify"]].concat()).ok();
    story.stays_out(&story.a);
}

#[test]
fn picked() {
    let stage = Stage::new();
    let story = displaced(&stage);
    let c = story.bystander("c");
    let theirs = story.by_a();
    c.git(&["cherry-pick", "a~1"]);
    take_theirs(&c, &theirs, &story.issue, "cherry-pick");
    story.stays_out(&c);
}

#[test]
fn rebased() {
    let stage = Stage::new();
    let story = displaced(&stage);
    let theirs = story.by_a();
    story.a.git(&["rebase", "-q", "origin/main"]);
    take_theirs(&story.a, &theirs, &story.issue, "rebase");
    story.stays_out(&story.a);
}

/// Has whoever picks or rebases end up with what the displaced one wrote, whatever the merge made of it.
fn take_theirs(agent: &Agent<'_>, theirs: &str, issue: &str, how: &str) {
    for _ in 0..4 {
        let status = agent.git(&["status"]).ok().stdout;
        if !status.contains("cherry-pick") && !status.contains("rebas") {
            break;
        }
        std::fs::write(agent.file(issue), theirs).unwrap();
        agent.git(&["add", "-A"]).ok();
        if agent.git(&["-c", "core.hooksPath=/dev/null", how, "--continue"]).code != Some(0) {
            agent.git(&[how, "--skip"]);
        }
    }
    if !std::fs::read_to_string(agent.file(issue)).unwrap().contains("by a") {
        std::fs::write(agent.file(issue), theirs).unwrap();
        agent.git(&["add", "-A"]).ok();
        agent.git(&["commit", "-q", "-m", "as a has it"]).refused(&["this commit is rejected", issue]);
        agent.git(&["commit", "-q", "--no-verify", "-m", "as a has it"]).ok();
    }
    assert!(std::fs::read_to_string(agent.file(issue)).unwrap().contains("by a"));
}

#[test]
fn joined_with_others() {
    let stage = Stage::new();
    let story = displaced(&stage);
    let d = Agent { later: 100, ..stage.agent("agent:d", "d") };
    std::fs::write(d.dir.join("other"), "other\n").unwrap();
    d.commit("other work").ok();
    let c = Agent { later: 100, ..stage.agent("agent:c", "c") };
    // Where main was before: git finds nothing to resolve.
    c.git(&["merge", "-q", "--no-edit", "a", "d"]).ok();
    assert!(std::fs::read_to_string(c.file(&story.issue)).unwrap().contains("by a"));
    story.stays_out(&c);
    // On top of what main has, taking the side of the displaced one.
    let e = story.bystander("e");
    e.git(&["merge", "-q", "--no-commit", "--no-ff", "-s", "ours", "a", "d"]).ok();
    e.git(&["checkout", "a", "--", &format!(".jit/issues/{}", story.issue)]).ok();
    e.git(&["commit", "-q", "--no-edit"]).refused(&["this commit is rejected", &story.issue]);
    e.git(&["commit", "-q", "--no-edit", "--no-verify"]).ok();
    story.stays_out(&e);
}

#[test]
fn squashed() {
    let stage = Stage::new();
    let story = displaced(&stage);
    let c = Agent { later: 100, ..stage.agent("agent:c", "c") };
    c.git(&["merge", "-q", "--squash", "a"]).ok();
    c.git(&["commit", "-q", "-m", "squashed"]).refused(&["this commit is rejected", &story.issue]);
    c.git(&["commit", "-q", "--no-verify", "-m", "squashed"]).ok();
    story.stays_out(&c);
    // It does not get anywhere else either: a squash has nobody's name.
    c.git(&["push", "-q", "origin", "c"]).refused(&["this push is rejected", &story.issue]);
}

#[test]
fn reverted() {
    let stage = Stage::new();
    let story = displaced(&stage);
    let c = story.bystander("c");
    c.git(&["-c", "core.hooksPath=/dev/null", "revert", "--no-edit", "HEAD"]).ok();
    story.stays_out(&c);
}

/// Merged as git and jit merge, the work of both is there, and the later holder's word counts.
#[test]
fn merged_the_later_holder_counts() {
    let stage = Stage::new();
    let story = displaced(&stage);
    story.a.git(&["merge", "-q", "--no-edit", "origin/main"]).ok();
    story.a.git(&["push", "-q", "origin", "HEAD:main"]).ok();
    story.is_by_b();
    assert!(story.a.dir.join("work").exists());
}

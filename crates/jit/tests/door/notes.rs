//! Notes: anybody adds one without a claim, everybody sees it at once, and it lands with the work.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use holdfast_trial::Answer;

use crate::bench::Bench;

/// A tracked issue, and two worktrees beside the main one.
fn stage() -> (Bench, String, PathBuf, PathBuf) {
    let bench = Bench::new();
    let id = bench.issue("work");
    bench.git(&["add", "-A"], &bench.repo());
    bench.git(&["commit", "-qm", "tracked"], &bench.repo());
    let (a, b) = (bench.worktree("a"), bench.worktree("b"));
    (bench, id, a, b)
}

fn texts(bench: &Bench, id: &str, at: &Path) -> Vec<String> {
    let shown = bench.run_at("agent:z", &["--json", "show", id], at).ok().json();
    shown["notes"].as_array().unwrap().iter().map(|note| note["text"].as_str().unwrap().to_owned()).collect()
}

fn kept(bench: &Bench, id: &str) -> usize {
    std::fs::read_dir(bench.control("notes").join(id)).map_or(0, Iterator::count)
}

#[test]
fn a_note_needs_no_claim_and_is_seen_everywhere() {
    let (bench, id, a, b) = stage();
    bench.run_at("agent:a", &["claim", "acquire", &id], &a).ok();
    let noted = bench.run_at("agent:b", &["--json", "note", &id, "look at the cache first"], &b).ok().json();
    assert_eq!((&noted["note"]["agent_id"], &noted["note"]["title"]), (&"agent:b".into(), &"work".into()));
    bench.jit(&["note", &id, "from the main worktree"]).ok();
    let mut piped = bench.command("agent:a", &["note", &id, "-"], &a);
    let mut child =
        piped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"two\nlines\n").unwrap();
    Answer::from(child.wait_with_output().unwrap()).ok();
    let all = ["look at the cache first", "from the main worktree", "two\nlines"];
    for at in [&a, &b, &bench.repo()] {
        assert_eq!(texts(&bench, &id, at), all, "{}", at.display());
    }
    let briefing = bench.run_at("agent:a", &["start", &id], &a).ok().stdout;
    assert!(
        briefing.contains("note by agent:b") && briefing.contains("look at the cache first"),
        "{briefing}"
    );
    bench.jit(&["note", &id, "  "]).fails(6);
    bench.jit(&["note", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "x"]).fails(3);
}

#[test]
fn notes_land_with_the_work_and_leave_the_control_plane() {
    let (bench, id, a, b) = stage();
    bench.run_at("agent:b", &["note", &id, "mind the gap"], &b).ok();
    bench.run_at("agent:a", &["start", &id], &a).ok();
    assert_eq!(kept(&bench, &id), 1);
    std::fs::write(a.join("code"), "x").unwrap();
    bench.run_at("agent:a", &["finish", "-a", "-m", "done"], &a).ok();
    assert_eq!(kept(&bench, &id), 0, "the target has it");
    let notes = std::fs::read_dir(bench.repo().join(".jit/issues").join(&id).join("notes")).unwrap();
    assert_eq!(notes.count(), 1, "the main worktree followed");
    for at in [&a, &b, &bench.repo()] {
        assert_eq!(texts(&bench, &id, at), ["mind the gap"]);
    }
    // What is handed back for review has them too.
    let other = bench.issue("other");
    bench.run_at("agent:a", &["start", &other], &a).ok();
    bench.run_at("agent:b", &["note", &other, "for the review"], &b).ok();
    std::fs::write(a.join("more"), "x").unwrap();
    bench.run_at("agent:a", &["finish", "-a", "--no-land"], &a).ok();
    let notes = std::fs::read_dir(a.join(".jit/issues").join(&other).join("notes")).unwrap();
    assert_eq!(notes.count(), 1);
}

#[test]
fn whoever_gives_work_back_says_why() {
    let (bench, id, a, b) = stage();
    bench.run_at("agent:a", &["start", &id], &a).ok();
    bench.run_at("agent:a", &["drop", "--reason", "needs the new parser"], &a).ok();
    let briefing = bench.run_at("agent:b", &["start", &id], &b).ok().stdout;
    assert!(briefing.contains("given back: needs the new parser"), "{briefing}");
}

#[test]
fn hooks_let_added_notes_pass_and_nothing_else() {
    let (bench, id, a, _) = stage();
    bench.jit(&["hooks", "install"]).ok();
    bench.run_at("agent:a", &["claim", "acquire", &id], &a).ok();
    bench.jit(&["note", &id, "a note"]).ok();
    let repo = bench.repo();
    bench.git(&["add", "-A"], &repo);
    let commit = |message: &str| {
        let mut git = bench.dressed(std::process::Command::new("git"));
        let path = format!(
            "{}:{}",
            Path::new(crate::bench::JIT).parent().unwrap().display(),
            std::env::var("PATH").unwrap()
        );
        git.args(["commit", "-qam", message]).current_dir(&repo).env("PATH", path);
        Answer::from(git.env("JIT_AGENT_ID", "agent:b").output().unwrap())
    };
    commit("a note").ok();
    let notes = repo.join(".jit/issues").join(&id).join("notes");
    let note = std::fs::read_dir(&notes).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&note).unwrap();
    std::fs::write(&note, text.replace("a note", "another")).unwrap();
    let refused = commit("a changed note");
    assert_ne!(refused.code, Some(0), "{refused}");
}

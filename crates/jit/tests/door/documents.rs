//! Documents of issues: files of the worktree and nothing else.

use crate::bench::Bench;

#[test]
fn a_document_is_listed_shown_and_followed_through_commits() {
    let bench = Bench::new();
    let (id, _) = bench.claimed("agent:a");
    let docs = bench.repo().join("docs");
    std::fs::create_dir(&docs).unwrap();
    for (content, message) in [("one\n", "begin"), ("one\ttwo \x1b[31m\n", "go on")] {
        std::fs::write(docs.join("a.md"), content).unwrap();
        bench.git(&["add", "docs"], &bench.repo());
        bench.git(&["commit", "-q", "-m", message], &bench.repo());
    }
    bench.run_at("agent:a", &["doc", "add", &id, "a.md", "--label", "design"], &docs).ok();
    let listed = bench.jit(&["--json", "doc", "list", &id]).ok().json();
    assert_eq!(
        (&listed["documents"][0]["path"], &listed["documents"][0]["label"]),
        (&"docs/a.md".into(), &"design".into())
    );
    let shown = bench.jit(&["doc", "show", &id, "docs/a.md"]).ok();
    assert_eq!(shown.stdout, "one\ttwo \u{fffd}[31m\n");
    let history = bench.jit(&["--json", "doc", "history", &id, "docs/a.md"]).ok().json();
    assert_eq!((&history["count"], &history["history"][0]["subject"]), (&2.into(), &"go on".into()));
    std::fs::remove_file(docs.join("a.md")).unwrap();
    assert!(
        bench.jit(&["doc", "show", &id, "docs/a.md"]).ok().stdout.starts_with("one\ttwo"),
        "from the last commit"
    );
    bench.jit(&["doc", "remove", &id, "docs/a.md"]).ok();
    bench.jit(&["doc", "show", &id, "docs/a.md"]).fails(3);
}

#[test]
fn what_is_no_file_of_the_worktree_is_refused() {
    let bench = Bench::new();
    let (id, _) = bench.claimed("agent:a");
    let secret = bench.root().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    std::os::unix::fs::symlink(&secret, bench.repo().join("link")).unwrap();
    std::os::unix::fs::symlink(bench.root(), bench.repo().join("away")).unwrap();
    std::fs::create_dir(bench.repo().join("directory")).unwrap();
    for path in
        ["../secret", secret.to_str().unwrap(), "link", "away/secret", ".git/config", "directory", "none", ""]
    {
        bench.jit(&["doc", "add", &id, path]).fails(6);
    }
    // Somebody else may have written the issue.
    let path = bench.repo().join(".jit/issues").join(&id).join("issue.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let hostile =
        text.replacen('{', r#"{"documents":{"../secret":{"added_at":"x"},"link":{"added_at":"x"}},"#, 1);
    std::fs::write(&path, hostile).unwrap();
    for path in ["../secret", "link"] {
        let refused = bench.jit(&["doc", "show", &id, path]);
        assert!(refused.code == Some(6) && !refused.stdout.contains("secret\n"), "{refused}");
    }
}

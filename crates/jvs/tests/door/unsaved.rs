//! What is in no snapshot is shown, and is not lost unless somebody says so.

use crate::bench::{Bench, Refusal};

fn changes(bench: &Bench, args: &[&str]) -> Vec<String> {
    let seen = bench.jvs(args).ok().json();
    let one = |one: &serde_json::Value| {
        format!("{} {}", one["change"].as_str().unwrap(), one["path"].as_str().unwrap())
    };
    seen["changes"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn a_restore_in_place_destroys_nothing_that_is_unsaved() {
    let bench = Bench::new();
    bench.put("f", "one");
    let first = bench.snapshot();
    bench.put("f", "two");
    let second = bench.snapshot();
    bench.put("f", "unsaved");
    bench.put("new", "unsaved");
    let restore = |flags: &[&str]| {
        bench.run_at(&bench.root(), &[&["restore", &first, "--inplace", "--reason", "r"], flags].concat())
    };
    let told = restore(&[]).refused_as("E_UNSAVED_CHANGES").json();
    assert!(told["hint"].as_str().unwrap().contains("--snapshot-first"), "{told}");
    let text = |name: &str| std::fs::read_to_string(bench.main().join(name)).unwrap();
    assert_eq!((text("f").as_str(), text("new").as_str()), ("unsaved", "unsaved"));
    restore(&["--force", "--snapshot-first"]).refused_as("E_USAGE");
    let done = restore(&["--snapshot-first"]).ok().json();
    let saved = done["snapshot_first"].as_str().unwrap().to_owned();
    assert_eq!(text("f"), "one");
    assert_eq!(bench.history(), [saved.clone(), second, first.clone()]);
    // What is in a snapshot can be replaced by another one without a word.
    bench.run_at(&bench.root(), &["restore", &saved, "--inplace", "--reason", "back"]).ok();
    assert_eq!((text("f").as_str(), text("new").as_str()), ("unsaved", "unsaved"));
    bench.put("f", "lost");
    let done = restore(&["--force"]).ok().json();
    assert!(done["snapshot_first"].is_null(), "{done}");
    assert_eq!(text("f"), "one");
    restore(&["--snapshot-first"]).ok();
    assert_eq!(bench.history().len(), 3, "nothing was unsaved, so there was nothing to save");
    bench.jvs(&["verify", "--all"]).ok();
    assert_eq!(bench.findings(), Vec::<String>::new());
}

#[test]
fn status_and_diff_show_what_differs() {
    let bench = Bench::new();
    bench.put("d/kept", "k");
    bench.put("d/gone", "g");
    bench.put("changed", "1");
    let status = bench.jvs(&["status"]).ok().json();
    assert_eq!(
        (&status["head"], &status["lock"], &status["clean"]),
        (&().into(), &"free".into(), &false.into())
    );
    assert_eq!(changes(&bench, &["diff"]), ["added changed", "added d", "added d/gone", "added d/kept"]);
    let first = bench.snapshot();
    let status = bench.jvs(&["status"]).ok().json();
    assert_eq!((&status["head"], &status["clean"]), (&first.as_str().into(), &true.into()));
    assert_eq!((&status["lock"], &status["count"]), (&"mine".into(), &0.into()));
    assert_eq!(bench.other("b", &["status"]).ok().json()["lock"], "held");
    std::fs::remove_file(bench.main().join("d/gone")).unwrap();
    bench.put("changed", "2");
    bench.put("a\nb", "n");
    std::os::unix::fs::symlink("changed", bench.main().join("link")).unwrap();
    let expected = ["added a\nb", "modified changed", "deleted d/gone", "added link"];
    assert_eq!(changes(&bench, &["status"]), expected);
    assert_eq!(changes(&bench, &["diff"]), expected);
    assert_eq!(changes(&bench, &["diff", &first]), expected);
    let second = bench.snapshot();
    assert_eq!(changes(&bench, &["diff", &first, &second]), expected);
    assert_eq!(changes(&bench, &["diff", &second, &second]), [""; 0]);
    assert_eq!(changes(&bench, &["diff"]), [""; 0]);
    bench.jvs(&["diff", "1700000000000-00000000"]).refused_as("E_NOT_FOUND");
    bench.jvs(&["diff", &first, "x"]).refused_as("E_NAME_INVALID");
    let shown = bench.dressed(std::process::Command::new(crate::bench::JVS), &bench.main());
    let mut shown = shown;
    let shown = holdfast_trial::Answer::from(shown.args(["diff", &first, &second]).output().unwrap()).ok();
    assert_eq!(shown.stdout.lines().count(), 4, "a name does not make lines of its own: {shown}");
}

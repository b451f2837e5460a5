//! What people type, and what pipes and programs get.

use std::process::Command;

use crate::bench::Bench;

#[test]
fn lengths_that_cannot_be_are_refused() {
    let bench = Bench::new();
    let issue = bench.issue("work");
    let absurd = [
        "-1",
        "-9223372036854775808",
        "9223372036854775807",
        "18446744073709551615",
        "18446744073709551616",
        "1e9",
        "",
        "10m",
        "0x10",
        "340282366920938463463374607431768211456",
        "604801",
    ];
    for ttl in absurd {
        let refused = bench.jit(&["--json", "claim", "acquire", &issue, "--ttl", ttl]).fails(6);
        assert!(refused.json()["error"]["code"].is_string(), "{refused}");
    }
    bench.jit(&["claim", "acquire", &issue, "--wait", "-1"]).fails(6);
    assert!(bench.leases().is_empty());
    let (_, lease) = bench.claimed("agent:a");
    for ttl in ["0", "-1", "18446744073709551615"] {
        bench.jit(&["claim", "renew", &lease, "--ttl", ttl]).fails(6);
    }
}

#[test]
fn ids_can_be_shortened_and_candidates_are_listed() {
    let bench = Bench::new();
    let (issue, lease) = bench.claimed("agent:a");
    let other = bench.issue("other");
    let listed = bench.jit(&["--json", "claim", "acquire", &issue[..4]]).fails(6).json();
    assert_eq!(listed["error"]["code"], "AMBIGUOUS_ID");
    let candidates = listed["error"]["details"]["candidates"].as_array().unwrap();
    assert!(candidates.contains(&issue.as_str().into()) && candidates.contains(&other.as_str().into()));
    bench.jit(&["claim", "renew", &lease[..20]]).ok();
    bench.jit(&["claim", "acquire", "01"]).fails(6);
    bench.jit(&["claim", "acquire", "../../etc"]).fails(6);
    bench.jit(&["claim", "acquire", "01ZZZZZZ"]).fails(3);
    bench.jit(&["claim", "acquire", "01ZZZZZZZZZZZZZZZZZZZZZZZZ"]).fails(3);
    bench.jit(&["claim", "release", "01ZZZZZZ"]).fails(5);
    bench.jit(&["claim", "release", &issue[..20].to_lowercase()]).ok();
}

#[test]
fn what_is_not_understood_is_an_error_in_both_forms() {
    let bench = Bench::new();
    let refused = bench.jit(&["--json", "claim", "grab"]).fails(2);
    assert_eq!(refused.json()["error"]["code"], "USAGE");
    assert!(refused.stderr.contains("error:"), "{refused}");
    bench.jit(&["claim", "transfer", "0000"]).fails(2);
    bench.jit(&["--version"]).ok();
    bench.jit(&["--help"]).ok();
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let bench = Bench::new();
    for n in 0..3 {
        bench.issue(&n.to_string());
    }
    for asked in ["issue list", "issue list --json", "export"] {
        let script = format!("'{}' {asked} | true; echo ${{PIPESTATUS[0]}}", crate::bench::JIT);
        let mut shell = bench.dressed(Command::new("bash"));
        let done = shell.args(["-c", &script]).current_dir(bench.repo()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "0", "{asked}");
        assert!(done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn a_directory_can_be_named_and_one_without_issues_says_what_to_do() {
    let bench = Bench::new();
    let (issue, _) = bench.claimed("agent:a");
    let listed = bench.run_at("agent:a", &["-q", "-C", "repo", "issue", "list"], bench.root()).ok();
    assert_eq!(listed.stdout.trim(), issue);
    let refused = bench.run_at("agent:a", &["claim", "list"], bench.root()).fails(3);
    assert!(refused.stderr.contains("hint: jit init"), "{refused}");
    // What is above a repository is not the repository, however that is written.
    for at in [bench.repo(), bench.root().to_path_buf()] {
        let refused = bench.run_at("agent:a", &["-C", "..", "claim", "list"], &at).fails(3);
        assert!(refused.stderr.contains("hint: jit init"), "{refused}");
        let up = bench.root().join("repo/..").display().to_string();
        bench.run_at("agent:a", &["-C", &up, "claim", "list"], &at).fails(3);
    }
}

#[test]
fn a_setting_that_cannot_be_is_named_with_its_line() {
    let bench = Bench::new();
    bench.config("[coordination]\ndefault_ttl_secs = \"soon\"\n");
    let refused = bench.jit(&["--json", "claim", "list"]).fails(6);
    assert_eq!(refused.json()["error"]["code"], "CONFIG_INVALID");
    assert!(refused.stderr.contains("config.toml:2"), "{refused}");
    bench.config("[coordination]\ndefault_ttl_secs = 30\nmax_ttl_secs = 60\n");
    let issue = bench.issue("work");
    bench.jit(&["claim", "acquire", &issue, "--ttl", "61"]).fails(6);
    let taken = bench.jit(&["--json", "claim", "acquire", &issue]).ok().json();
    assert_eq!(taken["lease"]["ttl_secs"], 30);
}

#[test]
fn a_description_can_be_piped_in() {
    use std::io::Write as _;
    let bench = Bench::new();
    let piped = |args: &[&str], text: &str| {
        let mut command = bench.command("agent:a", args, &bench.repo());
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        holdfast_trial::Answer::from(child.wait_with_output().unwrap())
    };
    let create = ["-q", "issue", "create", "--title", "t", "--description", "-"];
    let id = piped(&create, "two\nlines\n").ok().stdout.trim().to_owned();
    let described = |id: &str| bench.jit(&["export", id]).ok().json()["description"].clone();
    assert_eq!(described(&id), "two\nlines");
    bench.jit(&["claim", "acquire", &id]).ok();
    piped(&["issue", "update", &id, "--description", "-"], "another").ok();
    assert_eq!(described(&id), "another");
    piped(&["issue", "update", &id, "--description", "-"], &"x".repeat((1 << 20) + 1)).fails(6);
}

//! Several users of one machine: with a shared group they exclude each other, without it nobody gets in.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Command;

use holdfast_trial::{Answer, has};

use crate::bench::{Bench, JIT};

/// The group that Debian gives to people.
const GROUP: (&str, &str) = ("users", "100");

/// A repository of root's that a group may work in, and a copy of the program that everybody can run.
struct Shared {
    bench: Bench,
    program: PathBuf,
}

impl Shared {
    /// None where this process may not become somebody else.
    fn new() -> Option<Self> {
        let groups = std::fs::read_to_string("/etc/group").unwrap_or_default();
        let known = groups.lines().any(|line| line.starts_with(&format!("{}:x:{}:", GROUP.0, GROUP.1)));
        let root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
        if !root || !known || !has("setpriv") {
            println!("skipped: this needs root, setpriv and the group {}", GROUP.0);
            return None;
        }
        let bench = Bench::new();
        bench.config(&format!("[coordination]\nshared_group = \"{}\"\n", GROUP.0));
        let program = bench.root().join("jit");
        std::fs::copy(JIT, &program).unwrap();
        let root = bench.root().to_str().unwrap().to_owned();
        let repo = bench.repo().to_str().unwrap().to_owned();
        for command in [
            vec!["chmod", "0755", &root],
            vec!["chgrp", "-R", GROUP.0, &repo],
            vec!["chmod", "-R", "g+rwX", &repo],
        ] {
            assert!(Command::new(command[0]).args(&command[1..]).status().unwrap().success());
        }
        Some(Self { bench, program })
    }

    /// Runs the program as a user who is nobody, in these groups.
    fn nobody(&self, groups: &[&str], args: &[&str]) -> Answer {
        let mut command = self.bench.dressed(Command::new("setpriv"));
        command.args(["--reuid=65534", "--regid=65534"]);
        match groups {
            [] => command.arg("--clear-groups"),
            groups => command.arg(format!("--groups={}", groups.join(","))),
        };
        command.arg("--").arg(&self.program).args(args).current_dir(self.bench.repo());
        command.env("JIT_AGENT_ID", "agent:nobody").env("GIT_CONFIG_COUNT", "1");
        command.env("GIT_CONFIG_KEY_0", "safe.directory").env("GIT_CONFIG_VALUE_0", "*");
        Answer::from(command.output().unwrap())
    }
}

#[test]
fn members_of_the_group_exclude_each_other_and_nobody_else_gets_in() {
    let Some(shared) = Shared::new() else { return };
    let bench = &shared.bench;
    let (first, second) = (bench.issue("first"), bench.issue("second"));
    bench.jit(&["claim", "acquire", &first]).ok();

    let refused = shared.nobody(&[GROUP.1], &["--json", "claim", "acquire", &first]).fails(4).json();
    assert_eq!(refused["error"]["details"]["held_by"]["agent_id"], "agent:a");
    shared.nobody(&[GROUP.1], &["claim", "acquire", &second]).ok();
    bench.jit(&["claim", "acquire", &second]).fails(4);
    shared.nobody(&[GROUP.1], &["claim", "release", &second]).ok();
    bench.jit(&["claim", "acquire", &second]).ok();

    let outside = shared.nobody(&[], &["claim", "release", &second]).fails(10);
    assert!(outside.stderr.contains("ermission denied"), "{outside}");
    assert_eq!(bench.leases().len(), 2);
}

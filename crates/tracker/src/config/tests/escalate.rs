//! `[[policy.escalate]]`: the lists of all files together, and commands from the user's and the machine's alone.

use super::*;

const NOTE: &str = "[[policy.escalate]]\nwhen = \"held_longer\"\nafter_secs = 60\nnote = \"look\"\n";
const RUN: &str = "[[policy.escalate]]\nwhen = \"gate_failed\"\nrun = \"true\"\n";

fn told(text: &str) -> String {
    let home = Home::with(text);
    let problem = validate(&Sys::os(), &home.places).unwrap().remove(0);
    problem.to_string().replace(&home.path("r/config.toml").display().to_string(), "config.toml")
}

#[test]
fn the_lists_of_all_files_count() {
    let home = Home::with(&format!("{NOTE}[policy]\napprovals = 2\n"));
    home.write("u/config.toml", RUN);
    let config = home.load();
    let all: Vec<_> =
        config.escalations.iter().map(|one| (one.when, one.after_secs, one.act.clone())).collect();
    let run = (When::GateFailed, 0, Act::Run("true".to_owned()));
    assert_eq!(all, [run, (When::HeldLonger, 60, Act::Note("look".to_owned()))]);
    assert_eq!(config.policies.approvals, 2);
    assert_ne!(config.escalations[0].mark(), config.escalations[1].mark());
}

#[test]
fn a_repository_runs_no_command() {
    assert_eq!(
        told(RUN),
        "config.toml:3: policy.escalate.run: a repository's file comes with a pull and must not run commands; move this \
         entry to the user's config.toml or to the machine's"
    );
    let home = Home::with(NOTE);
    home.write("u/config.toml", RUN);
    assert!(home.problems().is_empty());
}

#[test]
fn what_is_wrong_is_named() {
    for (text, expected) in [
        (
            "when = \"held_longer\"\nafter_secs = 1\n",
            "config.toml:1: policy.escalate: it says neither `note` nor `run`; say what is to be done",
        ),
        (
            "after_secs = 1\nnote = \"x\"\n",
            "config.toml:1: policy.escalate: `when` is missing; expected \"held_longer\" or \"waiting_longer\" or \"conflicts\" or \"gate_failed\" or \"not_landed_longer\"",
        ),
        (
            "when = \"held_longer\"\nnote = \"x\"\n",
            "config.toml:1: policy.escalate: `after_secs` is missing; say after how many seconds",
        ),
        (
            "when = \"held_long\"\nafter_secs = 1\nnote = \"x\"\n",
            "config.toml:2: policy.escalate.when: \"held_long\" is no word it knows; expected \"held_longer\" or \"waiting_longer\" or \"conflicts\" or \"gate_failed\" or \"not_landed_longer\"; did you mean held_longer?",
        ),
        (
            "when = \"conflicts\"\nafter_secs = -1\nnote = \"x\"\n",
            "config.toml:3: policy.escalate.after_secs: it must be from 0 to 315360000",
        ),
        (
            "when = \"conflicts\"\nnote = \"\"\n",
            "config.toml:3: policy.escalate.note: \"\" cannot be a note of 1 to 512 bytes on one line",
        ),
        (
            "when = \"conflicts\"\nnote = \"x\"\nafter_sec = 1\n",
            "config.toml:4: policy.escalate.after_sec: there is no such key; did you mean after_secs?",
        ),
    ] {
        assert_eq!(told(&format!("[[policy.escalate]]\n{text}")), expected);
    }
    assert!(told("[policy]\nescalate = 3\n").contains("expected a list of tables"));
    assert!(told("[policy.escalate]\nwhen = \"conflicts\"\n").contains("expected a list of tables"));
    assert!(told("[policy]\nescalate = [1]\n").contains("expected a list of tables"));
    let many = "[[policy.escalate]]\nwhen = \"conflicts\"\nnote = \"x\"\n".repeat(65);
    assert!(told(&many).contains("there are more than 64 of them"));
}

#[test]
fn other_settings_change_beside_it() {
    let home = Home::with(NOTE);
    home.set("policy.approvals", "3").unwrap();
    home.set("coordination.default_ttl_secs", "700").unwrap();
    let config = home.load();
    assert_eq!((config.escalations.len(), config.policies.approvals), (1, 3));
    assert!(matches!(home.set("policy.escalate", "x"), Err(Error::UnknownKey { .. })));
    home.reset("policy.approvals").unwrap();
    assert_eq!(home.load().escalations.len(), 1);
}

//! What somebody meant who typed a command that there is not. Words are compared by what they mean: `done` is far from
//! `finish` by its letters, and `clam` would be a strange thing to offer.

/// Words, and the command that does what they mean.
const MEANT: &[(&[&str], &str)] = &[
    (&["done", "complete", "submit", "deliver", "ship", "end"], "jit finish"),
    (&["take", "begin", "grab", "pick", "work", "checkout", "resume", "continue", "accept"], "jit start"),
    (
        &["abandon", "release", "giveup", "give-up", "return", "unclaim", "stop", "cancel", "abort"],
        "jit drop --reason '…'",
    ),
    (&["add", "new", "open", "make"], "jit create '…'"),
    (&["ls", "issues", "all"], "jit list"),
    (&["view", "cat", "get", "read", "info", "describe"], "jit show <issue>"),
    (&["comment", "annotate", "remark", "message"], "jit note <issue> '…'"),
    (&["todo", "available", "backlog", "free"], "jit ready"),
    (&["merge", "publish"], "jit land --all"),
    (&["pull", "fetch", "refresh"], "jit sync"),
    (&["reject", "wontfix", "duplicate", "dup", "resolve"], "jit close <issue> --as rejected"),
    (&["revert", "undo", "restore"], "jit reopen <issue> --revert"),
    (&["history", "events", "journal", "blame"], "jit log <issue>"),
    (&["find", "grep"], "jit search '…'"),
    (&["who", "me", "id", "identity", "agent"], "jit whoami"),
    (&["update", "set", "change", "modify"], "jit issue update <issue> …"),
    (&["rm", "delete", "remove", "del"], "jit issue delete <issue>"),
    (&["assign"], "jit issue update <issue> --assignee <name>"),
    (&["block", "depend", "depends", "link"], "jit dep add <issue> <issue>"),
    (&["tag"], "jit label add <issue> <label>"),
    (&["lock", "lease", "acquire"], "jit claim acquire <issue>"),
    (&["renew", "extend"], "jit claim renew <issue>"),
    (&["evict", "steal", "kick"], "jit claim force-evict <issue> --reason '…'"),
    (&["wt", "worktrees", "branch"], "jit worktree add <name>"),
    (&["fix", "repair", "fsck"], "jit recover"),
    (&["diagnose", "health", "diagnostics", "troubleshoot"], "jit doctor"),
    (&["check", "lint", "verify"], "jit validate all"),
    (&["install"], "jit init && jit hooks install"),
];

/// What to type in place of a word that is no command, after these that are.
#[must_use]
pub fn meant(before: &[String], word: &str) -> Option<String> {
    let lower = word.to_lowercase();
    if before.iter().any(|before| before == "claim") && is_issue(&lower) {
        return Some(format!("jit start {word}, or jit claim acquire {word}"));
    }
    let known = |(words, _): &&(&[&str], &str)| words.contains(&lower.as_str());
    MEANT.iter().find(known).map(|(_, command)| (*command).to_owned())
}

/// Whether a word looks like an issue's handle or id.
fn is_issue(word: &str) -> bool {
    word.len() >= 4
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().all(|b| b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{MEANT, meant};
    use crate::cli::Cli;

    #[test]
    fn a_word_leads_to_what_it_means() {
        assert_eq!(meant(&[], "done").as_deref(), Some("jit finish"));
        assert_eq!(meant(&[], "LS").as_deref(), Some("jit list"));
        assert!(meant(&["claim".to_owned()], "7k2f").unwrap().starts_with("jit start 7k2f"));
        assert_eq!(meant(&[], "xyzzy"), None);
    }

    /// What is a command is never taken for a word, and what is offered is one.
    #[test]
    fn tips_lead_to_commands_that_there_are() {
        let mut root = Cli::command();
        root.build();
        for (words, tip) in MEANT {
            let first = tip.split(' ').nth(1).unwrap();
            assert!(root.find_subcommand(first).is_some(), "{tip}");
            for word in *words {
                assert!(root.find_subcommand(word).is_none(), "{word} is a command");
            }
        }
    }
}

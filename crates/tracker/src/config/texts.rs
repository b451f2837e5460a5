//! What texts in a configuration may be. Every one of them ends up in a file name, a message or a
//! comparison, so none may be empty, endless or hold what a terminal acts on.

use holdfast_kernel::{Name, Text};

use super::form::TextForm;
use crate::agent::AgentId;

/// The identity of an agent.
pub(super) const AGENT_ID: TextForm = TextForm {
    what: "an agent's identity, kind:name, such as agent:alice",
    check: |text| AgentId::new(text).is_ok(),
};

/// Whoever may approve something.
pub(super) const APPROVER: TextForm = TextForm {
    what: "an agent's identity such as person:ann, or all of a kind, person:*",
    check: |text| AgentId::new(text).is_ok() || text.strip_suffix(":*").is_some_and(is_kind),
};

/// A moment.
pub(super) const MOMENT: TextForm = TextForm {
    what: "a moment such as 2026-01-03T12:00:00Z",
    check: |text| text.parse::<jiff::Timestamp>().is_ok(),
};

/// Whatever a person wants to say.
pub(super) const DESCRIPTION: TextForm = TextForm {
    what: "a description of 1 to 1,024 bytes on one line",
    check: |text| text.trim() == text && Text::new(text).is_ok(),
};

/// A note that is put on an issue.
pub(super) const REMARK: TextForm = TextForm {
    what: "a note of 1 to 512 bytes on one line",
    check: |text| text.trim() == text && text.len() <= 512 && Text::new(text).is_ok(),
};

/// A command for `sh`.
pub(super) const COMMAND: TextForm = TextForm {
    what: "a command of 1 to 1,024 bytes on one line",
    check: |text| !text.trim().is_empty() && Text::new(text).is_ok(),
};

/// A group of the machine's users.
pub(super) const GROUP: TextForm = TextForm {
    what: "a group's name: up to 32 letters, digits, dots, hyphens and underscores, no hyphen first",
    check: |text| !text.starts_with('-') && is_short(text, |byte| is_plain(byte) || byte == b'.'),
};

/// A directory.
pub(super) const DIRECTORY: TextForm = TextForm {
    what: "a directory's path of 1 to 1,024 bytes on one line",
    check: |text| text.trim() == text && !text.starts_with('-') && Text::new(text).is_ok(),
};

/// A type of issues.
pub(super) const TYPE: TextForm = TextForm {
    what: "a type's name: up to 32 lower-case letters, digits, hyphens and underscores",
    check: is_kind,
};

/// A remote.
pub(super) const REMOTE: TextForm = TextForm {
    what: "a remote's name, as git remote lists it",
    check: |text| is_branch(text) && !text.contains(char::is_whitespace),
};

/// A ref.
pub(super) const REF: TextForm = TextForm {
    what: "the full name of a ref such as refs/worktree/jit/claims",
    check: |text| text.starts_with("refs/") && text.split('/').count() >= 3 && is_branch(text),
};

/// Where a member of etcd is reached.
pub(super) const ENDPOINT: TextForm = TextForm {
    what: "the URL of a member of etcd such as https://10.0.0.1:2379, without a login",
    check: |text| holdfast_remote::etcd::is_endpoint(text),
};

/// What claims are called in etcd.
pub(super) const NAMESPACE: TextForm = TextForm {
    what: "a name of up to 128 letters, digits, dots, hyphens, underscores and slashes",
    check: holdfast_remote::etcd::is_namespace,
};

/// A user of etcd.
pub(super) const USER: TextForm = TextForm {
    what: "a user's name of up to 64 bytes on one line",
    check: |text| text.len() <= 64 && text.trim() == text && Name::new(text).is_ok(),
};

/// The name of a counter.
pub(super) const COUNTER: TextForm = TextForm {
    what: "the id of a counter, as jit engine init writes it",
    check: |text| text.parse::<holdfast_store::CounterId>().is_ok(),
};

/// A branch.
pub(super) const BRANCH: TextForm = TextForm { what: "a branch's name", check: is_branch };

/// A directory; a relative one is below the worktree.
pub(super) const PATH: TextForm = TextForm {
    what: "a path of 1 to 512 bytes without control characters",
    check: |text| Name::new(text).is_ok(),
};

/// What is said about kinds of agents wherever one is asked for.
pub(super) const KIND: &str = "a kind is up to 32 lower-case letters, digits, hyphens and underscores";

/// Whether a text can be the kind of an agent.
pub(super) fn is_kind(text: &str) -> bool {
    is_short(text, |byte| is_plain(byte) && !byte.is_ascii_uppercase())
}

fn is_short(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    (1..=32).contains(&text.len()) && text.bytes().all(allowed)
}

const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// Git's own rules, as far as a typing mistake can break them.
fn is_branch(text: &str) -> bool {
    Name::new(text).is_ok()
        && !text.starts_with(['-', '/'])
        && !text.ends_with(['/', '.'])
        && !["..", "//", "@{"].iter().any(|part| text.contains(part))
        && !text.contains([' ', '~', '^', ':', '?', '*', '[', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_what_git_would_take() {
        for good in ["main", "release/1.2", "feature/a-b"] {
            assert!(is_branch(good), "{good}");
        }
        for bad in ["", "a b", "-a", "/a", "a/", "a..b", "a//b", "a@{1}", "a*", "a\tb", "a."] {
            assert!(!is_branch(bad), "{bad:?}");
        }
    }

    #[test]
    fn names_are_short_and_plain() {
        assert!((GROUP.check)("dev.team_1") && (TYPE.check)("user-story") && is_kind("ci"));
        for bad in ["", "a b", "ü", "a/b", &"a".repeat(33)] {
            assert!(!(GROUP.check)(bad) && !(TYPE.check)(bad) && !is_kind(bad), "{bad:?}");
        }
        assert!(!(GROUP.check)("-x"));
    }
}

//! The trailers that say under which lease a commit was made, one set for each issue that it touches.
//!
//! A line that two sets would share (the agent, the worktree) is there once, as git itself would have it; so a
//! set is known by its lease, the n-th issue and fence belong to the n-th lease, and the agent of a lease is one
//! of those that are named.

use holdfast_git::trailers::{self, Style, Trailer};
use holdfast_kernel::Lease;

const LEASE: &str = "JIT-Lease";
const ISSUE: &str = "JIT-Issue";
const AGENT: &str = "JIT-Agent";
const WORKTREE: &str = "JIT-Worktree";
const FENCE: &str = "JIT-Fence";

const KEYS: [&str; 5] = [LEASE, ISSUE, AGENT, WORKTREE, FENCE];

/// A lease as a commit names it. Anybody may have written this.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Named {
    pub(super) lease: String,
    pub(super) issue: String,
    pub(super) fence: String,
    pub(super) agents: Vec<String>,
    pub(super) worktrees: Vec<String>,
}

impl Named {
    /// A lease, to be named.
    pub(super) fn of(lease: &Lease) -> Self {
        Self {
            lease: lease.id.to_string(),
            issue: lease.resource.to_string(),
            fence: lease.fence.get().to_string(),
            agents: vec![lease.holder.agent.to_string()],
            worktrees: vec![lease.holder.place.to_string()],
        }
    }

    /// Whether it says of this lease what is true of it.
    pub(super) fn fits(&self, lease: &Lease) -> bool {
        let real = Self::of(lease);
        let named = |all: &[String], one: &[String]| one.iter().all(|one| all.contains(one));
        (&self.issue, &self.fence) == (&real.issue, &real.fence)
            && named(&self.agents, &real.agents)
            && named(&self.worktrees, &real.worktrees)
    }
}

/// The leases that a message names.
pub(super) fn read(message: &[u8], style: &Style) -> Vec<Named> {
    let all = trailers::parse(message, style);
    let of = |key: &str| -> Vec<String> {
        let values = all.iter().filter(|trailer| trailer.is(key));
        values.map(|trailer| String::from_utf8_lossy(&trailer.value).into_owned()).collect()
    };
    let [leases, issues, agents, worktrees, fences] = KEYS.map(of);
    let nth = |values: &[String], at: usize| values.get(at).cloned().unwrap_or_default();
    let named = |(at, lease): (usize, String)| Named {
        lease,
        issue: nth(&issues, at),
        fence: nth(&fences, at),
        agents: agents.clone(),
        worktrees: worktrees.clone(),
    };
    leases.into_iter().enumerate().map(named).collect()
}

/// The message with these leases named, and no others.
pub(super) fn replace(message: &[u8], style: &Style, named: &[Named]) -> Vec<u8> {
    let mut all = Vec::new();
    for one in named {
        let lines = [(LEASE, &one.lease), (ISSUE, &one.issue)].into_iter();
        let lines = lines.chain(one.agents.iter().map(|agent| (AGENT, agent)));
        let lines = lines.chain(one.worktrees.iter().map(|worktree| (WORKTREE, worktree)));
        let lines = lines.chain([(FENCE, &one.fence)]);
        all.extend(lines.filter_map(|(key, value)| Trailer::new(key, value)));
    }
    trailers::replace(message, style, &KEYS, &all)
}

#[cfg(test)]
mod tests {
    use super::{Named, read, replace};
    use holdfast_git::trailers::Style;

    fn named(number: u8, agent: &str) -> Named {
        Named {
            lease: format!("L{number}"),
            issue: format!("I{number}"),
            fence: number.to_string(),
            agents: vec![agent.into()],
            worktrees: vec!["wt:1".into()],
        }
    }

    #[test]
    fn what_is_written_is_read_and_never_twice() {
        let style = Style::default();
        let both = [named(1, "agent:a"), named(2, "agent:a")];
        let once = replace(b"title\n", &style, &both);
        assert_eq!(read(&once, &style), both);
        assert_eq!(replace(&once, &style, &both), once);
        assert_eq!(String::from_utf8(once.clone()).unwrap().matches("JIT-Agent").count(), 1);
        let one = replace(&once, &style, &both[..1]);
        assert_eq!(read(&one, &style), both[..1]);
        assert_eq!(replace(&one, &style, &[]), b"title\n\n");
    }

    #[test]
    fn other_trailers_stay_where_they_are() {
        let style = Style::default();
        let text = replace(b"title\n\nSigned-off-by: A <a@b>\n", &style, &[named(1, "agent:a")]);
        assert!(text.starts_with(b"title\n\nSigned-off-by: A <a@b>\nJIT-Lease: L1\nJIT-Issue: I1\n"));
        assert_eq!(read(&text, &style), [named(1, "agent:a")]);
    }
}

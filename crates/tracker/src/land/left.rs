//! Issues that were begun in this worktree and given back, or lost: their files still say how they stood while they were held
//! here. Where no commit has that, it is nothing to land, and nobody is asked about it. A branch that has it in a commit may
//! have the work, too.

use holdfast_git::ObjectId;

use super::finish::{Asked, Finisher};
use super::held_here;
use super::plumbing::FLUSHING;
use crate::durable;
use crate::error::Result;
use crate::ids::IssueId;
use crate::issues::{Issue, LONGEST, State};
use crate::workspace::DATA;

/// Where that is said.
const FILE: &str = "/issue.json";

impl Finisher<'_> {
    /// Leaves out of what is staged how other issues stood while they were held here, and gives the rest: they are as they were
    /// in the last commit.
    pub(super) fn leave_others(&self, staged: Vec<Vec<u8>>, asked: &Asked) -> Result<Vec<Vec<u8>>> {
        let others = self.others(&staged, asked);
        if others.is_empty() {
            return Ok(staged);
        }
        let head = self.plumbing.head()?;
        let left = self.left(others, &head)?;
        self.restore(&head, &left)?;
        let is_left = |path: &Vec<u8>| left.iter().any(|left| left.as_bytes() == path.as_slice());
        Ok(staged.into_iter().filter(|path| !is_left(path)).collect())
    }

    /// The files among these that say how another issue stands, but for those that were named.
    fn others(&self, paths: &[Vec<u8>], asked: &Asked) -> Vec<(IssueId, String)> {
        let other = |path: &Vec<u8>| {
            let path = std::str::from_utf8(path).ok()?;
            let id = path.strip_prefix(DATA)?.strip_prefix("/issues/")?.strip_suffix(FILE)?;
            let id = IssueId::parse(id)?;
            (id != self.id && !asked.with.contains(&id)).then(|| (id, path.to_owned()))
        };
        paths.iter().filter_map(other).collect()
    }

    /// Those of these files that say no more than at `base`, but that the issue was held here, and it is not any more.
    fn left(&self, others: Vec<(IssueId, String)>, base: &ObjectId) -> Result<Vec<String>> {
        let log = self.session.claims().view()?.counter.map(|counter| counter.to_string());
        let (agent, held) = (self.session.agent()?.id.to_string(), held_here(self.session)?);
        let mut left = Vec::new();
        for (id, path) in others {
            let now = durable::read(self.session.sys(), &self.plumbing.root().join(&path), LONGEST)?;
            let before = self.plumbing.show(base, &path)?;
            let read = |bytes: Option<Vec<u8>>| serde_json::from_slice::<Issue>(&bytes?).ok();
            if let (Some(before), Some(now)) = (read(before), read(now))
                && now.fence_log == log
                && was_only_held(&before, &now, &agent)
                && held.iter().all(|(held, _)| *held != id)
            {
                left.push(path);
            }
        }
        Ok(left)
    }

    /// Has files be as a commit has them.
    fn restore(&self, commit: &ObjectId, files: &[String]) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let source = format!("--source={commit}");
        let command = ["--literal-pathspecs", "restore", "--quiet", &source, "--staged", "--worktree", "--"];
        let mut args = [&FLUSHING[..], &command].concat();
        args.extend(files.iter().map(String::as_str));
        self.plumbing.git().run(&args)?;
        Ok(())
    }
}

/// Whether all that was written since is that `agent` held it.
fn was_only_held(before: &Issue, now: &Issue, agent: &str) -> bool {
    let was_held = (now.fence, &now.fence_log) != (before.fence, &before.fence_log);
    let is_open = now.state == before.state || now.state == State::InProgress;
    let is_nobodys = now.assignee.as_deref().is_none_or(|assignee| assignee == agent);
    let like_before = Issue {
        state: before.state,
        assignee: before.assignee.clone(),
        fence: before.fence,
        fence_log: before.fence_log.clone(),
        updated_at: before.updated_at.clone(),
        ..now.clone()
    };
    was_held && is_open && (is_nobodys || now.assignee == before.assignee) && like_before == *before
}

#[cfg(test)]
mod tests {
    use super::{Issue, State, was_only_held};

    #[test]
    fn only_what_was_held_and_not_changed_is_left() {
        let before = Issue::new("01".into(), "Oil the gate".into(), "t".into());
        let held = Issue { fence: Some(3), updated_at: "u".into(), ..before.clone() };
        let begun = Issue { state: State::InProgress, assignee: Some("agent:a".into()), ..held.clone() };
        let left = |now: &Issue| was_only_held(&before, now, "agent:a");
        assert!(left(&held) && left(&begun));
        let changed = [
            before.clone(),
            Issue { updated_at: "u".into(), ..before.clone() },
            Issue { state: State::InProgress, ..before.clone() },
            Issue { state: State::Done, ..held.clone() },
            Issue { state: State::Backlog, ..held.clone() },
            Issue { assignee: Some("agent:b".into()), ..begun.clone() },
            Issue { title: "Oil the door".into(), ..begun.clone() },
            Issue { description: Some("all of it".into()), ..begun },
        ];
        for now in &changed {
            assert!(!left(now), "{now:?}");
        }
    }
}

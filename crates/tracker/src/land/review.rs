//! Putting a finished branch to the remote, and what a forge says to that: the address of the review of that branch, if
//! there is one already. The page on which one could be asked for is no review yet.

use super::finish::Finisher;
use super::plumbing::FLUSHING;
use super::publish::Published;
use crate::error::Result;
use crate::notice::Notice;

/// The link to where the work is reviewed.
const PULL_REQUEST: &str = "pull_request";

/// What comes before the number of a review in its address: of GitHub, Gitea, GitLab, Bitbucket, Azure and Gerrit.
const KINDS: [&str; 6] = ["pull", "pulls", "merge_requests", "pull-requests", "pullrequest", "+"];

/// What came of putting a branch to the remote.
pub(super) enum Sent {
    /// It is there.
    There {
        /// The address of its review, if the remote names one.
        review: Option<String>,
    },
    /// It is not, which was said.
    Not,
}

impl Finisher<'_> {
    /// Puts the target to the remote, and says whether it is there. If that fails the reason is told, and the work is here.
    pub(super) fn push_target(&self) -> Result<bool> {
        let publisher = self.publisher();
        if !publisher.is_fenced() {
            return Ok(matches!(self.push(&self.target.branch)?, Sent::There { .. }));
        }
        let (head, onto) = (self.plumbing.head()?, self.target.remote);
        // Moved from where it is, it would lose what others have put there and this branch does not have.
        let goes_on = match onto {
            Some(onto) => self.plumbing.base(&onto, &head)? == Some(onto),
            None => true,
        };
        let published = match goes_on {
            true => publisher.push_fenced(&[], onto.as_ref(), &head)?,
            false => Published::Moved,
        };
        let why = match published {
            Published::Landed => return Ok(true),
            Published::Moved => {
                format!("{} has moved there: jit sync, then jit finish again", self.target.branch)
            }
            Published::Offline(why) => why,
        };
        self.session.notice(&Notice::NotPushed(why));
        Ok(false)
    }

    /// Keeps the address of a review with the issue, on its branch. Whoever is cut off here is told it at the next push.
    pub(super) fn keep_address(&self, branch: &str, address: &str) -> Result<()> {
        let kept = self.writer.change(self.id, "linking", |draft| {
            draft.edit().links.insert(PULL_REQUEST.to_owned(), address.to_owned());
            Ok(())
        })?;
        if !kept.written {
            return Ok(());
        }
        let (home, _) = self.own();
        self.plumbing.git().run(&[&FLUSHING[..], &["add", "-A", "--", &home]].concat())?;
        self.commit(Some(&format!("Link {} to its review", self.handle)))?;
        self.push(branch).map(drop)
    }

    /// Puts this branch to the remote, under the name of a branch there. If that fails it is said, and the work is here.
    pub(super) fn push(&self, branch: &str) -> Result<Sent> {
        let publisher = self.publisher();
        if publisher.is_fenced() {
            let why = publisher.push_branch(branch, &self.plumbing.head()?, branch.starts_with("jit/"))?;
            let Some(why) = why else { return Ok(Sent::There { review: None }) };
            self.session.notice(&Notice::NotPushed(why));
            return Ok(Sent::Not);
        }
        let refs = format!("HEAD:refs/heads/{branch}");
        let mut args = vec!["push", "-q", "origin", &refs];
        // A branch that was begun for an issue may have been put on top of the target since it was pushed.
        if branch.starts_with("jit/") {
            args.insert(2, "--force-with-lease");
        }
        let said = self.plumbing.remote_git()?.ask(&args, &[])?;
        if said.code != Some(0) {
            let why = String::from_utf8_lossy(&said.stderr).trim().to_owned();
            self.session.notice(&Notice::NotPushed(why));
            return Ok(Sent::Not);
        }
        if branch != self.target.branch {
            publisher.say_pushed(&self.plumbing.head()?)?;
        }
        // A forge says where to ask for the review.
        let words = String::from_utf8_lossy(&said.stderr);
        let told = words.lines().filter_map(|line| line.strip_prefix("remote:"));
        let told: Vec<&str> = told.map(str::trim).filter(|line| line.contains("://")).collect();
        told.iter().for_each(|line| self.session.notice(&Notice::RemoteSays((*line).to_owned())));
        let review = told.iter().find_map(|line| address(line)).map(ToOwned::to_owned);
        Ok(Sent::There { review })
    }
}

/// The address of a review that a line names.
fn address(line: &str) -> Option<&str> {
    line.split_whitespace().find(|word| {
        let path = word.strip_prefix("https://").or_else(|| word.strip_prefix("http://"));
        let path = path.and_then(|path| path.split(['?', '#']).next()).unwrap_or_default();
        let parts: Vec<&str> = path.trim_end_matches('/').split('/').collect();
        let [.., kind, number] = parts.as_slice() else { return false };
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number && KINDS.contains(kind)
    })
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn only_what_is_a_review_already_is_one() {
        let there = [
            "https://github.example/o/r/pull/7",
            "https://gitea.example/o/r/pulls/3",
            "https://gitlab.example/g/o/r/-/merge_requests/12",
            "https://bitbucket.example/projects/O/repos/r/pull-requests/5/",
            "https://dev.example/o/p/_git/r/pullrequest/44",
            "https://gerrit.example/c/r/+/1234",
        ];
        for url in there {
            assert_eq!(address(&format!("View it: {url} [NEW]")), Some(url));
        }
        let not_yet = [
            "Create a pull request by visiting https://github.example/o/r/pull/new/topic",
            "https://gitlab.example/o/r/-/merge_requests/new?merge_request%5Bsource_branch%5D=7",
            "https://gitea.example/o/r/compare/main...7",
            "https://forge.example/issues/7",
            "ssh://forge.example/pull/7",
            "https://forge.example/pull/",
            "pull/7",
        ];
        for line in not_yet {
            assert_eq!(address(line), None, "{line}");
        }
    }
}

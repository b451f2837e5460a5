//! The message of a commit: it names the lease of every issue that the commit touches, each once, also when it
//! is amended or rebased. It never stops a commit: whether it may be made is asked elsewhere.

use std::collections::BTreeSet;
use std::path::Path;

use holdfast_git::trailers::Style;
use holdfast_git::{Config, ObjectId};
use holdfast_kernel::{Holder, Standing};

use super::files;
use super::site::Site;
use super::trailers::{self, Named};
use crate::caller::Caller;
use crate::claims::resource;
use crate::durable;
use crate::error::Result;
use crate::ids::IssueId;

/// Longer than any message that a person reads.
const LONGEST: usize = 64 << 20;

/// What follows the comment mark where a message ends and git's own words begin.
const SCISSORS: &[u8] = b" ------------------------ >8 ---";

/// What is known about where a message comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Git prepared it for a commit on top of HEAD.
    Prepared,
    /// Git took it from HEAD, which the commit replaces.
    Amended,
    /// A person finished it. Whether HEAD is replaced is not known, so nothing is taken away.
    Finished,
}

/// Names the leases in the message at `path`.
///
/// # Errors
/// When something cannot be read or written. The message is then as it was.
pub fn name_leases(caller: &Caller, path: &Path, source: Source) -> Result<()> {
    let Some(site) = Site::find(caller)? else { return Ok(()) };
    let source = if source == Source::Prepared && replaces_head(&site)? { Source::Amended } else { source };
    let touched = touched(&site, source)?;
    let path = caller.start.join(path);
    let Some(message) = durable::read(&caller.sys, &path, LONGEST)? else { return Ok(()) };
    if touched.is_empty() && !message.windows(4).any(|word| word.eq_ignore_ascii_case(b"JIT-")) {
        return Ok(());
    }
    let config = Config::read(&*caller.sys.files, &caller.git, Some(&site.repository))?;
    let style = Style::configured(&config);
    // Before a person has written anything there is no message: saving that unchanged must not make one.
    if is_empty(&message, &style) {
        return Ok(());
    }
    let named = leases(&site, &touched, trailers::read(&message, &style), source)?;
    let renamed = trailers::replace(&message, &style, &named);
    if renamed != message && trailers::read(&message, &style) != named {
        durable::replace(&caller.sys, &path, &renamed, 0o644)?;
    }
    Ok(())
}

/// Whether a person has written nothing yet. Below the scissors git shows the change, which is no message.
fn is_empty(message: &[u8], style: &Style) -> bool {
    let is_cut =
        |line: &[u8]| line.strip_prefix(&style.comment[..]).is_some_and(|rest| rest.starts_with(SCISSORS));
    let mut lines = message.split(|byte| *byte == b'\n').take_while(|line| !is_cut(line));
    lines.all(|line| line.starts_with(&style.comment) || line.trim_ascii().is_empty())
}

/// Whether the commit replaces HEAD: git does not say so where a message was given, but then the change keeps
/// the date of its author.
fn replaces_head(site: &Site<'_>) -> Result<bool> {
    let date = site.caller.author_date.as_deref().and_then(|date| date.to_str());
    let secs = date.and_then(|date| date.strip_prefix('@')?.split(' ').next()?.parse::<i64>().ok());
    let (Some(secs), Some(head)) = (secs, site.head()?) else { return Ok(false) };
    let head = site.commit(&head)?;
    Ok(head.authored_secs == secs && !trailers::read(&head.message, &Style::default()).is_empty())
}

/// The issues that the commit will touch.
fn touched(site: &Site<'_>, source: Source) -> Result<BTreeSet<IssueId>> {
    let head = site.head()?.map(|head| site.commit(&head)).transpose()?;
    let (base, others): (Option<ObjectId>, Vec<ObjectId>) = match (head, source) {
        (None, _) => (None, Vec::new()),
        (Some(head), Source::Amended) => {
            let mut trees = site.trees(&head.parents)?.into_iter();
            (trees.next(), trees.collect())
        }
        (Some(head), _) => (Some(head.tree), site.trees(&site.merge_heads()?)?),
    };
    let changes = site.own_changes(site.staged(base.as_ref())?, &others)?;
    Ok(files::sorted(changes).issues.into_keys().collect())
}

/// The leases to name: for each issue the one that is held, else the one that was named when the change was
/// first committed.
fn leases(
    site: &Site<'_>,
    touched: &BTreeSet<IssueId>,
    before: Vec<Named>,
    source: Source,
) -> Result<Vec<Named>> {
    let held = held(site, touched)?;
    let is_replaced = |named: &Named| held.iter().any(|held| held.issue == named.issue);
    let is_touched = |named: &Named| touched.iter().any(|issue| issue.to_string() == named.issue);
    let mut named: Vec<Named> = before
        .into_iter()
        .filter(|named| !is_replaced(named) && (source == Source::Finished || is_touched(named)))
        .collect();
    named.extend(held);
    named.sort_by(|a, b| a.issue.cmp(&b.issue));
    Ok(named)
}

/// The leases on these issues that whoever commits here holds.
fn held(site: &Site<'_>, touched: &BTreeSet<IssueId>) -> Result<Vec<Named>> {
    if touched.is_empty() {
        return Ok(Vec::new());
    }
    let session = site.session()?;
    let Some(agent) = session.known_agent() else { return Ok(Vec::new()) };
    let data = session.own_data()?;
    let Some(identity) = session.known_identity()? else { return Ok(Vec::new()) };
    let holder = Holder { agent: agent.name().clone(), place: identity.name(&data)? };
    let view = session.claims().view()?;
    let mut named = Vec::new();
    for issue in touched {
        let lease = view.table.held_by(&resource(*issue)?, &holder);
        let in_force =
            lease.filter(|it| matches!(it.standing(&view.now), Standing::Live { .. } | Standing::Beating));
        named.extend(in_force.map(Named::of));
    }
    Ok(named)
}

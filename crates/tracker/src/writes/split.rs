//! Making parts of an issue. A part is an issue like every other that names its parent; the parent depends on it, so that
//! it cannot be finished before its parts have landed. Whoever is cut off types it again: open parts of the same titles are
//! taken, and none is made twice.

use std::collections::BTreeMap;

use super::create::{Fresh, blank};
use super::results::Results;
use super::texts;
use super::writer::Writer;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::issues::{Issue, Scope};

/// The most parts that are made at once.
const MOST: usize = 100;

/// A label of an issue that nobody gets by being a part of it.
const ATTENTION: &str = "needs:attention";

/// What an issue was split into.
pub struct Split {
    /// The issue.
    pub parent: IssueId,
    /// Its new parts, in the order of their titles, with those.
    pub parts: Vec<(IssueId, String)>,
}

impl Writer<'_> {
    /// Makes parts of an issue that is held here.
    ///
    /// # Errors
    /// When the caller may not, a title is none, or they cannot be written.
    pub fn split(&self, parent: IssueId, titles: &[String]) -> Result<Split> {
        if titles.len() > MOST {
            let why = format!("at most {MOST} parts can be made at once");
            return Err(Error::BadValue { what: "--into", given: titles.len().to_string(), why });
        }
        let titles: Vec<String> = titles.iter().map(|title| texts::title(title)).collect::<Result<_>>()?;
        self.may(parent, "splitting")?;
        let whole = self.issues.read(parent)?;
        if whole.state.is_over() {
            let why = format!("it is {}: jit reopen comes first", whole.state);
            return Err(Error::BadValue {
                what: "the issue to split",
                given: self.issues.handle(parent),
                why,
            });
        }
        let labels: Vec<String> = self
            .issues
            .see(parent, Scope::All, |seen| seen.labels.members().map(ToOwned::to_owned).collect())?;
        let mut there = self.open_parts(parent)?;
        let mut parts: Vec<(IssueId, String)> = Vec::with_capacity(titles.len());
        for title in titles {
            let id = match there.get_mut(&title).and_then(Vec::pop) {
                Some(made) => made,
                None => self.part(&whole, &title, &labels, parts.last().map(|(id, _)| *id))?,
            };
            parts.push((id, title));
        }
        let ids: Vec<IssueId> = parts.iter().map(|(id, _)| *id).collect();
        self.depend(&[parent], &ids)?;
        Ok(Split { parent, parts })
    }

    /// The parts that are there and not over, by title.
    fn open_parts(&self, parent: IssueId) -> Result<BTreeMap<String, Vec<IssueId>>> {
        let text = parent.to_string();
        let scan = self.issues.glance(Scope::All, |issue| {
            let is_part = issue.parent == Some(text.as_str());
            (is_part && !issue.state.is_over()).then(|| (issue.title.to_owned(), issue.id))
        })?;
        let mut parts: BTreeMap<String, Vec<IssueId>> = BTreeMap::new();
        for (title, id) in scan.found {
            parts.entry(title).or_default().push(id);
        }
        Ok(parts)
    }

    fn part(
        &self,
        whole: &Issue,
        title: &str,
        labels: &[String],
        before: Option<IssueId>,
    ) -> Result<IssueId> {
        let mut issue = blank(self.session.sys(), title.to_owned())?;
        if let Some((own, before)) = IssueId::parse(&issue.id).zip(before) {
            issue.id = own.after(before).to_string();
        }
        let types = &self.session.config().types.hierarchy;
        let place = types.iter().position(|kind| *kind == whole.kind);
        let narrower = place.and_then(|place| types.get(place + 1)).unwrap_or(&whole.kind);
        issue.kind.clone_from(narrower);
        issue.priority = whole.priority;
        issue.parent = Some(whole.id.clone());
        let labels = labels.iter().filter(|label| *label != ATTENTION).cloned().collect();
        let fresh = Fresh { issue, labels, dependencies: Vec::new(), results: Results::default() };
        Ok(self.create(fresh)?.id())
    }
}

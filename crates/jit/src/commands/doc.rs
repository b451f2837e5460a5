//! `jit doc`: documents of issues.

use holdfast_door::{Clean, table};
use holdfast_git::objects::Change;
use holdfast_kernel::Stamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Doc as Command;
use crate::commands::issue::IssueOutput;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::Session;
use holdfast_tracker::answers::show::Whole;
use holdfast_tracker::documents::{DocPath, committed};
use holdfast_tracker::error::{Result, WriteError};
use holdfast_tracker::issues::{self, Issue, Issues};
use holdfast_tracker::times::rfc3339;
use holdfast_tracker::writes::{self, Writer};

/// A document of an issue.
#[derive(Serialize, JsonSchema)]
pub struct AttachedDocument {
    /// Where it is, from the root of the worktree on.
    pub path: String,
    /// What the issue has of it.
    #[serde(flatten)]
    pub document: issues::Document,
}

/// A document that was attached, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct DocAddOutput {
    /// The document.
    pub document: AttachedDocument,
    /// The issue.
    pub issue: Whole,
    /// Whether anything was written.
    pub changed: bool,
}

/// The documents of an issue, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct DocListOutput {
    /// The documents.
    pub documents: Vec<AttachedDocument>,
    /// How many.
    pub count: usize,
}

/// A document with what it holds, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct DocShowOutput {
    /// The document.
    pub document: Content,
}

/// A document with what it holds.
#[derive(Serialize, JsonSchema)]
pub struct Content {
    /// The document.
    #[serde(flatten)]
    pub attached: AttachedDocument,
    /// What it holds; what is no text is replaced.
    pub content: String,
}

/// The commits that changed a document, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct DocHistoryOutput {
    /// The document.
    pub path: String,
    /// The commits, the latest first.
    pub history: Vec<Commit>,
    /// How many.
    pub count: usize,
}

/// A commit that changed a document.
#[derive(Serialize, JsonSchema)]
pub struct Commit {
    /// Its id.
    pub commit: String,
    /// When it was made.
    pub at: String,
    /// What it says of itself.
    pub subject: String,
}

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    let session = context.session()?;
    match command {
        Command::Add { id, path, label } => add(&session, id, path, label.as_deref()),
        Command::Remove { id, path } => remove(&session, id, path),
        Command::List { id } => list(&session, id),
        Command::Show { id, path } => show(&session, id, path),
        Command::History { id, path, limit } => history(&session, id, path, *limit),
    }
}

fn add(session: &Session, id: &str, path: &str, label: Option<&str>) -> Result<Report> {
    let label = label.map(writes::title).transpose()?;
    let path = DocPath::typed(session, path)?;
    path.find(session)?;
    let writer = Writer::open(session)?;
    let id = writer.issues.resolve(id)?;
    let changed = writer.change(id, "adding a document to", |draft| {
        draft.document(path.as_str(), label.clone());
        Ok(())
    })?;
    let text = format!("{} belongs to {}\n", path.as_str(), writer.issues.handle(id));
    let added = DocAddOutput {
        document: attached(changed.draft.issue(), path.as_str()),
        issue: Whole::new(&writer.issues, &changed.draft),
        changed: changed.written,
    };
    Ok(Report::new(text, &added).brief(path.as_str()))
}

fn remove(session: &Session, id: &str, path: &str) -> Result<Report> {
    let path = DocPath::typed(session, path)?;
    let writer = Writer::open(session)?;
    let id = writer.issues.resolve(id)?;
    let changed = writer.change(id, "removing a document from", |draft| {
        let gone = draft.edit().documents.remove(path.as_str());
        gone.map(drop).ok_or_else(|| absent(draft.issue(), path.as_str()))
    })?;
    let text = format!("{} no longer belongs to {}\n", path.as_str(), writer.issues.handle(id));
    Ok(Report::new(text, &IssueOutput::new(&writer.issues, &changed)).brief(path.as_str()))
}

fn absent(issue: &Issue, path: &str) -> holdfast_tracker::error::Error {
    WriteError::NoDocument { issue: issue.id.clone(), path: path.to_owned() }.into()
}

fn attached(issue: &Issue, path: &str) -> AttachedDocument {
    // Whoever asks has found it in the issue.
    AttachedDocument {
        path: path.to_owned(),
        document: issue.documents.get(path).cloned().unwrap_or_default(),
    }
}

fn list(session: &Session, id: &str) -> Result<Report> {
    let issues = Issues::new(session);
    let id = issues.resolve(id)?;
    let issue = issues.read(id)?;
    let there = |path: &str| DocPath::kept(path).and_then(|path| path.find(session)).is_ok();
    let rows: Vec<_> = issue
        .documents
        .iter()
        .map(|(path, document)| {
            let state = if there(path) { "" } else { "not in this worktree" };
            let label = document.label.clone().unwrap_or_default();
            [path.clone(), label, document.added_at.clone(), state.to_owned()]
        })
        .collect();
    let text = if rows.is_empty() {
        format!("{} has no documents\n", issues.handle(id)).into()
    } else {
        table(["DOCUMENT", "LABEL", "ADDED", ""], &rows)
    };
    let documents: Vec<_> = issue.documents.keys().map(|path| attached(&issue, path)).collect();
    let brief: Vec<_> = issue.documents.keys().map(String::as_str).collect();
    let count = documents.len();
    Ok(Report::new(text, &DocListOutput { documents, count }).brief(brief.join("\n")))
}

/// The document that was meant, which must be one of the issue's.
fn meant(session: &Session, id: &str, path: &str) -> Result<(Issue, DocPath)> {
    let issues = Issues::new(session);
    let issue = issues.read(issues.resolve(id)?)?;
    let typed = DocPath::typed(session, path)?;
    let known = [typed.as_str(), path].into_iter().find(|path| issue.documents.contains_key(*path));
    match known.map(DocPath::kept) {
        Some(path) => Ok((issue, path?)),
        None => Err(absent(&issue, typed.as_str())),
    }
}

fn show(session: &Session, id: &str, path: &str) -> Result<Report> {
    let (issue, path) = meant(session, id, path)?;
    let bytes = path.read(session)?;
    let content = String::from_utf8_lossy(&bytes);
    let text = Clean::page(&content);
    let document = Content { attached: attached(&issue, path.as_str()), content: content.into_owned() };
    Ok(Report::new(&text, &DocShowOutput { document }).brief(text))
}

fn history(session: &Session, id: &str, path: &str, limit: usize) -> Result<Report> {
    let (_, path) = meant(session, id, path)?;
    let changes = match committed(session)? {
        None => Vec::new(),
        Some((objects, head)) => objects.history(&head, path.as_str().as_bytes(), limit)?,
    };
    let rows: Vec<_> = changes
        .iter()
        .map(|change| [change.commit.to_string().chars().take(10).collect(), when(change), subject(change)])
        .collect();
    let text = if rows.is_empty() {
        format!("{} is in no commit yet\n", path.as_str()).into()
    } else {
        table(["COMMIT", "WHEN", "SUBJECT"], &rows)
    };
    let one = |change: &Change| Commit {
        commit: change.commit.to_string(),
        at: when(change),
        subject: subject(change),
    };
    let history: Vec<_> = changes.iter().map(one).collect();
    let brief: Vec<_> = changes.iter().map(|change| change.commit.to_string()).collect();
    let document = DocHistoryOutput { path: path.as_str().to_owned(), count: history.len(), history };
    Ok(Report::new(text, &document).brief(brief.join("\n")))
}

fn when(change: &Change) -> String {
    let moment = Stamp::new(change.written_secs.saturating_mul(1_000), None);
    moment.map(|moment| rfc3339(&moment)).unwrap_or_default()
}

fn subject(change: &Change) -> String {
    String::from_utf8_lossy(&change.subject).into_owned()
}

//! `jit issue`: making, showing, changing, deleting and listing issues.

pub mod create;
pub mod delete;
pub mod list;
pub mod show;
pub mod update;

use std::io::Read as _;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{Issue as Command, Terms};
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::answers::show::Whole;
use holdfast_tracker::error::Result;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Issues, Scope};
use holdfast_tracker::writes::{self, Changed};

pub use create::fresh;

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    if let Command::Create { issue, claim: true } = command {
        return super::claim::create(context, issue, &Terms::default());
    }
    let session = context.session()?;
    match command {
        Command::Create { issue, .. } => create::run(&session, issue),
        Command::Update(typed) => update::run(&session, typed),
        Command::Delete { id } => delete::run(&session, id),
        Command::Show { id } => show::run(context, &session, id),
        Command::List(filters) => list::run(context, session, Scope::All, filters),
    }
}

/// An issue after a change, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct IssueOutput {
    /// The issue.
    pub issue: Whole,
    /// Whether anything was written.
    pub changed: bool,
}

impl IssueOutput {
    /// The issue as a change left it.
    #[must_use]
    pub fn new<T>(issues: &Issues<'_>, changed: &Changed<T>) -> Self {
        Self { issue: Whole::new(issues, &changed.draft), changed: changed.written }
    }
}

/// The issues that were typed with commas between them, each once.
///
/// # Errors
/// When one is not there, or may mean several.
pub fn several(issues: &Issues<'_>, typed: &str) -> Result<Vec<IssueId>> {
    let mut ids = Vec::new();
    for id in typed.split(',') {
        let id = issues.resolve(id)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// The description that was typed; `-` is what is piped in.
fn described(typed: Option<&str>) -> Result<Option<String>> {
    match typed {
        Some("-") => piped().map(Some),
        typed => Ok(typed.map(ToOwned::to_owned)),
    }
}

/// What is piped in, as far as it can be a text of an issue.
///
/// # Errors
/// When it cannot be read.
pub fn piped() -> Result<String> {
    let failed = |error| holdfast_sys::Error::new("read", Path::new("standard input"), error);
    let mut text = String::new();
    // One byte more than may be, so that more is noticed.
    let most = writes::LONGEST_DESCRIPTION as u64 + 1;
    std::io::stdin().lock().take(most).read_to_string(&mut text).map_err(failed)?;
    Ok(text.trim_end().to_owned())
}

//! `jit issue`: making, showing, changing, deleting and listing issues.

pub mod create;
pub mod delete;
pub mod list;
pub mod show;
pub mod update;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{Issue as Command, Terms};
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::error::Result;
use holdfast_tracker::issues::Scope;
use holdfast_tracker::writes::Changed;
use show::Whole;

pub use create::fresh;

/// Does what was typed.
///
/// # Errors
/// What went wrong.
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
        Command::List(filters) => list::run(context, &session, Scope::All, &filters.parse()?),
    }
}

/// An issue after a change, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct Written {
    /// The issue.
    pub issue: Whole,
    /// Whether anything was written.
    pub changed: bool,
}

impl<T> From<&Changed<T>> for Written {
    fn from(changed: &Changed<T>) -> Self {
        Self { issue: Whole::from(&changed.draft), changed: changed.written }
    }
}

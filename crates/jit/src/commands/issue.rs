//! `jit issue`: making, showing, changing, deleting and listing issues.

mod create;
mod delete;
mod update;

pub mod list;
pub mod show;

use serde_json::{Value, json};

use crate::cli::{Issue as Command, Terms};
use crate::context::Context;
use crate::error::Result;
use crate::issues::Scope;
use crate::output::Report;
use crate::queries::Filter;
use crate::workspace::Workspace;
use crate::writes::Draft;

pub use create::create;

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, command: &Command) -> Result<Report> {
    let workspace = Workspace::open(context)?;
    match command {
        Command::Create { issue, claim } if *claim => super::claim::create(context, issue, &Terms::default()),
        Command::Create { issue, .. } => create::run(context, &workspace, issue),
        Command::Update(typed) => update::run(context, &workspace, typed),
        Command::Delete { id } => delete::run(context, &workspace, id),
        Command::Show { id } => show::run(context, &workspace, id),
        Command::List(filters) => list::run(context, &workspace, Scope::All, &Filter::new(filters)?),
    }
}

/// An issue with its sets, as programs read it.
#[must_use]
pub fn shown(draft: &Draft) -> Value {
    let mut document = json!(draft.issue());
    if let Some(fields) = document.as_object_mut() {
        fields.insert("labels".into(), json!(draft.labels()));
        fields.insert("dependencies".into(), json!(draft.dependencies()));
    }
    document
}

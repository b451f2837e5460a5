//! `jit issue delete`.

use serde_json::json;

use crate::context::Context;
use crate::error::Result;
use crate::output::{Report, clean};
use crate::workspace::Workspace;
use crate::writes::Writer;

pub(super) fn run(context: &Context, workspace: &Workspace, typed: &str) -> Result<Report> {
    let writer = Writer::open(context, workspace)?;
    let id = writer.issues.resolve(typed)?;
    let deleted = writer.delete(id)?;
    let dependents: Vec<_> = deleted.dependents.iter().map(ToString::to_string).collect();
    let mut text = format!("deleted {id}: {}\n", deleted.title);
    for dependent in &dependents {
        text.push_str(&format!("{dependent} no longer waits for it\n"));
    }
    let json =
        json!({ "deleted": { "id": id.to_string(), "title": deleted.title, "dependents": dependents } });
    Ok(Report::new(clean(&text), &json).brief(id.to_string()))
}

//! `jit schema`: the form of what `--json` prints, made from the types that are printed. Whoever adds a command
//! adds it to [`OUTPUTS`]; a test holds real output to what is said here.

use schemars::{JsonSchema, Schema as Form, schema_for};
use serde_json::{Map, Value, json};

use crate::claims::lease::{Many, One, Renewed};
use crate::cli::Schema;
use crate::commands::{issue, status};
use crate::error::{Error, ErrorDocument, Result};
use crate::output::Report;
use crate::queries::item::Items;
use crate::queries::{graph, search};

/// A command and the form of its answer.
pub type Output = (&'static str, fn() -> Form);

/// Every command whose answer has a form, and `error` for what goes wrong.
pub const OUTPUTS: &[Output] = &[
    ("claim acquire", of::<One>),
    ("claim list", of::<Many>),
    ("claim next", of::<One>),
    ("claim renew", of::<Renewed>),
    ("claim status", of::<Many>),
    ("error", of::<ErrorDocument>),
    ("graph downstream", of::<graph::Document>),
    ("graph export", of::<graph::Document>),
    ("graph roots", of::<graph::Document>),
    ("graph show", of::<graph::Document>),
    ("issue list", of::<Items<'static>>),
    ("issue show", of::<issue::show::Document>),
    ("query all", of::<Items<'static>>),
    ("query available", of::<Items<'static>>),
    ("query blocked", of::<Items<'static>>),
    ("search", of::<search::Results>),
    ("status", of::<status::Document>),
];

fn of<T: JsonSchema>() -> Form {
    schema_for!(T)
}

/// Prints the form of one answer, or of all.
///
/// # Errors
/// When there is no such command.
pub fn run(typed: &Schema) -> Result<Report> {
    let name = typed.command.join(" ");
    let document = if name.is_empty() {
        let all: Map<String, Value> =
            OUTPUTS.iter().map(|(name, form)| ((*name).to_owned(), form().to_value())).collect();
        json!({ "schemas": all })
    } else {
        let found = OUTPUTS.iter().find(|(known, _)| *known == name);
        let names: Vec<&str> = OUTPUTS.iter().map(|(name, _)| *name).collect();
        let unknown = || Error::BadValue {
            what: "a command with a schema",
            given: name.clone(),
            why: format!("it is one of {}", names.join(", ")),
        };
        found.ok_or_else(unknown)?.1().to_value()
    };
    // For people too it is a document, only indented.
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    Ok(Report::new(text.clone(), &document).brief(text))
}

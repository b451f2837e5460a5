//! `jit label`: words on issues.

use crate::cli::Label as Command;
use crate::commands::issue::IssueOutput;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::error::Result;
use holdfast_tracker::writes::{self, Writer};

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    let session = context.session()?;
    let (id, labels, there) = match command {
        Command::Add { id, labels } => (id, labels, true),
        Command::Rm { id, labels } => (id, labels, false),
    };
    if there {
        labels.iter().try_for_each(|text| writes::label(text).map(drop))?;
    }
    let writer = Writer::open(&session)?;
    let id = writer.issues.resolve(id)?;
    let changed = writer.change(id, "labelling", |draft| {
        labels.iter().try_for_each(|label| draft.label(label, there).map(drop))
    })?;
    let text = format!("{} has {}\n", writer.issues.handle(id), named(&changed.draft.labels()));
    Ok(Report::new(text, &IssueOutput::new(&writer.issues, &changed))
        .brief(changed.draft.labels().join("\n")))
}

fn named(labels: &[String]) -> String {
    if labels.is_empty() { "no labels".to_owned() } else { format!("labels {}", labels.join(", ")) }
}

//! `jit label`: words on issues.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Label as Command;
use crate::commands::issue::{self, IssueOutput};
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::answers::show::Whole;
use holdfast_tracker::error::Result;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::writes::{self, Changed, Writer};

/// What is done to an issue.
const LABELLING: &str = "labelling";

/// Issues whose labels were changed, as one JSON object: one issue, or several.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum LabelOutput {
    /// One issue was named.
    One(Box<IssueOutput>),
    /// Several were named.
    Many {
        /// The issues.
        issues: Vec<Whole>,
        /// How many.
        count: usize,
    },
}

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    let session = context.session()?;
    let (typed, labels, there) = match command {
        Command::Add { ids, labels } => (ids, labels, true),
        Command::Rm { ids, labels } => (ids, labels, false),
    };
    if there {
        labels.iter().try_for_each(|text| writes::label(text).map(drop))?;
    }
    let writer = Writer::open(&session)?;
    let ids = issue::several(&writer.issues, typed)?;
    if ids.len() > 1 {
        ids.iter().try_for_each(|id| writer.may(*id, LABELLING))?;
    }
    let changed = writer.change_all(&ids, LABELLING, |draft| {
        labels.iter().try_for_each(|label| draft.label(label, there).map(drop))
    })?;
    Ok(report(&writer.issues, &changed))
}

fn report(issues: &Issues<'_>, changed: &[Changed<()>]) -> Report {
    let line =
        |one: &Changed<()>| format!("{} has {}\n", issues.handle(one.draft.id()), named(&one.draft.labels()));
    let text: String = changed.iter().map(line).collect();
    if let [one] = changed {
        let document = LabelOutput::One(Box::new(IssueOutput::new(issues, one)));
        return Report::new(text, &document).brief(one.draft.labels().join("\n"));
    }
    let brief: Vec<String> = changed.iter().map(|one| one.draft.id().to_string()).collect();
    let all = changed.iter().map(|one| Whole::new(issues, &one.draft)).collect();
    Report::new(text, &LabelOutput::Many { issues: all, count: changed.len() }).brief(brief.join("\n"))
}

fn named(labels: &[String]) -> String {
    if labels.is_empty() { "no labels".to_owned() } else { format!("labels {}", labels.join(", ")) }
}

//! `ic lock clean`: removes what nobody is known to hold.

use holdfast_door::Clean;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::Result;
use crate::locks::Cleaned;
use crate::output::Report;
use crate::owner::{Owner, Said};
use crate::shown::Shown;
use crate::times;

pub(super) fn run(context: &Context, older_than: &str) -> Result<Report> {
    let older_than = times::parse("--older-than", older_than)?;
    let by = Owner::this_process(&context.sys, Said::default())?;
    let cleaned = match context.existing()? {
        Some(locks) => locks.clean(older_than, &by)?,
        None => Cleaned::default(),
    };
    for lock in &cleaned.newer {
        context.printer.warn(&format!("{} was left alone: a later version of ic wrote it", lock.lock()));
    }
    let documents: Vec<Value> = cleaned.removed.iter().map(Shown::document).collect();
    let json = json!({ "removed": documents, "count": documents.len() });
    Ok(Report::done(cleaned.removed.iter().map(Shown::line).collect::<Clean>(), json))
}

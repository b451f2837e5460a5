//! `ic lock list` and `ic lock stale`: what is there.

use holdfast_door::Clean;
use holdfast_kernel::Millis;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::Result;
use crate::locks::Locks;
use crate::output::Report;
use crate::shown::Shown;
use crate::times;

pub(super) fn all(context: &Context) -> Result<Report> {
    Ok(report(&locks(context)?))
}

pub(super) fn stale(context: &Context, older_than: &str) -> Result<Report> {
    let older_than: Millis = times::parse("--older-than", older_than)?;
    let mut locks = locks(context)?;
    locks.retain(|lock| lock.is_stale(older_than));
    Ok(report(&locks))
}

fn locks(context: &Context) -> Result<Vec<Shown>> {
    context.existing()?.map_or(Ok(Vec::new()), |locks| locks.patiently(Locks::list))
}

fn report(locks: &[Shown]) -> Report {
    let documents: Vec<Value> = locks.iter().map(Shown::document).collect();
    let json = json!({ "locks": documents, "count": documents.len() });
    Report::answer(locks.iter().map(Shown::line).collect::<Clean>(), json)
}

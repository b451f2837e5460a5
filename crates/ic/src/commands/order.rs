//! `ic lock order`: which lock was taken while which other one was held.

use holdfast_door::Clean;
use holdfast_kernel::Millis;
use serde_json::json;

use crate::context::Context;
use crate::error::Result;
use crate::output::Report;
use crate::times;

pub(super) fn run(context: &Context) -> Result<Report> {
    let seen =
        context.existing()?.map_or(Ok(Vec::new()), |locks| locks.patiently(|locks| locks.order().seen()))?;
    let now = context.sys.clock.now()?.wall_ms();
    let lines = seen.iter().map(|seen| {
        let age = times::age(Millis::new(now.saturating_sub(seen.at_ms)));
        Clean::fields(&[&seen.first, &seen.then, &seen.owner, &age])
    });
    Ok(Report::answer(lines.collect::<Clean>(), json!({ "order": seen, "count": seen.len() })))
}

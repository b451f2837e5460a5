//! Looking at claims. Nothing here writes a byte.

use holdfast_door::table;
use holdfast_kernel::Lease;
use holdfast_tracker::answers::claims as answers;
use holdfast_tracker::answers::claims::{Looked, Told, Wanted};
use holdfast_tracker::error::Result;

use crate::cli::Fresh;
use crate::context::Context;
use crate::output::Report;
use crate::output::leases::{as_of, listing};

/// Shows who has claimed what.
pub(super) fn status(context: &Context, claims: Fresh, wanted: &Wanted<'_>) -> Result<Report> {
    let session = context.session()?;
    claims.ask(&session)?;
    let Looked { leases, document, now, worktrees } = answers::status(&session, wanted)?;
    let shown = &document.leases;
    let brief: Vec<_> = shown.iter().map(|lease| lease.lease_id.clone()).collect();
    let paint = context.printer.paint();
    let leases: Vec<&Lease> = leases.iter().collect();
    let text = listing(session.sys(), paint, &leases, shown, &now, &worktrees) + as_of(&session);
    Ok(Report::new(text, &document).brief(brief.join("\n")))
}

/// Shows everything that happened.
pub(super) fn history(context: &Context, issue: Option<&str>) -> Result<Report> {
    let document = answers::history(&context.session()?, issue)?;
    let rows: Vec<_> = document.events.iter().map(row).collect();
    let text = if rows.is_empty() {
        "no events\n".into()
    } else {
        table(["NUMBER", "WHEN", "WHAT", "ISSUE", "BY", "WHY"], &rows)
    };
    Ok(Report::new(text, &document))
}

fn row(told: &Told) -> [String; 6] {
    let [number, when, what, issue, by, why] = told.event.row();
    [number, when, what, told.handle.clone().unwrap_or(issue), by, why]
}

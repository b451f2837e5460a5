//! `jit recover`: says what a crash or a bad disk left behind, and puts it right.

use holdfast_tracker::code::Exit;
use holdfast_tracker::error::Result;
use holdfast_tracker::recover::{Recovery, recover};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::output::Report;

/// What was found and done, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct RecoverOutput {
    /// What was found and done.
    pub recovery: Recovery,
}

/// Looks for what is wrong, and puts it right unless this is a dry run.
///
/// # Errors
/// When nothing can be read at all, or something cannot be written.
pub fn run(context: &Context, dry_run: bool) -> Result<Report> {
    let Some(recovery) = recover(&context.session()?, !dry_run)? else {
        let nothing = RecoverOutput { recovery: Recovery::default() };
        return Ok(Report::new("nothing has been claimed yet\n", &nothing));
    };
    let mut text: String = recovery.findings.iter().map(|found| format!("found {found}\n")).collect();
    text.push_str(match (recovery.findings.is_empty(), dry_run, recovery.has_lost()) {
        (true, ..) => "nothing to repair\n",
        (false, true, _) => "nothing was changed (dry run)\n",
        (false, false, false) => "everything was repaired\n",
        (false, false, true) => "the claims can be used again, but not everything could be saved\n",
    });
    if let Some(kept) = &recovery.kept {
        text.push_str(&format!("the damaged log is kept as {kept}\n"));
    }
    let is_left = if dry_run { !recovery.findings.is_empty() } else { recovery.has_lost() };
    let exit = if is_left { Exit::Problems } else { Exit::Ok };
    Ok(Report::new(text, &RecoverOutput { recovery }).exit(exit))
}

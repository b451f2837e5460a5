//! `jit merge-driver`: what git runs to merge an issue's file. Our version is overwritten with the result; the
//! exit code tells git whether it is clean. What is no issue's file is merged as git merges any text.

use std::path::Path;

use holdfast_git::Git;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::MergeDriver;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::code::Exit;
use holdfast_tracker::durable;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::merge::merge;

/// More than anybody writes about one issue.
const LONGEST: usize = 16 << 20;

/// No marks are that long.
const WIDEST: usize = 200;

/// What came of a merge, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct MergeDriverOutput {
    /// What came of it.
    pub merge: Outcome,
}

/// What came of a merge.
#[derive(Serialize, JsonSchema)]
pub struct Outcome {
    /// How many conflicts are left in the file.
    pub conflicts: usize,
}

/// Merges.
///
/// # Errors
/// When a file cannot be read or written.
pub fn run(context: &Context, files: &MergeDriver) -> Result<Report> {
    let read = |path: &Path| -> Result<Vec<u8>> {
        let path = context.caller.start.join(path);
        let bytes = durable::read(&context.caller.sys, &path, LONGEST)?;
        bytes.ok_or_else(|| Error::BadFile { path, why: "it is not there".into() })
    };
    let (base, ours, theirs) = (read(&files.base)?, read(&files.ours)?, read(&files.theirs)?);
    let size = files.marker_size.clamp(1, WIDEST);
    let conflicts = match merge(&base, &ours, &theirs, size) {
        Some(merged) => {
            let path = context.caller.start.join(&files.ours);
            durable::replace(&context.caller.sys, &path, &merged.text, 0o644)?;
            merged.conflicts
        }
        None => as_text(context, files, size)?,
    };
    let exit = if conflicts == 0 { Exit::Ok } else { Exit::Failed };
    Ok(Report::new("", &MergeDriverOutput { merge: Outcome { conflicts } }).exit(exit))
}

/// Has git merge the files line by line; gives how many conflicts there are.
fn as_text(context: &Context, files: &MergeDriver, size: usize) -> Result<usize> {
    let size = format!("--marker-size={size}");
    let words = ["merge-file", "--quiet", &size, "-L", "ours", "-L", "base", "-L", "theirs", "--"];
    let mut args: Vec<&std::ffi::OsStr> = words.iter().map(AsRef::as_ref).collect();
    args.extend([files.ours.as_os_str(), files.base.as_os_str(), files.theirs.as_os_str()]);
    let git = Git::in_dir(&context.caller.start);
    match git.ask(&args, b"")?.code {
        Some(code @ 0..=127) => Ok(usize::try_from(code).unwrap_or(1)),
        _ => git.run(&args).map(|_| 0).map_err(Error::from),
    }
}

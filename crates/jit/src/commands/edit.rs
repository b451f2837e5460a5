//! `jit edit`: title and description of an issue in the user's editor.

use std::path::Path;

use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::writes::{self, Writer};

use crate::commands::issue::IssueOutput;
use crate::context::Context;
use crate::output::Report;
use crate::vars;

/// Lets the user change an issue.
///
/// # Errors
/// When it is not held, the editor fails, or what it left is no issue.
pub fn run(context: &Context, id: &str) -> Result<Report> {
    let session = context.session()?;
    let writer = Writer::open(&session)?;
    let id = writer.issues.resolve(id)?;
    writer.may(id, "editing")?;
    let before = writer.issues.read(id)?;
    let text = format!("{}\n\n{}\n", before.title, before.description.as_deref().unwrap_or_default());
    let path = context.temporary.join(format!("jit-edit-{:032x}.txt", session.sys().entropy.nonce()?));
    let edited = edit(&path, &text);
    let _ = session.sys().files.remove_file(&path);
    let edited = edited?;
    let (title, description) = edited.split_once('\n').unwrap_or((&edited, ""));
    let title = writes::title(title)?;
    let description = Some(writes::description(description.trim())?).filter(|text| !text.is_empty());
    let changed = writer.change(id, "editing", |draft| {
        let issue = draft.edit();
        issue.title.clone_from(&title);
        issue.describe(description.clone());
        Ok(())
    })?;
    let verb = if changed.written { "updated" } else { "unchanged" };
    let text = format!("{verb} {}: {title}\n", writer.issues.handle(id));
    Ok(Report::new(text, &IssueOutput::new(&writer.issues, &changed)).brief(id.to_string()))
}

/// Has the editor change a text, in a file that only the user can read.
#[expect(
    clippy::disallowed_methods,
    reason = "the user asked for this process, and the file is the editor's"
)]
fn edit(path: &Path, text: &str) -> Result<String> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let editor = vars::editor().ok_or_else(|| Error::BadValue {
        what: "EDITOR",
        given: String::new(),
        why: "must name an editor".to_owned(),
    })?;
    let failed = |what| move |error| holdfast_sys::Error::new(what, path, error);
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(failed("create"))?;
    file.write_all(text.as_bytes()).map_err(failed("write"))?;
    drop(file);
    // The variable may hold arguments, as in git.
    let mut script = editor.clone();
    script.push(" \"$1\"");
    let ended = std::process::Command::new("sh").arg("-c").arg(&script).arg("sh").arg(path).status();
    let ended = ended.map_err(failed("edit"))?;
    if !ended.success() {
        return Err(Error::BadValue {
            what: "EDITOR",
            given: editor.to_string_lossy().into_owned(),
            why: format!("it ended with {ended}, so nothing was changed"),
        });
    }
    Ok(std::fs::read_to_string(path).map_err(failed("read"))?)
}

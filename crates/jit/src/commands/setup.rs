//! `jit setup`: has a coding client know of jit, by what it reads in this repository.

use holdfast_door::Clean;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{Client, Setup};
use crate::context::Context;
use crate::output::Report;
use crate::setup::{Change, Content, Edit, Outcome, Wish, apply};
use holdfast_tracker::code::Exit;
use holdfast_tracker::error::{Error, Result};

/// What became of the files of a client, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct SetupOutput {
    /// What became of them.
    pub setup: Done,
}

/// What became of the files of a client.
#[derive(Serialize, JsonSchema)]
pub struct Done {
    /// The client.
    pub client: String,
    /// Its files.
    pub files: Vec<File>,
    /// Whether everything is as wanted.
    pub ok: bool,
    /// What has to be done by hand, once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub afterwards: Option<&'static str>,
}

/// A file of a client.
#[derive(Serialize, JsonSchema)]
pub struct File {
    /// The file, from the root of the worktree.
    pub path: String,
    /// written, unchanged, removed, missing, left_alone, would_write, would_remove or shown
    pub outcome: &'static str,
    /// Why it was left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What belongs into it, where that has to be done by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, typed: &Setup) -> Result<Report> {
    if typed.print {
        return Ok(report(typed, shown(typed.client), true));
    }
    if !typed.client.is_written() {
        let word = typed.client.word();
        let why = format!("its files are not written, only shown: jit setup {word} --print");
        return Err(Error::BadValue { what: "the client", given: word, why });
    }
    let session = context.session()?;
    let own = session.own_data()?;
    let root = own.parent().unwrap_or(&own);
    let wish = match (typed.remove, typed.check || typed.dry_run) {
        (false, false) => Wish::Put,
        (false, true) => Wish::Look,
        (true, false) => Wish::TakeOut,
        (true, true) => Wish::LookToTakeOut,
    };
    let changes = apply(&context.caller.sys, root, typed.client, wish)?;
    let left_alone = |change: &Change| matches!(change.outcome, Outcome::LeftAlone(_));
    let is_missing = |change: &Change| typed.check && change.outcome != Outcome::Same;
    let ok = !changes
        .iter()
        .any(|change| is_missing(change) || (left_alone(change) && !change.content.is_empty()));
    Ok(report(typed, changes.into_iter().map(|change| file(typed, change)).collect(), ok))
}

fn file(typed: &Setup, change: Change) -> File {
    let Change { path, outcome, content } = change;
    let (word, reason) = match outcome {
        Outcome::Same if typed.remove => ("unchanged", None),
        Outcome::Same => ("unchanged", None),
        Outcome::Changed if typed.check => ("missing", None),
        Outcome::Changed if typed.dry_run => ("would_write", None),
        Outcome::Changed => ("written", None),
        Outcome::Removed if typed.dry_run => ("would_remove", None),
        Outcome::Removed => ("removed", None),
        Outcome::LeftAlone(why) => ("left_alone", Some(why)),
    };
    let by_hand =
        (reason.is_some() && !typed.remove) || (typed.dry_run && word == "would_write" && !typed.remove);
    File {
        path,
        outcome: word,
        reason,
        content: Some(content).filter(|content| by_hand && !content.is_empty()),
    }
}

/// What belongs into which file, one text for each.
fn shown(client: Client) -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    for piece in client.pieces() {
        let path = piece.files.first().copied().unwrap_or_default();
        let known = files.iter_mut().find(|file| file.path == path);
        match (known, &piece.content) {
            (Some(file), Content::Json(entry)) => {
                if let Edit::Text(both) = entry.put(file.content.as_deref().unwrap_or_default()) {
                    file.content = Some(both);
                }
            }
            _ => files.push(File {
                path: path.to_owned(),
                outcome: "shown",
                reason: None,
                content: Some(piece.content.alone()),
            }),
        }
    }
    files
}

fn report(typed: &Setup, files: Vec<File>, ok: bool) -> Report {
    let mut text = Clean::default();
    let mut brief = String::new();
    for file in &files {
        let line = match (file.outcome, &file.reason) {
            ("shown", _) => format!("{}:", file.path),
            ("would_write", _) => format!("{} would be changed; what belongs into it:", file.path),
            ("would_remove", _) => format!("{} would be removed", file.path),
            ("left_alone", Some(why)) if file.content.is_some() => {
                format!("{} was left alone: {why}. Put this into it:", file.path)
            }
            ("left_alone", Some(why)) => format!("{} was left alone: {why}", file.path),
            (outcome, _) => format!("{}: {outcome}", file.path),
        };
        text += line + "\n";
        if let Some(content) = &file.content {
            let indented: String = content.lines().map(|line| format!("    {line}\n")).collect();
            text += Clean::page(&indented) + "\n";
        }
        if !matches!(file.outcome, "unchanged") {
            brief.push_str(&format!("{}\n", file.path));
        }
    }
    let wants_hand = !typed.remove && !typed.check;
    let afterwards = Some(typed.client.afterwards()).filter(|line| wants_hand && !line.is_empty());
    if let Some(line) = afterwards {
        text += format!("note: {line}\n");
    }
    let document = SetupOutput { setup: Done { client: typed.client.word(), files, ok, afterwards } };
    let report = Report::new(text, &document).brief(brief);
    if ok { report } else { report.exit(Exit::Problems) }
}

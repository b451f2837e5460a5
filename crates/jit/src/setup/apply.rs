//! Puts what belongs to a client into the files of a worktree, takes it out, or only looks. A file is replaced whole,
//! with the permissions that it had; one that cannot be understood, is a link or may not be written is left alone.

use std::path::Path;

use holdfast_sys::{Kind, Sys};
use holdfast_tracker::durable;
use holdfast_tracker::error::Result;

use super::json::Edit;
use super::{AGENTS, Content, Piece};
use crate::cli::Client;

/// More than a configuration can be.
const LONGEST: usize = 1 << 20;

/// What is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// Everything is in its place afterwards.
    Put,
    /// Nothing of ours is there afterwards.
    TakeOut,
    /// Only to know what would be put.
    Look,
    /// Only to know what would be taken out.
    LookToTakeOut,
}

impl Wish {
    const fn takes_out(self) -> bool {
        matches!(self, Self::TakeOut | Self::LookToTakeOut)
    }

    const fn writes(self) -> bool {
        matches!(self, Self::Put | Self::TakeOut)
    }
}

/// What became of a file, or would become of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is as wanted already.
    Same,
    /// It is changed.
    Changed,
    /// It is removed: nothing else was in it.
    Removed,
    /// It is left alone, because of this.
    LeftAlone(String),
}

/// A file and what became of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The file, from the root of the worktree.
    pub path: String,
    /// What became of it.
    pub outcome: Outcome,
    /// What belongs into it.
    pub content: String,
}

/// Does what is wanted with all files of a client.
///
/// # Errors
/// When a file cannot be looked at or written; those before it are done.
pub fn apply(sys: &Sys, root: &Path, client: Client, wish: Wish) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for piece in client.pieces() {
        if wish.takes_out() && piece.files == [AGENTS] && is_shared(sys, root, client)? {
            let outcome = Outcome::LeftAlone("other clients that are set up here read it".into());
            changes.push(Change { path: AGENTS.to_owned(), outcome, content: String::new() });
            continue;
        }
        changes.push(one(sys, root, &piece, wish)?);
    }
    Ok(changes)
}

/// Whether another client is set up here that reads the common instructions.
fn is_shared(sys: &Sys, root: &Path, client: Client) -> Result<bool> {
    use clap::ValueEnum as _;
    for other in Client::value_variants().iter().filter(|other| **other != client && other.is_written()) {
        for piece in other.pieces().iter().filter(|piece| piece.files != [AGENTS]) {
            if one(sys, root, piece, Wish::Look)?.outcome == Outcome::Same {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn one(sys: &Sys, root: &Path, piece: &Piece, wish: Wish) -> Result<Change> {
    let mut path = piece.files.first().copied().unwrap_or_default();
    for name in piece.files {
        if durable::is_file(sys, &root.join(name))? {
            path = name;
            break;
        }
    }
    let outcome = match edited(sys, root, path, &piece.content, wish)? {
        Edit::Same => Outcome::Same,
        Edit::Refused(why) => Outcome::LeftAlone(why),
        edit if !wish.writes() => as_outcome(&edit),
        edit => match write(sys, root, path, &edit) {
            Ok(()) => as_outcome(&edit),
            Err(error) => Outcome::LeftAlone(error.to_string()),
        },
    };
    Ok(Change { path: path.to_owned(), outcome, content: piece.content.alone() })
}

const fn as_outcome(edit: &Edit) -> Outcome {
    if matches!(edit, Edit::Gone) { Outcome::Removed } else { Outcome::Changed }
}

/// What a file should become.
fn edited(sys: &Sys, root: &Path, path: &str, content: &Content, wish: Wish) -> Result<Edit> {
    if let Some(edit) = in_the_way(sys, root, path, content)? {
        return Ok(edit);
    }
    let full = root.join(path);
    let Some(bytes) = durable::read(sys, &full, LONGEST)? else {
        return Ok(if wish.takes_out() { Edit::Same } else { Edit::Text(content.alone()) });
    };
    let Ok(text) = String::from_utf8(bytes) else { return Ok(Edit::Refused("it is not UTF-8".into())) };
    let edit = if wish.takes_out() { taken_out(content, &text) } else { put(content, &text) };
    let is_read_only = sys.files.stat(&full)?.mode & 0o200 == 0;
    Ok(match edit {
        Edit::Text(_) | Edit::Gone if is_read_only => Edit::Refused("it is read-only".into()),
        edit => edit,
    })
}

/// What keeps a file from being touched, whatever is in it.
fn in_the_way(sys: &Sys, root: &Path, path: &str, content: &Content) -> Result<Option<Edit>> {
    let mut at = root.to_path_buf();
    let names: Vec<&str> = path.split('/').collect();
    for (number, name) in names.iter().enumerate() {
        at.push(name);
        let is_last = number + 1 == names.len();
        let stat = match sys.files.stat(&at) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            stat => stat?,
        };
        match stat.kind {
            Kind::Directory if !is_last => {}
            Kind::File if is_last && stat.len <= LONGEST as u64 => {}
            Kind::File if is_last => return Ok(Some(Edit::Refused("it is far too large".into()))),
            // Whoever reads the one reads the other.
            Kind::Symlink if is_last && matches!(content, Content::Markdown(_, Some(_))) => {
                let target = sys.files.read_link(&at)?;
                let is_agents = target == Path::new(AGENTS) || target == root.join(AGENTS);
                return Ok(Some(if is_agents { Edit::Same } else { Edit::Refused("it is a link".into()) }));
            }
            Kind::Symlink => return Ok(Some(Edit::Refused(format!("{name} is a link")))),
            _ => return Ok(Some(Edit::Refused(format!("{name} is something else than it should be")))),
        }
    }
    Ok(None)
}

fn put(content: &Content, text: &str) -> Edit {
    match content {
        Content::Json(entry) => entry.put(text),
        Content::Markdown(_, Some(line))
            if text.lines().any(|other| other.trim() == *line) && !is_in(content, text) =>
        {
            Edit::Same
        }
        Content::Markdown(block, _) => block.put(text),
        Content::Toml(block, names) => match toml(text, names) {
            Err(why) => Edit::Refused(why),
            Ok(Some(is_ours)) if !is_in(content, text) => {
                if is_ours {
                    Edit::Same
                } else {
                    Edit::Refused("it has another server 'jit' already".into())
                }
            }
            Ok(_) => match block.put(text) {
                // A table cannot be added to one that was written in braces.
                Edit::Text(changed) if !matches!(toml(&changed, names), Ok(Some(true))) => {
                    Edit::Refused("its table mcp_servers is written in one line".into())
                }
                edit => edit,
            },
        },
    }
}

fn taken_out(content: &Content, text: &str) -> Edit {
    match content {
        Content::Json(entry) => entry.take_out(text),
        Content::Markdown(block, _) => block.take_out(text),
        Content::Toml(block, names) => match toml(text, names) {
            Err(why) => Edit::Refused(why),
            Ok(_) => block.take_out(text),
        },
    }
}

/// Whether our block is in a text.
fn is_in(content: &Content, text: &str) -> bool {
    match content {
        Content::Markdown(block, _) | Content::Toml(block, _) => {
            text.lines().any(|line| line.trim_end() == block.begin)
        }
        Content::Json(_) => false,
    }
}

/// Whether a table is in a TOML file, and whether it is ours.
fn toml(text: &str, names: &[&str]) -> std::result::Result<Option<bool>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document: toml::Table = match toml::from_str(text) {
        Ok(document) => document,
        Err(error) => return Err(format!("it is not valid TOML ({})", error.message())),
    };
    let mut value = toml::Value::Table(document);
    for name in names {
        let Some(inner) = value.get(name) else { return Ok(None) };
        value = inner.clone();
    }
    let command = value.get("command").and_then(toml::Value::as_str);
    let first = value.get("args").and_then(|args| args.get(0)).and_then(toml::Value::as_str);
    Ok(Some(command == Some("jit") && first == Some("mcp")))
}

fn write(sys: &Sys, root: &Path, path: &str, edit: &Edit) -> Result<()> {
    let full = root.join(path);
    match edit {
        Edit::Text(text) => {
            let mode = match sys.files.stat(&full) {
                Ok(stat) => stat.mode & 0o777,
                Err(_) => 0o644,
            };
            if let Some(folder) = full.parent() {
                durable::make_dirs(sys, folder, 0o755)?;
            }
            Ok(durable::replace(sys, &full, text.as_bytes(), mode)?)
        }
        Edit::Gone => {
            sys.files.remove_file(&full)?;
            // Folders that are empty now were made for it; others stay because they cannot be removed.
            let mut folder = full.parent();
            while let Some(empty) = folder.filter(|folder| *folder != root) {
                if sys.files.remove_dir(empty).is_err() {
                    break;
                }
                folder = empty.parent();
            }
            Ok(())
        }
        Edit::Same | Edit::Refused(_) => Ok(()),
    }
}

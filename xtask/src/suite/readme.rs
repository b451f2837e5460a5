//! Runs the commands that the documentation shows, as a reader would type them: a page that does not work
//! is a bug like any other.

use std::path::Path;

use super::{together, transcript};
use crate::child::Child;
use crate::report::Outcome;
use crate::tidy::Tree;
use crate::tidy::markdown::{Block, Promise, shell_blocks};

/// Runs each block of commands that is marked as tested, and all blocks of a session one after the other; on every page,
/// or on those with this in their path.
pub(super) fn run(root: &Path, name: Option<&str>) -> Outcome {
    let tree = match Tree::load(root) {
        Ok(tree) => tree,
        Err(why) => return Outcome::one(false, why),
    };
    let programs = Child::linting_cargo(root, &["build", "--workspace", "--all-features", "--bins"]).run();
    if !programs.ok {
        return Outcome::one(false, programs.how);
    }
    let (mut passed, mut failed) = (0, Vec::new());
    let mut note = |page: &str, line: usize, ok: bool| match ok {
        true => passed += 1,
        false => failed.push(format!("{page}:{line}")),
    };
    let wanted = |page: &str| name.is_none_or(|name| page.contains(name));
    for (page, text) in tree.with_ending(&[".md"]).filter(|(page, _)| wanted(page)) {
        let blocks = shell_blocks(text);
        for block in blocks.iter().filter(|block| block.promise == Promise::Tested) {
            println!("--- {page}:{}\n{}", block.line, block.commands);
            note(page, block.line, shell(root, &block.commands));
        }
        let in_session =
            |block: &&Block| !matches!(block.promise, Promise::Tested | Promise::NotRun | Promise::Silent);
        let session: Vec<&Block> = blocks.iter().filter(in_session).collect();
        if let Some(first) = session.first() {
            println!("--- {page}, as one session");
            note(page, first.line, one_session(root, &session));
        }
    }
    Outcome::Ran { passed, failed: failed.len(), note: failed.join(", ") }
}

fn shell(root: &Path, commands: &str) -> bool {
    Child::new(root, "bash", &["-euo", "pipefail", "-c", commands]).linting().run().ok
}

/// Runs the blocks in an empty folder that is also the reader's home, with our programs at hand: what is between two
/// transcripts in one shell.
fn one_session(root: &Path, blocks: &[&Block]) -> bool {
    let scratch = root.join("target").join(format!("session-{}", std::process::id()));
    if let Err(why) = std::fs::create_dir_all(&scratch) {
        println!("cannot make {}: {why}", scratch.display());
        return false;
    }
    let is_transcript = |block: &&Block| block.promise == Promise::Transcript;
    let ok = blocks.chunk_by(|a, b| !is_transcript(a) && !is_transcript(b)).all(|part| match part {
        [block] if is_transcript(block) => as_shown(root, &scratch, block),
        part => {
            let commands: Vec<String> = part.iter().map(|block| commands(block)).collect();
            reader(root, &scratch, &scratch, &format!("set -x\n{}", commands.join("\n"))).run().ok
        }
    });
    // What is left behind is below `target`, where anybody may clean up.
    let _ = std::fs::remove_dir_all(&scratch);
    ok
}

fn commands(block: &Block) -> String {
    match &block.promise {
        Promise::Together(agents) => together::script(agents, &block.commands),
        _ => block.commands.clone(),
    }
}

/// Runs a block that is shown with its output, and says what is printed instead.
fn as_shown(root: &Path, home: &Path, block: &Block) -> bool {
    println!("{}", block.commands);
    let done = transcript::steps(&block.commands).and_then(|steps| {
        transcript::run(&steps, |who, command| {
            let agent = format!("agent:{who}");
            reader(root, home, &home.join(who), command).env("JIT_AGENT_ID", &agent)
        })
    });
    if let Err(why) = &done {
        println!("{why}");
    }
    done.is_ok()
}

/// Somebody who has installed our programs and set up git, and nothing else.
fn reader(root: &Path, home: &Path, at: &Path, commands: &str) -> Child {
    let own = root.join("target").join("debug");
    let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default());
    let home = home.display().to_string();
    let mut child = Child::new(at, "bash", &["-euo", "pipefail", "-c", commands]);
    for (name, value) in
        [("PATH", path.as_str()), ("HOME", &home), ("XDG_CONFIG_HOME", ""), ("JIT_AGENT_ID", "")]
    {
        child = child.env(name, value);
    }
    for role in ["AUTHOR", "COMMITTER"] {
        child = child.env(&format!("GIT_{role}_NAME"), "A Reader");
        child = child.env(&format!("GIT_{role}_EMAIL"), "reader@example.org");
    }
    child
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "init.defaultBranch")
        .env("GIT_CONFIG_VALUE_0", "main")
}

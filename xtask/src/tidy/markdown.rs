//! Pages: their links lead somewhere, and their commands are run by the tests or say why not.

use super::{Finding, Tree};

/// What a block of commands promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    /// The test command runs it in the repository, in a shell of its own.
    Tested,
    /// The test command runs it in an empty folder, in one shell with the others of its page.
    Session,
    /// The same, but run by all of these agents at once, each in its own worktree.
    Together(Vec<String>),
    /// The test command runs its commands in the folder of the session, and compares what they print.
    Transcript,
    /// The test command does not run it, for a reason that is given.
    NotRun,
    /// Nothing: that is a finding.
    Silent,
}

/// A block of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The line that it starts in.
    pub line: usize,
    /// What it promises.
    pub promise: Promise,
    /// The commands.
    pub commands: String,
}

const TESTED: &str = "<!-- tested -->";
const SESSION: &str = "<!-- tested in one session -->";
const TOGETHER: &str = "<!-- tested by agents at once: ";
const TRANSCRIPT: &str = "<!-- tested with its output -->";
const NOT_RUN: &str = "<!-- not run by the tests: ";

/// The blocks of shell commands of a page, each with the mark in the line above it. A block of Markdown that is marked
/// is a text to be pasted; its commands are its indented lines.
#[must_use]
pub fn shell_blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut above = "";
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line.starts_with("```") {
            let body: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|l| !l.starts_with("```")).collect();
            let promise = promise(above);
            let commands = match line.trim_end() {
                "```sh" | "```bash" | "```console" | "```shell" => Some(body.join("\n")),
                "```markdown" if promise != Promise::Silent => Some(indented(&body)),
                _ => None,
            };
            blocks.extend(commands.map(|commands| Block { line: number + 1, promise, commands }));
        }
        if !line.trim().is_empty() {
            above = line;
        }
    }
    blocks
}

fn indented(body: &[&str]) -> String {
    body.iter().filter_map(|line| line.strip_prefix("    ")).collect::<Vec<_>>().join("\n")
}

fn promise(above: &str) -> Promise {
    let after = |mark: &str| above.strip_prefix(mark).and_then(|rest| rest.strip_suffix(" -->"));
    let agents =
        after(TOGETHER).map(|names| names.split_whitespace().map(Into::into).collect::<Vec<String>>());
    match (above, after(NOT_RUN), agents) {
        (TESTED, ..) => Promise::Tested,
        (SESSION, ..) => Promise::Session,
        (TRANSCRIPT, ..) => Promise::Transcript,
        (_, Some(reason), _) if !reason.trim().is_empty() => Promise::NotRun,
        (_, _, Some(agents)) if agents.len() > 1 => Promise::Together(agents),
        _ => Promise::Silent,
    }
}

/// Commands that nobody knows to work.
pub(super) fn unmarked_commands(tree: &Tree) -> Vec<Finding> {
    let what = format!(
        "mark the commands with `{TESTED}`, `{SESSION}`, `{TOGETHER}one two -->`, `{TRANSCRIPT}` or \
         `{NOT_RUN}why -->` in the line above"
    );
    let mut findings = Vec::new();
    for (path, text) in tree.with_ending(&[".md"]) {
        let silent = shell_blocks(text).into_iter().filter(|block| block.promise == Promise::Silent);
        findings.extend(silent.map(|block| Finding::new(path, block.line, what.as_str())));
    }
    findings
}

/// Links to files that are not there.
pub(super) fn dead_links(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.with_ending(&[".md"]) {
        let dead = prose(text).flat_map(|(number, line)| targets(line).map(move |target| (number, target)));
        for (number, target) in dead.filter(|(_, target)| !is_elsewhere(target)) {
            let file = target.split('#').next().unwrap_or_default();
            if !file.is_empty() && !resolve(path, file).is_some_and(|file| tree.leads_somewhere(&file)) {
                findings.push(Finding::new(path, number, format!("`{target}` leads nowhere")));
            }
        }
    }
    findings
}

/// The lines outside of blocks of code.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        (!in_code && !fence).then_some((number + 1, line))
    })
}

/// What the links of a line lead to: `[text](target)` and `[name]: target`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let named =
        line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target.trim());
    inline.chain(named)
}

fn is_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// The path from the root of the repository, for a link on the page at `from`; none if it leads outside.
pub(crate) fn resolve(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let page = "[a](a.md) [up](../README.md#top) [web](https://example.org) [here](#x)\n\
                    [gone](gone.md) and [out](../../etc)\n[ref]: missing.md\n```\n[code](nothing)\n```\n";
        let tree = Tree::of(&[("docs/page.md", page), ("docs/a.md", ""), ("README.md", "")]);
        let found: Vec<String> = dead_links(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("docs/page.md:2: `gone.md`"), "{found:?}");
    }

    #[test]
    fn commands_are_tested_or_say_why_not() {
        let page = format!(
            "{TESTED}\n```sh\ntrue\nfalse\n```\n{NOT_RUN}it takes a night -->\n\n```sh\nx\n```\n\
             text\n```sh\ny\n```\n```text\nz\n```\n{NOT_RUN} -->\n```sh\nw\n```\n"
        );
        let blocks = shell_blocks(&page);
        assert_eq!(blocks[0], Block { line: 2, promise: Promise::Tested, commands: "true\nfalse".into() });
        assert_eq!(blocks[1].promise, Promise::NotRun);
        assert_eq!(shell_blocks(&format!("{SESSION}\n```sh\ntrue\n```\n"))[0].promise, Promise::Session);
        assert_eq!(unmarked_commands(&Tree::of(&[("a.md", &page)])).len(), 2);
    }

    #[test]
    fn agents_and_transcripts_are_marked_too() {
        let page = format!(
            "{TOGETHER}one two -->\n```markdown\n# Rules\n\n    jit claim next\n\nGo on:\n\n    jit status\n```\n\
             {TRANSCRIPT}\n```console\nann$ jit status\n```\n{TOGETHER}alone -->\n```sh\nx\n```\n\
             text\n```markdown\n    y\n```\n"
        );
        let blocks = shell_blocks(&page);
        let agents = Promise::Together(vec!["one".into(), "two".into()]);
        let commands = "jit claim next\njit status".into();
        assert_eq!(blocks[0], Block { line: 2, promise: agents, commands });
        assert_eq!(
            (&blocks[1].promise, blocks[1].commands.as_str()),
            (&Promise::Transcript, "ann$ jit status")
        );
        assert_eq!(blocks[2].promise, Promise::Silent, "one agent alone is not several at once");
        assert_eq!(blocks.len(), 3);
    }
}

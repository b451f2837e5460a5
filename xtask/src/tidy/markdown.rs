//! Pages: their links lead somewhere, and their commands are run by the tests or say why not.

use super::{Finding, Tree};

/// What a block of commands promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    /// The test command runs it in the repository, in a shell of its own.
    Tested,
    /// The test command runs it in an empty folder, in one shell with the others of its page.
    Session,
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
const NOT_RUN: &str = "<!-- not run by the tests: ";

/// The blocks of shell commands of a page, each with the mark in the line above it.
#[must_use]
pub fn shell_blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut above = "";
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line.starts_with("```") {
            let body: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|l| !l.starts_with("```")).collect();
            if ["```sh", "```bash", "```console", "```shell"].contains(&line.trim_end()) {
                blocks.push(Block { line: number + 1, promise: promise(above), commands: body.join("\n") });
            }
        }
        if !line.trim().is_empty() {
            above = line;
        }
    }
    blocks
}

fn promise(above: &str) -> Promise {
    let reason = above.strip_prefix(NOT_RUN).and_then(|rest| rest.strip_suffix(" -->"));
    match (above, reason) {
        (TESTED, _) => Promise::Tested,
        (SESSION, _) => Promise::Session,
        (_, Some(reason)) if !reason.trim().is_empty() => Promise::NotRun,
        _ => Promise::Silent,
    }
}

/// Commands that nobody knows to work.
pub(super) fn unmarked_commands(tree: &Tree) -> Vec<Finding> {
    let what =
        format!("mark the commands with `{TESTED}`, `{SESSION}` or `{NOT_RUN}why -->` in the line above");
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
fn resolve(from: &str, link: &str) -> Option<String> {
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
}

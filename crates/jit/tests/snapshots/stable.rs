//! What differs from run to run, replaced by placeholders. The same value has the same placeholder throughout a script,
//! numbered by first appearance, so that it stays visible which ids are equal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Numbers in JSON that depend on how fast the machine is, or on which process it was.
const NUMBERS: [&str; 5] = ["remaining_secs", "retry_after_secs", "pid", "age_secs", "claims_age_secs"];

/// The letters of a ULID.
const LETTERS: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The placeholders of one script.
pub(crate) struct Stable {
    root: PathBuf,
    /// Ids that the script itself fixes: they stay as they are.
    fixed: Vec<String>,
    /// Values and their placeholders, in the order of their appearance.
    known: Vec<(String, String)>,
    /// Issues whose ids the script did not fix: the random part, as handles have it, and the id.
    tails: Vec<(String, String)>,
    counts: BTreeMap<&'static str, usize>,
}

impl Stable {
    pub(crate) fn new(root: &Path, script: &str) -> Self {
        let commands = script.lines().filter(|line| line.starts_with("$ "));
        let typed = commands.chain([crate::script::ISSUES]).collect::<Vec<_>>().join("\n");
        let words = typed.split(|c: char| !c.is_ascii_alphanumeric());
        let ids = words.filter(|word| is_ulid(word)).map(ToOwned::to_owned);
        let worktrees = typed.split("wt:").skip(1).filter_map(|rest| Some(format!("wt:{}", rest.get(..8)?)));
        let fixed = ids.chain(worktrees).collect();
        Self { root: root.to_owned(), fixed, known: Vec::new(), tails: Vec::new(), counts: BTreeMap::new() }
    }

    /// A command with the values behind its placeholders.
    pub(crate) fn reveal(&self, command: &str) -> String {
        let command = command.replace("<DIR>", self.root.to_str().unwrap());
        self.known.iter().fold(command, |command, (value, name)| command.replace(name, value))
    }

    /// A text with placeholders for everything that differs from run to run.
    pub(crate) fn hide(&mut self, text: &str) -> String {
        let text =
            text.replace(self.root.to_str().unwrap(), "<DIR>").replace(env!("CARGO_BIN_EXE_jit"), "<JIT>");
        // One that was deleted is still spoken of.
        self.tails.extend(self.random_issues());
        let mut out = String::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let inside = out.chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
            let found = if inside { None } else { self.placeholder(rest, &out) };
            let (shown, length) = found.unwrap_or_else(|| {
                let first = rest.chars().next().unwrap();
                (first.to_string(), first.len_utf8())
            });
            out.push_str(&shown);
            rest = &rest[length..];
        }
        out
    }

    /// The placeholder for what a text begins with, and how long that is.
    fn placeholder(&mut self, rest: &str, before: &str) -> Option<(String, usize)> {
        if let Some(length) = time(rest) {
            return Some(("<TIME>".to_owned(), length));
        }
        if let Some(length) = span(rest) {
            return Some(("<SPAN>".to_owned(), length));
        }
        if let Some(hex) = rest.strip_prefix("wt:").filter(|hex| hex_digits(hex) == 8) {
            let id = format!("wt:{}", &hex[..8]);
            return (!self.fixed.contains(&id)).then(|| (self.name("WORKTREE", &id), id.len()));
        }
        if let Some(length) = ago(rest) {
            return Some(("<AGO>".to_owned(), length));
        }
        if let Some(after) = rest.strip_prefix(env!("CARGO_PKG_VERSION"))
            && !after.starts_with(|c: char| c.is_ascii_alphanumeric())
        {
            return Some(("<VERSION>".to_owned(), rest.len() - after.len()));
        }
        let length = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let word = &rest[..length];
        if self.fixed.iter().any(|id| id == word) {
            return None;
        }
        if is_ulid(word) {
            let kind = self.kind(word);
            return Some((self.name(kind, word), length));
        }
        let called = |(tail, _): &&(String, String)| length >= 4 && tail.starts_with(word);
        if let Some((_, id)) = self.tails.iter().find(called).cloned() {
            let name = self.name("ISSUE", &id).replace("ISSUE", "HANDLE");
            self.known.push((word.to_owned(), name.clone()));
            return Some((name, length));
        }
        let hex = hex_digits(word) == length;
        if hex && matches!(length, 10 | 16 | 32 | 40 | 64) {
            return Some((self.name("HASH", word), length));
        }
        // Only these are ever shortened; a lease that was granted in the same moment begins like its issue.
        let is_start = length >= 7 && (hex || word.chars().all(|c| LETTERS.contains(c)));
        let shortened = |(value, name): &&(String, String)| {
            is_start && value.starts_with(word) && (name.starts_with("<ISSUE") || name.starts_with("<HASH"))
        };
        if let Some((_, name)) = self.known.iter().find(shortened) {
            return Some((format!("{}…>", name.trim_end_matches('>')), length));
        }
        let varies = NUMBERS.iter().any(|key| before.ends_with(&format!("\"{key}\":")))
            || before.ends_with("--wait ")
            || before.trim_end().ends_with("<SPAN> ago")
            || rest[length..].starts_with(" % left");
        let is_number = length > 0 && word.bytes().all(|byte| byte.is_ascii_digit());
        (varies && is_number).then(|| ("<NUMBER>".to_owned(), length))
    }

    fn name(&mut self, kind: &'static str, value: &str) -> String {
        if let Some((_, name)) = self.known.iter().find(|(known, _)| known == value) {
            return name.clone();
        }
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let name = format!("<{kind}-{count}>");
        self.known.push((value.to_owned(), name.clone()));
        name
    }

    /// The ends of the ids of issues that were made by commands.
    fn random_issues(&self) -> Vec<(String, String)> {
        let roots = std::fs::read_dir(&self.root).unwrap().map(|entry| entry.unwrap().path());
        let homes = roots.flat_map(|root| [root.join(".jit/issues"), root.join(".git/jit/issues")]);
        let names = homes.filter_map(|home| std::fs::read_dir(home).ok()).flatten();
        let ids = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        let random = ids.filter(|id| is_ulid(id) && !self.fixed.contains(id));
        random.map(|id| (id[10..].to_lowercase(), id)).collect()
    }

    /// What an id is the id of: the files say so.
    fn kind(&self, id: &str) -> &'static str {
        let roots = std::fs::read_dir(&self.root).unwrap().map(|entry| entry.unwrap().path());
        for root in roots {
            if root.join(".jit/issues").join(id).exists() {
                return "ISSUE";
            }
            let claims = root.join(".git/jit/claims.jsonl");
            let claims = std::fs::read_to_string(claims).unwrap_or_default();
            if claims.contains(&format!("\"lease_id\":\"{id}\"")) {
                return "LEASE";
            }
            if claims.contains(&format!("\"log_id\":\"{id}\"")) {
                return "LOG";
            }
        }
        "ID"
    }
}

fn is_ulid(word: &str) -> bool {
    word.len() == 26 && word.starts_with(|c| c < '8') && word.chars().all(|c| LETTERS.contains(c))
}

fn hex_digits(text: &str) -> usize {
    text.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count()
}

/// How long the moment is that a text begins with.
fn time(text: &str) -> Option<usize> {
    let shape = b"dddd-dd-ddTdd:dd:dd";
    let fits = |(byte, shape): (u8, &u8)| if *shape == b'd' { byte.is_ascii_digit() } else { byte == *shape };
    let begins = text.len() > shape.len() && text.bytes().zip(shape).all(fits);
    let after = text.get(shape.len()..).filter(|_| begins)?;
    let fraction = after.bytes().take_while(|byte| *byte == b'.' || byte.is_ascii_digit()).count();
    after[fraction..].starts_with('Z').then_some(shape.len() + fraction + 1)
}

/// How long the text is that says how long ago something was: `5m ago`, `10mo ago`.
fn ago(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let after = text.get(digits..).filter(|_| digits > 0)?;
    let unit = ["mo", "m", "h", "d", "y"].into_iter().find(|unit| after.starts_with(unit))?;
    after[unit.len()..].starts_with(" ago").then_some(digits + unit.len() + 4)
}

/// How long the span is that a text begins with: `9m 59s`, `1h 02m`, `3d 04h`, `59s`, `120ms`.
fn span(text: &str) -> Option<usize> {
    let number = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let digits = number(text);
    let after = text.get(digits..).filter(|_| digits > 0)?;
    let ends = |length: usize| {
        let open = text[length..].chars().next().is_none_or(|c| !c.is_ascii_alphanumeric());
        open.then_some(length)
    };
    for (unit, below) in [("m ", "s"), ("h ", "m"), ("d ", "h")] {
        if let Some(small) = after.strip_prefix(unit)
            && number(small) == 2
            && small[2..].starts_with(below)
        {
            return ends(digits + 5);
        }
    }
    let unit = ["ms", "s"].into_iter().find(|unit| after.starts_with(unit))?;
    ends(digits + unit.len())
}

#[test]
fn what_differs_is_replaced_and_what_is_equal_stays_equal() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("repo/.jit/issues/01M7JDF5CY6X2CGZA7V2GCK1PZ")).unwrap();
    let mut stable = Stable::new(dir.path(), "$ jit issue show 01K8ZZZZZZ0000000000000001\n");
    let text = "01K8ZZZZZZ0000000000000001 01M7JDF5CY6X2CGZA7V2GCK1PZ 01M7JDF5 2026-11-16T14:51:36.222Z";
    assert_eq!(stable.hide(text), "01K8ZZZZZZ0000000000000001 <ISSUE-1> <ISSUE-1…> <TIME>");
    assert_eq!(stable.hide("wt:1a2b3c4d wt:1a2b3c4e wt:1a2b3c4d"), "<WORKTREE-1> <WORKTREE-2> <WORKTREE-1>");
    assert_eq!(
        stable.hide("9m 59s left, 7ms, 12s, 600 s, 3 issues"),
        "<SPAN> left, <SPAN>, <SPAN>, 600 s, 3 issues"
    );
    assert_eq!(stable.hide(concat!("jit ", env!("CARGO_PKG_VERSION"))), "jit <VERSION>");
    assert_eq!(stable.hide("{\"pid\":41,\"fence\":41}"), "{\"pid\":<NUMBER>,\"fence\":41}");
    let shown = stable.hide(&format!("{}/repo", dir.path().display()));
    assert_eq!(shown, "<DIR>/repo");
    assert_eq!(stable.reveal("jit show <ISSUE-1>"), "jit show 01M7JDF5CY6X2CGZA7V2GCK1PZ");
}

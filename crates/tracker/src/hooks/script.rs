//! The lines that jit puts into a hook, and how they come out again. A hook that was there keeps every byte of
//! its own; where lines cannot be added to it, it is kept beside and run from ours.
//!
//! Nothing in these lines depends on where the repository is. They run the jit that put them there, also for a
//! program whose PATH is not the user's, and if that is gone the one on the PATH. If there is none, nobody can
//! judge: where issues are tracked that stops the commit.

/// The first and last of our lines. What follows the first on its line may change.
const BEGIN: &str = "# >>> jit hooks";
const END: &str = "# <<< jit hooks\n";

/// What the first line says of a file that would not be there without us.
const MADE: &str = ", which made this file; your own commands belong above these lines";

/// What a new file begins with.
const SHELL: &str = "#!/bin/sh\n";

/// The shells that understand our lines.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "zsh"];

/// What a hook that cannot take our lines is kept as.
pub(super) fn kept_name(name: &str) -> String {
    format!("{name}.before-jit")
}

/// A hook of jit.
pub(super) struct Script<'a> {
    /// The hook.
    pub(super) name: &'a str,
    /// Where the jit is that puts the hook there.
    pub(super) program: Option<&'a str>,
}

impl Script<'_> {
    /// A file of our own.
    pub(super) fn made(&self) -> Vec<u8> {
        let Self { name, .. } = self;
        let mut text = format!("{SHELL}{BEGIN}{MADE}\n");
        if let Some(program) = self.quoted() {
            text.push_str(&format!("[ -x {program} ] && exec {program} hook {name} \"$@\"\n"));
        }
        text.push_str(&format!("command -v jit >/dev/null && exec jit hook {name} \"$@\"\n"));
        let guard = self.guard();
        text.push_str(&format!("{guard}{}\nexit 1\n{END}", self.missing()));
        text.into_bytes()
    }

    /// The hook that was there with our lines in it; none if it cannot take them.
    pub(super) fn added(&self, hook: &[u8]) -> Option<Vec<u8>> {
        let end = hook.iter().position(|byte| *byte == b'\n')? + 1;
        let (first, rest) = hook.split_at(end);
        let is_text = !hook.contains(&0);
        (is_text && is_shell(first)).then(|| [first, self.lines().as_bytes(), rest].concat())
    }

    /// A file of our own that runs the hook that is kept beside it.
    pub(super) fn wrapping(&self) -> Vec<u8> {
        let kept = kept_name(self.name);
        let run = format!("[ ! -x \"${{0%/*}}/{kept}\" ] || exec \"${{0%/*}}/{kept}\" \"$@\"\n");
        [SHELL, &self.lines(), &run].concat().into_bytes()
    }

    /// Lines that go on afterwards, if jit says so. Git tells a push on stdin, and who comes next wants to
    /// hear it too.
    fn lines(&self) -> String {
        let Self { name, .. } = self;
        let (before, feed, after) = if *name == "pre-push" {
            let again = "if [ -z \"$jit_refs\" ]; then exec </dev/null; else exec <<JIT_REFS\n$jit_refs\nJIT_REFS\nfi\n";
            ("jit_refs=$(cat)\n", "printf '%s\\n' \"$jit_refs\" | ", again)
        } else {
            ("", "", "")
        };
        let mut text = format!("{BEGIN}\n{before}if ");
        if let Some(program) = self.quoted() {
            text.push_str(&format!("[ -x {program} ]; then {feed}{program} hook {name} \"$@\"\nelif "));
        }
        text.push_str(&format!("command -v jit >/dev/null; then {feed}jit hook {name} \"$@\"\n"));
        let missing = self.missing();
        text.push_str(&format!("elif [ -d .jit ]; then {missing}; false\nfi || exit $?\n{after}{END}"));
        text
    }

    /// In a directory of hooks that serves many repositories, those without issues have nothing to judge. A
    /// server has no worktree to look into.
    fn guard(&self) -> &'static str {
        if self.name == "pre-receive" { "" } else { "[ -d .jit ] || exit 0\n" }
    }

    fn missing(&self) -> String {
        let place = self.program.map(|path| format!("at {path} nor ")).unwrap_or_default();
        let not = if place.is_empty() { "not" } else { "neither" };
        let text = format!(
            "jit is {not} {place}on the PATH, so {} cannot judge; install it, or run: jit hooks uninstall",
            self.name
        );
        format!("echo {} >&2", quoted(&text))
    }

    fn quoted(&self) -> Option<String> {
        self.program.map(quoted)
    }
}

/// What is left of a hook without our lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Without {
    /// It has none of our lines.
    NotOurs,
    /// Nothing: the file was ours.
    Nothing,
    /// The hook as it was, or as somebody changed it since.
    Hook(Vec<u8>),
}

/// Takes our lines out of a hook.
pub(super) fn without(hook: &[u8]) -> Without {
    let Some(begin) = find(hook, BEGIN.as_bytes()) else { return Without::NotOurs };
    let Some(length) = find(hook.get(begin..).unwrap_or_default(), END.as_bytes()) else {
        return Without::NotOurs;
    };
    let end = begin + length + END.len();
    let (before, ours, after) = (hook.get(..begin), hook.get(begin..end), hook.get(end..));
    let rest = [before.unwrap_or_default(), after.unwrap_or_default()].concat();
    let was_made = ours.unwrap_or_default().starts_with([BEGIN, MADE].concat().as_bytes());
    if was_made && rest == SHELL.as_bytes() { Without::Nothing } else { Without::Hook(rest) }
}

/// Where a line begins with `mark`.
fn find(text: &[u8], mark: &[u8]) -> Option<usize> {
    let starts = |at: usize| at == 0 || text.get(at - 1) == Some(&b'\n');
    text.windows(mark.len()).enumerate().find(|(at, part)| *part == mark && starts(*at)).map(|(at, _)| at)
}

fn is_shell(first: &[u8]) -> bool {
    let Some(line) = std::str::from_utf8(first).ok().and_then(|line| line.strip_prefix("#!")) else {
        return false;
    };
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or_default());
    match words.next() {
        Some("env") => words.find(|word| !word.starts_with('-')).is_some_and(|shell| SHELLS.contains(&shell)),
        Some(shell) => SHELLS.contains(&shell),
        None => false,
    }
}

/// A text as a shell takes it.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::{Script, Without, without};

    const SCRIPT: Script<'_> = Script { name: "pre-commit", program: Some("/opt/it's here/jit") };

    #[test]
    fn what_goes_in_comes_out_byte_for_byte() {
        for hook in
            ["#!/bin/sh\n", "#!/bin/sh\nexit 0", "#!/usr/bin/env bash\r\nx\n", "#! /bin/zsh -e\n\n# >>> x\n"]
        {
            let with = SCRIPT.added(hook.as_bytes()).unwrap();
            assert_ne!(with, hook.as_bytes());
            assert_eq!(without(&with), Without::Hook(hook.into()), "{hook:?}");
        }
        assert_eq!(without(&SCRIPT.made()), Without::Nothing);
    }

    #[test]
    fn what_somebody_added_to_our_file_stays() {
        let text = [&b"#!/bin/sh\necho mine\n"[..], &SCRIPT.made()[10..]].concat();
        assert_eq!(without(&text), Without::Hook(b"#!/bin/sh\necho mine\n".to_vec()));
    }

    #[test]
    fn only_shell_scripts_take_lines() {
        for hook in ["#!/usr/bin/env python3\n", "#!/bin/sh", "echo x\n", "\u{7f}ELF\n", "#!/bin/sh\n\0", ""]
        {
            assert_eq!(SCRIPT.added(hook.as_bytes()), None, "{hook:?}");
            assert_eq!(without(hook.as_bytes()), Without::NotOurs);
        }
    }
}

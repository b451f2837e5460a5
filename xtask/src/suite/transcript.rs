//! A session that a page shows with its output: `ann$ jit status` is typed by `ann` in the worktree of that name. What is
//! printed must be what the page shows, apart from ids, times and spans; an id that the page shows twice must be the
//! same twice, and can be typed.

use crate::child::Child;

/// A command and what it printed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Who typed it.
    pub(super) who: String,
    /// The command.
    pub(super) command: String,
    /// What it printed, on both outputs.
    pub(super) output: Vec<String>,
}

/// The steps of a block. Lines before the first prompt belong to nobody and are a mistake of the page.
pub(super) fn steps(block: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.lines() {
        let prompt =
            line.split_once("$ ").filter(|(who, _)| !who.is_empty() && who.chars().all(char::is_alphabetic));
        match (prompt, steps.last_mut()) {
            (Some((who, command)), _) => {
                steps.push(Step { who: who.into(), command: command.into(), output: Vec::new() });
            }
            (None, Some(step)) => step.output.push(line.into()),
            (None, None) => return Err(format!("`{line}` comes before the first prompt")),
        }
    }
    Ok(steps)
}

/// Ids as the page has them, and as they are in this run.
#[derive(Default)]
struct Ids(Vec<(String, String)>);

impl Ids {
    /// What the page would type, with the ids of this run.
    fn typed(&self, command: &str) -> String {
        let mut words = words(command);
        for word in &mut words {
            if let Some((_, real)) = self.0.iter().find(|(shown, _)| shown == word) {
                word.clone_from(real);
            }
        }
        words.concat()
    }

    /// Whether two lines say the same, with the ids that they show taken as a pair from now on.
    fn same(&mut self, shown: &str, real: &str) -> bool {
        let (shown, real) = (words(&timeless(shown)), words(&timeless(real)));
        shown.len() == real.len() && shown.into_iter().zip(real).all(|(shown, real)| self.pair(shown, real))
    }

    fn pair(&mut self, shown: String, real: String) -> bool {
        let known = self.0.iter().find(|(one, other)| *one == shown || *other == real);
        match known {
            Some(pair) => *pair == (shown, real),
            None if shown.len() == real.len() && are_ids(&shown, &real) => {
                self.0.push((shown, real));
                true
            }
            None => shown == real,
        }
    }
}

/// Runs the steps, each as `start` has somebody type it. Fails with the first difference.
pub(super) fn run(steps: &[Step], start: impl Fn(&str, &str) -> Child) -> Result<(), String> {
    let mut ids = Ids::default();
    for step in steps {
        let ended = start(&step.who, &format!("{{ {}\n}} 2>&1", ids.typed(&step.command))).quiet().run();
        let real: Vec<&str> = ended.out.lines().collect();
        let same = real.len() == step.output.len()
            && step.output.iter().zip(&real).all(|(shown, real)| ids.same(shown, real));
        if !same {
            return Err(format!(
                "{}$ {}\nthe page shows:\n{}\nit prints:\n{}\n",
                step.who,
                step.command,
                step.output.join("\n"),
                real.join("\n")
            ));
        }
    }
    Ok(())
}

/// Letters and digits together, everything else one by one.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut inside = false;
    for c in text.chars() {
        let belongs = c.is_ascii_alphanumeric();
        match words.last_mut() {
            Some(word) if belongs && inside => word.push(c),
            _ => words.push(c.into()),
        }
        inside = belongs;
    }
    words
}

/// Whether both are ids. A handle on a page has a digit, so that it is not taken for a word; a real one need not.
fn are_ids(shown: &str, real: &str) -> bool {
    let is_handle =
        |word: &str| (4..=6).contains(&word.len()) && word.bytes().all(|byte| HANDLE.contains(&byte));
    let has_digit = shown.bytes().any(|byte| byte.is_ascii_digit());
    (is_id(shown) && is_id(real)) || (has_digit && is_handle(shown) && is_handle(real))
}

/// The characters of a handle.
const HANDLE: &[u8] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A ULID, or digits of a hash or a worktree.
fn is_id(word: &str) -> bool {
    let ulid =
        word.len() == 26 && word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let hex = matches!(word.len(), 8 | 10 | 40)
        && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    ulid || hex
}

/// A line without the moments and spans in it.
fn timeless(line: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    for word in line.split(' ') {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let digits = bare.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = bare.strip_prefix(digits).unwrap_or_default();
        let is_span = !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && ["ms", "s", "m", "h", "d"].contains(&unit);
        let is_moment = bare.len() >= 20 && bare.as_bytes().get(10) == Some(&b'T') && bare.ends_with('Z');
        match (is_span || is_moment, out.last()) {
            // `9m 59s` is one span.
            (true, Some(&"<time>")) => {}
            (true, _) => out.push("<time>"),
            (false, _) => out.push(word),
        }
    }
    out.join(" ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const BLOCK: &str = "ann$ echo 01M7JDF5CY6X2CGZA7V2GCK1PZ at 2026-11-16T14:51:36.222Z: 9m 59s left\n\
                         01M7JDF5CY6X2CGZA7V2GCK1PY at 2026-01-01T00:00:00.000Z: 12s left\n\
                         bob$ echo 01M7JDF5CY6X2CGZA7V2GCK1PY >&2\n01M7JDF5CY6X2CGZA7V2GCK1PY";

    fn shown(block: &str) -> Result<(), String> {
        let start = |_: &str, command: &str| Child::new(Path::new("."), "bash", &["-c", command]);
        run(&steps(block).unwrap(), start)
    }

    #[test]
    fn what_differs_each_time_may_differ_and_ids_can_be_typed() {
        let steps = steps(BLOCK).unwrap();
        assert_eq!((steps.len(), steps[1].who.as_str()), (2, "bob"));
        assert_eq!(shown(BLOCK), Ok(()));
    }

    #[test]
    fn anything_else_that_differs_is_shown() {
        for (is, wrong) in [("12s left\n", "12s gone\n"), ("PY at", "PY"), ("left\nbob", "left\nmore\nbob")] {
            let why = shown(&BLOCK.replace(is, wrong)).unwrap_err();
            assert!(why.contains("it prints:\n01M7JDF5CY6X2CGZA7V2GCK1PZ at"), "{why}");
        }
        let other = BLOCK.replace("\n01M7JDF5CY6X2CGZA7V2GCK1PY", "\n01M7JDF5CY6X2CGZA7V2GCK1PX");
        assert!(shown(&other).is_err(), "two ids on the page, one in truth");
        assert!(
            shown(&format!("{BLOCK}\nann$ echo 01M7JDF5CY6X2CGZA7V2GCK1PY\n01M7JDF5CY6X2CGZA7V2GCK1PX"))
                .is_err()
        );
        assert!(steps("output\nann$ true").is_err());
    }
}

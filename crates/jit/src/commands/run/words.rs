//! The words of a command that a pool runs: placeholders are filled in inside one argument each, and never where a shell
//! would read them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use holdfast_tracker::Caller;
use holdfast_tracker::error::{Error, Result};

const SHELLS: [&str; 9] = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "busybox"];

/// The words with every placeholder replaced by what it stands for. What was filled in is not looked at again.
pub(in crate::commands) fn filled(words: &[OsString], values: &[(&str, String)]) -> Vec<OsString> {
    words.iter().map(|word| OsString::from_vec(fill(word.as_bytes(), values))).collect()
}

fn fill(mut rest: &[u8], values: &[(&str, String)]) -> Vec<u8> {
    let mut text = Vec::new();
    while let Some((first, behind)) = rest.split_first() {
        let found = values.iter().find(|(name, _)| rest.starts_with(name.as_bytes()));
        match found {
            Some((name, value)) => {
                text.extend_from_slice(value.as_bytes());
                rest = rest.get(name.len()..).unwrap_or_default();
            }
            None => {
                text.push(*first);
                rest = behind;
            }
        }
    }
    text
}

/// The words with a program that is named by a path from here named by its whole path: it is started somewhere else. One
/// that is not here is looked for there.
pub(in crate::commands) fn located(caller: &Caller, mut words: Vec<OsString>) -> Vec<OsString> {
    if let Some(program) = words.first_mut()
        && program.as_bytes().contains(&b'/')
    {
        let here = caller.start.join(&*program);
        if caller.sys.files.stat(&here).is_ok() {
            *program = here.into_os_string();
        }
    }
    words
}

/// Refuses a command that would have a shell read the title of an issue, which anybody may have written.
pub(in crate::commands) fn check(words: &[OsString]) -> Result<()> {
    let names_title = |word: &OsString| contains(word, b"{title}");
    if !words.iter().any(names_title) {
        return Ok(());
    }
    let is_shell = |word: &OsString| {
        let name = Path::new(word).file_name().and_then(OsStr::to_str).unwrap_or_default();
        SHELLS.contains(&name) || name == "eval"
    };
    let reads_command = |word: &OsString| {
        let text = word.as_bytes();
        text.first() == Some(&b'-') && text.get(1) != Some(&b'-') && text.contains(&b'c')
    };
    if words.iter().any(is_shell) && words.iter().any(reads_command) {
        return Err(Error::Usage(
            "{title} next to a shell's -c would have the shell read what somebody wrote; \
             use \"$JIT_ISSUE_TITLE\" in the script instead"
                .into(),
        ));
    }
    Ok(())
}

fn contains(word: &OsStr, part: &[u8]) -> bool {
    word.as_bytes().windows(part.len()).any(|piece| piece == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn placeholders_are_filled_in_once_and_inside_one_argument() {
        let values = [("{id}", "7".to_owned()), ("{title}", "a {id} $(rm) b".to_owned())];
        let given = words(&["agent", "--task={title}!", "{id}{id}", "{other}", "{{id}}"]);
        let expected = words(&["agent", "--task=a {id} $(rm) b!", "77", "{other}", "{7}"]);
        assert_eq!(filled(&given, &values), expected);
        let raw = OsString::from_vec(b"\xff{id}\xfe".to_vec());
        assert_eq!(filled(&[raw], &values), [OsString::from_vec(b"\xff7\xfe".to_vec())]);
    }

    #[test]
    fn a_title_comes_near_no_shell() {
        for bad in [
            &["sh", "-c", "echo {title}"][..],
            &["/bin/bash", "-ec", "x", "{title}"],
            &["env", "A=1", "dash", "-c", "{title}"],
            &["busybox", "sh", "-xc", "echo '{title}'"],
        ] {
            assert!(check(&words(bad)).is_err(), "{bad:?}");
        }
        for good in [
            &["sh", "-c", "echo {id}"][..],
            &["agent", "-c", "{title}"],
            &["sh", "work.sh", "{title}"],
            &["{title}"],
        ] {
            assert!(check(&words(good)).is_ok(), "{good:?}");
        }
    }
}

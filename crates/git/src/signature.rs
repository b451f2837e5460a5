//! Who writes, as git puts it into a commit and beside a ref that moves: a name, an address, a moment and its zone. Git has
//! many ways to find out who that is. Here only what the environment or the configuration says plainly is taken; where git
//! would ask the system, or take something out of a name, nothing is said, and git itself has to do it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use holdfast_sys::Files;

use crate::objects::person;
use crate::{Config, Environment, zone};

/// In which capacity somebody writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Whoever wrote the change of a commit.
    Author,
    /// Whoever makes a commit or moves a ref.
    Committer,
}

/// Who writes at a moment in seconds since 1970, `Name <address> <seconds> <zone>`; none if only git can tell.
#[must_use]
pub fn of(
    files: &dyn Files,
    env: &Environment,
    config: &Config,
    role: Role,
    seconds: i64,
) -> Option<Vec<u8>> {
    let (named, section) = match role {
        Role::Author => (&env.author, "author"),
        Role::Committer => (&env.committer, "committer"),
    };
    if named.date.is_some() {
        return None;
    }
    let name = text(named.name.as_ref(), config, section, "name")?;
    let email = text(named.email.as_ref(), config, section, "email")?;
    let offset = zone::offset(files, env, seconds)?;
    let sign = if offset < 0 { '-' } else { '+' };
    let (hours, minutes) = (offset.abs() / 60, offset.abs() % 60);
    let when = format!("> {seconds} {sign}{hours:02}{minutes:02}");
    Some([&name, &b" <"[..], &email, when.as_bytes()].concat()).filter(|whole| is_kept(whole))
}

/// What the environment says, or else the configuration of the role, or else that of the user.
fn text(given: Option<&OsString>, config: &Config, section: &str, key: &str) -> Option<Vec<u8>> {
    if let Some(given) = given {
        return Some(given.as_bytes().to_vec());
    }
    let set = |section: &str| config.get(&format!("{section}.{key}")).cloned();
    set(section).or_else(|| set("user"))?.value
}

/// Whether git would write this line of a person as it is, whichever version it is of.
#[must_use]
pub fn is_kept(whole: &[u8]) -> bool {
    let Some((name, address, when)) = person(whole) else { return false };
    let rebuilt = [name, b" <", address, b"> ", when].concat();
    rebuilt == whole && is_clean(name) && is_clean(address) && is_moment(when)
}

/// Whether nothing would be taken out: at the ends what separates names, anywhere what ends them.
fn is_clean(text: &[u8]) -> bool {
    let is_crud = |byte: &u8| *byte <= b' ' || b".,:;<>\"\\'".contains(byte);
    let has_end = |byte: &u8| *byte < b' ' || matches!(byte, b'<' | b'>' | 0x7f);
    let ends = text.first().zip(text.last());
    ends.is_some_and(|(first, last)| !is_crud(first) && !is_crud(last)) && !text.iter().any(has_end)
}

/// Whether this is a moment as git writes it: seconds since 1970 and a zone of hours and minutes.
fn is_moment(when: &[u8]) -> bool {
    let mut words = when.split(|byte| *byte == b' ');
    let (Some(seconds), Some(zone), None) = (words.next(), words.next(), words.next()) else { return false };
    let digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let is_count = digits(seconds) && (1..=11).contains(&seconds.len()) && !seconds.starts_with(b"0");
    let is_zone = match zone {
        [b'+' | b'-', hours @ .., tens, _] => {
            hours.len() == 2 && digits(zone.get(1..).unwrap_or_default()) && *tens < b'6'
        }
        _ => false,
    };
    is_count && is_zone && zone != b"-0000"
}

#[cfg(test)]
mod tests {
    use super::is_kept;

    #[test]
    fn a_line_that_git_would_write_otherwise_is_not_kept() {
        let kept = ["A U Thor <a@example.org> 1700000000 +0100", "Zoë O'Hara <z@b> 1 -0330"];
        for line in kept {
            assert!(is_kept(line.as_bytes()), "{line}");
        }
        for line in [
            "",
            "A",
            " <a@b> 1 +0000",
            "A <> 1 +0000",
            "A. <a@b> 1 +0000",
            "'A' <a@b> 1 +0000",
            "A  <a@b> 1 +0000",
            "A<a@b> 1 +0000",
            "A > B <a@b> 1 +0000",
            "A\tB <a@b> 1 +0000",
            "A <a@b>  1 +0000",
            "A <a@b> 0 +0000",
            "A <a@b> -1 +0000",
            "A <a@b> 1 -0000",
            "A <a@b> 1 +0060",
            "A <a@b> 1 +01000",
            "A <a@b> 1 0100",
            "A <a@b> 1",
            "A <a@b> 1 +0000 x",
            "A <a@b> x +0000",
        ] {
            assert!(!is_kept(line.as_bytes()), "{line}");
        }
    }
}

//! What is written to git and what comes back, as text. Nothing here starts anything.

use super::{UNPACKED, UNPACKED_OURS};
use crate::head::{Note, StepWire};
use crate::register::Next;

/// What a push says of one ref, by its flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flag {
    /// The ref is where it was to be.
    Done,
    /// It is not.
    Refused,
    /// The server did not say.
    Silent,
}

/// The flag of a ref in what `push --porcelain` wrote, with its summary; none if there is no line for the ref.
pub(super) fn flag(porcelain: &[u8], name: &str) -> Option<(Flag, String)> {
    let text = String::from_utf8_lossy(porcelain);
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, '\t');
        let (flag, refs) = (parts.next()?, parts.next()?);
        let (_, to) = refs.rsplit_once(':')?;
        if to != name {
            return None;
        }
        let summary = parts.next().unwrap_or_default().to_owned();
        let flag = match flag {
            " " | "+" | "-" | "*" | "=" => Flag::Done,
            "!" if summary.starts_with("[remote failure]") => Flag::Silent,
            "!" => Flag::Refused,
            _ => Flag::Silent,
        };
        Some((flag, summary))
    })
}

/// Whether a ref was refused only because another one was that had to move with it: so git says it, and so the server.
pub(super) fn is_for_another(summary: &str) -> bool {
    ["(atomic push failed)", "(atomic push failure)"].iter().any(|why| summary.contains(why))
}

/// The commit that `ls-remote` lists for a ref.
pub(super) fn listed(output: &[u8], name: &str) -> Option<String> {
    let text = String::from_utf8_lossy(output);
    text.lines().find_map(|line| {
        let (id, listed) = line.split_once('\t')?;
        (listed == name && is_id(id)).then(|| id.to_owned())
    })
}

/// How many steps are cut off before this one, if it is a cut.
pub(super) fn cut(next: &Next<'_>) -> Option<u64> {
    let step: StepWire = serde_json::from_slice(next.step).ok()?;
    step.notes.iter().find_map(|note| match note {
        Note::Cut { height, .. } => Some(*height),
        Note::Made
        | Note::Published { .. }
        | Note::Landed { .. }
        | Note::Pushed { .. }
        | Note::Sealed
        | Note::Moved { .. }
        | Note::Recovered { .. } => None,
    })
}

/// Whether this is the id of an object.
pub(super) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a ref can be called that, and a push of it cannot mean anything else.
pub(super) fn is_ref(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
    let parts_are_good = name.split('/').all(|part| {
        !part.is_empty() && !part.starts_with(['.', '-']) && !part.ends_with('.') && !part.ends_with(".lock")
    });
    name.starts_with("refs/")
        && name.split('/').count() >= 3
        && name.chars().all(plain)
        && parts_are_good
        && !name.contains("..")
        && (!name.starts_with(UNPACKED) || name.starts_with(UNPACKED_OURS))
}

/// The credentials in a URL.
pub(super) fn credentials(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split('/').next()?;
    let (user, _) = authority.rsplit_once('@')?;
    user.split_once(':').map(|(_, secret)| secret).or(Some(user)).filter(|secret| !secret.is_empty())
}

/// The name and the password in a URL that git reaches over HTTP, as they are meant; either may be missing.
///
/// Git hands a URL to the program that speaks HTTP as an argument, which everybody on the machine can read.
pub(super) fn login(url: &str) -> Option<(String, Option<String>)> {
    let user = user(url)?;
    let (name, password) = user.split_once(':').map_or((user, None), |(name, word)| (name, Some(word)));
    let password = password.map(decoded);
    match password {
        Some(None) => None,
        password => Some((decoded(name)?, password.flatten())),
    }
}

/// Whether a URL that goes over HTTP has a login, whatever it is.
pub(super) fn has_login(url: &str) -> bool {
    user(url).is_some()
}

/// The login of a URL that goes over HTTP, as it stands there.
fn user(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    if !matches!(scheme, "http" | "https") {
        return None;
    }
    Some(rest.split('/').next()?.rsplit_once('@')?.0)
}

/// What percent-encoded text means; none if it could end a line of the protocol in which git asks for credentials.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains(['\n', '\r', '\0']))
}

/// The scheme and the host of a URL that has no credentials.
pub(super) fn host(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    format!("{scheme}://{}", rest.split('/').next().unwrap_or_default())
}

/// The URL without credentials, for people and for arguments of programs.
#[must_use]
pub fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match path {
        Some(path) => format!("{scheme}://{host}/{path}"),
        None => format!("{scheme}://{host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Flag, credentials, flag, is_for_another, is_ref, listed, login, without_credentials};

    #[test]
    fn an_answer_is_read_by_its_flag_and_only_for_our_ref() {
        let said = b"To /srv/origin.git\n!\tabc:refs/heads/main\t[rejected] (stale info)\n \tabc:refs/jit/claims\t1..2\nDone\n";
        assert_eq!(flag(said, "refs/jit/claims"), Some((Flag::Done, "1..2".into())));
        assert_eq!(flag(said, "refs/heads/main").map(|(flag, _)| flag), Some(Flag::Refused));
        assert_eq!(flag(said, "refs/jit/other"), None);
        let cut_off = b"!\tabc:refs/jit/claims\t[remote failure] (remote failed to report status)\n";
        assert_eq!(flag(cut_off, "refs/jit/claims").map(|(flag, _)| flag), Some(Flag::Silent));
        for done in [" ", "*", "=", "+"] {
            let line = format!("{done}\ta:refs/jit/claims\tx\n");
            assert_eq!(flag(line.as_bytes(), "refs/jit/claims").map(|(flag, _)| flag), Some(Flag::Done));
        }
        assert_eq!(
            flag(b"?\ta:refs/jit/claims\tx\n", "refs/jit/claims").map(|(flag, _)| flag),
            Some(Flag::Silent)
        );
    }

    #[test]
    fn what_is_refused_for_the_sake_of_another_ref_is_told_from_that_one() {
        let said = "!\ta:refs/jit/claims\t[remote rejected] (atomic push failure)\n\
                    !\ta:refs/heads/x\t[rejected] (atomic push failed)\n\
                    !\ta:refs/heads/main\t[remote rejected] (hook declined)\n";
        let why = |name: &str| flag(said.as_bytes(), name).unwrap().1;
        assert!(is_for_another(&why("refs/jit/claims")) && is_for_another(&why("refs/heads/x")));
        assert!(!is_for_another(&why("refs/heads/main")));
    }

    #[test]
    fn a_ref_is_listed_by_its_whole_name() {
        let id = "0123456789012345678901234567890123456789";
        let said = format!("{id}\trefs/jit/claims-old\n{id}\trefs/jit/claims\n");
        assert_eq!(listed(said.as_bytes(), "refs/jit/claims").as_deref(), Some(id));
        assert_eq!(listed(said.as_bytes(), "refs/jit/claim"), None);
        assert_eq!(listed(b"nothing\trefs/jit/claims\n", "refs/jit/claims"), None);
    }

    #[test]
    fn credentials_are_found_and_left_out() {
        for (url, shown, secret) in [
            ("https://ann:s3cret@host/x.git", "https://host/x.git", Some("s3cret")),
            ("https://token@host/x.git", "https://host/x.git", Some("token")),
            ("https://host/a@b.git", "https://host/a@b.git", None),
            ("git@host:x.git", "git@host:x.git", None),
            ("/srv/x.git", "/srv/x.git", None),
        ] {
            assert_eq!((without_credentials(url).as_str(), credentials(url)), (shown, secret), "{url}");
        }
    }

    #[test]
    fn a_login_is_taken_out_of_urls_that_go_over_http() {
        let some = |name: &str, password: Option<&str>| Some((name.to_owned(), password.map(str::to_owned)));
        for (url, found) in [
            ("https://ann:s%40cret@host/x.git", some("ann", Some("s@cret"))),
            ("http://a%3Ab:@host/x.git", some("a:b", Some(""))),
            ("https://token@host/x.git", some("token", None)),
            ("https://ann:two%0alines@host/x.git", None),
            ("https://ann:100%@host", some("ann", Some("100%"))),
            ("https://host/a@b.git", None),
            ("ssh://git@host/x.git", None),
            ("git@host:x.git", None),
        ] {
            assert_eq!(login(url), found, "{url}");
        }
    }

    #[test]
    fn only_plain_names_are_refs() {
        for name in ["refs/jit/claims", "refs/heads/jit/claims", "refs/worktree/jit/claims"] {
            assert!(is_ref(name), "{name}");
        }
        for name in [
            "jit/claims",
            "refs/jit",
            "refs/worktree/heads/main",
            "refs/jit/",
            "refs/jit/a b",
            "refs/jit/a..b",
            "refs/jit/a.lock",
            "refs/jit/a:b",
            "refs/-x/y",
            "+refs/jit/x",
        ] {
            assert!(!is_ref(name), "{name}");
        }
    }
}

//! How the servers of a repository are reached, as git itself would work it out from what is configured, and how a login
//! in a URL gets there without standing in the arguments of a process, which everybody on the machine can read.

use std::ffi::OsString;
use std::path::Path;

use holdfast_git::config::Scope;
use holdfast_git::{Config, Environment, Git};

use super::parse;
use crate::register::Unreachable;

/// The variable that carries the password of a URL to the helper that git asks for it.
pub(super) const PASSWORD: &str = "JIT_REMOTE_PASSWORD";

/// What git runs to have the password of a URL.
pub(super) const HELPER: &str =
    r#"!f() { test "$1" = get && printf 'password=%s\n' "$JIT_REMOTE_PASSWORD"; }; f"#;

/// The settings that say how remotes are reached.
const WAYS: [&str; 5] = ["http.", "credential.", "url.", "protocol.", "ssh."];

/// Which way a URL is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Fetch,
    Push,
}

/// The URLs that git pushes to; none if the configuration does not say so in a way that can be told here.
pub(super) fn push_urls(config: &Config, remote: &str) -> Option<Vec<String>> {
    let pushed = urls(config, remote, "pushurl")?;
    if !pushed.is_empty() {
        return Some(pushed.iter().map(|url| rewritten(config, url, Way::Fetch)).collect());
    }
    let urls = urls(config, remote, "url")?;
    (!urls.is_empty()).then(|| urls.iter().map(|url| rewritten(config, url, Way::Push)).collect())
}

/// The settings of this repository and of this command that say how remotes are reached.
pub(super) fn ways(config: &Config) -> Vec<(String, String)> {
    let is_way = |key: &str| {
        WAYS.iter().any(|way| key.starts_with(way)) || matches!(key, "core.sshcommand" | "core.gitproxy")
    };
    let own = config.entries().iter().filter(|entry| entry.origin.scope >= Scope::Local);
    let pairs = own.map(|entry| {
        let value = entry.value.as_deref().unwrap_or(b"true");
        (String::from_utf8_lossy(&entry.key).into_owned(), String::from_utf8_lossy(value).into_owned())
    });
    pairs.filter(|(key, _)| is_way(key)).collect()
}

/// The values of a key of a remote; none if one of them is not text, or takes back those before.
fn urls(config: &Config, remote: &str, key: &str) -> Option<Vec<String>> {
    let key = format!("remote.{remote}.{key}");
    let text = |value: &Option<Vec<u8>>| String::from_utf8(value.clone()?).ok().filter(|url| !url.is_empty());
    config.all(&key).map(|entry| text(&entry.value)).collect()
}

/// A URL as the longest setting that applies to it has it.
fn rewritten(config: &Config, url: &str, way: Way) -> String {
    let longest = |name: &str| {
        let mut best: Option<(usize, String)> = None;
        for entry in config.entries() {
            let Some(base) =
                entry.key.strip_prefix(b"url.").and_then(|key| key.strip_suffix(name.as_bytes()))
            else {
                continue;
            };
            let prefix = entry.value.as_deref().and_then(|value| std::str::from_utf8(value).ok());
            let rest = prefix.and_then(|prefix| Some((prefix.len(), url.strip_prefix(prefix)?)));
            let Some((length, rest)) = rest else { continue };
            if best.as_ref().is_none_or(|(before, _)| *before < length) {
                best = Some((length, format!("{}{rest}", String::from_utf8_lossy(base))));
            }
        }
        best.map(|(_, url)| url)
    };
    let pushed = if way == Way::Push { longest(".pushinsteadof") } else { None };
    pushed.or_else(|| longest(".insteadof")).unwrap_or_else(|| url.to_owned())
}

/// A URL; if it is a relative path, which git takes from wherever it is started, where that leads from `home`.
pub(super) fn absolute(url: &str, home: &Path) -> String {
    let is_path =
        !url.contains("://") && url.split(['/', '\\']).next().is_some_and(|first| !first.contains(':'));
    if !is_path || url.starts_with('/') {
        return url.to_owned();
    }
    home.join(url).to_string_lossy().into_owned()
}

/// This git, which reaches `remote` from every worktree at the same place, and without showing a login of its URL in the
/// arguments of what it starts. What is a relative path leads from `home`.
///
/// # Errors
/// When a URL has a login that cannot be handed to git in another way.
pub fn reaching(
    git: Git,
    config: &Config,
    env: &Environment,
    remote: &str,
    home: &Path,
) -> Result<Git, Unreachable> {
    let mut settings: Vec<(String, String)> = Vec::new();
    let mut password = None;
    for key in ["url", "pushurl"] {
        // A URL without a value takes back those before, or is git's to complain about.
        for url in config.all(&format!("remote.{remote}.{key}")).filter_map(|entry| entry.value.as_deref()) {
            let text = String::from_utf8_lossy(url);
            let ways = [rewritten(config, &text, Way::Fetch), rewritten(config, &text, Way::Push)];
            for (used, rewrite) in ways.iter().zip(["insteadOf", "pushInsteadOf"]) {
                let place = absolute(used, home);
                if place != *used {
                    settings.push((format!("url.{place}.{rewrite}"), text.clone().into_owned()));
                }
            }
            let Some(used) = ways.iter().find(|used| parse::has_login(used)) else { continue };
            let (Ok(url), Some(login)) = (std::str::from_utf8(url), parse::login(used)) else {
                return Err(Unreachable(format!(
                    "the URL of the remote '{0}' has a login that cannot be kept out of the arguments of git: write it \
                     in UTF-8 and without line breaks (git remote set-url {0} URL), or use a credential helper",
                    remote.escape_debug()
                )));
            };
            let shown = parse::without_credentials(used);
            for rewrite in ["insteadOf", "pushInsteadOf"] {
                settings.push((format!("url.{shown}.{rewrite}"), url.to_owned()));
            }
            let host = parse::host(&shown);
            settings.push((format!("credential.{host}.username"), login.0));
            if let Some(word) = login.1 {
                settings.push((format!("credential.{host}.helper"), String::new()));
                settings.push((format!("credential.{host}.helper"), HELPER.into()));
                password = Some(OsString::from(word));
            }
        }
    }
    if settings.is_empty() {
        return Ok(git);
    }
    let before = env.config_pairs.len();
    let count = before + settings.len();
    let mut git = git.env("GIT_CONFIG_COUNT", Some(count.to_string().into())).env(PASSWORD, password);
    for (at, (key, value)) in settings.into_iter().enumerate() {
        git = git.env(format!("GIT_CONFIG_KEY_{}", before + at), Some(key.into()));
        git = git.env(format!("GIT_CONFIG_VALUE_{}", before + at), Some(value.into()));
    }
    Ok(git)
}

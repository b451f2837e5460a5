//! How git is called for steps: in their own repository, without prompts, hooks or the variables of a hook that may
//! run around it, with the user's way to the remote. URLs and credentials go by the environment, never as arguments.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::time::Duration;

use holdfast_git::Git;
use holdfast_git::run::Output;
use holdfast_store::whole;
use holdfast_sys::Sys;

use super::reach::{self, HELPER, PASSWORD};
use super::steps::Steps;
use super::{Access, Asked, git_in, parse};
use crate::register::Unreachable;

/// What the remote is called in the repository for steps.
pub(super) const REMOTE: &str = "register";

/// What a hook or a caller may have set that would lead git elsewhere.
const REMOVED: [&str; 14] = [
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_NAMESPACE",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_CONFIG_PARAMETERS",
    "GIT_PUSH_OPTION_COUNT",
    "GIT_SSH_VARIANT",
    "GIT_TRACE",
];

/// The settings of a repository that say how its remotes are reached.
const WAYS: &str = r"^(http|credential|url|protocol|ssh)\.|^core\.(sshcommand|gitproxy)$";

/// How long an answer may take that has nothing to carry.
const SHORT: Duration = Duration::from_secs(20);

/// Calls git for one register.
pub(super) struct Caller {
    git: Git,
    url: String,
    limit: Duration,
}

impl Caller {
    pub(super) fn open(sys: &Sys, access: &Access) -> Asked<Self> {
        make(sys, access)?;
        let url = push_url(access)?;
        let mut settings = ways(access)?;
        let ssh =
            settings.iter().rev().find(|(key, _)| key == "core.sshcommand").map(|(_, value)| value.clone());
        let ssh = access.ssh_command.clone().or(ssh).unwrap_or_else(|| "ssh".into());
        let login = parse::login(&url);
        let shown = login.as_ref().map_or_else(|| url.clone(), |_| parse::without_credentials(&url));
        settings.push((format!("remote.{REMOTE}.url"), shown.clone()));
        if let Some((name, password)) = &login {
            // A setting that puts the login into URLs like this one would do so again.
            for rewrite in ["insteadOf", "pushInsteadOf"] {
                settings.push((format!("url.{shown}.{rewrite}"), shown.clone()));
            }
            settings.push(("credential.username".into(), name.clone()));
            if password.is_some() {
                // Whoever put the password into the URL wants that one and no other.
                settings.push(("credential.helper".into(), String::new()));
                settings.push(("credential.helper".into(), HELPER.into()));
            }
        }
        for (key, value) in [
            ("core.askPass", ""),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
            ("core.hooksPath", "/dev/null"),
            ("fetch.unpackLimit", "1000000"),
            ("transfer.fsckObjects", "false"),
            ("push.gpgSign", "false"),
            ("commit.gpgSign", "false"),
            ("protocol.version", "2"),
            // A step is too small to be divided.
            ("pack.threads", "1"),
            // No ref here has the name of a commit, so that nobody has to look for one.
            ("core.warnAmbiguousRefs", "false"),
        ] {
            settings.push((key.into(), value.into()));
        }
        let mut git = git_in(&access.engine)
            .env("GIT_DIR", Some(access.engine.clone().into_os_string()))
            .env("LC_ALL", Some("C".into()))
            .env("GIT_TERMINAL_PROMPT", Some("0".into()))
            .env("GIT_ASKPASS", Some(OsString::new()))
            .env("SSH_ASKPASS", Some(OsString::new()))
            .env("GCM_INTERACTIVE", Some("never".into()))
            .env("GIT_SSH_COMMAND", Some(format!("{ssh} -o BatchMode=yes -o ConnectTimeout=15").into()))
            .env(PASSWORD, login.and_then(|(_, password)| password).map(OsString::from))
            .env("GIT_CONFIG_COUNT", Some(settings.len().to_string().into()));
        for name in REMOVED {
            git = git.env(name, None);
        }
        for (at, (key, value)) in settings.into_iter().enumerate() {
            git = git.env(format!("GIT_CONFIG_KEY_{at}"), Some(key.into()));
            git = git.env(format!("GIT_CONFIG_VALUE_{at}"), Some(value.into()));
        }
        Ok(Self { git, url, limit: access.limit })
    }

    /// The URL without credentials.
    pub(super) fn shown(&self) -> String {
        parse::without_credentials(&self.url)
    }

    /// What git said, without credentials.
    pub(super) fn words(&self, stderr: &[u8]) -> String {
        let said = String::from_utf8_lossy(stderr).replace(&self.url, &self.shown());
        match parse::credentials(&self.url) {
            Some(secret) => said.replace(secret, "***"),
            None => said,
        }
    }

    pub(super) fn unreachable(&self, said: &Output) -> Unreachable {
        let words = self.words(&said.stderr);
        let lines: Vec<&str> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        Unreachable(if lines.is_empty() { "git said nothing".into() } else { lines.join("; ") })
    }

    /// What git answers; none if it took too long.
    pub(super) fn try_ask(&self, args: &[&str]) -> Asked<Option<Output>> {
        self.git.ask_within(args, self.limit).map_err(|error| Unreachable(error.to_string()))
    }

    pub(super) fn ask(&self, args: &[&str]) -> Asked<Output> {
        self.within(args, self.limit)
    }

    /// As [`Caller::ask`], for an answer that has nothing to carry.
    pub(super) fn ask_shortly(&self, args: &[&str]) -> Asked<Output> {
        self.within(args, self.limit.min(SHORT))
    }

    fn within(&self, args: &[&str], limit: Duration) -> Asked<Output> {
        let said = self.git.ask_within(args, limit).map_err(|error| Unreachable(error.to_string()))?;
        said.ok_or_else(|| Unreachable(format!("no answer within {} s", limit.as_secs())))
    }

    /// The commit that a ref here is on.
    pub(super) fn resolve(&self, steps: &Steps, name: &str) -> Asked<Option<String>> {
        if let Some(commit) = steps.resolve(name)? {
            return Ok(Some(commit));
        }
        let said = self.ask(&["rev-parse", "--quiet", "--verify", name])?;
        let id = String::from_utf8_lossy(&said.stdout).trim().to_owned();
        Ok((said.code == Some(0) && parse::is_id(&id)).then_some(id))
    }
}

/// Makes the repository for steps, with the objects of the one that is worked in beside its own.
fn make(sys: &Sys, access: &Access) -> Asked<()> {
    let failed = |error: &dyn std::fmt::Display| {
        Unreachable(format!("the repository for steps cannot be made: {error}"))
    };
    let alternates = access.engine.join("objects/info/alternates");
    let line = format!("{}\n", access.git_dir.join("objects").display());
    match whole::read(sys, &alternates).map_err(|error| failed(&error))? {
        Some(there) if there == line.as_bytes() => return Ok(()),
        // The clone was moved: where its objects were, there is nothing.
        Some(_) => {
            return whole::replace(sys, &alternates, line.as_bytes(), 0o644).map_err(|error| failed(&error));
        }
        None => {}
    }
    let engine = access.engine.to_string_lossy().into_owned();
    let mut git = Git::in_dir(whole::parent(&access.engine))
        .env("GIT_DIR", None)
        .env("GIT_DEFAULT_REF_FORMAT", Some("files".into()));
    for name in REMOVED {
        git = git.env(name, None);
    }
    let args = ["init", "--quiet", "--bare", "--object-format=sha1", "--template=", "--", &engine];
    git.run(&args).map_err(|error| failed(&error))?;
    let info = whole::parent(&alternates);
    match sys.files.create_dir(info, 0o755) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(&error)),
        _ => {}
    }
    whole::replace(sys, &alternates, line.as_bytes(), 0o644).map_err(|error| failed(&error))
}

fn work_git(access: &Access) -> Git {
    Git::in_dir(&access.git_dir)
        .env("GIT_DIR", Some(access.git_dir.clone().into_os_string()))
        .env("LC_ALL", Some("C".into()))
}

/// The one URL that is read from and pushed to.
fn push_url(access: &Access) -> Asked<String> {
    let failed = |why: &str| Unreachable(format!("the remote '{}' {why}", access.remote.escape_debug()));
    if let Some(url) = &access.url {
        return Ok(url.clone());
    }
    let several = "has several push URLs: claims need one place that all agree on";
    match access.config.as_ref().and_then(|config| reach::push_urls(config, &access.remote)).as_deref() {
        Some([url]) => return Ok(reach::absolute(url, &access.home)),
        Some([_, _, ..]) => return Err(failed(several)),
        Some([]) | None => {}
    }
    let args = ["remote", "get-url", "--push", "--all", "--", &access.remote];
    let said = work_git(access).ask(&args, &[]).map_err(|error| failed(&error.to_string()))?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let mut urls = text.lines();
    match (urls.next(), urls.next()) {
        (Some(url), None) if said.code == Some(0) => Ok(reach::absolute(url, &access.home)),
        (Some(_), Some(_)) => Err(failed(several)),
        _ => Err(failed("is not configured: git remote -v")),
    }
}

/// How the repository reaches its remotes.
fn ways(access: &Access) -> Asked<Vec<(String, String)>> {
    if let Some(config) = &access.config {
        return Ok(reach::ways(config));
    }
    let said = work_git(access).ask(&["config", "--local", "-z", "--get-regexp", WAYS], &[]);
    let said = said.map_err(|error| Unreachable(error.to_string()))?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let pair = |entry: &str| {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        (key.to_owned(), value.to_owned())
    };
    Ok(text.split('\0').filter(|entry| !entry.is_empty()).map(pair).collect())
}

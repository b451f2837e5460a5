//! Places to install into and to run in: a Debian of its own where one can be made, else a scratch directory.

use std::path::{Path, PathBuf};

use super::{empty, remove, shown, write};
use crate::child::{Child, is_there};

/// Whatever is installed here is gone with it.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// An empty directory below the one where everything is built.
    pub(crate) fn new(target: &Path, name: &str) -> Result<Self, String> {
        let folder = target.join(format!("check-{name}-{}", std::process::id()));
        empty(&folder)?;
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is below `target`, where anybody may clean up.
        let _ = remove(&self.0);
    }
}

/// What a Debian is made with besides the least that there is: what the package needs, and what uses its files.
const WITH: &str = "git,man-db,bash-completion,zsh,systemd";

/// A Debian of the release that this machine runs, from where this machine gets its packages. It is made once and kept below
/// the directory where everything is built; whatever is installed into it goes to a copy.
///
/// # Errors
/// Why there can be none here.
pub(super) fn debian(target: &Path, scratch: &Scratch) -> Result<(), String> {
    let (site, release) = source()?;
    let kept = target.join(format!("debian-{release}"));
    if !kept.is_dir() {
        if !is_there("debootstrap") {
            return Err("debootstrap is not installed: apt-get install debootstrap".into());
        }
        let half = Scratch::new(target, "debian")?;
        let (to, with) = (shown(half.path()), format!("--include={WITH}"));
        let words = ["--variant=minbase", &with, &release, &to, &site];
        let made = Child::new(target, "debootstrap", &words).quiet().run();
        if !made.ok {
            return Err(format!("debootstrap of {release} {}", made.how));
        }
        std::fs::rename(half.path(), &kept).map_err(|why| format!("{}: {why}", kept.display()))?;
    }
    let copied = Child::new(target, "cp", &["-a", "-T", &shown(&kept), &shown(scratch.path())]).run();
    if copied.ok { Ok(()) } else { Err(format!("a copy of {}: {}", kept.display(), copied.how)) }
}

/// Where this machine gets the packages of its own release from.
fn source() -> Result<(String, String), String> {
    let words = ["indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages"];
    let listed = Child::new(Path::new("."), "apt-get", &words).quiet().run();
    let about =
        std::fs::read_to_string("/etc/os-release").map_err(|why| format!("/etc/os-release: {why}"))?;
    let release = about.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let release = release.ok_or("this machine does not say which release it runs")?.trim_matches('"');
    let site = listed.out.lines().filter_map(|line| line.split_once(' ')).find(|(_, name)| *name == release);
    let (site, _) = site.ok_or_else(|| format!("apt knows no place for {release}"))?;
    Ok((site.into(), release.into()))
}

/// Runs a script in a directory as if it were all there is, with processes of its own.
pub(super) fn inside(root: &Path, script: &str) -> Result<(), String> {
    write(&root.join("tmp/check.sh"), script.as_bytes())?;
    let start = "mount -t proc proc \"$0/proc\" && mount -t tmpfs tmpfs \"$0/run\" && exec chroot \"$0\" \
                 env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
                 sh /tmp/check.sh";
    let to = shown(root);
    let words = ["--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", start, &to];
    ended(Child::new(Path::new("/"), "unshare", &words))
}

/// Runs a script with what is in a directory before everything else.
pub(crate) fn with(at: &Path, path: &Path, script: &str) -> Result<(), String> {
    let path = format!("{}:{}", shown(path), std::env::var("PATH").unwrap_or_default());
    let child = Child::new(at, "sh", &["-euc", script]).env("PATH", &path).env("HOME", &shown(at));
    ended(child.env("LC_ALL", "C.UTF-8").env("JIT_AGENT_ID", ""))
}

fn ended(child: Child) -> Result<(), String> {
    let ended = child.run();
    if ended.ok { Ok(()) } else { Err(format!("its check {}", ended.how)) }
}

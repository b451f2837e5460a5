//! `cargo xtask release --dry-run`: everything that a release needs, done in a copy of the repository, so that the tree stays
//! as it is. What is wrong with a release is found here, before anybody has it.

use std::path::{Path, PathBuf};

use crate::args::{Packages, Release};
use crate::child::Child;
use crate::{fixtures, package, programs, tidy};
use package::table;

const CHANGELOG: &str = "CHANGELOG.md";
const UNRELEASED: &str = "## [Unreleased]\n";
/// Where the version stands besides the workspace's manifest, and how often in each file.
const NAMED: [(&str, usize); 7] = [
    ("packages/dashboard/package.json", 1),
    ("packages/dashboard/package-lock.json", 2),
    ("packages/mcp-trial/package.json", 1),
    ("packages/mcp-trial/package-lock.json", 2),
    ("packages/project-lock/package.json", 1),
    ("packages/project-lock/package-lock.json", 2),
    ("contrib/github-action/action.yml", 1),
];

/// Tries a release and says what became of each step.
#[must_use]
pub fn run(root: &Path, asked: &Release) -> bool {
    let done = attempt(root, asked);
    match &done {
        Ok(version) => {
            println!("ok      {version} can be released; nothing was changed in {}", root.display())
        }
        Err(why) => eprintln!("{why}"),
    }
    done.is_ok()
}

fn attempt(root: &Path, asked: &Release) -> Result<String, String> {
    let present = table::version(root)?;
    let version = next(&present, &text(&root.join(CHANGELOG))?, asked.version.as_deref())?;
    let copy = copy(root)?;
    bump(&copy, &present, &version)?;
    let date = git(root, &["log", "-1", "--format=%cs"])?;
    let log = copy.join(CHANGELOG);
    package::write(&log, headed(&text(&log)?, &version, date.trim())?.as_bytes())?;
    println!("ok      version {present} becomes {version}: {}", git(&copy, &["diff", "--shortstat"])?.trim());
    if !tidy::run(&copy) {
        return Err("the rules of the house do not hold for it".into());
    }
    println!("ok      every format states its number in spec/formats.md");
    let kept = kept(&copy, &version)?;
    read(root, &copy, present == version)?;
    println!("ok      what these have written is read: {}", kept.join(", "));
    let packages = Packages { programs: asked.programs.clone(), to: None, ..Packages::default() };
    if !package::run(&copy, &packages) {
        return Err("its packages cannot be made".into());
    }
    Ok(version)
}

/// The version that comes next: the one of the workspace if it was never released, else the next minor one.
fn next(present: &str, changelog: &str, asked: Option<&str>) -> Result<String, String> {
    let number = |text: &str| -> Result<[u64; 3], String> {
        let parts: Result<Vec<u64>, _> = text.split('.').map(str::parse).collect();
        parts.ok().and_then(|parts| parts.try_into().ok()).ok_or_else(|| format!("`{text}` is no version"))
    };
    let is_released = |version: &str| changelog.contains(&format!("\n## [{version}]"));
    let [major, minor, _] = number(present)?;
    let version = match asked {
        Some(asked) => asked.to_owned(),
        None if is_released(present) => format!("{major}.{}.0", minor + 1),
        None => present.to_owned(),
    };
    if is_released(&version) {
        return Err(format!("{version} is released already"));
    }
    if number(&version)? < number(present)? {
        return Err(format!("{version} is before {present}, which the workspace has"));
    }
    Ok(version)
}

/// The repository as it is committed, in a directory of its own.
fn copy(root: &Path) -> Result<PathBuf, String> {
    let changed = git(root, &["status", "--porcelain"])?;
    if !changed.is_empty() {
        return Err(format!("commit first; these are not part of a release:\n{changed}"));
    }
    let copy = programs::target(root).join("release-trial");
    package::remove(&copy)?;
    git(root, &["clone", "-q", ".", &copy.display().to_string()])?;
    Ok(copy)
}

/// Writes the new version wherever one is named.
fn bump(copy: &Path, present: &str, version: &str) -> Result<(), String> {
    if present == version {
        return Ok(());
    }
    let mut places = vec![("Cargo.toml", 1)];
    places.extend(NAMED);
    for (name, times) in places {
        let path = copy.join(name);
        let old = text(&path)?;
        let wrote = |line: &str| line.contains("version") || line.contains("default:");
        let mut left = times;
        let mut lines: Vec<String> = Vec::new();
        for line in old.lines() {
            let fits = left > 0 && wrote(line) && line.contains(present);
            left -= usize::from(fits);
            lines.push(if fits { line.replacen(present, version, 1) } else { line.to_owned() });
        }
        if left > 0 {
            return Err(format!("{name} does not name {present} as often as it should"));
        }
        package::write(&path, format!("{}\n", lines.join("\n")).as_bytes())?;
    }
    let locked = Child::cargo(copy, &["update", "--workspace", "--offline", "--quiet"]).run();
    if locked.ok { Ok(()) } else { Err(format!("Cargo.lock: cargo update {}", locked.how)) }
}

/// The changelog with what is unreleased under the heading of a version.
fn headed(changelog: &str, version: &str, date: &str) -> Result<String, String> {
    let Some((before, after)) = changelog.split_once(UNRELEASED) else {
        return Err(format!("{CHANGELOG} has no section `{}`", UNRELEASED.trim()));
    };
    let told = after.split("\n## [").next().unwrap_or(after);
    if told.trim().is_empty() {
        return Err(format!("{CHANGELOG} tells nothing that is unreleased"));
    }
    Ok(format!("{before}{UNRELEASED}\n## [{version}] - {date}\n{after}"))
}

/// The versions whose files are kept. Every version that was released has all of them, and so has this one.
fn kept(copy: &Path, version: &str) -> Result<Vec<String>, String> {
    let folder = copy.join("spec/fixtures");
    if !folder.join(version).is_dir() {
        fixtures::make(copy, &folder)?;
        println!("ok      made spec/fixtures/{version}, to be committed with the release");
    }
    let log = text(&copy.join(CHANGELOG))?;
    let released = log.lines().filter_map(|line| Some(line.strip_prefix("## [")?.split_once(']')?.0));
    let mut versions = Vec::new();
    for version in released.filter(|name| *name != "Unreleased") {
        for (name, _) in fixtures::KEPT {
            let file = fixtures::place(&folder.join(version), name);
            if !file.is_file() {
                return Err(format!("{} is missing: what a release wrote is kept", file.display()));
            }
        }
        versions.push(version.to_owned());
    }
    Ok(versions)
}

/// Runs the tests that read what releases wrote. A copy of the same version would take the place of what is built here.
fn read(root: &Path, copy: &Path, same: bool) -> Result<(), String> {
    let words =
        ["nextest", "run", "--workspace", "--all-features", "-E", "test(each_release) or test(later_format)"];
    let place = programs::target(root).display().to_string();
    let tests =
        Child::linting_cargo(if same { root } else { copy }, &words).env("CARGO_TARGET_DIR", &place).run();
    if tests.ok { Ok(()) } else { Err(format!("what a release wrote is not read: the tests {}", tests.how)) }
}

fn git(at: &Path, words: &[&str]) -> Result<String, String> {
    let ended = Child::new(at, "git", words).quiet().run();
    if ended.ok { Ok(ended.out) } else { Err(format!("git {}: {}", words.join(" "), ended.err.trim())) }
}

fn text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_that_was_never_released_comes_first_and_then_the_next() {
        let log = "# Changelog\n\n## [Unreleased]\n";
        assert_eq!(next("0.1.0", log, None), Ok("0.1.0".into()));
        let log = "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-01-01\n";
        assert_eq!(next("0.1.0", log, None), Ok("0.2.0".into()));
        assert_eq!(next("0.1.0", log, Some("1.0.0")), Ok("1.0.0".into()));
        for (asked, why) in [("0.1.0", "already"), ("0.0.9", "before"), ("1.0", "no version")] {
            assert!(next("0.1.0", log, Some(asked)).unwrap_err().contains(why), "{asked}");
        }
    }

    #[test]
    fn what_is_unreleased_gets_the_heading() {
        let log = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A.\n\n## [0.1.0] - 2026-01-01\n";
        let headed = headed(log, "0.2.0", "2026-02-02").unwrap();
        let sections = "## [Unreleased]\n\n## [0.2.0] - 2026-02-02\n\n### Added\n\n- A.\n\n## [0.1.0]";
        assert!(headed.contains(sections), "{headed}");
        let empty = "## [Unreleased]\n\n## [0.1.0]\n";
        assert!(super::headed(empty, "0.2.0", "x").unwrap_err().contains("nothing"));
        assert!(super::headed("# Changelog\n", "0.2.0", "x").unwrap_err().contains("no section"));
    }
}

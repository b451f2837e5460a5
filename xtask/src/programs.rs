//! The programs as they are shipped: optimised, and with the C library inside where that can be done, at a fixed
//! address. A hook or a lock lives for a millisecond; a quarter of that would go into finding libraries, and a
//! tenth into four thousand addresses that depend on where the program is. Stack, heap and everything mapped later
//! still are where nobody can tell.

use std::path::{Path, PathBuf};

use crate::child::Child;
use crate::tools;

/// A package and its program.
pub(crate) const PROGRAMS: [(&str, &str); 6] = [
    ("holdfast-jit", "jit"),
    ("holdfast-server", "jit-server"),
    ("holdfast-board", "jit-board"),
    ("holdfast-jvs", "jvs"),
    ("holdfast-kc", "kc_cli"),
    ("holdfast-ic", "ic"),
];

/// What puts the C library into a program, and the program where it will be.
const INSIDE: [&str; 5] = ["--", "-C", "target-feature=+crt-static", "-C", "relocation-model=static"];

/// Builds all programs.
#[must_use]
pub(crate) fn build(root: &Path) -> bool {
    let inside: &[&str] = if can_be_inside(root) { &INSIDE } else { &[] };
    PROGRAMS.iter().all(|(package, program)| {
        let words = ["rustc", "--release", "--quiet", "--package", package, "--bin", program];
        Child::cargo(root, &[&words, inside].concat()).run().ok
    })
}

/// Builds all programs as they are packed, with nothing of this machine in them: whatever the compilers write of paths begins
/// with a name that is everybody's, and no names of functions are kept. Says where the programs are.
pub(crate) fn ship(root: &Path, triple: &str) -> Result<PathBuf, String> {
    tools::cross(root, triple)?;
    let maps = everybodys_names(root)?;
    let flags = |flag: &str| -> Vec<String> {
        maps.iter().map(|(own, name)| format!("{flag}={}={name}", own.display())).collect()
    };
    let mut rust = flags("--remap-path-prefix");
    rust.extend(
        ["-C", "target-feature=+crt-static", "-C", "relocation-model=static", "-C", "strip=symbols"]
            .map(String::from),
    );
    let mut words = vec!["build", "--release", "--quiet", "--locked", "--target", triple];
    words.extend(PROGRAMS.iter().flat_map(|(package, program)| ["--package", *package, "--bin", *program]));
    // With a target named, what runs while it is built (macros, build scripts) gets none of these flags.
    let built = Child::cargo(root, &words)
        .env("CARGO_ENCODED_RUSTFLAGS", &rust.join("\u{1f}"))
        .env("CFLAGS", &flags("-ffile-prefix-map").join(" "))
        // What lints optimises a little less.
        .without("RUSTC_WORKSPACE_WRAPPER");
    if !built.run().ok {
        return Err(format!("the programs do not build for {triple}"));
    }
    Ok(target(root).join(triple).join("release"))
}

/// The directories that compilers may name, and what they are called in what is shipped. The last one that fits is taken.
fn everybodys_names(root: &Path) -> Result<Vec<(PathBuf, String)>, String> {
    let said = |words: &[&str]| {
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
        Child::new(root, &rustc, words).quiet().run().out
    };
    let version = said(&["-vV"]);
    let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: "));
    let commit = commit.ok_or("rustc does not say which commit it is of")?;
    let library = Path::new(said(&["--print", "sysroot"]).trim()).join("lib/rustlib/src/rust");
    let cargo = cargo_home().ok_or("neither CARGO_HOME nor HOME is set")?;
    let own = std::fs::canonicalize(root).map_err(|why| format!("{}: {why}", root.display()))?;
    Ok(vec![
        (cargo, "/usr/src/cargo".into()),
        (library, format!("/rustc/{commit}")),
        (target(root), "/usr/src/holdfast/target".into()),
        (own, "/usr/src/holdfast".into()),
    ])
}

/// Whether the C library can be linked into a program here. Cargo applies such a flag to everything or to one
/// program, and a macro that was built with it cannot be loaded, so it is no setting of the workspace.
fn can_be_inside(root: &Path) -> bool {
    if !cfg!(all(target_os = "linux", target_env = "gnu")) {
        return false;
    }
    let found = Child::new(root, "cc", &["-print-file-name=libc.a"]).quiet().run();
    found.ok && Path::new(found.out.trim()).is_absolute()
}

/// Builds all programs and puts them into a directory: the one given, else where cargo installs to. Says where.
#[must_use]
pub fn install(root: &Path, to: Option<&str>) -> bool {
    let Some(to) = to.map(PathBuf::from).or_else(usual_place) else {
        eprintln!("neither CARGO_HOME nor HOME is set; say where: cargo xtask install DIRECTORY");
        return false;
    };
    let target = target(root);
    build(root) && PROGRAMS.iter().all(|(_, program)| told(put(&target.join("release").join(program), &to)))
}

/// Builds `jit` and has it show four agents at work.
#[must_use]
pub fn demo(root: &Path) -> bool {
    in_development(root, "jit").is_some_and(|jit| Child::new(root, &jit, &["demo"]).hand_over())
}

/// Builds the simulator and hands over to it.
#[must_use]
pub fn simulate(root: &Path, words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    in_development(root, "holdfast-sim").is_some_and(|sim| Child::new(root, &sim, &words).hand_over())
}

/// Builds one program with little optimisation, and says where it is.
pub(crate) fn in_development(root: &Path, program: &str) -> Option<String> {
    debug(root, program, Child::cargo)
}

/// The same as the test command builds it, so that neither does the other's work again.
pub(crate) fn to_test(root: &Path, program: &str) -> Option<String> {
    debug(root, program, Child::linting_cargo)
}

/// With what all members of the workspace ask of its dependencies: another choice would build those once more.
fn debug(root: &Path, program: &str, cargo: fn(&Path, &[&str]) -> Child) -> Option<String> {
    let words = ["build", "--workspace", "--all-features", "--bin", program];
    cargo(root, &words).hand_over().then(|| target(root).join("debug").join(program).display().to_string())
}

/// Where cargo puts what it builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    std::path::absolute(&named).unwrap_or(named)
}

fn usual_place() -> Option<PathBuf> {
    cargo_home().map(|cargo| cargo.join("bin"))
}

fn cargo_home() -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home)
}

/// Puts one program in place. Whoever runs the one that was there goes on with that one.
fn put(built: &Path, to: &Path) -> Result<PathBuf, String> {
    let name = built.file_name().unwrap_or_default();
    let (beside, place) = (to.join(name).with_extension("new"), to.join(name));
    std::fs::create_dir_all(to)
        .and_then(|()| std::fs::copy(built, &beside))
        .and_then(|_| std::fs::rename(&beside, &place))
        .map(|()| place)
        .map_err(|why| format!("{} cannot be put into {}: {why}", built.display(), to.display()))
}

fn told(done: Result<PathBuf, String>) -> bool {
    match &done {
        Ok(place) => println!("{}", place.display()),
        Err(why) => eprintln!("{why}"),
    }
    done.is_ok()
}

#[cfg(test)]
mod tests {
    use super::put;

    #[test]
    fn a_program_replaces_the_one_that_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let (built, to) = (folder.path().join("jit"), folder.path().join("bin"));
        for text in ["old", "new"] {
            std::fs::write(&built, text).unwrap();
            assert_eq!(put(&built, &to), Ok(to.join("jit")));
            assert_eq!(std::fs::read_to_string(to.join("jit")).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(&to).unwrap().count(), 1);
    }

    #[test]
    fn a_place_that_is_no_directory_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let built = folder.path().join("jit");
        std::fs::write(&built, "new").unwrap();
        let why = put(&built, &built).unwrap_err();
        assert!(why.contains("cannot be put into"), "{why}");
    }
}

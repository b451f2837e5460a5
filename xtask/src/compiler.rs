//! Stands in for the compiler while cargo builds what is to be tested: clippy compiles it, and rustdoc follows the links of
//! every library. Both see what cargo has just built, so that nothing is checked or compiled once more for either.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use crate::child::Child;

/// The program that cargo is to start in the place of the compiler: this one, by a name of its own. While the tests are
/// built, cargo takes the usual one away and puts another there.
pub(crate) fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let name = std::env::current_exe().and_then(|here| {
            let (beside, new) =
                (here.with_extension("compiler"), here.with_extension(std::process::id().to_string()));
            std::fs::hard_link(&here, &new).and_then(|()| std::fs::rename(&new, &beside)).map(|()| beside)
        });
        name.map_or_else(
            |why| {
                eprintln!("the links of the documentation are not followed: {why}");
                "clippy-driver".to_owned()
            },
            |name| name.to_string_lossy().into_owned(),
        )
    })
}

/// Whether cargo has started this program in the place of a compiler. It names that one first.
#[must_use]
pub fn is_meant(words: &[String]) -> bool {
    words.first().is_some_and(|word| Path::new(word).file_stem().is_some_and(|name| name == "rustc"))
}

/// The variable that has programs count what runs in them; it says what is linked into each.
pub(crate) const COUNTING: &str = "HOLDFAST_COUNTING";

/// What has a program count what runs in it, with its counters in a file that it maps.
pub(crate) fn counting(object: &str) -> Vec<String> {
    let flags = ["instrument-coverage", "llvm-args=-runtime-counter-relocation"].map(String::from);
    flags.into_iter().chain([format!("link-arg={object}")]).flat_map(|flag| ["-C".into(), flag]).collect()
}

/// Where the tools are that belong to the compiler, if they were installed with it.
pub(crate) fn tools(root: &Path) -> Option<PathBuf> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let said = |words: &[&str]| Child::new(root, &rustc, words).quiet().run().out;
    let version = said(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "))?;
    Some(Path::new(said(&["--print", "sysroot"]).trim()).join("lib/rustlib").join(host).join("bin"))
}

/// Does what the compiler would have done.
#[must_use]
pub fn stand_in(words: &[String]) -> ExitCode {
    if let (Ok(object), Some((compiler, words))) = (std::env::var(COUNTING), words.split_first()) {
        let done = run(Command::new(compiler).args(words).args(counting(&object)));
        return done.err().unwrap_or(ExitCode::SUCCESS);
    }
    let done = run(Command::new("clippy-driver").args(words).args(hurried(words))).and_then(|()| {
        match documented(words) {
            Some(words) => run(Command::new("rustdoc").args(words)),
            None => Ok(()),
        }
    });
    done.err().unwrap_or(ExitCode::SUCCESS)
}

/// What makes a test be compiled quickly: what it tests is optimised where that is worth it, it need not be itself.
fn hurried(words: &[String]) -> Option<&'static str> {
    words.iter().any(|word| word == "--test").then_some("-Copt-level=0")
}

fn run(command: &mut Command) -> Result<(), ExitCode> {
    let status = command.status().map_err(|why| {
        eprintln!("cannot start {}: {why}", command.get_program().display());
        ExitCode::FAILURE
    })?;
    if status.success() { Ok(()) } else { Err(ExitCode::FAILURE) }
}

/// What rustdoc is told of a library: what it is made of, but not how its code is to be made. None if it is no library, or
/// is being asked about.
fn documented(words: &[String]) -> Option<Vec<String>> {
    let mut told = vec!["-Dwarnings".to_owned()];
    let (mut is_library, mut place) = (false, None);
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let (name, joined) =
            word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        let mut value = || joined.map(ToOwned::to_owned).or_else(|| words.next().cloned());
        match name {
            "--test" | "--print" | "-" => return None,
            "--crate-type" => is_library = value()? == "lib",
            "--out-dir" => place = Some(value()?),
            "--emit" | "-C" | "--allow" | "--warn" | "--deny" | "--forbid" => drop(value()),
            "--crate-name" | "--edition" | "--cfg" | "--check-cfg" | "--extern" | "-L" | "--error-format"
            | "--json" | "--cap-lints" => told.extend([name.to_owned(), value()?]),
            _ if name.starts_with('-') => {}
            source => told.push(source.to_owned()),
        }
    }
    let pages = Path::new(&place?).join("../checked-pages");
    told.extend(["--out-dir".to_owned(), pages.to_string_lossy().into_owned()]);
    is_library.then_some(told)
}

#[cfg(test)]
mod tests {
    use super::{documented, is_meant};

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(Into::into).collect()
    }

    #[test]
    fn only_cargo_names_a_compiler_first() {
        assert!(is_meant(&words("/usr/bin/rustc -vV")));
        assert!(!is_meant(&words("test --long")) && !is_meant(&[]));
    }

    #[test]
    fn a_library_is_documented_with_what_it_is_made_of() {
        let line = "rustc --crate-name one --edition=2024 crates/one/src/lib.rs --crate-type lib --emit=metadata,link \
                    -C opt-level=1 --warn=clippy::panic --cfg feature=\"sim\" --out-dir t/deps -L dependency=t/deps \
                    --extern serde=t/libserde.rmeta";
        let told = documented(&words(line)).unwrap().join(" ");
        assert_eq!(
            told,
            "-Dwarnings --crate-name one --edition 2024 crates/one/src/lib.rs --cfg feature=\"sim\" \
             -L dependency=t/deps --extern serde=t/libserde.rmeta --out-dir t/deps/../checked-pages"
        );
    }

    #[test]
    fn programs_tests_and_questions_are_not() {
        for line in [
            "rustc --crate-name one src/main.rs --crate-type bin --out-dir t",
            "rustc --crate-name one src/lib.rs --crate-type lib --test --out-dir t",
            "rustc - --crate-name ___ --print=file-names --crate-type lib",
            "rustc -vV",
        ] {
            assert_eq!(documented(&words(line)), None, "{line}");
        }
    }
}

//! The words after `cargo xtask`.

/// What the words may be.
pub const USAGE: &str = "\
cargo xtask demo               build jit and watch a pool at work, with a crash and a takeover
cargo xtask test [--long]      every check and test; --long takes many times the seeds, cases and minutes
cargo xtask bench [name...]    every benchmark, or those whose name contains one of the words, as one table
cargo xtask install [DIR]      build jit, jvs, kc_cli and ic as they are shipped, and put them where cargo would
cargo xtask package [--check] [--again] [--to DIR] [--base-url URL] [--programs DIR]
                               everything that a release consists of, in target/dist or DIR; --check installs and runs
                               each; the formula for Homebrew needs the address where the files will be;
                               with --programs those in DIR are packed instead of being built;
                               --again builds once more in another directory, and compares every byte
cargo xtask release [VERSION] --dry-run [--programs DIR]
                               everything that a release needs, tried in a copy: versions, changelog, formats, what
                               releases before have written, packages; the tree stays as it is
cargo xtask fixtures           keep what the programs of this version write, for later ones to read
cargo xtask picture            `jit demo` as a drawing that moves, docs/pictures/demo.svg
cargo xtask site [DIR]         the documentation as a site, in target/site/book or DIR; needs mdbook
cargo xtask tidy               the rules of the house alone
cargo xtask modules CRATE      which modules of crates/CRATE need which, in layers, and their cycles
cargo xtask pages [name]       the commands of the documentation alone, or of the pages whose path contains the word
cargo xtask sim ...            the simulator, with its own words; `cargo sim` for short
cargo xtask mutants [kernel|store|writes] [--one-in N [--shard K]]
                               small changes of the kernel, the store or the tracker's writes, of which a test has to
                               notice each; needs cargo-mutants; with --one-in every N-th is tried, from the first on
                               or, with --shard, from the one behind K others
cargo xtask coverage [--again] run all tests with programs that count, and say which errors none of them has made happen;
                               needs LLVM's tools; --again reads what was counted last
cargo xtask soak --hours N | --minutes N
                               agents, kills and faults on all engines, each at least once, with other seeds each
                               time; how it went is kept in spec/track-record.md
cargo xtask fuzz [target] [--seconds N] [--input FILE]
                               a longer hunt, or one finding again";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub enum Args {
    /// The usage.
    Help,
    /// A look at the main thing.
    Demo,
    /// Every check and test.
    Test {
        /// Whether to take long.
        long: bool,
    },
    /// Benchmarks.
    Bench {
        /// Only those with one of these in their name; all if there is none.
        names: Vec<String>,
    },
    /// The programs, put in place.
    Install {
        /// Where; none is where cargo puts programs.
        to: Option<String>,
    },
    /// What a release consists of.
    Package(Packages),
    /// A release.
    Release(Release),
    /// What the programs of this version write.
    Fixtures,
    /// The demonstration as a drawing.
    Picture,
    /// The documentation as a site.
    Site {
        /// Where it goes.
        to: Option<String>,
    },
    /// The rules of the house.
    Tidy,
    /// The modules of a library.
    Modules {
        /// Its folder in `crates/`.
        library: String,
    },
    /// The commands of the documentation.
    Pages {
        /// Only of pages with this in their path.
        name: Option<String>,
    },
    /// The simulator.
    Sim {
        /// Its own words.
        words: Vec<String>,
    },
    /// Small changes that tests have to notice.
    Mutants(Mutants),
    /// Errors that tests reach.
    Coverage {
        /// Whether what was counted last will do.
        again: bool,
    },
    /// Trials for a long time.
    Soak {
        /// For how long.
        minutes: u32,
    },
    /// A hunt with the fuzzer.
    Fuzz(Hunt),
}

/// What a release consists of.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Packages {
    /// Whether to install and run each.
    pub check: bool,
    /// Whether to build a second time and compare.
    pub again: bool,
    /// Where they go.
    pub to: Option<String>,
    /// Where the files of a release will be found, for what has to name it.
    pub base_url: Option<String>,
    /// Where programs are that were built before.
    pub programs: Option<String>,
}

/// A release.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Release {
    /// Its version; none is the one that comes next.
    pub version: Option<String>,
    /// Where programs are that were built before.
    pub programs: Option<String>,
}

/// Small changes that tests have to notice.
#[derive(Debug, PartialEq, Eq)]
pub struct Mutants {
    /// What is changed.
    pub area: String,
    /// Of how many changes one is tried.
    pub one_in: u32,
    /// Which of them, from 0.
    pub shard: u32,
}

/// A hunt with the fuzzer.
#[derive(Debug, PartialEq, Eq)]
pub struct Hunt {
    /// Only this target.
    pub target: Option<String>,
    /// For how long each.
    pub seconds: u32,
    /// Only this input, once.
    pub input: Option<String>,
}

const SECONDS: u32 = 60;

impl Args {
    /// Reads the words.
    ///
    /// # Errors
    /// Which word is not understood.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            [] | ["help" | "--help" | "-h", ..] => Ok(Self::Help),
            ["demo"] => Ok(Self::Demo),
            ["test"] => Ok(Self::Test { long: false }),
            ["test", "--long"] => Ok(Self::Test { long: true }),
            ["bench", names @ ..] if names.iter().all(|name| !name.starts_with('-')) => {
                Ok(Self::Bench { names: names.iter().map(|name| (*name).to_owned()).collect() })
            }
            ["install"] => Ok(Self::Install { to: None }),
            ["install", to] if !to.starts_with('-') => Ok(Self::Install { to: Some((*to).into()) }),
            ["package", rest @ ..] => Packages::parse(rest).map(Self::Package),
            ["release", rest @ ..] => Release::parse(rest).map(Self::Release),
            ["fixtures"] => Ok(Self::Fixtures),
            ["picture"] => Ok(Self::Picture),
            ["site"] => Ok(Self::Site { to: None }),
            ["site", to] if !to.starts_with('-') => Ok(Self::Site { to: Some((*to).into()) }),
            ["tidy"] => Ok(Self::Tidy),
            ["modules", library] if !library.starts_with('-') => {
                Ok(Self::Modules { library: (*library).into() })
            }
            ["pages"] => Ok(Self::Pages { name: None }),
            ["pages", name] if !name.starts_with('-') => Ok(Self::Pages { name: Some((*name).into()) }),
            ["sim", rest @ ..] => Ok(Self::Sim { words: rest.iter().map(|word| (*word).into()).collect() }),
            ["mutants", rest @ ..] => Mutants::parse(rest).map(Self::Mutants),
            ["coverage"] => Ok(Self::Coverage { again: false }),
            ["coverage", "--again"] => Ok(Self::Coverage { again: true }),
            ["soak", unit @ ("--hours" | "--minutes"), count] => {
                minutes(unit, count).map(|minutes| Self::Soak { minutes })
            }
            ["fuzz", rest @ ..] => Hunt::parse(rest).map(Self::Fuzz),
            _ => Err(format!("`cargo xtask {}` is not understood", words.join(" "))),
        }
    }
}

/// So many hours or minutes, in minutes.
fn minutes(unit: &str, count: &str) -> Result<u32, String> {
    let each = if unit == "--hours" { 60 } else { 1 };
    let whole = count.parse().ok().filter(|count| *count > 0);
    whole
        .and_then(|count: u32| count.checked_mul(each))
        .ok_or_else(|| format!("{unit} needs a whole number above 0, not {count}"))
}

impl Packages {
    fn parse(words: &[&str]) -> Result<Self, String> {
        let mut asked = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let place = match *word {
                "--check" => {
                    asked.check = true;
                    continue;
                }
                "--again" => {
                    asked.again = true;
                    continue;
                }
                "--to" => &mut asked.to,
                "--base-url" => &mut asked.base_url,
                "--programs" => &mut asked.programs,
                other => return Err(format!("`{other}` is not understood here")),
            };
            let value = words.next().filter(|value| !value.starts_with('-'));
            *place = Some((*value.ok_or_else(|| format!("{word} needs a value"))?).into());
        }
        Ok(asked)
    }
}

impl Release {
    fn parse(words: &[&str]) -> Result<Self, String> {
        let mut asked = Self::default();
        let mut dry = false;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--dry-run" => dry = true,
                "--programs" => {
                    let value = words.next().filter(|value| !value.starts_with('-'));
                    asked.programs = Some((*value.ok_or("--programs needs a value")?).into());
                }
                version if !version.starts_with('-') && asked.version.is_none() => {
                    asked.version = Some(version.into());
                }
                other => return Err(format!("`{other}` is not understood here")),
            }
        }
        if dry { Ok(asked) } else { Err("a release is only tried: cargo xtask release --dry-run".into()) }
    }
}

impl Mutants {
    fn parse(words: &[&str]) -> Result<Self, String> {
        let (area, rest) = match words {
            [area, rest @ ..] if !area.starts_with('-') => (*area, rest),
            rest => ("kernel", rest),
        };
        let (count, which) = match rest {
            [] => ("1", "0"),
            ["--one-in", count] => (*count, "0"),
            ["--one-in", count, "--shard", which] => (*count, *which),
            _ => return Err(format!("`{}` is not understood here", rest.join(" "))),
        };
        let one_in = count.parse().ok().filter(|count| *count > 0);
        let one_in = one_in.ok_or_else(|| format!("--one-in needs a whole number above 0, not {count}"))?;
        let shard = which.parse().ok().filter(|which| *which < one_in);
        let shard =
            shard.ok_or_else(|| format!("--shard needs a whole number below {one_in}, not {which}"))?;
        Ok(Self { area: area.into(), one_in, shard })
    }
}

impl Hunt {
    fn parse(words: &[&str]) -> Result<Self, String> {
        let mut hunt = Self { target: None, seconds: SECONDS, input: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match (*word, words.as_slice().first()) {
                ("--seconds", Some(value)) => {
                    hunt.seconds = value.parse().map_err(|_| format!("{value} is no number of seconds"))?;
                    words.next();
                }
                ("--input", Some(value)) => {
                    hunt.input = Some((*value).into());
                    words.next();
                }
                (target, _) if !target.starts_with('-') && hunt.target.is_none() => {
                    hunt.target = Some(target.into());
                }
                (other, _) => return Err(format!("`{other}` is not understood here")),
            }
        }
        if hunt.input.is_some() && hunt.target.is_none() {
            return Err("--input needs the target that it was found by".into());
        }
        Ok(hunt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, String> {
        let words: Vec<String> = line.split_whitespace().map(Into::into).collect();
        Args::parse(&words)
    }

    #[test]
    fn each_command_is_understood() {
        assert_eq!(parse(""), Ok(Args::Help));
        assert_eq!(parse("test"), Ok(Args::Test { long: false }));
        assert_eq!(parse("test --long"), Ok(Args::Test { long: true }));
        assert_eq!(parse("bench open"), Ok(Args::Bench { names: vec!["open".into()] }));
        let names = vec!["jit".into(), "hooks".into(), "issues".into()];
        assert_eq!(parse("bench jit hooks issues"), Ok(Args::Bench { names }));
        assert_eq!(parse("bench"), Ok(Args::Bench { names: Vec::new() }));
        assert_eq!(parse("install"), Ok(Args::Install { to: None }));
        assert_eq!(parse("install bin"), Ok(Args::Install { to: Some("bin".into()) }));
        assert_eq!(parse("package"), Ok(Args::Package(Packages::default())));
        let base_url = Some("https://example.org".into());
        let asked = Packages { check: true, to: Some("out".into()), base_url, ..Packages::default() };
        assert_eq!(
            parse("package --check --to out --base-url https://example.org"),
            Ok(Args::Package(asked))
        );
        let asked = Release { version: Some("1.0.0".into()), programs: Some("bin".into()) };
        assert_eq!(parse("release 1.0.0 --dry-run --programs bin"), Ok(Args::Release(asked)));
        assert_eq!(parse("release --dry-run"), Ok(Args::Release(Release::default())));
        assert_eq!(parse("fixtures"), Ok(Args::Fixtures));
        assert_eq!(parse("picture"), Ok(Args::Picture));
        assert_eq!(parse("site"), Ok(Args::Site { to: None }));
        assert_eq!(parse("site out"), Ok(Args::Site { to: Some("out".into()) }));
        assert_eq!(parse("tidy"), Ok(Args::Tidy));
        assert_eq!(parse("modules jit"), Ok(Args::Modules { library: "jit".into() }));
        assert_eq!(parse("demo"), Ok(Args::Demo));
        assert_eq!(parse("pages"), Ok(Args::Pages { name: None }));
        assert_eq!(parse("pages hooks"), Ok(Args::Pages { name: Some("hooks".into()) }));
        let words = ["replay", "--seed", "7"].map(String::from).to_vec();
        assert_eq!(parse("sim replay --seed 7"), Ok(Args::Sim { words }));
        let asked =
            |area: &str, one_in, shard| Ok(Args::Mutants(Mutants { area: area.into(), one_in, shard }));
        assert_eq!(parse("mutants"), asked("kernel", 1, 0));
        assert_eq!(parse("mutants store --one-in 9"), asked("store", 9, 0));
        assert_eq!(parse("mutants store --one-in 9 --shard 8"), asked("store", 9, 8));
        assert_eq!(parse("coverage"), Ok(Args::Coverage { again: false }));
        assert_eq!(parse("coverage --again"), Ok(Args::Coverage { again: true }));
        assert_eq!(parse("soak --hours 8"), Ok(Args::Soak { minutes: 480 }));
        assert_eq!(parse("soak --minutes 3"), Ok(Args::Soak { minutes: 3 }));
        let hunt = Hunt { target: Some("decide".into()), seconds: 9, input: None };
        assert_eq!(parse("fuzz decide --seconds 9"), Ok(Args::Fuzz(hunt)));
    }

    #[test]
    fn a_word_that_is_not_understood_is_named() {
        for line in [
            "tset",
            "test --log",
            "demo x",
            "pages -v",
            "bench -v",
            "install -x",
            "package --chekc",
            "package --to",
            "package --to --check",
            "release",
            "release 1.0.0",
            "release --dry-run --programs",
            "modules",
            "modules -x",
            "mutants -x",
            "mutants store --one-in 0",
            "mutants store --one-in 9 --shard 9",
            "mutants store --shard 0",
            "mutants store writes",
            "coverage store",
            "soak",
            "soak --hours",
            "soak --hours 0",
            "soak --hours -1",
            "soak --minutes 0.5",
            "soak --hours 99999999",
            "fuzz --seconds",
            "fuzz --seconds x",
            "fuzz a b",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
        assert!(parse("fuzz --input file").unwrap_err().contains("target"));
    }
}

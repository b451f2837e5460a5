//! `cargo xtask`: one door to everything that is done with this repository. It only parses the words and
//! chooses the exit code; what each word does is in the library beside it.

use std::process::ExitCode;

use xtask::args::{Args, USAGE};
use xtask::{
    bench, compiler, coverage, fixtures, fuzz, mutants, package, picture, programs, release, repository,
    site, soak, suite, tidy,
};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if compiler::is_meant(&words) {
        return compiler::stand_in(&words);
    }
    let args = match Args::parse(&words) {
        Ok(args) => args,
        Err(why) => {
            eprintln!("{why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let root = repository::root();
    let done = match args {
        Args::Help => {
            println!("{USAGE}");
            true
        }
        Args::Demo => programs::demo(&root),
        Args::Test { long } => suite::run(&root, suite::Length::new(long)),
        Args::Bench { names } => bench::run(&root, &names),
        Args::Install { to } => programs::install(&root, to.as_deref()),
        Args::Package(asked) => package::run(&root, &asked),
        Args::Release(asked) => release::run(&root, &asked),
        Args::Fixtures => fixtures::run(&root),
        Args::Picture => picture::run(&root),
        Args::Site { to } => site::run(&root, to.as_deref()),
        Args::Tidy => tidy::run(&root),
        Args::Modules { library } => tidy::modules::show(&root, &library),
        Args::Pages { name } => suite::pages(&root, name.as_deref()),
        Args::Sim { words } => programs::simulate(&root, &words),
        Args::Mutants(asked) => mutants::run(&root, &asked),
        Args::Coverage { again } => coverage::run(&root, again),
        Args::Soak { minutes } => soak::run(&root, minutes),
        Args::Fuzz(hunt) => fuzz::hunt(&root, &hunt),
    };
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

//! What the tests of the doors share: real programs that are run, watched, shown a terminal and killed. It is never
//! shipped, and it ends a test that cannot go on.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests use the real machine")]

mod answer;
pub mod daemon;
mod dice;
pub mod etcd;
pub mod network;
mod page;
mod refusals;
mod releases;
mod screen;
pub mod secured;
mod seeds;
mod stand_in;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

pub use answer::Answer;
pub use dice::Dice;
pub use page::{Page, Table};
pub use refusals::{lease, medium_errors, refusal, refusals};
pub use releases::{contents, last_release, releases, rewrite};
pub use screen::{Screen, terminal};
pub use seeds::{Seeds, seeds, share};
pub use stand_in::StandIn;

/// Waits until something holds. A machine under load may take its time, but not for ever.
///
/// # Panics
/// If it does.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(120), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A command of jit or git with an environment that nobody else has a say in, and a home of its own.
///
/// # Panics
/// If there is no path to find programs on.
#[must_use]
pub fn dressed(mut command: Command, home: &Path) -> Command {
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home);
    command.env("JIT_CONFIG_HOME", home.join("config")).env("GIT_CONFIG_NOSYSTEM", "1");
    for (name, value) in [("NAME", "t"), ("EMAIL", "t@example.org")] {
        command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    command
}

/// Whether a program is installed; says so if it is not.
#[must_use]
pub fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !found {
        let package = match program {
            "etcd" => "etcd-server",
            "ip" => "iproute2",
            "nft" => "nftables",
            "unshare" => "util-linux",
            other => other,
        };
        println!("skipped: {program} is not installed (apt-get install {package})");
    }
    found
}

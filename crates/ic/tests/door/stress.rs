//! C1 with real processes: eight at once on one lock whose holders keep dying, through `ic` and by `mkdir`.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::site::{IC, Site, library};

/// Takes the lock, counts, and gives it back or dies with it. Two owners at once would see each other, and
/// lose a count.
const ROUND: &str = r#"
. "$LIBRARY"
intercore_lock stress x 300s || { echo "stuck: $?" >> wrong; exit 1; }
[ ! -e inside ] || echo "two owners: $$ and $(cat inside)" >> wrong
echo "$$" > inside
read -r count < counter
echo "$((count + 1))" > counter
[ "$(cat inside)" = "$$" ] || echo "two owners: $$ and $(cat inside)" >> wrong
rm -f inside
[ "$FATE" != dies ] || kill -9 "$$"
intercore_unlock stress x
"#;

/// Takes the lock and keeps it until somebody kills it, wherever that is.
const VICTIM: &str = r#". "$LIBRARY"; intercore_lock stress x 300s; while :; do sleep 1; done"#;

/// How many rounds each of the eight goes through.
fn rounds() -> usize {
    std::env::var("HOLDFAST_IC_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(25)
}

fn shell(site: &Site, name: &str, script: &str, binary: &str) -> Command {
    let mut command = site.program(name);
    command.args(["-c", script]).env("LIBRARY", library()).env("INTERCORE_BIN", binary);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Starts somebody and kills it after a moment, which may be anywhere on its way.
fn kill_somebody(site: &Site, worker: usize, round: usize, binary: &str) {
    let mut victim: Child = shell(site, "dash", VICTIM, binary).spawn().unwrap();
    let moment = (worker * 7 + round * 13) % 40;
    std::thread::sleep(Duration::from_millis(moment as u64));
    victim.kill().unwrap();
    victim.wait().unwrap();
}

fn work(site: &Site, worker: usize) {
    let failing = site.path("failing").display().to_string();
    let binary = match worker {
        0..5 => IC,
        5..7 => "no-such-ic",
        _ => failing.as_str(),
    };
    for round in 0..rounds() {
        if worker == 0 || (worker == 5 && round % 10 == 9) {
            kill_somebody(site, worker, round, binary);
        }
        let dies = (worker + round) % 3 == 0;
        let name = if worker % 2 == 0 { "dash" } else { "bash" };
        let mut command = shell(site, name, ROUND, binary);
        let ended = command.env("FATE", if dies { "dies" } else { "lives" }).status().unwrap();
        assert_eq!(ended.success(), !dies, "worker {worker}, round {round}: {ended:?}");
    }
}

#[test]
fn c1_eight_processes_on_a_lock_whose_holders_keep_dying() {
    let site = Site::new();
    fs::write(site.path("counter"), "0\n").unwrap();
    fs::write(site.path("failing"), "#!/bin/sh\nexit 2\n").unwrap();
    fs::set_permissions(site.path("failing"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let site = &site;
            scope.spawn(move || work(site, worker));
        }
    });
    let wrong = fs::read_to_string(site.path("wrong")).unwrap_or_default();
    assert_eq!(wrong, "");
    let count = fs::read_to_string(site.path("counter")).unwrap();
    assert_eq!(count.trim(), (8 * rounds()).to_string(), "every round counted once");
    println!("{} rounds, {} owners at a time", 8 * rounds(), 1);
}

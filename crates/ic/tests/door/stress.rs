//! C1 with real processes: eight at once on one lock whose holders keep dying, through `ic` and by `mkdir`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::site::{IC, Site, library};

/// Goes through rounds of its own; every tenth is a shell of its own that dies with the lock. In a round it
/// takes the lock, counts, and gives it back. Two owners at once would see each other, or lose a count.
const WORKER: &str = r#"
. "$LIBRARY"
work() {
    intercore_lock stress x 600s || { echo "stuck: $?" >> wrong; exit 1; }
    [ ! -e inside ] || echo "two owners: $$ came in" >> wrong
    echo "$$" > inside
    read -r count < counter
    echo "$((count + 1))" > counter
    read -r who < inside
    [ "$who" = "$$" ] || echo "two owners: $$ and $who" >> wrong
    rm -f inside
}
if [ -n "$DIES" ]; then
    work
    kill -9 "$$"
fi
round=0
while [ "$round" -lt "$ROUNDS" ]; do
    round=$((round + 1))
    if [ "$(((round + WORKER) % 10))" = 0 ]; then
        DIES=yes "$SELF" worker.sh
        continue
    fi
    work
    intercore_unlock stress x
done
"#;

/// Takes the lock and keeps it until somebody kills it, wherever that is.
const VICTIM: &str = r#". "$LIBRARY"; intercore_lock stress x 600s; while :; do sleep 1; done"#;

/// How many rounds each of the eight goes through.
fn rounds() -> usize {
    std::env::var("HOLDFAST_IC_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(40)
}

fn shell(site: &Site, name: &str, binary: &str) -> Command {
    let mut command = site.program(name);
    command.env("LIBRARY", library()).env("INTERCORE_BIN", binary);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Five go through `ic`, two find none, and one finds one that fails.
fn start(site: &Site, worker: usize) -> Child {
    let failing = site.path("failing").display().to_string();
    let binary = match worker {
        0..5 => IC,
        5..7 => "no-such-ic",
        _ => failing.as_str(),
    };
    let name = if worker.is_multiple_of(2) { "dash" } else { "bash" };
    let mut command = shell(site, name, binary);
    command.arg("worker.sh").env("DIES", "").env("SELF", name);
    command.env("WORKER", worker.to_string()).env("ROUNDS", rounds().to_string());
    command.spawn().unwrap()
}

/// Starts somebody again and again and kills it after a moment, which may be anywhere on its way.
fn kill_somebody(site: &Site, is_over: &AtomicBool) -> usize {
    let mut killed = 0;
    while !is_over.load(Ordering::SeqCst) {
        // One that is killed between `mkdir` and its marker costs everybody five seconds.
        let binary = if killed % 8 == 7 { "no-such-ic" } else { IC };
        let mut victim = shell(site, "dash", binary).args(["-c", VICTIM]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis((killed as u64 * 13) % 60));
        victim.kill().unwrap();
        victim.wait().unwrap();
        killed += 1;
        std::thread::sleep(Duration::from_millis(400));
    }
    killed
}

#[test]
fn c1_eight_processes_on_a_lock_whose_holders_keep_dying() {
    let site = Site::new();
    fs::write(site.path("counter"), "0\n").unwrap();
    fs::write(site.path("worker.sh"), WORKER).unwrap();
    fs::write(site.path("failing"), "#!/bin/sh\nexit 2\n").unwrap();
    fs::set_permissions(site.path("failing"), fs::Permissions::from_mode(0o755)).unwrap();
    let is_over = AtomicBool::new(false);
    let (ended, killed) = std::thread::scope(|scope| {
        let killer = scope.spawn(|| kill_somebody(&site, &is_over));
        let workers: Vec<Child> = (0..8).map(|worker| start(&site, worker)).collect();
        let ended: Vec<bool> =
            workers.into_iter().map(|mut worker| worker.wait().unwrap().success()).collect();
        is_over.store(true, Ordering::SeqCst);
        (ended, killer.join().unwrap())
    });
    assert_eq!(fs::read_to_string(site.path("wrong")).unwrap_or_default(), "");
    assert_eq!(ended, [true; 8]);
    let count = fs::read_to_string(site.path("counter")).unwrap();
    assert_eq!(count.trim(), (8 * rounds()).to_string(), "every round counted once");
    assert!(killed > 0);
    println!(
        "{} rounds, {} of them ended by dying; {killed} more were killed",
        8 * rounds(),
        8 * rounds() / 10
    );
}

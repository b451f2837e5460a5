//! Running the command of an escalation: in a group of its own, with a document on its standard input, for a limited time.
//! Its output goes nowhere; how it ended is said.
#![expect(clippy::disallowed_methods, reason = "this is where an escalation starts its command")]

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use holdfast_kernel::Millis;
use holdfast_sys::{Sys, os};

/// How long it may take.
const LIMIT: Millis = Millis::from_secs(60);
/// How often it is looked whether it has ended.
const PAUSE: Millis = Millis::new(50);

/// Runs a command to its end.
///
/// # Errors
/// How it failed, in words that go on after its name.
pub(super) fn run(sys: &Sys, directory: &Path, line: &str, document: &[u8]) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("could not be run: {error}");
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(directory).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    if let Some(mut input) = child.stdin.take() {
        let document = document.to_vec();
        // Whoever does not read it need not; whoever is slow shall not be waited for here.
        std::thread::spawn(move || input.write_all(&document));
    }
    let began = sys.clock.now().map_err(|error| failed(&error))?;
    loop {
        match child.try_wait().map_err(|error| failed(&error))? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("failed: {status}")),
            None => {}
        }
        let now = sys.clock.now().map_err(|error| failed(&error))?;
        if now.since(&began).forward() >= LIMIT {
            os::kill_group(child.id());
            let _ = child.wait();
            return Err(format!("took longer than {} s and was stopped", LIMIT.get() / 1_000));
        }
        sys.clock.sleep(PAUSE);
    }
}

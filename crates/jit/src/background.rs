//! The heartbeat in the background: a process of its own that keeps claims alive while their holder works.

use std::process::Stdio;

use holdfast_tracker::Session;
use holdfast_tracker::caller::Agent;
use holdfast_tracker::error::Result;

use crate::context::Context;

/// Starts the loop in the background, if the agent's file asks for it. It ends with the keeper that was named, else with
/// the process that this command was started by. One that runs already in that worktree makes a second one end at once.
pub(crate) fn start(context: &Context, session: &Session) -> Result<()> {
    let agent = session.agent()?;
    if agent.file.behavior.auto_heartbeat
        && let Err(error) = spawn(session, agent)
    {
        context.printer.warn(&format!("the heartbeat could not be started: {error}"));
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the agent's file asked for this process")]
fn spawn(session: &Session, agent: &Agent) -> std::io::Result<()> {
    use std::os::unix::process::CommandExt as _;
    let parent = match session.keeper() {
        Some(keeper) => keeper,
        None => session.sys().processes.parent().map_err(|error| error.source)?,
    };
    std::process::Command::new(std::env::current_exe()?)
        .arg("-C")
        .arg(&session.caller.start)
        .args(["--agent-id", &agent.id.to_string(), "heartbeat", "run", "--parent", &parent.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // A signal to the shell's foreground job is not meant for it; it ends with its parent.
        .process_group(0)
        .spawn()
        .map(drop)
}

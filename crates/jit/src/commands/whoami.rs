//! `jit whoami`: as whom commands act here, and why.

use holdfast_tracker::Session;
use holdfast_tracker::caller::{Agent, Told};
use holdfast_tracker::error::Result;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::output::Report;

/// Who asks, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct WhoamiOutput {
    /// Who asks.
    pub whoami: Whoami,
}

/// Who asks.
#[derive(Serialize, JsonSchema)]
pub struct Whoami {
    /// The agent.
    pub agent_id: String,
    /// Who says so.
    pub source: Told,
    /// The worktree's own agent, if it is another one.
    pub instead_of: Option<String>,
    /// The worktree; none if it has no identity yet.
    pub worktree_id: Option<String>,
    /// Where that is; none in a bare repository.
    pub root: Option<String>,
}

/// Says who asks.
///
/// # Errors
/// When nobody says, or the configuration stands in the way.
pub fn run(context: &Context) -> Result<Report> {
    let session = Session::find(&context.caller)?;
    let agent = session.agent()?;
    let identity = session.known_identity()?;
    let mut text = format!("{}, because {} says so\n", agent.id, by(agent.told));
    if let Some(own) = overridden(agent) {
        text.push_str(&format!("{own}\n"));
    }
    if let Some(identity) = &identity {
        text.push_str(&format!("in {}, {}\n", identity.worktree_id, identity.root));
    }
    let whoami = Whoami {
        agent_id: agent.id.to_string(),
        source: agent.told,
        instead_of: agent.instead_of.as_ref().map(ToString::to_string),
        worktree_id: identity.map(|identity| identity.worktree_id),
        root: session.root().map(|root| root.display().to_string()),
    };
    let brief = whoami.agent_id.clone();
    Ok(Report::new(text, &WhoamiOutput { whoami }).brief(brief))
}

/// Who says which agent asks, in words.
const fn by(told: Told) -> &'static str {
    match told {
        Told::Flag => "--agent-id",
        Told::Environment => "JIT_AGENT_ID",
        Told::Worktree => "this worktree",
        Told::File => "agent.toml",
    }
}

/// That another agent acts here than the worktree's own, in words.
#[must_use]
pub fn overridden(agent: &Agent) -> Option<String> {
    let own = agent.instead_of.as_ref()?;
    Some(format!("this worktree is that of {own}; {} says {}", by(agent.told), agent.id))
}

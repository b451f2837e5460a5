//! `jit worktree`: which worktree this is, which others there are, and making and removing them.

use holdfast_door::table;
use holdfast_kernel::Lease;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{AddWorktree, Worktree as Command};
use crate::context::Context;
use crate::output::Report;
use crate::output::leases::{self, Called};
use holdfast_tracker::Session;
use holdfast_tracker::agent::AgentId;
use holdfast_tracker::answers::worktrees as worktrees_answer;
use holdfast_tracker::claims::lease::Shown;
use holdfast_tracker::error::Result;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::worktree::{Entry, Record};
use holdfast_tracker::worktrees::{self, Made, Removed, Wanted};

/// This worktree, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct WorktreeOutput {
    /// The worktree.
    pub worktree: Here,
}

/// This worktree.
#[derive(Serialize, JsonSchema)]
pub struct Here {
    /// The version of its identity's form.
    pub schema_version: u32,
    /// Its id.
    pub worktree_id: String,
    /// Where it is.
    pub root: String,
    /// When its identity was made.
    pub created_at: String,
    /// When it was found somewhere else.
    pub relocated_at: Option<String>,
    /// The branch that it is on, `HEAD` where there is none.
    pub branch: Option<String>,
    /// Whether it belongs to the repository itself.
    pub main: bool,
    /// Who works here, unless somebody else is named.
    pub agent: Option<String>,
    /// The directory of the claims, which all worktrees share.
    pub control: String,
}

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    match command {
        Command::Info => info(&context.session()?),
        Command::Init { agent } => init(context, agent.as_deref()),
        Command::List => list(context),
        Command::Add(typed) => add(context, typed),
        Command::Remove { name, force } => remove(context, name, *force),
        Command::Prune => prune(context),
    }
}

fn init(context: &Context, agent: Option<&str>) -> Result<Report> {
    let session = Session::find(&context.caller)?;
    if let Some(agent) = agent {
        session.assign(&AgentId::new(agent)?)?;
    }
    info(&session)
}

/// A worktree that was made, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct AddOutput {
    /// The worktree.
    pub worktree: Added,
}

/// A worktree that was made.
#[derive(Serialize, JsonSchema)]
pub struct Added {
    /// Its id.
    pub worktree_id: String,
    /// Where it is.
    pub root: String,
    /// Its branch.
    pub branch: String,
    /// Who works there, unless somebody else is named.
    pub agent: Option<String>,
}

fn add(context: &Context, typed: &AddWorktree) -> Result<Report> {
    let session = context.session()?;
    let wanted = Wanted {
        name: typed.name.clone(),
        agent: typed.agent.as_deref().map(AgentId::new).transpose()?,
        branch: typed.branch.clone(),
        from: typed.from.clone(),
    };
    let Made { root, branch, identity } = worktrees::add(&session, &wanted)?;
    let root = root.display().to_string();
    let whose = identity.agent.as_deref().map(|agent| format!(" for {agent}")).unwrap_or_default();
    let text = format!("made {root}{whose}, on branch {branch}\n");
    let brief = root.clone();
    let worktree = Added { worktree_id: identity.worktree_id, root, branch, agent: identity.agent };
    Ok(Report::new(text, &AddOutput { worktree }).brief(brief))
}

/// A worktree that was removed, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct RemoveOutput {
    /// Where it was.
    pub removed: String,
    /// The claims that ended with it.
    pub leases: Vec<Shown>,
}

fn remove(context: &Context, name: &str, force: bool) -> Result<Report> {
    let session = context.session()?;
    let Removed { root, ended } = worktrees::remove(&session, name, force)?;
    let removed = root.display().to_string();
    let text = format!("removed {removed}\n") + &lines(&session, &ended);
    let leases = shown(&session, &ended)?;
    Ok(Report::new(text, &RemoveOutput { removed: removed.clone(), leases }).brief(removed))
}

/// Claims that were ended, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct PruneOutput {
    /// The claims.
    pub leases: Vec<Shown>,
    /// How many.
    pub count: usize,
}

fn prune(context: &Context) -> Result<Report> {
    let session = context.session()?;
    let ended = worktrees::prune(&session)?;
    let text = match lines(&session, &ended) {
        text if text.is_empty() => "no claim is held in a worktree that is gone\n".to_owned(),
        text => text,
    };
    let leases = shown(&session, &ended)?;
    let brief: Vec<String> = ended.iter().map(|lease| lease.resource.to_string()).collect();
    Ok(Report::new(text, &PruneOutput { count: leases.len(), leases }).brief(brief.join("\n")))
}

fn lines(session: &Session, ended: &[Lease]) -> String {
    let issues = Issues::new(session);
    let line = |lease: &Lease| {
        format!("ended the claim of {} on {}\n", lease.holder.agent, Called::of(&issues, lease).phrase())
    };
    ended.iter().map(line).collect()
}

fn shown(session: &Session, ended: &[Lease]) -> Result<Vec<Shown>> {
    let now = session.sys().clock.now()?;
    Ok(leases::all(&Issues::new(session), ended.iter(), &now, &[]))
}

/// Shows this worktree. Whoever asks for its identity needs one, so it is made or brought up to date.
fn info(session: &Session) -> Result<Report> {
    let identity = session.worktree()?.clone();
    let branch = session.branch()?;
    let linked = session.is_linked();
    let agent = identity.agent.as_deref().map(|agent| format!("agent: {agent}\n")).unwrap_or_default();
    let text = format!(
        "{}  {}\nbranch: {}  {}\n{agent}control plane: {}\n",
        identity.worktree_id,
        identity.root,
        branch.as_deref().unwrap_or("none"),
        if linked { "linked worktree" } else { "main worktree" },
        session.control().display()
    );
    let brief = identity.worktree_id.clone();
    let Record { schema_version, worktree_id, root, created_at, relocated_at, agent, .. } = identity;
    let control = session.control().to_string_lossy().into_owned();
    let worktree = Here {
        schema_version,
        worktree_id,
        root,
        created_at,
        relocated_at,
        branch,
        main: !linked,
        agent,
        control,
    };
    Ok(Report::new(text, &WorktreeOutput { worktree }).brief(brief))
}

fn list(context: &Context) -> Result<Report> {
    let session = context.session()?;
    let document = worktrees_answer::list(&session)?;
    let entries = &document.worktrees;
    let rows: Vec<_> = entries.iter().map(row).collect();
    let text = table(["WORKTREE", "AGENT", "BRANCH", "PATH", ""], &rows);
    let brief: Vec<_> = entries.iter().filter_map(|entry| entry.worktree_id.clone()).collect();
    Ok(Report::new(text, &document).brief(brief.join("\n")))
}

fn row(entry: &Entry) -> [String; 5] {
    let notes = [
        (entry.current, "here"),
        (entry.main, "main"),
        (entry.gone, "gone"),
        (entry.unfinished, "unfinished"),
    ];
    let notes: Vec<_> = notes.iter().filter(|(is, _)| *is).map(|(_, note)| *note).collect();
    [
        entry.worktree_id.clone().unwrap_or_else(|| "-".into()),
        entry.agent.clone().unwrap_or_else(|| "-".into()),
        entry.branch.clone().unwrap_or_else(|| "-".into()),
        entry.path.clone(),
        notes.join(", "),
    ]
}

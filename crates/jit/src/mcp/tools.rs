//! The tools: what each takes, which command it is, and what of the command's answer a model is given. What a tool does is
//! what the command does; nothing is decided here.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use clap::Parser as _;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::issues::Issues;
use holdfast_tracker::workspace::Ground;
use holdfast_tracker::{Caller, Listener, Notice, Session, land};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::advice;
use super::keeper::Keeper;
use super::landing::{Key, Landing, Landings};
use super::lock::locked;
use super::message::{Fault, Request, part};
use super::outcome::{failed, success};
use crate::cli::{Cli, Command, Global};
use crate::context::Context;
use crate::output::{Printer, Report};

/// The tools as clients read them.
const DESCRIBED: &str = include_str!("tools.json");

/// How many issues a list has if nobody says.
const USUAL_LIMIT: usize = 20;

/// What every client reads of the tools.
pub(super) fn described() -> Value {
    serde_json::from_str(DESCRIBED).unwrap_or_default()
}

/// What became of a call.
pub(super) enum Called {
    /// It is done.
    Answer(Value),
    /// It waits for a landing.
    Waits(Landing),
}

/// Why a call failed.
enum Refused {
    /// The tracker says no.
    Error(Error),
    /// The arguments are not understood.
    Typed(String),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

type Told<T> = std::result::Result<T, Refused>;

/// What a call may say. Each tool names those that it takes in its schema, and all others are refused.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Arguments {
    issue: Option<String>,
    fence: Option<u64>,
    worktree: Option<String>,
    labels: Vec<String>,
    ttl: Option<u64>,
    another: bool,
    here: bool,
    reserve: Vec<String>,
    message: Option<String>,
    staged_only: bool,
    empty: bool,
    no_land: bool,
    which: Option<String>,
    state: Option<String>,
    limit: Option<usize>,
    title: Option<String>,
    description: Option<String>,
    priority: Option<String>,
    depends_on: Vec<String>,
    reason: Option<String>,
    text: Option<String>,
}

/// Does what was typed, as the command line does it.
pub type Run = fn(&Context, Command) -> Result<Report>;

/// The tools of a server.
pub(super) struct Tools {
    /// What a call stands on.
    pub context: Context,
    /// How a command is run.
    pub run: Run,
    /// What was claimed through this server.
    pub keeper: Keeper,
    /// What is landing.
    pub landings: Landings,
    /// What the client calls itself.
    pub client: Mutex<Option<String>>,
}

/// Notices of a call, to be told with its answer.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Listener for Heard {
    fn hear(&self, notice: &Notice) {
        if !notice.is_progress() {
            locked(&self.0).push(notice.to_string());
        }
    }
}

impl Tools {
    /// Calls a tool.
    pub(super) fn call(&self, request: &Request) -> Called {
        let Some(name) = request.parameters.get("name").and_then(Value::as_str) else {
            return Called::Answer(request.fails(Fault::Parameters, "the name of a tool is missing"));
        };
        let tools = described();
        let Some(tool) = tools.as_array().into_iter().flatten().find(|tool| part(tool, "/name") == name)
        else {
            let why = format!("there is no tool '{name}'");
            return Called::Answer(request.fails(Fault::Parameters, &why));
        };
        let heard = Arc::new(Heard::default());
        let done = arguments(tool, request).and_then(|arguments| self.one(name, &arguments, &heard));
        match done {
            Ok(Done::Value(mut value)) => {
                let warnings = std::mem::take(&mut *locked(&heard.0));
                if let (false, Some(members)) = (warnings.is_empty(), value.as_object_mut()) {
                    members.insert("warnings".into(), warnings.into());
                }
                Called::Answer(request.answer(success(value)))
            }
            Ok(Done::Waits(landing)) => Called::Waits(landing),
            Err(Refused::Error(error)) => Called::Answer(request.answer(failed(&advice::refusal(&error)))),
            Err(Refused::Typed(why)) => Called::Answer(request.answer(failed(&format!("refused: {why}\n")))),
        }
    }

    fn one(&self, name: &str, given: &Arguments, heard: &Arc<Heard>) -> Told<Done> {
        let context = self.context(given.worktree.as_deref(), heard)?;
        match name {
            "start" => self.start(&context, given).map(Done::Value),
            "finish" => self.finish(&context, given).map(Done::Waits),
            "drop" => self.give_back(&context, given).map(Done::Value),
            "note" => self.note(&context, given).map(Done::Value),
            "show" => self.show(&context, given).map(Done::Value),
            "list" => self.list(&context, given).map(Done::Value),
            "create" => self.create(&context, given).map(Done::Value),
            "status" => self.status(&context).map(Done::Value),
            other => Err(Refused::Typed(format!("there is no tool '{other}'"))),
        }
    }

    /// What a call in this worktree stands on.
    fn context(&self, worktree: Option<&str>, heard: &Arc<Heard>) -> Result<Context> {
        let own = &self.context;
        let listener: Arc<dyn Listener> = Arc::clone(heard) as Arc<dyn Listener>;
        let mut caller = Caller { listener, ..own.caller.clone() };
        if let Some(given) = worktree {
            caller.start = place(&own.caller, given)?;
        }
        let session = Session::open(&caller)?;
        if let Err(Error::NoAgent) = session.agent() {
            caller.agent = Some(self.unnamed(&caller)?.into());
        }
        Ok(Context {
            caller,
            printer: Printer::new(&Global { json: true, quiet: true, ..Global::default() }),
            names: Arc::clone(&own.names),
            temporary: own.temporary.clone(),
            keeper: Some(std::process::id().to_string().into()),
        })
    }

    /// What an agent is called that nobody has named: after its client and that client's process, so that it is the same
    /// one when it starts this server again, and another one for another client.
    fn unnamed(&self, caller: &Caller) -> Result<String> {
        let client = locked(&self.client).clone().unwrap_or_default();
        let plain: String = client
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .collect();
        let plain = plain
            .trim_matches('-')
            .get(..plain.trim_matches('-').len().min(40))
            .unwrap_or_default()
            .to_owned();
        let plain = if plain.is_empty() { "mcp".to_owned() } else { plain };
        Ok(format!("agent:{plain}-{}", caller.sys.processes.parent()?))
    }

    fn start(&self, context: &Context, given: &Arguments) -> Told<Value> {
        let mut words = vec!["start".to_owned()];
        words.extend(given.labels.iter().map(|label| format!("--label={label}")));
        words.extend(given.ttl.map(|ttl| format!("--ttl={ttl}")));
        words.extend(given.another.then(|| "--another".to_owned()));
        words.extend(given.here.then(|| "--here".to_owned()));
        words.extend(given.reserve.iter().map(|pattern| format!("--reserve={pattern}")));
        words.extend(named(given.issue.as_deref()));
        let answer = self.typed(context, words)?;
        let lease = part(&answer, "/lease");
        if let Some(id) = part(lease, "/lease_id").as_str() {
            self.keeper.keep(&context.caller, id);
        }
        Ok(json!({
            "issue": part(&answer, "/issue/id"),
            "handle": part(&answer, "/issue/handle"),
            "lease": part(lease, "/lease_id"),
            "fence": part(lease, "/fence"),
            "agent": part(lease, "/agent_id"),
            "expires_at": part(lease, "/expires_at"),
            "worktree": root(context)?,
            "branch": part(&answer, "/branch"),
            "already_held": part(&answer, "/already_held"),
            "from_others": { "briefing": part(&answer, "/briefing") },
        }))
    }

    fn finish(&self, context: &Context, given: &Arguments) -> Told<Landing> {
        let root = root(context)?;
        let session = Session::open(&context.caller)?;
        let issue = match &given.issue {
            Some(issue) => Some(Issues::new(&session).resolve(issue)?),
            None => None,
        };
        let landings = &self.landings;
        if let Some(known) = landings.find(&root, issue.map(|issue| issue.to_string()).as_deref()) {
            return Ok(landings.join(known));
        }
        let issue = land::meant(&session, given.issue.as_deref())?;
        check_fence(&session, issue, given.fence)?;
        let mut words = vec!["finish".to_owned(), issue.to_string()];
        words.extend(given.message.as_ref().map(|message| format!("--message={message}")));
        words.extend((!given.staged_only && !given.empty).then(|| "--all".to_owned()));
        words.extend(given.empty.then(|| "--empty".to_owned()));
        words.extend(given.no_land.then(|| "--no-land".to_owned()));
        // What cannot be typed is refused here, where it can be said.
        parsed(&words)?;
        let key: Key = (root, issue.to_string());
        let failed = |error| holdfast_sys::Error::new("start", Path::new("jit finish"), error);
        landings.start(context, &key, &words).map_err(failed).map_err(Error::from)?;
        Ok(landings.join(key))
    }

    fn status(&self, context: &Context) -> Told<Value> {
        let answer = self.typed(context, vec!["status".to_owned()])?;
        let status = part(&answer, "/status");
        let claim = |lease: &Value| {
            let names = ["issue_id", "agent_id", "worktree_id", "expires_at", "fence"];
            names
                .iter()
                .map(|name| ((*name).to_owned(), lease.get(*name).cloned().unwrap_or_default()))
                .collect::<Map<_, _>>()
        };
        let claims: Vec<Value> = part(status, "/leases")
            .as_array()
            .into_iter()
            .flatten()
            .map(|lease| Value::Object(claim(lease)))
            .collect();
        Ok(json!({
            "agent": part(status, "/agent_id"),
            "worktree": root(context)?,
            "issues": part(status, "/issues"),
            "available": part(status, "/available").as_array().map_or(0, Vec::len),
            "blocked": part(status, "/blocked"),
            "claims": claims,
            "landing": self.landings.under_way(),
        }))
    }

    fn give_back(&self, context: &Context, given: &Arguments) -> Told<Value> {
        if given.fence.is_some() {
            let session = Session::open(&context.caller)?;
            check_fence(&session, land::meant(&session, given.issue.as_deref())?, given.fence)?;
        }
        let mut words = vec!["drop".to_owned()];
        words.extend(given.reason.as_ref().map(|reason| format!("--reason={reason}")));
        words.extend(named(given.issue.as_deref()));
        let answer = self.typed(context, words)?;
        Ok(json!({ "issue": part(&answer, "/dropped/id"), "state": part(&answer, "/dropped/state") }))
    }

    fn note(&self, context: &Context, given: &Arguments) -> Told<Value> {
        let text = given.text.as_deref().unwrap_or_default();
        // On the command line this is what comes from standard input, which is the client's.
        if text == "-" {
            return Err(Refused::Typed("a note must be more than '-'".into()));
        }
        let issue = match &given.issue {
            Some(issue) => issue.clone(),
            None => land::meant(&Session::open(&context.caller)?, None)?.to_string(),
        };
        let answer = self.typed(context, ["note", "--", &issue, text].map(ToOwned::to_owned).to_vec())?;
        Ok(json!({ "issue": part(&answer, "/note/issue_id"), "note": part(&answer, "/note/id") }))
    }

    fn show(&self, context: &Context, given: &Arguments) -> Told<Value> {
        let mut words = vec!["show".to_owned()];
        words.extend(named(given.issue.as_deref()));
        let answer = self.typed(context, words)?;
        Ok(json!({ "issue": part(&answer, "/issue/id"), "from_others": answer }))
    }

    fn list(&self, context: &Context, given: &Arguments) -> Told<Value> {
        let words = match given.which.as_deref().unwrap_or("ready") {
            "ready" => vec!["ready".to_owned()],
            "blocked" => vec!["query".to_owned(), "blocked".to_owned()],
            "all" => vec!["list".to_owned()],
            other => return Err(Refused::Typed(format!("which is ready, blocked or all, not '{other}'"))),
        };
        let filters = given.labels.iter().map(|label| format!("--label={label}"));
        let filters = filters.chain(given.state.iter().map(|state| format!("--state={state}")));
        let answer = self.typed(context, words.into_iter().chain(filters).collect())?;
        let all = part(&answer, "/issues");
        let count = all.as_array().map_or(0, Vec::len);
        let row = |issue: &Value| {
            let names = ["handle", "id", "title", "state", "priority", "labels", "claimed_by", "blocked_by"];
            let known = names.iter().filter_map(|name| Some(((*name).to_owned(), issue.get(*name)?.clone())));
            Value::Object(known.collect())
        };
        let limit = given.limit.unwrap_or(USUAL_LIMIT);
        let rows: Vec<Value> = all.as_array().into_iter().flatten().take(limit).map(row).collect();
        Ok(json!({ "count": count, "more": count - rows.len(), "from_others": { "issues": rows } }))
    }

    fn create(&self, context: &Context, given: &Arguments) -> Told<Value> {
        let mut words = vec!["issue".to_owned(), "create".to_owned()];
        words.extend(given.title.as_ref().map(|title| format!("--title={title}")));
        // On the command line this is what comes from standard input, which is the client's.
        if given.description.as_deref() == Some("-") {
            return Err(Refused::Typed("a description must be more than '-'".into()));
        }
        words.extend(given.description.as_ref().map(|text| format!("--description={text}")));
        words.extend(given.priority.as_ref().map(|priority| format!("--priority={priority}")));
        words.extend(given.labels.iter().map(|label| format!("--label={label}")));
        words.extend(given.depends_on.iter().map(|issue| format!("--depends-on={issue}")));
        let answer = self.typed(context, words)?;
        Ok(json!({ "issue": part(&answer, "/issue/id"), "handle": part(&answer, "/issue/handle") }))
    }

    /// What a command answers.
    fn typed(&self, context: &Context, words: Vec<String>) -> Told<Value> {
        Ok((self.run)(context, parsed(&words)?.command)?.document()?)
    }
}

enum Done {
    Value(Value),
    Waits(Landing),
}

/// An issue as the last word of a command, whatever it begins with.
fn named(issue: Option<&str>) -> Vec<String> {
    issue.map(|issue| vec!["--".to_owned(), issue.to_owned()]).unwrap_or_default()
}

fn parsed(words: &[String]) -> Told<Cli> {
    let words = std::iter::once("jit").chain(words.iter().map(String::as_str));
    Cli::try_parse_from(words).map_err(|error| {
        let said = error.to_string();
        Refused::Typed(said.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned())
    })
}

/// The arguments of a call, if its tool takes them.
fn arguments(tool: &Value, request: &Request) -> Told<Arguments> {
    let given = request.parameters.get("arguments").cloned().unwrap_or_default();
    let given = if given.is_null() { json!({}) } else { given };
    let schema = part(tool, "/inputSchema");
    let names = given.as_object().map(Map::keys).into_iter().flatten();
    if let Some(unknown) =
        names.into_iter().find(|name| part(schema, "/properties").get(name.as_str()).is_none())
    {
        return Err(Refused::Typed(format!(
            "{} takes no '{unknown}'",
            part(tool, "/name").as_str().unwrap_or_default()
        )));
    }
    let required = part(schema, "/required").as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| given.get(name).is_none_or(Value::is_null)) {
        return Err(Refused::Typed(format!("'{missing}' is missing")));
    }
    serde_json::from_value(given)
        .map_err(|error| Refused::Typed(format!("the arguments are not as they should be: {error}")))
}

/// Refuses a claim that is not the one which was meant.
fn check_fence(session: &Session, issue: holdfast_tracker::ids::IssueId, given: Option<u64>) -> Told<()> {
    let Some(given) = given else { return Ok(()) };
    let held = land::held_here(session)?.into_iter().find(|(id, _)| *id == issue);
    match held {
        Some((_, lease)) if lease.fence.get() == given => Ok(()),
        Some((_, lease)) => Err(Refused::Typed(format!(
            "the claim has fence {} now, not {given}: it was granted anew since. Call start to see how it stands",
            lease.fence
        ))),
        // Who holds it, if anybody, is told by the command.
        None => Ok(()),
    }
}

/// The root of the worktree of a call.
fn root(context: &Context) -> Result<PathBuf> {
    let session = Session::open(&context.caller)?;
    Ok(session.root().map_or_else(|| context.caller.start.clone(), Path::to_path_buf))
}

/// The worktree that a call names: a path, or the name of a worktree. It has to be one of this repository.
fn place(own: &Caller, given: &str) -> Result<PathBuf> {
    let bad =
        |why: &str| Error::BadValue { what: "the worktree", given: given.to_owned(), why: why.to_owned() };
    let home = Session::open(own)?;
    let is_meant = |entry: &&holdfast_tracker::worktree::Entry| {
        let path = Path::new(&entry.root);
        entry.worktree_id.as_deref() == Some(given) || path.file_name().is_some_and(|name| name == given)
    };
    let path = match home.worktrees()?.iter().find(is_meant) {
        Some(entry) => PathBuf::from(&entry.root),
        None => own.start.join(given),
    };
    let there = Ground::find(&Caller { start: path.clone(), ..own.clone() })
        .map_err(|_| bad("there is no such directory"))?;
    let common = |repository: Option<&holdfast_git::Repository>| {
        repository.map(|repository| repository.common_dir().to_path_buf())
    };
    if common(there.repository.as_ref()) != common(home.repository()) {
        return Err(bad("it is no worktree of this repository"));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::described;

    #[test]
    fn the_tools_are_few_and_short() {
        let tools = described();
        let all = tools.as_array().unwrap();
        assert!(all.len() == 8 && tools.to_string().len() <= 6_000, "{} bytes", tools.to_string().len());
        for tool in all {
            assert!(tool["outputSchema"]["required"].is_array(), "{tool}");
            assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
            for name in tool["inputSchema"]["properties"].as_object().unwrap().keys() {
                let known = serde_json::from_value::<super::Arguments>(serde_json::json!({ name: null }));
                let why = known.err().map(|error| error.to_string()).unwrap_or_default();
                assert!(!why.contains("unknown field"), "{name}: {why}");
            }
        }
    }
}

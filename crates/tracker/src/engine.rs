//! The engine that keeps the claims: where they are, how well that is known, and the choice of a place that all clones
//! share. Such a place is made here and nowhere else; nothing is ever made because it is missing.

mod transfer;

use std::sync::Arc;

use holdfast_kernel::{Lease, LeaseId};
use holdfast_remote::State;
use holdfast_remote::etcd::{is_endpoint, is_namespace};
use holdfast_remote::gitref::{self, is_never_packed};
use holdfast_store::{CounterId, Error as StoreError, Trouble};
use schemars::JsonSchema;
use serde::Serialize;

use crate::claims::chosen::{self, Keeper, Place};
use crate::claims::lease::is_record;
use crate::claims::medium_at;
use crate::claims::shared::SharedClaims;
use crate::config::{self, Engine, Scope};
use crate::error::{Error, Result};
use crate::session::Session;
use crate::validate::Check;
use crate::workspace::Ground;
use crate::worktree;
pub use transfer::{Migrated, Recovered, migrate, recover};

/// Where the claims are kept, and how well that is known.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EngineStatus {
    /// `local`, `git` or `etcd`.
    pub engine: &'static str,
    /// Where they are kept, for people; without credentials.
    pub place: String,
    /// The counter that numbers the claims; none before the first one of a local engine.
    pub counter: Option<String>,
    /// What is known of the place that all clones share; none where the claims are this clone's own.
    pub shared: Option<SharedStatus>,
}

/// What is known of the place that all clones share.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SharedStatus {
    /// The remote whose server keeps them; none for etcd.
    pub remote: Option<String>,
    /// The ref there.
    #[serde(rename = "ref")]
    pub register: Option<String>,
    /// The members of etcd that keep them; none for git.
    pub endpoints: Option<Vec<String>>,
    /// What they are called there.
    pub namespace: Option<String>,
    /// Who this clone is.
    pub clone: String,
    /// How many seconds ago the server was asked for what is known.
    pub age_secs: u64,
    /// How many steps there were.
    pub height: u64,
    /// The number that the next event will have.
    pub next: u64,
    /// `open`, `sealed` or `moved`.
    pub state: &'static str,
    /// The commit that was landed last.
    pub tip: Option<String>,
    /// How many clones have taken part.
    pub clones: usize,
    /// How many claims there are.
    pub leases: usize,
    /// Claims of other clones that this one watches.
    pub watched: Vec<Watched>,
    /// What was sent and not heard of.
    pub unresolved: Option<String>,
}

/// A claim of another clone, which may be taken over once it was watched for long enough.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Watched {
    /// What is claimed.
    pub resource: String,
    /// Who holds it.
    pub agent_id: String,
    /// How long it was watched without a sign of life.
    pub watched_secs: u64,
    /// How long it has to be.
    pub needed_secs: u64,
}

/// Where the claims are kept, asked for anew if `fresh`.
///
/// # Errors
/// When that cannot be told.
pub fn status(session: &Session, fresh: bool) -> Result<EngineStatus> {
    let claims = session.claims();
    let Some(shared) = &claims.shared else {
        let counter = claims.view()?.counter.map(|counter| counter.to_string());
        let place = claims.log_path().display().to_string();
        return Ok(EngineStatus { engine: Engine::Local.as_str(), place, counter, shared: None });
    };
    let place = shared.place()?.clone();
    let known = shared.known(fresh)?;
    let watched = known.watched.iter().map(|(lease, passed, needed)| Watched {
        resource: lease.resource.to_string(),
        agent_id: lease.holder.agent.to_string(),
        watched_secs: passed.get() / 1_000,
        needed_secs: needed.get() / 1_000,
    });
    let engine = place.keeper.engine().as_str();
    let (remote, register, endpoints, namespace) = match place.keeper {
        Keeper::Git { remote, register } => (Some(remote), Some(register), None, None),
        Keeper::Etcd { endpoints, namespace } => (None, None, Some(endpoints), Some(namespace)),
    };
    let status = SharedStatus {
        remote,
        register,
        endpoints,
        namespace,
        clone: known.clone.to_string(),
        age_secs: known.age.get() / 1_000,
        height: known.head.height,
        next: known.head.next.get(),
        state: match known.head.state {
            State::Open => "open",
            State::Sealed => "sealed",
            State::Moved(_) => "moved",
        },
        tip: known.head.tip.clone(),
        clones: known.head.sessions.len(),
        leases: known.head.entries.len(),
        watched: watched.collect(),
        unresolved: known.unresolved,
    };
    let name = shared.shared()?.register().name();
    let counter = Some(place.counter.to_string());
    Ok(EngineStatus { engine, place: name, counter, shared: Some(status) })
}

/// Has a git server or etcd keep the claims of all clones from now on, and says so in this worktree's configuration.
/// Cut off at any moment, it can be asked for again. Says whether the place was made by this call.
///
/// # Errors
/// When claims of this clone are in force, the server has claims already, or something failed; then nothing has changed.
pub fn init(session: &Session, wanted: &Keeper) -> Result<bool> {
    session.own_data()?;
    session.prepare()?;
    let config = &session.config().coordination;
    let asked = |counter| Place { keeper: wanted.clone(), counter };
    let noted = chosen::noted(session.sys(), session.control())?;
    // An earlier call was cut off, or this worktree has the configuration that another clone committed.
    let begun = (config.engine == wanted.engine()).then(|| config.counter.as_deref()?.parse().ok()).flatten();
    if let Some(noted) = noted.as_ref().filter(|noted| !noted.keeper.is(wanted)) {
        let what = format!("the claims of this clone are kept on {}", noted.keeper);
        return Err(Error::Store(Trouble::Moved.because(what)));
    }
    let counter = match begun.or(noted.as_ref().map(|noted| noted.counter)) {
        Some(counter) => counter,
        None => CounterId::new(LeaseId::new(session.sys().entropy.nonce()?)),
    };
    if noted.is_none() {
        refuse_local(session)?;
    }
    let place = asked(counter);
    let claims = claims_at(session, &place)?;
    let found = claims.counter()?;
    if let Some(found) = found.filter(|found| *found != counter) {
        return Err(Error::Store(Trouble::Moved.because(format!(
            "{wanted} keeps claims already, numbered by {found}: their configuration is in another clone"
        ))));
    }
    configure(session, &place)?;
    let made = match claims.make() {
        Ok(made) => made,
        Err(error) => {
            if begun.is_none() && found.is_none() {
                unconfigure(session, wanted)?;
            }
            return Err(with_another_name(error, wanted).into());
        }
    };
    chosen::choose(session.sys(), session.control(), &place, session.access()?.file())?;
    Ok(made)
}

/// A refusal, with what to try where the name of the ref may be the reason.
fn with_another_name(error: StoreError, wanted: &Keeper) -> StoreError {
    match (error, wanted) {
        (StoreError::Shared { trouble: Trouble::Refused, what }, Keeper::Git { register, .. })
            if is_never_packed(register) =>
        {
            let other = gitref::PACKED;
            Trouble::Refused
                .because(format!("{what}; a server that takes no such name may take --ref {other}"))
        }
        (error, _) => error,
    }
}

/// Claims that are in force in this clone alone would be granted a second time.
fn refuse_local(session: &Session) -> Result<()> {
    let view = medium_at(session.sys(), session.control()).view()?;
    let is_in_force = |lease: &&Lease| !is_record(lease) && !lease.standing(&view.now).is_over();
    let leases: Vec<Lease> = view.table.iter().filter(is_in_force).cloned().collect();
    if leases.is_empty() { Ok(()) } else { Err(Error::LocalClaims(leases)) }
}

/// The claims at a place that nobody may have chosen yet.
fn claims_at(session: &Session, place: &Place) -> Result<SharedClaims> {
    Ok(SharedClaims::at(&session.caller, session.workspace(), place.clone(), session.access()?.file()))
}

/// What says in a configuration where claims are kept: the engine last, because without it the others say nothing.
fn settings(keeper: &Keeper) -> [(&'static str, String); 3] {
    let [first, second] = match keeper {
        Keeper::Git { remote, register } => {
            [("coordination.ref", register.clone()), ("coordination.remote", remote.clone())]
        }
        Keeper::Etcd { endpoints, namespace } => {
            [("coordination.namespace", namespace.clone()), ("coordination.endpoints", endpoints.join(","))]
        }
    };
    [first, second, ("coordination.engine", keeper.engine().as_str().to_owned())]
}

const COUNTER: &str = "coordination.counter";

fn configure(session: &Session, place: &Place) -> Result<()> {
    let places = places(session)?;
    let set = |key: &str, value: &str| config::set(session.sys(), &places, Scope::Repository, key, value);
    set(COUNTER, &place.counter.to_string())?;
    for (key, value) in settings(&place.keeper) {
        set(key, &value)?;
    }
    Ok(())
}

fn unconfigure(session: &Session, keeper: &Keeper) -> Result<()> {
    let places = places(session)?;
    let keys = settings(keeper);
    for key in keys.iter().rev().map(|(key, _)| *key).chain([COUNTER]) {
        config::reset(session.sys(), &places, Scope::Repository, key)?;
    }
    Ok(())
}

fn places(session: &Session) -> Result<config::Places> {
    Ok(Ground::find(&session.caller)?.places(&session.caller))
}

/// Gives this clone another id, after it was copied from another one: what that one holds is not this one's.
///
/// # Errors
/// When the claims are not shared, or that cannot be written.
pub fn join(session: &Session) -> Result<String> {
    Ok(shared(session)?.shared()?.join()?.to_string())
}

fn shared(session: &Session) -> Result<&Arc<SharedClaims>> {
    session.claims().shared.as_ref().ok_or_else(|| {
        Error::Store(Trouble::Missing.because("the claims are kept in this clone: there is nothing shared"))
    })
}

/// A place in etcd, if it can be one.
///
/// # Errors
/// When an endpoint cannot be reached by such a URL, or claims cannot be called that.
pub fn in_etcd(endpoints: &[String], namespace: &str) -> Result<Keeper> {
    if let Some(url) = endpoints.iter().find(|url| !is_endpoint(url)) {
        let given = if url.contains('@') { "a URL with a login".to_owned() } else { url.clone() };
        let why = "an endpoint is http://HOST:PORT or https://HOST:PORT, without a login".to_owned();
        return Err(Error::BadValue { what: "--endpoints", given, why });
    }
    if !is_namespace(namespace) {
        let why = "a namespace has letters, digits, dots, hyphens, underscores and slashes".to_owned();
        return Err(Error::BadValue { what: "--namespace", given: namespace.to_owned(), why });
    }
    Ok(Keeper::Etcd { endpoints: endpoints.to_vec(), namespace: namespace.to_owned() })
}

/// What was looked at, and what only whoever keeps the server can see.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Checked {
    /// What was looked at.
    pub checks: Vec<Check>,
    /// What cannot be seen from here.
    pub advice: Vec<String>,
}

/// Looks whether the engine does what it promises, as far as that can be seen from here. Changes nothing.
///
/// # Errors
/// When it cannot be looked at.
pub fn check(session: &Session) -> Result<Checked> {
    let Some(shared) = &session.claims().shared else {
        let checks = crate::validate::leases(session)?;
        return Ok(Checked { checks, advice: Vec::new() });
    };
    let said = |name, done: holdfast_store::Result<()>| {
        Check::new(name, done.err().map(|error| error.to_string()).into_iter().collect())
    };
    let medium = shared.shared()?;
    let reached = medium.refresh();
    let is_reached = reached.is_ok();
    let mut checks = vec![said("reachable", reached)];
    if is_reached {
        checks.push(said("writable", medium.can_be_written()));
        checks.push(said("history", shared.replayed()));
        let known = medium.known(false)?;
        let is_ours = |lease: &&Lease| worktree::split(lease.holder.place.as_str()).1.is_none();
        let odd = known.view.table.iter().filter(is_ours);
        let odd = odd.map(|lease| format!("{} is held in a place without a clone", lease.resource));
        checks.push(Check::new("holders", odd.collect()));
        checks.push(Check::new(
            "sent",
            known
                .unresolved
                .iter()
                .map(|what| format!("{what} was sent, and nobody said whether it was done"))
                .collect(),
        ));
    }
    let (first, others) = match &shared.place()?.keeper {
        Keeper::Git { register, .. } if is_never_packed(register) => (FSYNC_ADVICE, GIT_ADVICE),
        Keeper::Git { .. } => (PACKED_ADVICE, GIT_ADVICE),
        Keeper::Etcd { .. } => (HOOK_ADVICE, ETCD_ADVICE),
    };
    let mut advice: Vec<String> = [first].iter().chain(&others).map(ToString::to_string).collect();
    advice.extend(medium.register().health());
    Ok(Checked { checks, advice })
}

/// What git does not do unless its server is told to.
const FSYNC_ADVICE: &str = "on a server of your own: git config core.fsync all: a push that was confirmed may be gone after a loss of power";

/// What a git server may do to a ref that it packs.
const PACKED_ADVICE: &str = "a server that keeps this ref in a file and packs its refs can forget a push that it \
    confirmed: two may be told yes, and whoever is forgotten is told FORKED by the next command. It packs none below \
    refs/worktree: jit engine migrate --to git. On a server of your own: git config gc.packRefs false and core.fsync \
    all, or the reftable format";

/// What only whoever keeps a git server can see.
const GIT_ADVICE: [&str; 2] = [
    "whoever may push there may also rewind or delete the ref: receive.denyDeletes and denyNonFastForwards do not \
     cover refs outside of refs/heads",
    "names of agents, branches and reasons can be read by everybody who can read the repository",
];

/// What a git server can do for claims that it does not keep.
const HOOK_ADVICE: &str = "etcd is not where work is pushed to: a claim is checked before a push, not with it; a holder \
    who is displaced in between is stopped only by jit hooks install --pre-receive at the git server";

/// What only whoever keeps a cluster of etcd can see.
const ETCD_ADVICE: [&str; 2] = [
    "whoever may write to etcd may also change or delete the keys, and a restored snapshot forgets what was granted since",
    "names of agents, branches and reasons can be read by everybody who can read the keys",
];

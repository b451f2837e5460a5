//! Every key, once: its name, its type, its default, its bounds and what it does. Reading, showing,
//! changing, checking and the manual page are derived from here; nothing about a key is said elsewhere.

use holdfast_kernel::Millis;

use super::form::Form;
use super::format::FORMAT;
use super::key::{Key, Schema, Section, sections};
use super::texts;
use super::value::{Typed, Value};
use super::words::{
    EnforceLeases, Engine, ForceEvict, ForeignClaims, Satisfied, Strategy, Via, WorktreeMode,
};

/// Where the one list of tables stands.
pub(super) const ESCALATE: [&str; 2] = ["policy", "escalate"];

/// The longest time that a lease can be granted for, in seconds.
const LONGEST: u64 = Millis::LONGEST.get() / 1_000;

const DAY: u64 = 86_400;

/// A length of time.
const SECONDS: Form = Form::Number { least: 1, most: LONGEST };

/// How often something is done.
const INTERVAL: Form = Form::Number { least: 1, most: DAY };

/// How many leases there may be.
const COUNT: Form = Form::Number { least: 0, most: 1_000_000 };

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

sections! {
    /// How jit works in git worktrees.
    Worktree at "worktree" {
        /// Whether the worktrees of one repository share their claims.
        mode: WorktreeMode = WorktreeMode::Auto, WorktreeMode::FORM;
        /// What happens to a write to an issue without a lease on it.
        enforce_leases: EnforceLeases = EnforceLeases::Strict, EnforceLeases::FORM;
        /// Where `jit worktree add` makes worktrees, from the main worktree on; none is `../<repository>.worktrees`.
        dir: Option<String> = None, Form::Text(texts::DIRECTORY);
    }

    /// Leases: how long they last, how they are kept alive, how many there may be.
    Coordination at "coordination" {
        /// Seconds that a lease lasts if nobody asks for more or less; held within the range below.
        default_ttl_secs: u64 = 600, SECONDS;
        /// The shortest lease, in seconds.
        min_ttl_secs: u64 = 1, SECONDS;
        /// The longest lease with an end, in seconds.
        max_ttl_secs: u64 = 7 * DAY, SECONDS;
        /// Whether leases without an end (a ttl of 0) may be had at all.
        allow_indefinite: bool = true, Form::Switch;
        /// Leases without an end that one agent may hold at once.
        max_indefinite_leases_per_agent: u32 = 2, COUNT;
        /// Leases without an end that there may be in the repository at once.
        max_indefinite_leases_per_repo: u32 = 10, COUNT;
        /// Seconds of silence after which a lease without an end is stale and allows no writes.
        stale_threshold_secs: u64 = 3_600, SECONDS;
        /// Seconds between the beats of `jit heartbeat run`.
        heartbeat_interval_secs: u64 = 30, INTERVAL;
        /// Whether `jit heartbeat run` renews leases that are about to end.
        auto_renew_leases: bool = false, Form::Switch;
        /// Whether a command that writes renews what its caller holds, once less than half of it is left.
        renew_on_use: bool = true, Form::Switch;
        /// Seconds after which others may take over a claim whose keeper was found gone.
        keeper_grace_secs: u64 = 60, Form::Number { least: 0, most: LONGEST };
        /// Commands warn when less than this part of a lease is left, in percent; 0 never warns.
        lease_renewal_threshold_pct: u8 = 10, Form::Number { least: 0, most: 100 };
        /// The group of users of this machine that share the repository's claims; none keeps them private.
        shared_group: Option<String> = None, Form::Text(texts::GROUP);
        /// Where claims are kept; `jit engine init` sets it, with the keys below that it needs.
        engine: Engine = Engine::Local, Engine::FORM;
        /// The remote whose server keeps the claims of all clones.
        remote: String = "origin".to_owned(), Form::Text(texts::REMOTE);
        /// The ref there that keeps them.
        register as "ref": String = "refs/jit/claims".to_owned(), Form::Text(texts::REF);
        /// The members of etcd that keep the claims of all clones, any of which is asked.
        endpoints: Option<Vec<String>> = None, Form::List(texts::ENDPOINT);
        /// What the claims are called in etcd: their keys begin with `/holdfast/<namespace>/`.
        namespace: String = "default".to_owned(), Form::Text(texts::NAMESPACE);
        /// The user that etcd knows; the token is that of `JIT_ETCD_TOKEN` or the password that of `JIT_ETCD_PASSWORD`, else those of the user's files `etcd-token` and `etcd-password`.
        user: Option<String> = None, Form::Text(texts::USER);
        /// The file in PEM with the authorities that vouch for members of etcd reached by `https`; none is the system's own.
        tls_ca: Option<String> = None, Form::Text(texts::PATH);
        /// The file with the certificate that is shown to etcd, in PEM, if it wants one.
        tls_cert: Option<String> = None, Form::Text(texts::PATH);
        /// The file with the key of that certificate, in PEM, which nobody else may read.
        tls_key: Option<String> = None, Form::Text(texts::PATH);
        /// The counter that numbers the claims there; without it nothing is claimed.
        counter: Option<String> = None, Form::Text(texts::COUNTER);
        /// Seconds that what was last seen of shared claims is relied on before the server is asked again.
        max_age_secs: u64 = 60, Form::Number { least: 0, most: DAY };
        /// Seconds that the clocks of machines may differ by; twice that passes before a claim that is over is taken over.
        skew_secs: u64 = 30, Form::Number { least: 0, most: DAY };
        /// Whether the wall clock alone says that another machine's claim is over, for machines that remember nothing.
        trust_clock: bool = false, Form::Switch;
    }

    /// Leases of one kind of agents, `ci` in `ci:nightly`. What is not set is as for everybody.
    Kind at "coordination.kinds.<kind>" {
        /// Their shortest lease, in seconds.
        min_ttl_secs: Option<u64> = None, SECONDS;
        /// Their longest lease with an end, in seconds.
        max_ttl_secs: Option<u64> = None, SECONDS;
        /// Whether they may have leases without an end.
        allow_indefinite: Option<bool> = None, Form::Switch;
        /// Issues that one of them may claim at once; as many as there are if not set.
        max_claims: Option<u32> = None, COUNT;
    }

    /// What nobody decides alone.
    Policies at "policy" {
        /// Who may take a claim in force away from its holder.
        force_evict: ForceEvict = ForceEvict::Anyone, ForceEvict::FORM;
        /// Who may approve that; nobody approves what it asked for itself.
        approvers: Vec<String> = texts(&["person:*"]), Form::List(texts::APPROVER);
        /// How many of them have to.
        approvals: u32 = 1, Form::Number { least: 1, most: 16 };
    }

    /// Changes that concern everybody: configuration, gates, types.
    GlobalOperations at "global_operations" {
        /// Whether such a change needs a branch that has everything that the main branch has.
        require_main_history: bool = true, Form::Switch;
        /// The branches on which such a change may be made; a repository that has none of them is not held to it.
        allowed_branches: Vec<String> = texts(&["main", "develop"]), Form::List(texts::BRANCH);
    }

    /// Lock files.
    Locks at "locks" {
        /// Seconds after which a lock that is still held is reported as suspect.
        max_age_secs: u64 = 3_600, SECONDS;
        /// Whether a lock says beside it who holds it.
        enable_metadata: bool = true, Form::Switch;
    }

    /// Event logs.
    Events at "events" {
        /// Whether events are numbered.
        enable_sequences: bool = true, Form::Switch;
        /// Whether all events have the same envelope.
        use_unified_envelope: bool = true, Form::Switch;
    }

    /// What checks and hooks insist on.
    Enforcement at "enforcement" {
        /// What a check makes of an issue whose last writer held a lease of another clone.
        foreign_claims: ForeignClaims = ForeignClaims::Warn, ForeignClaims::FORM;
        /// What hooks make of a commit or push that touches paths which somebody else has reserved.
        reservations: EnforceLeases = EnforceLeases::Strict, EnforceLeases::FORM;
    }

    /// How finished work comes to the branch that everybody builds on.
    Landing at "landing" {
        /// The branch that work lands on; none is that of `origin`, else `main` or `master`.
        branch: Option<String> = None, Form::Text(texts::BRANCH);
        /// How a finished branch becomes part of it.
        strategy: Strategy = Strategy::Rebase, Strategy::FORM;
        /// How finished work comes there.
        via: Via = Via::Push, Via::FORM;
        /// When an issue that others depend on is out of their way.
        dependencies: Satisfied = Satisfied::Landed, Satisfied::FORM;
        /// The directory of the checkouts that gates are run in before work lands; none is the user's cache.
        scratch: Option<String> = None, Form::Text(texts::PATH);
    }

    /// Commands that are run under a claim.
    Run at "run" {
        /// How many bytes of what a command writes are kept; of more, the beginning and the end.
        log_max_bytes: u64 = 16 << 20, Form::Number { least: 4_096, most: 1 << 40 };
    }

    /// Types of issues.
    Types at "types" {
        /// The types from the widest to the narrowest; an issue belongs to one of a wider type.
        hierarchy: Vec<String> = texts(&["milestone", "epic", "story", "task"]), Form::List(texts::TYPE);
    }

    /// How the files of the tracker are laid out.
    Layout at "repository" {
        /// The number of the layout of `.jit/`; a program that does not know it reads and writes nothing there.
        format: u64 = FORMAT, Form::Number { least: 1, most: FORMAT };
    }

    /// Who works here.
    Agent at "agent" {
        /// The identity that claims are made under, unless `--agent-id` or `JIT_AGENT_ID` says otherwise.
        id: Option<String> = None, Form::Text(texts::AGENT_ID);
        /// When this identity was made.
        created_at: Option<String> = None, Form::Text(texts::MOMENT);
        /// What a person calls this agent.
        description: Option<String> = None, Form::Text(texts::DESCRIPTION);
        /// Seconds that this agent's leases last, before `coordination.default_ttl_secs`.
        default_ttl_secs: Option<u64> = None, SECONDS;
    }

    /// What is done for this agent by itself.
    Behavior at "behavior" {
        /// Whether acquiring a claim starts `jit heartbeat run`.
        auto_heartbeat: bool = false, Form::Switch;
        /// Seconds between its beats, before `coordination.heartbeat_interval_secs`.
        heartbeat_interval: Option<u64> = None, INTERVAL;
    }
}

/// The keys of `config.toml`.
pub static CONFIG: Schema = Schema(&[
    Worktree::SECTION,
    Coordination::SECTION,
    Kind::SECTION,
    Policies::SECTION,
    GlobalOperations::SECTION,
    Locks::SECTION,
    Events::SECTION,
    Enforcement::SECTION,
    Landing::SECTION,
    Run::SECTION,
    Types::SECTION,
    Layout::SECTION,
]);

/// The keys of `agent.toml`.
pub static AGENT: Schema = Schema(&[Agent::SECTION, Behavior::SECTION]);

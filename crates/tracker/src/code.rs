//! Every error code of jit in one table: how the program ends, what a server answers, what it means, what to
//! do. `spec/errors.md` is compared with it cell by cell. It knows no error type and nothing of a terminal, so
//! every way in can use it.

use serde::{Serialize, Serializer};

/// How the program ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Exit {
    /// It went well.
    #[default]
    Ok,
    /// It failed.
    Failed,
    /// It was not understood.
    Usage,
    /// It speaks of something that is not there.
    NotFound,
    /// Somebody else holds it.
    Conflict,
    /// The caller's lease is missing, lost, stale or fenced out.
    Lease,
    /// What was given or configured cannot be.
    Invalid,
    /// A check found problems.
    Problems,
    /// Git or the file system failed.
    Io,
    /// A signal ended it.
    Signal(u8),
}

impl Exit {
    /// The exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Conflict => 4,
            Self::Lease => 5,
            Self::Invalid => 6,
            Self::Problems => 7,
            Self::Io => 10,
            Self::Signal(number) => 128_u8.saturating_add(number),
        }
    }
}

/// Who gives a code, which is also the table of `spec/errors.md` that has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The rules of leases, or the medium that keeps them.
    Leases,
    /// The tracker itself.
    Tracker,
    /// A hook: an entry of `details.problems` of [`Code::Rejected`], never an error of its own.
    Hooks,
}

struct Row {
    code: &'static str,
    source: Source,
    exit: Exit,
    http: u16,
    meaning: &'static str,
    advice: &'static str,
}

/// Makes the enum and everything that must name all of it, so that none of them can miss one.
macro_rules! codes {
    ($($name:ident = $code:literal, $source:ident, $exit:expr, $http:literal, $meaning:literal, $advice:literal;)+) => {
        /// What kind of error it is.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Code {
            $(#[doc = concat!("`", $code, "`: ", $meaning, ".")]
            $name,)+
        }

        impl Code {
            /// All of them, in the order of `spec/errors.md`.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            const fn row(self) -> Row {
                use Exit::*;
                match self {
                    $(Self::$name => Row {
                        code: $code,
                        source: Source::$source,
                        exit: $exit,
                        http: $http,
                        meaning: $meaning,
                        advice: $advice,
                    },)+
                }
            }
        }
    };
}

codes! {
    // Leases: what the rules and the media say.
    Held = "HELD", Leases, Conflict, 409,
        "others hold the resource, or stopped a moment ago and skew and grace still run",
        "try again after `retry_after`; if there is none, ask the holder, or evict by force";
    ClockSkew = "CLOCK_SKEW", Leases, Conflict, 409,
        "the lease in the way is stamped further in the future than clocks may be apart",
        "set the clock that is wrong, or evict by force";
    AlreadyHeld = "ALREADY_HELD", Leases, Conflict, 409,
        "the caller holds it already, and the policy refuses to say so twice",
        "go on with the lease you have";
    HeldShared = "HELD_SHARED", Leases, Conflict, 409,
        "the caller holds it shared, and that is not enough to write or to hold it alone",
        "release it and acquire it exclusively";
    NotHolder = "NOT_HOLDER", Leases, Conflict, 403,
        "the lease is another holder's: another agent, or the same one in another place",
        "ask its holder, or evict by force";
    Expired = "EXPIRED", Leases, Lease, 410,
        "the lease is past its deadline, even if nobody took it",
        "stop writing; acquire it anew";
    Stale = "STALE", Leases, Lease, 412,
        "the lease has no deadline and had no beat for too long",
        "beat it, then write";
    FencedOut = "FENCED_OUT", Leases, Lease, 412,
        "the write shows a grant that is no longer the resource's; `current` says whose it is",
        "stop writing; what you hold was taken over or given back";
    NotIndefinite = "NOT_INDEFINITE", Leases, Invalid, 422,
        "a lease with a deadline is renewed, not beaten",
        "renew it";
    NotFinite = "NOT_FINITE", Leases, Invalid, 422,
        "a lease without a deadline has no length to change",
        "beat it, or renew it without a length";
    TtlOutOfRange = "TTL_OUT_OF_RANGE", Leases, Invalid, 422,
        "leases of this kind of holder may not be that short or that long",
        "ask for a length within `range`";
    DeadlineTooFar = "DEADLINE_TOO_FAR", Leases, Invalid, 422,
        "no date can be written for the end of the lease",
        "set the clock, or ask for a shorter one";
    IndefiniteForbidden = "INDEFINITE_FORBIDDEN", Leases, Invalid, 403,
        "this kind of holder may not hold without a deadline",
        "ask for a length, or change the policy";
    ReasonRequired = "REASON_REQUIRED", Leases, Invalid, 422,
        "a lease without a deadline needs a reason",
        "give one";
    LimitReached = "LIMIT_REACHED", Leases, Conflict, 409,
        "too many leases are held by the agent, or in all",
        "release one";
    DuplicateId = "DUPLICATE_ID", Leases, Failed, 500,
        "the id of the new grant is taken",
        "try again with a fresh id; doors do so themselves";
    SameHolder = "SAME_HOLDER", Leases, Conflict, 409,
        "the receiver of a hand-over holds the resource already",
        "hand it to somebody else";
    FencesExhausted = "FENCES_EXHAUSTED", Leases, Io, 500,
        "the counter has no position left for the next event",
        "start a new log or vault; if the number is not plausible, the counter's file is damaged";
    CounterBehind = "COUNTER_BEHIND", Leases, Io, 500,
        "the counter stands below a fence that is in force: it was lost or set back",
        "restore the counter's file, or repair the medium; grant nothing until then";
    Damaged = "DAMAGED", Leases, Io, 500,
        "what is on disk cannot have been written by this program; nothing has changed",
        "run the repair command that the text names";
    NewerFormat = "NEWER_FORMAT", Leases, Io, 500,
        "what is on disk was written by a later version; nothing has changed",
        "use that version";
    Unsupported = "UNSUPPORTED", Leases, Failed, 501,
        "this medium has no room for what was asked for, such as a shared lease in a lock directory; nothing has \
         changed",
        "ask for what it can keep";
    Unwitnessed = "UNWITNESSED", Leases, Io, 503,
        "the audit log could not be written before the transition; nothing has changed",
        "read the cause; try again once it is mended";
    Unavailable = "UNAVAILABLE", Leases, Io, 503,
        "the register that several machines share cannot be reached; nothing has changed",
        "try again once it can be";
    Unresolved = "UNRESOLVED", Leases, Io, 503,
        "the register did not say whether it took a change: it may be done, may never be, may be done later",
        "run the same command again; it finds out and is not done twice";
    Forked = "FORKED", Leases, Io, 500,
        "the history of the register is not the one that this clone has seen: it was set back, deleted, restored, or \
         forgot what it had confirmed",
        "stop everything; somebody has to decide which history goes on";
    Refused = "REFUSED", Leases, Io, 502,
        "the register takes no change, in the words of its server; nothing has changed",
        "mend what the server names: a lock that was left, a rule, rights";
    NoRegister = "NO_REGISTER", Leases, Invalid, 500,
        "there is no register, or it has another counter than the configured one; nothing has changed",
        "correct the configuration; nothing is ever made because it is missing";
    CopiedClone = "COPIED_CLONE", Leases, Lease, 409,
        "this clone was copied from one that goes on with its claims; it has a new id",
        "claim again what is worked on here";
    Moved = "MOVED", Leases, Conflict, 409,
        "the claims are kept elsewhere, or about to be; nothing has changed",
        "fetch the configuration, then try again";
    Behind = "BEHIND", Leases, Conflict, 409,
        "this clone does not have what was landed last, so it cannot know what is left to do; nothing has changed",
        "fetch, then try again";
    // The tracker: what jit says itself.
    Usage = "USAGE", Tracker, Usage, 400,
        "unknown command, option or argument",
        "read the help";
    NotInitialised = "NOT_INITIALISED", Tracker, NotFound, 404,
        "nobody has started to track issues here",
        "`jit init`";
    NoWorktree = "NO_WORKTREE", Tracker, NotFound, 404,
        "a bare repository has no worktree to work in",
        "add a worktree and run jit there";
    NotInGit = "NOT_IN_GIT", Tracker, Invalid, 422,
        "`worktree.mode` is `on`, and this is no git repository",
        "`git init`, or another mode";
    IssueNotFound = "ISSUE_NOT_FOUND", Tracker, NotFound, 404,
        "there is no such issue",
        "`jit issue list`";
    WorktreeNotFound = "WORKTREE_NOT_FOUND", Tracker, NotFound, 404,
        "there is no such worktree",
        "`jit worktree list`";
    LeaseNotFound = "LEASE_NOT_FOUND", Tracker, Lease, 404,
        "there is no such lease: released, taken away, or never granted",
        "`jit claim list`; acquire it anew";
    AmbiguousId = "AMBIGUOUS_ID", Tracker, Invalid, 422,
        "several ids begin like this; `details.candidates` lists them",
        "type more of it";
    BadId = "BAD_ID", Tracker, Invalid, 422,
        "no id looks like this",
        "type at least four characters of one";
    LocalClaims = "LOCAL_CLAIMS", Tracker, Conflict, 409,
        "claims of this clone are in force that other clones would not know of; nothing has changed",
        "finish or release them, then try again";
    NoAgent = "NO_AGENT", Tracker, Invalid, 422,
        "nobody says which agent asks",
        "`export JIT_AGENT_ID=agent:your-name`";
    BadAgent = "BAD_AGENT", Tracker, Invalid, 422,
        "this is no name of an agent",
        "use the form `type:name`";
    BadValue = "BAD_VALUE", Tracker, Invalid, 422,
        "an option or a setting cannot have this value",
        "the text says which it can have";
    NothingAvailable = "NOTHING_AVAILABLE", Tracker, NotFound, 404,
        "no issue can be worked on that nobody works on",
        "`jit claim list`";
    NotReady = "NOT_READY", Tracker, Conflict, 409,
        "something that the issue depends on has not landed",
        "`--wait`, or take another one";
    InLine = "IN_LINE", Tracker, Conflict, 409,
        "it is free, but others have waited for it longer",
        "`--wait`";
    HeartbeatRuns = "HEARTBEAT_RUNS", Tracker, Conflict, 409,
        "this agent's heartbeat runs already",
        "`jit heartbeat status`";
    RunUnderWay = "RUN_UNDER_WAY", Tracker, Conflict, 409,
        "a command is run in this worktree already, or a pool of this name is at work",
        "wait for its end, or `jit run --worktree`";
    ServerRuns = "SERVER_RUNS", Tracker, Conflict, 409,
        "a server of this repository is running already",
        "use it, or end it first";
    NoProgram = "NO_PROGRAM", Tracker, Failed, 500,
        "a program that belongs to jit is not beside it",
        "install all programs: `cargo xtask install`";
    NoPool = "NO_POOL", Tracker, NotFound, 404,
        "no pool of this name is at work",
        "`jit dispatch status`";
    NoLog = "NO_LOG", Tracker, NotFound, 404,
        "no output of a command that worked on this issue is kept here",
        "look where the command was run";
    NoParent = "NO_PARENT", Tracker, Invalid, 422,
        "the process that started the heartbeat has ended already, so nobody is left whose end would end it",
        "`jit heartbeat run --parent PID`";
    BadFile = "BAD_FILE", Tracker, Io, 500,
        "a file is not what its name says; it was not touched",
        "mend or remove it";
    LeaseRequired = "LEASE_REQUIRED", Tracker, Lease, 403,
        "the issue is changed only under a claim of yours on it; `details.held_by` says whose it is",
        "claim it";
    Blocked = "BLOCKED", Tracker, Failed, 409,
        "the issue waits for others, which `details.blocked_by` lists",
        "finish those first, or `jit dep rm`";
    GatesOpen = "GATES_OPEN", Tracker, Failed, 409,
        "`--strict` was given, and the issue has gates that are not passed",
        "`jit gate check`, `jit gate pass`";
    Cycle = "CYCLE", Tracker, Invalid, 422,
        "the dependency would close a circle, which `details.cycle` shows",
        "remove an edge of it first";
    GateNotFound = "GATE_NOT_FOUND", Tracker, NotFound, 404,
        "no gate of that name is defined",
        "`jit gate list`";
    GateExists = "GATE_EXISTS", Tracker, Conflict, 409,
        "a gate of that name is defined differently",
        "`--replace`";
    GateNotOnIssue = "GATE_NOT_ON_ISSUE", Tracker, NotFound, 404,
        "the issue does not have that gate",
        "`jit gate status`";
    DocumentNotFound = "DOCUMENT_NOT_FOUND", Tracker, NotFound, 404,
        "the issue does not have that document",
        "`jit doc list`";
    BadLine = "BAD_LINE", Tracker, Invalid, 422,
        "a line cannot be imported; nothing was",
        "mend the line that `details.line` names";
    IssueExists = "ISSUE_EXISTS", Tracker, Conflict, 409,
        "there is an issue of that id already",
        "import again: it is changed then";
    NoClaim = "NO_CLAIM", Tracker, Lease, 412,
        "nothing is claimed in this worktree",
        "`jit start`, or name the issue";
    SeveralClaims = "SEVERAL_CLAIMS", Tracker, Invalid, 422,
        "several issues are claimed in this worktree, and none was named",
        "name one of `details.issues`";
    WorktreeBusy = "WORKTREE_BUSY", Tracker, Conflict, 409,
        "the worktree has changes or commits that going to another branch would leave behind, or git is in the middle of something there",
        "`jit start` with the issue that they are for, leave them as the hint says, or `jit start --here`; end what is under way";
    WorktreeExists = "WORKTREE_EXISTS", Tracker, Conflict, 409,
        "there is something already where a worktree was to be made",
        "take another name";
    WorktreeHasWork = "WORKTREE_HAS_WORK", Tracker, Conflict, 409,
        "the worktree has changes that are in no commit, or commits that the target does not have",
        "finish or commit them there, or insist with `--force`";
    WorktreeClaimed = "WORKTREE_CLAIMED", Tracker, Conflict, 409,
        "somebody else has claims in the worktree",
        "wait, or `jit claim force-evict` them first";
    WorktreeNeeded = "WORKTREE_NEEDED", Tracker, Conflict, 409,
        "the main worktree, or the one that the command runs in, cannot be removed",
        "remove another one, or from another one";
    ApprovalNeeded = "APPROVAL_NEEDED", Tracker, Conflict, 409,
        "the claim ends only once others have approved it; it was asked for",
        "`jit claim approve`, by one of `details.approvers`";
    NotApprover = "NOT_APPROVER", Tracker, Conflict, 403,
        "whoever asks may not approve this: it is its own request, not among the approvers, or no person is there",
        "`jit claim requests`; `policy.approvers` says who may";
    NoRequest = "NO_REQUEST", Tracker, NotFound, 404,
        "nobody asked for what was to be approved",
        "`jit claim requests`";
    NotJudge = "NOT_JUDGE", Tracker, Conflict, 403,
        "the gate is judged by somebody else",
        "`jit gate show` says who may";
    NoChange = "NO_CHANGE", Tracker, Invalid, 422,
        "nothing outside `.jit/` has changed since the issue was claimed",
        "commit the work, or `jit finish --empty -m 'why'`";
    LeftOver = "LEFT_OVER", Tracker, Invalid, 422,
        "changes that are in no commit would be left behind",
        "`jit finish -a` takes them along, `--leave` leaves them";
    OtherIssues = "OTHER_ISSUES", Tracker, Invalid, 422,
        "the branch changes issues that are not over besides the one that is finished",
        "take them out of the branch, or `--with` each of `details.issues`";
    LandConflict = "LAND_CONFLICT", Tracker, Conflict, 409,
        "the work conflicts with what has landed since; branch and claim are as they were",
        "rebase, resolve `details.files`, finish again";
    TargetDirty = "TARGET_DIRTY", Tracker, Conflict, 409,
        "the target is checked out in a worktree with changes that landing would overwrite; the branch has the work",
        "commit or stash them there, then `jit land --all`";
    GateFailed = "GATE_FAILED", Tracker, Problems, 422,
        "a gate said no to what would land; branch and claim are as they were",
        "mend it and finish again";
    PushRefused = "PUSH_REFUSED", Tracker, Conflict, 409,
        "the remote does not take the push, for a reason that trying again does not change",
        "`landing.via = \"review\"`, if the target takes no pushes";
    NothingToLand = "NOTHING_TO_LAND", Tracker, NotFound, 404,
        "no branch has finished work of the issue that has not landed",
        "`jit list` shows where finished work is";
    TargetMoving = "TARGET_MOVING", Tracker, Conflict, 409,
        "the target moved again and again while the work was being landed",
        "try again";
    Io = "IO", Tracker, Io, 503,
        "the operating system failed; nothing was acknowledged, nothing acknowledged is lost",
        "read the cause; try again once it is mended";
    Git = "GIT", Tracker, Io, 500,
        "git failed, or what it keeps cannot be read",
        "read the cause";
    Rejected = "REJECTED", Tracker, Lease, 403,
        "a hook stopped a commit or a push; `details.problems` has one entry for each reason, with a code of the \
         table below",
        "read the hints";
    NoHooks = "NO_HOOKS", Tracker, Io, 500,
        "hooks cannot be kept where git looks for them; what was there still is",
        "see who set `core.hooksPath`; make the directory writable";
    Interrupted = "INTERRUPTED", Tracker, Signal(0), 503,
        "a signal ended it; nothing is left behind",
        "nothing: it was meant to end";
    ConfigInvalid = "CONFIG_INVALID", Tracker, Invalid, 500,
        "the configuration says what cannot be; `details` has file and line",
        "correct it, then `jit config validate`";
    ConfigUnknownKey = "CONFIG_UNKNOWN_KEY", Tracker, NotFound, 404,
        "there is no such key",
        "`jit config show` lists all";
    ConfigNotSet = "CONFIG_NOT_SET", Tracker, NotFound, 404,
        "the key is known, has no default and is not set",
        "set it";
    ConfigBadValue = "CONFIG_BAD_VALUE", Tracker, Invalid, 422,
        "the key cannot have this value, alone or beside the others",
        "the text says which it can have";
    ConfigUsersOwn = "CONFIG_USERS_OWN", Tracker, Invalid, 422,
        "the key belongs to a user, not to a repository",
        "set it with `--global`";
    ConfigWrongBranch = "CONFIG_WRONG_BRANCH", Tracker, Conflict, 409,
        "what concerns everybody is not changed on this branch",
        "change it on an allowed one";
    ConfigBehindMain = "CONFIG_BEHIND_MAIN", Tracker, Conflict, 409,
        "the branch lacks something that the main branch has",
        "rebase or merge first";
    ConfigNowhere = "CONFIG_NOWHERE", Tracker, NotFound, 404,
        "there is no place for this setting here",
        "run it in a repository, or with `--global`";
    ConfigByHand = "CONFIG_BY_HAND", Tracker, Invalid, 422,
        "the file is written in a way that no program should change",
        "edit it, then `jit config validate`";
    Internal = "INTERNAL", Tracker, Failed, 500,
        "something happened that cannot happen: a bug in jit",
        "please report it, with the whole message";
    // Hooks: the entries of `details.problems` of `REJECTED`, with its exit code and status.
    NoLease = "NO_LEASE", Hooks, Lease, 403,
        "an issue is changed by somebody who does not hold it",
        "claim it, or take the change out";
    NoFence = "NO_FENCE", Hooks, Lease, 403,
        "the file of an issue was not written under any lease",
        "write the change with `jit issue update`";
    BadIssue = "BAD_ISSUE", Hooks, Lease, 403,
        "the file of an issue cannot be read",
        "restore it";
    NotFollowed = "NOT_FOLLOWED", Hooks, Problems, 422,
        "something has landed on the branch that its worktree does not have yet",
        "`jit sync`";
    Reserved = "RESERVED", Hooks, Conflict, 409,
        "a path is touched that somebody else has reserved",
        "take it out, or wait: `jit reserve add PATH --wait`";
    NeverCommitted = "NEVER_COMMITTED", Hooks, Lease, 403,
        "the file belongs to one worktree or to the claims",
        "`git rm --cached`";
    FenceLowered = "FENCE_LOWERED", Hooks, Lease, 403,
        "a commit or a merge carries a lower fence than what it is made on top of",
        "write the change anew, merge the file again";
    NotInForce = "NOT_IN_FORCE", Hooks, Lease, 403,
        "the lease behind a commit was not in force when it was written",
        "claim the issue and make the change again";
    UnknownLease = "UNKNOWN_LEASE", Hooks, Lease, 403,
        "no log granted the lease or the fence that a commit names",
        "the same";
    NoTrailer = "NO_TRAILER", Hooks, Lease, 403,
        "a commit changes an issue and nothing says under which lease",
        "`jit commit --amend` while holding it";
    Displaced = "DISPLACED", Hooks, Lease, 403,
        "the branch has a later fence than what is pushed, or somebody else holds the issue by now",
        "fetch, rebase, claim the issue again";
    Unfenced = "UNFENCED", Hooks, Lease, 403,
        "work under a claim is pushed in a way that does not show the claim to the server",
        "`jit push`";
    Vanished = "VANISHED", Hooks, Lease, 403,
        "the push would remove an issue without a lease on it",
        "fetch and rebase";
    Unseen = "UNSEEN", Hooks, Lease, 403,
        "the branch has commits that are not here",
        "fetch";
    ForeignClaim = "FOREIGN_CLAIM", Hooks, Lease, 403,
        "the fence was granted by a log that cannot be seen",
        "`enforcement.foreign_claims`";
}

impl Code {
    /// The code as programs know it. It never changes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.row().code
    }

    /// Who gives it.
    #[must_use]
    pub const fn source(self) -> Source {
        self.row().source
    }

    /// How the program ends because of it. A signal's own number is added by the error that knows it.
    #[must_use]
    pub const fn exit(self) -> Exit {
        self.row().exit
    }

    /// The HTTP status that a server answers with.
    #[must_use]
    pub const fn http(self) -> u16 {
        self.row().http
    }

    /// What it means, in general; the message of an error says what it means in particular.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// What to do about it, in general; the hint of an error says what to type.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        self.row().advice
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

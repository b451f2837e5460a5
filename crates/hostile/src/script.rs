//! Bytes into commands. The worlds are small on purpose: a handful of names and ids meet each other all
//! the time, and it is the meetings that are interesting. Spans and times are of any size.

use arbitrary::Arbitrary;
use holdfast_kernel::{
    Acquire, Again, Boot, BootId, Claim, Command, Fence, Holder, KindRule, LeaseId, Limits, Millis, Mode,
    Name, Pattern, Policy, Request, Resource, Stamp, Tags, Text, Transfer, TtlRange,
};

/// A policy and what is asked under it.
#[derive(Arbitrary, Debug)]
pub(crate) struct Script {
    policy: Terms,
    /// Where the counter starts: near its end if set.
    late: bool,
    /// What is asked, in this order.
    pub(crate) steps: Vec<Step>,
}

/// One command and the time that goes by before it.
#[derive(Arbitrary, Debug)]
pub(crate) struct Step {
    tick: Tick,
    act: Act,
}

#[derive(Arbitrary, Debug)]
struct Terms {
    refuse_again: bool,
    rule: Rule,
    bot: Option<Rule>,
    skew: Span,
    grace: Span,
    stale_after: Span,
    limits: [Option<u8>; 4],
}

#[derive(Arbitrary, Debug)]
struct Rule {
    min: Span,
    max: Span,
    indefinite: bool,
}

/// Mostly short, so that deadlines are met; now and then as long as a number can be.
#[derive(Arbitrary, Debug, Clone, Copy)]
enum Span {
    Short(u8),
    Medium(u32),
    Any(u64),
}

impl Span {
    fn get(self) -> Millis {
        Millis::new(match self {
            Self::Short(ms) => u64::from(ms),
            Self::Medium(ms) => u64::from(ms),
            Self::Any(ms) => ms,
        })
    }
}

/// What the clocks do between two commands.
#[derive(Arbitrary, Debug)]
enum Tick {
    Both(u8),
    Apart { wall: i32, boot: u16 },
    Reboot { wall: i32 },
    NoBoot,
    Set { wall: i64, boot: u64 },
}

#[derive(Arbitrary, Debug)]
enum Act {
    Acquire { id: u8, resource: u8, who: Who, shared: bool, ttl: Option<Span>, reason: bool, dead: Vec<u8> },
    Renew { id: u8, who: Who, ttl: Option<Span> },
    Beat { id: u8, who: Who },
    Release { id: u8, who: Who },
    Transfer { id: u8, who: Who, new: u8, to: Who },
    Evict { id: u8, by: Who },
    Sweep,
    Check { id: u8, resource: u8, who: Who, fence: u16 },
}

#[derive(Arbitrary, Debug, Clone, Copy)]
struct Who {
    agent: u8,
    place: u8,
}

/// The clocks of the script's machine.
pub(crate) struct Clocks {
    wall_ms: i64,
    boot: Option<Boot>,
}

impl Clocks {
    /// Some day in 2026, one minute after boot.
    #[must_use]
    pub(crate) const fn new() -> Self {
        Self { wall_ms: 1_780_000_000_000, boot: Some(Boot { id: BootId::new(1), ms: 60_000 }) }
    }

    /// Lets time pass; nothing if the clocks would show no date at all, which no medium accepts.
    pub(crate) fn tick(&mut self, step: &Step) -> Option<Stamp> {
        match step.tick {
            Tick::Both(ms) => self.shift(i64::from(ms), u64::from(ms)),
            Tick::Apart { wall, boot } => self.shift(i64::from(wall), u64::from(boot)),
            Tick::Reboot { wall } => {
                let id = self.boot.map_or(1, |boot| boot.id.get()).wrapping_add(1);
                self.boot = Some(Boot { id: BootId::new(id), ms: 0 });
                self.shift(i64::from(wall), 0);
            }
            Tick::NoBoot => self.boot = None,
            Tick::Set { wall, boot } => {
                self.wall_ms = wall;
                self.boot = self.boot.map(|old| Boot { ms: boot, ..old });
            }
        }
        Stamp::new(self.wall_ms, self.boot).ok()
    }

    fn shift(&mut self, wall: i64, boot: u64) {
        self.wall_ms = self.wall_ms.saturating_add(wall);
        self.boot = self.boot.map(|old| Boot { ms: old.ms.saturating_add(boot), ..old });
    }
}

impl Default for Clocks {
    fn default() -> Self {
        Self::new()
    }
}

impl Script {
    /// The policy that the whole script is judged by.
    #[must_use]
    pub(crate) fn policy(&self) -> Policy {
        let terms = &self.policy;
        let [per_agent, per_table, idle_per_agent, idle_per_table] =
            terms.limits.map(|limit| limit.map_or(u32::MAX, u32::from));
        Policy {
            again: if terms.refuse_again { Again::Refuse } else { Again::Return },
            rule: terms.rule.get(),
            kinds: terms.bot.iter().map(|rule| ("bot".into(), rule.get())).collect(),
            skew: terms.skew.get(),
            grace: terms.grace.get(),
            stale_after: terms.stale_after.get(),
            limits: Limits {
                leases_per_agent: per_agent,
                leases_per_table: per_table,
                indefinite_per_agent: idle_per_agent,
                indefinite_per_table: idle_per_table,
            },
        }
    }

    /// The number that the first event gets.
    #[must_use]
    pub(crate) fn first(&self) -> Fence {
        let late = Fence::LAST.get() - 3;
        if self.late { Fence::new(late).unwrap_or(Fence::FIRST) } else { Fence::FIRST }
    }
}

impl Rule {
    fn get(&self) -> KindRule {
        let ttl = TtlRange { min: self.min.get(), max: self.max.get() };
        KindRule { ttl, indefinite: self.indefinite }
    }
}

impl Step {
    /// The command that this step asks for.
    #[must_use]
    pub(crate) fn command(&self) -> Command {
        match &self.act {
            Act::Acquire { id: new, resource, who, shared, ttl, reason, dead } => Command::Acquire(Acquire {
                id: id(*new),
                resource: thing(*resource),
                holder: who.holder(),
                mode: if *shared { Mode::Shared } else { Mode::Exclusive },
                request: ttl.map_or(Request::Indefinite, |ttl| Request::Finite(ttl.get())),
                reason: reason.then(text),
                tags: Tags::none(),
                dead: dead.iter().map(|dead| id(*dead)).collect(),
            }),
            Act::Renew { id: lease, who, ttl } => {
                Command::Renew { lease: id(*lease), holder: who.holder(), ttl: ttl.map(Span::get) }
            }
            Act::Beat { id: lease, who } => Command::Beat { lease: id(*lease), holder: who.holder() },
            Act::Release { id: lease, who } => Command::Release { lease: id(*lease), holder: who.holder() },
            Act::Transfer { id: lease, who, new, to } => Command::Transfer(Transfer {
                lease: id(*lease),
                holder: who.holder(),
                id: id(*new),
                to: to.holder(),
                reason: text(),
                tags: Tags::none(),
            }),
            Act::Evict { id: lease, by } => {
                Command::Evict { lease: id(*lease), by: by.holder(), reason: text() }
            }
            Act::Sweep => Command::Sweep,
            Act::Check { id: lease, resource, who, fence } => Command::Check(Claim {
                resource: thing(*resource),
                lease: id(*lease),
                holder: who.holder(),
                fence: Fence::new(u64::from(*fence).max(1)).unwrap_or(Fence::FIRST),
            }),
        }
    }
}

impl Who {
    fn holder(self) -> Holder {
        let kind = if self.agent.is_multiple_of(2) { "bot:" } else { "person:" };
        Holder { agent: name(kind, self.agent % 4), place: name("place", self.place % 2) }
    }
}

/// What can be held: two names, and patterns of which some have a path in common.
fn thing(number: u8) -> Resource {
    const PATTERNS: [&str; 5] = ["a/*", "**", "a/b", "c/**", "?/*b"];
    match PATTERNS.get(usize::from(number % 7)).map(|text| Pattern::new(text)) {
        Some(Ok(pattern)) => pattern.into(),
        _ => name("resource", number % 2).into(),
    }
}

fn id(number: u8) -> LeaseId {
    LeaseId::new(u128::from(number % 12))
}

#[expect(clippy::expect_used, reason = "a short word and a digit are always a name")]
fn name(word: &str, number: u8) -> Name {
    Name::new(&format!("{word}{number}")).expect("a name")
}

#[expect(clippy::expect_used, reason = "a word is always a text")]
fn text() -> Text {
    Text::new("because").expect("a text")
}

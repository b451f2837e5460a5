//! What a world is like and what may happen in it. Everything has a limit, so that every run ends.

use super::hash::Mix;

/// How likely something is, and how often it happens at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Odds {
    /// How likely at each occasion, in millionths. Only [`Random`](super::Random) looks at it.
    pub ppm: u32,
    /// How often at most in the life of the world. At 0 it is not even asked.
    pub at_most: u32,
}

impl Odds {
    /// Never.
    pub const NEVER: Self = Self { ppm: 0, at_most: 0 };

    /// This likely, in millionths, and at most that often.
    #[must_use]
    pub const fn new(ppm: u32, at_most: u32) -> Self {
        Self { ppm, at_most }
    }
}

/// What may go wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Faults {
    /// A process dies before a call, or while it waits.
    pub kill: Odds,
    /// A process stands still for one of [`Config::pauses_ms`].
    pub pause: Odds,
    /// Everything stands still for one of [`Config::delays_ms`]; the clocks go on.
    pub delay: Odds,
    /// The power goes, for all hosts.
    pub power_loss: Odds,
    /// The disk fails.
    pub eio: Odds,
    /// The disk is full, for one call.
    pub enospc: Odds,
    /// A signal cuts a call short.
    pub eintr: Odds,
    /// Less is read or written than was asked for.
    pub short_io: Odds,
    /// The wall clock of a host jumps by one of [`Config::wall_jumps_ms`] or stops for one of
    /// [`Config::wall_stops_ms`].
    pub wall_jump: Odds,
}

impl Faults {
    /// Nothing goes wrong.
    pub const NONE: Self = Self {
        kill: Odds::NEVER,
        pause: Odds::NEVER,
        delay: Odds::NEVER,
        power_loss: Odds::NEVER,
        eio: Odds::NEVER,
        enospc: Odds::NEVER,
        eintr: Odds::NEVER,
        short_io: Odds::NEVER,
        wall_jump: Odds::NEVER,
    };

    /// Everything may go wrong, a few times each in a run of some hundred calls.
    #[must_use]
    pub const fn some() -> Self {
        Self {
            kill: Odds::new(5_000, 2),
            pause: Odds::new(5_000, 2),
            delay: Odds::new(5_000, 2),
            power_loss: Odds::new(2_000, 1),
            eio: Odds::new(5_000, 2),
            enospc: Odds::new(10_000, 2),
            eintr: Odds::new(20_000, 4),
            short_io: Odds::new(20_000, 4),
            wall_jump: Odds::new(5_000, 2),
        }
    }
}

impl Faults {
    /// Adds what may still happen; how likely it is makes no difference to what can follow.
    pub(super) fn digest(&self, mix: &mut Mix) {
        let all = [
            self.kill,
            self.pause,
            self.delay,
            self.power_loss,
            self.eio,
            self.enospc,
            self.eintr,
            self.short_io,
            self.wall_jump,
        ];
        all.iter().for_each(|odds| mix.word(u64::from(odds.at_most)));
    }
}

/// In which order names survive a power loss that were not made durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NameOrder {
    /// What is lost of one directory is lost from some operation on, as with a journal.
    #[default]
    PerDirectory,
    /// Only operations on the same name keep their order.
    PerName,
}

/// One machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostConfig {
    /// How far its wall clock is ahead of the true time, in milliseconds.
    pub wall_offset_ms: i64,
    /// How much too fast its wall clock runs, in millionths.
    pub wall_drift_ppm: i64,
    /// What its boot-time clock shows at the beginning, in milliseconds; none if it has no such clock.
    pub boot_ms: Option<u64>,
}

impl Default for HostConfig {
    fn default() -> Self {
        Self { wall_offset_ms: 0, wall_drift_ppm: 0, boot_ms: Some(3_600_000) }
    }
}

/// What a world is like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// Its machines. They share one file system.
    pub hosts: Vec<HostConfig>,
    /// What may go wrong.
    pub faults: Faults,
    /// How likely another process goes on at a call, in millionths.
    pub switch_ppm: u32,
    /// How likely each thing that was not made durable is lost with the power, in millionths.
    pub lose_ppm: u32,
    /// How long a paused process stands still, one of these.
    pub pauses_ms: Vec<u64>,
    /// How long everything stands still at a delay, one of these.
    pub delays_ms: Vec<u64>,
    /// How far a wall clock jumps, one of these.
    pub wall_jumps_ms: Vec<i64>,
    /// How long a wall clock stops, one of these.
    pub wall_stops_ms: Vec<u64>,
    /// The true time of the beginning, in milliseconds since 1970.
    pub start_ms: u64,
    /// What a call costs of the true time, in microseconds. At 0 more states of the world are equal, which
    /// an exhaustive explorer likes.
    pub call_us: u64,
    /// How long a reboot takes.
    pub reboot_ms: u64,
    /// How many bytes a disk writes whole. Smaller is harsher than most disks.
    pub sector: usize,
    /// In which order names survive a power loss.
    pub names: NameOrder,
    /// Whether everything is durable as soon as it is written. Where nothing depends on what a power loss leaves,
    /// more states of the world are equal then.
    pub write_through: bool,
    /// The permission bits that new files do not get.
    pub umask: u32,
    /// Whether calls are written down.
    pub trace: bool,
    /// Whether [`Choices::stepped`](super::Choices::stepped) is told what every step touched.
    pub steps: bool,
    /// How many calls there may be in one epoch; more is a livelock.
    pub max_calls: u64,
    /// What the world's entropy grows from.
    pub entropy: u64,
}

impl Default for Config {
    /// One host, no faults, no trace.
    fn default() -> Self {
        Self {
            hosts: vec![HostConfig::default()],
            faults: Faults::NONE,
            switch_ppm: 300_000,
            lose_ppm: 500_000,
            pauses_ms: vec![20, 5_000, 120_000],
            delays_ms: vec![1, 1_000, 60_000],
            wall_jumps_ms: vec![-3_600_000, -1_000, 1_000, 3_600_000],
            wall_stops_ms: vec![30_000],
            start_ms: 1_700_000_000_000,
            call_us: 50,
            reboot_ms: 20_000,
            sector: 512,
            names: NameOrder::PerDirectory,
            write_through: false,
            umask: 0o022,
            trace: false,
            steps: false,
            max_calls: 100_000,
            entropy: 0,
        }
    }
}

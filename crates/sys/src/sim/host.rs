//! One machine: its clocks and its boots.

use holdfast_kernel::{Boot, BootId};

use super::config::HostConfig;
use super::hash::Mix;

pub(super) struct Host {
    config: HostConfig,
    number: u64,
    /// When the world began, in true microseconds.
    began_us: u64,
    /// How many boots there were.
    boots: u64,
    booted_us: u64,
    /// What the boot-time clock showed then, in milliseconds.
    boot_ms: Option<u64>,
    /// By how much the wall clock has jumped, in microseconds.
    jumped_us: i64,
    /// From when to when the wall clock stands, in true microseconds.
    stopped: (u64, u64),
    /// When a process was last started, in ticks since boot.
    last_start: u64,
}

impl Host {
    pub(super) fn new(config: HostConfig, number: u64, now_us: u64) -> Self {
        let boot_ms = config.boot_ms;
        Self {
            config,
            number,
            began_us: now_us,
            boots: 0,
            booted_us: now_us,
            boot_ms,
            jumped_us: 0,
            stopped: (0, 0),
            last_start: 0,
        }
    }

    pub(super) fn name(&self) -> String {
        format!("host-{}", self.number)
    }

    /// Milliseconds since 1970 as the wall clock shows them.
    pub(super) fn wall_ms(&self, now_us: u64) -> i64 {
        let elapsed = i128::from(now_us - self.began_us);
        let drift = elapsed * i128::from(self.config.wall_drift_ppm) / 1_000_000;
        let shift = i128::from(self.config.wall_offset_ms) * 1_000 + i128::from(self.jumped_us);
        let micros = i128::from(now_us) + drift + shift - i128::from(self.lost_us(now_us));
        i64::try_from(micros.div_euclid(1_000)).unwrap_or(i64::MAX)
    }

    /// How much of the time the wall clock missed while it stood, as far as that is not part of the jumps.
    fn lost_us(&self, now_us: u64) -> u64 {
        let (from, until) = self.stopped;
        now_us.min(until).saturating_sub(from)
    }

    pub(super) fn jump(&mut self, by_ms: i64) {
        self.jumped_us = self.jumped_us.saturating_add(by_ms.saturating_mul(1_000));
    }

    pub(super) fn stop(&mut self, now_us: u64, for_ms: u64) {
        let lost = i64::try_from(self.lost_us(now_us)).unwrap_or(i64::MAX);
        self.jumped_us = self.jumped_us.saturating_sub(lost);
        self.stopped = (now_us, now_us.saturating_add(for_ms.saturating_mul(1_000)));
    }

    pub(super) fn boot_id(&self) -> Option<BootId> {
        self.boot_ms.map(|_| {
            let mut mix = Mix::new(self.number);
            mix.word(self.boots);
            BootId::new(mix.finish())
        })
    }

    pub(super) fn boot(&self, now_us: u64) -> Option<Boot> {
        let since = (now_us - self.booted_us) / 1_000;
        self.boot_id().zip(self.boot_ms).map(|(id, at)| Boot { id, ms: at + since })
    }

    pub(super) fn reboot(&mut self, now_us: u64) {
        self.boots += 1;
        self.booted_us = now_us;
        self.boot_ms = self.boot_ms.map(|_| 0);
        self.last_start = 0;
    }

    /// The start time of a process that starts here, in ticks of 10 ms. No two are the same: a number that
    /// is given out again within one tick would be taken for the process that had it before.
    pub(super) fn start_tick(&mut self, now_us: u64) -> u64 {
        let tick = self.boot_ms.unwrap_or(0) / 10 + (now_us - self.booted_us) / 10_000;
        self.last_start = tick.max(self.last_start + 1);
        self.last_start
    }

    pub(super) fn digest(&self, mix: &mut Mix) {
        let (from, until) = self.stopped;
        let words =
            [self.boots, self.booted_us, self.jumped_us.cast_unsigned(), from, until, self.last_start];
        words.into_iter().for_each(|word| mix.word(word));
    }
}

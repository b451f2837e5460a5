//! Deaths at random moments.

use std::process::{Child, Output};
use std::time::{Duration, SystemTime};

/// Random numbers that can be had again, and the time within which a process is killed. It follows the machine:
/// whoever got away shortens it, whoever died makes it longer, so that about every second dies and every moment of
/// a command is hit, however fast it is.
#[derive(Debug)]
pub struct Dice {
    state: u64,
    within: Duration,
    longest: Duration,
}

impl Dice {
    /// Dice for processes that take about this long.
    #[must_use]
    pub fn new(seed: u64, within: Duration) -> Self {
        Self { state: seed, within, longest: 10 * within }
    }

    /// A seed that nobody had before. It is printed, so that it can be had again.
    #[must_use]
    pub fn seed() -> u64 {
        let micros = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_micros();
        let seed = u64::try_from(micros % 1_000_000_007).unwrap();
        println!("seed {seed}");
        seed
    }

    /// A number below this one.
    pub fn roll(&mut self, below: u64) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % below
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[usize::try_from(self.roll(of.len() as u64)).unwrap()]
    }

    /// How long the next process may live.
    pub fn while_it_lives(&mut self) -> Duration {
        let within = u64::try_from(self.within.as_micros()).unwrap();
        Duration::from_micros(self.roll(within))
    }

    /// Kills a process after a random while. Gives what it said, and whether it died of that.
    pub fn kill(&mut self, mut child: Child) -> (Output, bool) {
        std::thread::sleep(self.while_it_lives());
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let died = output.status.code().is_none();
        self.note(died);
        (output, died)
    }

    /// Takes note of one that died, or got away.
    pub fn note(&mut self, died: bool) {
        let within = if died { self.within * 5 / 4 } else { self.within * 4 / 5 };
        self.within = within.clamp(Duration::from_micros(500), self.longest);
    }
}

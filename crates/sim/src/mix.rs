//! A small hash and a small generator, the same on every machine and in every run. Nobody is expected to
//! look for collisions.

/// A running hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mix(u64);

impl Mix {
    /// The hash of nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    /// Takes a number in.
    pub const fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.0 ^= self.0 >> 32;
    }

    /// Takes bytes in.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for byte in bytes {
            self.word(u64::from(*byte));
        }
    }

    /// The hash.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Default for Mix {
    fn default() -> Self {
        Self::new()
    }
}

/// A stream of numbers that belongs to a seed (splitmix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The stream of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub const fn below(&mut self, limit: u64) -> u64 {
        self.roll() % limit
    }

    /// Whether something happens that does so `percent` times in a hundred.
    pub const fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, among: &'a [T]) -> Option<&'a T> {
        let index = self.below(among.len().max(1) as u64);
        among.get(usize::try_from(index).unwrap_or(0))
    }
}

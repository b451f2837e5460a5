//! A small hash with the same value on every machine and in every run, which the standard one is not.
//! Not meant to withstand anybody who looks for collisions.

/// A running hash of 128 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mix {
    low: u64,
    high: u64,
}

impl Mix {
    pub(super) const fn new(seed: u64) -> Self {
        Self { low: seed ^ 0x9e37_79b9_7f4a_7c15, high: seed ^ 0xc2b2_ae3d_27d4_eb4f }
    }

    pub(super) fn word(&mut self, word: u64) {
        self.low = (self.low ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.low ^= self.low >> 32;
        self.high = (self.high.rotate_left(23) ^ word).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        self.high ^= self.high >> 29;
    }

    pub(super) fn wide(&mut self, wide: u128) {
        let [low, high] = halves(wide);
        self.word(low);
        self.word(high);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            self.word(u64::from_le_bytes(word));
        }
    }

    pub(super) fn finish(mut self) -> u128 {
        self.word(0x2545_f491_4f6c_dd1d);
        self.word(self.high);
        u128::from(self.low) << 64 | u128::from(self.high)
    }
}

/// The next number of a stream that depends on nothing but where it stands (splitmix64).
pub(super) fn splitmix(at: &mut u64) -> u64 {
    *at = at.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *at;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[expect(clippy::cast_possible_truncation, reason = "the two halves are what is wanted")]
const fn halves(wide: u128) -> [u64; 2] {
    [wide as u64, (wide >> 64) as u64]
}

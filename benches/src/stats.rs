//! From many measurements to one figure and how far to trust it. Medians, because on a shared machine the
//! worst measurements say more about the neighbours than about the code.

use std::time::Duration;

/// The middle of some figures, and the two that half of them lie between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// A quarter lies below this.
    pub low: f64,
    /// Half lie below this.
    pub middle: f64,
    /// A quarter lies above this.
    pub high: f64,
}

impl Spread {
    /// Of these figures; of none it is nothing.
    #[must_use]
    pub fn of(mut figures: Vec<f64>) -> Option<Self> {
        figures.sort_by(f64::total_cmp);
        let at = |share: usize| figures.get((figures.len().checked_sub(1)? * share + 2) / 4).copied();
        Some(Self { low: at(1)?, middle: at(2)?, high: at(3)? })
    }

    /// Of these times, in seconds.
    #[must_use]
    pub fn of_times(times: &[Duration]) -> Option<Self> {
        Self::of(times.iter().map(Duration::as_secs_f64).collect())
    }

    /// The share of one in `many`.
    #[must_use]
    pub fn divided(self, many: usize) -> Self {
        let share = |figure: f64| figure / many as f64;
        Self { low: share(self.low), middle: share(self.middle), high: share(self.high) }
    }

    /// Of the ratios `ours / peer`, round by round: what slows a whole round down cancels out.
    #[must_use]
    pub fn of_ratios(ours: &[Duration], peer: &[Duration]) -> Option<Self> {
        Self::of(ours.iter().zip(peer).map(|(ours, peer)| ours.as_secs_f64() / peer.as_secs_f64()).collect())
    }
}

/// A time as people read it.
#[must_use]
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 0.000_001 => format!("{:.0} ns", s * 1e9),
        s if s < 0.001 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// A number of things in a second as people read it.
#[must_use]
pub fn rate(per_second: f64) -> String {
    match per_second {
        r if r < 10_000.0 => format!("{r:.0}/s"),
        r if r < 1e6 => format!("{:.0} k/s", r / 1e3),
        r => format!("{:.2} M/s", r / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_the_median_and_one_wild_figure_does_not_move_it() {
        let spread = Spread::of(vec![1.0, 2.0, 3.0, 4.0, 1_000.0]).unwrap();
        assert_eq!(spread, Spread { low: 2.0, middle: 3.0, high: 4.0 });
        assert_eq!(Spread::of(vec![7.0]).unwrap().middle, 7.0);
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        let secs = |figures: [u64; 3]| figures.map(Duration::from_secs);
        // The machine was ten times slower in the last round; the ratio was not.
        let ratio = Spread::of_ratios(&secs([2, 4, 20]), &secs([1, 2, 10])).unwrap();
        assert_eq!((ratio.low, ratio.middle, ratio.high), (2.0, 2.0, 2.0));
    }

    #[test]
    fn figures_are_readable() {
        assert_eq!(
            [0.000_000_5, 0.000_27, 0.012_3, 2.0].map(time),
            ["500 ns", "270.0 µs", "12.30 ms", "2.00 s"]
        );
        assert_eq!([420.0, 15_000.0, 1_250_000.0].map(rate), ["420/s", "15 k/s", "1.25 M/s"]);
    }
}

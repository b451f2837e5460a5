//! One line of the table: what was done, what the same work costs at least, what it costs with us.

use crate::stats::{Spread, rate, time};

/// One measured comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was done.
    pub work: String,
    /// What it is compared with, and what that took.
    pub peer: String,
    /// What it took with us.
    pub ours: String,
    /// How they compare.
    pub ratio: Option<Spread>,
    /// What we are after.
    pub aim: Aim,
}

/// What we are after, and whether we are there.
#[derive(Clone, Debug, PartialEq)]
pub enum Aim {
    /// Nothing: the figure is for information.
    None,
    /// A bound in words, and whether the figure keeps it.
    Bound {
        /// The bound.
        words: String,
        /// Whether the figure keeps it.
        met: bool,
    },
}

impl Aim {
    /// The figure keeps `words` if `met`.
    pub fn bound(words: impl Into<String>, met: bool) -> Self {
        Self::Bound { words: words.into(), met }
    }
}

impl Row {
    /// Compares times with those of a peer; the middle of the ratios shall be `at_most`.
    #[must_use]
    pub fn of_times(work: &str, peer: (&str, Spread), ours: Spread, ratio: Spread, at_most: f64) -> Self {
        Self {
            work: work.into(),
            peer: format!("{} {}", peer.0, time(peer.1.middle)),
            ours: time(ours.middle),
            ratio: Some(ratio),
            aim: Aim::bound(format!("≤ {at_most}×"), ratio.middle <= at_most),
        }
    }

    /// A rate that is compared with nothing.
    #[must_use]
    pub fn of_rate(work: &str, per_second: f64) -> Self {
        let (work, peer) = (work.into(), "–".into());
        Self { work, peer, ours: rate(per_second), ratio: None, aim: Aim::None }
    }

    /// The cells of the table, in the order of [`HEADINGS`].
    #[must_use]
    pub fn cells(&self) -> [String; 6] {
        let ratio = self.ratio.map_or_else(
            || "–".into(),
            |ratio| format!("{:.2}× ({:.2}–{:.2})", ratio.middle, ratio.low, ratio.high),
        );
        let (aim, met) = match &self.aim {
            Aim::None => ("–".into(), "–"),
            Aim::Bound { words, met } => (words.clone(), if *met { "yes" } else { "NO" }),
        };
        [self.work.clone(), self.peer.clone(), self.ours.clone(), ratio, aim, met.into()]
    }
}

/// What the columns are called.
pub const HEADINGS: [&str; 6] = ["work", "floor or peer", "ours", "ratio (half lie in)", "aim", "met?"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_ratio_decides_whether_the_aim_is_met() {
        let one = |middle| Spread { low: 0.9, middle, high: 9.0 };
        let row = |middle| Row::of_times("work", ("floor", one(0.5)), one(1.0), one(middle), 1.15);
        assert_eq!(row(1.15).cells()[4..], ["≤ 1.15×".to_string(), "yes".into()]);
        assert_eq!(row(1.16).cells()[5], "NO");
        assert_eq!(row(1.1).cells()[3], "1.10× (0.90–9.00)");
    }
}

//! What became of each step. A step that did not run says so and why; it never counts as passed.

use std::fmt::Write;
use std::time::Duration;

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It ran, and so many tests or checks were seen; some may have failed.
    Ran {
        /// How many passed.
        passed: usize,
        /// How many failed.
        failed: usize,
        /// What is worth saying beside the numbers.
        note: String,
    },
    /// It did not run.
    Skipped {
        /// Why not, and what to type to change that.
        why: String,
    },
}

impl Outcome {
    /// A step that is one check.
    pub(crate) fn one(ok: bool, note: impl Into<String>) -> Self {
        Self::Ran { passed: usize::from(ok), failed: usize::from(!ok), note: note.into() }
    }

    /// A step that did not run.
    pub(crate) fn skipped(why: impl Into<String>) -> Self {
        Self::Skipped { why: why.into() }
    }

    const fn counts(&self) -> (usize, usize) {
        match self {
            Self::Ran { passed, failed, .. } => (*passed, *failed),
            Self::Skipped { .. } => (0, 0),
        }
    }

    /// The word for the table.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Ran { failed: 0, .. } => "ok",
            Self::Ran { .. } => "FAILED",
            Self::Skipped { .. } => "skipped",
        }
    }

    fn remark(&self) -> String {
        match self {
            Self::Ran { passed, failed: 0, note } => joined(&format!("{passed} passed"), note),
            Self::Ran { passed, failed, note } => joined(&format!("{passed} passed, {failed} failed"), note),
            Self::Skipped { why } => why.clone(),
        }
    }
}

fn joined(counts: &str, note: &str) -> String {
    if note.is_empty() { counts.into() } else { format!("{counts}; {note}") }
}

/// A step, how long it took, and how it ended.
pub(crate) type Row = (&'static str, Duration, Outcome);

/// What became of all steps.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

impl Report {
    /// Adds a step.
    pub(crate) fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// How many tests and checks passed and failed in all.
    pub(crate) fn counts(&self) -> (usize, usize) {
        self.rows.iter().map(|(_, _, outcome)| outcome.counts()).fold((0, 0), |(p, f), (q, g)| (p + q, f + g))
    }

    /// Whether all is well: something ran, and nothing failed.
    pub(crate) fn is_good(&self) -> bool {
        matches!(self.counts(), (1.., 0))
    }

    /// The table, one step per line, and below it the line that sums it up. Some run beside others, so the time of all
    /// is less than the sum.
    pub(crate) fn table(&self, total: Duration) -> String {
        let mut table = format!("{:<26} {:>9} {:>9}  {}\n", "step", "result", "time", "what was seen");
        for (name, took, outcome) in &self.rows {
            let (word, seconds) = (outcome.word(), took.as_secs_f64());
            let _ = writeln!(table, "{name:<26} {word:>9} {seconds:>7.1} s  {}", outcome.remark());
        }
        let _ = writeln!(table, "{:<26} {:>9} {:>7.1} s", "in all", "", total.as_secs_f64());
        table
    }

    /// The last line.
    pub(crate) fn last_line(&self) -> String {
        let (passed, failed) = self.counts();
        format!("{passed} passed, {failed} failed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(outcomes: &[Outcome]) -> Report {
        let mut report = Report::default();
        for outcome in outcomes {
            report.add(("a step", Duration::from_secs(1), outcome.clone()));
        }
        report
    }

    #[test]
    fn tests_are_summed_and_a_skipped_step_counts_for_nothing() {
        let ran = Outcome::Ran { passed: 40, failed: 0, note: String::new() };
        let report = report(&[ran, Outcome::one(true, ""), Outcome::skipped("no tool")]);
        assert_eq!(report.last_line(), "41 passed, 0 failed");
        assert!(report.is_good());
        let table = report.table(Duration::from_secs(2));
        assert!(table.contains("skipped     1.0 s  no tool") && table.contains("2.0 s"), "{table}");
    }

    #[test]
    fn one_failure_spoils_it_and_so_does_nothing_at_all() {
        assert!(!report(&[Outcome::one(true, ""), Outcome::one(false, "")]).is_good());
        assert!(!report(&[]).is_good());
        assert!(!report(&[Outcome::skipped("no tool")]).is_good());
    }
}

//! Reading how many tests ran from what the runners print. A run whose numbers cannot be found is a
//! failure: silence is not success.

use crate::child::Ended;
use crate::report::Outcome;

/// What a test runner's output says.
pub(crate) fn outcome(ended: &Ended) -> Outcome {
    sum(std::slice::from_ref(ended))
}

/// How many passed and failed. A runner that failed without a failed test has failed itself.
fn counts(ended: &Ended) -> (usize, usize, Option<String>) {
    let lines = ended.out.lines().chain(ended.err.lines());
    let (mut passed, mut failed) = (0, 0);
    for (more_passed, more_failed) in
        lines.filter_map(|line| nextest(line).or_else(|| libtest(line)).or_else(|| vitest(line)))
    {
        passed += more_passed;
        failed += more_failed;
    }
    let silent = !ended.ok && failed == 0;
    let note = || format!("the runner failed before it had run every test ({})", ended.how);
    (passed, failed + usize::from(silent), silent.then(note))
}

/// What several runs say together.
pub(crate) fn sum(ended: &[Ended]) -> Outcome {
    let (mut passed, mut failed, mut notes) = (0, 0, Vec::new());
    for one in ended {
        let (more_passed, more_failed, note) = counts(one);
        passed += more_passed;
        failed += more_failed;
        notes.extend(note);
    }
    Outcome::Ran { passed, failed, note: notes.join("; ") }
}

/// `Summary [ 1.2s] 12 tests run: 11 passed, 1 failed, 0 skipped`
fn nextest(line: &str) -> Option<(usize, usize)> {
    let line = line.trim_start();
    let (_, counts) = line.strip_prefix("Summary [")?.split_once(" run: ")?;
    let counted = |what| count(counts, what);
    Some((counted(" passed"), counted(" failed") + counted(" timed out") + counted(" exec failed")))
}

/// `test result: ok. 12 passed; 0 failed; 0 ignored; …`
fn libtest(line: &str) -> Option<(usize, usize)> {
    let counts = line.strip_prefix("test result: ")?;
    Some((count(counts, " passed"), count(counts, " failed")))
}

/// `      Tests  1 failed | 11 passed (12)`
fn vitest(line: &str) -> Option<(usize, usize)> {
    let counts = line.trim_start().strip_prefix("Tests  ")?;
    Some((count(counts, " passed"), count(counts, " failed")))
}

/// The number before a word: 11 before ` passed`.
fn count(text: &str, word: &str) -> usize {
    let Some((before, _)) = text.split_once(word) else { return 0 };
    before.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(ok: bool, err: &str) -> Ended {
        Ended { ok, how: "exit status: 1".into(), out: String::new(), err: err.into() }
    }

    #[test]
    fn all_runners_are_understood() {
        let text = "     Summary [   0.004s] 5 tests run: 3 passed (1 slow), 2 failed, 1 skipped\n";
        assert_eq!(outcome(&ended(false, text)), Outcome::Ran { passed: 3, failed: 2, note: String::new() });
        let text = "test result: ok. 3 passed; 0 failed; 0 ignored\ntest result: ok. 4 passed; 0 failed;\n";
        assert_eq!(outcome(&ended(true, text)), Outcome::Ran { passed: 7, failed: 0, note: String::new() });
        let text = " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 11 passed (12)\n";
        assert_eq!(outcome(&ended(false, text)), Outcome::Ran { passed: 11, failed: 1, note: String::new() });
    }

    #[test]
    fn of_several_runs_everything_counts() {
        let text = "     Summary [   0.004s] 5 tests run: 5 passed, 0 skipped\n";
        let broken = ended(false, "error: could not compile\n");
        let Outcome::Ran { passed: 5, failed: 1, note } = sum(&[ended(true, text), broken]) else {
            panic!("a run that broke off must count");
        };
        assert!(note.contains("before"), "{note}");
    }

    #[test]
    fn a_run_that_breaks_off_is_a_failure() {
        let Outcome::Ran { passed: 0, failed: 1, note } =
            outcome(&ended(false, "error: could not compile\n"))
        else {
            panic!("a build error must count");
        };
        assert!(note.contains("before"), "{note}");
    }
}

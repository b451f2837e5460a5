//! Where processes were killed and where the power went: one count for every kind of call on every kind of
//! file. "Every call is a crash point that was tried" is a statement about these counts.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdfast_sys::sim::{Choice, Choices, Moment};

use crate::actor::PROTECTED;

/// A kind of call on a kind of file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Site {
    /// What is done.
    pub verb: &'static str,
    /// To what: the path, with everything taken out that differs from run to run.
    pub kind: String,
}

impl Site {
    /// The site of a call on `path`.
    #[must_use]
    pub fn new(verb: &'static str, path: &Path) -> Self {
        Self { verb, kind: kind(&path.to_string_lossy()) }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.kind)
    }
}

/// A run of this many letters and digits with a digit among them is a number that some machine made up.
const MADE_UP: usize = 16;

fn kind(path: &str) -> String {
    let mut kind = String::new();
    for word in path.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let (word, end) = match word.strip_suffix(|c: char| !c.is_ascii_alphanumeric()) {
            Some(bare) => (bare, word.get(bare.len()..).unwrap_or_default()),
            None => (word, ""),
        };
        let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
        let all_digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        kind.push_str(match word {
            _ if word.len() >= MADE_UP && has_digit => "*",
            _ if all_digits => "#",
            _ => word,
        });
        kind.push_str(end);
    }
    kind
}

/// How often something happened at a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Calls that were made there.
    pub calls: u64,
    /// Processes that were killed there.
    pub kills: u64,
    /// Times that the power went there.
    pub power_losses: u64,
    /// Calls that failed there.
    pub faults: u64,
}

impl Tally {
    /// Counts an answer that was not the calm one. Of those who may be killed only the first is at this
    /// call; the others wait, each at a call of its own.
    pub(super) const fn count(&mut self, what: Choice, answer: usize) {
        match (what, answer) {
            (Choice::Kill, 1) => self.kills += 1,
            (Choice::PowerLoss, _) => self.power_losses += 1,
            (Choice::Fault(_), _) => self.faults += 1,
            _ => {}
        }
    }
}

/// The counts of all sites.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sites(BTreeMap<Site, Tally>);

impl Sites {
    /// The counts of a site, to be changed.
    pub fn at(&mut self, site: Site) -> &mut Tally {
        self.0.entry(site).or_default()
    }

    /// All counts.
    pub fn iter(&self) -> impl Iterator<Item = (&Site, &Tally)> {
        self.0.iter()
    }

    /// Adds the counts of other runs.
    pub fn add(&mut self, other: &Self) {
        for (site, tally) in &other.0 {
            let mine = self.at(site.clone());
            mine.calls += tally.calls;
            mine.kills += tally.kills;
            mine.power_losses += tally.power_losses;
            mine.faults += tally.faults;
        }
    }

    /// The sites where nobody was ever killed or the power never went.
    pub fn untried(&self) -> impl Iterator<Item = &Site> {
        self.iter().filter(|(_, tally)| tally.kills == 0 || tally.power_losses == 0).map(|(site, _)| site)
    }
}

impl fmt::Display for Sites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (site, tally) in self.iter() {
            let Tally { calls, kills, power_losses, faults } = tally;
            writeln!(
                f,
                "{calls:>10} calls {kills:>8} kills {power_losses:>8} power losses {faults:>8} faults  {site}"
            )?;
        }
        Ok(())
    }
}

/// Where the process is, if it is the medium that brought it there.
pub(super) fn site(at: &Moment<'_>) -> Option<Site> {
    let (verb, path) = at.call();
    let by_the_medium =
        !verb.is_empty() && !matches!(verb, "sleep" | "look for") && !path.starts_with(PROTECTED);
    by_the_medium.then(|| Site::new(verb, path))
}

/// Counts what another one's answers do. A clone shares the counts.
#[derive(Clone)]
pub struct Counting<C> {
    choices: C,
    sites: Arc<Mutex<Sites>>,
}

impl<C> Counting<C> {
    /// Counts what `choices` do.
    pub fn new(choices: C) -> Self {
        Self { choices, sites: Arc::default() }
    }

    /// The counts up to here.
    #[must_use]
    pub fn sites(&self) -> Sites {
        locked(&self.sites).clone()
    }
}

impl<C: Choices> Choices for Counting<C> {
    fn choose(&mut self, what: Choice, options: usize, at: &Moment<'_>) -> usize {
        let answer = self.choices.choose(what, options, at);
        if answer != 0
            && let Some(site) = site(at)
        {
            locked(&self.sites).at(site).count(what, answer);
        }
        answer
    }

    fn go_on(&mut self, at: &Moment<'_>) -> bool {
        if let Some(site) = site(at) {
            locked(&self.sites).at(site).calls += 1;
        }
        self.choices.go_on(at)
    }
}

fn locked(sites: &Mutex<Sites>) -> MutexGuard<'_, Sites> {
    sites.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Site, Sites};

    #[test]
    fn what_differs_from_run_to_run_is_taken_out_of_a_path() {
        let kind = |path| Site::new("open", Path::new(path)).kind;
        assert_eq!(
            kind("/lock/claims.jsonl.new-00000000000000000000000000000007"),
            "/lock/claims.jsonl.new-*"
        );
        assert_eq!(kind("/lock/claims.jsonl.12"), "/lock/claims.jsonl.#");
        assert_eq!(kind("/lock/main.lock.0123456789abcdef0123456789abcdef.tmp"), "/lock/main.lock.*.tmp");
        assert_eq!(kind("/lock/r-0/owner.json"), "/lock/r-#/owner.json");
        assert_eq!(kind("the clock"), "the clock");
    }

    #[test]
    fn a_site_without_a_kill_is_untried() {
        let mut sites = Sites::default();
        let site = Site::new("open", Path::new("x"));
        sites.at(site.clone()).power_losses += 1;
        assert_eq!(sites.untried().collect::<Vec<_>>(), [&site]);
        sites.at(site).kills += 1;
        assert_eq!(sites.untried().count(), 0);
    }
}

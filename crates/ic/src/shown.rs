//! A lock as people and programs see it: whose it is, how old, and whether its holder still lives. What is
//! stale is judged here for those who ask for it; nothing is decided here.

use holdfast_door::Clean;
use holdfast_kernel::{Lease, LeaseId, Millis, Stamp, Standing};
use holdfast_store::{directory, liveness};
use holdfast_sys::{Liveness, ProcessId, Sys};
use serde_json::{Value, json};

use crate::names::LockName;
use crate::times;

/// What keeps a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// An owner that can be read.
    Held,
    /// An owner that another program wrote down.
    Foreign,
    /// A script that made it by `mkdir` and left its marker.
    Fallback,
    /// A directory and nothing else.
    Ownerless,
    /// An owner that cannot be read.
    Corrupt,
}

impl State {
    const fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Foreign => "foreign",
            Self::Fallback => "fallback",
            Self::Ownerless => "ownerless",
            Self::Corrupt => "corrupt",
        }
    }
}

/// A lock that is there.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What keeps it.
    pub state: State,
    /// Whose it is, as far as that is known.
    pub owner: String,
    /// Whether its holder still lives.
    pub alive: Liveness,
    /// How old it is.
    pub age: Millis,
    /// Whether only a later version of this program can read it.
    pub newer: bool,
    lease: Lease,
    number: Option<(String, u32)>,
    silent: bool,
    /// For how long its holder has given no sign of life.
    silence: Millis,
}

impl Shown {
    /// The lock that a lease stands for, at `now`.
    #[must_use]
    pub fn new(sys: &Sys, lease: &Lease, now: &Stamp) -> Self {
        let process = liveness::process(lease);
        let state = state(lease, process.as_ref());
        let number = liveness::number(lease).map(|(host, pid)| (host.to_owned(), pid));
        let alive = match (&process, &number) {
            (Some(process), _) => sys.processes.liveness(process),
            (None, Some((host, pid))) if state == State::Foreign => of_number(sys, host, *pid),
            (None, _) => Liveness::Unknown,
        };
        let owner = match state {
            State::Held | State::Foreign | State::Fallback => lease.holder.agent.to_string(),
            State::Ownerless => "(none)".to_owned(),
            State::Corrupt => "(unreadable)".to_owned(),
        };
        Self {
            state,
            owner,
            alive,
            age: now.since(&lease.granted).forward(),
            newer: lease.tags.get(directory::NEWER).is_some(),
            number,
            silent: matches!(lease.standing(now), Standing::Stale { .. }),
            silence: now.since(lease.last_sign()).forward(),
            lease: lease.clone(),
        }
    }

    /// Which lock.
    #[must_use]
    pub fn lock(&self) -> LockName {
        LockName::of(self.lease.resource.clone())
    }

    /// The lease behind it.
    #[must_use]
    pub const fn lease(&self) -> LeaseId {
        self.lease.id
    }

    /// The number of its grant; a lock that no medium granted has none.
    #[must_use]
    pub fn fence(&self) -> Option<u64> {
        (self.state == State::Held).then(|| self.lease.fence.get())
    }

    /// Whether it is that old and its holder is not known to live: what `clean` removes. A holder that cannot be
    /// watched from here shows that it lives by its beats, so its last one counts, not its grant.
    #[must_use]
    pub fn is_stale(&self, older_than: Millis) -> bool {
        match self.alive {
            Liveness::Alive => false,
            Liveness::Dead => self.age >= older_than,
            Liveness::Unknown => self.silence >= older_than,
        }
    }

    /// The process that holds it, if that is known for good.
    #[must_use]
    pub fn process(&self) -> Option<ProcessId> {
        liveness::process(&self.lease)
    }

    /// Whether nobody can tell if its holder lives, and it has been silent for as long as its terms allow.
    /// Then, and only then, its age counts for whoever waits.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.alive == Liveness::Unknown && self.silent && self.state != State::Corrupt
    }

    /// Whose it is, in words.
    #[must_use]
    pub fn told(&self) -> String {
        let note = match (self.state, self.alive) {
            (State::Ownerless, _) => {
                return format!("a script that left no owner, {} ago", times::age(self.age));
            }
            (State::Fallback, _) => ", locked by mkdir",
            (State::Foreign, Liveness::Alive) => ", locked by another program",
            (_, Liveness::Dead) => ", which has ended",
            (_, Liveness::Unknown) => ", which cannot be watched from here",
            (_, Liveness::Alive) => "",
        };
        format!("{}{note}, for {}", self.owner, times::age(self.age))
    }

    /// The line that `list` and `stale` print.
    #[must_use]
    pub fn line(&self) -> Clean {
        let lock = self.lock();
        let (name, scope) = lock.parts();
        Clean::fields(&[&name, &scope, &self.owner, &times::age(self.age)])
    }

    /// The lock as JSON.
    #[must_use]
    pub fn document(&self) -> Value {
        let lock = self.lock();
        let (name, scope) = lock.parts();
        let alive = match self.alive {
            Liveness::Alive => Some(true),
            Liveness::Dead => Some(false),
            Liveness::Unknown => None,
        };
        json!({
            "name": name,
            "scope": scope,
            "owner": (!matches!(self.state, State::Ownerless | State::Corrupt)).then_some(&self.owner),
            "pid": self.number.as_ref().map(|(_, pid)| pid),
            "host": self.number.as_ref().map(|(host, _)| host),
            "created": self.lease.granted.wall_ms() / 1_000,
            "age_ms": self.age.get(),
            "state": self.state.word(),
            "alive": alive,
            "fence": self.fence(),
        })
    }
}

/// Whether the process with this number lives, where nothing tells it from a later one: then that one is taken for it,
/// because whoever lives is not evicted. One that could be in another namespace cannot be told at all.
fn of_number(sys: &Sys, host: &str, pid: u32) -> Liveness {
    match sys.processes.me() {
        Ok(me) if me.host == host => match sys.processes.find(pid) {
            Ok(_) => Liveness::Alive,
            Err(_) => Liveness::Unknown,
        },
        _ => Liveness::Unknown,
    }
}

fn state(lease: &Lease, process: Option<&ProcessId>) -> State {
    let has = |tag| lease.tags.get(tag).is_some();
    if has(directory::FOREIGN) {
        State::Foreign
    } else if has(directory::DAMAGED) {
        State::Corrupt
    } else if !has(directory::GHOST) {
        State::Held
    } else if process.is_some() || lease.holder.agent != lease.holder.place {
        State::Fallback
    } else {
        State::Ownerless
    }
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::{Millis, Term};
    use holdfast_sys::{Liveness, Sys};

    use super::Shown;

    #[test]
    fn a_holder_that_cannot_be_watched_is_judged_by_its_last_sign_of_life() {
        let (minute, second) = (Millis::from_secs(60), Millis::from_secs(1));
        let mut lease = holdfast_trial::lease();
        let beat = lease.granted.plus(minute);
        lease.term = Term::Indefinite { beat, stale_after: Millis::from_secs(5) };
        let at = |span| Shown::new(&Sys::os(), &lease, &beat.plus(span));
        assert_eq!((at(second).alive, at(second).age), (Liveness::Unknown, minute.plus(second)));
        assert!(!at(second).is_stale(Millis::from_secs(5)));
        assert!(at(Millis::from_secs(5)).is_stale(Millis::from_secs(5)));
    }
}

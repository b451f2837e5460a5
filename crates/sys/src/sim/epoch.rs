//! What runs in a world, and how it ended.

use crate::Sys;

/// What a process runs.
pub(super) type Body = Box<dyn FnOnce(Sys) + Send>;

/// A process to run.
pub struct Process {
    pub(super) name: String,
    pub(super) host: usize,
    pub(super) after: Option<usize>,
    pub(super) body: Body,
}

impl Process {
    /// A process on the host with this number.
    pub fn new(name: impl Into<String>, host: usize, body: impl FnOnce(Sys) + Send + 'static) -> Self {
        Self { name: name.into(), host, after: None, body: Box::new(body) }
    }

    /// Starts it only when the process at `index` of the same epoch is gone, however it went. It then may
    /// well get the same number.
    #[must_use]
    pub const fn after(mut self, index: usize) -> Self {
        self.after = Some(index);
        self
    }
}

/// How an epoch ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Every process ended or was killed.
    Done,
    /// The power went; the next epoch is another boot.
    PowerLoss,
    /// Everybody who was left waited for a lock that somebody else of them had.
    Deadlock,
    /// Nobody [wanted to know](super::Choices::go_on) how it goes on.
    Stopped,
    /// There were more calls than [`Config::max_calls`](super::Config::max_calls).
    TooManyCalls,
}

/// What became of a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Its body returned.
    Returned,
    /// It was killed.
    Killed,
    /// It was running when the epoch ended otherwise.
    Cut,
    /// Its body panicked: a bug in what it ran.
    Panicked(String),
}

/// How an epoch went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Epoch {
    /// How it ended.
    pub end: End,
    /// What became of each process, in their order.
    pub fates: Vec<Fate>,
}

impl Epoch {
    /// What the processes that panicked said.
    pub fn panics(&self) -> impl Iterator<Item = &str> {
        self.fates.iter().filter_map(|fate| match fate {
            Fate::Panicked(said) => Some(said.as_str()),
            _ => None,
        })
    }
}

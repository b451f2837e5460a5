//! What is put to the test: a way to open a medium, and what that medium can and cannot do.

use std::fmt;
use std::sync::Arc;

use holdfast_kernel::{Policy, Resource};
use holdfast_store::{Medium, Result, View};
use holdfast_sys::Sys;

use crate::resources;

/// Opens a medium as a process does.
pub type Opener = dyn Fn(&Sys) -> Result<Box<dyn Medium>> + Send + Sync;

/// Says what the medium's records replay to, without believing anything derived.
pub type Replayer = dyn Fn(&Sys) -> Result<View> + Send + Sync;

/// Does what keeps the medium's files in order.
pub type Upkeep = dyn Fn(&Sys, &Policy) -> Result<()> + Send + Sync;

/// A medium to be broken.
#[derive(Clone)]
pub struct Subject {
    name: &'static str,
    open: Arc<Opener>,
    replay: Option<Arc<Replayer>>,
    upkeep: Option<Arc<Upkeep>>,
    resources: usize,
    shared: bool,
    remote: bool,
    patterns: bool,
    wrong_clocks: bool,
}

impl Subject {
    /// A medium that keeps any number of resources, also shared.
    pub fn new(
        name: &'static str,
        open: impl Fn(&Sys) -> Result<Box<dyn Medium>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            open: Arc::new(open),
            replay: None,
            upkeep: None,
            resources: usize::MAX,
            shared: true,
            remote: false,
            patterns: false,
            wrong_clocks: false,
        }
    }

    /// One that has records to replay.
    #[must_use]
    pub fn replaying(mut self, replay: impl Fn(&Sys) -> Result<View> + Send + Sync + 'static) -> Self {
        self.replay = Some(Arc::new(replay));
        self
    }

    /// One whose files need upkeep.
    #[must_use]
    pub fn kept_up(mut self, upkeep: impl Fn(&Sys, &Policy) -> Result<()> + Send + Sync + 'static) -> Self {
        self.upkeep = Some(Arc::new(upkeep));
        self
    }

    /// One that keeps no shared leases.
    #[must_use]
    pub const fn of_one_writer(mut self) -> Self {
        self.shared = false;
        self
    }

    /// One that keeps a single resource.
    #[must_use]
    pub const fn of_one_resource(mut self) -> Self {
        self.resources = 1;
        self
    }

    /// The same with patterns in the place of names.
    #[must_use]
    pub const fn of_patterns(mut self, name: &'static str) -> Self {
        self.name = name;
        self.patterns = true;
        self
    }

    /// What a number stands for.
    #[must_use]
    pub fn resource(&self, number: usize) -> Resource {
        if self.patterns { resources::pattern(number) } else { resources::named(number) }
    }

    /// One that is kept elsewhere: what was sent may arrive after its sender has died, and a guarded write is checked
    /// when it is published, not while it is made.
    #[must_use]
    pub const fn far_away(mut self) -> Self {
        self.remote = true;
        self
    }

    /// One that takes nothing from anybody where the wall clocks of several hosts are an hour apart.
    #[must_use]
    pub const fn with_wrong_clocks(mut self) -> Self {
        self.wrong_clocks = true;
        self
    }

    /// Whether the wall clocks of its hosts are wrong.
    #[must_use]
    pub const fn has_wrong_clocks(&self) -> bool {
        self.wrong_clocks
    }

    /// Whether it is kept elsewhere.
    #[must_use]
    pub const fn is_far_away(&self) -> bool {
        self.remote
    }

    /// What it is called.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// How many resources it can keep.
    #[must_use]
    pub const fn resources(&self) -> usize {
        self.resources
    }

    /// Whether several can hold a resource at once.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        self.shared
    }

    /// Whether there is upkeep to do.
    #[must_use]
    pub const fn has_upkeep(&self) -> bool {
        self.upkeep.is_some()
    }

    pub(crate) fn open(&self, sys: &Sys) -> Result<Box<dyn Medium>> {
        (self.open)(sys)
    }

    pub(crate) fn replay(&self, sys: &Sys) -> Option<Result<View>> {
        self.replay.as_ref().map(|replay| replay(sys))
    }

    pub(crate) fn keep_up(&self, sys: &Sys, policy: &Policy) -> Result<()> {
        self.upkeep.as_ref().map_or(Ok(()), |upkeep| upkeep(sys, policy))
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

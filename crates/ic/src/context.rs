//! What a command stands on: the machine, the printer, and where the locks are.

use std::path::{Path, PathBuf};

use holdfast_sys::Sys;
use holdfast_sys::os::effective_user;

use crate::cli::Global;
use crate::error::Result;
use crate::locks::Locks;
use crate::output::Printer;
use crate::root;
use crate::vars::Vars;

/// What a command stands on.
pub struct Context {
    /// The machine.
    pub sys: Sys,
    /// Where output goes.
    pub printer: Printer,
    /// Who holds the locks that this runs under.
    pub within: Vec<String>,
    root: PathBuf,
}

impl Context {
    /// The context that the flags and the environment give.
    #[must_use]
    pub fn new(sys: Sys, global: &Global, vars: &Vars) -> Self {
        let given = global.root.as_deref().or(vars.root.as_deref());
        let given = root::plain(given.unwrap_or(Path::new(root::DEFAULT)));
        // From the top, so that all that is above it can be looked at.
        let root = vars.directory.as_ref().map_or(given.clone(), |directory| directory.join(given));
        Self { sys, printer: Printer::new(global), within: vars.within.clone(), root }
    }

    /// The locks, for whoever takes one.
    ///
    /// # Errors
    /// When they cannot be kept there.
    pub fn locks(&self) -> Result<Locks> {
        root::make(&self.sys, &self.root, effective_user())?;
        Ok(Locks::new(&self.sys, &self.root))
    }

    /// The locks, for whoever only deals with what is there; none if nobody has taken one yet.
    ///
    /// # Errors
    /// When they cannot be kept there.
    pub fn existing(&self) -> Result<Option<Locks>> {
        let there = root::check(&self.sys, &self.root, effective_user())?;
        Ok(there.then(|| Locks::new(&self.sys, &self.root)))
    }
}

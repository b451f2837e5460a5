//! What a command stands on: what it brings to the tracker, and the printer.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_sys::Sys;
use holdfast_tracker::error::Result;
use holdfast_tracker::{Caller, Session, Silent};

use crate::cli::Global;
use crate::output::Printer;
use crate::output::names::{Names, Speaker};
use crate::vars::Vars;

/// What a command stands on.
pub struct Context {
    /// What the tracker is asked with.
    pub caller: Caller,
    /// Where output goes.
    pub printer: Printer,
    /// What issues are called.
    pub names: Arc<Names>,
    /// Where files go that nobody keeps.
    pub temporary: PathBuf,
    /// The number of the process that stands for the agent, as the environment has it.
    pub keeper: Option<OsString>,
}

impl Context {
    /// The context that the flags and the environment give.
    ///
    /// # Errors
    /// When it cannot be told where the program was started.
    pub fn new(sys: Sys, global: &Global, vars: Vars) -> Result<Self> {
        let given = global.directory.clone().unwrap_or_default();
        let start = match &vars.directory {
            _ if given.is_absolute() => given,
            Ok(directory) => directory.join(given),
            Err(error) => {
                let source = std::io::Error::from(error.kind());
                return Err(
                    holdfast_sys::Error::new("find", Path::new("the current directory"), source).into()
                );
            }
        };
        let printer = Printer::new(global);
        let typed_agent = global.agent_id.clone().map(Into::into);
        let said = Caller::in_environment(sys, start, vars.user, &vars.set, Arc::new(Silent));
        let config_home = vars.config_home.or_else(|| said.config_home.clone());
        let caller = Caller { typed_agent, config_home, ..said };
        let names = Arc::new(Names::new(caller.clone()));
        let listener = Arc::new(Speaker { printer, names: Arc::clone(&names) });
        let caller = Caller { listener, ..caller };
        Ok(Self { caller, printer, names, temporary: vars.temporary, keeper: vars.keeper })
    }

    /// A question that is asked where the command was started.
    ///
    /// # Errors
    /// When nobody has started tracking issues there, or git or the configuration stands in the way.
    pub fn session(&self) -> Result<Session> {
        holdfast_tracker::answers::session(&self.caller)
    }
}

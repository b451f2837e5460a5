//! Going on as another log: for a copy of a log whose original goes on as well. Two counters must not number grants under
//! one name.

use std::io;

use holdfast_kernel::Policy;

use super::Log;
use super::append::Writer;
use super::chain::Link;
use super::segment::Header;
use crate::{CounterId, Medium, Result};

impl Log {
    /// The identity of the log; none if there is none yet.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn counter(&self) -> Result<Option<CounterId>> {
        Ok(self.view()?.counter)
    }

    /// Goes on under an identity of its own, which it gives, with all leases and the numbers that follow. What was
    /// written until now is kept beside the log.
    ///
    /// # Errors
    /// When the system fails; the log then has its old identity or its new one, and nothing is lost either way.
    pub fn go_on_as_another(&self, policy: &Policy) -> Result<CounterId> {
        self.exclusively(|writer| writer.go_on_as_another(policy))
    }
}

impl Writer<'_> {
    fn go_on_as_another(&mut self, policy: &Policy) -> Result<CounterId> {
        self.settle()?;
        self.set_torn_tail_aside()?;
        let (sys, paths) = (&self.log.sys, &self.log.paths);
        let aside = || Ok::<_, crate::Error>(paths.beside(&format!(".aside-{:032x}", sys.entropy.nonce()?)));
        // They lead to the log as it was.
        for archived in self.log.archived()?.values() {
            sys.files.rename_new(archived, &aside()?)?;
        }
        let now = sys.clock.now()?;
        let log = CounterId::new(sys.entropy.lease_id(&now)?);
        let cursor = &self.opened()?.cursor;
        let (sequence, table) = (cursor.sequence, cursor.table.clone());
        let header = Header { log, segment: 1, sequence, before: Link::START, table };
        let next = self.write_segment(&header, &now)?;
        let (sys, paths) = (&self.log.sys, &self.log.paths);
        let kept = paths.beside(&format!(".aside-{:032x}", sys.entropy.nonce()?));
        sys.files.link(&paths.log, &kept)?;
        // An index that speaks of another log would be damage.
        match sys.files.remove_file(&paths.index) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
        self.replace_log(&next, policy, &now)?;
        Ok(log)
    }
}

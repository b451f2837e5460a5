//! Getting a broken audit log to work again, when somebody asks for it: the good beginning stays, whatever
//! comes after the break is kept under another name, and a line says that it happened. Nothing is deleted.

use holdfast_store::whole;
use holdfast_sys::Open;
use serde_json::{Map, json};

use super::{ANCHORED, Anchor, Audit, Break, CURRENT, anchor};
use crate::error::Result;

impl Audit {
    /// Sets the part from the break on aside, and begins anew behind the good lines.
    ///
    /// # Errors
    /// When a file cannot be renamed or written.
    pub fn repair(&self, found: &Break) -> Result<()> {
        let named = found.file.file_name().and_then(|name| name.to_str());
        let broken = named.filter(|name| *name != anchor::NAME).unwrap_or(CURRENT).to_owned();
        let aside = self.alone(|| {
            let nonce = self.sys.entropy.nonce()?;
            let aside = |name: &str| format!("{name}.{nonce:032x}.damaged");
            // The later segments hang on the broken one.
            for later in self.segments()?.into_iter().skip_while(|name| *name != broken).skip(1) {
                self.sys.files.rename_new(&self.file(&later), &self.file(&aside(&later)))?;
            }
            match self.sys.files.rename_new(&self.file(&broken), &self.file(&aside(&broken))) {
                // A log that is gone as a whole leaves nothing to set aside.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                renamed => {
                    renamed?;
                    self.sys.files.sync_dir(&self.directory)?;
                    let old = self.sys.files.open(&self.file(&aside(&broken)), Open::Read)?;
                    let good = old.read_from(0, usize::try_from(found.good).unwrap_or(usize::MAX))?;
                    if !good.is_empty() {
                        whole::replace(&self.sys, &self.file(&broken), &good, 0o600)?;
                    }
                }
            }
            let tail = self.tail()?;
            self.anchor_anew(&Anchor { seq: tail.seq, hash: tail.hash, at: self.sys.clock.now()? })?;
            Ok(aside(&broken))
        })?;
        let data = Map::from_iter([
            (ANCHORED.to_owned(), json!(true)),
            ("line".to_owned(), json!(found.line)),
            ("why".to_owned(), json!(found.why)),
            ("aside".to_owned(), json!(aside)),
        ]);
        self.append("audit.repaired", None, data)
    }
}

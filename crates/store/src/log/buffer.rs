//! A window on a file that is read from front to back.

use holdfast_sys::{Handle, Result};

/// How much is read at once.
const CHUNK: usize = 1 << 20;

/// Bytes of a file that have been read and not yet been used.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
}

impl Buffer {
    /// Reads on in a file of which `offset` is where this window begins; false at the end of the file.
    pub(super) fn fill(&mut self, handle: &dyn Handle, offset: u64) -> Result<bool> {
        let old = self.bytes.len();
        handle.read_more(&mut self.bytes, offset + old as u64, CHUNK)?;
        Ok(self.bytes.len() > old)
    }

    /// All complete lines, with their ends.
    pub(super) fn lines(&self) -> &[u8] {
        let end = memchr::memrchr(b'\n', &self.bytes).map_or(0, |end| end + 1);
        self.bytes.get(..end).unwrap_or_default()
    }

    /// Moves the window on.
    pub(super) fn drop_front(&mut self, used: usize) {
        self.bytes.drain(..used.min(self.bytes.len()));
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

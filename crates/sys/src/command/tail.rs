//! The end of what a command writes, to both outputs, however much that is.

use std::io::{self, Read as _};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long the last words of a command are waited for. A process that left the group may keep the pipe open for
/// ever.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The end of what is written.
pub(super) struct Tail {
    end: Arc<Mutex<End>>,
    closed: Receiver<()>,
}

struct End {
    bytes: Vec<u8>,
    dropped: bool,
    most: usize,
}

impl End {
    fn push(&mut self, more: &[u8]) {
        self.bytes.extend_from_slice(more);
        if let Some(over) = self.bytes.len().checked_sub(self.most).filter(|over| *over > 0) {
            self.bytes.drain(..over);
            self.dropped = true;
        }
    }
}

impl Tail {
    /// Of what this command will write, this many bytes at most.
    pub(super) fn of(command: &mut Command, most: usize) -> io::Result<Self> {
        let (mut output, input) = io::pipe()?;
        command.stdout(input.try_clone()?).stderr(input);
        let end = Arc::new(Mutex::new(End { bytes: Vec::new(), dropped: false, most }));
        let written = Arc::clone(&end);
        let (open, closed) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4_096];
            while let Ok(got @ 1..) = output.read(&mut buffer) {
                let Some(piece) = buffer.get(..got) else { break };
                written.lock().unwrap_or_else(PoisonError::into_inner).push(piece);
            }
            drop::<std::sync::mpsc::Sender<()>>(open);
        });
        Ok(Self { end, closed })
    }

    /// What was written last.
    pub(super) fn text(self) -> String {
        // Nothing is ever sent: this ends with the pipe, or when it has lasted long enough.
        let _ = self.closed.recv_timeout(LAST_WORDS);
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&end.bytes);
        if end.dropped { format!("…{text}") } else { text.into_owned() }
    }
}

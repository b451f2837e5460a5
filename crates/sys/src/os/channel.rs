//! A line between two processes of ours, one of which started the other: messages of one line each, and with a message
//! an open file may go. It ends when either of them does.

use std::io::{self, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;

use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use crate::{Error, Result};

/// More than a message can be.
const LONGEST: usize = 1 << 24;

/// One end of the line.
#[derive(Debug)]
pub struct Channel {
    stream: UnixStream,
    read: Vec<u8>,
    file: Option<OwnedFd>,
}

/// The end that only writes.
#[derive(Debug)]
pub struct Teller(UnixStream);

impl Channel {
    /// A line: this end, and the other one, to be the standard input of a process.
    ///
    /// # Errors
    /// When the system has none.
    pub fn new() -> Result<(Self, Stdio)> {
        let (own, other) = UnixStream::pair().map_err(failed)?;
        Ok((Self::on(own), OwnedFd::from(other).into()))
    }

    /// The end that this process was given as its standard input.
    ///
    /// # Errors
    /// When it was given none.
    pub fn given() -> Result<Self> {
        let own = io::stdin().as_fd().try_clone_to_owned().map_err(failed)?;
        Ok(Self::on(UnixStream::from(own)))
    }

    const fn on(stream: UnixStream) -> Self {
        Self { stream, read: Vec::new(), file: None }
    }

    /// What writes to this end, from another thread.
    ///
    /// # Errors
    /// When the system does not allow it.
    pub fn teller(&self) -> Result<Teller> {
        self.stream.try_clone().map(Teller).map_err(failed)
    }

    /// The file that came with this message or one before, if it was not taken yet.
    pub const fn take_file(&mut self) -> Option<OwnedFd> {
        self.file.take()
    }

    /// The next message; none if nobody is at the other end any more.
    ///
    /// # Errors
    /// When the system fails.
    pub fn receive(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let rest = self.read.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.read, rest);
                line.truncate(end);
                return Ok(Some(line));
            }
            if self.read.len() > LONGEST || self.fill()? == 0 {
                return Ok(None);
            }
        }
    }

    fn fill(&mut self) -> Result<usize> {
        let mut buffer = [0; 4_096];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let got = retry_on_intr(|| {
            recvmsg(&self.stream, &mut [IoSliceMut::new(&mut buffer)], &mut control, RecvFlags::CMSG_CLOEXEC)
        });
        let got = match got {
            Ok(got) => got.bytes,
            // Whoever died with unread messages resets the line.
            Err(rustix::io::Errno::CONNRESET) => 0,
            Err(error) => return Err(failed(error.into())),
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.file = files.last().or(self.file.take());
            }
        }
        self.read.extend(buffer.iter().take(got));
        Ok(got)
    }
}

impl Teller {
    /// Ends the line: nobody sends anything from this end any more.
    pub fn close(self) {
        let _ = self.0.shutdown(std::net::Shutdown::Write);
    }

    /// Sends a message, which has no line's end in it.
    ///
    /// # Errors
    /// When nobody is there.
    pub fn send(&self, message: &[u8]) -> Result<()> {
        self.send_with(message, None)
    }

    /// Sends a message, and an open file with it.
    ///
    /// # Errors
    /// When nobody is there.
    pub fn send_with(&self, message: &[u8], file: Option<BorrowedFd<'_>>) -> Result<()> {
        let line = [message, b"\n"].concat();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let files: Vec<BorrowedFd<'_>> = file.into_iter().collect();
        if !files.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&files)) {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        }
        let sent =
            retry_on_intr(|| sendmsg(&self.0, &[IoSlice::new(&line)], &mut control, SendFlags::NOSIGNAL));
        let sent = sent.map_err(|error| failed(error.into()))?;
        (&self.0).write_all(line.get(sent..).unwrap_or_default()).map_err(failed)
    }
}

fn failed(error: io::Error) -> Error {
    Error::new("talk to", Path::new("the other process"), error)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn messages_come_one_by_one_with_their_files_and_end_with_the_other_side() {
        let (left, right) = UnixStream::pair().unwrap();
        let (mut left, teller) = (Channel::on(left), Teller(right));
        let (mut read, write) = io::pipe().unwrap();
        let long = vec![b'x'; 1 << 20];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                teller.send(b"one").unwrap();
                teller.send_with(b"two", Some(write.as_fd())).unwrap();
                drop(write);
                teller.send(&long).unwrap();
                drop(teller);
            });
            assert_eq!(left.receive().unwrap().unwrap(), b"one");
            assert_eq!(left.receive().unwrap().unwrap(), b"two");
            std::fs::File::from(left.take_file().unwrap()).write_all(b"through").unwrap();
            let mut text = String::new();
            read.read_to_string(&mut text).unwrap();
            assert_eq!(text, "through");
            assert_eq!(left.receive().unwrap().unwrap(), long);
            assert!(left.receive().unwrap().is_none());
        });
    }
}

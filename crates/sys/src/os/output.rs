//! Standard output: whether somebody is there to read it.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;

/// Whether standard output is a pipe that nobody reads from any more, or a terminal that is gone. What cannot be told is
/// taken for a reader.
#[must_use]
pub fn is_unread() -> bool {
    let out = std::io::stdout();
    // The end of it is told whether it was asked for or not.
    let mut seen = [PollFd::new(&out, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let ready = retry_on_intr(|| poll(&mut seen, Some(&at_once)));
    let is_over = |found: &PollFd<'_>| found.revents().intersects(PollFlags::ERR | PollFlags::HUP);
    ready.is_ok_and(|ready| ready > 0) && seen.iter().any(is_over)
}

//! The operating system's simulated twin: a world in which the real code of media and doors runs in many
//! processes on several machines, and where every call is a place to switch, to fail, to die or to lose
//! power. It must never do what no real machine may do (a bug found here is a bug), and it must never
//! decide anything by itself: whatever could go two ways is asked of a [`Choices`], so the same answers
//! give the same run, call for call.
//!
//! # What may happen, and why that is what a real machine may do
//!
//! **Processes.** Exactly one runs at a time; at each call another may go on instead, because a kernel
//! preempts anywhere and only calls are visible to others. A process may be killed before any call
//! (`SIGKILL`, the OOM killer) or while it waits: its handles are closed, its locks go, everything it
//! wrote stays visible. It may be paused for any length of time (`SIGSTOP`, swapping, a suspended virtual
//! machine). Numbers of processes are given out again at once.
//!
//! **Files.** What is written is visible to everybody at once, and durable only after a `sync` that
//! succeeded. When the power goes, each sector written since is kept or lost on its own, because the page
//! cache writes back in any order and a disk reorders within its cache; a sector itself is never torn,
//! because disks write sectors whole. A lost sector has its old content, or zeros beyond the old length.
//! The length may be the old one, the last one or one in between: it is metadata and is written back on
//! its own. `sync` of a file says nothing about its name. (ext4 also commits the names when it commits the
//! journal, writes data before the length and flushes a file that is renamed over another. POSIX promises
//! none of it, other file systems do not do it, and we do not rely on it.)
//!
//! **Names.** Creating, linking, renaming and removing are visible at once and durable only after
//! `sync_dir` of each directory involved. When the power goes, the operations of one directory are lost
//! from some point on ([`NameOrder::PerDirectory`], what a journal does), or independently as long as
//! they are about different names ([`NameOrder::PerName`], what soft updates may do). One operation is
//! never halved: a rename is one transaction, also between two directories. A number of an inode is given
//! out again as soon as the last name and the last handle are gone, as ext4 does; so no name that carries
//! the number anew outlives the power unless the removal that freed it does.
//!
//! **A failed `sync`** leaves the pages marked clean: some reached the disk, some did not, all stay visible,
//! and a later `sync` succeeds without writing them unless they are written again. That is what Linux does.
//! A failed `sync_dir` leaves the operations pending: a journal keeps its transaction or stops for good.
//!
//! **Errors.** `EIO` on whatever reaches the disk (a failed write may have written a part, as over FUSE or
//! NFS); `ENOSPC` where space is needed, sometimes after a short write; `EINTR` while waiting for a lock,
//! and on reads and writes as network file systems have it; short reads and writes. All have budgets.
//!
//! **Clocks.** Each host's wall clock has an offset and a drift, may jump either way and may stop for a
//! while. The boot-time clock is right, begins anew at each boot, and goes on while processes are paused:
//! a kernel whose boot-time clock runs wrong is broken hardware.
//!
//! # What is not modelled
//!
//! Synced sectors that rot or come back as something else, stale garbage in place of zeros, and disks that
//! lie about flushing: no protocol survives these, only checksums notice, and they are tested as hostile
//! files. Pages that are marked clean after a failed `sync` are not evicted and read back. All hosts share one
//! file system, see each other's writes at once and lose power together. Permission bits are kept but stop
//! nobody. All processes of a world share one thread, each with a stack of its own: code that blocks on anything but a
//! call of its `Sys` never wakes up.
//!
//! A killed process is unwound, so this needs `panic = "unwind"`, which tests always have.

mod call;
mod choice;
mod config;
mod disk;
mod epoch;
mod files;
mod hash;
mod host;
mod kernel;
mod machine;
mod observer;
mod state;
mod strand;
mod touch;
mod trace;
mod world;

pub use choice::{Choice, Choices, Fault, Made, Moment, Random, Recording, Remnant, Replay};
pub use config::{Config, Faults, HostConfig, NameOrder, Odds};
pub use epoch::{End, Epoch, Fate, Process};
pub use observer::Observer;
pub use touch::{Step, Thing, Touch};
pub use trace::Line;
pub use world::World;

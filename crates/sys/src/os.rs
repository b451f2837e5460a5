//! The real machine. Linux is where it is tested; what only Linux has falls back to what every Unix has.
#![expect(clippy::disallowed_methods, reason = "this is the layer that owns clocks, sleeps and files")]

mod cgroup;
mod changes;
mod channel;
mod child;
mod clock;
mod entropy;
mod files;
mod folder;
mod net;
mod output;
mod permission;
mod process;
mod signals;
mod table;
mod terminal;
mod tree;
mod watch;

pub use cgroup::ControlGroup;
pub use changes::Changes;
pub use channel::{Channel, Teller};
pub use child::{Child, Group, Rest, adopt_orphans, ask_to_end, kill_group, pause};
pub use clock::OsClock;
pub use entropy::OsEntropy;
pub use files::OsFiles;
pub use net::connect;
pub use output::is_unread;
pub use permission::keep_group_bits;
pub use process::{OsProcesses, effective_user};
pub use signals::{Caught, Signals, Waker, signal};
pub use table::is_open;
pub use terminal::columns;
pub use tree::{Tree, kill, kill_marked, leave_session, marked, pause_all};

//! What media may rely on, on the real machine and on the simulated one: each test runs on both, so that a
//! protocol which is right in the simulator meets the same answers outside of it.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests, some of which set up real files and start real processes"
)]

use std::path::{Path, PathBuf};

use holdfast_sys::sim::{Config, Fate, Process, Replay, World};
use holdfast_sys::{Handle, Open, Result, Sys};
use rustix::io::Errno;

mod content;
mod folder;
mod guard;
mod locks;
mod machine;
mod names;
mod real;
mod symlinks;

/// A machine and an empty directory on it that holds only:
/// `file` ("content"), `sub/inner` (""), and the links `to-file`, `to-sub` and `to-nothing`.
pub(crate) struct Place {
    pub(crate) sys: Sys,
    pub(crate) dir: PathBuf,
}

impl Place {
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(crate) fn open(&self, name: &str, how: Open) -> Result<Box<dyn Handle>> {
        self.sys.files.open(&self.at(name), how)
    }

    /// A file with this content.
    pub(crate) fn file(&self, name: &str, content: &str) -> Box<dyn Handle> {
        let handle = self.open(name, Open::Create { mode: 0o600 }).unwrap();
        handle.write_all_at(content.as_bytes(), 0).unwrap();
        handle
    }

    pub(crate) fn read(&self, name: &str) -> String {
        text(&*self.open(name, Open::Read).unwrap())
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.sys.files.list(&self.dir).unwrap();
        names.into_iter().map(|name| name.into_string().unwrap()).collect()
    }
}

pub(crate) fn text(handle: &dyn Handle) -> String {
    String::from_utf8(handle.read_from(0, 1 << 20).unwrap()).unwrap()
}

/// The error of a call that must fail.
pub(crate) fn errno<T>(result: Result<T>) -> Errno {
    let Err(error) = result else { panic!("this must fail") };
    Errno::from_io_error(&error.source).unwrap_or_else(|| panic!("no error of the system: {}", error.source))
}

fn on_real(test: fn(&Place)) {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("file"), "content").unwrap();
    std::fs::create_dir(at("sub")).unwrap();
    std::fs::write(at("sub/inner"), "").unwrap();
    for (link, target) in [("to-file", "file"), ("to-sub", "sub"), ("to-nothing", "nothing")] {
        std::os::unix::fs::symlink(at(target), at(link)).unwrap();
    }
    test(&Place { sys: Sys::os(), dir: dir.path().to_path_buf() });
}

fn on_simulated(test: fn(&Place)) {
    let mut world = World::new(Config::default(), Replay::new(Vec::new()));
    let dir = Path::new("/some/where");
    world.write_file(dir.join("file"), b"content").unwrap();
    world.write_file(dir.join("sub/inner"), b"").unwrap();
    for (link, target) in [("to-file", "file"), ("to-sub", "sub"), ("to-nothing", "nothing")] {
        world.symlink(dir.join(target), dir.join(link)).unwrap();
    }
    let body = move |sys| test(&Place { sys, dir: dir.to_path_buf() });
    let epoch = world.run(vec![Process::new("only", 0, body)]);
    assert_eq!(epoch.fates, [Fate::Returned]);
}

/// Makes a test of each function for both machines.
macro_rules! on_both {
    ($($test:ident)*) => {
        mod real {
            $(#[test]
            fn $test() {
                crate::on_real(super::$test);
            })*
        }

        mod simulated {
            $(#[test]
            fn $test() {
                crate::on_simulated(super::$test);
            })*
        }
    };
}
pub(crate) use on_both;

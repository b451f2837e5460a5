//! A git daemon on this machine, for clones that reach their origin over the network.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A git daemon that serves the repositories below a directory, and takes pushes.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    port: u16,
}

impl Daemon {
    /// Starts one; none where git has no daemon.
    #[must_use]
    pub fn start(base: &Path) -> Option<Self> {
        let path = Command::new("git").arg("--exec-path").output().ok()?.stdout;
        // Started by git itself, it would be a child that lives on.
        let daemon = Path::new(String::from_utf8_lossy(&path).trim()).join("git-daemon");
        for _ in 0..20 {
            let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
            let mut child = Command::new(&daemon)
                .args(["--reuseaddr", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1"])
                .arg(format!("--port={port}"))
                .arg(format!("--base-path={}", base.display()))
                .stderr(Stdio::null())
                .spawn()
                .ok()?;
            for _ in 0..500 {
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return Some(Self { child, port });
                }
                if child.try_wait().ok()?.is_some() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        None
    }

    /// The URL of a repository below the directory.
    #[must_use]
    pub fn url(&self, name: &str) -> String {
        format!("git://127.0.0.1:{}/{name}", self.port)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

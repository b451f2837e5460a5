//! A cluster of etcd on this machine, whose members can be killed, stopped and started again.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::{has, until};

/// A cluster of etcd.
#[derive(Debug)]
pub struct Cluster {
    dir: PathBuf,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    child: Option<Child>,
    client: u16,
    peer: u16,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Cluster {
    /// Starts so many members with their data in `dir`; none where etcd is not installed.
    ///
    /// # Panics
    /// If they do not come up.
    #[must_use]
    pub fn start(dir: &Path, members: usize) -> Option<Self> {
        if !has("etcd") {
            return None;
        }
        // A port that was free may be taken a moment later by somebody else's test.
        for attempt in 0..10 {
            let dir = dir.join(format!("cluster-{attempt}"));
            let members =
                (0..members).map(|_| Member { child: None, client: free_port(), peer: free_port() });
            let mut cluster = Self { dir, members: members.collect() };
            (0..cluster.members.len()).for_each(|number| cluster.restart(number));
            if cluster.is_up() {
                return Some(cluster);
            }
        }
        panic!("etcd does not come up");
    }

    fn is_up(&mut self) -> bool {
        let mut up = false;
        until("etcd is up or has failed", || {
            let ended = |member: &mut Member| {
                member.child.as_mut().is_none_or(|child| child.try_wait().unwrap().is_some())
            };
            up = (0..self.members.len())
                .all(|number| self.status(number).is_some_and(|(_, leader)| leader != 0));
            up || self.members.iter_mut().any(ended)
        });
        up
    }

    /// Where the members are reached.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.members.iter().map(|member| format!("http://127.0.0.1:{}", member.client)).collect()
    }

    /// Starts a member that was killed.
    ///
    /// # Panics
    /// If etcd cannot be started.
    pub fn restart(&mut self, number: usize) {
        let peer = |number: usize| format!("m{number}=http://127.0.0.1:{}", self.members[number].peer);
        let all: Vec<String> = (0..self.members.len()).map(peer).collect();
        let (client, peer) = (self.members[number].client, self.members[number].peer);
        let (client, peer) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
        let mut command = Command::new("etcd");
        command
            .args(["--name", &format!("m{number}"), "--log-level", "error"])
            .args(["--heartbeat-interval", "50", "--election-timeout", "500"])
            .arg("--data-dir")
            .arg(self.dir.join(format!("m{number}")))
            .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
            .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
            .args(["--initial-cluster", &all.join(","), "--initial-cluster-state", "new"])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.members[number].child = Some(command.spawn().unwrap());
    }

    /// The member that leads.
    ///
    /// # Panics
    /// If none does for long.
    #[must_use]
    pub fn leader(&self) -> usize {
        let mut leader = None;
        until("a member leads", || {
            let states: Vec<_> = (0..self.members.len()).map(|number| self.status(number)).collect();
            leader = states.iter().position(|state| state.is_some_and(|(own, leader)| own == leader));
            leader.is_some()
        });
        leader.unwrap()
    }

    /// The number of a member and of the one that it follows, if it answers.
    fn status(&self, number: usize) -> Option<(u64, u64)> {
        let said = post(self.members[number].client, "/v3/maintenance/status", "{}")?;
        let said: serde_json::Value = serde_json::from_str(&said).ok()?;
        let number = |value: &serde_json::Value| value.as_str().and_then(|text| text.parse().ok());
        Some((number(&said["header"]["member_id"])?, number(&said["leader"]).unwrap_or(0)))
    }

    fn signal(&self, number: usize, signal: Signal) {
        if let Some(child) = &self.members[number].child {
            kill_process(Pid::from_child(child), signal).unwrap();
        }
    }

    /// Kills a member.
    ///
    /// # Panics
    /// If it cannot be waited for.
    pub fn kill(&mut self, number: usize) {
        if let Some(mut child) = self.members[number].child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Stops a member where it is.
    pub fn pause(&self, number: usize) {
        self.signal(number, Signal::STOP);
    }

    /// Lets a stopped member go on.
    pub fn resume(&self, number: usize) {
        self.signal(number, Signal::CONT);
    }

    /// Where a member keeps its data.
    #[must_use]
    pub fn data(&self, number: usize) -> PathBuf {
        self.dir.join(format!("m{number}"))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for member in &mut self.members {
            if let Some(child) = &mut member.child {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// What a member answers to a question to its gateway.
#[must_use]
pub fn post(port: u16, path: &str, body: &str) -> Option<String> {
    let address = ([127, 0, 0, 1], port).into();
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_millis(500)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .ok()?;
    let mut said = String::new();
    stream.read_to_string(&mut said).ok()?;
    let (_, body) = said.split_once("\r\n\r\n")?;
    Some(body.to_owned())
}

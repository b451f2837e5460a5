//! A cluster of etcd on this machine, whose members can be killed, stopped and started again.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::network::Network;
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
    host: Ipv4Addr,
    client: u16,
    peer: u16,
    /// The command that it is started with, in a network of its own.
    inside: Vec<String>,
}

impl Member {
    fn url(&self, port: u16) -> String {
        format!("http://{}:{port}", self.host)
    }
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
            let host = Ipv4Addr::LOCALHOST;
            let member = |_| {
                let (client, peer) = (free_port(), free_port());
                Member { child: None, host, client, peer, inside: Vec::new() }
            };
            let mut cluster = Self { dir, members: (0..members).map(member).collect() };
            if cluster.is_started() {
                return Some(cluster);
            }
        }
        panic!("etcd does not come up");
    }

    /// Starts a member on every machine of a network; none where etcd is not installed.
    ///
    /// # Panics
    /// If they do not come up.
    #[must_use]
    pub fn start_on(dir: &Path, network: &Network) -> Option<Self> {
        if !has("etcd") {
            return None;
        }
        let member = |number| {
            let (host, inside) = (network.address(number), network.inside(number));
            Member { child: None, host, client: 2_379, peer: 2_380, inside }
        };
        let members = (0..network.machines()).map(member).collect();
        let mut cluster = Self { dir: dir.join("cluster"), members };
        assert!(cluster.is_started(), "etcd does not come up");
        Some(cluster)
    }

    fn is_started(&mut self) -> bool {
        (0..self.members.len()).for_each(|number| self.restart(number));
        self.is_up()
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
        self.members.iter().map(|member| member.url(member.client)).collect()
    }

    /// Starts a member that was killed.
    ///
    /// # Panics
    /// If etcd cannot be started.
    pub fn restart(&mut self, number: usize) {
        let peer = |(number, member): (usize, &Member)| format!("m{number}={}", member.url(member.peer));
        let all: Vec<String> = self.members.iter().enumerate().map(peer).collect();
        let member = &self.members[number];
        let (client, peer) = (member.url(member.client), member.url(member.peer));
        let mut started = member.inside.iter().map(String::as_str).chain(["etcd"]);
        let mut command = Command::new(started.next().unwrap_or("etcd"));
        command
            .args(started)
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
        let member = &self.members[number];
        let said = post_to((member.host, member.client).into(), "/v3/maintenance/status", "{}")?;
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

    /// Has the cluster want a login: each of these users may do that (`READ`, `READWRITE`) with the keys of claims, and has
    /// the password `pw-` and its name.
    ///
    /// # Panics
    /// If a member does not do so.
    pub fn want_login(&self, users: &[(&str, &str)]) {
        let ask = |path: &str, body: &str| {
            let said = post(self.members[0].client, path, body).unwrap();
            assert!(!said.contains("\"error\""), "{path}: {said}");
        };
        for (user, may) in [&[("root", "")], users].concat() {
            ask("/v3/auth/user/add", &format!("{{\"name\":\"{user}\",\"password\":\"pw-{user}\"}}"));
            ask("/v3/auth/role/add", &format!("{{\"name\":\"{user}\"}}"));
            ask("/v3/auth/user/grant", &format!("{{\"user\":\"{user}\",\"role\":\"{user}\"}}"));
            // All keys from /holdfast/ up to /holdfast0.
            let keys = "\"key\":\"L2hvbGRmYXN0Lw==\",\"range_end\":\"L2hvbGRmYXN0MA==\"";
            if !may.is_empty() {
                let right = format!("{{\"name\":\"{user}\",\"perm\":{{\"permType\":\"{may}\",{keys}}}}}");
                ask("/v3/auth/role/grant", &right);
            }
        }
        ask("/v3/auth/enable", "{}");
    }

    /// A token of one of the users of [`Cluster::want_login`].
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn token(&self, user: &str) -> String {
        let login = format!("{{\"name\":\"{user}\",\"password\":\"pw-{user}\"}}");
        let said = post(self.members[0].client, "/v3/auth/authenticate", &login).unwrap();
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        said["token"].as_str().unwrap().to_owned()
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

/// What a member on this machine answers to a question to its gateway.
#[must_use]
pub fn post(port: u16, path: &str, body: &str) -> Option<String> {
    post_to((Ipv4Addr::LOCALHOST, port).into(), path, body)
}

fn post_to(address: SocketAddr, path: &str, body: &str) -> Option<String> {
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

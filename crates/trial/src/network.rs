//! Machines in a network of their own, between which the way can be cut, in one direction too. Nothing of it is seen
//! outside: the test runs once more in namespaces that end with it.

use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

use crate::has;

/// Says that the test already runs in namespaces of its own.
const INSIDE: &str = "HOLDFAST_NETWORK";

/// Machines around one switch, which this process sits at.
#[derive(Debug)]
pub struct Network {
    machines: usize,
}

impl Network {
    /// A network of so many machines for the test with this name, which is started again in namespaces of its own; none
    /// for the one that started it, or where there can be no namespaces, which is said.
    ///
    /// # Panics
    /// If the test fails there.
    #[must_use]
    pub fn enter(test: &str, machines: usize) -> Option<Self> {
        if std::env::var_os(INSIDE).is_some() {
            return Some(Self::made(machines));
        }
        if !has("ip") || !has("nft") || !has("unshare") {
            return None;
        }
        let Some(unshare) = unshare() else {
            println!("skipped: this machine allows no network namespaces (unshare --net --pid --mount-proc)");
            return None;
        };
        let again = Command::new("unshare")
            .args(unshare)
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--include-ignored"])
            .env(INSIDE, "1")
            .output()
            .unwrap();
        let said =
            [again.stdout, again.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
        println!("{said}");
        assert!(again.status.success() && said.contains("1 passed"), "it failed in its namespaces");
        None
    }

    fn made(machines: usize) -> Self {
        // Names of namespaces are files there.
        run("mount", &["-t", "tmpfs", "tmpfs", "/run"]);
        ip("link set lo up");
        ip("link add hub type bridge");
        ip(&format!("addr add {}/24 dev hub", Self::here()));
        ip("link set hub up");
        let network = Self { machines };
        for machine in 0..machines {
            ip(&format!("netns add m{machine}"));
            ip(&format!("link add port{machine} type veth peer name eth0 netns m{machine}"));
            ip(&format!("link set port{machine} master hub up"));
            ip(&format!("-n m{machine} addr add {}/24 dev eth0", network.address(machine)));
            ip(&format!("-n m{machine} link set eth0 up"));
            ip(&format!("-n m{machine} link set lo up"));
            network.nft(machine, "add table ip cuts");
            network.nft(machine, "add chain ip cuts in { type filter hook input priority 0; }");
        }
        network
    }

    /// How many machines there are.
    #[must_use]
    pub const fn machines(&self) -> usize {
        self.machines
    }

    /// Where this process is.
    #[must_use]
    pub const fn here() -> Ipv4Addr {
        Ipv4Addr::new(10, 83, 0, 1)
    }

    /// Where a machine is.
    ///
    /// # Panics
    /// If there are more than an address can count.
    #[must_use]
    pub fn address(&self, machine: usize) -> Ipv4Addr {
        Ipv4Addr::new(10, 83, 0, u8::try_from(10 + machine).unwrap())
    }

    /// What a command is started with to run on a machine.
    #[must_use]
    pub fn inside(&self, machine: usize) -> Vec<String> {
        ["ip", "netns", "exec", &format!("m{machine}")].map(str::to_owned).into()
    }

    /// Nothing that comes from one machine reaches another any more; the way back stays open.
    pub fn cut(&self, from: usize, to: usize) {
        self.nft(to, &format!("add rule ip cuts in ip saddr {} drop", self.address(from)));
    }

    /// Neither machine reaches the other.
    pub fn part(&self, one: usize, other: usize) {
        self.cut(one, other);
        self.cut(other, one);
    }

    /// Everybody reaches everybody again.
    pub fn heal(&self) {
        (0..self.machines).for_each(|machine| self.nft(machine, "flush chain ip cuts in"));
    }

    fn nft(&self, machine: usize, rule: &str) {
        let inside = self.inside(machine);
        let mut args: Vec<&str> = inside.iter().skip(1).map(String::as_str).collect();
        args.extend(["nft", rule]);
        run(&inside[0], &args);
    }
}

/// How this machine allows namespaces; none if it does not.
fn unshare() -> Option<Vec<&'static str>> {
    let plain = vec!["--net", "--pid", "--mount-proc", "--fork", "--kill-child"];
    let mapped = [&["--user", "--map-root-user"], &plain[..]].concat();
    let probe =
        "mount -t tmpfs tmpfs /run && ip netns add probe && ip netns exec probe nft add table ip probe";
    [plain, mapped].into_iter().find(|args| {
        let mut unshare = Command::new("unshare");
        unshare.args(args).args(["sh", "-c", probe]).stdout(Stdio::null()).stderr(Stdio::null());
        unshare.status().is_ok_and(|status| status.success())
    })
}

fn ip(args: &str) {
    run("ip", &args.split(' ').collect::<Vec<_>>());
}

fn run(program: &str, args: &[&str]) {
    let said = Command::new(program).args(args).output().unwrap();
    assert!(said.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&said.stderr));
}

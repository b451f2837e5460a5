//! A network between a clone and a git daemon: it cuts, doubles and delays pushes. Everything else passes.

use std::collections::VecDeque;
use std::io::{Read, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What happens to a push on its way, once the server has said where its refs are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// It does not arrive, and no answer comes.
    CutBefore,
    /// It arrives, and no answer comes.
    CutAfter,
    /// It arrives twice, and the second answer comes.
    Doubled,
    /// No answer comes, and it arrives just before the next one.
    Late,
}

impl Fault {
    pub(crate) const ALL: [Self; 5] =
        [Self::None, Self::CutBefore, Self::CutAfter, Self::Doubled, Self::Late];
}

/// What a client sends: what it asks for, and then the push.
type Sent = (Vec<u8>, Vec<u8>);

#[derive(Default)]
struct Plan {
    faults: VecDeque<Fault>,
    late: Vec<Sent>,
}

/// The way to a daemon.
pub(crate) struct Way {
    port: u16,
    to: String,
    plan: Arc<Mutex<Plan>>,
}

impl Way {
    /// The way to the daemon that serves a URL.
    pub(crate) fn to(url: &str) -> Self {
        let to = url.strip_prefix("git://").unwrap().split('/').next().unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let plan = Arc::new(Mutex::new(Plan::default()));
        let way = Self { port, to: to.clone(), plan: Arc::clone(&plan) };
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (to, plan) = (to.clone(), Arc::clone(&plan));
                // A connection that is cut is no failure here.
                std::thread::spawn(move || pass(client, &to, &plan));
            }
        });
        way
    }

    pub(crate) fn url(&self, name: &str) -> String {
        format!("git://127.0.0.1:{}/{name}", self.port)
    }

    /// What happens to the next pushes.
    pub(crate) fn next(&self, faults: &[Fault]) {
        self.plan.lock().unwrap().faults = faults.iter().copied().collect();
    }

    /// Lets everything arrive that is late.
    pub(crate) fn deliver(&self) {
        deliver(&self.to, &self.plan);
    }
}

fn deliver(to: &str, plan: &Mutex<Plan>) {
    let late = std::mem::take(&mut plan.lock().unwrap().late);
    for sent in late {
        send(to, &sent);
    }
}

/// Sends all of it to the server, and says what it answers.
fn send(to: &str, (asked, push): &Sent) -> Vec<u8> {
    let mut server = TcpStream::connect(to).unwrap();
    server.write_all(asked).unwrap();
    while packet(&mut server).is_some_and(|packet| packet != b"0000") {}
    server.write_all(push).unwrap();
    let mut answer = Vec::new();
    let _ = server.read_to_end(&mut answer);
    answer
}

/// One packet of git's protocol; none if the connection has ended.
fn packet(from: &mut TcpStream) -> Option<Vec<u8>> {
    let mut packet = vec![0; 4];
    from.read_exact(&mut packet).ok()?;
    let length = usize::from_str_radix(std::str::from_utf8(&packet).ok()?, 16).ok()?;
    packet.resize(length.max(4), 0);
    from.read_exact(&mut packet[4..]).ok()?;
    Some(packet)
}

/// Copies until there is no more, and says what that was.
fn copy(mut from: TcpStream, mut to: TcpStream) -> Vec<u8> {
    let (mut all, mut part) = (Vec::new(), [0; 65_536]);
    while let Ok(count @ 1..) = from.read(&mut part) {
        all.extend_from_slice(&part[..count]);
        if to.write_all(&part[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
    all
}

fn pass(mut client: TcpStream, to: &str, plan: &Mutex<Plan>) -> Option<()> {
    let asked = packet(&mut client)?;
    let mut server = TcpStream::connect(to).ok()?;
    server.write_all(&asked).ok()?;
    let mut fault = Fault::None;
    if asked[4..].starts_with(b"git-receive-pack") {
        loop {
            let said = packet(&mut server)?;
            client.write_all(&said).ok()?;
            if said == b"0000" {
                break;
            }
        }
        // The client has made up its mind once it begins to send.
        client.peek(&mut [0; 4]).ok().filter(|count| *count > 0)?;
        deliver(to, plan);
        fault = plan.lock().unwrap().faults.pop_front().unwrap_or(Fault::None);
    }
    let both = || Some((client.try_clone().ok()?, server.try_clone().ok()?));
    match fault {
        Fault::CutBefore => {}
        Fault::Late => {
            // Whoever waits for the answer gives up at last.
            let mut push = Vec::new();
            let _ = client.read_to_end(&mut push);
            plan.lock().unwrap().late.push((asked, push));
        }
        Fault::None | Fault::CutAfter | Fault::Doubled => {
            let (from, into) = both()?;
            let sending = std::thread::spawn(move || copy(from, into));
            if fault == Fault::None {
                let (into, from) = both()?;
                copy(from, into);
            } else {
                let mut answer = Vec::new();
                let _ = server.read_to_end(&mut answer);
            }
            if fault == Fault::Doubled {
                let _ = client.shutdown(Shutdown::Read);
                let push = sending.join().ok()?;
                client.write_all(&send(to, &(asked, push))).ok()?;
            }
        }
    }
    for stream in [&client, &server] {
        let _ = stream.shutdown(Shutdown::Both);
    }
    Some(())
}

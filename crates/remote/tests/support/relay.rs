//! A network between a clone and a server: it cuts, doubles and delays what changes something there, and may answer for
//! the server. Everything else passes. It speaks as a member of etcd does, and as a git daemon.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What happens to a change on its way.
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
    /// It arrives, and half of the answer comes.
    HalfAnswered,
    /// It does not arrive, and is answered with nothing.
    Nothing,
    /// It does not arrive, and is answered with success.
    Success,
    /// It arrives, and a gateway in between says that it took too long.
    Gateway,
}

impl Fault {
    /// What may happen to a push.
    pub(crate) const OF_PUSHES: [Self; 5] =
        [Self::None, Self::CutBefore, Self::CutAfter, Self::Doubled, Self::Late];

    /// What may happen to a transaction.
    pub(crate) const OF_TRANSACTIONS: [Self; 9] = [
        Self::None,
        Self::CutBefore,
        Self::CutAfter,
        Self::HalfAnswered,
        Self::Doubled,
        Self::Late,
        Self::Nothing,
        Self::Success,
        Self::Gateway,
    ];
}

/// What a client sends, in the parts between which the server speaks.
type Sent = Vec<Vec<u8>>;

/// How a server is spoken to.
struct Speech {
    scheme: &'static str,
    /// Passes on what one connection has; none if it was cut.
    pass: fn(TcpStream, &Between) -> Option<()>,
    /// Sends all of it to the server, and says what it answers.
    send: fn(&str, &Sent) -> Vec<u8>,
}

const HTTP: Speech = Speech { scheme: "http://", pass: transaction, send: request };
const GIT: Speech = Speech { scheme: "git://", pass: push, send: pushed };

/// What is between a client and a server.
struct Between {
    to: String,
    speech: Speech,
    faults: Mutex<VecDeque<Fault>>,
    late: Mutex<Vec<Sent>>,
    connections: AtomicUsize,
}

impl Between {
    fn deliver(&self) {
        let late = std::mem::take(&mut *self.late.lock().unwrap());
        for sent in late {
            (self.speech.send)(&self.to, &sent);
        }
    }

    /// What happens to a change that comes now.
    fn fault(&self) -> Fault {
        self.deliver();
        self.faults.lock().unwrap().pop_front().unwrap_or(Fault::None)
    }
}

/// The way to a server.
pub(crate) struct Relay {
    port: u16,
    between: Arc<Between>,
}

impl Relay {
    /// The way to the member of etcd, or the daemon, that serves a URL.
    pub(crate) fn to(url: &str) -> Self {
        let speech = if url.starts_with(GIT.scheme) { GIT } else { HTTP };
        let to = url.strip_prefix(speech.scheme).unwrap().split('/').next().unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (faults, late, connections) = (Mutex::default(), Mutex::default(), AtomicUsize::default());
        let between = Arc::new(Between { to, speech, faults, late, connections });
        let relay = Self { port, between: Arc::clone(&between) };
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                between.connections.fetch_add(1, Ordering::SeqCst);
                let between = Arc::clone(&between);
                // A connection that is cut is no failure here.
                std::thread::spawn(move || (between.speech.pass)(client, &between));
            }
        });
        relay
    }

    pub(crate) fn url(&self, name: &str) -> String {
        let slash = if name.is_empty() { "" } else { "/" };
        format!("{}127.0.0.1:{}{slash}{name}", self.between.speech.scheme, self.port)
    }

    /// What happens to the next changes.
    pub(crate) fn next(&self, faults: &[Fault]) {
        *self.between.faults.lock().unwrap() = faults.iter().copied().collect();
    }

    /// Lets everything arrive that is late.
    pub(crate) fn deliver(&self) {
        self.between.deliver();
    }

    /// How often somebody came this way.
    pub(crate) fn connections(&self) -> usize {
        self.between.connections.load(Ordering::SeqCst)
    }
}

/// One request, after which the connection is closed, and whether it is a transaction.
fn requested(stream: &TcpStream) -> Option<(bool, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let is_txn = head.starts_with("POST /v3/kv/txn ");
    let mut request = format!("{head}Connection: close\r\n\r\n").into_bytes();
    request.extend(body);
    Some((is_txn, request))
}

fn request(to: &str, sent: &Sent) -> Vec<u8> {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.write_all(&sent.concat()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

fn said(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

fn transaction(mut client: TcpStream, between: &Between) -> Option<()> {
    let (is_txn, bytes) = requested(&client)?;
    let sent = vec![bytes];
    let forward = || request(&between.to, &sent);
    between.deliver();
    let answer = match if is_txn { between.fault() } else { Fault::None } {
        Fault::None => forward(),
        Fault::CutBefore => return None,
        Fault::CutAfter => {
            forward();
            return None;
        }
        Fault::HalfAnswered => {
            let mut answer = forward();
            answer.truncate(answer.len() - 10);
            answer
        }
        Fault::Doubled => {
            forward();
            forward()
        }
        Fault::Late => {
            between.late.lock().unwrap().push(sent);
            return None;
        }
        Fault::Nothing => said("200 OK", "{}"),
        Fault::Success => {
            said("200 OK", r#"{"header":{"cluster_id":"1","revision":"99999"},"succeeded":true}"#)
        }
        Fault::Gateway => {
            forward();
            said("504 Gateway Timeout", "")
        }
    };
    client.write_all(&answer).ok()
}

/// Sends a push once the server has said where its refs are.
fn pushed(to: &str, sent: &Sent) -> Vec<u8> {
    let [asked, push] = sent.as_slice() else { panic!("a push has two parts") };
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

fn push(mut client: TcpStream, between: &Between) -> Option<()> {
    let asked = packet(&mut client)?;
    let mut server = TcpStream::connect(&between.to).ok()?;
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
        fault = between.fault();
    }
    let both = || Some((client.try_clone().ok()?, server.try_clone().ok()?));
    match fault {
        Fault::CutBefore => {}
        Fault::Late => {
            // Whoever waits for the answer gives up at last.
            let mut push = Vec::new();
            let _ = client.read_to_end(&mut push);
            between.late.lock().unwrap().push(vec![asked, push]);
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
                client.write_all(&pushed(&between.to, &vec![asked, push])).ok()?;
            }
        }
        Fault::HalfAnswered | Fault::Nothing | Fault::Success | Fault::Gateway => {
            panic!("{fault:?} is nothing that happens to a push")
        }
    }
    for stream in [&client, &server] {
        let _ = stream.shutdown(Shutdown::Both);
    }
    Some(())
}

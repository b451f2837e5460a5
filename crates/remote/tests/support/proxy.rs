//! A network between a clone and a member of etcd: it cuts, doubles and delays transactions, and answers for them.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What happens to a transaction on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// It does not arrive, and no answer comes.
    CutBefore,
    /// It arrives, and no answer comes.
    CutAfter,
    /// It arrives, and half of the answer comes.
    HalfAnswered,
    /// It arrives twice, and the second answer comes.
    Doubled,
    /// No answer comes, and it arrives with the next request.
    Late,
    /// It does not arrive, and is answered with nothing.
    Nothing,
    /// It does not arrive, and is answered with success.
    Success,
    /// It arrives, and a gateway in between says that it took too long.
    Gateway,
}

impl Fault {
    pub(crate) const ALL: [Self; 9] = [
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

#[derive(Default)]
struct Plan {
    faults: VecDeque<Fault>,
    late: Vec<Vec<u8>>,
}

/// A proxy in front of a member.
pub(crate) struct Proxy {
    port: u16,
    upstream: String,
    plan: Arc<Mutex<Plan>>,
}

impl Proxy {
    pub(crate) fn start(url: &str) -> Self {
        let upstream = url.strip_prefix("http://").unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let plan = Arc::new(Mutex::new(Plan::default()));
        let proxy = Self { port, upstream: upstream.clone(), plan: Arc::clone(&plan) };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                serve(&stream, &upstream, &plan);
            }
        });
        proxy
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What happens to the next transactions.
    pub(crate) fn next(&self, faults: &[Fault]) {
        self.plan.lock().unwrap().faults = faults.iter().copied().collect();
    }

    /// Lets everything arrive that is late.
    pub(crate) fn deliver(&self) {
        deliver(&self.upstream, &self.plan);
    }
}

fn deliver(upstream: &str, plan: &Mutex<Plan>) {
    let late = std::mem::take(&mut plan.lock().unwrap().late);
    for request in late {
        forward(upstream, &request);
    }
}

/// One request, after which the connection is closed.
fn request(stream: &TcpStream) -> Option<(bool, Vec<u8>)> {
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

fn forward(upstream: &str, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(upstream).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

fn said(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

fn serve(mut stream: &TcpStream, upstream: &str, plan: &Mutex<Plan>) {
    let Some((is_txn, request)) = request(stream) else { return };
    deliver(upstream, plan);
    let planned = if is_txn { plan.lock().unwrap().faults.pop_front() } else { None };
    let answer = match planned.unwrap_or(Fault::None) {
        Fault::None => forward(upstream, &request),
        Fault::CutBefore => return,
        Fault::CutAfter => {
            forward(upstream, &request);
            return;
        }
        Fault::HalfAnswered => {
            let mut answer = forward(upstream, &request);
            answer.truncate(answer.len() - 10);
            answer
        }
        Fault::Doubled => {
            forward(upstream, &request);
            forward(upstream, &request)
        }
        Fault::Late => {
            plan.lock().unwrap().late.push(request);
            return;
        }
        Fault::Nothing => said("{}"),
        Fault::Success => said(r#"{"header":{"cluster_id":"1","revision":"99999"},"succeeded":true}"#),
        Fault::Gateway => {
            forward(upstream, &request);
            b"HTTP/1.1 504 Gateway Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec()
        }
    };
    let _ = stream.write_all(&answer);
}

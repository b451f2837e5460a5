//! Requests over HTTP/1.1, as few as etcd's gateway needs: one POST after the other, each within a time, no redirects.
//! A request is never repeated once a byte of it may have arrived, unless whoever asks says that it only reads.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use holdfast_kernel::{Millis, Stamp};
use holdfast_sys::Sys;

use rustls::ClientConfig;

use super::endpoint::Endpoint;
use super::tls::Stream;

/// More than an answer can have.
const LONGEST: usize = 64 << 20;

/// More than the lines before an answer can have.
const LONGEST_HEAD: usize = 1 << 16;

/// A connection that was idle for longer may be closed on the other side, which only the answer would show.
const IDLE: Millis = Millis::from_secs(5);

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Failure {
    /// Nothing was sent.
    NotSent(String),
    /// Something was sent, and nobody knows what came of it.
    Unheard(String),
}

impl Failure {
    pub(super) fn words(self) -> String {
        match self {
            Self::NotSent(words) | Self::Unheard(words) => words,
        }
    }
}

/// An answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

/// A connection to an endpoint.
pub(super) struct Connection {
    stream: Stream,
    used: Stamp,
}

/// Whoever sends requests to one endpoint.
pub(super) struct Sender<'a> {
    pub(super) sys: &'a Sys,
    pub(super) endpoint: &'a Endpoint,
    /// How TLS is spoken, where it is.
    pub(super) tls: Option<Arc<ClientConfig>>,
    /// How long an answer may take.
    pub(super) limit: Millis,
}

impl Sender<'_> {
    /// Sends a request over `kept`, or over a new connection, and keeps the one that can be used again.
    pub(super) fn post(
        &self,
        kept: &mut Option<Connection>,
        path: &str,
        token: Option<&str>,
        body: &[u8],
    ) -> Result<Reply, Failure> {
        let began = self.now()?;
        let mut connection = match kept.take() {
            Some(connection) if began.since(&connection.used).forward() < IDLE => connection,
            _ => self.connect()?,
        };
        let request = self.request(path, token, body);
        let unheard = |error: &dyn std::fmt::Display| Failure::Unheard(format!("{}: {error}", self.endpoint));
        connection.stream.set_limit(self.left(&began)?).map_err(|error| unheard(&error))?;
        connection.stream.write_all(&request).map_err(|error| unheard(&error))?;
        connection.stream.flush().map_err(|error| unheard(&error))?;
        let mut answer =
            Answer { sender: self, began, connection: &mut connection, bytes: Vec::new(), at: 0 };
        let (reply, goes_on) = answer.read().map_err(|why| unheard(&why))?;
        if let (true, Ok(now)) = (goes_on, self.now()) {
            connection.used = now;
            *kept = Some(connection);
        }
        Ok(reply)
    }

    fn request(&self, path: &str, token: Option<&str>, body: &[u8]) -> Vec<u8> {
        let token = token.map(|token| format!("Authorization: {token}\r\n")).unwrap_or_default();
        let mut request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n{token}Content-Length: {}\r\n\r\n",
            self.endpoint.authority(),
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        request
    }

    fn connect(&self) -> Result<Connection, Failure> {
        let failed = |why: &dyn std::fmt::Display| Failure::NotSent(format!("{}: {why}", self.endpoint));
        let limit = Duration::from_millis(self.limit.get());
        let socket = holdfast_sys::os::connect(&self.endpoint.host, self.endpoint.port, limit);
        let plain = Stream::Plain(socket.map_err(|error| failed(&error))?);
        plain.set_limit(limit).map_err(|error| failed(&error))?;
        let stream = match (plain, &self.tls) {
            (Stream::Plain(socket), Some(config)) if self.endpoint.secure => {
                Stream::secure(socket, &self.endpoint.host, config).map_err(|why| failed(&why))?
            }
            (_, None) if self.endpoint.secure => return Err(failed(&"nothing is known of TLS")),
            (plain, _) => plain,
        };
        Ok(Connection { stream, used: self.now()? })
    }

    fn now(&self) -> Result<Stamp, Failure> {
        self.sys.clock.now().map_err(|error| Failure::NotSent(error.to_string()))
    }

    fn left(&self, began: &Stamp) -> Result<Duration, Failure> {
        let passed = self.now()?.since(began).forward();
        let left = self.limit.get().saturating_sub(passed.get());
        Ok(Duration::from_millis(left.max(1)))
    }
}

/// An answer that is being read.
struct Answer<'a> {
    sender: &'a Sender<'a>,
    began: Stamp,
    connection: &'a mut Connection,
    bytes: Vec<u8>,
    at: usize,
}

type Parsed<T> = Result<T, String>;

impl Answer<'_> {
    /// The answer, and whether the connection can be used again.
    fn read(&mut self) -> Parsed<(Reply, bool)> {
        let mut status = self.status()?;
        // What a server says on the way to an answer is none.
        while (100..200).contains(&status) {
            self.headers()?;
            status = self.status()?;
        }
        let headers = self.headers()?;
        let find = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let body = match (find("transfer-encoding"), find("content-length")) {
            (Some(coding), _) if coding.eq_ignore_ascii_case("chunked") => self.chunks()?,
            (Some(coding), _) => return Err(format!("an answer in '{}'", coding.escape_debug())),
            (None, Some(length)) => {
                let length = length.parse().ok().filter(|length| *length <= LONGEST);
                self.take(length.ok_or("an answer without a sensible length")?)?
            }
            (None, None) => return Err("an answer without a length".into()),
        };
        let goes_on = find("connection").is_none_or(|word| !word.eq_ignore_ascii_case("close"));
        Ok((Reply { status, body }, goes_on))
    }

    fn status(&mut self) -> Parsed<u16> {
        let line = self.line()?;
        let odd = || {
            format!("'{}' is no answer of HTTP/1.1", line.chars().take(80).collect::<String>().escape_debug())
        };
        let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1));
        status.and_then(|status| status.parse().ok()).ok_or_else(odd)
    }

    fn headers(&mut self) -> Parsed<Vec<(String, String)>> {
        let mut headers = Vec::new();
        let mut length = 0;
        loop {
            let line = self.line()?;
            if line.is_empty() {
                return Ok(headers);
            }
            length += line.len();
            if length > LONGEST_HEAD {
                return Err("its headers have no end".into());
            }
            if let Some((key, value)) = line.split_once(':') {
                headers.push((key.to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
    }

    fn chunks(&mut self) -> Parsed<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?;
            let size = line.split(';').next().map(str::trim).unwrap_or_default();
            let size = usize::from_str_radix(size, 16).ok().filter(|size| *size <= LONGEST);
            let size = size.ok_or("a part without a sensible length")?;
            if size == 0 {
                self.headers()?;
                return Ok(body);
            }
            if body.len() + size > LONGEST {
                return Err("it has no end".into());
            }
            body.extend(self.take(size)?);
            if !self.line()?.is_empty() {
                return Err("a part that is longer than it says".into());
            }
        }
    }

    /// The next line, without its end.
    fn line(&mut self) -> Parsed<String> {
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line = rest.get(..end).unwrap_or_default();
                let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
                self.at += end + 1;
                return Ok(line);
            }
            if rest.len() > LONGEST_HEAD {
                return Err("a line has no end".into());
            }
            self.more()?;
        }
    }

    /// The next so many bytes.
    fn take(&mut self, size: usize) -> Parsed<Vec<u8>> {
        loop {
            if let Some(taken) = self.bytes.get(self.at..).and_then(|rest| rest.get(..size)) {
                let taken = taken.to_vec();
                self.at += size;
                return Ok(taken);
            }
            self.more()?;
        }
    }

    fn more(&mut self) -> Parsed<()> {
        let mut buffer = [0; 16 << 10];
        let left = self.sender.left(&self.began).map_err(Failure::words)?;
        self.connection.stream.set_limit(left).map_err(|error| error.to_string())?;
        if left <= Duration::from_millis(1) {
            return Err(format!("no answer within {} ms", self.sender.limit.get()));
        }
        match self.connection.stream.read(&mut buffer) {
            Ok(0) => Err("the connection was closed in the middle of an answer".into()),
            Ok(count) => {
                self.bytes.drain(..self.at);
                self.at = 0;
                self.bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
                Ok(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use holdfast_kernel::Millis;
    use holdfast_sys::Sys;

    use super::{Failure, Reply, Sender};
    use crate::etcd::endpoint::Endpoint;

    /// What comes of one request to a server that answers with this and closes.
    fn asked(answer: &'static [u8]) -> Result<Reply, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = Endpoint::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let count = stream.read(&mut request).unwrap();
            let _ = stream.write_all(answer);
            String::from_utf8_lossy(&request[..count]).into_owned()
        });
        let sys = Sys::os();
        let sender = Sender { sys: &sys, endpoint: &endpoint, tls: None, limit: Millis::from_secs(10) };
        let reply = sender.post(&mut None, "/v3/kv/range", Some("token"), b"{}");
        let request = server.join().unwrap();
        assert!(request.starts_with("POST /v3/kv/range HTTP/1.1\r\nHost: 127.0.0.1:"), "{request}");
        assert!(request.ends_with("Authorization: token\r\nContent-Length: 2\r\n\r\n{}"), "{request}");
        reply
    }

    #[test]
    fn an_answer_is_read_whole_or_not_at_all() {
        let whole = |body: &[u8]| Ok(Reply { status: 200, body: body.to_vec() });
        assert_eq!(asked(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"), whole(b"abc"));
        assert_eq!(
            asked(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
            whole(b"abcde")
        );
        assert_eq!(
            asked(b"HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n"),
            Ok(Reply { status: 503, body: Vec::new() })
        );
        for cut in [
            &b""[..],
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n\r\n",
            b"SSH-2.0-OpenSSH_9.2\r\n",
        ] {
            assert!(matches!(asked(cut), Err(Failure::Unheard(_))), "{}", String::from_utf8_lossy(cut));
        }
    }

    #[test]
    fn a_server_that_is_not_there_was_sent_nothing() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let endpoint = Endpoint::parse(&format!("http://127.0.0.1:{port}")).unwrap();
        let sys = Sys::os();
        let sender = Sender { sys: &sys, endpoint: &endpoint, tls: None, limit: Millis::from_secs(5) };
        let failed = sender.post(&mut None, "/v3/kv/range", None, b"{}");
        assert!(matches!(failed, Err(Failure::NotSent(_))), "{failed:?}");
    }

    #[test]
    fn a_server_that_says_nothing_is_given_up_in_time() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = Endpoint::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let sys = Sys::os();
        let sender = Sender { sys: &sys, endpoint: &endpoint, tls: None, limit: Millis::new(200) };
        let failed = sender.post(&mut None, "/v3/kv/range", None, b"{}");
        assert!(matches!(failed, Err(Failure::Unheard(_))), "{failed:?}");
    }
}

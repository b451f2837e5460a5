//! HTTP by hand, so that a test can say exactly what it likes.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Somebody who knows the token.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) address: String,
    pub(crate) token: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// The document, if it was answered.
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    /// The status and the code of an error.
    pub(crate) fn refused(&self) -> (u16, String) {
        (self.status, self.json()["error"]["code"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned())
    }
}

impl Client {
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.request("GET", path, &[("Authorization", &self.bearer())], None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        let headers = [("Authorization", self.bearer())];
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.request("POST", path, &headers, Some(&body.to_string()))
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// A cookie for the token.
    pub(crate) fn cookie(&self) -> String {
        let body = format!("{{\"token\":\"{}\"}}", self.token);
        let reply = self.request("POST", "/api/session", &[("Origin", &self.origin())], Some(&body));
        assert_eq!(reply.status, 200, "{reply:?}");
        let cookie = &reply.headers["set-cookie"];
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict"), "{cookie}");
        cookie.split(';').next().unwrap().to_owned()
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A request with a proper Host, and JSON if there is a body.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> Reply {
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        let has = |name: &str| headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        if !has("host") {
            text.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = body {
            if !has("content-type") {
                text.push_str("Content-Type: application/json\r\n");
            }
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        text.push_str("Connection: close\r\n\r\n");
        text.push_str(body.unwrap_or_default());
        self.raw(text.as_bytes())
    }

    /// Whatever is sent, and what comes back.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Reply {
        self.heard(bytes).unwrap()
    }

    /// Whatever is sent, and what comes back, if anything does: a server that refuses what is no HTTP at all need not read to
    /// the end.
    pub(crate) fn heard(&self, bytes: &[u8]) -> Option<Reply> {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes);
        read(&mut BufReader::new(stream))
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }
}

/// Reads one reply; none if the connection ended first.
pub(crate) fn read(from: &mut BufReader<TcpStream>) -> Option<Reply> {
    let mut line = String::new();
    from.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let status = line.split(' ').nth(1)?.parse().ok()?;
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        from.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    Some(Reply { status, headers, body: String::from_utf8(body).unwrap() })
}

/// Events as they come.
pub(crate) struct Events {
    lines: BufReader<TcpStream>,
    chunk: usize,
    text: String,
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    pub(crate) data: Value,
}

impl Events {
    /// Follows what happens, from a cursor if there is one.
    pub(crate) fn follow(client: &Client, cursor: Option<&str>) -> Self {
        Self::follow_at(client, "/api/events", cursor)
    }

    /// The same at a path of one's own.
    pub(crate) fn follow_at(client: &Client, path: &str, cursor: Option<&str>) -> Self {
        let mut stream = client.connect();
        let cursor = cursor.map(|cursor| format!("Last-Event-ID: {cursor}\r\n")).unwrap_or_default();
        let (address, bearer) = (&client.address, client.bearer());
        let text =
            format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: {bearer}\r\n{cursor}\r\n");
        stream.write_all(text.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(lines.read_line(&mut head).unwrap() > 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("text/event-stream"), "{head}");
        let mut events = Self { lines, chunk: 0, text: String::new() };
        assert!(events.block().starts_with(": here"), "a comment comes at once");
        events
    }

    /// The next event; comments are passed over.
    pub(crate) fn next(&mut self) -> Event {
        loop {
            let block = self.block();
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
            if let Some(name) = field("event: ") {
                return Event {
                    name: name.to_owned(),
                    id: field("id: ").map(ToOwned::to_owned),
                    data: serde_json::from_str(field("data: ").unwrap()).unwrap(),
                };
            }
        }
    }

    /// What stands before the next empty line.
    fn block(&mut self) -> String {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return block;
            }
            let mut size = String::new();
            self.lines.read_line(&mut size).unwrap();
            self.chunk = usize::from_str_radix(size.trim(), 16).unwrap();
            let mut bytes = vec![0; self.chunk + 2];
            self.lines.read_exact(&mut bytes).unwrap();
            bytes.truncate(self.chunk);
            self.text.push_str(&String::from_utf8(bytes).unwrap());
        }
    }
}

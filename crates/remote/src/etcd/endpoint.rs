//! Where a member of etcd is reached.

use std::fmt;

/// The port that etcd listens on where nobody says otherwise.
const PORT: u16 = 2_379;

/// Where a member is reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Endpoint {
    /// Whether it is reached over TLS.
    pub(super) secure: bool,
    pub(super) host: String,
    pub(super) port: u16,
}

impl Endpoint {
    /// The endpoint that a URL names.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let odd = |why: &str| format!("'{}' {why}", url.escape_debug());
        // What is wrong with it may be a password.
        if url.contains('@') {
            return Err("an endpoint has no login: coordination.user names the user".into());
        }
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(odd("is no endpoint: http://HOST:PORT"));
        };
        let secure = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(odd("is no endpoint: http://HOST:PORT or https://HOST:PORT")),
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let bracketed = authority.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (host, port) = match bracketed {
            Some((host, port)) => (host, port.strip_prefix(':').unwrap_or(port)),
            None => authority.split_once(':').unwrap_or((authority, "")),
        };
        let port = if port.is_empty() { Ok(PORT) } else { port.parse() };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let is_address = |c: char| c.is_ascii_hexdigit() || matches!(c, ':' | '.');
        let good = match bracketed {
            Some(_) => host.chars().all(is_address),
            None => host.chars().all(is_plain),
        };
        match port {
            Ok(port) if good && !host.is_empty() && port > 0 => {
                Ok(Self { secure, host: host.to_owned(), port })
            }
            _ => Err(odd("is no endpoint: http://HOST:PORT")),
        }
    }

    /// The host and the port, as HTTP has them.
    pub(super) fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.secure { "https" } else { "http" }, self.authority())
    }
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    #[test]
    fn an_endpoint_is_a_host_and_a_port() {
        for (url, secure, host, port) in [
            ("http://10.0.0.1:2379", false, "10.0.0.1", 2_379),
            ("http://etcd-1.example.org", false, "etcd-1.example.org", 2_379),
            ("http://[::1]:77/", false, "::1", 77),
            ("http://[fe80::1]", false, "fe80::1", 2_379),
            ("https://etcd-1.example.org:77", true, "etcd-1.example.org", 77),
        ] {
            assert_eq!(Endpoint::parse(url), Ok(Endpoint { secure, host: host.into(), port }), "{url}");
        }
        for url in [
            "10.0.0.1:2379",
            "ftp://host",
            "http://",
            "http://host:0",
            "http://host:99999",
            "http://host/path",
            "http://ho st",
            "http://host\r\nX: y",
            "http://[::1",
            "http://[host]:1",
        ] {
            assert!(Endpoint::parse(url).is_err(), "{url}");
        }
        let why = Endpoint::parse("http://me:s3cret@host").unwrap_err();
        assert!(!why.contains("s3cret"), "{why}");
    }
}

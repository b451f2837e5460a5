//! Who gets in. Every request passes here first: it has to name this server, a page that asks has to be ours, and whoever
//! asks for data has to know the token.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use hyper::header::{AUTHORIZATION, AsHeaderName, COOKIE, HOST, HeaderMap, ORIGIN};
use hyper::{Method, Uri};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::problem::{Own, Problem};
use crate::token::Token;

/// Who gets in.
pub(crate) struct Gatekeeper {
    token: Token,
    /// The names of this server, with its port.
    hosts: BTreeSet<String>,
    /// What the cookie is called: two servers on one machine share the cookies of a browser, whatever their ports.
    cookie: String,
}

/// The token, to be exchanged for a cookie.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionBody {
    /// The token.
    pub(crate) token: String,
}

/// How somebody got in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    /// With the token.
    Token,
    /// With a browser's cookie.
    Cookie,
}

impl Gatekeeper {
    /// Whoever keeps the gate of a server that listens there and has these names besides.
    pub(crate) fn new(token: Token, listens: SocketAddr, names: &[String]) -> Self {
        let port = listens.port();
        let mut hosts: BTreeSet<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        hosts.extend(names.iter().filter(|_| port == 80).cloned());
        if !listens.ip().is_unspecified() {
            hosts.insert(listens.to_string());
        }
        if listens.ip().is_loopback() || listens.ip().is_unspecified() {
            hosts.extend(["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        Self {
            token,
            hosts: hosts.iter().map(|host| host.to_lowercase()).collect(),
            cookie: format!("jit-{port}"),
        }
    }

    /// Checks that a request names this server, whichever way it does: a name that somebody else controls can lead to
    /// this machine.
    ///
    /// # Errors
    /// When it does not.
    pub(crate) fn host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let host = single(headers, HOST)?.ok_or_else(|| Problem::bad("the header Host is missing"))?;
        let ours = |host: &str| self.hosts.contains(&host.to_lowercase());
        let named = uri.authority().is_none_or(|authority| ours(authority.as_str()));
        if ours(host) && named { Ok(()) } else { Err(Problem::plain(Own::ForeignHost)) }
    }

    /// Checks that a page that asks is one of ours, where one says so.
    ///
    /// # Errors
    /// When it is not. `null` is no origin of ours either.
    fn origin(&self, headers: &HeaderMap) -> Result<bool, Problem> {
        let Some(origin) = single(headers, ORIGIN)? else { return Ok(false) };
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        match host.is_some_and(|host| self.hosts.contains(&host.to_lowercase())) {
            true => Ok(true),
            false => Err(Problem::plain(Own::ForeignOrigin)),
        }
    }

    /// Lets somebody in who asks for data or wants to change some.
    ///
    /// # Errors
    /// When nobody is let in like that.
    pub(crate) fn enter(&self, method: &Method, headers: &HeaderMap, now: u64) -> Result<Entry, Problem> {
        let has_origin = self.open(headers)?;
        if let Some(given) = single(headers, AUTHORIZATION)? {
            let token = given.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
            let known = token.is_some_and(|(_, token)| self.token.is(token.trim()));
            return if known { Ok(Entry::Token) } else { Err(Problem::plain(Own::Unauthorized)) };
        }
        if !self.has_cookie(headers, now) {
            return Err(Problem::plain(Own::Unauthorized));
        }
        // A browser sends the cookie for whichever page asks, and says which.
        if method != Method::GET && !has_origin {
            return Err(Problem::plain(Own::ForeignOrigin));
        }
        Ok(Entry::Cookie)
    }

    /// Checks what holds for whatever needs no token; says whether a page of ours asks.
    ///
    /// # Errors
    /// When another page asks.
    pub(crate) fn open(&self, headers: &HeaderMap) -> Result<bool, Problem> {
        let site = single(headers, "sec-fetch-site")?;
        if site.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
            return Err(Problem::plain(Own::ForeignOrigin));
        }
        self.origin(headers)
    }

    fn has_cookie(&self, headers: &HeaderMap, now: u64) -> bool {
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == self.cookie && self.token.signed(value, now))
    }

    /// Exchanges the token for a cookie.
    ///
    /// # Errors
    /// When it is not the token.
    pub(crate) fn exchange(&self, given: &str, now: u64) -> Result<String, Problem> {
        if !self.token.is(given) {
            return Err(Problem::plain(Own::Unauthorized));
        }
        let (name, value) = (&self.cookie, self.token.cookie(now));
        let age = crate::token::COOKIE_SECS;
        Ok(format!("{name}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict"))
    }
}

/// The one value of a header. Two of them may be read one way here and another way elsewhere.
fn single(headers: &HeaderMap, name: impl AsHeaderName) -> Result<Option<&str>, Problem> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            value.to_str().map(Some).map_err(|_| Problem::bad("a header holds what no header may hold"))
        }
        (Some(_), Some(_)) => Err(Problem::bad("a header is there twice that may be there once")),
    }
}

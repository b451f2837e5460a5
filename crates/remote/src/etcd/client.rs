//! Questions to a cluster: whichever member answers. What only reads is asked of the next member if one says nothing;
//! what changes something goes to the next one only if nothing of it was sent.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use holdfast_kernel::Millis;
use holdfast_sys::Sys;
use rustls::ClientConfig;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::endpoint::Endpoint;
use super::http::{Connection, Failure, Reply, Sender};
use super::tls::Tls;
use super::wire::{Login, Range, RangeAnswer, Refusal, StatusAnswer, Token, Txn, TxnAnswer};

/// Who asks, where the cluster wants to know.
#[derive(Clone)]
pub struct User {
    /// The name.
    pub name: String,
    /// What shows that it is that one.
    pub secret: Secret,
}

/// What shows who somebody is. It is never printed.
#[derive(Clone)]
pub enum Secret {
    /// A password, for which the cluster gives a token.
    Password(String),
    /// A token that somebody else got from the cluster, or made for it.
    Token(String),
}

impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why a question was not answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Trouble {
    /// The cluster says no: nothing was done.
    Refused(String),
    /// The member says that it cannot, or says nothing: whatever was asked may have been done or not.
    Unheard(String),
    /// Nothing was sent.
    NotSent(String),
}

impl Trouble {
    pub(super) fn words(self) -> String {
        match self {
            Self::Refused(words) | Self::Unheard(words) | Self::NotSent(words) => words,
        }
    }
}

type Asked<T> = Result<T, Trouble>;

#[derive(Default)]
struct Talk {
    /// The member that is asked next.
    at: usize,
    connection: Option<Connection>,
    token: Option<String>,
}

/// Whoever asks a cluster.
pub(super) struct Client {
    sys: Sys,
    endpoints: Vec<Endpoint>,
    user: Option<User>,
    tls: Option<Tls>,
    secured: OnceLock<Result<Arc<ClientConfig>, String>>,
    limit: Millis,
    talk: Mutex<Talk>,
}

/// How long a change is waited for where other members can be asked what became of it. One that stands still is found out
/// by nothing else: the system answers for it when it is connected to. Asking too early does no harm, because of what is
/// sent again under the same operation only one is done.
const CHANGE: Millis = Millis::from_secs(2);

/// The answers by which a member says that it did nothing. A timeout has a status of the same kind and is not among them.
const REFUSALS: [u16; 8] = [400, 401, 403, 404, 405, 412, 413, 429];

impl Client {
    pub(super) fn new(
        sys: &Sys,
        endpoints: Vec<Endpoint>,
        user: Option<User>,
        tls: Option<Tls>,
        limit: Millis,
    ) -> Self {
        let (secured, talk) = (OnceLock::new(), Mutex::default());
        Self { sys: sys.clone(), endpoints, user, tls, secured, limit, talk }
    }

    /// How TLS is spoken with a member; none where it is reached in the open.
    fn secured(&self, endpoint: &Endpoint) -> Asked<Option<Arc<ClientConfig>>> {
        if !endpoint.secure {
            return Ok(None);
        }
        let made = self.secured.get_or_init(|| match &self.tls {
            Some(tls) => tls.config(),
            None => Err("no authority is known whose certificates are believed".into()),
        });
        made.clone().map(Some).map_err(Trouble::NotSent)
    }

    pub(super) fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    pub(super) fn range(&self, range: &Range) -> Asked<RangeAnswer> {
        self.ask("/v3/kv/range", range, true)
    }

    pub(super) fn txn(&self, txn: &Txn) -> Asked<TxnAnswer> {
        self.ask("/v3/kv/txn", txn, false)
    }

    /// What the member says of itself that is asked next.
    pub(super) fn status(&self) -> Asked<StatusAnswer> {
        #[derive(Serialize)]
        struct Nothing {}
        self.ask("/v3/maintenance/status", &Nothing {}, true)
    }

    fn ask<T: DeserializeOwned>(&self, path: &str, question: &impl Serialize, reads: bool) -> Asked<T> {
        let body = serde_json::to_vec(question).map_err(|error| Trouble::NotSent(error.to_string()))?;
        let mut talk = self.talk.lock().unwrap_or_else(PoisonError::into_inner);
        let mut trouble = Trouble::NotSent("no endpoint is configured".into());
        let limit = match reads || self.endpoints.len() < 2 {
            true => self.limit,
            false => self.limit.min(CHANGE),
        };
        for _ in &self.endpoints {
            let asked = self.logged_in(&mut talk, path, &body, limit).and_then(|reply| {
                let odd = |error: serde_json::Error| Trouble::Unheard(format!("an odd answer: {error}"));
                serde_json::from_slice(&reply.body).map_err(odd)
            });
            trouble = match asked {
                Ok(answer) => return Ok(answer),
                Err(refused @ Trouble::Refused(_)) => return Err(refused),
                Err(trouble) => trouble,
            };
            // The next question goes to another member, whatever becomes of this one.
            talk.connection = None;
            talk.at = (talk.at + 1) % self.endpoints.len().max(1);
            if !reads && matches!(trouble, Trouble::Unheard(_)) {
                break;
            }
        }
        Err(trouble)
    }

    /// Asks one member, with a token if there is a user: one that has run out is replaced once.
    fn logged_in(&self, talk: &mut Talk, path: &str, body: &[u8], limit: Millis) -> Asked<Reply> {
        let Some(user) = &self.user else { return judged(self.post(talk, path, None, body, limit)?) };
        if let Secret::Token(token) = &user.secret {
            must_be_plain(token)
                .map_err(|why| Trouble::NotSent(format!("the token of {} {why}", user.name)))?;
            return judged(self.post(talk, path, Some(token), body, limit)?);
        }
        let had_one = talk.token.is_some();
        let token = match talk.token.clone() {
            Some(token) => token,
            None => self.log_in(talk, user)?,
        };
        let reply = self.post(talk, path, Some(&token), body, limit)?;
        if reply.status != 401 || !had_one {
            return judged(reply);
        }
        let token = self.log_in(talk, user)?;
        judged(self.post(talk, path, Some(&token), body, limit)?)
    }

    fn log_in(&self, talk: &mut Talk, user: &User) -> Asked<String> {
        talk.token = None;
        let Secret::Password(password) = &user.secret else {
            return Err(Trouble::NotSent("a token is not logged in with".into()));
        };
        let body = serde_json::to_vec(&Login { name: &user.name, password });
        let body = body.map_err(|error| Trouble::NotSent(error.to_string()))?;
        // Whatever comes of a login, the question itself was not sent.
        let not_sent = |trouble: Trouble| match trouble {
            Trouble::Refused(words) => Trouble::Refused(format!("the login of {}: {words}", user.name)),
            other => Trouble::NotSent(other.words()),
        };
        let reply = self
            .post(talk, "/v3/auth/authenticate", None, &body, self.limit)
            .and_then(judged)
            .map_err(not_sent)?;
        let token: Token = serde_json::from_slice(&reply.body)
            .map_err(|_| Trouble::NotSent("the answer to a login has no token".into()))?;
        must_be_plain(&token.token)
            .map_err(|why| Trouble::NotSent(format!("the token in the answer to a login {why}")))?;
        talk.token = Some(token.token.clone());
        Ok(token.token)
    }

    fn post(
        &self,
        talk: &mut Talk,
        path: &str,
        token: Option<&str>,
        body: &[u8],
        limit: Millis,
    ) -> Asked<Reply> {
        let Some(endpoint) = self.endpoints.get(talk.at) else {
            return Err(Trouble::NotSent("no endpoint is configured".into()));
        };
        let tls = self.secured(endpoint)?;
        let sender = Sender { sys: &self.sys, endpoint, tls, limit };
        sender.post(&mut talk.connection, path, token, body).map_err(|failure| match failure {
            Failure::NotSent(words) => Trouble::NotSent(words),
            Failure::Unheard(words) => Trouble::Unheard(words),
        })
    }
}

/// Whether a token can be sent in a header.
fn must_be_plain(token: &str) -> Result<(), &'static str> {
    match !token.is_empty() && token.chars().all(|c| c.is_ascii_graphic()) {
        true => Ok(()),
        false => Err("is empty or has characters that cannot be sent"),
    }
}

/// What the status of an answer means.
fn judged(reply: Reply) -> Asked<Reply> {
    if reply.status == 200 {
        return Ok(reply);
    }
    let said: Option<Refusal> = serde_json::from_slice(&reply.body).ok();
    let said = said.map(|said| if said.error.is_empty() { said.message } else { said.error });
    let said: String = said.unwrap_or_default().chars().filter(|c| !c.is_control()).take(300).collect();
    let words = format!("status {}: {}", reply.status, if said.is_empty() { "no reason" } else { &said });
    match REFUSALS.contains(&reply.status) {
        true => Err(Trouble::Refused(words)),
        false => Err(Trouble::Unheard(words)),
    }
}

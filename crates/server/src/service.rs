//! What a request goes through: the gatekeeper, the table of routes, a question to the tracker on a thread of its own, and an
//! answer with the headers that every answer has.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use holdfast_door::Notes;
use holdfast_tracker::error::Result;
use holdfast_tracker::names::Names;
use holdfast_tracker::{Caller, Session, escalate};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use tokio::sync::Semaphore;

use crate::body::{self, Answer};
use crate::gatekeeper::{Gatekeeper, SessionBody};
use crate::guests::{Guest, Guests};
use crate::openapi;
use crate::pages;
use crate::place::Place;
use crate::problem::{Own, Problem};
use crate::query::Query;
use crate::routes::{self, Ask, Found, Route};
use crate::stream;
use crate::watch::Watch;

/// How many questions are put to the tracker at once.
pub(crate) const THREADS: usize = 8;

/// What every answer says to a browser: nothing from elsewhere, nothing inline, nobody may frame it, nothing is kept.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (header::VARY, "Cookie, Authorization"),
];

/// A server.
pub(crate) struct Service {
    /// Who is connected.
    pub(crate) guests: Guests,
    gatekeeper: Gatekeeper,
    caller: Caller,
    /// Where locks of other doors are looked for.
    also: Arc<[PathBuf]>,
    threads: Semaphore,
    watch: Arc<Watch>,
}

impl Service {
    /// A server at a place.
    ///
    /// # Errors
    /// When what happens there cannot be followed.
    pub(crate) fn start(place: &Place, gatekeeper: Gatekeeper) -> Result<Self> {
        let caller = place.caller.clone();
        let watch = Watch::start(&Session::open(&caller)?, caller.clone())?;
        let watcher = caller.clone();
        // It ends with the program, at whatever it is: what was put on record is gone on with.
        std::thread::spawn(move || {
            let rest = |span| {
                watcher.sys.clock.sleep(span);
                true
            };
            let tell = |trouble: &str| Notes::new().warning(&Names::new(watcher.clone()).put(trouble));
            escalate::watch(&watcher, &rest, &tell);
        });
        let threads = Semaphore::new(THREADS);
        let also = place.also.as_slice().into();
        Ok(Self { guests: Guests::default(), gatekeeper, caller, also, threads, watch })
    }

    /// Answers a request.
    pub(crate) async fn answer(
        &self,
        request: Request<Incoming>,
        guest: &Guest,
    ) -> std::result::Result<Response<Answer>, Infallible> {
        let (head, body) = request.into_parts();
        let answered = self.answered(&head, body, || self.guests.know(guest)).await;
        let mut response = answered.unwrap_or_else(|problem| {
            self.watch.refuse(problem.code());
            refused(&problem)
        });
        for (name, value) in &HEADERS {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        let cached = response.headers().contains_key(header::CACHE_CONTROL);
        if !cached {
            response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
        Ok(response)
    }

    async fn answered(
        &self,
        head: &Parts,
        body: Incoming,
        known: impl FnOnce(),
    ) -> std::result::Result<Response<Answer>, Problem> {
        self.gatekeeper.host(&head.uri, &head.headers)?;
        let path = head.uri.path();
        if let Some(file) = pages::find(path) {
            return only(head, "GET").map(|()| pages::answer(file, head));
        }
        match path {
            "/healthz" => return only(head, "GET").map(|()| self.health()),
            "/api/session" => {
                only(head, "POST")?;
                return self.session(head, body).await;
            }
            _ => {}
        }
        let entry = self.gatekeeper.enter(&head.method, &head.headers, self.now()?)?;
        known();
        match path {
            "/openapi.json" => {
                return only(head, "GET").map(|()| json(StatusCode::OK, openapi::text().into()));
            }
            "/metrics" => {
                only(head, "GET")?;
                return self.metrics().await;
            }
            "/api/events" => {
                only(head, "GET")?;
                return stream::follow(&self.watch, head).await;
            }
            _ => {}
        }
        let Found { route, parts } = routes::find(&head.method, path)?;
        let query = Query::parse(head.uri.query().unwrap_or_default(), &route.names())?;
        let body = match route.takes {
            None => Vec::new(),
            Some(_) => document(head, body).await?,
        };
        let parts = parts.into_iter().map(ToOwned::to_owned).collect();
        let (watch, also) = (Arc::clone(&self.watch), Arc::clone(&self.also));
        let (caller, asked) = (self.caller.clone(), self.caller.sys.clock.now()?);
        self.ask(route, head, Ask { caller, watch, asked, also, entry, parts, query, body }).await
    }

    /// Puts a question to the tracker.
    async fn ask(
        &self,
        route: &'static Route,
        head: &Parts,
        ask: Ask,
    ) -> std::result::Result<Response<Answer>, Problem> {
        let bug = |what: &str| Problem::Own(Own::ServerInternal, what.to_owned());
        let _turn = self.threads.acquire().await.map_err(|_| bug("the threads are gone"))?;
        let made = tokio::task::spawn_blocking(move || (route.act)(&ask)).await;
        let made = made.map_err(|error| bug(&format!("a question was cut off: {error}")))??;
        let same = head.headers.get(header::IF_NONE_MATCH).and_then(|tag| tag.to_str().ok());
        let mut response = match (&made.tag, same) {
            (Some(tag), Some(given)) if given == tag => {
                let mut response = Response::new(Answer::Whole(None));
                *response.status_mut() = StatusCode::NOT_MODIFIED;
                response
            }
            _ => json(StatusCode::OK, made.text),
        };
        if let Some(tag) = made.tag.and_then(|tag| HeaderValue::try_from(tag).ok()) {
            response.headers_mut().insert(header::ETAG, tag);
            response
                .headers_mut()
                .insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        }
        Ok(response)
    }

    /// What Prometheus asks for. How things stand is worked out like any other question.
    async fn metrics(&self) -> std::result::Result<Response<Answer>, Problem> {
        let bug = |what: &str| Problem::Own(Own::ServerInternal, what.to_owned());
        let _turn = self.threads.acquire().await.map_err(|_| bug("the threads are gone"))?;
        let (watch, caller) = (Arc::clone(&self.watch), self.caller.clone());
        let made = tokio::task::spawn_blocking(move || watch.metrics(&caller)).await;
        let made = made.map_err(|error| bug(&format!("a question was cut off: {error}")))?;
        let mut response = Response::new(Answer::Whole(Some(made.into())));
        let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        Ok(response)
    }

    /// Exchanges the token for a cookie.
    async fn session(&self, head: &Parts, body: Incoming) -> std::result::Result<Response<Answer>, Problem> {
        self.gatekeeper.open(&head.headers)?;
        let SessionBody { token } = body::parsed(&document(head, body).await?)?;
        let cookie = self.gatekeeper.exchange(&token, self.now()?)?;
        let mut response = json(StatusCode::OK, Bytes::from_static(b"{\"session\":true}"));
        if let Ok(cookie) = HeaderValue::try_from(cookie) {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        Ok(response)
    }

    /// Whether what happens can be followed. Anybody may ask, so it says no more.
    fn health(&self) -> Response<Answer> {
        if self.watch.is_well() {
            json(StatusCode::OK, Bytes::from_static(b"{\"status\":\"ok\"}"))
        } else {
            json(StatusCode::SERVICE_UNAVAILABLE, Bytes::from_static(b"{\"status\":\"trouble\"}"))
        }
    }

    fn now(&self) -> std::result::Result<u64, Problem> {
        Ok(self.caller.sys.clock.now()?.wall_ms() / 1_000)
    }
}

/// Refuses whatever is asked in another way.
fn only(head: &Parts, method: &'static str) -> std::result::Result<(), Problem> {
    if head.method.as_str() == method { Ok(()) } else { Err(Problem::Method(method)) }
}

/// The JSON document that came with a request. A form of another page cannot send one without asking first.
async fn document(head: &Parts, body: Incoming) -> std::result::Result<Vec<u8>, Problem> {
    let kind = head.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(Problem::plain(Own::NotJson));
    }
    body::read(body).await
}

fn json(status: StatusCode, text: Bytes) -> Response<Answer> {
    let mut response = Response::new(Answer::Whole(Some(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn refused(problem: &Problem) -> Response<Answer> {
    let status = StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json(status, problem.document().to_string().into());
    let headers = response.headers_mut();
    match problem {
        Problem::Method(allowed) => {
            headers.insert(header::ALLOW, HeaderValue::from_static(allowed));
        }
        Problem::Own(Own::Unauthorized, _) => {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        Problem::Own(Own::Busy, _) => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
        }
        // What is left of a body that nobody reads would be taken for the next request.
        Problem::Own(Own::TooLarge | Own::TooSlow, _) => {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        _ => {}
    }
    response
}

//! The thread that looks at the repository, and does what is asked of it: whatever waits for files and locks waits here,
//! and the screen goes on.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use holdfast_tracker::answers::board::{self, Renewals};
use holdfast_tracker::answers::{notes, session, show};
use holdfast_tracker::claims::Terms;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::feed::Follow;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::names::Names;
use holdfast_tracker::take::{self, Taken};
use holdfast_tracker::{Caller, Listener, Notice, Session, keep};

use crate::issue;
use crate::model::Said;
use crate::row::{Row, clean};
use crate::stand::Stand;

/// How often it is looked.
const OFTEN: Duration = Duration::from_millis(200);

/// What is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Ask {
    Show(String),
    Claim(String),
    Release(String),
    Note(String, String),
    /// To look again, whether something has changed or not.
    Again,
}

/// What there is to tell.
pub(crate) enum News {
    Stand(Stand),
    Issue(String, Vec<Row>),
    Said(Said),
    /// Why the repository cannot be read; none if it can be again.
    Trouble(Option<String>),
}

/// Whoever looks.
pub(crate) struct Looker<T: Fn(News)> {
    caller: Caller,
    follow: Follow,
    renewals: Renewals,
    /// When the next lease ends, in milliseconds since 1970.
    ends_ms: Option<u64>,
    trouble: Option<String>,
    is_stale: bool,
    tell: T,
}

impl<T: Fn(News)> Looker<T> {
    /// Begins to look.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub(crate) fn start(caller: Caller, tell: T) -> Result<Self> {
        let session = session(&caller)?;
        let follow = Follow::start(&session, caller.clone())?;
        let renewals = Renewals::load(&session)?;
        Ok(Self { caller, follow, renewals, ends_ms: None, trouble: None, is_stale: true, tell })
    }

    /// Looks until nobody asks any more.
    pub(crate) fn look(&mut self, asks: &Receiver<Ask>, columns: impl Fn() -> usize) {
        loop {
            let looked = self.refresh();
            self.judge(looked);
            match asks.recv_timeout(OFTEN) {
                Ok(ask) => self.answer(&ask, columns()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Tells how things stand if something has changed.
    fn refresh(&mut self) -> Result<()> {
        if let Some(happened) = self.follow.look()? {
            happened.iter().for_each(|one| self.renewals.happened(one));
            self.is_stale = true;
        }
        let now = self.caller.sys.clock.now()?.wall_ms();
        if !self.is_stale && self.ends_ms.is_none_or(|ends| now < ends) {
            return Ok(());
        }
        let session = session(&self.caller)?;
        let stand = Stand::of(board::look(&session, Some(&self.renewals))?)?;
        // One that has ended is told once, until something else happens to it.
        self.ends_ms = stand.next_end_ms().filter(|ends| *ends > now);
        self.is_stale = false;
        (self.tell)(News::Stand(stand));
        Ok(())
    }

    fn judge(&mut self, looked: Result<()>) {
        let trouble = looked.err().map(|error| in_words(&error, &Names::new(self.caller.clone())));
        if trouble != self.trouble {
            // What could not be read has to be looked at again.
            self.is_stale = true;
            self.trouble.clone_from(&trouble);
            (self.tell)(News::Trouble(trouble));
        }
    }

    fn answer(&mut self, ask: &Ask, columns: usize) {
        // What was made a moment ago has a name as well.
        let names = Arc::new(Names::new(self.caller.clone()));
        let heard = Arc::new(Heard { said: Mutex::default(), names: Arc::clone(&names) });
        let listener = Arc::clone(&heard) as Arc<dyn Listener>;
        let done = match ask {
            Ask::Again => {
                self.is_stale = true;
                Ok(None)
            }
            Ask::Show(issue) => self.show(issue, columns).map(|()| None),
            Ask::Claim(_) | Ask::Release(_) | Ask::Note(..) => {
                self.is_stale = true;
                session(&Caller { listener, ..self.caller.clone() })
                    .and_then(|session| act(&session, ask))
                    .map(Some)
            }
        };
        let mut words = heard.take();
        let said = match done {
            Ok(None) if words.is_empty() => Said::Done(String::new()),
            Ok(done) => {
                words.extend(done);
                Said::Done(words.join("; "))
            }
            Err(error) => Said::Failed(in_words(&error, &names)),
        };
        (self.tell)(News::Said(said));
    }

    fn show(&self, issue: &str, columns: usize) -> Result<()> {
        let session = session(&self.caller)?;
        let issues = Issues::new(&session);
        let shown = show::look(&issues, issues.resolve(issue)?)?;
        (self.tell)(News::Issue(issue.to_owned(), issue::rows(&shown.document, columns)?));
        Ok(())
    }
}

/// Changes something; says what was done.
fn act(session: &Session, ask: &Ask) -> Result<String> {
    let issues = Issues::new(session);
    match ask {
        Ask::Claim(issue) => {
            let terms = Terms::parse(None, None, session.config(), session.agent()?)?;
            let id = issues.resolve(issue)?;
            let Taken { already_held, .. } = take::acquire(session, id, &terms, None)?;
            let how = if already_held { "is held by you already" } else { "is yours" };
            Ok(format!("{} {how}", issues.handle(id)))
        }
        Ask::Release(issue) => {
            keep::release(session, issue)?;
            Ok(format!("released {}", issues.handle(issues.resolve(issue)?)))
        }
        Ask::Note(issue, text) => {
            let noted = notes::add(&issues, issue, || Ok(text.clone()))?;
            Ok(format!("noted on {}", clean(&noted.note.handle)))
        }
        Ask::Show(_) | Ask::Again => Err(Error::Internal("a question is no change".to_owned())),
    }
}

/// What went wrong and what to do about it.
fn in_words(error: &Error, names: &Names) -> String {
    let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
    clean(&names.put(&format!("{error}{hint}")))
}

/// What the tracker lets know besides the answer.
struct Heard {
    said: Mutex<Vec<String>>,
    names: Arc<Names>,
}

impl Heard {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.said.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Listener for Heard {
    fn hear(&self, notice: &Notice) {
        if !notice.is_progress() {
            let text = clean(&self.names.put(&notice.to_string()));
            self.said.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        }
    }
}

//! What happens in the repository, followed by one thread for everybody: events go out to whoever follows them, and a board
//! that was worked out stays good for as long as nothing changes.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use holdfast_kernel::{Millis, Stamp};
use holdfast_sys::os::Changes;
use holdfast_tracker::answers::board::{self, BoardOutput, Renewals};
use holdfast_tracker::answers::session;
use holdfast_tracker::error::Result;
use holdfast_tracker::feed::{Follow, Happened, Traces};
use holdfast_tracker::{Caller, Session};
use hyper::body::Bytes;
use tokio::sync::{broadcast, oneshot};

use crate::body::Made;
use crate::delta::Cards;
use crate::message::event;
use crate::metrics::{self, Tally};
use crate::problem::{Own, Problem};

/// How often it is looked while somebody follows: where the system tells of changes, and where it does not. What another
/// machine writes is told by none.
const TOLD: Duration = Duration::from_secs(1);
const UNTOLD: Duration = Duration::from_millis(200);
/// How often it is looked while nobody follows.
const SELDOM: Duration = Duration::from_secs(2);
/// What one command writes is told of in one go: it is looked once nothing has changed for so long, or after so much.
const PAUSE: Millis = Millis::new(4);
const PAUSES: usize = 8;
/// How many events a follower may be behind, and how many boards.
const BEHIND: usize = 1_024;
const BOARDS_BEHIND: usize = 8;
/// How many follow at once.
const MOST: usize = 256;
/// For how long a board stays good if nothing that is watched changes: files can be changed behind the tracker's back.
const GOOD_MS: u64 = 5_000;

/// Something that a follower is told.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    /// Something happened.
    Happened(Arc<Happened>),
    /// Something else is not as it was: notes, branches, worktrees.
    Changed(Arc<str>),
    /// What happens cannot be followed, and why.
    Trouble(Arc<str>),
    /// It can be again.
    Well,
}

/// Somebody who begins to follow.
pub(crate) struct Follower {
    /// What happened since the cursor that was given; none if that is not known any more.
    pub(crate) missed: Option<Vec<Happened>>,
    /// Where it begins.
    pub(crate) cursor: String,
    /// Why what happens cannot be followed, if it cannot.
    pub(crate) trouble: Option<Arc<str>>,
    /// What happens from here on.
    pub(crate) news: broadcast::Receiver<Told>,
    /// How the board changes from here on, for whoever wants to know.
    pub(crate) boards: Option<broadcast::Receiver<Bytes>>,
}

/// What the thread that looks is asked for.
enum Wanted {
    /// Somebody wants to follow.
    Join(Join),
    /// Somebody needs everything counted that happened until now.
    Look(Sender<()>),
}

/// Somebody who wants to follow.
struct Join {
    cursor: Option<String>,
    wants_boards: bool,
    answer: oneshot::Sender<Follower>,
}

/// What is known.
#[derive(Default)]
struct Known {
    trouble: Option<Arc<str>>,
    renewals: Renewals,
    tally: Tally,
}

/// A board that was worked out.
struct Worked {
    traces: Traces,
    /// When it was last looked whether it is still good.
    looked: Stamp,
    at: Stamp,
    /// When a lease on it ends, if one does.
    ends_ms: Option<u64>,
    text: Bytes,
    tag: String,
    cards: Cards,
}

impl Worked {
    fn made(&self) -> Made {
        Made { text: self.text.clone(), tag: Some(self.tag.clone()) }
    }
}

/// What happens in the repository.
pub(crate) struct Watch {
    eye: Mutex<Sender<Wanted>>,
    news: broadcast::Sender<Told>,
    boards: broadcast::Sender<Bytes>,
    known: Mutex<Known>,
    worked: Mutex<Option<Worked>>,
}

impl Watch {
    /// Begins to watch.
    ///
    /// # Errors
    /// When what happens cannot be followed.
    pub(crate) fn start(session: &Session, caller: Caller) -> Result<Arc<Self>> {
        let (eye, wanted) = channel();
        let ((news, _), (boards, _)) = (broadcast::channel(BEHIND), broadcast::channel(BOARDS_BEHIND));
        let (mut renewals, mut tally) = (Renewals::default(), Tally::default());
        session.claims().medium.history(&mut |record| {
            tally.record(record);
            renewals.record(record);
        })?;
        let known = Mutex::new(Known { trouble: None, renewals, tally });
        let watch = Arc::new(Self { eye: Mutex::new(eye), news, boards, known, worked: Mutex::default() });
        let changes = Changes::new().map(Arc::new);
        if let Some(changes) = changes.clone() {
            let told = Arc::clone(&watch);
            std::thread::spawn(move || told.be_told(&changes));
        }
        let (stale, redo) = channel();
        let (told, asker) = (Arc::clone(&watch), caller.clone());
        std::thread::spawn(move || told.keep_current(&asker, &redo));
        let follow = Follow::start(session, caller)?;
        let mut looking = Eye { follow, watch: Arc::clone(&watch), changes, stale };
        std::thread::spawn(move || looking.watch(&wanted));
        Ok(watch)
    }

    /// Has it looked whenever something has changed.
    fn be_told(&self, changes: &Changes) {
        while changes.wait(None) {
            for _ in 0..PAUSES {
                if !changes.wait(Some(PAUSE)) {
                    break;
                }
            }
            if !self.look() {
                return;
            }
        }
    }

    /// Works the board out anew whenever something has happened, for whoever is told how it changes.
    fn keep_current(&self, caller: &Caller, stale: &Receiver<()>) {
        while stale.recv().is_ok() {
            // Whatever has happened meanwhile is in the next one.
            while stale.try_recv().is_ok() {}
            let Ok(now) = caller.sys.clock.now() else { continue };
            // What stands in the way is told to whoever asks for the board.
            let _ = self.board(caller, &now);
        }
    }

    /// Has it looked; whether somebody did.
    fn look(&self) -> bool {
        let (answer, answered) = channel();
        let _ = locked(&self.eye).send(Wanted::Look(answer));
        answered.recv().is_ok()
    }

    /// Whether what happens can be followed.
    pub(crate) fn is_well(&self) -> bool {
        locked(&self.known).trouble.is_none()
    }

    /// How often leases were renewed, until now.
    pub(crate) fn renewals(&self) -> Renewals {
        // Without the thread that looks, what it counted is the best there is.
        let _ = self.look();
        locked(&self.known).renewals.clone()
    }

    /// Counts what was refused.
    pub(crate) fn refuse(&self, code: &'static str) {
        locked(&self.known).tally.refuse(code);
    }

    /// What Prometheus asks for.
    pub(crate) fn metrics(&self, caller: &Caller) -> String {
        let now = caller.sys.clock.now().ok();
        let stand = now
            .and_then(|now| self.board(caller, &now).ok())
            .and_then(|made| serde_json::from_slice(&made.text).ok());
        let tally = locked(&self.known).tally.clone();
        metrics::page(&tally, stand.as_ref(), self.news.receiver_count())
    }

    /// Begins to follow, from a cursor if there is one.
    pub(crate) async fn follow(
        &self,
        cursor: Option<String>,
        wants_boards: bool,
    ) -> std::result::Result<Follower, Problem> {
        if self.news.receiver_count() >= MOST {
            return Err(Problem::plain(Own::Busy));
        }
        let gone = || Problem::Own(Own::ServerInternal, "nobody watches the repository any more".to_owned());
        let (answer, answered) = oneshot::channel();
        locked(&self.eye).send(Wanted::Join(Join { cursor, wants_boards, answer })).map_err(|_| gone())?;
        answered.await.map_err(|_| gone())
    }

    /// The board as it is after it was asked for, worked out anew unless nothing has changed.
    pub(crate) fn board(&self, caller: &Caller, asked: &Stamp) -> std::result::Result<Made, Problem> {
        // Whoever comes meanwhile wants the same one: an event has a hundred pages ask at once.
        let mut worked = locked(&self.worked);
        let is_after = |known: &&Worked| known.looked.since(asked).forward() > Millis::ZERO;
        if let Some(known) = worked.as_ref().filter(is_after) {
            return Ok(known.made());
        }
        let looked = caller.sys.clock.now()?;
        let session = session(caller)?;
        let traces = Traces::of(&session).taken(session.sys());
        let now = session.sys().clock.now()?;
        let good = |known: &&Worked| {
            known.traces == traces
                && now.since(&known.at).forward().get() < GOOD_MS
                && known.ends_ms.is_none_or(|ends| now.wall_ms() < ends)
        };
        if let Some(known) = worked.as_mut().filter(|known| good(&&**known)) {
            known.looked = looked;
            return Ok(known.made());
        }
        let document = board::look(&session, Some(&self.renewals()))?;
        let bug = |error| Problem::Own(Own::ServerInternal, format!("the board has no JSON form: {error}"));
        let text = Bytes::from(serde_json::to_vec(&document).map_err(bug)?);
        let (tag, ends_ms) = (tag(&text), first_end(&document));
        let cards = Cards::of(&document);
        if let Some(before) = worked.as_ref().filter(|_| self.boards.receiver_count() > 0) {
            let delta = before.cards.delta(&cards, document, &before.tag, &tag);
            // Nobody may be there to hear it any more.
            let _ = self.boards.send(event("board", None, &delta.map_err(bug)?).into());
        }
        let made = Made { text: text.clone(), tag: Some(tag.clone()) };
        *worked = Some(Worked { traces, looked, at: now, ends_ms, text, tag, cards });
        Ok(made)
    }
}

/// What tells a board from another one.
fn tag(text: &[u8]) -> String {
    let hash = blake3::hash(text).to_hex();
    format!("\"{}\"", hash.as_str().get(..32).unwrap_or_default())
}

/// When the first lease on a board ends.
fn first_end(document: &BoardOutput) -> Option<u64> {
    let leases = document.board.agents.iter().flat_map(|lane| lane.leases.iter().chain(&lane.reservations));
    let at = holdfast_tracker::times::millis(&document.board.at)?;
    leases.filter_map(|held| held.lease.remaining_secs).min().map(|secs| at + secs * 1_000)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread that looks.
struct Eye {
    follow: Follow,
    watch: Arc<Watch>,
    changes: Option<Arc<Changes>>,
    /// Where it is said that a board is not as it was.
    stale: Sender<()>,
}

impl Eye {
    /// Looks until nobody can ask any more.
    fn watch(&mut self, wanted: &Receiver<Wanted>) {
        let often = if self.changes.is_some() { TOLD } else { UNTOLD };
        loop {
            let pause = if self.watch.news.receiver_count() > 0 { often } else { SELDOM };
            match wanted.recv_timeout(pause) {
                Ok(Wanted::Join(join)) => {
                    self.look();
                    self.let_join(join);
                }
                Ok(Wanted::Look(answer)) => {
                    self.look();
                    // Somebody who went away again needs no answer.
                    let _ = answer.send(());
                }
                Err(RecvTimeoutError::Timeout) => self.look(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Whoever joins is told what it missed up to here, and hears everything from here on: nothing twice, nothing never.
    fn let_join(&self, join: Join) {
        let news = self.watch.news.subscribe();
        let boards = join.wants_boards.then(|| self.watch.boards.subscribe());
        let missed = match &join.cursor {
            None => Some(Vec::new()),
            // What cannot be read is not known any more, and is asked for anew.
            Some(cursor) => self.follow.since(cursor).unwrap_or(None),
        };
        let trouble = locked(&self.watch.known).trouble.clone();
        // Somebody who went away again needs no answer.
        let _ = join.answer.send(Follower { missed, cursor: self.follow.cursor(), trouble, news, boards });
    }

    fn look(&mut self) {
        let looked = self.poll();
        if let Some(changes) = &self.changes {
            self.follow.places().into_iter().for_each(|place| changes.watch(place));
        }
        let mut known = locked(&self.watch.known);
        let news = &self.watch.news;
        // Nobody may be there to hear it.
        match looked {
            Ok(()) => {
                if known.trouble.take().is_some() {
                    let _ = news.send(Told::Well);
                }
            }
            Err(error) => {
                let text: Arc<str> = error.document().to_string().into();
                if known.trouble.as_ref() != Some(&text) {
                    known.trouble = Some(Arc::clone(&text));
                    let _ = news.send(Told::Trouble(text));
                }
            }
        }
    }

    fn poll(&mut self) -> Result<()> {
        let Some(happened) = self.follow.look()? else { return Ok(()) };
        self.count(&happened);
        if happened.is_empty() {
            let _ = self.watch.news.send(Told::Changed(self.follow.cursor().into()));
        }
        for one in happened {
            let _ = self.watch.news.send(Told::Happened(Arc::new(one)));
        }
        if self.watch.boards.receiver_count() > 0 {
            // Without whoever works it out, pages ask for it.
            let _ = self.stale.send(());
        }
        Ok(())
    }

    /// Counts what happened.
    fn count(&self, happened: &[Happened]) {
        let mut known = locked(&self.watch.known);
        for one in happened {
            known.tally.happened(one);
            known.renewals.happened(one);
        }
    }
}

//! A register in etcd: one key whose value is replaced in a transaction that says in which revision it was last changed.
//!
//! It speaks to the JSON gateway of any member. A swap counts as done only if the transaction succeeded, every act of it
//! was answered, the revision is a later one and the cluster is the one that was read from: the gateway answers a
//! transaction whose condition it did not understand with success. No record hangs on one of etcd's own leases: one that
//! vanishes by itself would be an eviction that nobody decided.

mod client;
mod endpoint;
mod http;
mod tls;
mod wire;

use std::path::PathBuf;

use holdfast_kernel::Millis;
use holdfast_sys::Sys;
use serde::Deserialize;

pub use client::{Secret, User};
pub use tls::Tls;

use crate::head::{Note, StepWire};
use crate::register::{Found, Mark, Next, Past, Register, Swap, Unreachable, Version};
use client::{Client, Trouble};
use endpoint::Endpoint;
use wire::{Act, Compare, DeleteRange, KeyValue, Number, Put, Range, TxnAnswer};

/// After how many steps the history is cut.
const CUT_EVERY: u64 = 10_000;

/// How long a step is kept at least. The history is cut so often that not much more is.
const KEPT: Millis = Millis::from_secs(30 * 86_400);

/// Whether the history has become old is looked at once in so many steps.
const LOOK_EVERY: u64 = 64;

/// How many steps are asked for at once.
const PAGE: u64 = 200;

/// How often somebody who waits asks.
const PACE: Millis = Millis::from_secs(1);

/// Which register, and how to reach it.
#[derive(Clone, Debug)]
pub struct Access {
    /// The members, as URLs.
    pub endpoints: Vec<String>,
    /// What the register is called there.
    pub namespace: String,
    /// Who asks, where the cluster wants to know.
    pub user: Option<User>,
    /// How members are believed that are reached over TLS.
    pub tls: Option<Tls>,
    /// How long one answer may take.
    pub limit: Millis,
}

/// A register in etcd.
pub struct Etcd {
    sys: Sys,
    client: Client,
    base: String,
    cut_every: u64,
    /// How long a step is kept at least.
    kept: Millis,
}

type Asked<T> = Result<T, Unreachable>;

/// A version, as it is kept: the cluster, the revision of the last change, and the hash over the history.
struct Seen {
    cluster: u64,
    revision: u64,
    chain: String,
}

impl Seen {
    fn parse(version: &Version) -> Option<Self> {
        let mut parts = version.0.splitn(3, '.');
        let (cluster, revision, chain) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self {
            cluster: cluster.parse().ok()?,
            revision: revision.parse().ok()?,
            chain: chain.to_owned(),
        })
    }

    fn version(&self) -> Version {
        Version(format!("{}.{}.{}", self.cluster, self.revision, self.chain))
    }
}

#[derive(Deserialize)]
struct Chain {
    chain: String,
}

#[derive(Deserialize)]
struct Height {
    height: u64,
}

impl Etcd {
    /// The register that `access` names. Nothing is asked over the network yet.
    ///
    /// # Errors
    /// When an endpoint is no URL, or the namespace no name.
    pub fn open(sys: &Sys, access: &Access) -> Asked<Self> {
        let endpoints: Result<Vec<Endpoint>, String> =
            access.endpoints.iter().map(|url| Endpoint::parse(url)).collect();
        let endpoints = endpoints.map_err(Unreachable)?;
        if endpoints.is_empty() {
            return Err(Unreachable("coordination.endpoints names no member of etcd".into()));
        }
        if !is_namespace(&access.namespace) {
            return Err(Unreachable(format!("'{}' cannot be a namespace", access.namespace.escape_debug())));
        }
        let client = Client::new(sys, endpoints, access.user.clone(), access.tls.clone(), access.limit);
        let base = format!("/holdfast/{}/", access.namespace);
        Ok(Self { sys: sys.clone(), client, base, cut_every: CUT_EVERY, kept: KEPT })
    }

    /// This one, whose history is cut after so many steps.
    #[must_use]
    pub const fn cut_every(mut self, steps: u64) -> Self {
        self.cut_every = steps;
        self
    }

    /// This one, whose steps are kept for so long at least.
    #[must_use]
    pub const fn keep_for(mut self, span: Millis) -> Self {
        self.kept = span;
        self
    }

    fn key(&self, name: &str) -> String {
        format!("{}{name}", self.base)
    }

    fn log_key(&self, height: u64) -> String {
        self.key(&format!("log/{height:020}"))
    }

    /// The value before which the history is not kept.
    fn first_key(&self, height: u64, chain: &str) -> String {
        self.key(&format!("first/{height:020}-{chain}"))
    }

    fn put(&self, key: String, value: &[u8]) -> Act {
        Act::Put(Put { key: key.as_str().into(), value: wire::Bytes(value.to_vec()) })
    }

    /// The value of a key that is one.
    fn get(&self, key: &str) -> Asked<Option<Vec<u8>>> {
        let answer = self.client.range(&Range::one(key)).map_err(|trouble| Unreachable(trouble.words()))?;
        Ok(answer.kvs.into_iter().next().map(|kv| kv.value.0))
    }

    fn found(&self, cluster: Number, kv: &KeyValue) -> Asked<Found> {
        let value = kv.value.0.clone();
        let odd = |_| Unreachable(format!("{} is not a register", self.key("head")));
        let Chain { chain } = serde_json::from_slice(&value).map_err(odd)?;
        let seen = Seen { cluster: cluster.0, revision: kv.mod_revision.0, chain };
        Ok(Found { version: seen.version(), value })
    }

    /// The steps after a height, up to another one.
    fn steps(&self, after: u64, last: u64) -> Asked<Vec<Vec<u8>>> {
        let mut steps = Vec::new();
        let mut next = after + 1;
        while next <= last {
            let range = Range {
                key: self.log_key(next).as_str().into(),
                range_end: Some(self.log_key(last + 1).as_str().into()),
                limit: Some(Number(PAGE)),
                keys_only: false,
            };
            let page = self.client.range(&range).map_err(|trouble| Unreachable(trouble.words()))?;
            for kv in &page.kvs {
                if kv.key.0 != self.log_key(next).as_bytes() {
                    return Err(Unreachable(format!("step {next} is not there")));
                }
                let (_, step) =
                    entry(&kv.value.0).ok_or_else(|| Unreachable(format!("step {next} is odd")))?;
                steps.push(step.to_vec());
                next += 1;
            }
            if page.kvs.is_empty() || (!page.more && next <= last) {
                return Err(Unreachable(format!("step {next} is not there")));
            }
        }
        Ok(steps)
    }

    /// When the step at a height was made, by the clock of whoever made it; none if it is not kept.
    fn made_at(&self, height: u64) -> Asked<Option<u64>> {
        let kept = self.get(&self.log_key(height))?;
        let step: Option<StepWire> =
            kept.as_deref().and_then(entry).and_then(|(_, step)| serde_json::from_slice(step).ok());
        Ok(step.map(|step| step.at_ms))
    }

    fn is_older(&self, height: u64, than: Millis) -> Asked<bool> {
        let now = self.sys.clock.now().map_err(|error| Unreachable(error.to_string()))?.wall_ms();
        Ok(self.made_at(height)?.is_some_and(|at| now.saturating_sub(at) >= than.get()))
    }

    /// The height before which nothing has to be kept: that of the last cut that is old enough.
    fn forgettable(&self) -> Asked<Option<u64>> {
        let from = self.key("first/");
        let range = Range {
            key: from.as_str().into(),
            range_end: Some(self.key("first0").as_str().into()),
            limit: None,
            keys_only: true,
        };
        let firsts = self.client.range(&range).map_err(|trouble| Unreachable(trouble.words()))?;
        let height = |kv: &KeyValue| {
            let name = kv.key.0.strip_prefix(from.as_bytes())?.get(..20)?;
            std::str::from_utf8(name).ok()?.parse::<u64>().ok()
        };
        let mut heights: Vec<u64> = firsts.kvs.iter().filter_map(height).collect();
        heights.sort_unstable();
        while let Some(height) = heights.pop() {
            if self.is_older(height, self.kept)? {
                return Ok(Some(height));
            }
        }
        Ok(None)
    }

    /// What a swap does if its condition holds.
    fn acts(&self, next: &Next<'_>, begins: bool) -> Vec<Act> {
        let line = [next.chain.as_bytes(), b"\n", next.step].concat();
        let mut acts = vec![
            self.put(self.key("head"), next.head),
            self.put(self.key("chain"), next.chain.as_bytes()),
            self.put(self.log_key(next.height), &line),
        ];
        if begins {
            let first = format!("{}-{}", next.height, next.chain);
            acts.push(self.put(self.key("first"), first.as_bytes()));
            // What cannot be looked at is kept.
            if let Ok(Some(old)) = self.forgettable() {
                for (from, to) in [
                    (self.key("log/"), self.log_key(old)),
                    (self.key("first/"), self.key(&format!("first/{old:020}"))),
                ] {
                    let (key, range_end) = (from.as_str().into(), to.as_str().into());
                    acts.push(Act::Delete(DeleteRange { key, range_end }));
                }
            }
        }
        acts
    }

    /// What came of a swap whose transaction was answered.
    fn judged(&self, seen: Option<&Seen>, next: &Next<'_>, acts: &[Act], answer: &TxnAnswer) -> Swap {
        let (cluster, revision) = (answer.header.cluster_id.0, answer.header.revision.0);
        if seen.is_some_and(|seen| seen.cluster != cluster) {
            return Swap::Unknown("another cluster answers".into());
        }
        if !answer.succeeded {
            return Swap::Lost(None);
        }
        let answered = acts.len() == answer.responses.len()
            && acts.iter().zip(&answer.responses).all(|(act, response)| response.is_for(act));
        let is_later = revision > seen.map_or(0, |seen| seen.revision);
        if !answered || !is_later {
            return Swap::Unknown("it answers with success, and not what it did".into());
        }
        Swap::Swapped(Seen { cluster, revision, chain: next.chain.to_owned() }.version())
    }
}

/// Whether a member can be reached by that URL.
#[must_use]
pub fn is_endpoint(url: &str) -> bool {
    Endpoint::parse(url).is_ok()
}

/// Whether a register can be called that.
#[must_use]
pub fn is_namespace(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    !text.is_empty()
        && text.len() <= 128
        && text.chars().all(plain)
        && text.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}

/// The hash over the history and the step, in an entry of the log.
fn entry(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    Some((bytes.get(..end)?, bytes.get(end + 1..)?))
}

/// Whether the history begins with a step.
fn begins(next: &Next<'_>) -> bool {
    let step: Option<StepWire> = serde_json::from_slice(next.step).ok();
    step.is_some_and(|step| step.notes.iter().any(|note| matches!(note, Note::Made | Note::Cut { .. })))
}

impl Register for Etcd {
    fn name(&self) -> String {
        let members: Vec<String> = self.client.endpoints().iter().map(ToString::to_string).collect();
        format!("{} at {}", self.base, members.join(", "))
    }

    fn place(&self) -> PathBuf {
        PathBuf::from(self.key("head"))
    }

    fn read(&self) -> Asked<Option<Found>> {
        let answer = self
            .client
            .range(&Range::one(&self.key("head")))
            .map_err(|trouble| Unreachable(trouble.words()))?;
        answer.kvs.first().map(|kv| self.found(answer.header.cluster_id, kv)).transpose()
    }

    /// Asks in a transaction that would write if its condition held, which it never does: it takes the way of every
    /// write, and whoever may not write is told so.
    fn confirms(&self, version: Option<&Version>) -> Asked<bool> {
        let head = self.key("head");
        let txn = wire::Txn {
            compare: vec![Compare::never(&head)],
            success: vec![self.put(head.clone(), b"")],
            failure: vec![Act::Range(Range::one(&head))],
        };
        let answer = match self.client.txn(&txn) {
            Ok(answer) => answer,
            Err(Trouble::Refused(_)) => return Ok(false),
            Err(trouble) => return Err(Unreachable(trouble.words())),
        };
        let range = answer.responses.into_iter().next().and_then(|answer| answer.response_range);
        let Some(range) = range.filter(|_| !answer.succeeded) else {
            return Err(Unreachable("it does not understand a question".into()));
        };
        let found = range.kvs.first().map(|kv| self.found(answer.header.cluster_id, kv)).transpose()?;
        Ok(found.map(|found| found.version).as_ref() == version)
    }

    fn descends(&self, _: &Found, seen: &Mark) -> Asked<bool> {
        let kept = self.get(&self.log_key(seen.height))?;
        let chain = kept.as_deref().and_then(entry).map(|(chain, _)| chain);
        Ok(chain == Some(seen.chain.as_bytes()))
    }

    fn is_same_place(&self, seen: &Version, found: &Version) -> bool {
        let cluster = |version| Seen::parse(version).map(|seen| seen.cluster);
        cluster(seen) == cluster(found)
    }

    fn swap(&self, expected: Option<&Version>, next: &Next<'_>) -> Swap {
        let seen = match expected.map(Seen::parse) {
            None => None,
            Some(Some(seen)) => Some(seen),
            // Another register's version is none of this one's.
            Some(None) => return Swap::Lost(None),
        };
        let head = self.key("head");
        let compare = match &seen {
            None => vec![Compare::is_missing(&head)],
            // The hash tells a revision from one of the same number in another cluster.
            Some(seen) => {
                vec![Compare::changed_in(&head, seen.revision), Compare::is(&self.key("chain"), &seen.chain)]
            }
        };
        let begins = begins(next);
        if begins {
            // Twice the largest head is more than etcd takes at once, so it goes ahead, under a name that no other
            // history has.
            let ahead = wire::Txn {
                compare: Vec::new(),
                success: vec![self.put(self.first_key(next.height, next.chain), next.head)],
                failure: Vec::new(),
            };
            match self.client.txn(&ahead) {
                Ok(answer) if answer.succeeded && answer.responses.len() == 1 => {}
                Ok(_) => return Swap::Lost(Some("it does not take the head".into())),
                Err(trouble) => return Swap::Lost(Some(trouble.words())),
            }
        }
        let success = self.acts(next, begins);
        let txn =
            wire::Txn { compare, success: success.clone(), failure: vec![Act::Range(Range::one(&head))] };
        match self.client.txn(&txn) {
            Ok(answer) => self.judged(seen.as_ref(), next, &success, &answer),
            Err(Trouble::Refused(words)) => Swap::Lost(Some(words)),
            Err(Trouble::NotSent(words)) => Swap::Lost(Some(words)),
            Err(Trouble::Unheard(words)) => Swap::Unknown(words),
        }
    }

    fn past(&self, now: &Found) -> Asked<Past> {
        let gone = || Unreachable("its history is gone".into());
        let name = self.get(&self.key("first"))?.ok_or_else(gone)?;
        let name = String::from_utf8_lossy(&name).into_owned();
        let (height, chain) = name.split_once('-').ok_or_else(gone)?;
        let height: u64 = height.parse().map_err(|_| gone())?;
        let first = self.get(&self.first_key(height, chain))?.ok_or_else(gone)?;
        let Height { height: last } =
            serde_json::from_slice(&now.value).map_err(|error| Unreachable(error.to_string()))?;
        if height > last {
            return Err(Unreachable("its history was cut meanwhile: ask again".into()));
        }
        Ok(Past { first, steps: self.steps(height, last)? })
    }

    fn health(&self) -> Option<String> {
        let status = self.client.status().ok()?;
        Some(format!(
            "etcd {} says that its database has {} KiB: old revisions are removed by its operator (etcdctl compaction and \
             defrag), never by jit",
            status.version.chars().filter(|c| c.is_ascii_graphic()).take(20).collect::<String>(),
            status.db_size.0 / 1_024
        ))
    }

    fn must_be_checked(&self) -> bool {
        false
    }

    fn wants_cut(&self, height: u64, cut: u64) -> bool {
        let is_old = || self.is_older(cut + 1, Millis::new(self.kept.get() / 2)).unwrap_or(false);
        height - cut >= self.cut_every || (height.is_multiple_of(LOOK_EVERY) && is_old())
    }

    fn wait(&self, version: &Version, most: Millis) -> Asked<bool> {
        let mut waited = Millis::ZERO;
        loop {
            if self.read()?.is_none_or(|found| found.version != *version) {
                return Ok(true);
            }
            if waited >= most {
                return Ok(false);
            }
            let pause = PACE.min(Millis::new(most.get() - waited.get()));
            self.sys.clock.sleep(pause);
            waited = waited.plus(pause);
        }
    }
}

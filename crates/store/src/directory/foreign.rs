//! `owner.json` as another program writes it that keeps its locks in the same place: `pid`, `host`, `owner`, `created`
//! and nothing else. It says who holds the lock, but not enough to tell its process from a later one.

use holdfast_kernel::{Lease, Millis, Name, Stamp, Term, Text};
use holdfast_sys::Stat;
use serde::Deserialize;

use super::layout::Spot;
use super::{FOREIGN, Settings, ownerless};
use crate::liveness;

/// What such a file says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Foreign {
    pid: u32,
    host: String,
    owner: String,
    /// In seconds since 1970.
    created: i64,
}

impl Foreign {
    /// What the bytes say, if they are such a file and somebody can be called so.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let read: Self = serde_json::from_slice(bytes).ok()?;
        let moment = Stamp::new(read.created.checked_mul(1_000)?, None);
        (Name::new(&read.owner).is_ok() && Text::new(&read.host).is_ok() && moment.is_ok()).then_some(read)
    }

    /// The lease that it stands for: it lasts until somebody knows that its process is gone, or it is old.
    pub(super) fn lease(&self, spot: &Spot, stat: &Stat, settings: &Settings) -> Lease {
        let mut lease = ownerless::of_others(spot, stat, settings, FOREIGN, "written by another program");
        let granted = Stamp::new(self.created.saturating_mul(1_000), None);
        if let (Ok(agent), Ok(granted)) = (Name::new(&self.owner), granted) {
            lease.holder.agent = agent;
            lease.granted = granted;
            let stale_after = settings.ghost_after.clamp(Millis::SHORTEST, Millis::LONGEST);
            lease.term = Term::Indefinite { beat: granted, stale_after };
        }
        if let Some(tags) = liveness::numbered(&self.host, self.pid, lease.tags.clone()) {
            lease.tags = tags;
        }
        lease
    }
}

#[cfg(test)]
mod tests {
    use super::Foreign;

    #[test]
    fn exactly_the_four_fields_are_understood() {
        let good = r#"{"pid":7,"host":"box","owner":"7:box","created":1700000000}"#;
        assert!(Foreign::read(good.as_bytes()).is_some());
        for (from, to) in [
            ("\"pid\":7,", ""),
            ("\"pid\":7", "\"pid\":-7"),
            ("7:box", ""),
            ("1700000000", "\"then\""),
            ("1700000000", "9223372036854775807"),
            ("{", "{\"fence\":1,"),
            ("}", ""),
        ] {
            assert!(good.contains(from), "{from}");
            assert!(Foreign::read(good.replacen(from, to, 1).as_bytes()).is_none(), "{from} {to}");
        }
    }
}

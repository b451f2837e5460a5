//! The rules for finite exclusive leases once more, read from `spec/lease.md` and written as plainly as can
//! be: a list, loops and signed numbers. Random histories must come to the same under both.

use holdfast_kernel::{
    Acquire, Again, Answer, Command, Decision, Holder, LeaseId, Limits, Policy, Refusal, Request, Resource,
    Stamp, Transfer,
};
use proptest::prelude::*;

use crate::config;
use crate::invariants::meet;
use crate::world::{History, Op, World, history};

const LATEST_WALL: i128 = 253_402_300_799_999;
const CENTURY: i128 = 100 * 366 * 24 * 3_600_000;

struct Row {
    id: LeaseId,
    resource: Resource,
    holder: Holder,
    fence: u64,
    ttl: i128,
    from: Stamp,
    wait: i128,
    skew: i128,
}

#[derive(Default)]
struct Naive {
    rows: Vec<Row>,
    count: u64,
}

/// L-9, L-10: the time between two moments; negative if the second is the earlier one.
fn passed(from: &Stamp, to: &Stamp) -> i128 {
    match (from.boot(), to.boot()) {
        (Some(a), Some(b)) if a.id == b.id => i128::from(b.ms) - i128::from(a.ms),
        _ => i128::from(to.wall_ms()) - i128::from(from.wall_ms()),
    }
}

impl Row {
    /// Time since the deadline; negative before it. A clock that went back has used up nothing.
    fn over(&self, now: &Stamp) -> i128 {
        passed(&self.from, now) - self.ttl
    }
}

fn says(code: &str) -> String {
    code.to_owned()
}

impl Naive {
    fn ask(&mut self, policy: &Policy, command: &Command, now: &Stamp) -> String {
        match command {
            Command::Acquire(wanted) => self.acquire(policy, wanted, now),
            Command::Renew { lease, holder, ttl } => self.renew(policy, *lease, holder, *ttl, now),
            Command::Beat { lease, holder } => match self.mine(*lease, holder, now) {
                Ok(_) => says("NOT_INDEFINITE"),
                Err(code) => code,
            },
            Command::Release { lease, holder } => match self.find(*lease, holder) {
                Ok(at) => self.drop_row(at, "released"),
                Err(code) => code,
            },
            Command::Transfer(wanted) => self.transfer(policy, wanted, now),
            Command::Evict { lease, .. } => match self.rows.iter().position(|row| row.id == *lease) {
                Some(at) => self.drop_row(at, "evicted"),
                None => says("NOT_FOUND"),
            },
            Command::Sweep => {
                let before = self.rows.len();
                self.rows.retain(|row| row.over(now) < row.wait);
                let swept = before - self.rows.len();
                self.count += swept as u64;
                format!("swept {swept}")
            }
            Command::Check(claim) => {
                let shown = |row: &&Row| {
                    row.id == claim.lease && row.fence == claim.fence.get() && row.resource == claim.resource
                };
                match self.rows.iter().find(shown) {
                    None => says("FENCED_OUT"),
                    Some(row) if row.holder != claim.holder => says("NOT_HOLDER"),
                    Some(row) if row.over(now) >= 0 => says("EXPIRED"),
                    Some(_) => says("valid"),
                }
            }
        }
    }

    fn drop_row(&mut self, at: usize, said: &str) -> String {
        self.rows.remove(at);
        self.count += 1;
        says(said)
    }

    fn find(&self, id: LeaseId, holder: &Holder) -> Result<usize, String> {
        let at = self.rows.iter().position(|row| row.id == id).ok_or_else(|| says("NOT_FOUND"))?;
        if self.rows[at].holder == *holder { Ok(at) } else { Err(says("NOT_HOLDER")) }
    }

    fn mine(&self, id: LeaseId, holder: &Holder, now: &Stamp) -> Result<usize, String> {
        let at = self.find(id, holder)?;
        if self.rows[at].over(now) >= 0 { Err(says("EXPIRED")) } else { Ok(at) }
    }

    /// L-13, L-32.
    fn length(policy: &Policy, holder: &Holder, ttl: i128, now: &Stamp) -> Result<(), String> {
        let kind = holder.agent.as_str().split_once(':').map(|(kind, _)| kind.to_owned());
        let rule = kind.and_then(|kind| policy.kinds.get(&kind)).unwrap_or(&policy.rule);
        let (min, max) = (i128::from(rule.ttl.min.get()), i128::from(rule.ttl.max.get()));
        if ttl < min.max(1) || max.min(CENTURY) < ttl {
            return Err(says("TTL_OUT_OF_RANGE"));
        }
        if i128::from(now.wall_ms()) + ttl > LATEST_WALL { Err(says("DEADLINE_TOO_FAR")) } else { Ok(()) }
    }

    fn grant(
        &mut self,
        policy: &Policy,
        id: LeaseId,
        what: &Resource,
        holder: &Holder,
        ttl: i128,
        now: &Stamp,
    ) -> String {
        self.count += 1;
        let (skew, grace) = (i128::from(policy.skew.get()), i128::from(policy.grace.get()));
        let (resource, holder, fence) = (what.clone(), holder.clone(), self.count);
        self.rows.push(Row { id, resource, holder, fence, ttl, from: *now, wait: skew + grace, skew });
        format!("with fence {fence} for {ttl}")
    }

    fn acquire(&mut self, policy: &Policy, wanted: &Acquire, now: &Stamp) -> String {
        let Request::Finite(ttl) = wanted.request else { panic!("only finite leases here") };
        let ttl = i128::from(ttl.get());
        let mine = |row: &&Row| row.resource == wanted.resource && row.holder == wanted.holder;
        if let Some(row) = self.rows.iter().find(mine) {
            let dead = wanted.dead.contains(&row.id);
            if row.over(now) < 0 && !dead {
                return says(if policy.again == Again::Return { "already held" } else { "ALREADY_HELD" });
            }
        }
        if let Err(code) = Self::length(policy, &wanted.holder, ttl, now) {
            return code;
        }
        if self.rows.iter().any(|row| row.id == wanted.id) {
            return says("DUPLICATE_ID");
        }
        if let Err(code) = self.make_way(&wanted.resource, &wanted.holder, &wanted.dead, None, now) {
            return code;
        }
        let grant = self.grant(policy, wanted.id, &wanted.resource, &wanted.holder, ttl, now);
        format!("granted {grant}")
    }

    /// L-14, L-15, L-18, L-19, L-43, L-44: removes what makes room, or says what does not.
    fn make_way(
        &mut self,
        what: &Resource,
        holder: &Holder,
        dead: &[LeaseId],
        leaving: Option<LeaseId>,
        now: &Stamp,
    ) -> Result<(), String> {
        let (mut longest, mut gone) = (None, Vec::new());
        self.rows.sort_by_key(|row| row.id);
        for row in self.rows.iter().filter(|row| meet(&row.resource, what) && Some(row.id) != leaving) {
            let own = row.holder == *holder;
            if own && row.resource != *what && !dead.contains(&row.id) {
                continue;
            }
            if dead.contains(&row.id) || own || row.over(now) >= row.wait {
                gone.push(row.id);
                continue;
            }
            let ahead = passed(now, &row.from);
            if ahead > row.skew {
                return Err(format!("CLOCK_SKEW by {ahead}"));
            }
            longest = longest.max(Some(row.wait - row.over(now)));
        }
        if let Some(left) = longest {
            return Err(format!("HELD for {left}"));
        }
        self.rows.retain(|row| !gone.contains(&row.id));
        self.count += gone.len() as u64;
        Ok(())
    }

    fn renew(
        &mut self,
        policy: &Policy,
        id: LeaseId,
        holder: &Holder,
        ttl: Option<holdfast_kernel::Millis>,
        now: &Stamp,
    ) -> String {
        let renewed = self.mine(id, holder, now).and_then(|at| {
            let ttl = ttl.map_or(self.rows[at].ttl, |ttl| i128::from(ttl.get()));
            Self::length(policy, holder, ttl, now).map(|()| (at, ttl))
        });
        match renewed {
            Err(code) => code,
            Ok((at, ttl)) => {
                self.count += 1;
                (self.rows[at].ttl, self.rows[at].from) = (ttl, *now);
                format!("renewed for {ttl}")
            }
        }
    }

    fn transfer(&mut self, policy: &Policy, wanted: &Transfer, now: &Stamp) -> String {
        let at = match self.mine(wanted.lease, &wanted.holder, now) {
            Ok(_) if wanted.to == wanted.holder => return says("SAME_HOLDER"),
            Ok(_) if self.rows.iter().any(|row| row.id == wanted.id) => return says("DUPLICATE_ID"),
            Ok(at) => at,
            Err(code) => return code,
        };
        let ttl = self.rows[at].ttl;
        if let Err(code) = Self::length(policy, &wanted.to, ttl, now) {
            return code;
        }
        let what = self.rows[at].resource.clone();
        if let Err(code) = self.make_way(&what, &wanted.to, &[], Some(wanted.lease), now) {
            return code;
        }
        let at = self.rows.iter().position(|row| row.id == wanted.lease).unwrap();
        let old = self.rows.remove(at);
        format!("transferred {}", self.grant(policy, wanted.id, &old.resource, &wanted.to, ttl, now))
    }
}

/// What the kernel said, in the naive rules' words.
fn told(outcome: &Result<Decision, Refusal>) -> String {
    let ttl = |lease: &holdfast_kernel::Lease| match lease.term {
        holdfast_kernel::Term::Finite { ttl, .. } => ttl.get(),
        holdfast_kernel::Term::Indefinite { .. } => panic!("only finite leases here"),
    };
    match outcome {
        Err(Refusal::Held { retry_after: Some(wait), .. }) => format!("HELD for {}", wait.get()),
        Err(Refusal::ClockSkew { ahead, .. }) => format!("CLOCK_SKEW by {}", ahead.get()),
        Err(refusal) => refusal.code().to_owned(),
        Ok(decision) => match &decision.answer {
            Answer::Granted(lease) => format!("granted with fence {} for {}", lease.fence, ttl(lease)),
            Answer::Transferred(lease) => {
                format!("transferred with fence {} for {}", lease.fence, ttl(lease))
            }
            Answer::Renewed(lease) => format!("renewed for {}", ttl(lease)),
            Answer::Swept(leases) => format!("swept {}", leases.len()),
            Answer::AlreadyHeld(_) => "already held".to_owned(),
            Answer::Released(_) => "released".to_owned(),
            Answer::Evicted(_) => "evicted".to_owned(),
            Answer::Valid(_) => "valid".to_owned(),
            Answer::Beaten(_) => panic!("only finite leases here"),
        },
    }
}

/// The history with every lease finite and exclusive, and no limits.
fn plain(mut history: History) -> History {
    for policy in &mut history.policies {
        policy.limits = Limits::NONE;
    }
    for step in &mut history.steps {
        if let Op::Acquire { shared, ttl, .. } = &mut step.op {
            *shared = false;
            *ttl = ttl.or(Some(9));
        }
    }
    history
}

proptest! {
    #![proptest_config(config(3_000))]

    #[test]
    fn the_naive_rules_come_to_the_same(history in history().prop_map(plain)) {
        let (mut world, mut naive) = (World::new(), Naive::default());
        for step in &history.steps {
            let taken = world.take(&history, step);
            let said = naive.ask(&taken.policy, &taken.command, &taken.now);
            prop_assert_eq!(said, told(&taken.outcome), "{:?} at {:?}", taken.command, taken.now);
            prop_assert_eq!(naive.rows.len(), world.table.len());
            prop_assert_eq!(naive.count + 1, world.next.get());
        }
    }
}

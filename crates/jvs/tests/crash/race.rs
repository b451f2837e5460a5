//! Several who take one lock, publish, stand still, die and go on, in an order that is drawn by lot: nobody ever
//! publishes under a token after a larger one was granted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use holdfast_jvs::audit::Audit;
use holdfast_jvs::error::Class;
use holdfast_jvs::payload::Progress;
use holdfast_jvs::{doctor, snapshot, verify};
use holdfast_kernel::Millis;
use holdfast_sys::Sys;
use holdfast_sys::sim::{Config, Fate, Faults, Odds, Process, Random, World};

use holdfast_trial::seeds;

use crate::stage::Stage;

/// Which worker was granted which token.
type Grants = Mutex<BTreeMap<u64, u64>>;

/// How long a lease lasts here; some pauses are longer.
const LEASE_MS: u64 = 2_000;

fn faults() -> Faults {
    Faults {
        kill: Odds::new(300, 1),
        pause: Odds::new(4_000, 6),
        wall_jump: Odds::new(1_000, 3),
        ..Faults::NONE
    }
}

/// Takes the lock and publishes, again and again, and never gives the lock back.
fn worker(sys: Sys, number: u64, grants: &Grants, displaced: &AtomicUsize) {
    let file = format!("/{number}.json");
    for turn in 0..3 {
        let stage = Stage::open(sys.clone());
        match stage.take(&file, Some(LEASE_MS)) {
            Ok(session) => {
                let token = session.fence.unwrap().get();
                let before = grants.lock().unwrap_or_else(PoisonError::into_inner).insert(token, number);
                assert!(before.is_none_or(|before| before == number), "{token} was granted twice");
                if let Err(error) = stage.snapshot(&session)
                    && matches!(error.class(), Class::FencingMismatch | Class::LockExpired)
                {
                    displaced.fetch_add(1, Ordering::SeqCst);
                }
            }
            Err(_) => stage.repo.sys.clock.sleep(Millis::new(1_500 + 700 * number + turn)),
        }
    }
}

/// What the audit says that happened, in its order: `(token, whether it was a publication)`.
fn history(stage: &Stage) -> Vec<(u64, bool)> {
    let mut seen = Vec::new();
    let chain = Audit::of(&stage.repo).read(&mut |entry| {
        let token = entry.data.get("fencing_token").and_then(serde_json::Value::as_u64);
        match entry.event.as_str() {
            "lock.acquired" | "lock.stolen" => seen.extend(token.map(|token| (token, false))),
            "snapshot.published" => seen.extend(token.map(|token| (token, true))),
            _ => {}
        }
    });
    chain.unwrap().whole().unwrap();
    seen
}

/// Runs one world; says how many publications and how many grants there were, and counts who was refused.
fn run(seed: u64, displaced: &Arc<AtomicUsize>) -> (usize, usize) {
    let config = Config { faults: faults(), entropy: seed, ..Config::default() };
    let mut world = World::new(config, Random::new(seed));
    let told = Arc::new(Mutex::new((0, 0)));
    let setup = world.run(vec![Process::new("setup", 0, |sys| {
        let stage = Stage::found(sys);
        stage.put("main", "d/f", "one");
    })]);
    if setup.fates != [Fate::Returned] {
        return (0, 0);
    }
    let grants = Arc::new(Grants::default());
    let worker = |n: u64| {
        let (grants, displaced) = (Arc::clone(&grants), Arc::clone(displaced));
        Process::new(format!("w{n}"), 0, move |sys| worker(sys, n, &grants, &displaced))
    };
    let epoch = world.run((0..3).map(worker).collect());
    assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new(), "seed {seed}");
    let tell = Arc::clone(&told);
    let epoch = world.run(vec![Process::new("judge", 0, move |sys| {
        let stage = Stage::open(sys);
        let found = doctor::find(&stage.repo, true).unwrap();
        doctor::mend(&stage.repo, &found).unwrap();
        let (mut largest, mut published, mut steals) = (0, 0, 0);
        for (token, publishes) in history(&stage) {
            assert!(if publishes { token >= largest } else { token > largest }, "{token} after {largest}");
            published += usize::from(publishes);
            steals += usize::from(!publishes);
            largest = token;
        }
        for one in snapshot::all(&stage.repo).unwrap() {
            verify::snapshot(&stage.repo, None, one.snapshot_id, &Progress::default()).unwrap();
        }
        *tell.lock().unwrap_or_else(PoisonError::into_inner) = (published, steals);
    })]);
    assert_eq!(epoch.panics().collect::<Vec<_>>(), Vec::<&str>::new(), "seed {seed}");
    *told.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn nobody_publishes_under_a_token_that_was_overtaken() {
    let (mut worlds, mut published, mut granted) = (0, 0, 0);
    let displaced = Arc::new(AtomicUsize::new(0));
    for seed in seeds(150) {
        let (more, grants) = run(seed, &displaced);
        (worlds, published, granted) = (worlds + 1, published + more, granted + grants);
    }
    let displaced = displaced.load(Ordering::SeqCst);
    println!("{published} publications under {granted} grants, {displaced} refused");
    let enough = published > 100 && granted > 100 && displaced > 10;
    assert!(enough || worlds < 150, "{published}, {granted}, {displaced}");
}

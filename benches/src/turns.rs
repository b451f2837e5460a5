//! One process that acquires the lease on a document and gives it back, against the least that two durable
//! changes of an SQLite database can cost: two bare immediate transactions on the same file, one row each.

use holdfast_kc::{Database, doc_add, lineage_lock_acquire, lineage_lock_release, vault};
use holdfast_sys::Sys;
use rusqlite::TransactionBehavior::Immediate;

use crate::ground::{Contender, Failure, Ground, rounds, timed};
use crate::row::Row;
use crate::stats::Spread;

const ROUNDS: usize = 41;
const PAIRS: usize = 20;
const AT_MOST: f64 = 1.3;
const DOC: &str = "doc";

pub(crate) fn run(ground: &Ground) -> Result<Vec<Row>, Failure> {
    let path = ground.folder("kc")?.join("vault");
    let sys = Sys::os();
    vault::init(&sys, &path)?;
    doc_add(&mut vault::open(&sys, &path)?, DOC)?;
    let (mut bare, mut ours) = (vault::open(&sys, &path)?, vault::open(&sys, &path)?);

    let floor: Contender<'_> = Box::new(|| timed(|| (0..PAIRS).try_for_each(|_| in_and_out(&mut bare))));
    let ours: Contender<'_> = Box::new(|| timed(|| (0..PAIRS).try_for_each(|_| turn(&mut ours))));
    let times = rounds(ROUNDS, &mut [floor, ours])?;
    row(&times).map(|row| vec![row]).ok_or_else(|| "nothing was measured".into())
}

/// A row is put in and taken out again, each in a transaction of its own.
fn in_and_out(bare: &mut Database) -> Result<(), Failure> {
    let conn = bare.connection();
    for statement in ["INSERT INTO documents (doc_id) VALUES (?1)", "DELETE FROM documents WHERE doc_id = ?1"]
    {
        let tx = conn.transaction_with_behavior(Immediate)?;
        tx.prepare_cached(statement)?.execute(["bare"])?;
        tx.commit()?;
    }
    Ok(())
}

fn turn(conn: &mut Database) -> Result<(), Failure> {
    let lease = lineage_lock_acquire(conn, DOC, "ann", 1_700_000_000_000)?;
    Ok(lineage_lock_release(conn, DOC, &lease.token)?)
}

fn row(times: &[Vec<std::time::Duration>]) -> Option<Row> {
    let [floor, ours] = times else { return None };
    let per_pair = |spread: Spread| spread.divided(PAIRS);
    Some(Row::of_times(
        "kc: acquire + release, one process",
        ("two bare immediate SQLite transactions", per_pair(Spread::of_times(floor)?)),
        per_pair(Spread::of_times(ours)?),
        Spread::of_ratios(ours, floor)?,
        AT_MOST,
    ))
}

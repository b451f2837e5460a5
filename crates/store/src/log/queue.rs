//! Group commit: whoever comes while another is writing waits, and the next one writes for all of them.
//! One durable write then serves many callers.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// How many requests share one write at the most.
const MOST: usize = 256;

/// Requests that wait for somebody to serve them.
pub(super) struct Queue<Q, R> {
    line: Mutex<Line<Q, R>>,
    served: Condvar,
}

struct Line<Q, R> {
    waiting: Vec<(Q, Arc<Slot<R>>)>,
    busy: bool,
}

/// Where the answer to one request is put.
struct Slot<R>(Mutex<Answer<R>>);

enum Answer<R> {
    Awaited,
    Given(R),
    /// Whoever was to give it is gone.
    Abandoned,
}

impl<Q, R> Default for Queue<Q, R> {
    fn default() -> Self {
        Self { line: Mutex::new(Line { waiting: Vec::new(), busy: false }), served: Condvar::new() }
    }
}

impl<Q, R> Queue<Q, R> {
    /// Has `request` served, together with whatever else is waiting. `serve` gives one answer a request,
    /// in their order. No answer means that whoever served it panicked.
    pub(super) fn submit(&self, request: Q, serve: &dyn Fn(&[Q]) -> Vec<R>) -> Option<R> {
        let slot = Arc::new(Slot(Mutex::new(Answer::Awaited)));
        let mut line = locked(&self.line);
        line.waiting.push((request, Arc::clone(&slot)));
        loop {
            match std::mem::replace(&mut *locked(&slot.0), Answer::Awaited) {
                Answer::Given(answer) => return Some(answer),
                Answer::Abandoned => return None,
                Answer::Awaited => {}
            }
            if line.busy {
                line = self.served.wait(line).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            line.busy = true;
            let many = line.waiting.len().min(MOST);
            let batch: Vec<_> = line.waiting.drain(..many).collect();
            drop(line);
            self.serve(batch, serve);
            line = locked(&self.line);
        }
    }

    fn serve(&self, batch: Vec<(Q, Arc<Slot<R>>)>, serve: &dyn Fn(&[Q]) -> Vec<R>) {
        let (requests, slots): (Vec<Q>, Vec<_>) = batch.into_iter().unzip();
        let turn = Turn { queue: self, slots };
        for (slot, answer) in turn.slots.iter().zip(serve(&requests)) {
            *locked(&slot.0) = Answer::Given(answer);
        }
    }
}

/// One turn of serving. However it ends, nobody is left waiting.
struct Turn<'a, Q, R> {
    queue: &'a Queue<Q, R>,
    slots: Vec<Arc<Slot<R>>>,
}

impl<Q, R> Drop for Turn<'_, Q, R> {
    fn drop(&mut self) {
        for slot in &self.slots {
            let mut answer = locked(&slot.0);
            if matches!(*answer, Answer::Awaited) {
                *answer = Answer::Abandoned;
            }
        }
        locked(&self.queue.line).busy = false;
        self.queue.served.notify_all();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::Queue;

    #[test]
    fn every_request_gets_its_own_answer_and_many_share_a_turn() {
        let queue: Queue<usize, usize> = Queue::default();
        let (turns, start) = (AtomicUsize::new(0), Barrier::new(8));
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (queue, turns, start) = (&queue, &turns, &start);
                scope.spawn(move || {
                    start.wait();
                    for round in 0..1_000 {
                        let request = thread * 1_000 + round;
                        let answer = queue.submit(request, &|batch| {
                            turns.fetch_add(1, Ordering::Relaxed);
                            std::thread::yield_now();
                            batch.iter().map(|request| request * 2).collect()
                        });
                        assert_eq!(answer, Some(request * 2));
                    }
                });
            }
        });
        assert!(turns.load(Ordering::Relaxed) < 8_000, "no two requests ever shared a turn");
    }

    #[test]
    fn a_server_that_panics_leaves_nobody_waiting() {
        let queue: Queue<u8, u8> = Queue::default();
        std::thread::scope(|scope| {
            let died = scope.spawn(|| queue.submit(1, &|_| std::panic::resume_unwind(Box::new(())))).join();
            assert!(died.is_err());
        });
        assert_eq!(queue.submit(2, &|batch| batch.to_vec()), Some(2));
    }
}

//! Where measurements happen: scratch folders on the disk that holds the build, because the usual
//! temporary folder may be memory, and memory needs no flush.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Whatever ends a benchmark before it has a figure.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A folder for one benchmark. It is gone when this is dropped.
pub struct Ground {
    target: PathBuf,
    path: PathBuf,
}

impl Ground {
    /// A fresh folder below `target`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(target: &Path, name: &str) -> Result<Self, Failure> {
        let path = target.join(format!("bench-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self { target: target.to_path_buf(), path })
    }

    /// The folder that everything is built into.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// A fresh folder in it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn folder(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.path.join(name);
        std::fs::create_dir_all(&path)?;
        Ok(path)
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // What is left behind is below `target`, where anybody may clean up.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// How long `work` took.
///
/// # Errors
/// What `work` failed with.
pub fn timed(work: impl FnOnce() -> Result<(), Failure>) -> Result<Duration, Failure> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

/// One of the things that are compared: does its work once and says how long the measured part took.
pub type Contender<'a> = Box<dyn FnMut() -> Result<Duration, Failure> + 'a>;

/// Lets all contenders run once per round. The order turns with every round, so that none always runs
/// behind the same other. Before the first round each runs once without being measured.
///
/// # Errors
/// What a contender failed with.
pub fn rounds(count: usize, contenders: &mut [Contender<'_>]) -> Result<Vec<Vec<Duration>>, Failure> {
    let mut times = vec![Vec::with_capacity(count); contenders.len()];
    for contender in contenders.iter_mut() {
        contender()?;
    }
    for round in 0..count {
        for turn in 0..contenders.len() {
            let index = (turn + round) % contenders.len();
            if let (Some(contender), Some(times)) = (contenders.get_mut(index), times.get_mut(index)) {
                times.push(contender()?);
            }
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn contenders_take_turns_and_the_order_turns_too() {
        let order = RefCell::new(String::new());
        let contender = |name| -> Contender<'_> {
            let order = &order;
            Box::new(move || {
                order.borrow_mut().push(name);
                Ok(Duration::from_secs(1))
            })
        };
        let times = rounds(3, &mut [contender('a'), contender('b')]).unwrap();
        assert_eq!(times, vec![vec![Duration::from_secs(1); 3]; 2]);
        assert_eq!(*order.borrow(), "ababbaab");
    }

    #[test]
    fn a_failure_ends_the_rounds() {
        let failing: Contender<'_> = Box::new(|| Err("broken".into()));
        assert_eq!(rounds(3, &mut [failing]).unwrap_err().to_string(), "broken");
    }
}

//! What somebody may have meant. Never acted on, only named.

/// Longer words are not compared: the work grows with the square of the length, and a file may hold a
/// word of a megabyte.
const LONGEST: usize = 64;

/// The candidates that look most like `word`, if any does.
pub(super) fn near<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if word.len() > LONGEST {
        return Vec::new();
    }
    let near: Vec<_> = candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().div_ceil(4))
        .collect();
    let nearest = near.iter().map(|(distance, _)| *distance).min();
    near.into_iter()
        .filter(|(distance, _)| Some(*distance) == nearest)
        .map(|(_, candidate)| candidate)
        .collect()
}

/// How unlike a key is to another one. A key that is only in the wrong section is as good as found.
fn distance(word: &str, candidate: &str) -> usize {
    let whole = strsim::damerau_levenshtein(&word.to_lowercase(), candidate);
    match (word.rsplit_once('.'), candidate.rsplit_once('.')) {
        (Some((_, word)), Some((_, candidate))) if word == candidate => whole.min(1),
        (None, Some((_, candidate))) if word == candidate => whole.min(1),
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::near;

    const KEYS: [&str; 4] = [
        "worktree.mode",
        "worktree.enforce_leases",
        "coordination.default_ttl_secs",
        "coordination.stale_threshold_secs",
    ];

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        assert_eq!(near("worktree.mdoe", KEYS), ["worktree.mode"]);
        assert_eq!(near("coordination.default_ttl", KEYS), ["coordination.default_ttl_secs"]);
        assert_eq!(near("STRICT", ["strict", "warn", "off"]), ["strict"]);
    }

    #[test]
    fn a_key_in_the_wrong_section_or_without_one_is_recognised() {
        assert_eq!(near("coordination.enforce_leases", KEYS), ["worktree.enforce_leases"]);
        assert_eq!(near("enforce_leases", KEYS), ["worktree.enforce_leases"]);
    }

    #[test]
    fn nothing_is_made_of_what_looks_like_nothing() {
        assert!(near("colour", KEYS).is_empty());
        assert!(near(&"worktree.mode".repeat(100_000), KEYS).is_empty());
    }
}

//! Patterns: what they take, what they match, and when two of them have a path in common. The truth here is a list of
//! all short paths, and a matcher that tries every way.

use holdfast_kernel::{NameError, Pattern, PatternError, Resource};

use crate::support::make::{name, named};
use crate::support::paths::matches;

fn pattern(text: &str) -> Pattern {
    Pattern::new(text).unwrap()
}

#[test]
fn a_pattern_is_relative_and_has_no_other_wildcards() {
    for good in [
        "a", "*", "**", "?", "a/b", "**/a", "a/**/b", "a/**", "**/**", "*.rs", "a b/ü?", "...", "a*b*",
        ".git",
    ] {
        assert_eq!(pattern(good).as_str(), good);
    }
    let refused = |text: &str| Pattern::new(text).unwrap_err();
    assert_eq!(refused(""), PatternError::Name(NameError::Empty));
    assert_eq!(refused(&"n".repeat(513)), PatternError::Name(NameError::Long { bytes: 513, longest: 512 }));
    assert_eq!(refused("a\nb"), PatternError::Name(NameError::Control));
    assert_eq!(refused("/a"), PatternError::Rooted);
    for text in ["a/", "a//b", "a/**/"] {
        assert_eq!(refused(text), PatternError::EmptySegment, "{text}");
    }
    for text in [".", "..", "a/../b", "./a", "a/."] {
        assert_eq!(refused(text), PatternError::Dots, "{text}");
    }
    for text in ["a**", "**a", "***", "a/b**c/d"] {
        assert_eq!(refused(text), PatternError::Stars, "{text}");
    }
    for (text, found) in [("[ab]", '['), ("a]", ']'), ("{a,b}", '{'), ("}", '}'), ("a\\*", '\\')] {
        assert_eq!(refused(text), PatternError::Reserved(found), "{text}");
    }
}

#[test]
fn a_name_and_a_pattern_never_overlap() {
    let (thing, path) = (named("a/b"), named("~a/b"));
    assert_eq!((thing.text(), path.text()), ("a/b", "a/b"));
    assert!(thing != path && !thing.overlaps(&path) && !path.overlaps(&thing));
    assert!(thing.overlaps(&named("a/b")) && !thing.overlaps(&named("a/c")));
    assert_eq!((thing.name(), thing.pattern()), (Some(&name("a/b")), None));
    assert_eq!((path.name(), path.pattern()), (None, Some(&pattern("a/b"))));
    assert_eq!(Resource::from(pattern("*.rs")).to_string(), "*.rs");
}

/// All texts of these letters up to a length.
fn texts(letters: &[char], longest: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut begin = 0;
    for _ in 0..longest {
        let end = all.len();
        for at in begin..end {
            let longer: Vec<String> = letters.iter().map(|letter| format!("{}{letter}", all[at])).collect();
            all.extend(longer);
        }
        begin = end;
    }
    all
}

/// Which of the paths a pattern matches, a bit for each.
fn matched(pattern: &Pattern, paths: &[String]) -> Vec<u64> {
    let mut bits = vec![0; paths.len().div_ceil(64)];
    for (at, path) in paths.iter().enumerate() {
        let found = matches(pattern.as_str(), path);
        assert_eq!(pattern.matches(path), found, "{pattern} on {path}");
        bits[at / 64] |= u64::from(found) << (at % 64);
    }
    bits
}

/// Every pattern of up to four characters with every other, and every path of up to seven: a path that matches two such
/// patterns can be made of their own letters.
#[test]
fn all_short_patterns_overlap_exactly_where_a_path_matches_both() {
    let is_path = |text: &String| !text.is_empty() && text.split('/').all(|segment| !segment.is_empty());
    let paths: Vec<String> = texts(&['a', 'b', '/'], 7).into_iter().filter(is_path).collect();
    let texts = texts(&['a', 'b', '*', '?', '/'], 4);
    let patterns: Vec<Pattern> = texts.iter().filter_map(|text| Pattern::new(text).ok()).collect();
    assert!(patterns.len() > 300 && paths.len() > 500, "{} and {}", patterns.len(), paths.len());
    let sets: Vec<Vec<u64>> = patterns.iter().map(|pattern| matched(pattern, &paths)).collect();
    let mut overlapping = 0;
    for (one, set) in patterns.iter().zip(&sets) {
        for (other, others) in patterns.iter().zip(&sets) {
            let truth = set.iter().zip(others).any(|(a, b)| a & b != 0);
            assert_eq!(one.overlaps(other), truth, "{one} and {other}");
            overlapping += usize::from(truth);
        }
    }
    assert!(overlapping > 1_000 && overlapping < patterns.len() * patterns.len() / 2, "{overlapping}");
}

/// A path is as long as somebody made it.
#[test]
fn a_path_that_is_longer_than_any_pattern_is_matched_too() {
    let (deep, wide) = (format!("{}b", "a/".repeat(3_000)), format!("{}b", "a".repeat(5_000)));
    for path in [&deep, &wide] {
        assert!(pattern("**").matches(path) && pattern("a*/**").matches(path) == (path == &deep));
        assert!(pattern("**/*b").matches(path) && !pattern("**/*a").matches(path));
        assert!(!pattern("a/b").matches(path) && !pattern("?").matches(path));
    }
    let stars = pattern(&format!("{}b", "a*".repeat(200)));
    assert!(stars.matches(&wide) && !stars.matches(&deep));
}

/// The longest patterns, of the shapes that leave most open.
#[test]
fn no_two_patterns_take_more_than_four_steps_for_each_pair_of_bytes() {
    let long = |piece: &str, last: &str| {
        let times = (512 - last.len()) / piece.len();
        pattern(&format!("{}{last}", piece.repeat(times)))
    };
    let shapes = [
        long("?/", "?"),
        long("*/", "*"),
        long("**/", "a"),
        long("**/?/", "*"),
        long("**/*?/", "b"),
        long("*?/", "*"),
        long("?*/", "?"),
        long("*a", "b"),
        long("a*", "a"),
        long("*?", "*"),
        long("?", "*"),
        long("a/*/", "**"),
        long("é*", "é"),
        pattern(&format!("**/{}x", "*/".repeat(254))),
        pattern(&format!("**/{}x", "*b/".repeat(169))),
        pattern(&format!("**/{}x", "?/".repeat(254))),
    ];
    for one in &shapes {
        for other in &shapes {
            let steps = one.overlap_steps(other);
            let pairs = (one.as_str().len() + 2) * (other.as_str().len() + 2);
            assert!(steps <= 4 * pairs, "{steps} steps: {one} and {other}");
            assert_eq!(one.overlaps(other), other.overlaps(one));
        }
    }
}

/// One step for each place of the first and for each pair that is compared; what begins or ends differently takes one. Up to
/// 63 characters fit a word, and the longer one is read along the shorter.
#[test]
fn every_step_is_counted() {
    let (full, more, starred) = ("a".repeat(64), "a".repeat(65), format!("{}*", "a".repeat(63)));
    let pairs = [
        ("a/x*", "b/x*", false, 1),
        ("x*/a", "x*/b", false, 1),
        ("?", "a", true, 3),
        ("*", "abc", true, 3),
        ("abc", "*", true, 3),
        ("a?", "abc", false, 4),
        ("a*", "a", true, 5),
        ("a*", "ab", true, 5),
        ("ab", "a*", true, 5),
        ("?*b", "*b", true, 7),
        ("**/a", "b/a", true, 6),
        ("a*", &full, true, 67),
        (&starred, &more, true, 129),
    ];
    for (one, other, overlap, steps) in pairs {
        let (a, b) = (pattern(one), pattern(other));
        assert_eq!((a.overlaps(&b), a.overlap_steps(&b)), (overlap, steps), "{one} and {other}");
    }
}

//! Patterns held against another program that knows them, `globset`, with more letters than can be enumerated.

use globset::{GlobBuilder, GlobMatcher};
use holdfast_kernel::Pattern;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::config;

fn globs(pattern: &Pattern) -> GlobMatcher {
    GlobBuilder::new(pattern.as_str()).literal_separator(true).build().unwrap().compile_matcher()
}

fn letter() -> impl Strategy<Value = char> {
    prop::sample::select(vec!['a', 'b', 'c', 'z', 'A', '.', '-', '_', '0', ' '])
}

/// A segment that no pattern has as a way out.
fn segment() -> impl Strategy<Value = String> {
    vec(letter(), 1..6)
        .prop_map(|letters| letters.into_iter().collect())
        .prop_filter("dots", |segment: &String| segment != "." && segment != "..")
}

fn path() -> impl Strategy<Value = Vec<String>> {
    vec(segment(), 1..6)
}

/// How a segment becomes part of a pattern that still matches it.
#[derive(Clone, Debug)]
enum Blur {
    Keep,
    /// Each letter for itself: as it is, `?`, or `*` for it and some behind it.
    Letters(Vec<u8>),
    Star,
    /// `**` for it and those behind it that say the same.
    Deep,
    /// `**` for nothing before it.
    Before,
}

fn blur() -> impl Strategy<Value = Blur> {
    prop_oneof![
        3 => Just(Blur::Keep),
        4 => vec(0..6_u8, 6).prop_map(Blur::Letters),
        1 => Just(Blur::Star),
        2 => Just(Blur::Deep),
        1 => Just(Blur::Before),
    ]
}

/// A pattern that matches the path.
fn blurred(path: &[String], blurs: &[Blur]) -> Pattern {
    let mut segments: Vec<String> = Vec::new();
    for (segment, blur) in path.iter().zip(blurs.iter().cycle()) {
        match blur {
            Blur::Keep => segments.push(segment.clone()),
            Blur::Star => segments.push("*".into()),
            Blur::Deep if segments.last().is_some_and(|last| last == "**") => {}
            Blur::Deep => segments.push("**".into()),
            Blur::Before => segments.extend(["**".into(), segment.clone()]),
            Blur::Letters(how) => segments.push(letters(segment, how)),
        }
    }
    Pattern::new(&segments.join("/")).unwrap()
}

fn letters(segment: &str, how: &[u8]) -> String {
    let mut text = String::new();
    for (letter, how) in segment.chars().zip(how.iter().cycle()) {
        match how {
            0..=2 => text.push(letter),
            3 => text.push('?'),
            // Two stars in a row are none of a segment.
            4 if !text.ends_with('*') => text.push('*'),
            5 if !text.ends_with('*') => text.extend([letter, '*']),
            _ => {}
        }
    }
    if text.is_empty() { "*".into() } else { text }
}

fn pattern() -> impl Strategy<Value = Pattern> {
    (path(), vec(blur(), 6)).prop_map(|(path, blurs)| blurred(&path, &blurs))
}

/// A path that a pattern matches, made with these segments and letters.
fn instance(pattern: &Pattern, fill: &[String]) -> String {
    let mut fill = fill.iter().cycle();
    let mut path: Vec<String> = Vec::new();
    let segments: Vec<&str> = pattern.as_str().split('/').collect();
    for (at, segment) in segments.iter().enumerate() {
        let with = fill.next().unwrap();
        if *segment == "**" {
            let last = at + 1 == segments.len();
            path.extend(fill.by_ref().take(usize::from(last) + with.len() % 2).cloned());
            continue;
        }
        let mut letters = with.chars().cycle();
        let mut text = String::new();
        for letter in segment.chars() {
            match letter {
                '*' => text.extend(letters.by_ref().take(with.len() % 3)),
                '?' => text.extend(letters.next()),
                letter => text.push(letter),
            }
        }
        path.push(if text.is_empty() { with.clone() } else { text });
    }
    path.join("/")
}

proptest! {
    #![proptest_config(config(3_000))]

    #[test]
    fn a_pattern_matches_what_globset_says(pattern in pattern(), path in path(), fill in vec(segment(), 6)) {
        let globs = globs(&pattern);
        for path in [path.join("/"), instance(&pattern, &fill)] {
            prop_assert_eq!(pattern.matches(&path), globs.is_match(&path), "{} on {}", pattern, path);
        }
    }

    #[test]
    fn two_patterns_of_one_path_overlap(path in path(), one in vec(blur(), 6), two in vec(blur(), 6)) {
        let (one, two) = (blurred(&path, &one), blurred(&path, &two));
        let path = path.join("/");
        prop_assert!(globs(&one).is_match(&path) && globs(&two).is_match(&path), "{} and {}: {}", one, two, path);
        prop_assert!(one.overlaps(&two) && two.overlaps(&one), "{} and {} have {}", one, two, path);
    }

    #[test]
    fn no_path_of_one_matches_another_that_does_not_overlap(
        one in pattern(),
        two in pattern(),
        fills in vec(vec(segment(), 6), 8),
    ) {
        prop_assert_eq!(one.overlaps(&two), two.overlaps(&one));
        if one.overlaps(&two) {
            return Ok(());
        }
        let (globs_one, globs_two) = (globs(&one), globs(&two));
        for fill in fills {
            let (of_one, of_two) = (instance(&one, &fill), instance(&two, &fill));
            prop_assert!(globs_one.is_match(&of_one) && globs_two.is_match(&of_two), "{of_one}, {of_two}");
            prop_assert!(!globs_two.is_match(&of_one), "{} and {} have {}", one, two, of_one);
            prop_assert!(!globs_one.is_match(&of_two), "{} and {} have {}", one, two, of_two);
        }
    }
}

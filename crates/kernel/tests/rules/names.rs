//! Names, texts, tags and ids: what they take, and what they turn away.

use holdfast_kernel::{Fence, Holder, LeaseId, Name, NameError, Tags, TagsError, Text};
use proptest::prelude::*;

use crate::support::make::{holder, text};

#[test]
fn a_name_has_1_to_512_bytes_and_no_control_characters() {
    assert_eq!(Name::new(""), Err(NameError::Empty));
    assert!(Name::new(&"n".repeat(512)).is_ok());
    assert_eq!(Name::new(&"n".repeat(513)), Err(NameError::Long { bytes: 513, longest: 512 }));
    assert_eq!(Name::new(&"é".repeat(257)), Err(NameError::Long { bytes: 514, longest: 512 }));
    for hostile in ["a\0", "a\nb", "\u{1b}[31m", "\u{7f}", "\u{9b}31m"] {
        assert_eq!(Name::new(hostile), Err(NameError::Control), "{hostile:?}");
    }
    assert_eq!(Name::new(" wt 1 ").unwrap().as_str(), " wt 1 ");
}

#[test]
fn a_text_says_something_in_at_most_1024_bytes() {
    for blank in ["", "   ", "\t\n"] {
        assert_eq!(Text::new(blank), Err(NameError::Empty));
    }
    assert_eq!(Text::new("  why \n").unwrap().as_str(), "why");
    assert!(Text::new(&"w".repeat(1_024)).is_ok());
    assert_eq!(Text::new(&"w".repeat(1_025)), Err(NameError::Long { bytes: 1_025, longest: 1_024 }));
    assert_eq!(Text::new("two\nlines"), Err(NameError::Control));
}

#[test]
fn a_holder_is_both_its_agent_and_its_place() {
    assert_ne!(holder("agent:a@1"), holder("agent:a@2"));
    assert_ne!(holder("agent:a@1"), holder("agent:b@1"));
    assert_eq!(holder("agent:a@1"), holder("agent:a@1"));
    assert_eq!(holder("agent:a@1").to_string(), "agent:a in 1");
}

#[test]
fn a_kind_stands_before_the_first_colon() {
    let kind = |agent: &str| Holder { agent: Name::new(agent).unwrap(), place: Name::new("p").unwrap() };
    assert_eq!(kind("human:ann:2").kind(), Some("human"));
    assert_eq!(kind(":ann").kind(), Some(""));
    assert_eq!(kind("ann").kind(), None);
}

#[test]
fn sixteen_tags_and_no_more() {
    let full = (0..16).fold(Tags::none(), |tags, n| tags.with(&format!("k{n}"), text("v")).unwrap());
    assert_eq!(full.clone().with("k16", text("v")), Err(TagsError::Many));
    let changed = full.with("k3", text("w")).unwrap();
    assert_eq!(changed.get("k3"), Some(&text("w")));
    assert_eq!(changed.iter().count(), 16);
    assert_eq!(Tags::none().with("", text("v")), Err(TagsError::Key(NameError::Empty)));
}

#[test]
fn an_id_has_one_form() {
    let id = LeaseId::new(u128::MAX);
    assert_eq!(id.to_string(), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    assert_eq!(("7ZZZZZZZZZZZZZZZZZZZZZZZZZ".parse(), id.get()), (Ok(id), u128::MAX));
    let others = [
        "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "7zzzzzzzzzzzzzzzzzzzzzzzzz",
        "0000000000000000000000000O",
        "0000000000000000000000000é",
        "000000000000000000000000é",
        "",
        "00000000000000000000000001 ",
    ];
    for other in others {
        assert!(other.parse::<LeaseId>().is_err(), "{other:?}");
    }
    assert_eq!(LeaseId::from_parts(u64::MAX, u128::MAX), id, "too much is cut off, not an overflow");
    assert!(LeaseId::from_parts(1, u128::MAX) < LeaseId::from_parts(2, 0), "ids sort by time");
}

#[test]
fn fences_go_from_1_to_2_to_the_53_less_1() {
    assert!(Fence::new(0).is_err());
    assert_eq!(Fence::new(1), Ok(Fence::FIRST));
    assert_eq!(Fence::new((1 << 53) - 1), Ok(Fence::LAST));
    assert!(Fence::new(1 << 53).is_err());
    assert_eq!(Fence::FIRST.plus((1 << 53) - 2), Some(Fence::LAST));
    assert_eq!(Fence::LAST.plus(0), Some(Fence::LAST));
    assert_eq!(Fence::LAST.plus(1), None);
    assert_eq!(Fence::LAST.plus(u64::MAX), None);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(2_000)
    })]

    #[test]
    fn any_text_is_a_name_or_is_not(text in any::<String>()) {
        let good = !text.is_empty() && text.len() <= 512 && !text.chars().any(char::is_control);
        prop_assert_eq!(Name::new(&text).is_ok(), good);
        prop_assert!(text.parse::<LeaseId>().is_err());
    }

    #[test]
    fn every_id_reads_back(bits in any::<u128>(), other in any::<u128>()) {
        let (id, other) = (LeaseId::new(bits), LeaseId::new(other));
        prop_assert_eq!(id.to_string().parse(), Ok(id));
        prop_assert_eq!(id.to_string().cmp(&other.to_string()), id.cmp(&other), "texts are ordered as ids are");
    }
}

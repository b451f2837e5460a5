//! Texts that people give.

use holdfast_tracker::Result;
use holdfast_tracker::writes::{LONGEST_DESCRIPTION, assignee, description, key, label, title};

type Check = fn(&str) -> Result<String>;

fn said(result: Result<String>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn a_text_may_be_as_long_as_its_limit_and_no_longer() {
    let cases: [(Check, usize); 5] =
        [(title, 1_000), (description, LONGEST_DESCRIPTION), (label, 100), (assignee, 100), (key, 100)];
    for (check, longest) in cases {
        let fits = "x".repeat(longest);
        assert_eq!(check(&fits).unwrap(), fits);
        let refused = said(check(&"x".repeat(longest + 1)));
        assert!(refused.contains(&format!("longer than the maximum of {longest} bytes")), "{refused}");
        assert!(refused.contains(&format!("{}…", "x".repeat(40))), "{refused}");
        assert!(!refused.contains(&"x".repeat(41)), "{refused}");
    }
    assert_eq!(LONGEST_DESCRIPTION, 1_048_576);
}

#[test]
fn whoever_is_refused_is_told_what_is_wrong_with_what() {
    for text in ["", "  ", "a\tb", "a\u{7f}"] {
        let refused = said(title(text));
        assert!(refused.contains("--title") && refused.contains("one line that is not empty"), "{refused}");
        let refused = said(assignee(text));
        assert!(refused.contains("--assignee") && refused.contains("a name on one line"), "{refused}");
    }
    for text in ["", "a b", "a,b", "-a", "a\u{1}"] {
        let refused = said(label(text));
        assert!(refused.contains("--label") && refused.contains("one word without commas"), "{refused}");
    }
    for text in ["", "-a", ".a", "A", "a b", "a:b", "ä"] {
        let refused = said(key(text));
        assert!(refused.contains("the key of a gate") && refused.contains("lower-case"), "{refused}");
    }
}

#[test]
fn what_is_fit_is_kept_as_it_is() {
    assert_eq!(title(" two words ").unwrap(), "two words");
    assert_eq!(assignee(" Ada L. ").unwrap(), "Ada L.");
    assert_eq!(description(" a\n\tb ").unwrap(), " a\n\tb ");
    assert_eq!(description("").unwrap(), "");
    for text in ["a-b", "ä", "a:b", "1"] {
        assert_eq!(label(text).unwrap(), text);
    }
    for text in ["a", "9", "a-b_c.d", "_a"] {
        assert_eq!(key(text).unwrap(), text);
    }
}

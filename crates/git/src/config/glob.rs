//! Patterns as in the conditions of an include: `*`, `?` and sets such as `[a-z]` stop at a slash, `**`
//! does not. Classes such as `[[:alpha:]]` match nothing.

/// Whether `pattern` matches all of `text`; `fold` makes upper and lower case the same.
pub(crate) fn matches(pattern: &[u8], text: &[u8], fold: bool) -> bool {
    // A pattern is a user's own, but one with many stars takes exponential time; steps bound it.
    let mut steps = 1_000_000;
    wild(pattern, text, fold, true, &mut steps)
}

/// `at_start` says whether the pattern before this point is empty or ends with a slash.
fn wild(mut pattern: &[u8], mut text: &[u8], fold: bool, mut at_start: bool, steps: &mut u32) -> bool {
    loop {
        *steps = steps.saturating_sub(1);
        if *steps == 0 {
            return false;
        }
        let Some((first, rest)) = pattern.split_first() else { return text.is_empty() };
        if *first == b'*' {
            return stars(rest, text, fold, at_start, steps);
        }
        let Some((byte, after)) = text.split_first() else { return false };
        let Some(rest) = one(*first, rest, *byte, fold) else { return false };
        at_start = *byte == b'/';
        (pattern, text) = (rest, after);
    }
}

/// What is left of the pattern if its next element, which begins with `first`, matches `byte`.
fn one(first: u8, rest: &[u8], byte: u8, fold: bool) -> Option<&[u8]> {
    match first {
        b'?' => (byte != b'/').then_some(rest),
        b'[' => {
            let (matched, rest) = set(rest, byte, fold)?;
            (matched && byte != b'/').then_some(rest)
        }
        b'\\' => {
            let (literal, rest) = rest.split_first()?;
            same(*literal, byte, fold).then_some(rest)
        }
        literal => same(literal, byte, fold).then_some(rest),
    }
}

fn stars(rest: &[u8], text: &[u8], fold: bool, at_start: bool, steps: &mut u32) -> bool {
    let more = rest.iter().take_while(|byte| **byte == b'*').count();
    let rest = rest.get(more..).unwrap_or_default();
    let whole_parts = more > 0 && at_start && matches!(rest.first(), None | Some(b'/'));
    if whole_parts
        && rest.first() == Some(&b'/')
        && wild(rest.get(1..).unwrap_or_default(), text, fold, true, steps)
    {
        return true;
    }
    let reach =
        if whole_parts { text.len() } else { text.iter().position(|b| *b == b'/').unwrap_or(text.len()) };
    (0..=reach).any(|taken| wild(rest, text.get(taken..).unwrap_or_default(), fold, false, steps))
}

/// Whether `byte` is in the set that `pattern` begins with, just after its bracket, and what follows the
/// set; none if the set has no end or names a class.
fn set(pattern: &[u8], byte: u8, fold: bool) -> Option<(bool, &[u8])> {
    let negated = matches!(pattern.first(), Some(b'!' | b'^'));
    let mut rest = pattern.get(usize::from(negated)..)?;
    let mut found = false;
    let mut first = true;
    loop {
        let (low, after) = rest.split_first()?;
        if *low == b']' && !first {
            return Some((found != negated, after));
        }
        first = false;
        if rest.starts_with(b"[:") {
            return None;
        }
        let (low, after) = if *low == b'\\' { after.split_first()? } else { (low, after) };
        let (high, after) = match after {
            [b'-', b'\\', high, after @ ..] => (high, after),
            [b'-', high, after @ ..] if *high != b']' => (high, after),
            _ => (low, after),
        };
        let within = |byte: u8| (*low..=*high).contains(&byte);
        found |=
            within(byte) || fold && (within(byte.to_ascii_lowercase()) || within(byte.to_ascii_uppercase()));
        rest = after;
    }
}

fn same(a: u8, b: u8, fold: bool) -> bool {
    a == b || fold && a.eq_ignore_ascii_case(&b)
}

#[cfg(test)]
mod tests {
    use super::matches;

    fn is(pattern: &str, text: &str) -> bool {
        matches(pattern.as_bytes(), text.as_bytes(), false)
    }

    #[test]
    fn one_star_stays_in_its_part() {
        assert!(is("/a/*/c", "/a/b/c"));
        assert!(!is("/a/*/c", "/a/b/b/c"));
        assert!(is("*.git", "x.git"));
        assert!(!is("*", "a/b"));
        assert!(is("a*b*c", "aXbYc"));
    }

    #[test]
    fn two_stars_cross_parts() {
        assert!(is("**/c", "/a/b/c"));
        assert!(is("/a/**", "/a/b/c"));
        assert!(is("/a/**/c", "/a/c"));
        assert!(is("/a/**/c", "/a/b/b/c"));
        assert!(!is("/a**/c", "/a/b/c"));
        assert!(!is("/a/**", "/b/c"));
    }

    #[test]
    fn single_characters_and_sets() {
        assert!(is("a?c", "abc"));
        assert!(!is("a?c", "a/c"));
        assert!(is("[a-c]x", "bx"));
        assert!(!is("[!a-c]x", "bx"));
        assert!(is("[]]x", "]x"));
        assert!(is("[\\]]x", "]x"));
        assert!(!is("[a", "a"));
        assert!(!is("[[:alpha:]]", "a"));
        assert!(is("a\\*", "a*"));
        assert!(!is("a\\", "a"));
    }

    #[test]
    fn case_can_be_folded() {
        assert!(matches(b"/Srv/[A-C]x", b"/srv/bX", true));
        assert!(!matches(b"/Srv", b"/srv", false));
    }

    #[test]
    fn many_stars_end_in_bounded_time() {
        let text = "a".repeat(5_000);
        assert!(!is(&("*a".repeat(40) + "b"), &text));
    }
}

//! The difference between two texts, line by line, with a few lines around it.

use std::fmt::Write as _;

/// So many equal lines are shown around a difference.
const AROUND: usize = 3;

/// The difference between two texts: `-` only in the first, `+` only in the second.
pub(crate) fn lines(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let marked = marked(&old, &new);
    let near = |at: usize| {
        let window = &marked[at.saturating_sub(AROUND)..marked.len().min(at + AROUND + 1)];
        window.iter().any(|(mark, _)| *mark != ' ')
    };
    let mut text = String::new();
    let mut left_out = false;
    for (at, (mark, line)) in marked.iter().enumerate() {
        if near(at) {
            writeln!(text, "{mark} {line}").unwrap();
        } else if !left_out {
            text.push_str("  …\n");
        }
        left_out = !near(at);
    }
    text
}

/// Every line of both, with its mark: a longest common subsequence keeps the marks few.
fn marked<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (head, old, new) = (&old[..same], &old[same..], &new[same..]);
    let width = new.len() + 1;
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = if old[i] == new[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let mut all: Vec<(char, &str)> = head.iter().map(|line| (' ', *line)).collect();
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            all.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len()
            || (i < old.len() && longest[(i + 1) * width + j] >= longest[i * width + j + 1])
        {
            all.push(('-', old[i]));
            i += 1;
        } else {
            all.push(('+', new[j]));
            j += 1;
        }
    }
    all
}

#[test]
fn a_difference_is_shown_with_what_is_around_it() {
    let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    assert_eq!(lines(old, &old.replace("6\n", "six\n")), "  …\n  3\n  4\n  5\n- 6\n+ six\n  7\n  8\n  9\n");
    assert_eq!(lines("a\nb\n", "a\nx\nb\n"), "  a\n+ x\n  b\n");
    assert_eq!(lines("", "a\n"), "+ a\n");
}

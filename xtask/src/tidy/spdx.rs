//! Licence expressions: `(MIT OR Apache-2.0) AND Unicode-3.0`. Only as much of SPDX as crates use.

/// Whether somebody who accepts the `allowed` licences may use what is under this expression. An
/// expression that cannot be read is not accepted.
pub(super) fn is_allowed(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    // Before SPDX was agreed on, a slash stood for "or".
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, allowed };
    matches!((reader.either(), reader.words), (Some(true), []))
}

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a dyn Fn(&str) -> bool,
}

impl<'a> Reader<'a> {
    /// Alternatives: one is enough.
    fn either(&mut self) -> Option<bool> {
        let mut good = self.both()?;
        while self.take("OR") {
            good |= self.both()?;
        }
        Some(good)
    }

    /// Parts: each has to be accepted. `AND` binds closer than `OR`.
    fn both(&mut self) -> Option<bool> {
        let mut good = self.one()?;
        while self.take("AND") {
            good &= self.one()?;
        }
        Some(good)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let good = self.either()?;
            return self.take(")").then_some(good);
        }
        let licence = self.next().filter(|word| !["AND", "OR", "WITH", ")"].contains(word))?;
        if self.take("WITH") {
            let exception = self.next()?;
            return Some((self.allowed)(&format!("{licence} WITH {exception}")));
        }
        Some((self.allowed)(licence))
    }

    fn take(&mut self, word: &str) -> bool {
        let there = self.words.first() == Some(&word);
        if there {
            self.next();
        }
        there
    }

    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_understood() {
        let allowed =
            |licence: &str| ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"].contains(&licence);
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "GPL-3.0 AND MIT OR MIT",
            "GPL-3.0 OR Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(is_allowed(good, &allowed), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "MIT)", "MIT OR", "Apache-2.0", "MIT MIT"] {
            assert!(!is_allowed(bad, &allowed), "{bad}");
        }
    }
}

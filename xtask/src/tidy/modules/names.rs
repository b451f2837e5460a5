//! What the names at the root of a crate stand for: a module, a thing that is re-exported from one, or a
//! thing of the root itself.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenTree};

use super::scan::{after_attribute, is_ident, is_punct, skip_separator};

/// The module that stands for what `lib.rs` itself defines.
pub(super) const ROOT: &str = "lib.rs";

/// The names at the root of a crate.
#[derive(Default)]
pub(super) struct Names {
    modules: BTreeSet<String>,
    from: BTreeMap<String, String>,
    own: BTreeSet<String>,
    globs: Vec<String>,
}

impl Names {
    /// Reads them from the tokens of `lib.rs`, without its tests.
    pub(super) fn read(tokens: &[TokenTree]) -> Self {
        let mut names = Self::default();
        for (at, token) in tokens.iter().enumerate() {
            if is_ident(token, "mod")
                && let Some(TokenTree::Ident(name)) = tokens.get(at + 1)
            {
                names.modules.insert(name.to_string());
            }
        }
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at = after_attribute(tokens, at).unwrap_or(at + 1);
            if is_ident(token, "use") {
                names.read_use(tokens, at, None);
            } else if let TokenTree::Ident(word) = token {
                names.read_own(&word.to_string(), tokens, at);
            }
        }
        names
    }

    fn read_own(&mut self, word: &str, tokens: &[TokenTree], at: usize) {
        let keywords = ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro_rules"];
        let at = if word == "macro_rules" { at + 1 } else { at };
        if let (true, Some(TokenTree::Ident(name))) = (keywords.contains(&word), tokens.get(at)) {
            self.own.insert(name.to_string());
        }
    }

    /// Reads a tree of imports, below this module of the crate if there is one.
    fn read_use(&mut self, tokens: &[TokenTree], mut at: usize, module: Option<&str>) {
        let mut module = module.map(String::from);
        let mut leaf = module.clone();
        loop {
            match tokens.get(at) {
                Some(TokenTree::Ident(word)) if word == "as" => {
                    leaf = tokens.get(at + 1).map(ToString::to_string);
                    at += 2;
                }
                Some(TokenTree::Ident(word)) => {
                    let word = word.to_string();
                    if module.is_none() && self.modules.contains(&word) {
                        module = Some(word.clone());
                    }
                    // `self` in braces names what stands before them.
                    if word != "self" && word != "crate" {
                        leaf = Some(word);
                    }
                    at += 1;
                }
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    for branch in inner.split(|token| is_punct(token, ',')) {
                        self.read_use(branch, 0, module.as_deref());
                    }
                    return;
                }
                Some(token) if is_punct(token, '*') => {
                    self.globs.extend(module);
                    return;
                }
                _ => break,
            }
            at = skip_separator(tokens, at);
        }
        if let (Some(module), Some(leaf)) = (module, leaf) {
            self.from.insert(leaf, module);
        }
    }

    pub(super) fn modules(&self) -> impl Iterator<Item = &String> {
        self.modules.iter()
    }

    pub(super) fn is_module(&self, name: &str) -> bool {
        self.modules.contains(name)
    }

    /// The module that a thing of this name is imported from at the root.
    pub(super) fn imported(&self, name: &str) -> Option<&str> {
        self.from.get(name).map(String::as_str)
    }

    /// The modules that `crate::name` may lead to. A name that is known to nothing else may come from any
    /// `pub use module::*`.
    pub(super) fn resolve(&self, name: &str) -> Vec<&str> {
        if name == "*" {
            return self.modules.iter().map(String::as_str).collect();
        }
        if let Some(module) = self.modules.get(name) {
            return vec![module];
        }
        match self.imported(name) {
            Some(module) => vec![module],
            None if self.own.contains(name) || self.globs.is_empty() => vec![ROOT],
            None => self.globs.iter().map(String::as_str).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Names {
        let tokens: proc_macro2::TokenStream = text.parse().unwrap();
        Names::read(&tokens.into_iter().collect::<Vec<_>>())
    }

    #[test]
    fn what_is_re_exported_comes_from_its_module() {
        let names = names(
            "mod a; pub(crate) mod b { } pub use a::B; pub use self::b::{self as c, d::{E, F as G}}; \
             use crate::a::h; use std::fmt; pub struct Own; fn own() {} macro_rules! mine { () => {} }",
        );
        for (name, module) in
            [("a", "a"), ("b", "b"), ("B", "a"), ("c", "b"), ("E", "b"), ("G", "b"), ("h", "a")]
        {
            assert_eq!(names.resolve(name), [module], "{name}");
        }
        for name in ["Own", "own", "mine", "F", "fmt"] {
            assert_eq!(names.resolve(name), [ROOT], "{name}");
        }
    }

    #[test]
    fn an_unknown_name_may_come_from_every_glob() {
        let names = names("mod a; mod b; pub use a::*; pub use b::{c::*}; struct Own;");
        assert_eq!(names.resolve("Thing"), ["a", "b"]);
        assert_eq!(names.resolve("Own"), [ROOT]);
        assert_eq!(names.resolve("*"), ["a", "b"]);
    }
}

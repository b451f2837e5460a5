//! What a path in a file stands for: the crate and the name of a type, as far as the imports of the file tell.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenTree};

use crate::tidy::modules::scan::{is_ident, is_punct};

/// A type of this repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Type {
    /// The crate that has it.
    pub(super) library: String,
    pub(super) name: String,
}

/// What the crates of this repository begin with.
const OURS: &str = "holdfast_";

/// The names that a file imports, wherever in it.
pub(super) struct Names {
    library: String,
    imported: BTreeMap<String, Vec<String>>,
}

impl Names {
    /// Reads them from the tokens of a file of this crate.
    pub(super) fn read(tokens: &[TokenTree], library: &str) -> Self {
        let mut names = Self { library: library.into(), imported: BTreeMap::new() };
        names.level(tokens);
        names
    }

    fn level(&mut self, tokens: &[TokenTree]) {
        for (at, token) in tokens.iter().enumerate() {
            if let TokenTree::Group(group) = token {
                self.level(&group.stream().into_iter().collect::<Vec<_>>());
            } else if is_ident(token, "use") {
                let rest = tokens.get(at + 1..).unwrap_or_default();
                let end = rest.iter().position(|token| is_punct(token, ';')).unwrap_or_default();
                self.import(rest.get(..end).unwrap_or_default(), Vec::new());
            }
        }
    }

    /// Reads one branch of a tree of imports.
    fn import(&mut self, tokens: &[TokenTree], mut path: Vec<String>) {
        let mut alias = None;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    for branch in inner.split(|token| is_punct(token, ',')) {
                        self.import(branch, path.clone());
                    }
                    return;
                }
                TokenTree::Ident(word) if word == "as" => {
                    alias = tokens.get(at + 1).map(ToString::to_string);
                    at += 1;
                }
                // In braces it names what stands before them.
                TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                TokenTree::Ident(word) => path.push(word.to_string()),
                _ => {}
            }
            at += 1;
        }
        if let Some(name) = alias.or_else(|| path.last().cloned()) {
            self.imported.insert(name, path);
        }
    }

    /// The type that a path leads to, if it is one of this repository.
    pub(super) fn resolve(&self, path: &[String]) -> Option<Type> {
        let (first, rest) = path.split_first()?;
        let imported = self.imported.get(first);
        let root = imported.and_then(|path| path.first()).unwrap_or(first);
        let name = rest.last().or_else(|| imported.and_then(|path| path.last())).unwrap_or(first);
        let is_own = ["crate", "self", "super"].contains(&root.as_str());
        let library = match root.strip_prefix(OURS) {
            Some(other) => other,
            // What is not imported and stands alone is of this file.
            None if is_own || imported.is_none() && rest.is_empty() => &self.library,
            None => return None,
        };
        Some(Type { library: library.into(), name: name.clone() })
    }

    /// The type that an `impl` with this header is of.
    pub(super) fn subject(&self, header: &[TokenTree]) -> Option<Type> {
        let after = header.iter().rposition(|token| is_ident(token, "for")).map_or(0, |at| at + 1);
        let words = header.get(after..)?.iter().take_while(|token| !is_punct(token, '<'));
        let path = words.filter(|token| matches!(token, TokenTree::Ident(_))).map(ToString::to_string);
        self.resolve(&path.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Names {
        Names::read(&text.parse::<proc_macro2::TokenStream>().unwrap().into_iter().collect::<Vec<_>>(), "jit")
    }

    fn resolved(text: &str, path: &str) -> Option<(String, String)> {
        let path: Vec<String> = path.split("::").map(String::from).collect();
        names(text).resolve(&path).map(|found| (found.library, found.name))
    }

    #[test]
    fn a_name_is_what_the_file_imports_by_it() {
        let found = |library: &str, name: &str| Some((library.to_owned(), name.to_owned()));
        let text = "use holdfast_tracker::error::{self, Error, LandError as Land};\nuse std::io;\n\
                    fn f() { use crate::a::Error as Own; }";
        assert_eq!(resolved(text, "Error"), found("tracker", "Error"));
        assert_eq!(resolved(text, "Land"), found("tracker", "LandError"));
        assert_eq!(resolved(text, "error::WriteError"), found("tracker", "WriteError"));
        assert_eq!(resolved(text, "Own"), found("jit", "Error"));
        assert_eq!(resolved(text, "holdfast_store::Error"), found("store", "Error"));
        assert_eq!(resolved(text, "Here"), found("jit", "Here"));
        assert_eq!(resolved(text, "super::Error"), found("jit", "Error"));
        assert_eq!(resolved(text, "io::Error"), None);
        assert_eq!(resolved(text, "serde_json::Error"), None);
    }

    #[test]
    fn an_implementation_is_of_what_stands_last_in_its_header() {
        let subject = |header: &str| {
            let header: Vec<_> = header.parse::<proc_macro2::TokenStream>().unwrap().into_iter().collect();
            names("use holdfast_store::Error;")
                .subject(&header)
                .map(|found| found.library + "::" + &found.name)
        };
        assert_eq!(subject("Error").as_deref(), Some("store::Error"));
        assert_eq!(subject("From<a::B> for Mine<'_>").as_deref(), Some("jit::Mine"));
        assert_eq!(subject("Error for io::Error"), None);
    }
}

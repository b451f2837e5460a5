//! Reads from the source which module needs which: every path from the root of the crate, whether it starts
//! with `crate` or climbs there by `super`. Tests may need what they like.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::super::{Finding, Tree};
use super::graph::{Graph, Step};
use super::names::{Names, ROOT};

/// Reads the library in `crates/<library>`.
pub(super) fn library(tree: &Tree, library: &str) -> Result<Graph, Finding> {
    let folder = format!("crates/{library}/src/");
    let path = format!("{folder}lib.rs");
    let text =
        tree.text(&path).ok_or_else(|| Finding::new(&path, 0, "is missing: there is no library here"))?;
    let mut tests = BTreeSet::new();
    let root = code(&path, text, &folder, &mut tests)?;
    let names = Names::read(&root);
    let mut graph = Graph::default();
    names.modules().for_each(|name| graph.add_module(name));
    let mut scan = Scan { names: &names, graph: &mut graph, file: &path, module: ROOT };
    scan.root(&root);
    let mut files = Vec::new();
    for (path, text) in tree.all() {
        let Some(inside) = path.strip_prefix(&folder).and_then(|inside| inside.strip_suffix(".rs")) else {
            continue;
        };
        let inside = inside.strip_suffix("/mod").unwrap_or(inside);
        let segments: Vec<&str> = inside.split('/').collect();
        let module = segments.first().copied().unwrap_or_default();
        if names.is_module(module) && !segments.contains(&"tests") {
            let own = format!("{folder}{inside}/");
            files.push((path, own.clone(), module, segments.len(), code(path, text, &own, &mut tests)?));
        }
    }
    // A file can be declared a test by a file that is read after it.
    for (path, own, module, depth, tokens) in &files {
        if !tests.iter().any(|test: &String| own.starts_with(test)) {
            Scan { names: &names, graph: &mut graph, file: path, module }.walk(tokens, *depth);
        }
    }
    Ok(graph)
}

/// The tokens of a file without its tests. Modules in other files that are only for tests are added to
/// `tests`, by the folder that their own modules are in.
pub(crate) fn code(
    path: &str,
    text: &str,
    own: &str,
    tests: &mut BTreeSet<String>,
) -> Result<Vec<TokenTree>, Finding> {
    let tokens: TokenStream = text.parse().map_err(|error: proc_macro2::LexError| {
        Finding::new(path, error.span().start().line, format!("cannot be read: {error}"))
    })?;
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    Ok(without_tests(&tokens, own, tests))
}

fn without_tests(tokens: &[TokenTree], own: &str, tests: &mut BTreeSet<String>) -> Vec<TokenTree> {
    let mut kept = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match after_attribute(tokens, at) {
            Some(after) if is_for_tests(tokens.get(after - 1)) => {
                // An inner attribute is about everything around it.
                if tokens.get(at + 1).is_some_and(|token| is_punct(token, '!')) {
                    return Vec::new();
                }
                let end = end_of_item(tokens, after);
                let item = tokens.get(after..end).unwrap_or_default();
                let is_mod = item.iter().position(|token| is_ident(token, "mod"));
                if let Some(TokenTree::Ident(name)) = is_mod.and_then(|at| item.get(at + 1)) {
                    tests.insert(format!("{own}{name}/"));
                }
                at = end;
            }
            Some(after) => {
                kept.extend(tokens.get(at..after).unwrap_or_default().iter().cloned());
                at = after;
            }
            None => {
                kept.push(match token {
                    TokenTree::Group(group) => {
                        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                        let inner = without_tests(&inner, own, tests).into_iter().collect();
                        let mut rest = proc_macro2::Group::new(group.delimiter(), inner);
                        rest.set_span(group.span());
                        TokenTree::Group(rest)
                    }
                    other => other.clone(),
                });
                at += 1;
            }
        }
    }
    kept
}

/// Whether this is `[cfg(test)]` or `[cfg(all(test, …))]`.
fn is_for_tests(attribute: Option<&TokenTree>) -> bool {
    let mut text = attribute.map(ToString::to_string).unwrap_or_default();
    text.retain(|letter| !letter.is_whitespace());
    text == "[cfg(test)]" || text.starts_with("[cfg(all(test,")
}

/// The place after the attribute that starts here, if one does.
pub(crate) fn after_attribute(tokens: &[TokenTree], at: usize) -> Option<usize> {
    is_punct(tokens.get(at)?, '#').then_some(())?;
    let group = if is_punct(tokens.get(at + 1)?, '!') { at + 2 } else { at + 1 };
    match tokens.get(group)? {
        TokenTree::Group(inner) if inner.delimiter() == Delimiter::Bracket => Some(group + 1),
        _ => None,
    }
}

/// The place after the item, statement, field or arm that starts here.
fn end_of_item(tokens: &[TokenTree], mut at: usize) -> usize {
    while let Some(after) = after_attribute(tokens, at) {
        at = after;
    }
    let is_word = |at: usize, words: &[&str]| {
        tokens.get(at).is_some_and(|token| words.iter().any(|word| is_ident(token, word)))
    };
    if is_word(at, &["pub"]) {
        let scoped = matches!(tokens.get(at + 1), Some(TokenTree::Group(_)));
        at += if scoped { 2 } else { 1 };
    }
    let to_semicolon = is_word(at, &["use", "static", "type", "let"])
        || is_word(at, &["const"]) && !is_word(at + 1, &["fn", "unsafe", "async", "extern"]);
    let words = [
        "fn",
        "struct",
        "enum",
        "union",
        "trait",
        "impl",
        "mod",
        "unsafe",
        "async",
        "const",
        "extern",
        "macro_rules",
    ];
    let is_item = is_word(at, &words);
    while let Some(token) = tokens.get(at) {
        at += 1;
        let is_body = matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        if is_punct(token, ';') || !to_semicolon && (is_body || !is_item && is_punct(token, ',')) {
            break;
        }
    }
    at
}

pub(crate) fn is_ident(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

pub(crate) fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

/// The place after `::`, if it is here.
pub(super) fn skip_separator(tokens: &[TokenTree], at: usize) -> usize {
    if is_separator(tokens, at) { at + 2 } else { at }
}

pub(crate) fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    [at, at + 1].iter().all(|at| tokens.get(*at).is_some_and(|token| is_punct(token, ':')))
}

struct Scan<'a> {
    names: &'a Names,
    graph: &'a mut Graph,
    file: &'a str,
    module: &'a str,
}

impl Scan<'_> {
    /// Reads what stands in `lib.rs`: modules in braces, and the root's own things.
    fn root(&mut self, tokens: &[TokenTree]) {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match (token, tokens.get(at + 1), tokens.get(at + 2)) {
                (TokenTree::Ident(word), Some(TokenTree::Ident(name)), Some(TokenTree::Group(body)))
                    if word == "mod" =>
                {
                    let body: Vec<TokenTree> = body.stream().into_iter().collect();
                    let (names, graph, file) = (self.names, &mut *self.graph, self.file);
                    Scan { names, graph, file, module: &name.to_string() }.walk(&body, 1);
                    at += 3;
                }
                (TokenTree::Ident(word), ..) if word == "use" || word == "mod" => {
                    at = end_of_item(tokens, at);
                }
                _ => {
                    self.root_token(tokens, at);
                    at += 1;
                }
            }
        }
    }

    /// Inside a body at the root, names are in scope without `crate`.
    fn root_token(&mut self, tokens: &[TokenTree], at: usize) {
        match tokens.get(at) {
            Some(TokenTree::Group(group)) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                (0..inner.len()).for_each(|at| self.root_token(&inner, at));
            }
            Some(token @ TokenTree::Ident(word)) => {
                let before = at.checked_sub(1).and_then(|before| tokens.get(before));
                if before.is_some_and(|token| is_punct(token, ':') || is_punct(token, '.')) {
                    return;
                }
                let word = word.to_string();
                if word == "crate" || word == "self" {
                    self.path(tokens, at, 0);
                } else if self.names.is_module(&word) && is_separator(tokens, at + 1)
                    || self.names.imported(&word).is_some()
                {
                    self.hit(&word, token, tokens.get(at + 3));
                }
            }
            _ => {}
        }
    }

    /// Reads a sequence of tokens that stands so many modules below the root.
    fn walk(&mut self, tokens: &[TokenTree], depth: usize) {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let inline = match (tokens.get(at + 1), tokens.get(at + 2)) {
                (Some(TokenTree::Ident(_)), Some(TokenTree::Group(body))) if is_ident(token, "mod") => {
                    Some(body)
                }
                _ => None,
            };
            if let Some(body) = inline {
                let body: Vec<TokenTree> = body.stream().into_iter().collect();
                self.walk(&body, depth + 1);
                at += 3;
                continue;
            }
            match token {
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    self.walk(&inner, depth);
                    at += 1;
                }
                TokenTree::Ident(word) if word == "crate" || word == "super" || word == "self" => {
                    at = self.path(tokens, at, depth).max(at + 1);
                }
                _ => at += 1,
            }
        }
    }

    /// Reads a path that starts here, so many modules below the root, and gives the place after what it has
    /// understood of it.
    fn path(&mut self, tokens: &[TokenTree], mut at: usize, mut depth: usize) -> usize {
        let mut steps = 0;
        while let Some(token) = tokens.get(at) {
            // Without `::` it is a `pub(crate)`, or a value.
            let goes_on = is_separator(tokens, at + 1);
            match token {
                TokenTree::Ident(word) if goes_on && word == "crate" => depth = 0,
                TokenTree::Ident(word) if goes_on && word == "self" => {}
                TokenTree::Ident(word) if goes_on && word == "super" => depth = depth.saturating_sub(1),
                TokenTree::Ident(word) if word == "crate" || word == "self" || word == "super" => {
                    return at + 1;
                }
                TokenTree::Ident(word) if steps > 0 && depth == 0 => {
                    let within = if is_separator(tokens, at + 1) { tokens.get(at + 3) } else { None };
                    self.hit(&word.to_string(), token, within);
                    return at + 1;
                }
                TokenTree::Group(group) if steps > 0 && group.delimiter() == Delimiter::Brace => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    for branch in inner.split(|token| is_punct(token, ',')) {
                        self.branch(branch, depth);
                    }
                    return at + 1;
                }
                _ if steps > 0 && depth == 0 && is_punct(token, '*') => {
                    self.hit("*", token, None);
                    return at + 1;
                }
                _ => return at,
            }
            steps += 1;
            at += 3;
        }
        at
    }

    /// Reads one branch of a tree of imports.
    fn branch(&mut self, tokens: &[TokenTree], depth: usize) {
        match tokens.first() {
            Some(TokenTree::Ident(word)) if word == "super" || word == "self" => {
                self.path(tokens, 0, depth);
            }
            Some(token @ TokenTree::Ident(word)) if depth == 0 => {
                let within = if is_separator(tokens, 1) { tokens.get(3) } else { None };
                self.hit(&word.to_string(), token, within);
            }
            Some(token) if depth == 0 && is_punct(token, '*') => self.hit("*", token, None),
            _ => {}
        }
    }

    /// Adds a step to whatever the name at the root leads to; what is used of it is for the reader.
    fn hit(&mut self, name: &str, token: &TokenTree, within: Option<&TokenTree>) {
        let what = match within {
            _ if !self.names.is_module(name) => name.into(),
            Some(TokenTree::Ident(word)) => word.to_string(),
            Some(TokenTree::Group(group)) => group.to_string(),
            _ => String::new(),
        };
        for to in self.names.resolve(name) {
            self.graph.add(Step {
                from: self.module.into(),
                to: to.into(),
                file: self.file.into(),
                line: token.span().start().line,
                what: what.clone(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: &str = "mod a; mod b; mod c; mod d; mod e; #[cfg(test)] mod t; pub use e::Error;";

    /// What module a needs, if this is its text.
    fn needs(text: &str) -> String {
        needs_of("a", &[("crates/x/src/a.rs", text)])
    }

    fn needs_of(module: &str, files: &[(&str, &str)]) -> String {
        let mut all = vec![("crates/x/src/lib.rs", LIB)];
        all.retain(|(path, _)| files.iter().all(|(other, _)| other != path));
        all.extend(files);
        let graph = library(&Tree::of(&all), "x").unwrap();
        graph.needs_of(module).join(" ")
    }

    #[test]
    fn paths_from_the_root_are_found_wherever_they_stand() {
        assert_eq!(needs("use crate::b;"), "b");
        assert_eq!(needs("use crate::{b::{self, X}, c as y, d::*};"), "b c d");
        assert_eq!(
            needs("fn f(x: Vec<crate::b::B>) -> crate::Error { m!(crate::c::f(), [crate::d::D]) }"),
            "b c d e"
        );
        assert_eq!(needs("pub(crate) struct A; pub(in crate::a) struct B; impl crate::b::T for A {}"), "b");
        assert_eq!(needs("use crate::*;"), "b c d e");
        assert_eq!(needs("struct A<'a>(&'a str, crate::b::B);"), "b");
    }

    #[test]
    fn climbing_to_the_root_is_as_good() {
        assert_eq!(needs("use super::b; fn f() { super::c::f() }"), "b c");
        assert_eq!(needs("use super::{b::X, Error};"), "b e");
        assert_eq!(
            needs("mod inner { use super::b; use super::super::c; use super::super::{d, Error}; }"),
            "c d e"
        );
        assert_eq!(needs("use self::super::b;"), "b");
        let deep = "use super::b; use super::super::{c, super::d}; use super::{super::d};";
        assert_eq!(needs_of("a", &[("crates/x/src/a/deep.rs", deep)]), "c d");
        assert_eq!(needs_of("a", &[("crates/x/src/a/deep/mod.rs", "use super::super::b;")]), "b");
    }

    #[test]
    fn comments_strings_and_tests_do_not_count() {
        assert_eq!(
            needs("//! [crate::b]\n/* crate::c /* */ crate::d */ const X: &str = r#\"crate::e::f\"#;"),
            ""
        );
        assert_eq!(needs("#[cfg(test)] mod tests { use crate::b; }"), "");
        assert_eq!(needs("#[cfg(test)] use crate::b::{X, Y}; use crate::c;"), "c");
        assert_eq!(
            needs(
                "#[cfg(test)] pub(crate) fn f<A, B>(b: crate::b::B) { crate::d::f() } fn g() { crate::c::f() }"
            ),
            "c"
        );
        assert_eq!(needs("fn f() { #[cfg(test)] let x = crate::b::f(); crate::c::f() }"), "c");
        assert_eq!(needs("struct S { #[cfg(test)] pub b: crate::b::B, c: crate::c::C }"), "c");
        assert_eq!(needs("#![cfg(test)] use crate::b;"), "");
        let files = [
            ("crates/x/src/a.rs", "#[cfg(test)] mod model; #[cfg(all(test, unix))] mod more;"),
            ("crates/x/src/a/model.rs", "use crate::b;"),
            ("crates/x/src/a/more/deep.rs", "use crate::b;"),
            ("crates/x/src/a/tests.rs", "use crate::b;"),
            ("crates/x/src/a/tests/deep.rs", "use crate::b;"),
            ("crates/x/src/a/used.rs", "use crate::c;"),
        ];
        assert_eq!(needs_of("a", &files), "c");
    }

    #[test]
    fn the_root_itself_is_a_module_if_it_has_things_of_its_own() {
        let lib = "mod a; mod b; mod c; use b::{B}; pub struct Own(B); fn f(c: u8) { self.c; c::g() } mod d { use super::a; }";
        let files = [("crates/x/src/lib.rs", lib), ("crates/x/src/a.rs", "use crate::Own;")];
        assert_eq!(needs_of("a", &files), "lib.rs");
        assert_eq!(needs_of("lib.rs", &files), "b c");
        assert_eq!(needs_of("d", &files), "a");
    }
}

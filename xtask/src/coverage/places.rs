//! Reads from the sources where an error with a code is made: every expression that names a variant of one of the types below,
//! or calls a function of such a type that gives one. What only looks at an error (an arm, a `let`, a comparison) is none, and
//! neither are tests.

use std::collections::BTreeSet;
use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::names::{Names, Type};
use crate::tidy::Tree;
use crate::tidy::modules::scan::{after_attribute, code, is_ident, is_punct, is_separator};

/// The types whose variants have a code, by the crate that has them.
const ERRORS: [(&str, &str); 14] = [
    ("ic", "Error"),
    ("jvs", "Class"),
    ("jvs", "Error"),
    ("kc", "Error"),
    ("kernel", "Refusal"),
    ("server", "Own"),
    ("server", "Problem"),
    ("store", "Error"),
    ("store", "Trouble"),
    ("tracker", "ApprovalError"),
    ("tracker", "Error"),
    ("tracker", "LandError"),
    ("tracker", "WorktreeError"),
    ("tracker", "WriteError"),
];
/// What hooks find has no type of its own: they say the code, and only here.
const HOOKS: (&str, (&str, &str)) = ("crates/tracker/src/hooks", ("tracker", "Code"));
/// Functions that are given what they make: that is a place itself, or was an error before.
const GIVEN: [&str; 3] = ["from", "new", "plain"];
/// What a type calls the list of its variants.
const LIST: &str = "ALL";
/// Calls whose argument is made before anybody knows whether it is needed.
const EAGER: [&str; 4] = ["map_err", "ok_or", "or", "unwrap_or"];

/// Crates that are never shipped.
const OTHERS: [&str; 3] = ["hostile", "sim", "trial"];
/// Tests and what stands in for something in tests.
const TESTS: [&str; 4] = ["/tests/", "/tests.rs", "/conformance", "/simulated"];

/// A place that makes an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: String,
    /// The variant or the function, with its crate: `ic::Error::Usage`.
    pub(super) what: String,
    /// The code that runs only if it is made. None if there is none such.
    pub(super) code: Option<Span>,
}

/// From a line and a column to another, both from 1.
pub(super) type Span = Range<(usize, usize)>;

/// All places of all shipped crates.
pub(super) fn all(tree: &Tree) -> Result<Vec<Place>, String> {
    let files = sources(tree)?;
    let makers: BTreeSet<(String, String)> = files.iter().flat_map(Source::makers).collect();
    Ok(files.iter().flat_map(|file| file.places(&makers)).collect())
}

/// A file without its tests.
struct Source {
    path: String,
    tokens: Vec<TokenTree>,
    names: Names,
}

fn sources(tree: &Tree) -> Result<Vec<Source>, String> {
    let (mut files, mut tests) = (Vec::new(), BTreeSet::new());
    for (path, text) in tree.with_ending(&[".rs"]) {
        let Some((library, inside)) = path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"))
        else {
            continue;
        };
        if OTHERS.contains(&library) || TESTS.iter().any(|part| path.contains(part)) {
            continue;
        }
        let module = inside.trim_end_matches(".rs").trim_end_matches("/mod");
        let module = if module == "lib" || module == "main" { String::new() } else { format!("{module}/") };
        let own = format!("crates/{library}/src/{module}");
        let tokens = code(path, text, &own, &mut tests).map_err(|finding| finding.to_string())?;
        let names = Names::read(&tokens, library);
        files.push((own, Source { path: path.into(), tokens, names }));
    }
    // A file can be declared a test by a file that is read after it.
    files.retain(|(own, _)| !tests.iter().any(|test: &String| own.starts_with(test)));
    Ok(files.into_iter().map(|(_, source)| source).collect())
}

impl Source {
    /// The functions of errors that give one: `Error::usage`, with the crate.
    fn makers(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for at in 0..self.tokens.len() {
            let Some((header, body)) = implementation(&self.tokens, at) else { continue };
            let Some(of) = self.names.subject(header).filter(|of| is_in(&ERRORS, of)) else { continue };
            let body: Vec<TokenTree> = body.into_iter().collect();
            let functions = (0..body.len()).filter_map(|at| gives_itself(&body, at, &of.name));
            let functions = functions.filter(|function| !GIVEN.contains(&function.as_str()));
            found.extend(functions.map(|function| (of.library.clone(), format!("{}::{function}", of.name))));
        }
        found
    }

    fn places(&self, makers: &BTreeSet<(String, String)>) -> Vec<Place> {
        let mut walk = Walk { source: self, makers, found: Vec::new() };
        walk.level(&self.tokens, None, Then::Runs);
        walk.found
    }
}

fn is_in(types: &[(&str, &str)], of: &Type) -> bool {
    types.contains(&(&of.library, &of.name))
}

/// The header and the body of the `impl` that begins here.
fn implementation(tokens: &[TokenTree], at: usize) -> Option<(&[TokenTree], TokenStream)> {
    // After an arrow it is a type.
    let is_item = at.checked_sub(1).and_then(|before| tokens.get(before)).is_none_or(|before| match before {
        TokenTree::Group(_) => true,
        other => is_punct(other, ';'),
    });
    if !is_item || !is_ident(tokens.get(at)?, "impl") {
        return None;
    }
    let rest = tokens.get(at + 1..)?;
    let end = rest.iter().position(is_braces)?;
    match rest.get(end) {
        Some(TokenTree::Group(body)) => Some((rest.get(..end)?, body.stream())),
        _ => None,
    }
}

/// The name of the function that begins here, if it makes the type that it belongs to of something else.
fn gives_itself(tokens: &[TokenTree], at: usize, name: &str) -> Option<String> {
    is_ident(tokens.get(at)?, "fn").then_some(())?;
    let body = at + tokens.get(at..)?.iter().position(is_braces)?;
    let signature = tokens.get(at + 1..body)?;
    let arguments = signature.iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some(group.stream()),
        _ => None,
    })?;
    let of_itself = arguments.into_iter().take(3).any(|token| is_ident(&token, "self"));
    let gives = signature.last().is_some_and(|token| is_ident(token, "Self") || is_ident(token, name));
    (gives && !of_itself).then(|| signature.first().map(ToString::to_string))?
}

fn is_braces(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// When what stands first in a group is needed.
#[derive(Clone)]
enum Then {
    /// Whenever it is made.
    Runs,
    /// If the code here runs, if any does.
    At(Option<Span>),
}

struct Walk<'a> {
    source: &'a Source,
    makers: &'a BTreeSet<(String, String)>,
    found: Vec<Place>,
}

impl Walk<'_> {
    /// Reads a sequence of tokens, in the `impl` of a type if it is in one.
    fn level(&mut self, tokens: &[TokenTree], within: Option<&Type>, then: Then) {
        let looks = patterns(tokens);
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if let Some(after) = after_attribute(tokens, at) {
                at = after;
            } else if is_ident(token, "use") {
                at += tokens.iter().skip(at).position(|token| is_punct(token, ';')).unwrap_or(tokens.len());
            } else if looks.get(at) == Some(&true) {
                at += 1;
            } else if let Some((header, body)) = implementation(tokens, at) {
                let body: Vec<TokenTree> = body.into_iter().collect();
                self.level(&body, self.source.names.subject(header).as_ref(), Then::Runs);
                at += header.len() + 2;
            } else if let TokenTree::Group(group) = token {
                let mut inner: Vec<TokenTree> = group.stream().into_iter().collect();
                if is_matches(tokens, at) {
                    let end = inner.iter().position(|token| is_punct(token, ','));
                    inner.truncate(end.unwrap_or(inner.len()));
                }
                self.level(&inner, within, argument(tokens, at));
                at += 1;
            } else {
                let then = if at == 0 { then.clone() } else { Then::Runs };
                at = self.path(tokens, at, within, then).max(at + 1);
            }
        }
    }

    /// Reads the path that begins here, and gives the place after it.
    fn path(&mut self, tokens: &[TokenTree], start: usize, within: Option<&Type>, then: Then) -> usize {
        let (mut segments, mut at) = (Vec::new(), start);
        while let Some(TokenTree::Ident(word)) = tokens.get(at) {
            segments.push(word.to_string());
            at += 1;
            if !is_separator(tokens, at) {
                break;
            }
            at += 2;
        }
        let (Some((last, of)), Some(first)) = (segments.split_last(), tokens.get(start)) else { return at };
        if of.is_empty() || is_compared(tokens, start) {
            return at;
        }
        let of = if of == ["Self"] { within.cloned() } else { self.source.names.resolve(of) };
        if let Some(of) = of.filter(|of| self.makes(of, last)) {
            // What is in it follows the name.
            let end = tokens.get(at).filter(|token| matches!(token, TokenTree::Group(_)));
            let code = match then {
                Then::Runs => Some(span(first, end.or_else(|| tokens.get(at - 1)).unwrap_or(first))),
                Then::At(code) => code,
            };
            let what = format!("{}::{}::{last}", of.library, of.name);
            self.found.push(Place { file: self.source.path.clone(), what, code });
        }
        at
    }

    /// Whether this name of this type makes an error.
    fn makes(&self, of: &Type, name: &str) -> bool {
        let is_said = is_in(&[HOOKS.1], of) && self.source.path.starts_with(HOOKS.0);
        let is_variant = name.starts_with(char::is_uppercase) && name != LIST;
        (is_in(&ERRORS, of) || is_said) && is_variant
            || self.makers.contains(&(of.library.clone(), format!("{}::{name}", of.name)))
    }
}

/// Which tokens only look at something: what stands before `=>` in its arm, or between `let` and `=`.
fn patterns(tokens: &[TokenTree]) -> Vec<bool> {
    let mut looks = vec![false; tokens.len()];
    let is_arrow = |at: usize| {
        matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == '=')
            && tokens.get(at + 1).is_some_and(|token| is_punct(token, '>'))
    };
    for (at, token) in tokens.iter().enumerate() {
        let range = if is_arrow(at) {
            let is_end = |at: &usize| {
                let is_body = tokens.get(*at).is_some_and(is_braces);
                tokens.get(*at).is_some_and(|token| is_punct(token, ','))
                    || is_body && at.checked_sub(2).is_some_and(is_arrow)
            };
            (0..at).rev().find(is_end).map_or(0, |end| end + 1)..at
        } else if is_ident(token, "let") {
            let rest = tokens.iter().skip(at);
            let length = rest.take_while(|token| !is_punct(token, '=') && !is_punct(token, ';')).count();
            at..at + length
        } else {
            continue;
        };
        looks.get_mut(range).into_iter().flatten().for_each(|looks| *looks = true);
    }
    looks
}

fn is_matches(tokens: &[TokenTree], at: usize) -> bool {
    at >= 2
        && tokens.get(at - 1).is_some_and(|token| is_punct(token, '!'))
        && tokens.get(at - 2).is_some_and(|token| is_ident(token, "matches"))
}

/// Whether `==` or `!=` stands before this.
fn is_compared(tokens: &[TokenTree], at: usize) -> bool {
    let is = |back: usize, characters: &[char]| {
        let token = at.checked_sub(back).and_then(|at| tokens.get(at));
        token.is_some_and(|token| characters.iter().any(|character| is_punct(token, *character)))
    };
    is(1, &['=']) && is(2, &['=', '!'])
}

/// When the argument is needed that stands in this group: with `ok_or(…)?` if the question mark ends the function.
fn argument(tokens: &[TokenTree], at: usize) -> Then {
    let called = at.checked_sub(1).and_then(|before| tokens.get(before));
    if !called.is_some_and(|token| EAGER.iter().any(|name| is_ident(token, name))) {
        return Then::Runs;
    }
    Then::At(tokens.get(at + 1).filter(|token| is_punct(token, '?')).map(|token| span(token, token)))
}

fn span(first: &TokenTree, last: &TokenTree) -> Span {
    let (start, end) = (first.span().start(), last.span().end());
    (start.line, start.column + 1)..(end.line, end.column + 1)
}

#[cfg(test)]
mod tests;

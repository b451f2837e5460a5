//! Which way the modules of one crate point: down, as its crates do. Two modules that need each other can
//! neither be read nor tested nor moved apart, so the top-level modules of a library form no cycle.

mod graph;
mod names;
pub(crate) mod scan;

use std::fmt::Write;
use std::path::Path;

use super::{Finding, Tree};
use graph::Graph;

/// The libraries that are held to it, by their folder in `crates/`.
const HELD: [&str; 11] =
    ["door", "git", "ic", "jit", "jvs", "kc", "kernel", "server", "store", "sys", "tracker"];

/// Modules that need each other.
pub(super) fn cycles(tree: &Tree) -> Vec<Finding> {
    HELD.iter().flat_map(|library| cycles_of(tree, library)).collect()
}

fn cycles_of(tree: &Tree, library: &str) -> Vec<Finding> {
    let graph = match scan::library(tree, library) {
        Ok(graph) => graph,
        Err(finding) => return vec![finding],
    };
    graph.knots().iter().filter_map(|knot| finding(library, &graph, knot)).collect()
}

fn finding(library: &str, graph: &Graph, knot: &[String]) -> Option<Finding> {
    let steps = graph.cycle(knot);
    let first = steps.first()?;
    let mut what = format!("modules need each other: {}", first.from);
    for step in &steps {
        let _ = write!(what, " → {} ({}:{})", step.to, step.file, step.line);
    }
    let _ = write!(what, "; `cargo xtask modules {library}` prints the graph");
    Some(Finding::new(&first.file, first.line, what))
}

fn is_here(tree: &Tree, library: &str) -> bool {
    tree.leads_somewhere(&format!("crates/{library}"))
}

/// Prints the graph of one library, the modules that need no other last.
#[must_use]
pub fn show(root: &Path, library: &str) -> bool {
    match Tree::load(root).and_then(|tree| drawing(&tree, library)) {
        Ok(drawing) => {
            print!("{drawing}");
            true
        }
        Err(why) => {
            eprintln!("{why}");
            false
        }
    }
}

fn drawing(tree: &Tree, library: &str) -> Result<String, String> {
    if !is_here(tree, library) {
        return Err(format!("there is no crates/{library}"));
    }
    scan::library(tree, library).map(|graph| graph.drawing()).map_err(|finding| finding.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: (&str, &str) = ("crates/store/src/lib.rs", "mod a;\nmod b;\nmod c;\npub use c::Thing;\n");

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        cycles_of(&Tree::of(files), "store").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_cycle_is_found_with_a_place_for_each_step() {
        let files = [
            LIB,
            ("crates/store/src/a.rs", "//! Why.\n\nuse crate::b::{self, B};\n"),
            ("crates/store/src/b/deep.rs", "fn f() -> super::super::Thing { todo() }\n"),
            ("crates/store/src/c.rs", "\nmacro_rules! m { () => { $crate::a::f() } }\n"),
        ];
        let expected = "crates/store/src/a.rs:3: modules need each other: a → b (crates/store/src/a.rs:3) → c \
                        (crates/store/src/b/deep.rs:1) → a (crates/store/src/c.rs:2); `cargo xtask modules store` \
                        prints the graph";
        assert_eq!(found(&files), [expected]);
    }

    #[test]
    fn one_way_is_no_cycle() {
        let files = [
            LIB,
            ("crates/store/src/a.rs", "use crate::{b, c::{d, E as F}};\n"),
            ("crates/store/src/b.rs", "use super::Thing;\n"),
            ("crates/store/src/c.rs", "// crate::a::x\nfn f() { say(\"crate::b::y\") }\n"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn a_library_that_cannot_be_read_is_found() {
        let found = found(&[("crates/store/src/lib.rs", "mod a { fn (\n")]);
        assert!(matches!(found.as_slice(), [one] if one.contains("crates/store/src/lib.rs")), "{found:?}");
    }

    #[test]
    fn a_library_that_is_not_there_any_more_is_found() {
        let found: Vec<String> = cycles(&Tree::of(&[LIB])).into_iter().map(|finding| finding.file).collect();
        assert_eq!(found.len(), HELD.len() - 1);
        assert!(!found.contains(&LIB.0.to_owned()), "{found:?}");
    }

    #[test]
    fn the_drawing_has_layers_and_the_knots_with_their_places() {
        let files = [
            LIB,
            ("crates/store/src/a.rs", "use crate::b::B;\nuse crate::c::C;\n"),
            ("crates/store/src/b.rs", "use crate::a::A;\n"),
            ("crates/store/src/c.rs", ""),
        ];
        let drawing = drawing(&Tree::of(&files), "store").unwrap();
        let expected = "\
1  a*  → b c
   b*  → a
0  c

1 cycle (*)
a b
   a → b  crates/store/src/a.rs:1 (B)
   b → a  crates/store/src/b.rs:1 (A)
";
        assert_eq!(drawing, expected);
        assert!(super::drawing(&Tree::of(&files), "stoer").is_err());
    }
}

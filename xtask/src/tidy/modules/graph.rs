//! The modules of a library and who needs whom: what hangs together in a cycle, and in which layer each is.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

/// One place where a module needs another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    /// Who needs.
    pub(super) from: String,
    /// Who is needed.
    pub(super) to: String,
    /// The file that says so.
    pub(super) file: String,
    /// And the line.
    pub(super) line: usize,
    /// By which name; empty if the module itself is named.
    pub(super) what: String,
}

/// Who needs whom.
#[derive(Default)]
pub(super) struct Graph {
    needs: BTreeMap<String, BTreeMap<String, Vec<Step>>>,
}

impl Graph {
    pub(super) fn add_module(&mut self, name: &str) {
        self.needs.entry(name.into()).or_default();
    }

    /// Adds a place; a module may need itself as often as it likes.
    pub(super) fn add(&mut self, step: Step) {
        self.add_module(&step.to);
        if step.from != step.to {
            let needs = self.needs.entry(step.from.clone()).or_default();
            needs.entry(step.to.clone()).or_default().push(step);
        }
    }

    fn needed_by(&self, name: &str) -> impl Iterator<Item = &String> {
        self.needs.get(name).into_iter().flat_map(BTreeMap::keys)
    }

    #[cfg(test)]
    pub(super) fn needs_of(&self, name: &str) -> Vec<&str> {
        self.needed_by(name).map(String::as_str).collect()
    }

    fn first_step(&self, from: &str, to: &str) -> Option<&Step> {
        self.needs.get(from)?.get(to)?.iter().min_by_key(|step| (&step.file, step.line))
    }

    /// Everything that is needed by this module, by what it needs, and so on.
    fn below(&self, name: &str) -> BTreeSet<&String> {
        let mut seen = BTreeSet::new();
        let mut waiting: Vec<&String> = self.needed_by(name).collect();
        while let Some(next) = waiting.pop() {
            if seen.insert(next) {
                waiting.extend(self.needed_by(next));
            }
        }
        seen
    }

    /// The strongly connected components of more than one module.
    pub(super) fn knots(&self) -> Vec<Vec<String>> {
        let below: BTreeMap<&String, BTreeSet<&String>> =
            self.needs.keys().map(|name| (name, self.below(name))).collect();
        let reaches = |from: &String, to: &String| below.get(from).is_some_and(|below| below.contains(to));
        let mut knots: Vec<Vec<String>> = Vec::new();
        for name in self.needs.keys().filter(|name| reaches(name, name)) {
            match knots
                .iter_mut()
                .find(|knot| knot.iter().any(|one| reaches(one, name) && reaches(name, one)))
            {
                Some(knot) => knot.push(name.clone()),
                None => knots.push(vec![name.clone()]),
            }
        }
        knots
    }

    /// A shortest cycle among these modules.
    pub(super) fn cycle(&self, knot: &[String]) -> Vec<Step> {
        let cycles = knot.iter().filter_map(|start| self.way_back_to(start));
        cycles.min_by_key(Vec::len).unwrap_or_default()
    }

    fn way_back_to(&self, start: &str) -> Option<Vec<Step>> {
        let mut ways = VecDeque::from([vec![start]]);
        let mut seen = BTreeSet::new();
        while let Some(way) = ways.pop_front() {
            let here = *way.last()?;
            for next in self.needed_by(here) {
                if next == start {
                    let ends = way.iter().skip(1).copied().chain([start]);
                    return way
                        .iter()
                        .zip(ends)
                        .map(|(from, to)| self.first_step(from, to).cloned())
                        .collect();
                }
                if seen.insert(next) {
                    ways.push_back(way.iter().copied().chain([next.as_str()]).collect());
                }
            }
        }
        None
    }

    /// The layer of each module: one above the highest that it needs. The modules of a knot share one.
    fn layers(&self, knots: &[Vec<String>]) -> BTreeMap<&str, usize> {
        let mut layers: BTreeMap<&str, usize> = BTreeMap::new();
        let together = |name: &str, other: &str| {
            knots.iter().any(|knot| [name, other].iter().all(|one| knot.iter().any(|member| member == one)))
        };
        // Each round settles at least the layer above those that are settled, so as many rounds as modules do.
        for _ in 0..self.needs.len() {
            for name in self.needs.keys() {
                let own = |other: &&String| **other == *name || together(name, other);
                let members = self.needs.keys().filter(own);
                let outside = members.flat_map(|one| self.needed_by(one)).filter(|other| !own(other));
                let layer =
                    outside.map(|other| layers.get(other.as_str()).map_or(0, |layer| layer + 1)).max();
                layers.insert(name, layer.unwrap_or(0));
            }
        }
        layers
    }

    /// The layers from the top down, and below them every place that holds a knot together.
    pub(super) fn drawing(&self) -> String {
        let knots = self.knots();
        let layers = self.layers(&knots);
        let shown = |name: &str| {
            let tied = knots.iter().flatten().any(|member| member == name);
            if tied { format!("{name}*") } else { name.into() }
        };
        let width = self.needs.keys().map(|name| shown(name).len()).max().unwrap_or(0);
        let mut drawing = String::new();
        for layer in (0..=layers.values().copied().max().unwrap_or(0)).rev() {
            let mut label = layer.to_string();
            for (name, needs) in
                self.needs.iter().filter(|(name, _)| layers.get(name.as_str()) == Some(&layer))
            {
                let needs: Vec<&str> = needs.keys().map(String::as_str).collect();
                let arrow = if needs.is_empty() { "" } else { "→ " };
                let line = format!("{label:<2} {:<width$}  {arrow}{}", shown(name), needs.join(" "));
                let _ = writeln!(drawing, "{}", line.trim_end());
                label.clear();
            }
        }
        let (count, noun) = (knots.len(), if knots.len() == 1 { "cycle" } else { "cycles" });
        let mark = if knots.is_empty() { "" } else { " (*)" };
        let _ = writeln!(drawing, "\n{count} {noun}{mark}");
        for knot in &knots {
            let _ = writeln!(drawing, "{}", knot.join(" "));
            for step in self.inside(knot) {
                let Step { from, to, file, line, what } = step;
                let what = if what.is_empty() { String::new() } else { format!(" ({what})") };
                let _ = writeln!(drawing, "   {from} → {to}  {file}:{line}{what}");
            }
        }
        drawing
    }

    fn inside<'a>(&'a self, knot: &'a [String]) -> impl Iterator<Item = &'a Step> {
        let needs = knot.iter().filter_map(|from| self.needs.get(from)).flatten();
        needs.filter(|(to, _)| knot.contains(to)).flat_map(|(_, steps)| steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &str)]) -> Graph {
        let mut graph = Graph::default();
        for (from, to) in edges {
            let (file, what) = (format!("{from}.rs"), String::new());
            graph.add(Step { from: (*from).into(), to: (*to).into(), file, line: 1, what });
        }
        graph
    }

    #[test]
    fn what_hangs_together_is_one_knot_and_what_does_not_is_none() {
        let graph =
            graph(&[("a", "b"), ("b", "a"), ("b", "c"), ("d", "e"), ("e", "f"), ("f", "d"), ("g", "g")]);
        assert_eq!(graph.knots(), [vec!["a", "b"], vec!["d", "e", "f"]]);
    }

    #[test]
    fn the_shortest_way_round_is_shown() {
        let graph = graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "b")]);
        let cycle: Vec<String> = graph.cycle(&graph.knots()[0]).into_iter().map(|step| step.from).collect();
        assert_eq!(cycle, ["b", "c"]);
    }

    #[test]
    fn a_layer_is_above_all_that_it_needs() {
        let graph = graph(&[("z", "m"), ("m", "n"), ("n", "m"), ("n", "a"), ("y", "a")]);
        let layers = graph.layers(&graph.knots());
        assert_eq!(layers, BTreeMap::from([("a", 0), ("m", 1), ("n", 1), ("y", 1), ("z", 2)]));
    }
}

//! Finds files that import each other in a cycle. An import is a name that a file takes from another, counted for the
//! file that defines it: re-exports (`pub use`) are followed to their origin. Code in `mod tests` does not count.

use super::source::{Source, sources};
use std::collections::{BTreeMap, BTreeSet};

/// A module's path, starting with the crate: `["tensor", "ops", "reduce", "sum"]`.
type Module = Vec<String>;

/// A name in a module; `None` is the module itself.
type Item = (Module, Option<String>);

/// The number of files in the largest cycle. It may only decrease.
const LARGEST: usize = 11;

#[test]
fn circles_of_files_stay_small() {
    let circles = circles(&imports(&sources()));
    if std::env::var("SHOW_CIRCLES").is_ok() {
        let all = imports(&sources());
        for circle in &circles {
            println!("circle of {}", circle.len());
            for file in circle {
                println!("  {file} -> {:?}", all[file].iter().filter(|to| circle.contains(to)).collect::<Vec<_>>());
            }
        }
    }
    let largest = circles.iter().map(Vec::len).max().unwrap_or(1);
    assert!(largest <= LARGEST, "a circle of {largest} files, and {LARGEST} are allowed: {:#?}", circles.first());
    assert!(largest == LARGEST, "lower LARGEST to {largest}");
}

/// Returns for each file the files it imports from.
pub(crate) fn imports(sources: &[Source]) -> BTreeMap<String, BTreeSet<String>> {
    let files: BTreeMap<Module, &Source> = sources
        .iter()
        .filter(|source| source.name != "main.rs")
        .map(|source| (module_of(&source.name), source))
        .collect();
    let mut handed_on: BTreeMap<Item, Item> = BTreeMap::new();
    let mut taken: BTreeMap<&Module, Vec<Item>> = BTreeMap::new();
    for (module, source) in &files {
        let scan = Scan { source, module, files: &files };
        for Use { public, path, name } in scan.uses() {
            let Some(item) = scan.resolve(&path) else { continue };
            if public {
                handed_on.insert((module.to_vec(), Some(name)), item);
            } else {
                taken.entry(module).or_default().push(item);
            }
        }
        // The aliases of modules in this one: those imported, and its submodules.
        let imported =
            taken.get(module).into_iter().flatten().filter(|(_, name)| name.is_none()).map(|(module, _)| module);
        let within =
            files.keys().filter(|inner| inner.split_last().is_some_and(|(_, outer)| outer == module.as_slice()));
        let aliases: BTreeMap<String, Module> =
            imported.chain(within).filter_map(|module| Some((module.last()?.clone(), module.clone()))).collect();
        let paths = scan.paths(&aliases);
        taken.entry(module).or_default().extend(paths);
    }
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, items) in taken {
        let from = &files[module].name;
        let targets = edges.entry(from.clone()).or_default();
        for item in items {
            let mut item = item;
            // The maximum number of re-exports of a name.
            for _ in 0..8 {
                match handed_on.get(&item) {
                    Some(origin) => item = origin.clone(),
                    None => break,
                }
            }
            // A module that is only named counts by the names used from it.
            if item.1.is_some()
                && let Some(source) = files.get(&item.0)
                && source.name != *from
            {
                targets.insert(source.name.clone());
            }
        }
    }
    edges
}

fn module_of(name: &str) -> Module {
    let path = name.trim_end_matches(".rs");
    path.split('/').filter(|part| *part != "lib").map(str::to_owned).collect()
}

/// An import of a file.
struct Use {
    /// Whether it is a re-export.
    public: bool,
    path: Vec<String>,
    /// The name it has here.
    name: String,
}

/// A file being searched for paths.
struct Scan<'a> {
    source: &'a Source,
    module: &'a Module,
    files: &'a BTreeMap<Module, &'a Source>,
}

impl Scan<'_> {
    fn text(&self, index: usize) -> &str {
        self.source.tokens.get(index).map_or("", |token| &token.text)
    }

    /// Returns where the tests begin. The rest does not count.
    fn end(&self) -> usize {
        let is_tests = |index: &usize| self.text(*index) == "mod" && self.text(index + 1) == "tests";
        (0..self.source.tokens.len()).find(is_tests).unwrap_or(self.source.tokens.len())
    }

    /// Returns the imports, with groups expanded.
    fn uses(&self) -> Vec<Use> {
        let mut uses = Vec::new();
        for index in (0..self.end()).filter(|index| self.text(*index) == "use") {
            let public = index >= 1 && (self.text(index - 1) == "pub" || self.text(index - 1) == ")");
            let mut paths = Vec::new();
            self.tree(index + 1, &[], &mut paths);
            uses.extend(paths.into_iter().map(|(path, name)| Use { public, path, name }));
        }
        uses
    }

    /// Reads one tree of a `use`, and returns the position after it.
    fn tree(&self, mut index: usize, prefix: &[String], paths: &mut Vec<(Vec<String>, String)>) -> usize {
        let mut path = prefix.to_vec();
        let mut alias = None;
        loop {
            match self.text(index) {
                "{" => {
                    index += 1;
                    while !matches!(self.text(index), "}" | ";" | "") {
                        index = self.tree(index, &path, paths);
                        if self.text(index) == "," {
                            index += 1;
                        }
                    }
                    return index + 1;
                }
                ":" => index += 1,
                "as" => {
                    alias = Some(self.text(index + 1).to_owned());
                    index += 2;
                }
                "," | "}" | ";" | "" => {
                    if path.last().is_some_and(|last| last == "self") {
                        path.pop();
                    }
                    let name = alias.or_else(|| path.last().cloned()).unwrap_or_default();
                    paths.push((path, name));
                    return index;
                }
                word => {
                    path.push(word.to_owned());
                    index += 1;
                }
            }
        }
    }

    /// Returns the paths in the code: from the crate's root, from this module, or through an imported module.
    fn paths(&self, aliases: &BTreeMap<String, Module>) -> Vec<Item> {
        let mut items = Vec::new();
        let is_separator = |index: usize| self.text(index) == ":" && self.text(index + 1) == ":";
        let (mut index, end) = (0, self.end());
        while index < end {
            let first = self.text(index);
            let begins = index == 0 || self.text(index - 1) != ":";
            if first == "use" {
                while !matches!(self.text(index), ";" | "") {
                    index += 1;
                }
            } else if begins && is_separator(index + 1) {
                let mut path = vec![first.to_owned()];
                while is_separator(index + 1) {
                    index += 3;
                    path.push(self.text(index).to_owned());
                }
                match aliases.get(&path[0]) {
                    Some(module) => items.push((module.clone(), Some(path[1].clone()))),
                    None if matches!(first, "crate" | "super" | "self") => items.extend(self.resolve(&path)),
                    None => {}
                }
            }
            index += 1;
        }
        items
    }

    /// Resolves a path, if it stays inside the crate.
    fn resolve(&self, path: &[String]) -> Option<Item> {
        let mut module = self.module.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => {
                module.truncate(1);
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    module.pop()?;
                    rest = &rest[1..];
                }
            }
            child => {
                let mut inner = module.clone();
                inner.push(child.to_owned());
                self.files.get(&inner)?;
            }
        }
        while let Some(part) = rest.first() {
            module.push(part.clone());
            if !self.files.contains_key(&module) {
                module.pop();
                return Some((module, Some(part.clone())));
            }
            rest = &rest[1..];
        }
        Some((module, None))
    }
}

/// Returns the cycles, largest first: files that all reach each other.
pub(crate) fn circles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> = imports
        .keys()
        .map(|start| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
            while let Some(file) = open.pop() {
                open.extend(imports.get(file).into_iter().flatten().filter(|next| seen.insert(*next)));
            }
            (start, seen)
        })
        .collect();
    let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
    for (file, seen) in &reached {
        let back = |other: &&&String| reached.get(**other).is_some_and(|there| there.contains(file));
        let circle: Vec<String> = seen.iter().filter(back).map(|other| (*other).clone()).collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    let mut circles: Vec<_> = circles.into_iter().collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

#[test]
fn names_that_are_handed_on_lead_to_where_they_come_from() {
    let file = |name: &str, text: &str| Source::of(name, text);
    let sources = [
        file("r/lib.rs", "pub mod a; pub mod b;"),
        file("r/a.rs", "mod inner; pub use inner::Thing; use crate::b::{self, other}; fn f() { b::g() }"),
        file("r/a/inner.rs", "use super::super::b::h; pub struct Thing; mod tests { use crate::c::d; }"),
        file("r/b.rs", "use crate::a::Thing; fn k() { crate::a::f() }"),
    ];
    let imports = imports(&sources);
    let of = |name: &str| imports[name].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(of("r/a.rs"), ["r/b.rs"]);
    assert_eq!(of("r/a/inner.rs"), ["r/b.rs"]);
    assert_eq!(of("r/b.rs"), ["r/a.rs", "r/a/inner.rs"]);
    assert_eq!(circles(&imports), [["r/a.rs", "r/a/inner.rs", "r/b.rs"].map(str::to_owned).to_vec()]);
}

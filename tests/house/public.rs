//! Every public item of a room is used by another room. All others are `pub(crate)`, so that the compiler reports them
//! once the room itself no longer uses them.

use super::source::{Source, sources};
use super::{read, report, root, rust_files};
use std::collections::{BTreeMap, BTreeSet};

/// Functions, constants and modules, which are named at every use. A type may be public without being named, as the
/// result of a function.
const NAMED: &[&str] = &["fn", "const", "static", "mod"];

/// Items that a room's macros name in other rooms.
const BY_MACROS: &[&str] = &["element_types"];

#[test]
fn what_is_public_is_named_elsewhere() {
    let outside = ["tests", "benches", "docs/play/wasm"].iter().flat_map(|folder| rust_files(&root().join(folder)));
    let outside: Vec<Source> = outside.map(|path| Source::of("outside", &read(&path))).collect();
    let sources = sources();
    let mut named: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in sources.iter().chain(&outside) {
        for token in &source.tokens {
            named.entry(&token.text).or_default().insert(&source.room);
        }
    }
    let mut broken = Vec::new();
    for source in sources.iter().filter(|source| source.name.contains('/')) {
        for (line, name) in public(source) {
            if !BY_MACROS.contains(&name)
                && named.get(name).is_none_or(|rooms| rooms.iter().all(|room| *room == source.room))
            {
                broken.push(format!("{}:{line}: {name} is public, and only {} names it", source.name, source.room));
            }
        }
    }
    report(&broken);
}

/// Returns the public items of a file, each with its line.
fn public(source: &Source) -> Vec<(usize, &str)> {
    let item = |index: usize| {
        let mut words = source.tokens.get(index + 1..)?.iter();
        let kind = words.find(|word| !matches!(word.text.as_str(), "unsafe" | "async" | "const"))?;
        // In `pub const NAME`, no word comes between.
        let (kind, name) = match NAMED.contains(&kind.text.as_str()) {
            true => (kind.text.as_str(), words.next()?),
            false if source.is(index + 1, "const") => ("const", kind),
            false => return None,
        };
        (source.is(index, "pub") && NAMED.contains(&kind)).then_some((name.line, name.text.as_str()))
    };
    (0..source.tokens.len())
        .filter(|index| source.is(*index, "pub"))
        .filter_map(item)
        .filter(|(_, name)| *name != "$")
        .collect()
}

#[test]
fn public_items_are_found() {
    let text = "pub fn a() {} pub(crate) fn b() {} pub const fn c() {} pub const D: u8 = 0; pub struct E; pub mod f;";
    let names: Vec<_> = public(&Source::of("r/x.rs", text)).into_iter().map(|(_, name)| name.to_owned()).collect();
    assert_eq!(names, ["a", "c", "D", "f"]);
}

//! The part of NumPy that is written in Python, in the folder `python`: functions composed of others. A name that the
//! tables lack is looked up there.

use call::embedded::Source;
use call::{Call, State};
use std::sync::LazyLock;
use tensor::{Error, Result, part};
use value::Value;

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        &[$(Source {
            name: concat!("numpy.", $name),
            part: part!(concat!("numpy/", $name, ".py"), concat!("python/", $name, ".py")),
        }),*]
    };
}

/// The sources whose names are members of `numpy`.
const TOP: &[Source] = sources![
    "common",
    "core",
    "histogram",
    "index",
    "iterate",
    "join",
    "make",
    "nan",
    "numeric",
    "product",
    "quantile",
    "reduce",
    "sets",
    "shape",
    "stats",
    "window",
    "einsum",
    "files",
    "poly",
    "kernels",
    "text",
];

/// The sources of methods, and of the modules within `numpy`.
const INNER: &[Source] = sources!["methods", "linalg", "linalg_norm", "fft", "npyio", "testing", "random"];

/// The modules within `numpy`, each with the sources that define its members.
const MODULES: &[(&str, &[&str])] = &[
    ("numpy.linalg", &["linalg", "linalg_norm"]),
    ("numpy.fft", &["fft"]),
    ("numpy.lib.npyio", &["npyio"]),
    ("numpy.testing", &["testing"]),
];

/// Returns a source by its name.
///
/// # Errors
/// RuntimeError if no such function exists.
pub(crate) fn source(name: &str) -> Result<&'static Source> {
    let is_it = |source: &&Source| source.name.strip_prefix("numpy.") == Some(name);
    TOP.iter().chain(INNER).find(is_it).ok_or_else(|| Error::runtime(format!("{name} is not part of the program")))
}

/// Runs a row by a function in Python, such as `methods.mean`: the source, then the function in it.
///
/// # Errors
/// Any error of the function.
pub(crate) fn in_python(call: &mut Call, path: &str) -> Result<Value> {
    let (name, function) = path.split_once('.').unwrap_or((path, ""));
    call.state.call_embedded(source(name)?, function, call.args.to_vec())
}

/// The names that each source defines at its top level: a line per source. They are listed, because a page has to fetch
/// a source to read it. A test compares them with the sources.
static NAMES: LazyLock<Vec<(&str, Vec<&str>)>> = LazyLock::new(|| {
    let lines = include_str!("python/names.txt").lines().filter_map(|line| line.split_once(": "));
    lines.map(|(source, names)| (source, names.split(' ').collect())).collect()
});

fn sources_of(module: &str) -> Vec<&'static Source> {
    match module {
        "numpy" => TOP.iter().collect(),
        other => {
            let names = MODULES.iter().find(|(known, _)| *known == other).map_or(&[][..], |(_, names)| names);
            names.iter().filter_map(|name| source(name).ok()).collect()
        }
    }
}

/// Returns a member of a module that a source defines.
///
/// # Errors
/// Any error of running the source.
pub(crate) fn member(state: &State, module: &str, name: &str) -> Result<Option<Value>> {
    let defines = |source: &Source| NAMES.iter().any(|(known, names)| *known == source.name && names.contains(&name));
    match sources_of(module).into_iter().find(|source| defines(source)) {
        Some(source) => state.embedded_value(source, name),
        None => Ok(None),
    }
}

/// Returns the public names that the sources of a module define.
pub(crate) fn names(module: &str) -> Vec<&'static str> {
    let of = |source: &'static Source| {
        let names = NAMES.iter().find(|(known, _)| *known == source.name).map(|(_, names)| names.clone());
        names.unwrap_or_default()
    };
    let mut names: Vec<&str> = sources_of(module).into_iter().flat_map(of).collect();
    names.retain(|name| !name.starts_with('_'));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ufunc;
    use std::collections::BTreeSet;
    use std::fs;

    /// Returns the name that a line of a source defines, if the line is at the top level.
    fn name_defined(line: &str) -> Option<&str> {
        let line = line.strip_prefix("def ").or_else(|| line.strip_prefix("class ")).unwrap_or(line);
        let end = line.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(line.len());
        let (name, rest) = line.split_at(end);
        let defines = rest.starts_with(['(', ':']) || rest.trim_start().starts_with("= ");
        (defines && !name.is_empty()).then_some(name)
    }

    /// `UPDATE_NAMES=1` writes the file.
    #[test]
    fn the_names_listed_are_those_of_the_sources() {
        let line = |source: &Source| {
            let names: Vec<&str> = source.text().unwrap().lines().filter_map(name_defined).collect();
            format!("{}: {}\n", source.name, names.join(" "))
        };
        let lines: String = TOP.iter().chain(INNER).map(line).collect();
        if std::env::var_os("UPDATE_NAMES").is_some() {
            fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/python/names.txt"), &lines).unwrap();
        }
        let listed = include_str!("python/names.txt");
        assert!(listed == lines, "to list the names: UPDATE_NAMES=1 cargo test -p tensorsh-numpy names_listed");
    }

    /// A second definition would never run.
    #[test]
    fn every_name_is_defined_once() {
        let mut twice = Vec::new();
        for module in ["numpy"].into_iter().chain(MODULES.iter().map(|(module, _)| *module)) {
            let mut seen = BTreeSet::new();
            twice.extend(names(module).into_iter().filter(|name| !seen.insert(*name)));
        }
        // `np.clip` is written in Python around the ufunc.
        let is_ufunc = |name: &&str| *name != "clip" && ufunc::find(name).is_some();
        twice.extend(names("numpy").into_iter().filter(is_ufunc));
        assert!(twice.is_empty(), "{twice:?}");
    }
}

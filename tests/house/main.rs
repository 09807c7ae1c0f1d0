//! The rules of the house, read off the source: who may use whom, where Rhai, the terminal and `unsafe` may stand, and
//! how long a file may be. docs/architecture.md gives the reasons. Every failure names the file, the line and the rule.

mod circles;
mod source;

use source::{Source, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What a room may use besides itself. Rooms are the modules of the crate's root; `main` is the binary.
const ROOMS: &[(&str, &[&str])] = &[
    ("system", &[]),
    ("tensor", &["system"]),
    ("ops", &["tensor", "system"]),
    ("linalg", &["ops", "tensor", "system"]),
    ("value", &["ops", "tensor", "system"]),
    ("files", &["value", "ops", "tensor", "system"]),
    ("format", &["autograd", "value", "ops", "tensor", "system"]),
    ("autograd", &["value", "ops", "tensor", "system"]),
    ("explain", &["format", "value", "tensor", "system"]),
    ("call", &["explain", "format", "autograd", "value", "ops", "tensor", "system"]),
    ("dispatch", &["call", "format", "autograd", "value", "ops", "tensor", "system"]),
    (
        "functions",
        &["dispatch", "call", "explain", "files", "format", "autograd", "value", "linalg", "ops", "tensor", "system"],
    ),
    ("library", &["functions", "dispatch", "call", "format", "autograd", "value", "ops", "tensor", "system"]),
    ("python", &["library", "functions", "dispatch", "call", "format", "autograd", "value", "ops", "tensor", "system"]),
    (
        "script",
        &[
            "library",
            "functions",
            "dispatch",
            "call",
            "explain",
            "format",
            "autograd",
            "value",
            "ops",
            "tensor",
            "system",
        ],
    ),
    (
        "session",
        &[
            "script",
            "python",
            "library",
            "functions",
            "dispatch",
            "call",
            "explain",
            "format",
            "value",
            "tensor",
            "system",
        ],
    ),
    ("transcript", &["session", "explain"]),
    ("lessons", &["transcript", "session"]),
    ("assist", &["transcript", "session", "files", "system"]),
    ("shell", &["assist", "lessons", "transcript", "session", "files", "format"]),
    ("web", &["assist", "lessons", "transcript", "session", "files", "explain", "format"]),
    ("main", &["shell", "transcript"]),
];

/// The arithmetic below everything: number types, and vectors that live on the stack while they are short.
const ARITHMETIC: &[&str] = &[
    "tensor",
    "ops",
    "linalg",
    "value",
    "files",
    "format",
    "autograd",
    "explain",
    "call",
    "dispatch",
    "functions",
    "library",
    "python",
    "script",
];

/// Which rooms may name which dependency. One that stands in no row may be named nowhere.
const DEPENDENCIES: &[(&str, &[&str])] = &[
    ("clap", &["main"]),
    ("clap_complete", &["main"]),
    ("clap_mangen", &["main"]),
    ("gemm", &["tensor"]),
    ("half", ARITHMETIC),
    ("hashbrown", &["value"]),
    ("libc", &["system"]),
    ("libm", &["linalg", "ops"]),
    ("memmap2", &["system"]),
    ("num_bigint", ARITHMETIC),
    ("num_complex", ARITHMETIC),
    ("num_traits", ARITHMETIC),
    ("owo_colors", &["shell", "transcript"]),
    ("rhai", &["script", "session"]),
    ("ruff_python_ast", &["python"]),
    ("ruff_python_parser", &["python"]),
    ("ruff_text_size", &["python"]),
    ("rustfft", &["ops"]),
    ("rustix", &["shell"]),
    ("rustyline", &["shell"]),
    ("safetensors", &["files"]),
    ("serde_json", &["files", "transcript", "web"]),
    ("signal_hook", &["shell"]),
    ("similar", &["transcript"]),
    ("smallvec", ARITHMETIC),
    ("strsim", &["call", "session", "shell"]),
    ("tempfile", &["files", "shell", "system", "transcript"]),
    ("toml", &["shell"]),
    ("unicode_width", &["assist"]),
    ("zip", &["files"]),
];

/// Where the terminal may be touched.
const TERMINAL: &[&str] = &["shell", "main"];

/// The one file besides that writes to standard error: for warnings that nobody listens to.
const COMPLAINS: (&str, &str) = ("system/native.rs", "eprint");

/// Where an operating system may be asked without the walls between; none of it is reached from a page.
const NATIVE: &[&str] = &["system/native", "shell", "main", "transcript/files", "transcript/run", "transcript/stack"];

/// Where `unsafe` may stand.
const UNSAFE: &[&str] = &[
    "system/native/mapping.rs",
    "system/web.rs",
    "tensor/memory.rs",
    "tensor/parallel.rs",
    "tensor/parallel/helpers.rs",
    "tensor/parallel/product.rs",
    "tensor/parallel/vectors.rs",
];

/// Lines a file may have.
const LONGEST: usize = 700;

#[test]
fn rooms_use_only_what_stands_below_them() {
    let names: BTreeSet<_> = rooms().into_iter().collect();
    let known: BTreeSet<_> = ROOMS.iter().map(|(room, _)| (*room).to_owned()).collect();
    assert_eq!(names, known, "the rooms in src/ and those in this file's table differ");
    let mut broken = Vec::new();
    for source in sources() {
        let allowed = ROOMS.iter().find(|(room, _)| *room == source.room).map_or(&[][..], |(_, allowed)| allowed);
        for (line, target) in source.rooms_named() {
            if target != source.room && known.contains(&target) && !allowed.contains(&target.as_str()) {
                broken.push(format!("{}:{line}: {} may not use {target}", source.name, source.room));
            }
        }
    }
    report(&broken);
}

#[test]
fn dependencies_stay_where_they_belong() {
    let mut broken = Vec::new();
    for source in sources() {
        for (line, name) in source.crates_named() {
            let allowed = DEPENDENCIES.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, allowed)| allowed);
            if !allowed.contains(&source.room.as_str()) {
                broken.push(format!("{}:{line}: {} may not name {name}", source.name, source.room));
            }
        }
    }
    report(&broken);
}

#[test]
fn dependencies_are_used_and_explained() {
    let architecture = read(&root().join("docs/architecture.md"));
    let used: BTreeSet<_> = sources().iter().flat_map(|s| s.crates_named()).map(|(_, name)| name).collect();
    let mut broken = Vec::new();
    for name in dependencies("dependencies") {
        if !used.contains(&name.replace('-', "_")) {
            broken.push(format!("Cargo.toml: {name} is a dependency that no file in src/ names"));
        }
    }
    let tests: String = rust_files(&root().join("src"))
        .iter()
        .chain(&rust_files(&root().join("tests")))
        .map(|path| read(path))
        .collect();
    for name in dependencies("dev-dependencies") {
        if !tests.contains(&format!("{}::", name.replace('-', "_"))) {
            broken.push(format!("Cargo.toml: {name} is a dependency of the tests that no file names"));
        }
    }
    for name in dependencies("dependencies").into_iter().chain(dependencies("dev-dependencies")) {
        if !architecture.contains(&format!("`{name}`")) {
            broken.push(format!("docs/architecture.md: does not say what `{name}` is for"));
        }
    }
    report(&broken);
}

/// The page is a crate of its own, with a lock of its own: it has to be the same program.
#[test]
fn the_page_has_the_same_dependencies() {
    let locked = |path: &str| -> BTreeSet<(String, String)> {
        let text = read(&root().join(path));
        let value = |package: &str, key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
            line.unwrap_or_default().to_owned()
        };
        text.split("[[package]]").skip(1).map(|package| (value(package, "name"), value(package, "version"))).collect()
    };
    let (ours, pages) = (locked("Cargo.lock"), locked("docs/play/wasm/Cargo.lock"));
    let names: BTreeSet<_> = ours.iter().map(|(name, _)| name).collect();
    let is_other = |package: &&(String, String)| names.contains(&package.0) && !ours.contains(*package);
    let broken: Vec<_> = pages
        .iter()
        .filter(is_other)
        .map(|(name, version)| {
            format!("docs/play/wasm/Cargo.lock: {name} {version} is another version than in Cargo.lock")
        })
        .collect();
    assert!(pages.len() > 50);
    report(&broken);
}

#[test]
fn only_the_shell_touches_the_terminal() {
    const MACROS: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];
    const STREAMS: &[&str] = &["stdin", "stdout", "stderr"];
    let mut broken = Vec::new();
    for source in sources() {
        if TERMINAL.contains(&source.room.as_str()) {
            continue;
        }
        for pair in source.tokens.windows(2) {
            let [token, next] = pair else { continue };
            let touches = (MACROS.contains(&token.text.as_str()) && next.text == "!")
                || (STREAMS.contains(&token.text.as_str()) && next.text == "(");
            if touches && (source.name.as_str(), token.text.as_str()) != COMPLAINS {
                broken.push(format!("{}:{}: {} touches the terminal", source.name, token.line, source.room));
            }
        }
    }
    report(&broken);
}

#[test]
fn the_system_is_asked_through_its_room() {
    const ASKS: &[&[&str]] = &[
        &["std", ":", ":", "fs"],
        &["std", ":", ":", "env"],
        &["std", ":", ":", "process"],
        &["thread", ":", ":", "sleep"],
        &["Instant"],
        &["SystemTime"],
    ];
    let found =
        |source: &Source, index: usize, words: &[&str]| words.iter().zip(index..).all(|(word, at)| source.is(at, word));
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| !NATIVE.iter().any(|place| source.name.starts_with(place))) {
        // What stands behind this is for tests, which have files.
        let tests = (0..source.tokens.len()).find(|index| found(source, *index, &["cfg", "(", "test", ")"]));
        for (index, token) in source.tokens.iter().enumerate().take(tests.unwrap_or(usize::MAX)) {
            if ASKS.iter().any(|words| found(source, index, words)) {
                broken.push(format!("{}:{}: asks the system past the room `system`", source.name, token.line));
            }
        }
    }
    report(&broken);
}

#[test]
fn unsafe_stands_where_it_may_and_says_why() {
    let mut broken = Vec::new();
    for source in sources() {
        let lines: Vec<_> = source.text.lines().collect();
        for token in source.tokens.iter().filter(|token| token.text == "unsafe") {
            if !UNSAFE.contains(&source.name.as_str()) {
                broken.push(format!("{}:{}: no unsafe code here", source.name, token.line));
                continue;
            }
            // The reason stands above the statement, which may have begun a few lines earlier.
            let above = &lines[token.line.saturating_sub(8)..token.line];
            if !above.iter().any(|line| line.contains("// SAFETY: ") || line.contains("/// # Safety")) {
                broken.push(format!("{}:{}: unsafe without a SAFETY comment above it", source.name, token.line));
            }
        }
    }
    report(&broken);
}

#[test]
fn files_can_be_read_in_one_sitting() {
    let mut broken = Vec::new();
    for path in rust_files(&root().join("src")).into_iter().chain(rust_files(&root().join("tests"))) {
        let (text, name) = (read(&path), path.strip_prefix(root()).unwrap().display().to_string());
        if text.lines().count() > LONGEST {
            broken.push(format!("{name}: longer than {LONGEST} lines"));
        }
        if !text.starts_with("//! ") {
            broken.push(format!("{name}: does not begin by saying what it is for"));
        }
    }
    report(&broken);
}

/// A room that grows beyond this has two purposes.
#[test]
fn no_room_has_more_than_a_quarter_of_the_lines() {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources() {
        *lines.entry(source.room.clone()).or_default() += source.text.lines().count();
    }
    let all: usize = lines.values().sum();
    let large: Vec<_> = lines.iter().filter(|(_, lines)| **lines * 4 > all).collect();
    assert!(large.is_empty(), "of {all} lines: {large:?}");
}

/// The formatter leaves a whole table as it is where one text in it is too long for a line.
#[test]
fn tables_are_formatted() {
    const ROWS: &[&str] = &["both(\"", "method(\"", "function(\"", "attribute(\""];
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| source.room == "functions") {
        for (number, line) in source.text.lines().enumerate() {
            if line.len() > 120 && ROWS.iter().any(|row| line.trim_start().starts_with(row)) {
                broken.push(format!("{}:{}: a row of {} columns", source.name, number + 1, line.len()));
            }
        }
    }
    report(&broken);
}

#[test]
fn paths_are_found() {
    let text = r##"
        //! crate::shell is only spoken of
        use crate::{bail, ops::{copy, number}, tensor as core, value};
        use super::super::format::Formatter;
        use super::near;
        fn f<'a>(x: &'a str) -> char { crate::script::f("crate::session", r#"use crate::shell;"#); /* crate::main */ '"' }
        mod tests { use super::super::super::autograd; use super::super::near; }
    "##;
    let source = Source::of("script/functions.rs", text);
    let named: Vec<_> = source.rooms_named().into_iter().map(|(line, name)| format!("{line} {name}")).collect();
    assert_eq!(named, ["3 bail", "3 ops", "3 tensor", "3 value", "4 format", "6 script", "7 autograd"]);
    let source =
        Source::of("main.rs", "use tensorsh::shell::{self, Screen};\nfn main() { clap::run(a.clap(), b::clap::c) }");
    assert_eq!(source.rooms_named(), [(1, "shell".to_owned())]);
    assert_eq!(source.crates_named(), [(2, "clap".to_owned())]);
}

fn report(broken: &[String]) {
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The names of the rooms that exist; `lib` only lists them.
fn rooms() -> Vec<String> {
    sources().into_iter().map(|source| source.room).filter(|room| room != "lib").collect()
}

/// The names in one section of Cargo.toml.
fn dependencies(kind: &str) -> Vec<String> {
    let text = read(&root().join("Cargo.toml"));
    // Those of one target stand in a section of their own.
    let mut is_in_section = false;
    let rows = text.lines().filter(|line| {
        if line.starts_with('[') {
            is_in_section = line.ends_with(&format!("[{kind}]")) || line.ends_with(&format!(".{kind}]"));
            return false;
        }
        is_in_section && !line.starts_with('#')
    });
    rows.filter_map(|row| Some(row.split_once('=')?.0.trim().to_owned())).collect()
}

/// Every feature of the prompt is shown by a test that exists.
#[test]
fn the_prompts_features_have_tests() {
    let page = read(&root().join("docs/shell.md"));
    let tests = ["hints.rs", "main.rs", "saving.rs", "survival.rs", "undoing.rs"]
        .map(|file| read(&root().join("tests/prompt").join(file)))
        .concat()
        + &read(&root().join("tests/cli.rs"));
    let mut broken = Vec::new();
    let is_head = |line: &str| line.ends_with("| Test |") || line.starts_with("| --- |");
    let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| ") && !is_head(line)).collect();
    for row in &rows {
        let names: Vec<_> = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default().split(", ").collect();
        for name in names {
            let name = name.trim_matches('`');
            if !tests.contains(&format!("#[test]\nfn {name}()")) {
                broken.push(format!("docs/shell.md: tests/prompt and tests/cli.rs have no test {name}"));
            }
        }
    }
    assert!(rows.len() > 20, "docs/shell.md has lost its table");
    report(&broken);
}

//! The rules of the project, checked in the source: which parts may use which, where Rhai, the terminal and `unsafe`
//! are allowed, and the maximum length of a file. docs/architecture.md gives the reasons. Every failure names the file,
//! the line and the rule.

mod circles;
mod public;
mod source;

use source::{Source, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms and parts that a room, or a part of one, may use. For whole rooms, Cargo.toml already enforces this. For
/// the parts of a room, in their own room or in others, only this table does.
const ROOMS: &[(&str, &[&str])] = &[
    ("elementary", &[]),
    ("system", &[]),
    ("tensor", &["system"]),
    ("ops", &["elementary", "tensor", "system"]),
    ("linalg", &["ops", "tensor", "system"]),
    ("value", &["ops", "tensor", "system"]),
    ("files", &["value", "ops", "tensor", "system"]),
    ("format", &["autograd", "value", "ops", "tensor", "system"]),
    ("autograd", &["value", "ops", "tensor", "system"]),
    ("explain", &["format", "value", "tensor", "system"]),
    ("call", &["explain", "format", "autograd", "value", "ops", "tensor", "system"]),
    ("dispatch", &["call", "format", "autograd", "value", "ops", "tensor", "system"]),
    ("objects", &["dispatch", "call", "files", "format", "autograd", "value", "ops", "tensor", "system"]),
    ("numpy", &["objects", "call", "format", "value", "ops", "tensor", "system"]),
    (
        "torch",
        &[
            "numpy", "objects", "dispatch", "call", "explain", "files", "format", "autograd", "value", "linalg", "ops",
            "tensor", "system",
        ],
    ),
    (
        "library",
        &["torch", "numpy", "objects", "dispatch", "call", "format", "autograd", "value", "ops", "tensor", "system"],
    ),
    (
        "python",
        &["library", "torch", "objects", "dispatch", "call", "format", "autograd", "value", "ops", "tensor", "system"],
    ),
    (
        "script",
        &[
            "library", "torch", "objects", "dispatch", "call", "explain", "format", "autograd", "value", "ops",
            "tensor", "system",
        ],
    ),
    (
        "session",
        &[
            "script", "python", "library", "torch", "objects", "dispatch", "call", "explain", "format", "value",
            "tensor", "system",
        ],
    ),
    ("transcript", &["session", "explain", "system"]),
    ("lessons", &["assist", "transcript", "session", "explain", "value", "tensor"]),
    ("quiz", &["lessons", "session", "library", "call", "explain", "value", "tensor", "system"]),
    ("assist", &["quiz", "transcript", "session", "files", "explain", "system"]),
    ("shell", &["assist", "quiz", "lessons", "transcript", "session", "files", "format"]),
    ("web", &["assist", "quiz", "lessons", "transcript", "session", "files", "explain", "format"]),
    ("main", &["shell", "system", "transcript"]),
];

/// Where a dependency may be named inside a room with parts.
const DEPENDENCIES: &[(&str, &[&str])] = &[
    ("gemm_common", &["tensor"]),
    ("gemm_f32", &["tensor"]),
    ("gemm_f64", &["tensor"]),
    ("libc", &["system"]),
    ("libm", &["linalg", "ops"]),
    ("memmap2", &["system"]),
    ("owo_colors", &["transcript"]),
    ("rhai", &["script", "session"]),
    ("ruff_python_ast", &["python"]),
    ("ruff_python_parser", &["python"]),
    ("ruff_text_size", &["python"]),
    ("rustfft", &["ops"]),
    ("serde_json", &["lessons", "transcript"]),
    ("similar", &["transcript"]),
    ("strsim", &["call"]),
    ("tempfile", &["system", "transcript"]),
    ("unicode_width", &["assist"]),
];

/// Where the terminal may be used.
const TERMINAL: &[&str] = &["shell", "main"];

/// The one other file that writes to standard error: for warnings without a listener.
const COMPLAINS: (&str, &str) = ("tensor/system/native.rs", "eprint");

/// Where the operating system may be used directly. None of this is reached from a page.
const NATIVE: &[&str] = &[
    "tensor/system/native",
    "shell",
    "main",
    "session/transcript/files",
    "session/transcript/run",
    "session/transcript/stack",
];

/// Where `unsafe` is allowed.
const UNSAFE: &[&str] = &[
    "elementary/names.rs",
    "tensor/system/native/unix/mapping.rs",
    "tensor/system/native/windows.rs",
    "tensor/system/web.rs",
    "tensor/memory.rs",
    "tensor/parallel.rs",
    "tensor/parallel/helpers.rs",
    "tensor/parallel/product.rs",
    "tensor/parallel/short.rs",
    "tensor/parallel/vectors.rs",
];

/// The maximum number of lines of a file.
const LONGEST: usize = 700;

#[test]
fn rooms_and_parts_use_only_what_stands_below_them() {
    let sources = sources();
    let mut broken = Vec::new();
    for source in &sources {
        let Some((_, allowed)) = ROOMS.iter().find(|(place, _)| *place == source.place()) else {
            // The library's root only re-exports the rooms.
            assert!(source.place() == "lib" || source.place() == "languages", "{} is in no room", source.name);
            continue;
        };
        // A module named like a room: a submodule of this file, or the crate does not depend on the room.
        let within = source.name.trim_end_matches(".rs").trim_end_matches("/lib");
        let manifest =
            if source.name.contains('/') { format!("src/{}/Cargo.toml", source.room) } else { "Cargo.toml".into() };
        let known = dependencies(&manifest);
        let is_near = |name: &str| {
            !known.iter().any(|room| room == name)
                || sources.iter().any(|other| other.name == format!("{within}/{name}.rs"))
        };
        for (line, target) in source.places_named(&is_near) {
            if target != source.place() && !allowed.contains(&target.as_str()) {
                broken.push(format!("{}:{line}: {} may not use {target}", source.name, source.place()));
            }
        }
    }
    report(&broken);
}

#[test]
fn dependencies_stay_where_they_belong() {
    let mut broken = Vec::new();
    let has_parts = |room: &str| source::PARTS.iter().any(|(parent, _)| *parent == room);
    for source in sources().iter().filter(|source| has_parts(&source.room)) {
        for (name, allowed) in DEPENDENCIES {
            if !allowed.contains(&source.place()) && source.names_crate(name) {
                broken.push(format!("{}: {} may not name {name}", source.name, source.place()));
            }
        }
    }
    report(&broken);
}

#[test]
fn dependencies_are_used_and_explained() {
    let architecture = read(&root().join("docs/architecture.md"));
    let mut broken = Vec::new();
    for room in rooms() {
        let manifest = format!("src/{room}/Cargo.toml");
        let files: Vec<_> = sources().into_iter().filter(|source| source.room == room).collect();
        for name in dependencies(&manifest) {
            if !files.iter().any(|source| source.names_crate(&name.replace('-', "_"))) {
                broken.push(format!("{manifest}: no file in src/{room} names {name}"));
            }
            if !architecture.contains(&format!("`{name}`")) {
                broken.push(format!("docs/architecture.md: does not say what `{name}` is for"));
            }
        }
    }
    let folders = ["src", "tests", "benches"].map(|folder| rust_files(&root().join(folder)));
    let files: Vec<_> = folders.concat().iter().map(|path| Source::of("", &read(path))).collect();
    for name in dependencies("Cargo.toml") {
        if !files.iter().any(|source| source.names_crate(&name.replace('-', "_"))) {
            broken.push(format!("Cargo.toml: {name} is a dependency that no file names"));
        }
    }
    report(&broken);
}

/// Crates outside the workspace, which have lock files of their own, but must be of the same program: the page, and the
/// fuzzers.
const OUTSIDE: &[&str] = &["docs/play/wasm", "tests/fuzz"];

#[test]
fn crates_outside_the_workspace_have_the_same_dependencies() {
    let locked = |path: &str| -> BTreeSet<(String, String)> {
        let text = read(&root().join(path));
        let value = |package: &str, key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
            line.unwrap_or_default().to_owned()
        };
        text.split("[[package]]").skip(1).map(|package| (value(package, "name"), value(package, "version"))).collect()
    };
    let ours = locked("Cargo.lock");
    let names: BTreeSet<_> = ours.iter().map(|(name, _)| name).collect();
    let is_other = |package: &&(String, String)| names.contains(&package.0) && !ours.contains(*package);
    let mut broken = Vec::new();
    for folder in OUTSIDE {
        let theirs = locked(&format!("{folder}/Cargo.lock"));
        assert!(theirs.len() > 50);
        broken.extend(theirs.iter().filter(is_other).map(|(name, version)| {
            format!("{folder}/Cargo.lock: {name} {version} is another version than in Cargo.lock")
        }));
    }
    report(&broken);
}

#[test]
fn only_the_shell_touches_the_terminal() {
    const MACROS: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];
    const STREAMS: &[&str] = &["stdin", "stdout", "stderr"];
    let mut broken = Vec::new();
    for source in sources() {
        // A build script speaks to Cargo on standard output.
        if TERMINAL.contains(&source.room.as_str()) || source.name.ends_with("/build.rs") {
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
    let is_native = |source: &Source| NATIVE.iter().any(|place| source.name.starts_with(place));
    for source in sources().iter().filter(|source| !is_native(source) && !source.name.ends_with("/tests.rs")) {
        // The rest is for tests, which have files.
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
            // The comment is above the statement, which may have begun a few lines earlier.
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

/// A room that grows beyond this has two purposes. The core may be larger, because it may be used alone, but its parts
/// may not.
#[test]
fn no_room_has_two_purposes() {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources() {
        let room = match source.room.as_str() {
            "tensor" => format!("tensor/{}", source.part),
            room => room.to_owned(),
        };
        *lines.entry(room).or_default() += source.text.lines().count();
    }
    let all: usize = lines.values().sum();
    let core: usize = lines.iter().filter(|(room, _)| room.starts_with("tensor/")).map(|(_, lines)| lines).sum();
    let most = |room: &str| if room.starts_with("tensor/") { 23 } else { 20 };
    let large: Vec<_> = lines.iter().filter(|(room, lines)| **lines * 100 > all * most(room)).collect();
    assert!(large.is_empty(), "of {all} lines: {large:?}");
    assert!(core * 100 <= all * 34, "of {all} lines, the core has {core}");
}

/// The formatter leaves a whole table unformatted if one text in it is too long for a line.
#[test]
fn tables_are_formatted() {
    const ROWS: &[&str] = &["both(\"", "method(\"", "function(\"", "attribute(\""];
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| source.room == "torch") {
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
    let source = Source::of("languages/script/functions.rs", text);
    let named: Vec<_> = source.parts_named().into_iter().map(|(line, name)| format!("{line} {name}")).collect();
    assert_eq!(named, ["3 bail", "3 ops", "3 tensor", "3 value", "4 format", "6 script", "7 autograd"]);
    assert_eq!(source.place(), "script");
    let text =
        "use tensor::{DType, ops::copy}; use explain::format; fn f() { torch::library::g(crate::h(), near::files::x) }";
    let source = Source::of("call/bind.rs", text);
    let named: Vec<_> = source.places_named(&|_| false).into_iter().map(|(_, place)| place).collect();
    assert_eq!(named, ["call", "tensor", "ops", "format", "library"]);
    let source = Source::of("main.rs", "use rhai::Engine;\nfn main() { clap::run(a.clap(), b::libc::c) }");
    assert!(source.names_crate("clap") && source.names_crate("rhai") && !source.names_crate("libc"));
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

/// Returns the names of the rooms.
fn rooms() -> Vec<String> {
    let folders = fs::read_dir(root().join("src")).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    folders.filter(|path| path.is_dir()).map(name).collect()
}

/// Returns the dependencies of a package, including those of its tests.
fn dependencies(manifest: &str) -> Vec<String> {
    let text = read(&root().join(manifest));
    let mut is_in_section = false;
    let rows = text.lines().filter(|line| {
        if line.starts_with('[') {
            is_in_section = line.ends_with("dependencies]") && !line.starts_with("[workspace");
            return false;
        }
        is_in_section && !line.starts_with('#')
    });
    rows.filter_map(|row| Some(row.split_once(".workspace")?.0.trim().to_owned())).collect()
}

/// Every feature of the prompt names a test that exists.
#[test]
fn the_prompts_features_have_tests() {
    let page = read(&root().join("docs/shell.md"));
    let mut files: Vec<_> =
        ["tests/prompt", "tests/cli"].iter().flat_map(|folder| rust_files(&root().join(folder))).collect();
    files.push(root().join("tests/cli.rs"));
    let tests = files.iter().map(|file| read(file)).collect::<String>();
    let mut broken = Vec::new();
    let is_head = |line: &str| line.ends_with("| Test |") || line.starts_with("| --- |");
    let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| ") && !is_head(line)).collect();
    for row in &rows {
        let names: Vec<_> = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default().split(", ").collect();
        for name in names {
            let name = name.trim_matches('`');
            if !tests.contains(&format!("#[test]\nfn {name}()")) {
                broken.push(format!("docs/shell.md: tests/prompt, tests/cli.rs and tests/cli have no test {name}"));
            }
        }
    }
    assert!(rows.len() > 20, "docs/shell.md has lost its table");
    report(&broken);
}

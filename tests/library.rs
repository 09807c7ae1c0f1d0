//! Python's library does what it does in CPython: the programs of tests/python/library print what CPython 3.11 printed, which
//! tests/python/record.py has written behind them.

use std::fs;
use std::path::Path;
use std::process::Command;

/// A program and what it is to print, under the heading of its section.
struct Program {
    name: String,
    text: String,
    printed: String,
}

fn programs() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/library");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let block = |section: &str, mark: &str| {
        let (_, rest) = section.split_once(&format!("```{mark}\n")).unwrap_or_else(|| panic!("no {mark}: {section}"));
        rest.split_once("```\n").map_or(rest, |(block, _)| block).to_owned()
    };
    let mut programs = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        programs.extend(text.split("\n## `").skip(1).map(|section| Program {
            name: format!("{name}: {}", section.lines().next().unwrap_or_default()),
            text: block(section, "python"),
            printed: block(section, "text"),
        }));
    }
    programs
}

#[test]
fn the_library_does_what_it_does_in_cpython() {
    let programs = programs();
    assert!(programs.len() > 35, "only {} programs", programs.len());
    let mut wrong = Vec::new();
    for program in &programs {
        // They print paths, which Windows writes in its own way.
        if cfg!(windows)
            && ["system: os`", "system: pathlib`", "system: io`"].iter().any(|of| program.name.starts_with(of))
        {
            continue;
        }
        // Some programs change the folder that they are in.
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("main_program.py");
        fs::write(&file, &program.text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tensorsh"));
        let done =
            command.arg(&file).current_dir(folder.path()).env("TZ", "UTC").env("COLUMNS", "80").output().unwrap();
        let printed = String::from_utf8_lossy(&done.stdout);
        if printed != program.printed {
            let differs = |(a, b): &(&str, &str)| a != b;
            let pair = program.printed.lines().zip(printed.lines()).find(differs);
            let told = String::from_utf8_lossy(&done.stderr);
            wrong.push(format!("{}: {pair:?}\n{}", program.name, told.lines().take(4).collect::<Vec<_>>().join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{} of {} programs differ\n{}", wrong.len(), programs.len(), wrong.join("\n"));
}

/// The names of files on Windows.
#[cfg(windows)]
#[test]
fn paths_of_windows_are_resolved() {
    let text = r"
import os, pathlib
here = os.getcwd()
os.mkdir('a')
print(os.path.realpath('a') == os.path.join(here, 'a'), os.path.realpath(b'a') == os.fsencode(os.path.join(here, 'a')))
print(pathlib.Path('a/../b').resolve() == pathlib.Path(here, 'b'), os.path.realpath('C:/') == 'C:\\')
try: pathlib.Path('missing').resolve(strict=True)
except FileNotFoundError as e: print(e)
print(type(pathlib.Path()).__name__, os.sep, os.name)
";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("paths.py"), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tensorsh"));
    let done = command.arg("paths.py").current_dir(folder.path()).output().unwrap();
    let missing = format!("{:?}", folder.path().join("missing").display().to_string()).replace('"', "'");
    let expected = format!("True True\nTrue True\n[Errno 2] No such file or directory: {missing}\nWindowsPath \\ nt\n");
    assert_eq!(String::from_utf8_lossy(&done.stdout), expected, "{}", String::from_utf8_lossy(&done.stderr));
}

/// A program of three files reads a checkpoint, and writes a report of it.
#[test]
fn a_program_on_the_library_writes_the_report_that_cpython_writes() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/report");
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tensorsh"));
    let done = command.arg(source.join("main.py")).current_dir(folder.path()).env("COLUMNS", "80").output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    let expected = |name: &str| fs::read_to_string(source.join(name)).unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), expected("expected.txt"), "{told}");
    assert_eq!(fs::read_to_string(folder.path().join("report.json")).unwrap(), expected("expected.json"));
    assert!(told.ends_with("invalid choice: 'size' (choose from 'name', 'bytes')\n"), "{told}");
}

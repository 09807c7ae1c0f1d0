//! Storages that others can reach: files shared by two processes, files truncated by one of them, and memory that is
//! not available. Uses whole processes, because the test is that they survive.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Waits until the file `name` exists. One process lets the script of another continue this way.
const WAIT: &str = r#"
fn wait(name) {
    let there = false;
    while !there {
        try { torch.from_file(name, #{size: 1, dtype: torch.uint8}); there = true; } catch {}
    }
}
"#;

/// A running script and its output.
struct Script {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    _stdin: Option<ChildStdin>,
}

impl Script {
    fn start(folder: &Path, name: &str, source: &str) -> Script {
        fs::write(folder.join(name), format!("{WAIT}{source}")).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_tensorsh"))
            .arg(name)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let _stdin = child.stdin.take();
        Script { child, lines, _stdin }
    }

    fn line(&mut self) -> String {
        self.lines.next().map_or(String::new(), Result::unwrap)
    }

    /// Returns the exit status and the remaining output. A script that hangs is ended.
    fn finish(mut self) -> (Option<i32>, Vec<String>) {
        let rest = self.lines.by_ref().map(Result::unwrap).collect();
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status.code(), rest);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.child.kill().unwrap();
        (None, rest)
    }
}

fn signal(folder: &Path, name: &str) {
    fs::File::create(folder.join(name)).unwrap().write_all(b"\x01").unwrap();
}

#[test]
fn two_processes_see_each_others_writes_in_a_shared_file() {
    let folder = tempfile::tempdir().unwrap();
    let first = r#"
let t = torch.from_file("both.bin", #{shared: true, size: 4});
t.fill_(1.5);
print("written");
wait("second-done");
print(t.tolist());
"#;
    let second = r#"
let s = torch.FloatStorage.from_file("both.bin", true, 4);
print(s.tolist());
s[3] = -2;
print(s.filename, s.is_shared(), s.resizable());
"#;
    let mut one = Script::start(folder.path(), "one.rhai", first);
    assert_eq!(one.line(), "written");
    let other = Script::start(folder.path(), "two.rhai", second);
    let seen = vec!["[1.5, 1.5, 1.5, 1.5]".to_string(), "both.bin True False".to_string()];
    assert_eq!(other.finish(), (Some(0), seen));
    signal(folder.path(), "second-done");
    assert_eq!(one.finish(), (Some(0), vec!["[1.5, 1.5, 1.5, -2.0]".to_string()]));
    assert_eq!(
        fs::read(folder.path().join("both.bin")).unwrap(),
        [1.5f32, 1.5, 1.5, -2.0].map(f32::to_le_bytes).concat()
    );
}

#[test]
fn a_private_mapping_never_reaches_the_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("own.bin"), [7; 8]).unwrap();
    let script = r#"
let s = torch.UntypedStorage.from_file("own.bin", false, 8);
s.fill_(9);
print(s.tolist(), s.filename);
"#;
    let (status, lines) = Script::start(folder.path(), "own.rhai", script).finish();
    assert_eq!((status, lines), (Some(0), vec!["[9, 9, 9, 9, 9, 9, 9, 9] None".to_string()]));
    assert_eq!(fs::read(folder.path().join("own.bin")).unwrap(), [7; 8]);
}

/// Every access to a mapping of a truncated file must fail with an error, and none may end the process.
#[cfg(unix)]
#[test]
fn a_file_cut_off_while_mapped_gives_errors_and_no_signal() {
    let uses = [
        "t.sum()",
        "t + 1",
        "t.clone()",
        "t[0].item()",
        "t.tolist()",
        "print(t)",
        "t.fill_(3)",
        "s[0]",
        "s[-1]",
        "s[0] = 1",
        "s.tolist()",
        "s.fill_(3)",
        "s.clone()",
        "print(s)",
        "s.byteswap(torch.int32)",
        "s.float()",
        "part.tolist()",
        "part[0]",
        "typed[0]",
        "typed[0] = 1",
        "typed.tolist()",
        "v.copy_(torch.ones(v.size()))",
        "torch.cat([t, t])",
    ];
    let attempts: String =
        uses.iter().map(|line| format!("try {{ {line}; print({line:?}); }} catch (e) {{ failed += 1; }}\n")).collect();
    for (shared, left) in [(true, 0), (true, 1000), (true, 159_999), (false, 0), (false, 4096)] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cut.bin");
        fs::write(&file, vec![1; 160_000]).unwrap();
        let script = format!(
            r#"
let t = torch.from_file("cut.bin", #{{shared: {shared}, size: 40000, dtype: torch.int32}});
let s = t.untyped_storage();
let v = t[10..];
let part = s[159000..160000];
let typed = t.storage();
print("mapped");
wait("cut");
let failed = 0;
{attempts}
print(failed);
print(torch.ones(2).sum().item());
"#
        );
        let mut running = Script::start(folder.path(), "cut.rhai", &script);
        assert_eq!(running.line(), "mapped");
        fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(left).unwrap();
        signal(folder.path(), "cut");
        let expected = vec![uses.len().to_string(), "2.0".to_string()];
        assert_eq!(running.finish(), (Some(0), expected), "shared: {shared}, {left} bytes left");
    }
}

/// The file shrinks during an operation, so no earlier check can detect it.
#[cfg(unix)]
#[test]
fn a_file_cut_off_during_an_operation_gives_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("race.bin");
    fs::File::create(&file).unwrap().set_len(1 << 26).unwrap();
    let script = r#"
let t = torch.from_file("race.bin", #{shared: true, size: 67108864, dtype: torch.uint8});
print("mapped");
let failure = "none";
while failure == "none" {
    try { t.add_(1); t.sum(); } catch (e) { failure = "some"; }
}
print(failure, torch.ones(2).sum().item());
"#;
    let mut running = Script::start(folder.path(), "race.rhai", script);
    assert_eq!(running.line(), "mapped");
    std::thread::sleep(Duration::from_millis(200));
    fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(1 << 20).unwrap();
    assert_eq!(running.finish(), (Some(0), vec!["some 2.0".to_string()]));
}

/// Windows would count all of the private mapping as memory.
#[cfg(unix)]
#[test]
fn a_sparse_file_of_100_gb_opens_at_once_and_shows_its_ends() {
    let folder = tempfile::tempdir().unwrap();
    let size = 100u64 << 30;
    let file = fs::File::create(folder.path().join("big.bin")).unwrap();
    if file.set_len(size).is_err() {
        // A file system without sparse files of that size cannot run this test.
        return;
    }
    let script = format!(
        r#"
let t = torch.from_file("big.bin", #{{shared: true, size: {size}, dtype: torch.uint8}});
t[0] = 3;
t[-1] = 9;
print(t[0].item(), t[-1].item(), t[{size} - 2..].tolist(), t.view(torch.int64)[0].item());
print(t);
let s = t.untyped_storage();
print(s[0], s[-1], s[0..2].tolist(), s.nbytes());
let p = torch.UntypedStorage.from_file("big.bin", false, {size});
p[0] = 200;
print(p[0], s[0]);
"#
    );
    let run = || Script::start(folder.path(), "big.rhai", &script).finish();
    let (status, lines) = crate::pace::within(500, "a file of 100 gigabytes", run);
    let expected =
        ["3 9 [0, 9] 3", "tensor([3, 0, 0,  ..., 0, 0, 9], dtype=torch.uint8)", "3 9 [3, 0] 107374182400", "200 3"];
    assert_eq!((status, lines), (Some(0), expected.map(str::to_string).to_vec()));
}

/// The sessions in tests/storage, whose outputs PyTorch 2.7.0 printed. They run in their own folder because they create
/// files.
#[test]
fn recorded_sessions_with_files_print_what_pytorch_prints() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tensorsh"))
        .current_dir(folder.path())
        .args(["--quiet", "--color", "never", "test"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/storage"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
}

/// Checks that the script ends with this error, and that the folder then contains these files.
fn fails(folder: &Path, source: &str, error: &str, files: &[(&str, u64)]) {
    let script = format!("try {{ {source}; print(\"no error\"); }} catch (e) {{ print(e); }}");
    let (status, lines) = Script::start(folder, "fail.rhai", &script).finish();
    assert_eq!(status, Some(0), "{source}");
    assert!(lines.join("\n").contains(error), "{source}: {lines:?} is not {error}");
    let mut found: Vec<(String, u64)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap()))
        .filter(|(name, metadata)| name != "fail.rhai" && metadata.is_file())
        .map(|(name, metadata)| (name, metadata.len()))
        .collect();
    found.sort();
    let expected: Vec<(String, u64)> = files.iter().map(|(name, length)| (name.to_string(), *length)).collect();
    assert_eq!(found, expected, "{source}");
}

#[test]
fn what_cannot_be_mapped_is_refused_and_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("a.bin"), [5; 12]).unwrap();
    let kept = [("a.bin", 12)];
    // Windows has other reasons.
    let reason = if cfg!(windows) { "" } else { "File too large (27)" };
    let too_large = |name: &str| format!("unable to resize file <{name}> to the right size: {reason}");
    for (source, error) in [
        (
            "torch.from_file(\"none.bin\", #{size: 3})",
            "unable to open file <none.bin> in read-only mode: No such file or directory (2)",
        ),
        (
            "torch.from_file(\"no/where.bin\", #{shared: true, size: 3})",
            "unable to open file <no/where.bin> in read-write mode: No such file or directory (2)",
        ),
        ("torch.from_file(\".\", #{shared: true, size: 3})", "in read-write mode: Is a directory (21)"),
        ("torch.from_file(\".\", #{size: 1})", "unable to mmap 4 bytes from file <.>: No such device (19)"),
        (
            "torch.from_file(\"a.bin\", #{size: 4})",
            "file <a.bin> size <12> is smaller than the required mapping size <16>",
        ),
        (
            "torch.from_file(\"a.bin\", #{shared: true, size: -1})",
            "unable to mmap -4 bytes from file <a.bin>: Cannot allocate memory (12)",
        ),
        ("torch.from_file(\"a.bin\", #{shared: true, size: 1152921504606846976})", &too_large("a.bin")),
        ("torch.from_file(\"new.bin\", #{shared: true, size: 1152921504606846976})", &too_large("new.bin")),
        ("torch.from_file(\"a.bin\", #{shared: true, size: 4611686018427387904})", "integer multiplication overflow"),
        (
            "torch.from_file(\"a.bin\", #{shared: true, size: 3}).untyped_storage().resize_(4)",
            "Trying to resize storage that is not resizable",
        ),
    ] {
        fails(here, source, error, &kept);
    }
}

#[test]
fn memory_that_no_machine_has_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let alloc = "DefaultCPUAllocator: can't allocate memory: you tried to allocate";
    for (source, error) in [
        ("torch.UntypedStorage(1 << 44)", alloc),
        ("torch.zeros(1 << 50)", alloc),
        ("let s = torch.UntypedStorage(4); s.resize_(1 << 45)", alloc),
        ("let t = torch.ones(2); t.resize_(1 << 45)", alloc),
        ("torch.ones(2).share_memory_().resize_(8)", "Trying to resize storage that is not resizable"),
        (
            "torch.ones(2).share_memory_().untyped_storage().resize_(64)",
            "Trying to resize storage that is not resizable",
        ),
    ] {
        fails(folder.path(), source, error, &[]);
    }
}

/// Reports that a test could not run here. Writes to standard error directly, because the test harness captures it
/// otherwise.
fn cannot_run(test: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "{test}: not run, {why}");
}

/// A script that tries to extend a file of 12 bytes beyond the available space, and then uses what it has.
const STRETCH: &str = r#"
let t = torch.from_file("a.bin", #{shared: true, size: 12, dtype: torch.uint8});
try { torch.from_file("a.bin", #{shared: true, size: 8388608, dtype: torch.uint8}); print("no error"); }
catch (e) { print(e); }
try { torch.UntypedStorage.from_file("new.bin", true, 8388608); print("no error"); }
catch (e) { print(e); }
t[0] = 9;
print(t.sum().item());
"#;

/// Returns the output of [`STRETCH`] if the system gives this reason.
fn stretched(reason: &str) -> String {
    ["a.bin", "new.bin"]
        .map(|file| format!("RuntimeError: unable to resize file <{file}> to the right size: {reason}\n"))
        .concat()
        + "64\n"
}

/// By default, exceeding the limit on file sizes ends a process with a signal.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_is_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.bin"), [5; 12]).unwrap();
    fs::write(folder.path().join("grow.rhai"), STRETCH).unwrap();
    let output = Command::new("sh")
        .args(["-c", "ulimit -f 1024; exec \"$0\" grow.rhai", env!("CARGO_BIN_EXE_tensorsh")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), stretched("File too large (27)"));
    assert!(output.status.success());
    let mut expected = [5; 12];
    expected[0] = 9;
    assert_eq!(fs::read(folder.path().join("a.bin")).unwrap(), expected);
    assert!(!folder.path().join("new.bin").exists());
}

/// A disk of one megabyte, visible only to the processes of this test.
#[test]
fn a_full_disk_leaves_the_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=1m none . 2>/dev/null && cd \"$PWD\" || exit 77
         printf '\\5\\5\\5\\5\\5\\5\\5\\5\\5\\5\\5\\5' >a.bin; cat >grow.rhai <<'END'
{STRETCH}
END
         \"$0\" grow.rhai && ls && od -An -tu1 a.bin"
    );
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, env!("CARGO_BIN_EXE_tensorsh")])
        .current_dir(folder.path())
        .output();
    let Ok(output) = output else {
        return cannot_run("a_full_disk_leaves_the_file_as_it_was", "there is no unshare");
    };
    let text = String::from_utf8_lossy(&output.stdout);
    if text.is_empty() && !output.status.success() {
        return cannot_run("a_full_disk_leaves_the_file_as_it_was", "no file system may be mounted here");
    }
    let files = "a.bin\ngrow.rhai\n   9   5   5   5   5   5   5   5   5   5   5   5\n";
    assert_eq!(text, stretched("No space left on device (28)") + files);
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("a.bin"), [5; 12]).unwrap();
    let forbid = |mode| fs::set_permissions(here.join("a.bin"), fs::Permissions::from_mode(mode)).unwrap();
    forbid(0o400);
    if fs::OpenOptions::new().write(true).open(here.join("a.bin")).is_ok() {
        // The superuser may write to any file.
        return cannot_run("a_file_without_permission_is_refused", "nothing is forbidden to this user");
    }
    let denied = "Permission denied (13)";
    fails(here, "torch.from_file(\"a.bin\", #{shared: true, size: 3})", denied, &[("a.bin", 12)]);
    forbid(0);
    fails(here, "torch.from_file(\"a.bin\", #{size: 3})", denied, &[("a.bin", 12)]);
}

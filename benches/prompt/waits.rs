//! The waits for the first line, for a key's echo, for completion, for the effect of Ctrl-C, and for a large paste. Drives
//! the program on a pseudo-terminal, like the tests.

#[path = "../../tests/prompt/terminal.rs"]
#[allow(dead_code, reason = "the tests need more of it")]
mod terminal;

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use terminal::{CTRL_C, Shell, Start};

/// The number of entries in a long history.
const ENTRIES: usize = 100_000;

pub(crate) fn measure() {
    let folder = tempfile::tempdir().unwrap();
    let settings = format!("history = {}\n", 2 * ENTRIES);
    let start = Start { settings: &settings, ..Start::default() };
    report("start to prompt", 20, times(20, || started(folder.path(), &start)));
    write_history(folder.path());
    report("start to prompt, 100,000 entries of history", 20, times(20, || started(folder.path(), &start)));

    let mut shell = Shell::open_in(folder.path(), &start);
    shell.run("let big = torch.zeros(25000000);");
    let keys = "no such entry: torch.zeros(big.shape, 1".chars().map(String::from).collect::<Vec<_>>();
    report("key to echo, with the history and 100 MB", 16, keys.iter().map(|key| answered(&mut shell, key)).collect());
    clear(&mut shell);
    let hinted: Vec<_> = "torch.ones(1234".chars().map(String::from).collect();
    report("the same, while entries are hinted", 16, hinted.iter().map(|key| answered(&mut shell, key)).collect());
    clear(&mut shell);
    for typed in ["big.untyped_sto", "torch.", "t", "torch.zeros(1, #{", "big."] {
        shell.send(typed);
        settle(&mut shell);
        let mut took = vec![answered(&mut shell, "\t")];
        settle(&mut shell);
        took.push(answered(&mut shell, "\t"));
        report(&format!("completion of {typed}"), 50, took);
        clear(&mut shell);
    }

    shell.run(":load nothing");
    let pages: [(&str, String); 2] = [
        ("Python behind >>>", (0..10_000).map(|at| format!(">>> x{at} = {at}\r")).collect()),
        ("plain Rhai", (0..10_000).map(|at| format!("let x{at} = {at};\r")).collect()),
    ];
    for (name, page) in pages {
        let begin = Instant::now();
        shell.send(&format!("\u{1b}[200~print(0)\r{page}\u{1b}[201~\r"));
        shell.sees("\u{1b}[?2004l");
        report(&format!("10,000 lines of {name}, to the first result"), 1000, vec![begin.elapsed()]);
        shell.ready();
    }

    std::fs::write(folder.path().join("long.rhai"), "let long = 1;\n".repeat(1_000_000)).unwrap();
    std::fs::write(folder.path().join("long.py"), "long = 1\n".repeat(1_000_000)).unwrap();
    for line in [
        "loop {}",
        "let s = 0; for i in 0..1000000000 { s += i }",
        ">>> [i for i in range(10**9)]",
        ">>> sorted(range(10**7), key=lambda x: -x)",
        "let a = torch.rand(3000, 3000); loop { a = a.matmul(a) }",
        "torch.rand(50000000).sort()",
        "torch.ones(1).expand(2**40).sum()",
        "torch.set_printoptions(#{threshold: 1000000000}); print(torch.rand(3000, 3000))",
        "torch.rand(3000, 3000)",
        "let b = torch.UntypedStorage(100000000); b",
        ":load long.rhai",
        ":load long.py",
        ":timeit torch.rand(3000, 3000).sort()",
    ] {
        let took = [50, 300, 700].map(|after| stopped(&mut shell, line, Duration::from_millis(after)));
        report(&format!("Ctrl-C in {line}"), 100, took.into_iter().flatten().collect());
    }
    shell.kill();
}

fn times(count: usize, mut measure: impl FnMut() -> Duration) -> Vec<Duration> {
    (0..count).map(|_| measure()).collect()
}

fn started(folder: &Path, start: &Start) -> Duration {
    let begin = Instant::now();
    let mut shell = Shell::start(folder, start);
    shell.ready();
    let took = begin.elapsed();
    shell.kill();
    took
}

fn write_history(folder: &Path) {
    let mut text = "#V2\n".to_owned();
    for at in 0..ENTRIES {
        let _ = writeln!(text, "torch.ones({at}).view(-1).untyped_storage().nbytes()");
    }
    std::fs::write(folder.join("tensorsh/history"), text).unwrap();
}

/// Returns the time from a key to the first output.
fn answered(shell: &mut Shell, key: &str) -> Duration {
    let begin = Instant::now();
    shell.send(key);
    assert!(shell.came_any(Duration::from_secs(60)), "no answer to {key:?}");
    let took = begin.elapsed();
    settle(shell);
    took
}

/// Waits until no more output comes.
fn settle(shell: &mut Shell) {
    while shell.came_any(Duration::from_millis(30)) {}
}

fn clear(shell: &mut Shell) {
    // The question whether to list all completions needs an answer; otherwise this is one more letter.
    shell.send("n");
    settle(shell);
    shell.send(CTRL_C);
    shell.ready();
}

/// Returns the time from Ctrl-C to the next prompt. `None` if the input ended by itself.
fn stopped(shell: &mut Shell, line: &str, after: Duration) -> Option<Duration> {
    shell.send(&format!("{line}\r"));
    shell.sees("\u{1b}[?2004l");
    if shell.came("\u{1b}[?2004h", after).is_ok() {
        return None;
    }
    let begin = Instant::now();
    shell.send(CTRL_C);
    shell.ready();
    Some(begin.elapsed())
}

/// Prints the median and the worst time beside the limit, in milliseconds.
fn report(name: &str, limit: u64, mut took: Vec<Duration>) {
    took.sort_unstable();
    let (Some(median), Some(worst)) = (took.get(took.len() / 2), took.last()) else {
        println!("{name:<64} ended by itself");
        return;
    };
    let sign = if *worst > Duration::from_millis(limit) { "  too long" } else { "" };
    let ms = |time: &Duration| time.as_secs_f64() * 1e3;
    println!("{name:<64} {:>8.1} ms, at worst {:>8.1}, of {limit}{sign}", ms(median), ms(worst));
}

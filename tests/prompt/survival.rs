//! The prompt under stress: Ctrl-C at any time, a kill, random keys.

use std::collections::HashSet;
use std::time::Duration;

use super::terminal::{BOTH, CTRL_C, Shell, Start};

/// Types a line that runs forever, or for long, and stops it once it has begun.
fn stop(shell: &mut Shell, line: &str) {
    shell.send(&format!("{line}\r"));
    shell.sees("\nstarted\r\n");
    shell.send(CTRL_C);
    let text = shell.ready();
    assert!(text.contains("KeyboardInterrupt"), "{line}: {text}");
}

#[test]
fn ctrl_c_stops_what_runs_and_keeps_the_variables() {
    for size in BOTH {
        let mut shell = Shell::open(&Start { size, ..Start::default() });
        std::fs::write(shell.folder.join("endless.rhai"), "print(\"started\"); loop {}").unwrap();
        std::fs::write(
            shell.folder.join("endless.md"),
            "```pycon\n>>> print(\"started\")\n>>> while True: pass\n```\n",
        )
        .unwrap();
        std::fs::write(shell.folder.join("endless.py"), "print('started')\nwhile True: pass\n").unwrap();
        shell.check("let kept = 41;", "");
        for line in [
            "print(\"started\"); loop {}",
            "print(\"started\"); while true { print(1) }",
            ">>> print('started'); [i for i in range(10**9) for j in range(10**9)]",
            ">>> print('started'); (lambda f: f(f, 60))(lambda f, n: n if n < 2 else f(f, n - 1) + f(f, n - 2))",
            ">>> print('started'); list(map(lambda x: x, range(10**7)))",
            ">>> print('started'); sorted(range(10**7), key=lambda x: -x)",
            ">>> print('started'); torch.set_printoptions(threshold=10**9); print(torch.rand(3000, 3000))",
            ":load endless.rhai",
            ":load endless.py",
            ":load endless.md",
            ":time print(\"started\"); loop {}",
            ":timeit print(\"started\"); loop {}",
        ] {
            stop(&mut shell, line);
            shell.check("kept + 1", "42\n");
        }
        shell.leave();
    }
}

#[test]
fn what_takes_long_says_so() {
    for size in BOTH {
        let mut shell = Shell::open(&Start { size, ..Start::default() });
        shell.send("loop {}\r");
        shell.sees("s, Ctrl-C stops");
        shell.send(CTRL_C);
        shell.ready();
        shell.check("1 + 1", "2\n");
        shell.leave();
    }
}

/// Two shells write to one history, and one of them is killed while writing.
#[test]
fn two_shells_share_a_history_that_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let start = Start::default();
    let entry = |number: usize| format!("rhai> let text{number} = \"{}\";", "x".repeat(20_000));
    let page: Vec<_> = (0..20).map(entry).collect();
    let mut typed: HashSet<_> = page.iter().cloned().collect();
    let history = folder.path().join("tensorsh/history");
    let mut other = Shell::open_in(folder.path(), &start);
    for round in 0..8 {
        let mut killed = Shell::open_in(folder.path(), &start);
        killed.send(&format!("\u{1b}[200~{}\u{1b}[201~\r", page.join("\r")));
        killed.sees(&format!("\r\nrhai> let text{} =", round * 2));
        killed.kill();
        killed.ended();
        let own = format!("{round} + 1000");
        other.check(&own, &format!("{}\n", round + 1000));
        typed.insert(own);
        let text = std::fs::read_to_string(&history).unwrap();
        assert!(text.starts_with("#V2\n") && text.ends_with('\n'));
        for line in text.lines().skip(1) {
            assert!(typed.contains(line), "half an entry: {}…", &line[..line.len().min(40)]);
        }
    }
    other.leave();
}

/// `:save` over an old file, killed at any time: the file is the old or the new one.
#[test]
fn a_kill_while_saving_leaves_the_old_file_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.md");
    let start = Start::default();
    let text = "let s = \"\"; for i in 0..40000 { s += `line ${i}, `; } print(s)";
    let mut shell = Shell::open_in(folder.path(), &start);
    shell.run(text);
    shell.run(":save kept.md");
    let new = std::fs::read(&path).unwrap();
    assert!(new.len() > 300_000);
    let old = b"# The old file\n";
    let mut found = [0, 0];
    for round in 0..12 {
        std::fs::write(&path, old).unwrap();
        shell.send(":save kept.md\r");
        shell.sees("\u{1b}[?2004l");
        // A kill must be harmless at any time. These times are before, during and after the write.
        std::thread::sleep(Duration::from_micros(300 * round * round));
        shell.kill();
        shell.ended();
        let left = std::fs::read(&path).unwrap();
        assert!(left == old || left == new, "{} bytes", left.len());
        found[usize::from(left == new)] += 1;
        shell = Shell::open_in(folder.path(), &start);
        shell.run(text);
    }
    assert!(found[0] > 0, "no kill came early enough: {found:?}");
    shell.leave();
}

/// The random input: pieces of both languages, of pages, of editing keys, and invalid bytes.
const KEYS: &[&str] = &[
    "t",
    "torch",
    "x",
    ".",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "`",
    "\"\"\"",
    ":",
    "#",
    "/*",
    "//",
    ">>> ",
    "... ",
    "rhai> ",
    "In [1]: ",
    "_",
    " ",
    "1",
    "-",
    "=",
    ",",
    "\\",
    "é",
    "漢",
    "\u{301}",
    "\u{1f469}\u{200d}\u{1f680}",
    "let x = ",
    "for i in ",
    "def f(",
    "fn f(",
    "lambda ",
    "torch.zeros(",
    "print(1)",
    "x.view(",
    ":vars",
    ":undo",
    ":check",
    ":time ",
    ":python",
    ":rhai",
    ":translate ",
    ":load ",
    "?view",
    "help(",
    "\t",
    "\t\t",
    "\r",
    "\r\r",
    "\n",
    "\u{1b}[A",
    "\u{1b}[B",
    "\u{1b}[C",
    "\u{1b}[D",
    "\u{1b}[H",
    "\u{1b}[F",
    "\u{1b}[3~",
    "\u{1b}[5~",
    "\u{1b}[1;5C",
    "\u{1b}[1;5D",
    "\u{1b}[Z",
    "\u{7f}",
    "\u{1}",
    "\u{2}",
    "\u{5}",
    "\u{6}",
    "\u{8}",
    "\u{b}",
    "\u{c}",
    "\u{e}",
    "\u{f}",
    "\u{10}",
    "\u{14}",
    "\u{15}",
    "\u{16}",
    "\u{17}",
    "\u{18}\u{5}",
    "\u{19}",
    "\u{1f}",
    "\u{12}",
    "\u{13}",
    "\u{7}",
    "\u{1b}b",
    "\u{1b}f",
    "\u{1b}d",
    "\u{1b}u",
    "\u{1b}t",
    "\u{1b}y",
    "\u{1b}<",
    "\u{1b}3",
    "\u{1b}OP",
    "\u{1b}[200~>>> 1\r1\r\u{1b}[201~",
    "\u{1b}[200~x = [\r",
    "\u{1b}[201~",
    "\u{0}",
    "\u{1b}[99;99~",
    "\u{1b}[",
    "\u{1b}",
    "\u{9b}",
    "\u{202e}",
    "\u{feff}",
];

/// A small random number generator, so that a failure can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Returns the number of keys to type. `scripts/house/keys` uses more than there is time for at every change.
fn keys_to_type() -> usize {
    std::env::var("TENSORSH_KEYS").ok().and_then(|keys| keys.parse().ok()).unwrap_or(4000)
}

/// Terminal control sequences, inserted literally and then deleted, make the line editor lose count of the columns.
#[test]
fn a_fault_of_the_line_editor_costs_a_line() {
    let mut shell = Shell::open(&Start::default());
    shell.check("let kept = 41;", "");
    shell.send("1\u{16}\u{1b}[201~1\u{1}\u{b}\u{3}");
    shell.ready();
    shell.check("", "");
    shell.check("kept + 1", "42\n");
    shell.leave();
}

#[test]
fn any_keys_leave_the_prompt_alive() {
    const AT_ONCE: usize = 100;
    let modes = [("emacs", (80, 24)), ("vi", (40, 10))];
    for (keys, size) in modes {
        let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
        let settings = format!("keys = \"{keys}\"\n");
        let environment = [("EDITOR", "true")];
        let start = Start { size, settings: &settings, environment: &environment, ..Start::default() };
        let mut shell = Shell::open(&start);
        for round in 0..keys_to_type().div_ceil(AT_ONCE * modes.len()) {
            let typed: String = (0..AT_ONCE).map(|_| KEYS[numbers.below(KEYS.len())]).collect();
            shell.send(&typed);
            // Whatever the state: leave searches, menus and pastes, discard the line, until an answer comes. A terminal
            // between two lines forgets keys typed around Ctrl-C, so this takes several attempts.
            let answer = format!("{}", 1_000_000 + round);
            let is_alive = (0..60).any(|_| {
                shell.send("\u{1b}[201~");
                shell.send("\u{7}\u{7}");
                shell.send(CTRL_C);
                while shell.came_any(Duration::from_millis(20)) {}
                shell.send(&format!(":rhai 1000000 + {round}\r"));
                match shell.came(&format!("\n{answer}\r\n"), Duration::from_secs(2)) {
                    Ok(_) => true,
                    Err(reason) if reason.contains("ended") => panic!("ended by {typed:?}"),
                    Err(_) => false,
                }
            });
            assert!(is_alive, "no answer after {typed:?}");
        }
        shell.kill();
    }
}

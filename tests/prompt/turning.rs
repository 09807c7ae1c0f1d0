//! Memory drawn, and `:turn`: a layout changed by keys.

use super::at_prompts;
use super::terminal::{BOTH, CTRL_C, ESCAPE, RIGHT, Shell, Start};

const DOWN: &str = "\u{1b}[B";
const LEFT: &str = "\u{1b}[D";

/// Opens a shell of one size with `x`, and the form for it.
fn turning(start: &Start) -> Shell {
    let mut shell = Shell::open(start);
    shell.check("let x = torch.arange(6, dtype=float32).view(2, 3);", "");
    shell.send(":turn x\r");
    shell.sees("[2]");
    shell.sees("Enter");
    shell
}

#[test]
fn a_layout_is_turned_by_keys() {
    for size in BOTH {
        let mut shell = turning(&Start { size, ..Start::default() });
        for (key, wanted) in [
            // A handle stops at the end of the storage and says why.
            (RIGHT, "reach cell 8"),
            (DOWN, "[3]"),
            (LEFT, "[2]"),
            (LEFT, "[1]"),
            (DOWN, "[3]"),
            (LEFT, "as_strided((2, 2), (1, 1), 0)"),
        ] {
            shell.send(key);
            shell.sees(wanted);
        }
        shell.send("0");
        shell.sees("code  x\r\n");
        shell.send("s");
        shell.sees("there is no dimension 2");
        shell.send("\u{1b}[A\u{1b}[A");
        shell.send("s");
        shell.sees("code  x.t()\r\n");
        shell.send("n");
        shell.sees("1. [0, 0]: cell 0 + 0·1 + 0·3 =");
        shell.send("n");
        shell.sees("2. [0, 1]: cell 0 + 0·1 + 1·3 =");
        shell.send("bg");
        shell.sees("two digits");
        shell.send("b01");
        shell.sees("x.untyped_storage()[0] = 1");
        shell.send("f0");
        shell.sees("0x00 = 00000000");
        shell.send("f1\r");
        shell.sees("x.t()");
        shell.ready();
        assert_eq!(shell.run("[0]"), "tensor([2.8026e-45, 3.0000e+00])\n");
        assert!(shell.run(":undo 2").contains("untyped_storage()[0] = 2"));
        shell.check("x[0, 0]", "tensor(0.)\n");
        shell.leave();
    }
}

#[test]
fn a_turned_layout_is_left_cleanly() {
    for size in BOTH {
        for key in [CTRL_C, ESCAPE, "q"] {
            let mut shell = turning(&Start { size, ..Start::default() });
            // The order of reading plays until a key is pressed.
            shell.send(" ");
            shell.sees("3. [0, 2]");
            shell.send(key);
            shell.ready();
            shell.check("1 + 1", "2\n");
            shell.leave();
        }
    }
}

#[test]
fn a_layout_is_told_in_words() {
    let mut shell = Shell::open(&Start::default());
    shell.check("let x = torch.arange(6).view(2, 3);", "");
    shell.check(":turn y", "there is no variable y\n");
    shell.check(":turn x.t()", ":turn takes a variable; give x.t() a name first\n");
    shell.leave();
    let mut shell =
        Shell::start(&std::env::temp_dir(), &Start { environment: &[("TERM", "dumb")], ..Start::default() });
    shell.send("let x = torch.arange(6).view(2, 3);\r:turn x\r");
    shell.sees("x: int64 tensor of size [2, 3]: 6 elements, stride [3, 1], offset 0\r\n");
    shell.sees("stride(0) cannot grow: stride 4 would reach cell 6; the storage has 6\r\n");
    shell.sees("reading order, [0, 1]: cell 0 + 0·3 + 1·1 = 1\r\n");
    shell.kill();
}

#[test]
fn memory_is_drawn_as_wide_as_the_terminal() {
    at_prompts(|shell| {
        shell.check("let t = torch.arange(6).view(2, 3);", "");
        for (line, wanted) in [
            (":explain t.t()", "index"),
            (":origin t[[1, 0]].sum(0)", "#2[0]     3      #1[0, 0], #1[1, 0]"),
            (":why t.t(), [6]", "No: dimension 0 of [6]"),
            (":bytes t", "little-endian"),
            (":bits 1.5", "exponent"),
            (":aliases", "storage #1: 48 bytes"),
            ("let big = torch.zeros(4096); let v = big[0..2]; big = 0;", ""),
            (":vars", "alive to show 8 bytes"),
        ] {
            let text = shell.run(line);
            assert!(text.contains(wanted), "{line}: {text}");
        }
    });
}

//! Hints, and keys typed ahead while a hint is shown or a pager could open.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use super::at_prompts_with;
use super::terminal::{BOTH, RIGHT, Shell, Start};

const END: &str = "\u{1b}[F";
const CTRL_E: &str = "\u{5}";
const ALT_F: &str = "\u{1b}f";

#[test]
fn an_earlier_entry_is_hinted_and_taken() {
    at_prompts_with("", |shell| {
        for key in [RIGHT, END, CTRL_E] {
            shell.check("111 + 222", "333\n");
            shell.send("111");
            shell.sees(" + 222");
            shell.check(key, "333\n");
        }
        shell.send("111");
        shell.sees(" + 222");
        // Only the next word.
        shell.send(ALT_F);
        shell.check(" + 1", "334\n");
    });
}

#[test]
fn a_hint_of_a_long_entry_is_one_line() {
    for size in BOTH {
        let mut shell = Shell::open(&Start { size, settings: "", ..Start::default() });
        let long = format!("\"{}\".len", "x".repeat(5000));
        shell.check(&long, "5000\n");
        shell.send("\"xxx");
        shell.sees("xx…");
        // Accepted completely, although only a part was shown.
        shell.check(RIGHT, "5000\n");
        shell.leave();
    }
}

/// Keys typed while something runs are for the shell, and no pager opens for output printed then.
#[test]
fn what_is_typed_ahead_never_reaches_a_pager() {
    for size in BOTH {
        let environment = [("PAGER", "tee reached")];
        let mut shell = Shell::open(&Start { size, environment: &environment, ..Start::default() });
        shell.send("sleep(1.0); torch.zeros(300, 1)\r");
        // The line editor has stopped reading by now.
        sleep(Duration::from_millis(300));
        shell.send("let typed = 1;\r");
        shell.send("let also = 2;\r");
        shell.sees("[0.]])");
        // The prompts of the two lines, and the one after them.
        (0..3).for_each(|_| drop(shell.ready()));
        shell.check("typed + also", "3\n");
        assert!(!fs::exists(shell.folder.join("reached")).unwrap());
        shell.leave();
    }
}

/// IPython writes a value of several lines below its number.
#[test]
fn an_output_number_that_arrives_alone_is_passed_over() {
    for size in BOTH {
        let mut shell = Shell::open(&Start { size, ..Start::default() });
        shell.send("In [1]: torch.eye(2)\rOut[1]:\rtensor([[5., 0.],\r        [0., 5.]])\r");
        let seen = shell.sees("[0., 1.]])");
        assert!(!seen.contains("Error"), "{seen}");
        std::thread::sleep(Duration::from_millis(500));
        shell.send("20 + 22\r");
        let rest = shell.sees("42\r\n");
        assert!(!rest.contains("Error"), "{rest}");
        shell.ready();
        shell.leave();
    }
}

//! Pasted text at the prompt: blocks, pages in many notations, and long pastes.

use super::at_prompts;
use super::terminal::{CTRL_C, Shell, Start};

#[test]
fn one_enter_runs_a_pasted_block() {
    at_prompts(|shell| {
        shell.check(":translate off", "");
        for block in [
            "for i in range(2):\n    print(i)",
            "for i in range(2):\n    print(i)\n",
            ">>> for i in range(2):\n...     print(i)",
            ">>> for i in range(2):\n    print(i)",
            "In [3]: for i in range(2):\n   ...:     print(i)",
        ] {
            assert_eq!(shell.paste(block), "0\n1\n", "{block:?}");
            assert_eq!(shell.paste("print(7)\n"), "7\n", "after {block:?}");
        }
        // A page that ends with a block runs as a whole.
        let page = ">>> x = 1\n>>> for i in range(2):\n...     print(i)";
        assert_eq!(shell.paste(page), format!("{page}\n0\n1\n"));
        // A header without a block goes on, and then as if typed.
        shell.send("\u{1b}[200~for i in range(2):\u{1b}[201~\r    print(i)\r");
        shell.check("", "0\n1\n");
    });
}

#[test]
fn a_statement_ends_the_block_above() {
    at_prompts(|shell| {
        shell.check(":translate off", "");
        shell.send("for i in range(2):\r    print(i)\r");
        shell.check("print(7)", "0\n1\n7\n");
        shell.send("for i in range(2):\r    if i:\r        print(i)\r    else:\r        print('no')\relse:\r    print('end')\r");
        shell.check("", "no\n1\nend\n");
    });
}

#[test]
fn prompts_are_read_in_many_notations() {
    at_prompts(|shell| {
        for (page, shown) in [
            (">>>x = 20\n>>>x + (\n...2)\n0", ">>>x = 20\n>>>x + (\n...2)\n22\n"),
            (">>>\tx = 20\n>>>\tx + (\n...\t2)\n0", ">>>\tx = 20\n>>>\tx + (\n...\t2)\n22\n"),
            ("\t>>> x = (20 +\n        ... 2)\n\t>>> x\n\t0", ">>> x = (20 +\n       ... 2)\n>>> x\n22\n"),
            ("In [*]: x = 22\n\nIn[3]:x\nOut[3]:\n0", ">>> x = 22\n>>> x\n22\n"),
            (
                "&gt;&gt;&gt; x = 20\n&gt;&gt;&gt; x &lt; 30 &amp; 63, &quot;&#39;&quot;",
                ">>> x = 20\n>>> x < 30 & 63, \"'\"\n(True, \"'\")\n",
            ),
        ] {
            // A terminal shows tabs, and the shell writes them as they are.
            assert_eq!(shell.paste(page), shown, "{page:?}");
        }
        let text = shell.run(">>> print(“hi”)");
        assert!(text.starts_with("SyntaxError: invalid character '“' (U+201C)\n"), "{text}");
        assert!(text.ends_with("hint: `“` is a curly quote; write `\"`\n"), "{text}");
    });
}

#[test]
fn a_fence_ends_an_output_and_dots_fold_it() {
    at_prompts(|shell| {
        let page =
            "A page:\n```python\n>>> for i in range(5):\n...     print(i)\n0\n…\n4\n```\nProse.\n```\n>>> 2\n2\n```";
        shell.paste(page);
        assert!(shell.run(":check").ends_with("2 outputs match, 0 differ (- recorded, + printed)\n"));
        shell.paste(">>> 1\n1\n[...]\n3\n```\n");
        let report = shell.run(":check");
        assert!(report.contains("- 3\n+ 1\n0 outputs match, 1 differ"), "{report}");
    });
}

#[test]
fn a_long_open_paste_is_read_at_once_and_ctrl_c_ends_it() {
    let mut shell = Shell::open(&Start::default());
    let lines = "\rsome line of text".repeat(16_000);
    // The string is never closed: Enter goes on, like for a short one, and the shell still hears Ctrl-C.
    shell.send(&format!("\u{1b}[200~>>> x = \"\"\"{lines}\u{1b}[201~\r"));
    shell.ready();
    shell.send("\"\"\"\r");
    shell.ready();
    shell.check(">>> len(x)", "288001\n");
    // A loop of as many lines, stopped while it is read, or while it runs.
    let lines = "\r    y = i".repeat(16_000);
    shell.send(&format!("\u{1b}[200~for i in range(10**9):{lines}\u{1b}[201~\r"));
    shell.sees("\u{1b}[?2004l");
    shell.send(CTRL_C);
    let text = shell.ready();
    assert!(text.contains("KeyboardInterrupt"), "{text}");
    shell.check("1 + 1", "2\n");
    shell.leave();
}

//! `:save`: the files it writes, the cases it refuses, and that a script is tried out before it is kept.

use crate::at_prompts;
use crate::terminal::Shell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Runs a file in a new process, and returns its output.
fn printed(shell: &Shell, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tensorsh"));
    let output = command.args(arguments).current_dir(&shell.folder).output().unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {text}{errors}");
    text.into_owned()
}

#[test]
fn a_saved_session_is_a_test_that_passes() {
    at_prompts(|shell| {
        shell.check("let t = torch.arange(3);", "");
        shell.check("t", "tensor([0, 1, 2])\n");
        assert!(shell.run(">>> t.view(2)").starts_with("RuntimeError"));
        assert!(shell.run(":save kept.md").contains("3 inputs in kept.md"));
        assert!(shell.run(":save kept.doc").starts_with(":save FILE"));
        printed(shell, &["test", "kept.md"]);
        assert!(shell.run(":load kept.md").contains("rhai> t\ntensor([0, 1, 2])\n"));
    });
}

#[test]
fn a_saved_script_gives_the_variables_again() {
    at_prompts(|shell| {
        fs::write(shell.folder.join("stats.rhai"), "fn mean(x) { x.mean().item() }").unwrap();
        fs::write(shell.folder.join("first.rhai"), "let loaded = 5; print(loaded);").unwrap();
        for line in [
            "fn twice(t) { t * 3 }",
            "fn twice(t) { t * 2 } // at last",
            "const K = 2;",
            "import \"stats\" as s;",
            ":load first.rhai",
            "x = ones(3) // of float32",
            "x[0] = 5; y = twice(x)",
            ">>> low, high = x[1:], [y, K]",
            "m = s::mean(x)",
            "f = |a| { a + 1 }",
            "f(y)",
            "x.view(7)",
            "x.zero_()",
            ":undo",
            "if m > 2 { n = 1 } else { n = 2 }",
            "torch.save(y, \"y.pt\")",
        ] {
            shell.run(line);
        }
        fs::remove_file(shell.folder.join("y.pt")).unwrap();
        assert!(shell.run(":save kept.rhai").contains("14 inputs in kept.rhai"));
        assert!(!shell.folder.join("y.pt").exists(), "trying the script out has written a file");
        let kept = shell.folder.join("kept.rhai");
        let wanted = "\
// redefined below: fn twice(t) { t * 3 }
fn twice(t) { t * 2 } // at last
const K = 2;
import \"stats\" as s;
let loaded = 5; print(loaded);
let x = ones(3); // of float32
x[0] = 5; let y = twice(x);
let low = x[1..];
let high = [y, K];
let m = s::mean(x);
let f = |a| { a + 1 };
f(y);
// failed: x.view(7)
let n; if m > 2 { n = 1 } else { n = 2 }
torch.save(y, \"y.pt\");
";
        assert_eq!(fs::read_to_string(&kept).unwrap(), wanted);
        // The same mode as a file made by any program.
        fs::write(shell.folder.join("other"), "").unwrap();
        let mode = |name: &str| fs::metadata(shell.folder.join(name)).unwrap().permissions().mode();
        assert_eq!(mode("kept.rhai"), mode("other"));
        assert_eq!(printed(shell, &["kept.rhai"]), "5\n");
        fs::remove_file(shell.folder.join("y.pt")).unwrap();
    });
}

#[test]
fn a_saved_script_of_python_gives_the_variables_again() {
    at_prompts(|shell| {
        for line in
            [":python", "import torch", "x = torch.ones(3)", "def f(a):\n    return a + 1\n", "y = [f(x), {'a': x}]"]
        {
            shell.paste(line);
        }
        assert!(shell.paste(":save kept.py").contains("4 inputs in kept.py"));
        let wanted = "import torch\nx = torch.ones(3)\ndef f(a):\n    return a + 1\ny = [f(x), {'a': x}]\n";
        assert_eq!(fs::read_to_string(shell.folder.join("kept.py")).unwrap(), wanted);
        printed(shell, &["kept.py"]);
        shell.paste(":rhai");
    });
}

#[test]
fn a_script_that_does_something_else_is_not_saved() {
    at_prompts(|shell| {
        let kept = shell.folder.join("kept.rhai");
        fs::write(&kept, "as it was").unwrap();
        shell.run("x = ones(2)");
        // A file that another program changes meanwhile.
        fs::write(shell.folder.join("seen.bin"), [1, 2]).unwrap();
        shell.run("seen = open(\"seen.bin\", \"rb\").read()");
        fs::write(shell.folder.join("seen.bin"), [1, 3]).unwrap();
        let text = shell.run(":save kept.rhai");
        assert!(
            text.contains(
                "leaves different variables when run on its own\n  'seen' is b'\\x01\\x03', not b'\\x01\\x02'\n"
            ),
            "{text}"
        );
        shell.run("seen = 0");
        // The effects of an input before it failed.
        shell.run("x = ones(2) * 2; x.view(3)");
        assert!(shell.run(":save kept.rhai").contains("  'x' is tensor([1., 1.]), not tensor([2., 2.])\n"));
        shell.run("x = 1");
        shell.run("x + 1");
        shell.run("y = _");
        let text = shell.run(":save kept.rhai");
        assert!(text.contains("kept.rhai:7:9: NameError: name '_' is not defined\n"), "{text}");
        assert!(text.contains("assign this one to a variable"), "{text}");
        shell.run(":undo");
        shell.paste(">>> class A: pass\n");
        let text = shell.run(":save kept.rhai");
        assert!(text.contains("`class A: pass`: class definitions have no Rhai form"), "{text}");
        let text = shell.run(":save kept.py");
        assert!(text.contains("kept.py:1:5: NameError: name 'ones' is not defined\n"), "{text}");
        assert_eq!(fs::read_to_string(&kept).unwrap(), "as it was");
    });
}

#[test]
fn ctrl_c_ends_the_trial_of_a_script() {
    at_prompts(|shell| {
        shell.run("sleep(0.4)");
        shell.run("x = 1; for i in 0..20 { sleep(0.1); }");
        shell.send(":save kept.rhai\r");
        shell.sees("\u{1b}[?2004l");
        std::thread::sleep(std::time::Duration::from_millis(200));
        shell.send("\u{3}");
        assert!(shell.ready().contains("not saved: interrupted while"));
        assert!(!shell.folder.join("kept.rhai").exists());
        shell.check("x", "1\n");
    });
}

//! Exercises at the terminal, and the answers on a lesson's page under `tensorsh test`.

use super::{learn, run_on};

/// The commands of the prompt, in an exercise at the terminal, in both languages.
#[test]
fn commands_work_in_lessons() {
    let state = tempfile::tempdir().unwrap();
    for (arguments, assign) in [(&["views"][..], "v[2] = 7"), (&["--rhai", "views"], "v[2] = 7;")] {
        let typed = format!(
            ":vars\nv?\nhelp\n:explain v\n{assign}\n:undo\n:vrs\n:hnt\n:reset\nv.sum()\nv[[2, 3]].fill_(7)\n:quit\n"
        );
        let text = learn(state.path(), arguments, &typed);
        for wanted in [
            "float32",
            "v: float32 tensor of size [6]",
            ":undo [N]",
            ":again ",
            "storage     24 bytes, room for 6 elements",
            "Not yet: a row has two elements; this set one of them.",
            "Undone: `v[2] = 7",
            "(Nothing was written: all that was given is as before.)",
            "Not yet: this wrote to a copy; the tensor behind `v` is as before.",
            "A lesson has no command :hnt; did you mean :hint?",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
        assert!(!text.contains("*view*") && text.contains("gives a view:"), "{text}");
    }
}

/// The lesson that docs/lessons.md shows.
fn lesson() -> String {
    let page = include_str!("../../docs/lessons.md");
    let lines = page.lines().skip_while(|line| *line != "    # Views of rows");
    let lines = lines.take_while(|line| line.is_empty() || line.starts_with("    "));
    lines.map(|line| format!("{}\n", line.trim_start_matches("    "))).collect()
}

#[test]
fn answers_of_lessons_are_tried() {
    let lesson = lesson();
    let (status, text, _) = run_on("rows.md", &lesson, &["test", "rows.md"]);
    assert_eq!((status, text.contains("sessions: 3 passed, 0 failed")), (0, true), "{text}");
    let rows = [
        ("t[-1]\nt[t.", "t[1]\nt[t.", "this right answer is refused: Not yet. (Python)"),
        ("<!-- wrong\n", "<!-- wrong\nt[-1, :]\n", "this answer should not pass (Python)"),
        ("<!-- tricks\n", "<!-- tricks\nt[-1:][0]\n", "this answer should not pass (Python)"),
        ("<!-- likely\n", "<!-- likely\nanswer == 7: seven.\n", "no answer leads to this sentence"),
        ("t = torch.arange(100", "t = torch.orange(100", "this code fails: AttributeError"),
        (">>> t[-1]", ">>> t[-2:-1]", "the solution does not solve the exercise"),
        ("<!-- right\n", "<!-- right\nany(iter(int, 1))\n", "this right answer fails: KeyboardInterrupt"),
        ("second\nimport torch\n", "second\nimport torch\nwhile True: pass\n", "this code fails: KeyboardInterrupt"),
    ];
    for (old, new, wanted) in rows {
        let page = lesson.replacen(old, new, 1);
        assert_ne!(page, lesson, "{old}");
        let (status, text, _) = run_on("rows.md", &page, &["test", "--timeout", "4", "rows.md"]);
        assert_eq!((status, text.contains(wanted)), (1, true), "{new}\n{text}");
    }
}

//! Lessons of others: `tensorsh learn FILE|FOLDER`, its reports, and `tensorsh publish`.

use super::run;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A lesson with an exercise of this title, which asks for 15.
fn lesson(title: &str, exercise: &str) -> String {
    format!(
        "# {title}\n\nSome *text* with `code`, <b>markup</b> & [a link](javascript:alert).\n\n- one\n- two\n\n```pycon\n\
         >>> import torch\n>>> t = torch.arange(6)\n>>> print(\"at\", t.data_ptr())  # doctest: +ELLIPSIS\nat ...\n>>> show_bytes(t[:1])\n```\n\n\
         ## Exercise: {exercise}\n\nWhat is the sum of `t`?\n\n<!-- given\nimport torch\nt = torch.arange(6)\n-->\n\
         <!-- check\nanswer == 15\n-->\n<!-- right\n15\n-->\n\n<details><summary>Hint</summary>\n\nAdd </details> them.\n\n\
         </details>\n\n<details><summary>Solution</summary>\n\n```pycon\n>>> torch.arange(6).sum()\ntensor(15)\n```\n\n</details>\n"
    )
}

/// A folder with two lessons, and one for the state of a learner.
struct Place {
    folder: TempDir,
    state: TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap() };
        fs::create_dir(place.path("l")).unwrap();
        place.write("l/02-b.md", &lesson("Second", "again"));
        place.write("l/01-a.md", &lesson("First", "sum"));
        place.write("l/README.md", "About these.\n");
        place
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs the program. Returns its exit status, standard output and standard error.
    fn run(&self, args: &[&str], input: &str) -> (i32, String, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tensorsh"))
            .args(["--color", "never"])
            .args(args)
            .current_dir(self.folder.path())
            .env("XDG_STATE_HOME", self.state.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that does not read its input may have ended already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    }
}

#[test]
fn lessons_of_others_are_learnt_and_remembered() {
    let place = Place::new();
    let (status, text, _) = place.run(&["learn", "l"], "14\n15\n\n15\n");
    assert_eq!(status, 0);
    let order = ["1. First", "<b>markup</b>", "Exercise: sum", "Not yet.", "Right.", "2. Second", "Exercise: again"];
    let mut rest = text.as_str();
    for wanted in order {
        rest = rest.split_once(wanted).unwrap_or_else(|| panic!("{wanted}\n{text}")).1;
    }
    let list = |folder: &str| place.run(&["learn", "--list", folder], "").1;
    assert_eq!(list("l"), "[x]  1 01-a  First (1 of 1 exercises)\n[x]  2 02-b  Second (1 of 1 exercises)\n");
    assert!(place.run(&["learn", "l"], "").1.starts_with("All exercises are done."));
    // The same lessons somewhere else, and the lessons of the program, are other lessons.
    fs::create_dir(place.path("m")).unwrap();
    fs::copy(place.path("l/01-a.md"), place.path("m/01-a.md")).unwrap();
    assert_eq!(list("m"), "[ ]  1 01-a  First (0 of 1 exercises)\n");
    assert!(place.run(&["learn", "--list"], "").1.lines().all(|line| line.contains("(0 of")));
    // One lesson is forgotten, the other is not.
    place.run(&["learn", "--reset", "l/02-b.md"], "");
    assert!(list("l").contains("[x]  1 01-a") && list("l").contains("[ ]  2 02-b"), "{}", list("l"));
    place.run(&["learn", "--reset"], "");
    assert!(list("l").contains("[ ]  1 01-a"));
    // A lesson can be told in Rhai, too.
    let (_, text, _) = place.run(&["learn", "--rhai", "l/01-a.md"], "t.sum()\n");
    assert!(text.contains("rhai> let t = torch.arange(6);") && text.contains("Right."), "{text}");
}

#[test]
fn an_exercise_can_be_named() {
    let place = Place::new();
    let rows = [
        ("strides:2", 0, "Exercise: strides by heart"),
        ("2:2", 0, "Exercise: strides by heart"),
        ("l/01-a.md:1", 0, "Exercise: sum"),
        ("strides:3", 1, "the lesson strides has no exercise 3; it has 2"),
        ("strides:0", 1, "the lesson strides has no exercise 0"),
        ("l:1", 1, "l is a folder"),
        ("none", 1, "there is no lesson none; see tensorsh learn --list"),
        ("none.md", 1, "No such file or directory: 'none.md'"),
        ("l/none", 1, "No such file or directory: 'l/none'"),
    ];
    for (wanted, status, said) in rows {
        let (found, text, errors) = place.run(&["learn", wanted], ":quit\n");
        assert_eq!(found, status, "{wanted}: {text}{errors}");
        assert!(format!("{text}{errors}").contains(said), "{wanted}: {text}{errors}");
        // The text of the lesson is passed over.
        assert!(!text.contains(">>> explain(") && !text.contains("markup"), "{wanted}: {text}");
    }
}

#[test]
fn broken_lessons_say_what_to_write() {
    let place = Place::new();
    place.write("l/03-c.md", "# T\n\n```\nno input\n```\n\n## Exercise: x\n\n<!-- check x == 1 -->\n");
    let wanted = "tensorsh: l/03-c.md:3: this block has no input: write `>>> ` before the first line of each, `... ` before others\n\
                  tensorsh: l/03-c.md:7: the exercise has no task: write below the heading what to do\n\
                  tensorsh: l/03-c.md:7: the exercise has no check: write `<!-- check`, a condition in Python, `-->`, each on a line \
                  of its own\n\
                  tensorsh: l/03-c.md:9: write `<!-- check`, the text, and `-->` each on a line of its own\n";
    for arguments in [&["learn", "l"][..], &["learn", "l/03-c.md"], &["publish", "l", "-o", "out"]] {
        let (status, text, errors) = place.run(arguments, "15\n");
        assert_eq!((status, text.as_str(), errors.as_str()), (1, "", wanted), "{arguments:?}");
    }
    assert!(!place.path("out").exists());
    fs::create_dir(place.path("empty")).unwrap();
    assert!(place.run(&["learn", "empty"], "").2.contains("empty has no lessons: a lesson is a file that ends in .md"));
    fs::write(place.path("bytes.md"), [0x23, 0x20, 0xff]).unwrap();
    assert!(place.run(&["learn", "bytes.md"], "").2.contains("bytes.md is not text in UTF-8"));
    place.write("big.md", &"x".repeat(3 << 20));
    assert!(place.run(&["learn", "big.md"], "").2.contains("cannot be held in memory"));
}

/// All lessons of docs/learn are lessons like any other.
#[test]
fn the_lessons_of_the_program_are_files_too() {
    let place = Place::new();
    let learn = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/learn");
    let own = place.run(&["learn", "--list"], "").1;
    let (status, text, errors) = place.run(&["learn", "--list", learn.to_str().unwrap()], "");
    assert_eq!((status, errors.as_str()), (0, ""));
    let titles = |text: &str| {
        text.lines()
            .map(|line| line.split_once("  ").unwrap().1.split_once("  ").map(|line| line.1.to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(titles(&own).len(), titles(&text).len());
}

#[test]
fn a_report_is_kept_and_marked() {
    let place = Place::new();
    let learn = ["learn", "--report", "r.jsonl", "l"];
    place.run(&learn, "14\n:hint\n15\n\nnope\n:solution\n:skip\n");
    let line = |lesson: &str, exercise: &str, rest: &str| {
        format!("{{\"lesson\":\"{lesson}\",\"number\":1,\"exercise\":\"{exercise}\",{rest}}}\n")
    };
    let wanted = [
        line("01-a", "sum", "\"language\":\"python\",\"event\":\"begin\""),
        line("01-a", "sum", "\"source\":\"14\",\"verdict\":\"wrong\",\"event\":\"answer\""),
        line("01-a", "sum", "\"event\":\"hint\""),
        line("01-a", "sum", "\"source\":\"15\",\"verdict\":\"right\",\"event\":\"answer\""),
        line("02-b", "again", "\"language\":\"python\",\"event\":\"begin\""),
        line("02-b", "again", "\"source\":\"nope\",\"verdict\":\"error\",\"event\":\"answer\""),
        line("02-b", "again", "\"event\":\"solution\""),
        line("02-b", "again", "\"event\":\"skip\""),
    ]
    .concat();
    assert_eq!(place.read("r.jsonl"), wanted);
    let mark = |arguments: &[&str]| place.run(&[&["learn", "--mark"], arguments].concat(), "");
    let table = "lesson  exercise  attempts  answers  hints               report     judged\n\
                 01-a    sum       1         2        1                   right      right\n\
                 02-b    again     1         0        0 and the solution  not right  not right\n\
                 1 of 2 exercises are right.\n";
    assert_eq!(mark(&["r.jsonl", "l"]), (1, table.to_owned(), String::new()));
    assert_eq!(mark(&["r.jsonl", "l/01-a.md"]).0, 0);
    // Somebody else's lessons must be at hand.
    assert!(mark(&["r.jsonl"]).1.contains("no such lesson here"));
    // The report grows, also after a line that was cut off.
    fs::write(place.path("r.jsonl"), format!("{wanted}{{\"lesson\":\"02")).unwrap();
    place.run(&["learn", "--report", "r.jsonl", "l/02-b.md"], "15\n");
    let (status, text, errors) = mark(&["r.jsonl", "l"]);
    assert!(text.contains("02-b    again     2         1") && text.contains("2 of 2 exercises are right."), "{text}");
    assert_eq!((status, errors.as_str()), (1, "r.jsonl:9: not a line of a report\n"));
    // Lessons of the program need no file, and exercises that were not begun have a row.
    place.run(&["learn", "--report", "own.jsonl", "strides:2"], "(15, 5, 1)\n:quit\n");
    assert_eq!(mark(&["own.jsonl"]).0, 0);
    assert_eq!(mark(&["own.jsonl", "strides:2"]).0, 0);
    let (status, text, _) = mark(&["own.jsonl", "strides"]);
    assert!(status == 1 && text.contains("not begun") && text.contains("1 of 2"), "{text}");
}

#[test]
fn a_report_does_not_replace_another_file() {
    let place = Place::new();
    place.write("mine.txt", "mine\n");
    let (status, _, errors) = place.run(&["learn", "--report", "mine.txt", "l"], "15\n");
    assert_eq!((status, place.read("mine.txt").as_str()), (1, "mine\n"));
    assert!(errors.contains("mine.txt is something else than a report"), "{errors}");
    for (arguments, said) in [
        (&["--report", "l", "l"][..], "l: "),
        (&["--report", "no/such", "l"], "no/such: "),
        (&["--mark", "none"], "No such file"),
        (&["--mark", "mine.txt"], "holds no work"),
    ] {
        let (status, _, errors) = place.run(&[&["learn"], arguments].concat(), "");
        assert!(status > 0 && errors.contains(said), "{arguments:?}: {errors}");
    }
}

/// Whatever a report holds, judging it ends, and changes nothing.
#[test]
fn hostile_reports_harm_nobody() {
    let place = Place::new();
    let begin = "{\"lesson\":\"01-a\",\"number\":1,\"exercise\":\"sum\",\"language\":\"python\",\"event\":\"begin\"}\n";
    let said = |source: &str| {
        let source = serde_json::to_string(source).unwrap();
        format!(
            "{begin}{{\"lesson\":\"01-a\",\"number\":1,\"exercise\":\"sum\",\"source\":{source},\"verdict\":\"right\",\"event\":\"answer\"}}\n"
        )
    };
    let endless = "while True:\n    pass\n";
    let victim = place.path("victim.pt");
    fs::write(&victim, "as it was").unwrap();
    let writes = format!("torch.save(torch.ones(3), {:?})", victim.to_str().unwrap());
    let shared = format!("torch.UntypedStorage.from_file({:?}, True, 9).fill_(0)", victim.to_str().unwrap());
    let rows = [
        (said("14"), "not right"),
        (said(endless), "stopped after 3 s"),
        (said("x = []\nwhile True:\n    x.append('a' * 10_000_000)\n"), "0 of 1"),
        (
            said("for i in range(10**6):\n    torch.save(torch.ones(10 ** 7), str(i))\n"),
            "stopped after it wrote 256 MiB",
        ),
        (said("torch.zeros(10 ** 15)"), "not right"),
        (said("def f(): return f()\n\nf()"), "not right"),
        (said("exit(40)"), "not right"),
        (said("import os\nos._exit(40)"), "not right"),
        (said(&writes), "not right"),
        (said(&shared), "not right"),
        (said("15"), "right"),
        (begin.replace("sum", "\\u001b[2J"), "no such exercise"),
        (format!("{begin}{}\n", "[".repeat(100_000)), "no answer"),
    ];
    for (report, wanted) in rows {
        place.write("r.jsonl", &report);
        // Whatever ends by itself may take its time on a busy machine.
        let limit = if matches!(wanted, "stopped after 3 s" | "0 of 1") { "3" } else { "120" };
        let (status, text, errors) = place.run(&["learn", "--mark", "r.jsonl", "--timeout", limit, "l/01-a.md"], "");
        let all = place.run(&["learn", "--mark", "r.jsonl"], "").1;
        let text = if wanted == "no such exercise" { format!("{text}{wanted}") } else { text };
        assert!(text.contains(wanted), "{report}\n{text}{errors}");
        assert!(!text.contains('\u{1b}') && !all.contains('\u{1b}'), "{text}{all}");
        assert_eq!(status, i32::from(wanted != "right"), "{report}\n{text}{errors}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "as it was", "{report}");
    }
}

#[test]
fn lessons_are_published() {
    let place = Place::new();
    let (status, told, errors) = place.run(&["publish", "l", "-o", "out"], "");
    assert_eq!((status, told.as_str(), errors.as_str()), (0, "out/01-a.html\nout/02-b.html\nout/index.html\n", ""));
    let page = place.read("out/01-a.html");
    for wanted in [
        "<title>First</title>",
        "default-src 'none'",
        "<p>Some <em>text</em> with <code>code</code>, &lt;b&gt;markup&lt;/b&gt; &amp; a link.</p>",
        "<li>one</li>",
        "<pre class=\"input\" tabindex=\"0\">&gt;&gt;&gt; t = torch.arange(6)</pre>",
        // What the lesson leaves open stays open.
        "<pre class=\"output\" tabindex=\"0\">at ...</pre>",
        "<svg ",
        "<h2>Exercise: sum</h2>",
        "<summary>Hint</summary>\n<p>Add &lt;/details&gt; them.</p>",
        "<summary>Solution</summary>",
        "tensor(15)",
        "<a href=\"./02-b.html\">Next: Second</a>",
    ] {
        assert!(page.contains(wanted), "{wanted}\n{page}");
    }
    // What only the judge reads is not published, and nothing asks for anything.
    for absent in ["answer ==", "<script", "javascript:", "src=", "@import", "url(", "<b>", "<p>15"] {
        assert!(!page.contains(absent), "{absent}\n{page}");
    }
    assert!(place.read("out/index.html").contains("<li><a href=\"./01-a.html\">First</a> (1 exercise)</li>"));
    // The same again gives the same.
    place.run(&["publish", "l", "-o", "out"], "");
    assert_eq!(place.read("out/01-a.html"), page);
    // A page that tensorsh has not made stays.
    place.write("out/02-b.html", "mine");
    let (status, _, errors) = place.run(&["publish", "l/02-b.md", "-o", "out"], "");
    assert!(status == 1 && errors.contains("out/02-b.html is something else"), "{errors}");
    assert_eq!(place.read("out/02-b.html"), "mine");
}

#[test]
fn published_lessons_link_to_a_page_that_runs_them() {
    let place = Place::new();
    place.run(&["publish", "l/01-a.md", "-o", "out", "--site", "https://e.org/shell/"], "");
    let page = place.read("out/01-a.html");
    assert!(!place.path("out/index.html").exists());
    for wanted in
        ["<a href=\"https://e.org/shell/#l=", "/1\">Try this exercise</a>", "<a href=\"https://e.org/shell/#s="]
    {
        assert!(page.contains(wanted), "{wanted}\n{page}");
    }
    fs::create_dir(place.path("a site")).unwrap();
    place.write("a site/index.html", "");
    place.run(&["publish", "strides", "-o", "out/deep", "--site", "a site"], "");
    let page = place.read("out/deep/strides.html");
    assert!(page.contains("<a href=\"../../a%20site/#/lessons/strides/2\">"), "{page}");
    let refused = place.run(&["publish", "l", "-o", "out", "--site", "out"], "");
    assert!(
        refused.0 == 1 && refused.2.contains("out is neither an address nor the folder of the page"),
        "{refused:?}"
    );
}

/// The lessons of the program print what they say, in both languages, and leave no file behind.
#[test]
fn the_lessons_of_the_program_are_published() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["publish", "-o", "out"][..], &["publish", "--rhai", "-o", "rhai"]] {
        let (status, told, errors) = run(folder.path(), arguments, b"");
        assert_eq!((status, errors.as_str()), (0, ""), "{told}");
        assert_eq!(told.lines().count(), 14);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    let page = fs::read_to_string(folder.path().join("rhai/strides.html")).unwrap();
    assert!(page.contains("rhai&gt; let t = torch.arange(12).view(3, 4);"), "{page}");
}

//! The drawings of the functions that make memory visible, for every kind of tensor and at three widths. The numbers in
//! tests/explain are PyTorch's; the drawings are ours.

use crate::pace::within;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tensorsh::session::{Language, Session, SessionOptions};

#[test]
fn drawings_are_as_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tensorsh"))
        // Some of the sessions create files.
        .current_dir(folder.path())
        .args(["--quiet", "--color", "never", "test"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explain"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
}

fn text_of(session: &mut Session, language: Language, source: &str) -> String {
    let outcome = session.eval(language, source);
    assert_eq!(outcome.error, None, "{source}");
    outcome.text
}

/// A picture of a billion elements takes no longer than one of a few, because nothing walks through them.
#[test]
fn a_billion_elements_take_a_moment() {
    let mut session = Session::new(SessionOptions::default());
    text_of(
        &mut session,
        Language::Rhai,
        "let t = torch.empty(1000, 1000, 1000, #{device: \"meta\"}).transpose(0, 1);",
    );
    let drawn = within(20, "explain", || text_of(&mut session, Language::Rhai, "explain(t)"));
    assert!(drawn.contains("1 000 000 000 elements"), "{drawn}");
}

/// A figure needs a fixed amount of memory and little time, however large the tensor.
#[test]
fn a_figure_of_a_million_numbers_takes_a_moment() {
    let mut session = Session::new(SessionOptions::default());
    text_of(&mut session, Language::Rhai, "let x = torch.randn(1000, 1000).t();");
    for figure in ["hist(x)", "spark(x)", "heat(x)"] {
        let drawn = within(1000, figure, || text_of(&mut session, Language::Rhai, figure));
        assert!(drawn.contains("1 000 000 elements"), "{drawn}");
    }
}

/// Ctrl-C ends a figure of many elements that share one cell. Without it, this test would run for hours.
#[test]
fn a_figure_heeds_ctrl_c() {
    let mut session = Session::new(SessionOptions::default());
    text_of(&mut session, Language::Rhai, "let x = torch.zeros(1).expand(1000000000000);");
    for figure in ["hist(x)", "spark(x)", "heat(x)"] {
        let flag = session.interrupt_flag();
        let asks = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            flag.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let outcome = session.eval(Language::Rhai, figure);
        asks.join().unwrap();
        assert_eq!(outcome.error.map(|error| error.kind).as_deref(), Some("KeyboardInterrupt"), "{figure}");
    }
}

/// In Python the builtins are unchanged, and names defined by scripts take precedence over ours.
#[test]
fn pythons_names_stay_pythons() {
    let mut session = Session::new(SessionOptions::default());
    for (source, wanted) in [
        ("import torch", ""),
        ("bytes([1, 2])", "b'\\x01\\x02'\n"),
        ("bytes(torch.tensor([1, 2], dtype=torch.uint8).untyped_storage())", "b'\\x01\\x02'\n"),
        ("def watch(x): return x + 1", ""),
        ("watch(3)", "4\n"),
        ("bits = 5", ""),
        ("bits", "5\n"),
        ("hasattr(torch, 'explain')", "False\n"),
    ] {
        assert_eq!(text_of(&mut session, Language::Python, source), wanted, "{source}");
    }
}

/// Both files contain every cell that the terminal shows, and drawn text cannot break the markup.
#[test]
fn pictures_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::new(SessionOptions::default());
    text_of(&mut session, Language::Rhai, "let t = torch.arange(6).view(2, 3).t();");
    for (call, name) in [("svg(t", "t.svg"), ("html(explain(t)", "t.html"), ("svg(aliases()", "a.svg")] {
        let path = folder.path().join(name);
        text_of(&mut session, Language::Rhai, &format!("{call}, {:?});", path.display().to_string()));
        let text = std::fs::read_to_string(&path).unwrap();
        let wanted = if name == "a.svg" { vec!["storage #1"] } else { vec!["2,1", "prefers-color-scheme: dark"] };
        for wanted in wanted {
            assert!(text.contains(wanted), "{name}: {wanted}");
        }
        for tag in ["svg", "text", "style"] {
            let opened = text.matches(&format!("<{tag}>")).count() + text.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, text.matches(&format!("</{tag}>")).count(), "{name}: {tag}");
        }
    }
    // Every cell of the grid and of the storage names its counterpart, in words and by the common cell number.
    let page = std::fs::read_to_string(folder.path().join("t.html")).unwrap();
    for sentence in
        ["Element [2, 1] is 5, in cell 5, bytes 40 to 47.", "cell 5, bytes 40 to 47 holds 5: element [2, 1]."]
    {
        let spoken = format!("data-at=\"5\" tabindex=\"0\" role=\"img\" aria-label=\"{sentence}\">");
        assert!(page.contains(&spoken), "{sentence}");
    }
    let stops = page.matches(" tabindex=\"0\" ").count();
    assert_eq!(stops, page.matches(" aria-label=\"").count() - page.matches("role=\"group\"").count());
    let missing = folder.path().join("none/t.svg");
    let outcome = session.eval(Language::Rhai, &format!("svg(t, {:?})", missing.display().to_string()));
    assert_eq!(outcome.error.map(|error| error.kind).as_deref(), Some("FileNotFoundError"));
}

/// Several pictures are one page, which prints on white paper, each picture on a sheet of its own.
#[test]
fn several_pictures_are_a_page_for_printing() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::new(SessionOptions::default());
    text_of(&mut session, Language::Python, "import torch; x = torch.arange(6).view(2, 3)");
    let mut page = |pictures: &str, options: &str| {
        let path = folder.path().join("sheet.html");
        let code = format!("html({pictures}, {:?}{options})", path.display().to_string());
        let outcome = session.eval(Language::Python, &code);
        match outcome.error {
            Some(failure) => Err(format!("{}: {}", failure.kind, failure.message)),
            None => Ok(std::fs::read_to_string(&path).unwrap()),
        }
    };
    let whole = page("[explain(x), why_view(x.t(), 6), x.t()]", "").unwrap();
    assert_eq!((whole.matches("<article>").count(), whole.matches("<h1>").count()), (3, 3));
    assert!(whole.contains("<title>3 pictures</title>") && whole.contains("[3, 1]"));
    for rule in
        ["@media screen and (prefers-color-scheme: dark)", "@media print", "article + article { break-before: page; }"]
    {
        assert!(whole.contains(rule), "{rule}");
    }
    let blank = page("[explain(x), why_view(x.t(), 6), x.t()]", ", blank=True").unwrap();
    assert!(blank.contains("____") && !blank.contains("[3, 1]: ") && !blank.contains("index</text>1,2"));
    assert_eq!(page("(x,)", "").map(|page| page.matches("<article>").count()), Ok(1));
    let refusals = [
        ("[]", "", "ValueError: a page has from 1 to 1000 pictures, not 0"),
        ("[x, 3]", "", "TypeError: html() takes a picture, a tensor or an array, not int"),
        (
            "bits(1.5)",
            ", blank=True",
            "ValueError: this picture has no part that is usually left blank; name one, as in blank(p, \"index\")",
        ),
        ("blank(x, 3)", "", "TypeError: parts are named by text, such as \"index\", not by int"),
        ("blank(x, 'sign')", "", "ValueError: this picture has no part called sign"),
    ];
    for (pictures, options, wanted) in refusals {
        assert_eq!(page(pictures, options), Err(wanted.to_owned()));
    }
    // A picture that has blank parts already keeps those.
    assert!(page("[blank(x, 'value')]", ", blank=True").unwrap().contains("1,2"));
}

/// In a script, which is a single input, functions see the variables of the scope in which they are called.
#[test]
fn scripts_see_their_variables() {
    let rhai = "let t = torch.zeros(4);\nlet v = t[0..2];\nprint(aliases());\nlet w = t[1];\n\
                fn inner(x) { let y = x.t(); let z = y[0]; print(str(aliases()).split(\"\\n\")[0]) }\ninner(v);\nprint(t.explain());\n\
                { let hidden = t[3]; print(aliases()); }";
    let python = "import torch\nt = torch.zeros(4)\nv = t[0:2]\nprint(aliases())\nw = t[1]\n\
                  def inner(x):\n    print(str(aliases()).split('\\n')[0])\ninner(v)\nprint(explain(t))\n\
                  del w\nhidden = t[3]\nprint(aliases())\n";
    for (language, source) in [(Language::Rhai, rhai), (Language::Python, python)] {
        let mut session = Session::new(SessionOptions::default());
        let outcome = session.run_script(language, source, None);
        assert_eq!(outcome.error, None);
        let text = outcome.text;
        // A function in Rhai sees its own variables, one in Python those of the script.
        for wanted in ["2 variables on 1 storage\n", "held by 2 handles\n", "variables   t, v, w on this storage\n"] {
            assert!(text.contains(wanted), "{language:?}: {wanted}\n{text}");
        }
        assert!(text.contains("\n3 variables on 1 storage\n"), "{language:?}\n{text}");
        assert!(text.lines().any(|line| line.starts_with("hidden  float32 []")), "{language:?}\n{text}");
    }
}

/// Handles are counted without those needed by the counting itself.
#[test]
fn handles_are_counted() {
    let mut session = Session::new(SessionOptions::default());
    for (source, wanted) in [
        ("let t = torch.zeros(4);", "held by 1 handle"),
        ("let same = t;", "held by 1 handle"),
        ("let s = t.untyped_storage();", "held by 2 handles"),
        ("let v = t[0..2];", "held by 3 handles"),
        ("t = 0; same = 0;", "held by 3 handles, 1 of them unnamed"),
        ("let l = [v, v.t()];", "held by 4 handles, 1 of them unnamed"),
    ] {
        text_of(&mut session, Language::Rhai, source);
        let drawn = text_of(&mut session, Language::Rhai, "aliases(#{width: 200})");
        assert!(drawn.lines().any(|line| line.ends_with(wanted)), "{source}: {wanted}\n{drawn}");
    }
}

/// The numbers in figures of a tensor, compared with PyTorch, numpy and exact fractions in explain/figures.txt, which
/// explain/figures.py writes.
#[test]
fn figures_are_those_of_the_numbers() {
    let mut session = Session::new(SessionOptions::default());
    let (mut rows, mut wrong) = (0, Vec::new());
    text_of(&mut session, Language::Python, "import torch");
    for line in include_str!("explain/figures.txt").lines() {
        let mut parts = line.split("; ");
        let mut part = || parts.next().unwrap_or_else(|| panic!("{line}"));
        let (tensor, kinds, facts, bins, heights, shades) = (part(), part(), part(), part(), part(), part());
        let numbers = |text: &str| text.split(' ').filter_map(|number| number.parse().ok()).collect::<Vec<f64>>();
        text_of(&mut session, Language::Python, &format!("x = {tensor}"));
        let drawn = text_of(&mut session, Language::Python, "hist(x, bins=8, width=400)");
        let fact = |name: &str| drawn.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let first = |name| fact(name).map_or(0.0, leading);
        let found_kinds: Vec<f64> = ["finite", "nan", "inf", "-inf"].map(first).to_vec();
        // `0 … 100, from 0 to 99, mean 49.5` and `5% 4.95, 25% …`.
        let told = ["finite", "quantiles"].map(|name| fact(name).unwrap_or_default()).join(", ");
        let told: Vec<f64> = told.split(", ").flat_map(|text| text.split(' ')).filter_map(|n| n.parse().ok()).collect();
        let told = told.get(told.len().saturating_sub(8)..).unwrap_or_default();
        let wanted = numbers(facts);
        let range = wanted.get(1).zip(wanted.first()).map_or(0.0, |(most, least)| most / 2.0 - least / 2.0);
        let close = |(told, wanted): (&f64, &f64)| (told - wanted).abs() / 2.0 <= range * 1e-4 + wanted.abs() * 1e-12;
        let agrees = told.len() == wanted.len() && told.iter().zip(&wanted).all(close);
        let found_bins: Vec<f64> = drawn
            .lines()
            .filter(|line| {
                line.starts_with('[') || line.contains('█') && !line.contains("nan") && !line.contains("inf")
            })
            .filter_map(|line| line.split_once("  ").map(|(_, text)| leading(text.trim_start())))
            .collect();
        if found_kinds != numbers(kinds) || !agrees || found_bins != numbers(bins) {
            wrong.push(format!("{line}\n{told:?}\n{found_bins:?}\n{drawn}"));
        }
        for (figure, wanted) in [("spark", heights), ("heat", shades)] {
            let drawn = text_of(&mut session, Language::Python, &format!("{figure}(x, width=400)"));
            let rows: Vec<&str> = drawn.lines().filter_map(|line| line.split(' ').next_back()).collect();
            let wide = figure == "heat";
            let wanted: Vec<String> = wanted
                .split('|')
                .map(|row| row.chars().flat_map(|sign| std::iter::repeat_n(sign, 1 + usize::from(wide))).collect())
                .collect();
            let found = rows.windows(wanted.len()).any(|rows| rows == wanted);
            if !found {
                wrong.push(format!("{tensor}\n{}\n{drawn}", wanted.join("\n")));
            }
        }
        rows += 1;
    }
    assert!(rows > 30);
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Parses the number at the start of a text, with its digits in groups.
fn leading(text: &str) -> f64 {
    let digits = text.chars().take_while(|c| c.is_ascii_digit() || *c == ' ').filter(|c| *c != ' ');
    digits.collect::<String>().parse().unwrap_or(0.0)
}

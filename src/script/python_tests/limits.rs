//! Faults, unfinished input, and input made to break a parser.

use super::{is_defined, rhai};
use crate::python::{SyntaxFault, awaits_blank_line, translate};

fn fault(source: &str) -> SyntaxFault {
    match translate(source, &is_defined) {
        Ok(statements) => panic!("{source:?} is no fault: {statements:?}"),
        Err(fault) => fault,
    }
}

#[test]
fn faults_in_pythons_words() {
    let rows = [
        ("x = (1, 2", "'(' was never closed", 4),
        ("x = 'abc", "unterminated string literal (detected at line 1)", 4),
        ("x = '''a\nb", "unterminated triple-quoted string literal (detected at line 2)", 4),
        ("  x = 1", "unexpected indent", 0),
        ("if x:\n    a\n  b", "unindent does not match any outer indentation level", 12),
        ("f(a=1, 2)", "positional argument follows keyword argument", 7),
        ("f(a=1, a=2)", "keyword argument repeated: a", 7),
        ("x = “a”", "invalid character '“' (U+201C)", 4),
        ("x = 1 \\ y", "unexpected character after line continuation character", 6),
        ("f() = 1", "cannot assign to this expression", 0),
        ("del f()", "cannot delete this expression", 4),
        ("a b", "invalid syntax", 2),
        ("x = ", "invalid syntax (expected an expression)", 4),
        ("x = $", "invalid syntax", 4),
        ("return 5", "'return' outside function", 0),
        ("break", "'break' outside loop", 0),
        ("if x: continue", "'continue' not properly in loop", 6),
        ("def f(a, a): pass", "duplicate argument 'a' in function definition", 9),
        ("*a, *b = x", "multiple starred expressions in assignment", 4),
        ("*a = x", "starred assignment target must be in a list or tuple", 0),
        ("def f():\n  for a in x:\n    def g():\n      break", "'break' outside loop", 42),
    ];
    for (source, message, offset) in rows {
        let fault = fault(source);
        let found = (fault.kind, fault.message.as_str(), fault.offset);
        assert_eq!(found, ("SyntaxError", message, offset), "for {source:?}");
    }
}

#[test]
fn constructs_without_a_translation() {
    let rows = [
        ("async def f(): pass", "async functions"),
        ("def f():\n  yield 1", "generators (yield)"),
        ("def repr(a): pass", "functions named repr"),
        ("match x:\n  case 1: pass", "match statements"),
        ("from x import *", "imports of *"),
        ("from . import x", "relative imports"),
        ("type X = int", "type aliases"),
        ("t'{x}'", "template strings"),
    ];
    for (source, construct) in rows {
        let fault = fault(source);
        assert_eq!(fault.kind, "NotImplementedError", "for {source:?}");
        let message = format!("{construct} are not supported at this prompt");
        assert_eq!(fault.message, message, "for {source:?}");
        assert!(!fault.incomplete, "for {source:?}");
    }
}

#[test]
fn unfinished_input() {
    let unfinished = [
        "f(1,",
        "f(1 +\n",
        "x = [1, 2",
        "x = {",
        "f(1,\nx = 3",
        "'''abc\ndef",
        "f'''abc {x",
        "f'''{x}",
        "def f():",
        "def f():  # why\n",
        "if x:\n",
        "if x:\n  pass\nelse:",
        "@torch.no_grad()",
        "@d\n",
        "try:\n  x\n",
        "try:",
        "x = 1 + \\",
        "x = 1 + \\\n",
        "with a:",
        "for i in x:",
        "class A:",
        "\\",
        "f(\n  # comment",
        "a = ((1)",
        "if x:\n  f(",
    ];
    for source in unfinished {
        assert!(fault(source).incomplete, "{source:?} can be completed");
    }
    let wrong = [
        "f(1,]",
        "x = (1 2",
        "'abc",
        "f'abc {x",
        "def f():\nx",
        "a b (",
        "x = ",
        "1 +",
        "x)",
        "if x",
        "f(]",
        "x = 1 \\ y",
        "f(a=1, 2",
        "def",
        "import",
        "  x",
        "@d\nx = 1",
        "$(",
        "x = \\ (",
    ];
    for source in wrong {
        assert!(!fault(source).incomplete, "{source:?} cannot be completed");
    }
}

#[test]
fn a_compound_statement_waits_for_a_blank_line() {
    for source in ["if x: y", "def f():\n  x", "x\nfor i in x:\n  i\n", "with x:\n  y\n  # z"] {
        assert!(awaits_blank_line(source), "for {source:?}");
    }
    for source in ["", "x", "if x: y\nx", "def f():\n  x\n\n", "if x:", "f(\n", "[i for i in x]"] {
        assert!(!awaits_blank_line(source), "for {source:?}");
    }
}

#[test]
fn blank_input_is_nothing() {
    let blank = ["", " ", "\n\n", "# comment", "  # comment\n", "pass", "\t", "\r\n", "x: int", ";"];
    for source in &blank[..9] {
        assert_eq!(rhai(source), Ok(Vec::new()), "for {source:?}");
    }
    assert_eq!(fault(blank[9]).kind, "SyntaxError");
}

/// On a stack of an ordinary size: deep input is refused before there is anything deep.
#[test]
fn hostile_input_ends_with_an_answer() {
    const MEGABYTE: usize = 1 << 20;
    let repeated = |text: &str| text.repeat(MEGABYTE / text.len());
    // What reaches the parser takes a while in a debug build.
    let shorter = |text: &str| text.repeat((1 << 16) / text.len());
    let refused = [
        repeated("("),
        repeated("["),
        repeated("{"),
        repeated("{1:"),
        repeated("f("),
        repeated("x["),
        format!("{}1", repeated("1+")),
        format!("{}1", repeated("- ")),
        format!("{}1", repeated("not ")),
        format!("{}1", repeated("2**")),
        format!("a{}", repeated(".b")),
        format!("a{}", repeated("()")),
        format!("a{}", repeated("[0]")),
        format!("{}1", repeated("1 if x else ")),
        format!("{}1", repeated("lambda: ")),
        format!("{}1", repeated("lambda a, b: ")),
        format!("{}1", repeated("a and ")),
        format!("{}1", repeated("a < ")),
        format!("x = {}", repeated("f'{")),
        format!("x = {}", repeated("await ")),
        format!("{}x", repeated("x = ")),
        repeated("async "),
        repeated("if x: "),
        shorter("\""),
        shorter("'a"),
        shorter("\\"),
        shorter("é "),
        shorter("\0"),
        shorter("0x"),
        shorter("1_"),
        shorter(")"),
        shorter("@"),
        format!("f'{}", shorter("{")),
        format!("f'{{1:'{}", shorter("(")),
        (0..2000).map(|i| format!("{}if x:\n", " ".repeat(i))).collect(),
        format!("if x: pass\n{}", shorter("elif x: pass\n")),
        format!("with {}b: pass", shorter("a, ")),
        format!("def f({}): pass", (0..9999).map(|i| format!("a{i}=1,")).collect::<String>()),
        format!("[{}]", repeated("x for x in y ")),
        "1".repeat(MEGABYTE),
        format!("0x{}", "f".repeat(MEGABYTE)),
    ];
    for source in refused {
        let head: String = source.chars().take(20).collect();
        let answer = translate(&source, &is_defined);
        assert!(answer.is_err(), "{head:?} … is refused");
    }
    let accepted = [
        format!("[{}]", shorter("1, ")),
        format!("x = {}", "'a' ".repeat(1 << 13)),
        format!("f'{}'", "{x}".repeat(1 << 13)),
        format!("x = '{}'", repeated("(")),
        shorter("x\n"),
        shorter("x;"),
        shorter("é"),
        repeated("# (((((\n"),
        format!("{{{}}}", shorter("1: 2, ")),
        format!("f({})", shorter("a, ")),
        format!("{}1{}", "(".repeat(200), ")".repeat(200)),
        format!("{}1", "1+".repeat(490)),
    ];
    for source in accepted {
        let head: String = source.chars().take(20).collect();
        if let Err(fault) = translate(&source, &is_defined) {
            panic!("{head:?} …: {fault:?}");
        }
    }
}

#[test]
fn the_limits_have_their_place() {
    let source = format!("x = {}", "(".repeat(201));
    assert_eq!(
        fault(&source),
        SyntaxFault {
            kind: "SyntaxError",
            message: "too many nested parentheses".into(),
            offset: 204,
            incomplete: false,
        }
    );
    let source = format!("y = 'é' + {}1", "1+".repeat(1000));
    assert!(fault(&source).message.contains("nested too deeply"));
    assert!((1000..1020).contains(&fault(&source).offset));
}

//! Input that could bring the program down. Each is rejected with an error and its position, and the process does not
//! crash.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs a script. Returns its exit status and the first line of standard error.
fn run(script: &[u8]) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input.rhai");
    fs::write(&path, script).unwrap();
    let (status, _, error) = start(&["input.rhai"], folder.path());
    (status, error.lines().next().unwrap_or_default().to_owned())
}

fn start(args: &[&str], folder: &Path) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tensorsh")).args(args).current_dir(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Replays one Python input. Returns the last line of the answer.
fn replay(input: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("page.txt"), format!(">>> {input}\n")).unwrap();
    let (status, output, _) = start(&["replay", "page.txt"], folder.path());
    assert_eq!(status, 0);
    output.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn recursion_without_end() {
    let (status, error) = run(b"fn f(x) { f(x + 1) }\nf(0);\n");
    assert_eq!((status, error.as_str()), (1, "input.rhai:2:1: RecursionError: maximum recursion depth exceeded"));
}

#[test]
fn an_open_bracket() {
    let (status, error) = run(b"let x = [1, 2;\n");
    assert_eq!(status, 1);
    assert!(error.starts_with("input.rhai:1:14: SyntaxError: "), "{error}");
    assert_eq!(replay("(1, 2"), "SyntaxError: '(' was never closed (<unknown>, line 1)");
}

/// The search for the end of a bracket, or of a loop's head, passes through a text only once.
#[test]
fn forty_thousand_lines_that_never_end() {
    for (line, wanted) in [
        ("{\n", "SyntaxError: "),
        ("for\n", "SyntaxError: Expecting name of a variable"),
        ("fn\n", "SyntaxError: Expecting function name"),
        ("a[\n", "SyntaxError: "),
        ("if a[f(\n", "SyntaxError: "),
        ("let f = |x| {\n", "SyntaxError: "),
    ] {
        let (status, error) = run(line.repeat(40_000).as_bytes());
        assert!(status == 1 && error.contains(wanted), "{line}{error}");
    }
}

#[test]
fn lines_of_a_megabyte() {
    for (text, wanted) in [
        ("(".repeat(1 << 20), "SyntaxError: Expression exceeds maximum complexity"),
        ("1+".repeat(1 << 19), "SyntaxError: Expression exceeds maximum complexity"),
        ("-".repeat(1 << 20), "SyntaxError: "),
        (format!("\"{}", "a".repeat(1 << 20)), "SyntaxError: "),
    ] {
        let (status, error) = run(text.as_bytes());
        assert_eq!(status, 1, "{}", &text[..8]);
        assert!(error.contains(wanted), "{error}");
    }
    assert_eq!(
        run(format!("let a = [{}1]; if a.len() != 500001 {{ throw \"\" }}", "1,".repeat(500_000)).as_bytes()).0,
        0
    );
    assert_eq!(replay(&"(".repeat(1 << 20)), "SyntaxError: too many nested parentheses (<unknown>, line 1)");
    assert!(
        replay(&format!("x = {}1", "1+".repeat(1 << 19))).starts_with("SyntaxError: expression is nested too deeply")
    );
}

#[test]
fn text_that_is_not_utf8() {
    let (status, error) = run(b"let x = 1;\nlet y = \"\xff\xfe\";\n");
    assert_eq!((status, error.as_str()), (1, "tensorsh: input.rhai: invalid UTF-8 at byte 20, line 2"));
}

#[test]
fn more_memory_than_there_is() {
    for code in ["torch.zeros(10**15)", "torch.UntypedStorage(10**15)", "torch.zeros(1).expand(10**15).clone()"] {
        let wanted = "RuntimeError: [enforce fail at alloc_cpu.cpp:119] err == 0. DefaultCPUAllocator: can't allocate \
                      memory: you tried to allocate";
        let last = replay(code);
        assert!(last.starts_with(wanted), "{code}: {last}");
    }
}

/// PyTorch itself runs these for hours, or is killed by the system.
#[test]
fn what_would_take_years_is_answered() {
    for (code, wanted) in [
        ("torch.zeros(1)[(None,) * 10**6].dim()", "1000001"),
        ("torch.zeros(10**12, 0).diff(n=10**11, dim=0).shape", "torch.Size([900000000000, 0])"),
        ("torch.zeros((1,) * 10**5).movedim(tuple(range(10**5)), tuple(range(10**5))).dim()", "100000"),
        (
            "torch.tensor([torch.zeros(10**12, 0)], dtype=torch.float).shape",
            "only one element tensors can be converted to Python scalars",
        ),
        ("torch.special.chebyshev_polynomial_t(torch.tensor([2., torch.nan]), 10**12)", "tensor([nan, nan])"),
        ("torch.chain_matmul(*[torch.eye(2)] * 20000)", "MemoryError"),
        ("torch.tensor(range(10**12))", "MemoryError"),
        ("torch.combinations(torch.arange(3), 10**12)", "RuntimeError: std::bad_alloc"),
    ] {
        let last = replay(code);
        assert!(last.ends_with(wanted), "{code}: {last}");
    }
}

/// PyTorch crashes here, computes with overflowed sums, or checks something else first. Its answers to other cases are
/// in tests/refusals/hostile.txt.
#[test]
fn sizes_that_overflow() {
    for (code, wanted) in [
        ("torch.arange(6)[2**62:2**63-1:2**62].roll(2**63-1)", "tensor([], dtype=torch.int64)"),
        (
            "torch.conv_transpose1d(torch.zeros(1, 1, 3), torch.zeros(1, 1, 3), output_padding=2**63-1)",
            "RuntimeError: output padding must be smaller than either stride or dilation, but got output_padding_height: 0 \
             output_padding_width: 9223372036854775807 stride_height: 1 stride_width: 1 dilation_height: 1 dilation_width: 1",
        ),
        (
            "torch.repeat_interleave(torch.tensor([2**62, 2**62, 2**62, 2**62]))",
            "RuntimeError: repeat_interleave: the repeats add up to 18446744073709551616, which is no size",
        ),
        ("torch.triu_indices(3, 3, 2**63-1)", "tensor([], size=(2, 0), dtype=torch.int64)"),
        ("torch.tril_indices(2**62, 3, -2**62)", "tensor([], size=(2, 0), dtype=torch.int64)"),
    ] {
        assert_eq!(replay(code), wanted, "{code}");
    }
}

#[test]
fn a_sequence_of_errors_leaves_the_session_whole() {
    let folder = tempfile::tempdir().unwrap();
    let page = ">>> x = torch.ones(2)\n>>> x[5]\n>>> x.nope()\n>>> y\n>>> x.view(3)\n>>> x\ntensor([1., 1.])\n";
    fs::write(folder.path().join("page.txt"), page).unwrap();
    let (_, output, _) = start(&["replay", "page.txt"], folder.path());
    assert!(output.ends_with(">>> x\ntensor([1., 1.])\n"), "{output}");
}

/// A size given by the user is rejected immediately, before anything is allocated.
#[test]
fn what_no_budget_holds() {
    for code in [
        "torch.tensor(range(10**12))",
        "print(*range(10**12))",
        "set(range(10**12))",
        "tuple(range(10**12))",
        "bytearray(5 * 10**9)",
        "bytes(4 * 10**8)",
        "(1,) * 10**10",
        "'%999999999d' % 1",
        "'ab'.join(['c' * 10**7] * 100)",
        "' '.join(['a' * 10**6] * 10**6)",
        "[['a' * 10**6] * 100] * 100",
    ] {
        let last = replay(code);
        assert_eq!(last, "MemoryError", "{code}");
    }
    for code in [
        "[].pad(4000000000, 1)",
        "[].pad(9223372036854775807, 1)",
        "[].pad(10000000, [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]])",
        "let s = \"x\"; s.pad(9223372036854775807, \"x\")",
        "let s = \"x\"; s.pad(1000000, 'x'); s.replace(\"x\", s)",
        "let s = \"x\"; for i in 0..60 { s += s }",
        "let s = \"x\"; for i in 0..60 { s = `${s}${s}` }",
        "list(range(10**12))",
    ] {
        let (status, error) = run(code.as_bytes());
        assert!(status == 1 && error.ends_with(": MemoryError"), "{code}: {status} {error}");
    }
}

/// A loop over these is not quadratic.
#[test]
fn many_small_steps() {
    for code in [
        "let a = []; for i in 0..100000 { a.push(i) } if a.len() != 100000 || a.pop() != 99999 { throw 1 }",
        "let m = #{}; for i in 0..10000 { m.set(`k${i}`, i) } if m.len() != 10000 || m.get(\"k7\") != 7 { throw 1 }",
        "const A = [1]; if A.len() != 1 { throw 1 } try { A.push(2); throw 3 } catch (e) { if e == 3 { throw 1 } }",
        "let a = [1, 2, 3]; a.insert(-1, 9); a.remove(0); if a != [2, 9, 3] || a.get(-1) != 3 { throw 1 }",
        "let a = \"1\"; a.pad(5, \"ab\"); if a != \"1abab\" { throw 1 } a.pad(9, \"\"); if a.len() != 5 { throw 1 }",
    ] {
        assert_eq!(run(code.as_bytes()), (0, String::new()), "{code}");
    }
    assert_eq!(replay("len(set(range(50000))), len({i: i for i in range(20000)})"), "(50000, 20000)");
}

#[test]
fn names_and_calls_beyond_all_measure() {
    let name = "x".repeat(1 << 20);
    assert_eq!(replay(&name), format!("NameError: name '{name}' is not defined"));
    assert!(replay(&format!("torch.{name}()")).starts_with("AttributeError: module 'torch' has no attribute 'xxx"));
    let arguments = "1,".repeat(100_000);
    assert_eq!(replay(&format!("f({arguments})")), "NameError: name 'f' is not defined");
    let (status, error) = run(format!("f({arguments} 1)").as_bytes());
    assert!(status == 1 && error.contains("SyntaxError"), "{error}");
}

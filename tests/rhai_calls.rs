//! Calls from Rhai: a bare name means the function of torch, with any arguments. Also tests what Rhai's own types
//! print, compare and return when tensors are involved.

use std::process::Command;
use std::thread;
use tensorsh::call::{Kind, Receiver};
use tensorsh::session::{Language, Session, SessionOptions};
use tensorsh::torch::library::registry;

/// Parsing and evaluation recurse deeply.
const STACK: usize = 1 << 28;

fn on_large_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    thread::Builder::new().stack_size(STACK).spawn(run).unwrap().join().unwrap()
}

const SETUP: &str = "let a = torch.tensor([[1.5, -2.0], [0.5, 3.0]]); let b = torch.tensor([[2.0, 1.0], [-1.0, 0.5]]); \
    let c = torch.tensor([[true, false], [false, true]]); let i = torch.tensor([[1, 0], [0, 1]]); \
    let d = torch.tensor([[false, true], [false, false]]); let v = torch.tensor([1.0, 4.0, 2.0]);";

/// Returns the argument lists for the calls, with up to three arguments.
fn argument_lists() -> Vec<String> {
    let mut lists: Vec<String> =
        ["", "a", "c", "v", "2", "[a, b]", "a, #{out: b}", "a, b, #{out: i.double()}"].map(str::to_owned).into();
    for first in ["a", "i", "v", "2", "[a, b]"] {
        lists.extend(["b", "1", "[1, 0]", "#{dtype: float64}"].map(|second| format!("{first}, {second}")));
    }
    for first in ["c", "a"] {
        for second in ["a", "d", "1"] {
            lists.extend(["b", "0"].map(|third| format!("{first}, {second}, {third}")));
        }
    }
    lists
}

/// Functions with random results, or results that depend on the history.
const UNCERTAIN: &[&str] = &["empty", "from_file", "save", "seed", "rng_state", "_strided", "is_warn_always_enabled"];

/// Reserved words of Rhai.
const RESERVED: &[&str] = &["var", "async", "default"];

/// Returns the output of a call, or its error.
fn answer(session: &mut Session, call: &str) -> Result<String, String> {
    let outcome = session.eval(Language::Rhai, &format!("torch.manual_seed(0); {call}"));
    match outcome.error {
        Some(error) => Err(format!("{}: {}", error.kind, error.message)),
        None => Ok(outcome.text),
    }
}

/// If torch accepts a call, so does the bare name, with the same answer. If torch rejects it, a bare name may still be
/// one of Python's functions, or a method with its sizes written out.
#[test]
fn a_bare_name_means_the_function_of_torch() {
    let names = registry().names(Receiver::Module(""));
    let names: Vec<_> = names
        .into_iter()
        .filter(|name| {
            !UNCERTAIN.iter().any(|part| name.contains(part)) && !name.ends_with('$') && !RESERVED.contains(name)
        })
        .collect();
    assert!(names.len() > 450, "{}", names.len());
    let halves = names.chunks(names.len().div_ceil(2)).map(<[_]>::to_vec);
    let different: Vec<String> = halves
        .map(|names| thread::Builder::new().stack_size(STACK).spawn(move || different_when_bare(&names)).unwrap())
        .collect::<Vec<_>>()
        .into_iter()
        .flat_map(|thread| thread.join().unwrap())
        .collect();
    assert!(different.is_empty(), "{} differ\n{}", different.len(), different.join("\n"));
}

fn different_when_bare(names: &[&str]) -> Vec<String> {
    let mut different = Vec::new();
    let mut session = Session::new(SessionOptions::default());
    for name in names {
        if name.starts_with("set_") {
            session = Session::new(SessionOptions::default());
        }
        session.eval(Language::Rhai, SETUP);
        for list in argument_lists() {
            let module = if list.is_empty() { format!("torch.{name}()") } else { format!("torch.{name}({list})") };
            let wanted = answer(&mut session, &module);
            if name.ends_with('_') || list.contains("out") {
                session.eval(Language::Rhai, SETUP);
            }
            let got = answer(&mut session, &format!("{name}({list})"));
            if name.ends_with('_') || list.contains("out") {
                session.eval(Language::Rhai, SETUP);
            }
            let is_named = |text: &String| text.contains(" at 0x");
            if wanted.is_ok() && got != wanted && !wanted.as_ref().is_ok_and(is_named) {
                different.push(format!("{name}({list})\n    torch: {wanted:?}\n    bare:  {got:?}"));
            }
        }
        if name.starts_with("set_") {
            session = Session::new(SessionOptions::default());
        }
    }
    different
}

/// Creates a value of each class that has attributes, and the module with further ones.
const OWNERS: &str = "let x = torch.tensor([[1.5, -2.0], [0.5, 3.0]]); let z = x.to(complex64); let n = x > 0; \
    let w = torch.ones(2, 2, 2, #{requires_grad: true}); let y = w * 2; let p = x.to_sparse(); \
    let q = torch.quantize_per_tensor(x, 0.5, 0, torch.quint8); let s = x.untyped_storage(); let u = x.storage(); \
    let d = torch.float32; let v = torch.device(\"cpu\"); let g = torch.Generator(); let e = x.shape; ";

/// The engine knows the attributes that a text names, and evaluates any other as a subscript with a string.
#[test]
fn an_attribute_is_the_subscript_of_its_name() {
    let different = on_large_stack(|| {
        let classes =
            [Kind::Tensor, Kind::UntypedStorage, Kind::TypedStorage, Kind::DType, Kind::Device, Kind::Generator];
        let mut names: Vec<_> = classes.iter().flat_map(|class| registry().names(Receiver::Class(*class))).collect();
        names.retain(|name| !registry().attributes_of(name).is_empty());
        names.extend(["int64", "strided", "Tensor", "inf", "shap"]);
        names.sort_unstable();
        names.dedup();
        assert!(names.len() > 40, "{}", names.len());
        let mut different = Vec::new();
        let mut session = Session::new(SessionOptions::default());
        assert!(session.eval(Language::Rhai, OWNERS).error.is_none());
        for owner in ["x", "z", "n", "w", "y", "p", "q", "s", "u", "d", "v", "g", "e", "torch"] {
            for name in &names {
                let wanted = answer(&mut session, &format!("{owner}[\"{name}\"]"));
                for read in [format!("{owner}.{name}"), format!("let f = || {owner}.{name}; f.call()")] {
                    // A closure shares its captured variables.
                    let got = answer(&mut session, &read);
                    if got != wanted {
                        different.push(format!("{read}\n    as subscript: {wanted:?}\n    as attribute: {got:?}"));
                    }
                }
            }
        }
        different
    });
    assert!(different.is_empty(), "{} differ\n{}", different.len(), different.join("\n"));
}

/// PyTorch's output.
const CHANGED: &str = "\
tensor([[0., 0.],
        [0., 0.]])
tensor([[5., 5.],
        [3., 7.]], requires_grad=True)
tensor([[3., 3.],
        [1., 1.]])
tensor([[9., 9.],
        [9., 9.]])
tensor([[19.,  9.],
        [ 9.,  9.]])
";

/// A value read through an attribute is the object itself: changes to it are kept, and nothing else is written.
#[test]
fn what_is_behind_an_attribute_can_be_changed() {
    let told = on_large_stack(|| {
        let mut session = Session::new(SessionOptions::default());
        let mut told = String::new();
        for line in [
            "let w = torch.ones(2, 2, #{requires_grad: true}); (w * w).sum().backward(); w.grad.zero_(); print(w.grad);",
            "w.data[0] = 5.0; w.data[1][1] = 7.0; w.data.T[0][1] += 2.0; print(w);",
            "w.grad += 1; w.grad[0] *= 3; print(w.grad);",
            "let f = || { w.grad.fill_(9); w.grad }; print(f.call());",
            "for i in 0..20 { w.shape; w.grad[0][0] = i; } print(w.grad);",
        ] {
            let outcome = session.eval(Language::Rhai, line);
            told += &outcome.text;
            told += &outcome.error.map_or(String::new(), |error| format!("{}: {}\n", error.kind, error.message));
        }
        told
    });
    assert_eq!(told, CHANGED);
}

#[test]
fn a_value_is_printed_alike_everywhere() {
    let different = on_large_stack(|| {
        let mut session = Session::new(SessionOptions::default());
        let values = [
            "true",
            "false",
            "()",
            "1",
            "-7",
            "1.0",
            "1e16",
            "1e-5",
            "0.1",
            "inf",
            "nan",
            "\"text\"",
            "'c'",
            "[]",
            "[1, 2.5, true, ()]",
            "[\"a\", 'b', [1.0]]",
            "#{}",
            "#{a: true, b: ()}",
            "#{a: [torch.ones(2)]}",
            "torch.ones(2, 2)",
            "torch.ones(2).shape",
            "torch.float32",
            "torch",
            "None",
            "0..3",
            "0..=3",
            "blob(2, 97)",
            "torch.device(\"cpu\")",
            "timestamp()",
            "torch.ones(3).max(0)",
            "torch.UntypedStorage(2)",
        ];
        let mut different = Vec::new();
        for value in values {
            session.eval(Language::Rhai, &format!("let value = {value};"));
            let mut printed = |call: &str| {
                let outcome = session.eval(Language::Rhai, call);
                assert_eq!(outcome.error, None, "{call} of {value}");
                outcome.text
            };
            let wanted = printed("print(value);");
            for other in [
                "print(`${value}`);",
                "print(value.to_string());",
                "print(\"\" + value);",
                "print(value, #{sep: \"\"});",
            ] {
                let got = printed(other);
                // Rhai itself appends nothing to a string in this case.
                let is_nothing = wanted == "None\n" && other.contains('+');
                if got != wanted && !is_nothing {
                    different.push(format!("{value}: {other} writes {got:?}, print(value) {wanted:?}"));
                }
            }
            let (debugged, text) = (printed("debug(value);"), printed("print(value.to_debug());"));
            if debugged != text {
                different.push(format!("{value}: debug writes {debugged:?}, to_debug {text:?}"));
            }
        }
        different
    });
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// An input, and its output: the text of a value, or the first line of an error.
const TABLE: &[(&str, &str)] = &[
    // Bare names, and methods of the same name.
    ("where(c, a, b)", "tensor([1., 4.])"),
    ("a.where(c, b)", "tensor([1., 4.])"),
    ("where(c)", "(tensor([0]),)"),
    ("Fn(\"where\").call(c, a, b)", "tensor([1., 4.])"),
    ("let f = || where(c, a, b); f.call()", "tensor([1., 4.])"),
    // A function of the table in a variable is a function value, as any other: it receives a closure as an argument.
    ("let f = torch.vmap; f(|x| x * x)(a)", "tensor([1., 4.])"),
    ("let f = torch.autograd.functional.jacobian; f.call(|x| x * x, a).diag()", "tensor([2., 4.])"),
    ("[a, b].map(torch.neg)", "[tensor([-1., -2.]), tensor([-3., -4.])]"),
    ("let f = torch.sin; f.__name__", "'sin'"),
    ("let f = a.sin; f.__name__", "'sin'"),
    ("let f = torch.sin; f == torch.sin", "True"),
    ("repeat_interleave(torch.tensor([1, 2]))", "tensor([0, 1, 1])"),
    ("add(a, b, #{out: a})", "tensor([4., 6.])"),
    ("a.add(b, #{out: a})", "TypeError"),
    ("float(a[1]) + 1", "3.0"),
    ("a.double().float().dtype", "torch.float32"),
    ("int(a[1])", "2"),
    ("a.int()", "tensor([1, 2], dtype=torch.int32)"),
    ("bool(a[0])", "True"),
    ("a.bool()", "tensor([True, True])"),
    ("sum(a)", "tensor(3.)"),
    ("let f = a.sum; f()", "tensor(3.)"),
    ("let f = a.sum; f.call(0)", "tensor(3.)"),
    ("[torch.ones(2), a].map(a.add)", "[tensor([2., 3.]), tensor([2., 4.])]"),
    ("torch.storage.TypedStorage([5, 4], dtype=int16).dtype", "torch.int16"),
    ("max(a)", "tensor(2.)"),
    ("abs(-a)", "tensor([1., 2.])"),
    // Shapes.
    ("t.shape == [2, 3]", "True"),
    ("[2, 3] == t.shape", "True"),
    ("t.shape != [2, 3]", "False"),
    ("t.shape == [3, 2]", "False"),
    ("t.stride() == [3, 1]", "True"),
    ("[t.shape, t.stride()] == [[2, 3], [3, 1]]", "True"),
    ("if t.shape == [2, 3] { \"yes\" } else { \"no\" }", "'yes'"),
    ("t.shape[0] + t.shape[-1]", "5"),
    ("let n = 1; for size in t.shape { n *= size; } n", "6"),
    ("3 in t.shape", "True"),
    ("7 in t.shape", "False"),
    // `in` with tensors.
    ("2 in a", "True"),
    ("5 in a", "False"),
    ("2.0 in [a[0], a[1]]", "True"),
    ("let n = 0; for x in a { n += x.item(); } n", "3.0"),
    ("2 in 5", "TypeError"),
    ("2 in torch", "TypeError"),
    // Arrays and maps of tensors.
    ("[a, b].map(|x| x.sum())", "[tensor(3.), tensor(7.)]"),
    ("[a, b].map(|x, i| x.sum() + i)", "[tensor(3.), tensor(8.)]"),
    ("[a, b].filter(|x| x.sum() > 3)", "[tensor([3., 4.])]"),
    ("[a, b].filter(|x| x > 1)", "RuntimeError"),
    ("[a, b].all(|x| x.sum() > 2)", "True"),
    ("[a, b].some(|x| x.sum() > 9)", "False"),
    ("[a, b].find(|x| x.sum() > 3)", "tensor([3., 4.])"),
    ("[a, b].index_of(|x| x.sum() > 3)", "1"),
    ("[a, b].index_of(a)", "0"),
    // As in PyTorch, `a == b` has no truth value.
    ("[a, b].index_of(b)", "RuntimeError"),
    ("a[1] in [a[0], a[1]]", "True"),
    ("[a[0], a[1]].index_of(2.0)", "1"),
    ("[a, b].contains(torch.ones(2))", "RuntimeError"),
    ("[a, b] == [a, b]", "True"),
    ("[a[0]] == [b[0]]", "False"),
    ("[a[0]] != [b[0]]", "True"),
    ("#{x: a[0]} == #{x: torch.tensor(1.)}", "True"),
    ("#{x: a[0]} == #{y: a[0]}", "False"),
    ("[a, b].reduce(|sum, x| sum + x, 0)", "tensor([4., 6.])"),
    ("let l = [b[0], a[0], a[1]]; l.sort(|x, y| x - y); l", "[tensor(1.), tensor(2.), tensor(3.)]"),
    ("[b[0], a[0], a[1]].order(|x, y| x < y)", "[tensor(1.), tensor(2.), tensor(3.)]"),
    ("let l = [2, 1]; l.sort(|x, y| throw \"stop\"); l", "Error"),
    ("let l = [2, 1]; l.sort(|x, y| \"a\"); l", "TypeError"),
    ("let l = [a[0], torch.tensor(1.), a[1]]; l.dedup(); l", "[tensor(1.), tensor(2.)]"),
    ("let l = [a, b]; l.retain(|x| x.sum() > 3)", "[tensor([1., 2.])]"),
    ("let l = [a, b]; l.drain(|x| x.sum() > 3); l", "[tensor([1., 2.])]"),
    ("#{x: a, y: b}.filter(|k, x| x.sum() > 3)", "{'y': tensor([3., 4.])}"),
    ("[1, 2, 3].filter(|x| x % 2 == 1)", "[1, 3]"),
    ("[1, 2, 3].filter(|x, i| i > 0)", "[2, 3]"),
    ("[1, 2, 3, 2].index_of(2, -2)", "3"),
    ("[1, \"a\", [true]].contains([true])", "True"),
    ("[1, 2] == [1.0, 2.0]", "True"),
    ("[3, 1, 2].order()", "[1, 2, 3]"),
    // Blobs.
    ("let b = blob(4, 0x61); b", "bytearray(b'aaaa')"),
    ("let b = \"abcd\".to_blob(); let t = torch.frombuffer(b, #{dtype: uint8}); t[0] = 65; b", "bytearray(b'Abcd')"),
    (
        "let b = blob(8); let t = torch.frombuffer(b, #{dtype: int32}); b[4] = 1; b.write_le(0..4, 258); t",
        "tensor([258,   1], dtype=torch.int32)",
    ),
    (
        "let b = blob(8); b.write_le(0, 8, 1.5); torch.frombuffer(b, #{dtype: float64})",
        "tensor([1.5000], dtype=torch.float64)",
    ),
    ("\"abcd\".to_blob().parse_le_int(0..2)", "25185"),
    ("let b = blob(); b.push(1); b.push(2); b.append(blob(1, 3)); b.append(\"d\"); b.to_array()", "[1, 2, 3, 100]"),
    ("let b = \"abcd\".to_blob(); let tail = b.split(1); [b, tail]", "[bytearray(b'a'), bytearray(b'bcd')]"),
    ("let b = \"abcd\".to_blob(); b.extract(1, 2).as_string()", "'bc'"),
    ("let b = \"abcd\".to_blob(); b.drain(0..2); b", "bytearray(b'cd')"),
    ("let b = \"ab\".to_blob(); b.len() + b.get(0)", "99"),
    ("97 in \"abc\".to_blob()", "True"),
    ("let n = 0; for byte in blob(3, 2) { n += byte; } n", "6"),
    ("py.bytes(\"ab\", \"utf8\").push(1)", "TypeError"),
    ("blob(2) == blob(2)", "True"),
    // A switch of recording for the duration of a closure.
    ("let w = torch.ones(2, #{requires_grad: true}); no_grad(|| w * 2).requires_grad", "False"),
    ("let w = torch.ones(2, #{requires_grad: true}); torch.no_grad(|| w * 2); (w * 2).requires_grad", "True"),
    ("no_grad(|| enable_grad(|| torch.is_grad_enabled()))", "True"),
    ("inference_mode(|| torch.is_inference_mode_enabled())", "True"),
    ("inference_mode(false, || torch.is_inference_mode_enabled())", "False"),
    ("set_grad_enabled(false, || torch.is_grad_enabled())", "False"),
    ("try { no_grad(|| throw \"stop\") } catch {} torch.is_grad_enabled()", "True"),
    ("no_grad(|| throw \"stop\")", "Error"),
    ("torch.is_grad_enabled()", "True"),
    ("no_grad(|x| x)", "TypeError"),
    // Times and JSON.
    ("let t = timestamp(); sleep(0.01); t.elapsed >= 0.01 && t.elapsed < 60.0", "True"),
    ("let t = timestamp(); let u = timestamp(); u - t >= 0.0 && u >= t", "True"),
    ("let t = timestamp(); (t + 5) - t", "5.0"),
    ("timestamp()", "timestamp"),
    ("[timestamp()]", "[timestamp]"),
    (
        "parse_json(`{\"a\": [1, 2.5, true, null], \"b\": {\"c\": \"d\"}}`)",
        "{'a': [1, 2.5, True, None], 'b': {'c': 'd'}}",
    ),
    ("torch.tensor(parse_json(`{\"rows\": [[1, 2], [3, 4]]}`).rows)", "tensor([[1, 2],"),
    ("#{a: a.tolist(), b: true}.to_json()", "'{\"a\":[1.0,2.0],\"b\":true}'"),
    ("#{a: [1, (), \"x\"]}.to_json()", "'{\"a\":[1,null,\"x\"]}'"),
    ("parse_json(\"[1, [2.5, -3]]\")", "[1, [2.5, -3]]"),
    ("parse_json(`\"\\u00e9 \\ud83d\\ude00 \\/ \\n\"`)", "'é 😀 / \\n'"),
    ("parse_json(\"[1, 2\")", "ValueError"),
    ("parse_json(\"[1, 2] 3\")", "ValueError"),
    ("parse_json(\"{a: 1}\")", "ValueError"),
    ("parse_json(\"[01]\")", "ValueError"),
    ("parse_json(\"[1.]\")", "ValueError"),
    ("parse_json(\"\")", "ValueError"),
    ("[t.shape, \"a\\\"b\"].to_json()", "'[[2,3],\"a\\\\\"b\"]'"),
    ("#{a: a}.to_json()", "TypeError"),
    ("[1.0 / 0.0].to_json()", "ValueError"),
    ("let text = #{x: [1, 2.5, (), true, \"a\\nb\"]}.to_json(); parse_json(text).to_json() == text", "True"),
    // Sorting without a closure.
    ("let l = [b[0], a[0], a[1]]; l.sort(); l", "[tensor(1.), tensor(2.), tensor(3.)]"),
    ("[a[0], b[0]].order_desc()", "[tensor(3.), tensor(1.)]"),
    ("[2, 1.5, 3].order()", "[1.5, 2, 3]"),
    ("[\"b\", \"a\"].order()", "['a', 'b']"),
    ("[\"b\", 1].order()", "TypeError"),
    ("[b, a].order()", "RuntimeError"),
    ("0..3", "0..3"),
    // Bits.
    ("0x3FF8000000000000.get_bits(52, 11)", "1023"),
];

#[test]
fn what_is_typed_and_what_is_printed() {
    let different = on_large_stack(|| {
        let mut different = Vec::new();
        for (source, wanted) in TABLE {
            let mut session = Session::new(SessionOptions::default());
            session.eval(
                Language::Rhai,
                "let a = torch.tensor([1., 2.]); let b = torch.tensor([3., 4.]); let c = torch.tensor([true, false]); \
                 let t = torch.ones(2, 3);",
            );
            let outcome = session.eval(Language::Rhai, source);
            let got = match &outcome.error {
                Some(error) => error.kind.as_str(),
                None => outcome.text.lines().next().unwrap_or_default(),
            };
            if got != *wanted {
                let message = outcome.error.as_ref().map(|error| error.message.as_str()).unwrap_or_default();
                different.push(format!("{source}\n    wanted {wanted}\n    got    {got} {message}"));
            }
        }
        different
    });
    assert!(different.is_empty(), "{} differ\n{}", different.len(), different.join("\n"));
}

#[test]
fn scripts_have_arguments_and_exit_statuses() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("arguments.rhai");
    std::fs::write(&script, "print(ARGS);\nif ARGS.len == 2 { exit(3); }\nprint(\"on\");\n").unwrap();
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tensorsh")).arg(&script).args(args).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status.code())
    };
    assert_eq!(run(&["one", "2"]), ("['one', '2']\n".to_owned(), Some(3)));
    assert_eq!(run(&["one"]), ("['one']\non\n".to_owned(), Some(0)));
}

#[test]
fn help_knows_rhai_and_variables() {
    let (own, variable) = on_large_stack(|| {
        let mut session = Session::new(SessionOptions::default());
        session.eval(Language::Rhai, "let x = torch.ones(2, 3); let y = x.t(); let n = 5; let view = torch.ones(1);");
        let help = |name: &str| session.help(name).unwrap_or_default();
        (["parse_float", "timestamp", "blob", "sleep"].map(help), ["x", "n", "view"].map(help))
    });
    assert!(own.iter().all(|text| text.contains("(Rhai)")), "{own:?}");
    let [x, n, view] = variable;
    assert!(x.starts_with("x: float32 tensor of size [2, 3]: 6 elements\n"), "{x}");
    for line in ["stride      [3, 1]: dimension 0 moves by 12 bytes", "variables   x, y on this storage\n", "views ("] {
        assert!(x.contains(line), "{line} in {x}");
    }
    assert!(n.starts_with("n: int 5\ncan do  "), "{n}");
    assert!(view.starts_with("view: float32 tensor") && view.contains("Tensor.view("), "{view}");
}

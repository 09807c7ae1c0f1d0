//! Wrong calls and the answers of PyTorch 2.7.0: the class and the first line of each error, in the tables of
//! tests/refusals. A call starts a line, with its answer indented below. The lines after `>>> ` run before each call.
//! PyTorch printed the answers, so fix differences in src/, not there.

use std::fs;
use std::path::Path;
use std::thread;
use tensorsh::call::signature::{Kind, Param, Signature};
use tensorsh::session::{Language, Session, SessionOptions};
use tensorsh::torch::library::registry;

/// Parsing and evaluation recurse deeply.
const STACK: usize = 1 << 28;

#[test]
fn wrong_calls_are_refused_in_pytorchs_words() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refusals");
    let mut checked = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let table = fs::read_to_string(&path).unwrap();
        let thread = thread::Builder::new().stack_size(STACK).spawn(move || differences(&table)).unwrap();
        let (count, different) = thread.join().unwrap();
        assert!(different.is_empty(), "{}: {} differ\n{}", path.display(), different.len(), different.join("\n"));
        checked += count;
    }
    assert!(checked >= 150, "only {checked} calls");
}

/// Returns the number of calls in a table, and those with a different answer.
fn differences(table: &str) -> (usize, Vec<String>) {
    let mut session = Session::new(SessionOptions::default());
    let (mut count, mut different, mut call) = (0, Vec::new(), "");
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '>'])) {
        let Some(expected) = line.strip_prefix("    ") else {
            call = line;
            continue;
        };
        for setup in table.lines().filter_map(|line| line.strip_prefix(">>> ")) {
            assert_eq!(session.eval(Language::Python, setup).error, None, "{setup}");
        }
        let outcome = session.eval(Language::Python, call);
        let got = match outcome.error {
            Some(error) => format!("{}: {}", error.kind, error.message.lines().next().unwrap_or_default()),
            None => format!("no error but {}", outcome.text),
        };
        count += 1;
        if got.trim_end() != expected {
            different.push(format!("{call}\n    {expected}\n  got {got}"));
        }
    }
    (count, different)
}

/// Sizes whose product overflows, or whose row-major strides do.
const OVERFLOWING: [&str; 5] = ["(2**40, 2**40)", "(2**62, 2)", "(0, 4, 2**61)", "(0, 2**63 - 1, 2)", "(2**63 - 1,)"];

/// Prints the tensors of a result whose sizes or strides cannot be right.
const UNSOUND: &str = "print([(t.shape, t.stride()) for t in (r if isinstance(r, (tuple, list)) else [r]) \
    if isinstance(t, torch.Tensor) and t.layout == torch.strided \
    and (2**63 - 1 in t.stride() and t.shape != t.stride() or t.numel() != math.prod(t.shape))])";

/// Every function that takes sizes refuses those that overflow, or returns a tensor that can exist.
#[test]
fn sizes_that_overflow_are_refused_everywhere() {
    let mut signatures: Vec<&Signature> = registry()
        .families()
        .flat_map(|family| family.members())
        .flat_map(|(_, overloads)| overloads.functions.iter().map(|function| &function.signature))
        .filter(|signature| signature.params.iter().any(takes_sizes))
        .collect();
    signatures.sort_by_key(|signature| signature.key);
    signatures.dedup_by_key(|signature| signature.key);
    let mut session = Session::new(SessionOptions::default());
    assert_eq!(session.eval(Language::Python, "import torch, math").error, None);
    let (mut refused, mut unsound) = (0, Vec::new());
    for signature in &signatures {
        for (varied, _) in signature.params.iter().enumerate().filter(|(_, param)| takes_sizes(param)) {
            for sizes in OVERFLOWING {
                let call = call(signature, varied, sizes);
                let outcome = session.eval(Language::Python, &format!("r = {call}"));
                match outcome.error {
                    Some(failure) if failure.kind == "SyntaxError" => panic!("{call}: {}", failure.message),
                    Some(_) => refused += 1,
                    None => {
                        let said = session.eval(Language::Python, UNSOUND);
                        if said.error.is_some() || said.text != "[]\n" {
                            unsound.push(format!("{call}: {}", said.text));
                        }
                    }
                }
            }
        }
    }
    assert!(unsound.is_empty(), "{}", unsound.join(""));
    assert!(signatures.len() >= 100 && refused >= 500, "{} functions, {refused} refusals", signatures.len());
}

fn takes_sizes(param: &Param) -> bool {
    // Strides may be anything where they do not lead out of the storage.
    matches!(param.kind, Kind::Ints(_) | Kind::Size) && !param.name.starts_with("stride")
}

/// Returns a call with plain arguments, and `sizes` for the parameter at position `varied`.
fn call(signature: &Signature, varied: usize, sizes: &str) -> String {
    let mut arguments = Vec::new();
    for (i, param) in signature.params.iter().enumerate() {
        let plain = match param.kind {
            _ if i == varied => sizes,
            _ if param.default.is_some() => continue,
            Kind::Tensor | Kind::Operand | Kind::Object | Kind::Any => "torch.ones(1)",
            Kind::Tensors | Kind::Sequence => "[torch.ones(1)]",
            Kind::Ints(_) | Kind::Size => "(1,)",
            Kind::Int | Kind::Number | Kind::Float => "1",
            Kind::Bool => "True",
            Kind::DType => "torch.float32",
            Kind::UntypedStorage | Kind::Storage => "torch.ones(1).untyped_storage()",
            _ => "'a'",
        };
        let named = param.keyword_only || param.default.is_some();
        arguments.push(if named { format!("{}={plain}", param.name) } else { plain.to_owned() });
    }
    match signature.receiver() {
        Some(_) if varied != 0 => {
            let receiver = arguments.remove(0);
            format!("{receiver}.{}({})", signature.name, arguments.join(", "))
        }
        _ => format!("torch.{}({})", signature.name, arguments.join(", ")),
    }
}

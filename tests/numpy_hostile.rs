//! Calls every function of `numpy`, every method of arrays and scalars, and operators between them with huge, extreme,
//! empty and wrong arguments. No call may end the process, report an internal error or ignore Ctrl-C.
//!
//! The calls run in separate processes, so that a call that ends its process can be named and the rest continue.
//! `NUMPY_SEED` and `NUMPY_ROUNDS` select calls other than the fixed ones.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};
use tensorsh::torch::library::registry;
use tensorsh::value::LIBRARY;

/// The time before Ctrl-C is pressed, and the time that a call may then take to stop.
const PATIENCE: Duration = Duration::from_secs(2);
const GRACE: Duration = Duration::from_secs(15);

/// The code that prepares a session.
const SETUP: &str = r#"import numpy as np, torch
inf = float("inf"); nan = float("nan")
loop = [1]; loop.append(loop)
loop2 = [[1]]; loop2[0].append(loop2)
tup = ([],); tup[0].append(tup)
a = np.arange(6.).reshape(2, 3); i = np.array([0, 1]); b = np.array([True, False]); e = np.zeros((0, 3))
u8 = np.array([255, 0], dtype=np.uint8); i64 = np.array([2**63 - 1, -2**63]); c = np.array([1 + 2j, complex(nan, inf)])
f16 = np.array([65504., nan], dtype=np.float16); sw = np.array([1, 2, 3], dtype=">i4")
ro = np.arange(4.); ro.setflags(write=False)
many = np.zeros((1,) * 64); wide = np.broadcast_to(np.float32(1), (2**40,)); neg = np.arange(10)[::-2]
huge = np.broadcast_to(np.int8(1), (2**31, 2**31)); zero = np.array(3.); bigz = np.zeros((0, 2**40))
far = np.lib.stride_tricks.as_strided(np.zeros(3), (0, 5), (2**40, 2**40))
odd = np.frombuffer(bytes(range(33)), dtype=np.int32, count=4, offset=1); big = np.arange(100000.) % 1000
deep = []
for _ in range(3000): deep = [deep]
t = torch.ones(3, requires_grad=True); bf = torch.ones(2, dtype=torch.bfloat16); meta = torch.empty(3, device="meta")
tt = torch.arange(3); rng = np.random.default_rng(0)
def bad():
    yield 1
    raise ValueError("bad")
class Length:
    def __len__(self): return 2**62
    def __getitem__(self, i): return 1
class Index:
    def __index__(self): return 2**70
class Equal:
    def __eq__(self, other): raise ValueError("equal")
"#;

const ARRAYS: &[&str] = &[
    "a",
    "i",
    "b",
    "e",
    "u8",
    "i64",
    "c",
    "f16",
    "sw",
    "ro",
    "many",
    "wide",
    "neg",
    "huge",
    "zero",
    "bigz",
    "far",
    "odd",
    "big",
    "a.T",
    "a[:, ::-1]",
    "a.flat",
    "np.float32(3)",
    "np.int64(2**62)",
    "np.bool_(True)",
    "np.uint64(2**64 - 1)",
    "np.float64(nan)",
];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "64",
    "10**9",
    "2**31",
    "2**40",
    "2**62",
    "2**63 - 1",
    "-2**63",
    "2**64",
    "10**30",
    "Index()",
    "0.5",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "5e-324",
    "1j",
    "True",
];
const SHAPES: &[&str] = &[
    "()",
    "(0,)",
    "(2, 3)",
    "(2**62, 2**62)",
    "(2**63 - 1,)",
    "(-2**63, 1)",
    "(1,) * 64",
    "(1,) * 65",
    "(10**6, 10**6)",
    "(2**40, 0)",
    "[2, [3]]",
    "(0, -1)",
    "(0, 1)",
    "(0, 0)",
    "(2**64,)",
];
const OTHERS: &[&str] = &[
    "None",
    "''",
    "'x'",
    "'ij,jk->ik'",
    "loop",
    "loop2",
    "tup",
    "{}",
    "{1: 2}",
    "set([1])",
    "(lambda *k, **w: 1)",
    "sum",
    "bad()",
    "range(10**12)",
    "Length",
    "Length()",
    "Equal()",
    "[Equal()]",
    "t",
    "bf",
    "meta",
    "tt",
    "[[1, 2], [3]]",
    "[]",
    "[[]] * 10**5",
    "deep",
    "b'abc'",
    "bytearray(8)",
    "Ellipsis",
    "slice(None)",
    "slice(-2**63, 2**63 - 1, 2**62)",
    "float",
    "np",
    "np.add",
    "'>i4'",
    "'O'",
    "rng",
    "[a, a]",
    "[nan, 1]",
    "[2**70, 1]",
    "[True, None]",
    "'clip'",
    "np.ndarray",
    "memoryview(b'abcd')",
    "[[0, 2**40]]",
    "[-2**62, 1]",
];
const KEYWORDS: &[&str] = &[
    "axis", "dtype", "out", "where", "keepdims", "initial", "order", "size", "n", "k", "shape", "strides", "mode",
    "bins", "weights", "method", "ddof", "side", "offset", "num", "repeats", "kind",
];
const OPERATORS: &[&str] =
    &["+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>", "<", "==", "!=", "in"];
const BUILTINS: &[&str] = &[
    "int",
    "float",
    "bool",
    "complex",
    "len",
    "hash",
    "iter",
    "list",
    "tuple",
    "sum",
    "max",
    "sorted",
    "any",
    "memoryview",
    "bytes",
    "abs",
    "round",
    "set",
    "repr",
    "str",
];

/// Methods that are not in the table: those of generators and dtypes.
const DRAWS: &[&str] = &[
    "integers",
    "random",
    "choice",
    "permutation",
    "shuffle",
    "permuted",
    "normal",
    "uniform",
    "poisson",
    "binomial",
    "multinomial",
    "dirichlet",
    "gamma",
    "beta",
    "vonmises",
    "zipf",
    "hypergeometric",
    "multivariate_normal",
    "spawn",
    "bytes",
    "multivariate_hypergeometric",
    "geometric",
    "wald",
    "logseries",
    "noncentral_f",
    "triangular",
];

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    fn of<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }

    fn value(&mut self) -> &'static str {
        let pool = [ARRAYS, ARRAYS, NUMBERS, SHAPES, OTHERS, OTHERS][self.below(6)];
        self.of(pool)
    }

    fn arguments(&mut self, least: usize) -> String {
        let count = least + self.below(3);
        let mut all: Vec<String> = (0..count).map(|_| self.value().to_owned()).collect();
        if count > 0 && self.below(3) > 0 {
            all[0] = self.of(ARRAYS).to_owned();
        }
        let mut named = BTreeSet::new();
        for _ in 0..self.below(3) {
            let keyword = self.of(KEYWORDS);
            if named.insert(keyword) {
                let value = self.value();
                all.push(format!("{keyword}={value}"));
            }
        }
        all.join(", ")
    }
}

/// Returns the names of functions, each with its module, and those of the methods of arrays.
fn names() -> (BTreeSet<String>, BTreeSet<&'static str>) {
    let mut functions = BTreeSet::new();
    let mut methods = BTreeSet::new();
    for family in registry().families() {
        for (_, overloads) in family.members() {
            for function in &overloads.functions {
                let name = function.signature.name;
                if name.starts_with("numpy.") && !name.contains("tofile") {
                    functions.insert(name.replacen("numpy", "np", 1));
                } else if function
                    .signature
                    .receiver()
                    .is_some_and(|kind| kind == tensorsh::call::signature::Kind::Array)
                {
                    methods.insert(name.rsplit('.').next().unwrap_or(name));
                }
            }
        }
    }
    for module in LIBRARY.iter().filter(|module| **module == "numpy" || module.starts_with("numpy.")) {
        for name in (registry().outside.names)(module) {
            functions.insert(format!("{}.{name}", module.replacen("numpy", "np", 1)));
        }
    }
    methods.remove("tofile");
    (functions, methods)
}

fn calls(seed: u64, rounds: usize) -> Vec<String> {
    let mut random = Random(seed);
    let mut calls = Vec::new();
    let (functions, methods) = names();
    assert!(functions.len() > 400 && methods.len() > 40, "{} functions, {} methods", functions.len(), methods.len());
    for name in &functions {
        for _ in 0..rounds {
            calls.push(format!("{name}({})", random.arguments(1)));
        }
    }
    for name in methods.into_iter().chain(DRAWS.iter().copied()) {
        for _ in 0..2 * rounds {
            let receiver = if DRAWS.contains(&name) { "rng" } else { random.of(ARRAYS) };
            calls.push(format!("{receiver}.{name}({})", random.arguments(0)));
        }
    }
    for _ in 0..120 * rounds {
        let (x, y, z) = (random.of(ARRAYS), random.value(), random.value());
        let (operator, function) = (random.of(OPERATORS), random.of(BUILTINS));
        let (shape, strides) = (random.of(SHAPES), random.of(SHAPES));
        let number = random.of(NUMBERS);
        calls.push(match random.below(12) {
            0 => format!("{x}[{y}]"),
            1 => format!("{x}[{y}, {z}]"),
            2 => format!("x = {x}; x[{y}] = {z}"),
            3 => format!("{x} {operator} {y}"),
            4 => format!("{y} {operator} {x}"),
            5 => format!("x = {x}; x += {y}"),
            6 => format!("{function}({x})"),
            7 => format!("np.ndarray({shape}, buffer=bytearray(64), offset={number}, strides={strides})[:, 1:]"),
            8 => format!("np.lib.stride_tricks.as_strided({x}, {shape}, {strides})[::{number}]"),
            9 => format!("x = {x}.flat; x[{y}] = {z}"),
            10 => format!("torch.as_tensor({x}) {operator} {y}"),
            _ => format!("x = {x}.view(); x.strides = {strides}; x[::{number}]"),
        });
    }
    calls
}

/// Writes the calls from number `from` on as a script that says which one it is at.
fn write_script(path: &Path, calls: &[String], from: usize) {
    let mut script = SETUP.to_owned();
    for (number, call) in calls.iter().enumerate().skip(from) {
        script.push_str(&format!("print('@{number}')\ntry:\n    {call}\nexcept Exception: pass\n"));
    }
    fs::write(path, script).unwrap();
}

fn interrupt(child: &Child) {
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
}

/// Returns the number of the call that a script is at.
fn current(output: &Path) -> Option<usize> {
    let text = fs::read_to_string(output).unwrap_or_default();
    text.lines().rev().find_map(|line| line.strip_prefix('@')?.parse().ok())
}

/// Runs all calls. Returns what went wrong.
fn run(calls: &[String]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let [script, output, errors] = ["script.py", "output", "errors"].map(|name| folder.path().join(name));
    let mut faults = Vec::new();
    let mut from = 0;
    while from < calls.len() {
        write_script(&script, calls, from);
        // A call that needs more address space than this does so by mistake.
        let mut child = Command::new("sh")
            .args(["-c", "ulimit -v 8000000; exec \"$0\" --quiet script.py", env!("CARGO_BIN_EXE_tensorsh")])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(File::create(&output).unwrap())
            .stderr(File::create(&errors).unwrap())
            .spawn()
            .unwrap();
        let (mut at, mut since, mut pressed) = (None, Instant::now(), None::<Instant>);
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            thread::sleep(Duration::from_millis(50));
            let now = current(&output);
            if now != at {
                (at, since, pressed) = (now, Instant::now(), None);
            }
            match pressed {
                None if at.is_some() && since.elapsed() > PATIENCE => {
                    interrupt(&child);
                    pressed = Some(Instant::now());
                }
                Some(pressed) if pressed.elapsed() > GRACE => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
                _ => {}
            }
        };
        let at = current(&output).unwrap_or_else(|| panic!("{}", fs::read_to_string(&errors).unwrap()));
        let told = fs::read_to_string(&errors).unwrap_or_default();
        match status {
            None => faults.push(format!("{}: deaf to Ctrl-C", calls[at])),
            Some(status) if status.success() => break,
            Some(status)
                if told.contains("internal error") || status.code().is_none_or(|code| code > 100 && code != 130) =>
            {
                faults.push(format!("{}: {status} {}", calls[at], told.lines().last().unwrap_or_default()));
            }
            // Stopped by Ctrl-C.
            Some(_) => {}
        }
        from = at + 1;
    }
    faults
}

#[test]
fn no_call_of_numpy_brings_the_program_down() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let calls = calls(number("NUMPY_SEED").unwrap_or(1), number("NUMPY_ROUNDS").unwrap_or(1) as usize);
    let faults = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for half in calls.chunks(calls.len().div_ceil(2)) {
            let faults = &faults;
            scope.spawn(move || faults.lock().unwrap().extend(run(half)));
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "of {} calls these went wrong:\n{}", calls.len(), faults.join("\n"));
}

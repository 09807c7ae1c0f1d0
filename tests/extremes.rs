//! Calls every function and method of the tables, Python's names and Rhai's own functions with huge, extreme, empty and
//! wrong arguments, and with many elements, which take long. Every call must end without a panic or an abort, within a
//! gigabyte, and soon after Ctrl-C.
//!
//! The calls run in separate processes, so that a call that ends its process can be named and the rest continue.
//! `EXTREMES_SEED` and `EXTREMES_ROUNDS` select calls other than the fixed ones. `EXTREMES_MEMORY` sets another
//! memory limit for all tensors, in megabytes: an emulator's own memory may count as the program's.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio, exit};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tensorsh::call::signature::{Kind, Signature};
use tensorsh::languages::script::own;
use tensorsh::objects::container_methods;
use tensorsh::session::transcript::spawn_with_big_stack;
use tensorsh::session::{Language, Session, SessionOptions};
use tensorsh::tensor::limits;
use tensorsh::torch::library::registry;
use tensorsh::value::LIBRARY;

/// The time before Ctrl-C is pressed, and the time a call may then take to stop: in processor time, because the machine
/// may be busy, and in wall-clock time, because a call may sleep. A call that exceeds them in every attempt is deaf.
const PATIENCE: Duration = Duration::from_millis(40);
/// Measured in work, not in milliseconds, because a busy machine takes several times as long for everything: the number
/// of integers that this thread can format in that time. On an idle machine this is a tenth of a second in a release
/// build; without optimisation everything takes longer.
const GRACE: u64 = if cfg!(debug_assertions) { 4_000_000 } else { 12_000_000 };
const ASLEEP: Duration = Duration::from_secs(20);
const ATTEMPTS: usize = 3;
/// The exit status of a process whose call was deaf.
const DEAF: i32 = 9;

/// The memory limit of all tensors, in megabytes.
const TENSORS: usize = 256;
/// The memory limits of a list or a text, and of the whole process, in bytes.
const OBJECT: usize = 128 << 20;
const PROCESS: u64 = 1 << 30;

/// The code that prepares a session.
const SETUP: &[&str] = &[
    "inf = float('inf'); nan = float('nan')",
    "import array, collections, copy, functools, io, itertools, math, operator, sys, tempfile, time",
    "x = torch.arange(6.).view(2, 3); z = torch.tensor(3.); i = torch.tensor([0, 1]); b = torch.tensor([True, False])",
    "e = torch.zeros(0); long = torch.zeros(10**12, 0); flat = torch.zeros(0, 10**12)",
    "wide = torch.zeros(1).expand(2**40); plane = torch.zeros(1, 1).expand(10**6, 10**6); some = torch.rand(300, 300)",
    "f = torch.tensor([inf, -inf, nan, 0., 3.4e38, 1e-45]); d = torch.tensor([1e308, -5e-324, 0.], dtype=torch.double)",
    "n = torch.tensor([2**63 - 1, -2**63, 0]); byte = torch.tensor([255, 0], dtype=torch.uint8)",
    "c = torch.tensor([1 + 2j, complex(nan, 0), complex(inf, nan)]); h = torch.tensor([65504., 6e-8], dtype=torch.half)",
    "meta = torch.empty(10**12, device='meta'); q = torch.rand(3, 3); cube = torch.rand(2, 3, 3)",
    "sp = torch.eye(3).to_sparse(); g = torch.ones(3, requires_grad=True); neg = torch.ones(3).neg()",
    "st = x.untyped_storage(); ts = x.storage(); buf = bytearray(16); arr = array.array('i', [1, 2, 3])",
    "much = torch.rand(300000); many = torch.arange(300000) % 1000; table = torch.rand(500, 500)",
    "rows = (torch.rand(30000, 3) * 10).long(); mask = much > 0.5; waves = torch.complex(table, table)",
    "words = ['ab'] * 10**5; numbers = list(range(30000)); pairs = list(zip(numbers, numbers)); novel = 'Ab cd\\n' * 300000",
    "keys = dict.fromkeys(numbers); members = set(numbers); raw = bytes(10**6); room = bytearray(raw); deep = [[1]] * 10**5",
    "whole = 1 << 10**6; odd = 3**10**5; digits = 'f' * 10**6",
    "gen = torch.Generator(); lst = [1, 2, 3]; big = list(range(10**5)); text = 'ab' * 50000; it = iter(lst)",
];

const TENSOR: &[&str] = &[
    "x", "z", "i", "b", "e", "long", "flat", "wide", "plane", "some", "f", "d", "n", "byte", "c", "h", "meta", "q",
    "cube", "sp", "g", "neg",
];
const INT: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "17",
    "10**4",
    "10**6",
    "10**9 + 7",
    "2**31",
    "10**12",
    "2**62",
    "2**63 - 1",
    "-2**63",
    "2**64",
    "10**30",
];
const FLOAT: &[&str] = &["0.5", "0.0", "-1.0", "inf", "-inf", "nan", "1e308", "5e-324", "1e18", "2**62"];
const INTS: &[&str] = &[
    "()",
    "0",
    "-1",
    "(0,)",
    "(1, 1)",
    "(2, 3)",
    "(10**12, 0)",
    "(0, 10**12)",
    "(10**6, 10**6)",
    "(2**62, 2**62)",
    "(2**63 - 1,)",
    "(-2**63, 1)",
    "(3,) * 70",
    "(1,) * 1000",
    "big",
    "10**9",
];
const TEXT: &[&str] = &["''", "'sum'", "'mean'", "'floor'", "text", "'ij,jk->ik'", "'\\x00'", "'é'"];
const OBJECT_LIKE: &[&str] = &[
    "None",
    "lst",
    "big",
    "text",
    "range(10**12)",
    "buf",
    "[[]] * 10**5",
    "{}",
    "{1: 2}",
    "set(lst)",
    "(lambda x: x)",
    "sum",
    "it",
    "1j",
    "Ellipsis",
    "slice(None)",
    "slice(-2**63, 2**63 - 1, 2**62)",
    "True",
    "torch.float32",
    "[x, x]",
    "float",
    "[[1, 2], [3]]",
    "arr",
    "b'abc'",
    "gen",
    "st",
];

/// Values with many elements, of every type. Calls with them take long.
const LARGE_TENSOR: &[&str] = &["much", "many", "table", "rows", "mask", "waves", "much.double()", "table.half()"];
const LARGE_INT: &[&str] = &["0", "1", "-1", "2", "3", "100", "1000", "10**5", "10**6"];
const LARGE_INTS: &[&str] = &["0", "1", "-1", "(0, 1)", "(1000, 1000)", "(10**6,)", "(100, 100, 100)", "(1,) * 20"];
const LARGE_OBJECT: &[&str] = &[
    "words",
    "numbers",
    "pairs",
    "novel",
    "keys",
    "members",
    "raw",
    "room",
    "deep",
    "whole",
    "odd",
    "digits",
    "much",
    "range(10**6)",
];

/// Receivers for the methods of Python's own classes.
const HOLDERS: &[(&str, &[&str])] = &[
    ("str", &["novel", "digits", "'é' * 10**6", "text"]),
    ("int", &["whole", "odd", "(2**63)"]),
    ("float", &["(1e308)", "(5e-324)"]),
    ("bytes", &["raw", "b'abc'"]),
    ("bytearray", &["room"]),
    ("array.array", &["array.array('d', range(10**6))"]),
    ("memoryview", &["memoryview(raw)"]),
    ("tuple", &["tuple(pairs)", "tuple(numbers)"]),
    ("range", &["range(10**12)"]),
    ("list", &["words[:]", "numbers[:]", "pairs[:]", "deep[:]"]),
    ("dict", &["dict(keys)"]),
    ("collections.OrderedDict", &["collections.OrderedDict(keys)"]),
    ("set", &["set(members)"]),
    ("frozenset", &["frozenset(members)"]),
];

/// Operators between two large values.
const OPERATORS: &[&str] = &["+", "*", "==", "<", "//", "%", "|", "in", "-", "&", ">>"];

/// Receivers for Rhai's own functions.
const RHAI_VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "4000000000",
    "9223372036854775807",
    "-9223372036854775807",
    "1e308",
    "\"\"",
    "\"abc\"",
    "[]",
    "[1, 2, 3]",
    "#{}",
    "#{a: 1}",
    "0..9223372036854775807",
    "0..=3",
    "'x'",
    "true",
    "()",
    "|x| x",
    "|x, y| x",
    "x",
    "long",
    "wide",
];

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    fn choose(&mut self, items: &[&str]) -> String {
        items[self.below(items.len())].to_owned()
    }
}

/// Returns an argument for a parameter of this kind, sometimes a wrong one.
fn argument(kind: Kind, random: &mut Random) -> String {
    let mut list = |items: &[&str]| format!("[{}, {}]", random.choose(items), random.choose(items));
    let tensors = list(TENSOR);
    match kind {
        _ if random.below(12) == 0 => {
            let pool = [TENSOR, INT, FLOAT, INTS, TEXT, OBJECT_LIKE][random.below(6)];
            random.choose(pool)
        }
        Kind::Tensor => random.choose(TENSOR),
        Kind::Tensors => tensors,
        Kind::Operand => {
            let pool = [TENSOR, TENSOR, INT, FLOAT][random.below(4)];
            random.choose(pool)
        }
        Kind::Number => {
            let pool = [INT, FLOAT][random.below(2)];
            random.choose(pool)
        }
        Kind::Int => random.choose(INT),
        Kind::Float => random.choose(FLOAT),
        Kind::Bool => random.choose(&["True", "False"]),
        Kind::Str => random.choose(TEXT),
        Kind::Ints(_) | Kind::Size => random.choose(INTS),
        Kind::Numbers | Kind::Floats => format!("[{}, {}]", random.choose(INT), random.choose(FLOAT)),
        Kind::DType => {
            random.choose(&["torch.float32", "torch.int8", "torch.complex128", "torch.bool", "torch.float8_e5m2"])
        }
        Kind::Device => random.choose(&["'cpu'", "'meta'", "'cuda'"]),
        Kind::Generator => "gen".to_owned(),
        Kind::UntypedStorage | Kind::Storage => "st".to_owned(),
        Kind::TypedStorage => "ts".to_owned(),
        Kind::Buffer => random.choose(&["buf", "arr", "b'abc'"]),
        Kind::Name | Kind::Names { .. } => random.choose(&["'N'", "None", "('N', 'C')", "()"]),
        Kind::Sequence => random.choose(&["lst", "big", "range(10**12)", "()", "text", "(1, 2)", "[[]] * 10**5"]),
        Kind::Array => random.choose(&[
            "torch.arange(6).numpy()",
            "torch.zeros(2, 3).numpy().T",
            "torch.zeros(3, 0).numpy()",
            "torch.ones(()).numpy()",
            "torch.arange(6).numpy()[::-2]",
        ]),
        Kind::Layout => "torch.strided".to_owned(),
        Kind::MemoryFormat => "torch.contiguous_format".to_owned(),
        Kind::Type | Kind::Object | Kind::Any => {
            let pool = [OBJECT_LIKE, OBJECT_LIKE, TENSOR, INT, INTS][random.below(5)];
            random.choose(pool)
        }
        Kind::Rest => {
            let pool = [OBJECT_LIKE, TENSOR, INT][random.below(3)];
            format!("{}, {}", random.choose(pool), random.choose(pool))
        }
        Kind::Keywords => String::new(),
    }
}

/// Returns an argument that makes a call take long. Some kinds have none.
fn large_argument(kind: Kind, random: &mut Random) -> String {
    let pool = match kind {
        Kind::Tensor => LARGE_TENSOR,
        Kind::Tensors => return format!("[{0}, {0}]", random.choose(LARGE_TENSOR)),
        Kind::Operand => [LARGE_TENSOR, LARGE_INT][random.below(2)],
        Kind::Int | Kind::Number => LARGE_INT,
        Kind::Ints(_) | Kind::Size => LARGE_INTS,
        Kind::Str if random.below(2) == 0 => &["novel", "digits"],
        Kind::Buffer => &["raw", "room"],
        Kind::Array => &["torch.zeros(10**6).numpy()", "torch.zeros(()).expand(10**9).numpy()"],
        Kind::Sequence => &["words", "numbers", "pairs", "deep"],
        Kind::Type | Kind::Object | Kind::Any | Kind::Rest => [LARGE_OBJECT, LARGE_TENSOR, LARGE_INT][random.below(3)],
        kind => return argument(kind, random),
    };
    random.choose(pool)
}

/// Returns the names under which a signature's function can be called: on a module, on an object.
fn callees(signature: &Signature, large: bool, random: &mut Random) -> Vec<(String, bool)> {
    let receiver = |kind: Kind, random: &mut Random| match kind {
        Kind::Tensor if large => random.choose(LARGE_TENSOR),
        Kind::Str if large => "novel".to_owned(),
        Kind::Int if large => "whole".to_owned(),
        Kind::Sequence if large => random.choose(&["words", "pairs"]),
        Kind::Tensor => random.choose(TENSOR),
        Kind::UntypedStorage | Kind::Storage => "st".to_owned(),
        Kind::TypedStorage => "ts".to_owned(),
        Kind::DType => "torch.float32".to_owned(),
        Kind::Device => "torch.device('cpu')".to_owned(),
        Kind::Size => "x.shape".to_owned(),
        Kind::Buffer => random.choose(&["buf", "arr", "b'abc'"]),
        Kind::Generator => "gen".to_owned(),
        Kind::Str => random.choose(TEXT),
        Kind::Int => random.choose(&["(3)", "(2**63 - 1)", "(-2**63)"]),
        Kind::Float => random.choose(&["(0.5)", "nan", "inf", "(1e308)"]),
        Kind::Sequence => random.choose(&["lst", "big", "(1, 2)", "range(10**12)"]),
        _ => random.choose(OBJECT_LIKE),
    };
    let (module, name) =
        signature.name.rsplit_once("::").or_else(|| signature.name.rsplit_once('.')).unwrap_or(("", signature.name));
    let mut callees = Vec::new();
    if let Some(kind) = signature.receiver() {
        callees.push((format!("{}.{name}", receiver(kind, random)), true));
    }
    match module {
        "" => callees.push((format!("torch.{name}"), false)),
        "py" => callees.push((name.to_owned(), false)),
        "_VF" => {}
        module if LIBRARY.contains(&module) => callees.push((format!("{module}.{name}"), false)),
        module => callees.push((format!("torch.{module}.{name}"), false)),
    }
    callees
}

/// Returns all calls, in a reproducible order.
fn calls(seed: u64, rounds: usize) -> Vec<(Language, String)> {
    let mut signatures: Vec<&Signature> = registry()
        .families()
        .flat_map(|family| family.members())
        .flat_map(|(_, overloads)| overloads.functions.iter().map(|function| &function.signature))
        .collect();
    signatures.sort_by_key(|signature| (signature.key, signature.params.len(), signature.positional));
    signatures.dedup_by_key(|signature| (signature.key, signature.params.len()));
    let mut calls = Vec::new();
    for (k, signature) in signatures.into_iter().enumerate() {
        // Leave out functions that end the session or wait for input.
        if signature.name.contains("exit") || signature.name.contains("input") || signature.name.contains("quit") {
            continue;
        }
        let mut random = Random(seed.wrapping_mul(7919).wrapping_add(k as u64));
        // There are fewer kinds of large arguments, and each call takes longer.
        for large in (0..rounds).map(|_| false).chain((0..rounds.div_ceil(3)).map(|_| true)) {
            for (callee, method) in callees(signature, large, &mut random) {
                let mut arguments = Vec::new();
                for param in signature.params.iter().skip(usize::from(method)) {
                    let left_out = param.default.is_some() && random.below(2) == 0 || random.below(40) == 0;
                    let named = param.keyword_only || param.default.is_some();
                    let make = if large { large_argument } else { argument };
                    let text = make(param.kind, &mut random);
                    match (left_out || text.is_empty(), named) {
                        (true, _) => {}
                        (false, true) => arguments.push(format!("{}={text}", param.name)),
                        (false, false) => arguments.push(text),
                    }
                }
                // Positional arguments come first.
                arguments.sort_by_key(|argument| argument.contains('=') && !argument.contains('\''));
                calls.push((Language::Python, format!("{callee}({})", arguments.join(", "))));
            }
        }
    }
    let mut random = Random(seed.wrapping_mul(31));
    for (class, holders) in HOLDERS {
        for method in container_methods::methods(class) {
            for _ in 0..rounds {
                let (least, most) = (method.takes.0, method.takes.1.min(3));
                let count = least + random.below(most.saturating_sub(least) + 1);
                let pools = [LARGE_OBJECT, LARGE_INT, &["'a'", "' '", "'cd'", "b'a'", "None", "1", "(1, 1)"]];
                let value = |_| {
                    let pool = pools[random.below(3)];
                    random.choose(pool)
                };
                let arguments: Vec<String> = (0..count).map(value).collect();
                let holder = random.choose(holders);
                calls.push((Language::Python, format!("{holder}.{}({})", method.name, arguments.join(", "))));
            }
        }
        for _ in 0..4 * rounds {
            let (a, b) = (random.choose(holders), random.choose(LARGE_OBJECT));
            let operator = random.choose(OPERATORS);
            calls.push((Language::Python, format!("_ = {a} {operator} {b}")));
            let function =
                random.choose(&["str", "repr", "list", "hash", "sorted", "set", "bin", "int", "tuple", "len"]);
            calls.push((Language::Python, format!("_ = {function}({a})")));
        }
    }
    let mut random = Random(seed);
    // Leave out functions that end the session here as well.
    for name in own::functions().filter(|name| *name != "exit") {
        for _ in 0..4 * rounds {
            let count = 1 + random.below(4);
            let values: Vec<String> = (0..count).map(|_| random.choose(RHAI_VALUES)).collect();
            calls.push((Language::Rhai, format!("let v = {}; v.{name}({})", values[0], values[1..].join(", "))));
        }
    }
    calls
}

/// Returns the processor time of the process in milliseconds.
fn spent() -> u64 {
    processor_time("/proc/self/stat")
}

/// Measures the grace period in milliseconds on the machine as it is now.
fn grace() -> u64 {
    let before = processor_time("/proc/thread-self/stat");
    for number in 0..GRACE {
        std::hint::black_box(std::hint::black_box(number).to_string());
    }
    processor_time("/proc/thread-self/stat") - before
}

fn processor_time(file: &str) -> u64 {
    let times = fs::read_to_string(file).unwrap_or_default();
    let ticks = |n: usize| times.split_whitespace().nth(n).and_then(|ticks| ticks.parse::<u64>().ok()).unwrap_or(0);
    // A tick is a hundredth of a second on every Linux.
    10 * (ticks(13) + ticks(14))
}

/// Returns the peak memory of the process in bytes since the last call.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: u64 = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0);
    let _ = fs::write("/proc/self/clear_refs", "5");
    kilobytes * 1024
}

fn session() -> Session {
    let mut session = Session::new(SessionOptions::default());
    for line in SETUP {
        let outcome = session.eval(Language::Python, line);
        let error = outcome.error.map(|failure| format!("{}: {}", failure.kind, failure.message));
        assert_eq!(error, None, "{line}");
    }
    session
}

/// Runs in a separate process: makes the calls from number `from` on, every `step`-th. The number of the current call
/// is in the file `at`; faults are written to the file `faults`.
fn child(seed: u64, rounds: usize, from: usize, step: usize) {
    limits::set_total(number("EXTREMES_MEMORY").unwrap_or(TENSORS) << 20);
    limits::set_budget(OBJECT);
    let calls = calls(seed, rounds);
    let fault = |number: usize, what: &str| {
        let (_, call) = &calls[number];
        let told = fs::read_to_string("faults").unwrap_or_default();
        fs::write("faults", format!("{told}{call}: {what}\n")).unwrap();
    };
    let mut current = session();
    let (at, since) = (Arc::new(AtomicUsize::new(usize::MAX)), Arc::new(AtomicU64::new(0)));
    let flag = Arc::new(Mutex::new(current.interrupt_flag()));
    let began = Instant::now();
    // Presses Ctrl-C, and ends the process if the call ignores it.
    let (watched, start, pressed) = (at.clone(), since.clone(), flag.clone());
    thread::spawn(move || {
        let mut allowed = grace();
        // Under the lock no other call starts, which the verdict would be given to instead.
        let end_if_still_at = |number: usize| {
            let _pressed = pressed.lock().unwrap();
            if watched.load(Ordering::SeqCst) == number {
                exit(DEAF);
            }
        };
        // The call for which Ctrl-C was pressed, and the processor time spent until then.
        let mut stopping = (usize::MAX, 0);
        loop {
            thread::sleep(Duration::from_millis(10));
            let number = watched.load(Ordering::SeqCst);
            let ran = began.elapsed().saturating_sub(Duration::from_millis(start.load(Ordering::SeqCst)));
            if number == usize::MAX || ran < PATIENCE {
                continue;
            }
            {
                // Under the lock no other call starts, which the key would stop instead.
                let pressed = pressed.lock().unwrap();
                if watched.load(Ordering::SeqCst) != number {
                    continue;
                }
                pressed.store(true, Ordering::SeqCst);
            }
            if stopping.0 != number {
                stopping = (number, spent());
            }
            if ran > ASLEEP {
                end_if_still_at(number);
            }
            if spent() > stopping.1 + allowed {
                // The machine may have become slower since the grace was measured. That is not the call's fault.
                let now = grace();
                if now <= allowed {
                    end_if_still_at(number);
                }
                allowed = now;
                stopping.1 += now;
            }
        }
    });
    peak();
    // Each number overwrites the last one. Emptying the file first would leave none if the process died in between.
    let current_call = fs::OpenOptions::new().create(true).truncate(false).write(true).open("at").unwrap();
    for (number, (language, call)) in calls.iter().enumerate().skip(from).step_by(step) {
        current_call.write_all_at(format!("{number:8}").as_bytes(), 0).unwrap();
        since.store(began.elapsed().as_millis() as u64, Ordering::SeqCst);
        at.store(number, Ordering::SeqCst);
        let outcome = current.eval(*language, call);
        {
            let pressed = flag.lock().unwrap();
            at.store(usize::MAX, Ordering::SeqCst);
            pressed.store(false, Ordering::SeqCst);
        }
        if let Some(failure) = outcome.error
            && failure.message.contains("internal error")
        {
            fault(number, &failure.message);
        }
        if outcome.text.len() > OBJECT {
            fault(number, "prints more than an object may have");
        }
        let most = peak();
        if most > PROCESS {
            fault(number, &format!("{} MB", most >> 20));
        }
        if number % 64 < step {
            // Drop the remains of earlier calls.
            drop(std::mem::replace(&mut current, Session::new(SessionOptions::default())));
            current = session();
            *flag.lock().unwrap() = current.interrupt_flag();
        }
    }
    exit(0);
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().map(|text| text.parse().expect(variable))
}

#[test]
fn nothing_brings_the_program_down() {
    let seed = number("EXTREMES_SEED").unwrap_or(1) as u64;
    let rounds = number("EXTREMES_ROUNDS").unwrap_or(3);
    if let Some(from) = number("EXTREMES_FROM") {
        let done = spawn_with_big_stack("extremes", move || child(seed, rounds, from, 2));
        done.unwrap().join().unwrap();
        return;
    }
    let count = calls(seed, rounds).len();
    let half = |first: usize| {
        let folder = tempfile::tempdir().unwrap();
        let (mut from, mut deaf) = (first, 0);
        while from < count {
            let ended = start(folder.path(), from);
            let at: usize = fs::read_to_string(folder.path().join("at")).unwrap().trim().parse().unwrap();
            if ended.success() {
                break;
            }
            let heard = ended.code() != Some(DEAF);
            deaf = if heard || at != from { 1 } else { deaf + 1 };
            if !heard && deaf < ATTEMPTS {
                from = at;
                continue;
            }
            let what = match heard {
                true => format!("ended the process: {ended}\n{}", last_words(folder.path())),
                false => "deaf to Ctrl-C".to_owned(),
            };
            let (_, call) = &calls(seed, rounds)[at];
            let told = fs::read_to_string(folder.path().join("faults")).unwrap_or_default();
            fs::write(folder.path().join("faults"), format!("{told}{call}: {what}\n")).unwrap();
            (from, deaf) = (at + 2, 0);
        }
        fs::read_to_string(folder.path().join("faults")).unwrap_or_default()
    };
    let faults: Vec<String> = thread::scope(|scope| {
        let halves = [0, 1].map(|first| scope.spawn(move || half(first)));
        halves.into_iter().map(|half| half.join().unwrap()).collect()
    });
    println!("{count} calls");
    assert!(faults.concat().is_empty(), "of {count} calls these went wrong:\n{}", faults.concat());
}

/// Returns the last lines that a process wrote before it ended.
fn last_words(folder: &Path) -> String {
    let errors = fs::read(folder.join("errors")).unwrap();
    let errors = String::from_utf8_lossy(&errors);
    let lines: Vec<&str> = errors.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// Starts a process that makes the calls from a number on, and returns how it ended. The file `errors` has what it said.
fn start(folder: &Path, from: usize) -> ExitStatus {
    // A call that needs more address space than this does so by mistake.
    let script = "ulimit -v 6000000; exec \"$0\" extremes::nothing_brings_the_program_down --exact --nocapture";
    Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env("EXTREMES_FROM", from.to_string())
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(folder.join("errors")).unwrap())
        .status()
        .unwrap()
}

//! The written text, run: that Rhai does with it what Python does with the source. The engine here has just enough of
//! the functions the text calls.

use std::cell::RefCell;
use std::rc::Rc;

use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, INT, Map, NativeCallContext, Position, Scope};

use super::engine;
use crate::call::State;
use crate::functions::registry;
use crate::python::{Statement, translate};
use crate::script::callable::function;
use crate::script::parameters::Parameters;
use crate::script::runtime::Runtime;

type Fallible = Result<Dynamic, Box<EvalAltResult>>;
type Log = Rc<RefCell<Vec<String>>>;

#[derive(Clone)]
struct Context(String, Log);

fn throw(exception: &str) -> Fallible {
    Err(EvalAltResult::ErrorRuntime(exception.to_owned().into(), Position::NONE).into())
}

fn text(value: &Dynamic) -> String {
    match value.read_lock::<Array>() {
        Some(array) => {
            let items: Vec<String> = array.iter().map(text).collect();
            format!("[{}]", items.join(" "))
        }
        None => value.to_string(),
    }
}

fn truth(value: Dynamic) -> bool {
    match value.as_bool() {
        Ok(value) => value,
        Err(_) => value.as_int() != Ok(0) && !value.is_unit(),
    }
}

fn unpack(value: Array, count: INT) -> Fallible {
    if value.len() as INT == count { Ok(value.into()) } else { throw("ValueError: wrong number of values") }
}

fn register(engine: &mut Engine, log: &Log) {
    engine.register_fn("iter", |value: Array| value);
    engine.register_fn("tuple", |value: Array| value);
    engine.register_fn("print", |value: Dynamic| text(&value));
    let shown = log.clone();
    engine.on_print(move |text| shown.borrow_mut().push(text.into()));
    let shown = log.clone();
    engine.register_fn("echo_", move |value: Dynamic| {
        shown.borrow_mut().push(text(&value));
    });
    engine.register_fn("truth", truth);
    engine.register_fn("unpack", unpack);
    engine.register_fn("unpack_star", |value: Array, before: INT, after: INT| {
        let (before, end) = (before as usize, value.len() - after as usize);
        let mut parts: Array = value[..before].to_vec();
        parts.push(value[before..end].to_vec().into());
        parts.extend_from_slice(&value[end..]);
        parts
    });
    for (name, sign) in [("__iadd__", 1), ("__isub__", -1)] {
        engine.register_fn(name, move |a: INT, b: INT| a + sign * b);
    }
    engine.register_fn("__mod__", INT::rem_euclid);
    engine
        .register_fn("__contains__", |list: &mut Array, item: INT| list.iter().any(|other| other.as_int() == Ok(item)));
    engine.register_fn("call_", |context: NativeCallContext, f: FnPtr, args: Array| f.call_raw(&context, None, args));
    engine.register_fn("call_", |context: NativeCallContext, f: FnPtr, mut args: Array, keywords: Map| {
        args.push(keywords.into());
        f.call_raw(&context, None, args)
    });
    let state = Rc::new(Runtime::new(State::new(registry(), None)));
    engine.register_fn("function_", move |name: &str, body: FnPtr, names: Array, defaults: Map| {
        function(&state, Parameters::new(name, &names, defaults), body)
    });
    engine.register_fn("key_", |key: Dynamic| key);
    engine.register_fn("list", |items: Array| items);
    for kind in ["KeyError", "ValueError"] {
        engine.register_fn(kind, move |message: &str| format!("{kind}: {message}"));
    }
    engine.register_fn("raise_", |exception: &str| throw(exception));
    engine.register_fn("caught_", |error: Dynamic| error);
    engine.register_fn("__matches__", |error: Dynamic, kind: &str| error.to_string().starts_with(kind));
    let with = log.clone();
    engine.register_fn("open", move |name: &str| Context(name.into(), with.clone()));
    engine.register_fn("__enter__", |context: &mut Context| {
        context.1.borrow_mut().push(format!("enter {}", context.0));
        context.0.clone()
    });
    let leave = |context: Dynamic| {
        if let Some(context) = context.read_lock::<Context>() {
            context.1.borrow_mut().push(format!("exit {}", context.0));
        }
        false
    };
    engine.register_fn("leave_", leave);
    engine.register_fn("leave_", move |context: Dynamic, _: Dynamic| leave(context));
    engine.register_fn("dict", |pairs: Array| {
        let pair = |pair: Dynamic| pair.into_array().map(|p| (text(&p[0]).into(), p[1].clone()));
        pairs.into_iter().filter_map(|p| pair(p).ok()).collect::<Map>()
    });
}

/// Returns what a prompt would show after these inputs, each one or more statements; an error ends it.
fn run(inputs: &str) -> String {
    let log = Log::default();
    let mut engine = engine();
    engine.set_max_call_levels(50);
    register(&mut engine, &log);
    let globals = Rc::new(RefCell::new(Scope::new()));
    let seen = globals.clone();
    #[expect(deprecated, reason = "Rhai marks this method as unstable that way")]
    engine.on_var(move |name, _, context| {
        if context.scope().contains(name) {
            return Ok(None);
        }
        Ok(seen.borrow().get_value::<Dynamic>(name))
    });
    let mut scope = Scope::new();
    for input in inputs.split("\n\n") {
        let statements =
            translate(input, &|name| scope.contains(name)).unwrap_or_else(|fault| panic!("{input:?}: {fault:?}"));
        for statement in statements {
            let (rhai, echo) = match statement {
                Statement::Run { rhai, echo, .. } => (rhai, echo),
                Statement::Delete { names, .. } => {
                    for name in names {
                        assert!(scope.remove::<Dynamic>(&name).is_some(), "{name} exists");
                    }
                    continue;
                }
            };
            let ast = engine.compile_with_scope(&scope, &rhai).unwrap_or_else(|error| panic!("{rhai}: {error}"));
            engine.register_global_module(ast.clone_functions_only().shared_lib().clone());
            *globals.borrow_mut() = scope.clone();
            match engine.eval_ast_with_scope::<Dynamic>(&mut scope, &ast) {
                Ok(value) if echo && !value.is_unit() => log.borrow_mut().push(text(&value)),
                Ok(_) => {}
                Err(error) => {
                    let error = match error.unwrap_inner() {
                        EvalAltResult::ErrorRuntime(value, _) => value.to_string(),
                        EvalAltResult::ErrorVariableNotFound(name, _) => format!("no {name}"),
                        other => other.to_string(),
                    };
                    log.borrow_mut().push(format!("! {error}"));
                    break;
                }
            }
        }
    }
    log.borrow().join(", ")
}

#[test]
fn control_flow_and_scopes() {
    let rows = [
        ("for i in [1, 2, 3]:\n  if i == 2: continue\n  last = i\n\ni, last", "[3 3]"),
        ("n = 0\nwhile True:\n  n += 1\n  if n > 4: break\n\nn", "5"),
        ("if 0: a = 1\nelif 1: a = 2\nelse: a = 3\n\na", "2"),
        ("for a, (b, *c) in [[1, [2, 3, 4]]]: a, b, c", "[1 2 [3 4]]"),
        ("a, b = 1, 2\na, b = b, a\na, b", "[2 1]"),
        ("a, b = [1]", "! ValueError: wrong number of values"),
        ("x = [1, 2]\nx[0] = x[1]\nx[1] += 5\nx", "[2 7]"),
        ("x = 5; del x\n\nx", "! no x"),
        ("x = y = [1]\nx[0] = 2\nx", "[2]"),
    ];
    for (python, shown) in rows {
        assert_eq!(run(python), shown, "for {python:?}");
    }
}

#[test]
fn values_of_and_or_and_chains() {
    let rows = [
        ("0 or 5", "5"),
        ("3 and 4", "4"),
        ("0 and 4", "0"),
        ("0 or None or 7", "7"),
        ("(1 and 0) or (2 and 3)", "3"),
        ("1 < 2 < 3", "true"),
        ("1 < 3 < 2", "false"),
        ("not 0, 2 if 0 else 3", "[true 3]"),
        ("3 in [1, 3], 3 not in [1, 3]", "[true false]"),
        ("def f(a):\n  print(a)\n  return a\n\n0 < f(2) < f(1) < f(3)", "2, 1, false"),
        ("def f(a):\n  print(a)\n  return a\n\nf(0) or f(4) or f(5)", "0, 4, 4"),
        ("[a * b for a in [1, 2] for b in [3, 4] if a + b > 4]", "[4 6 8]"),
        ("[[b for b in a] for a in [[1, 2], [3]]]", "[[1 2] [3]]"),
        ("{a: a + 1 for a in [1]}['1']", "2"),
    ];
    for (python, shown) in rows {
        assert_eq!(run(python), shown, "for {python:?}");
    }
}

#[test]
fn functions_and_closures() {
    let rows = [
        ("def f(n): return 1 if n < 2 else n * f(n - 1)\n\nf(5)", "120"),
        (
            "def f(a, b=2, c=3): return [a, b, c]\nf(1), f(1, c=5), f(c=7, a=6)\n\nf(4)",
            "[[1 2 3] [1 2 5] [6 2 7]], [4 2 3]",
        ),
        ("def f(): print(1)\n\nf()", "1"),
        ("k = 10\n\ndef f(a): return a + k\n\nk = 20\n\nf(1)", "21"),
        ("g = lambda a, b: a - b\ng(5, 3)\n\ng(1, 1)", "2, 0"),
        ("fact = lambda n: 1 if n < 2 else n * fact(n - 1)\n\nfact(4)", "24"),
        ("def outer(n):\n  def inner(k): return k + n\n  n = n * 2\n  return inner(1)\n\nouter(3)", "7"),
        (
            "def outer(n):\n  def rec(k):\n    if k == 0: return 0\n    return n + rec(k - 1)\n  return rec(3)\n\nouter(3)",
            "9",
        ),
        ("def apply(f, a): return f(a)\n\napply(lambda v: v * 2, 4)", "8"),
        ("def twice(f): return lambda v: f(f(v))\n\n@twice\ndef add(v): return v + 3\n\nadd(1)", "7"),
        ("if 1:\n  def f(a): return a\n\nf(3)", "3"),
        ("g = lambda a, k=2: a * k\ng(3), g(3, k=5)", "[6 15]"),
        (
            "def outer():\n  n = 0\n  def count(by=1):\n    nonlocal n\n    n += by\n  count(); count(by=4)\n  return n\n\nouter()",
            "5",
        ),
        ("if (n := 3) > 2: n\n\nn", "3, 3"),
        ("def f(a):\n  for i in [1, 2]:\n    if i == a: return i\n  print(0)\n\nf(2), f(1)\n\nf(9)", "[2 1], 0"),
    ];
    for (python, shown) in rows {
        assert_eq!(run(python), shown, "for {python:?}");
    }
}

#[test]
fn with_and_try_leave_what_they_entered() {
    let rows = [
        ("with open('a') as n, open('b'): n\n\nn", "enter a, enter b, a, exit b, exit a, a"),
        ("with open('a'): raise ValueError('bad')", "enter a, exit a, ! ValueError: bad"),
        (
            "for i in [1, 2, 3]:\n  with open('a'):\n    if i == 1: continue\n    break\n\ni",
            "enter a, exit a, enter a, exit a, 2",
        ),
        ("def f():\n  with open('a'):\n    with open('b'): return 5\n\nf()", "enter a, enter b, exit b, exit a, 5"),
        ("try: raise ValueError('bad')\nexcept (KeyError, ValueError) as e: print(e)", "ValueError: bad"),
        ("try: raise KeyError('k')\nexcept ValueError: print(1)", "! KeyError: k"),
        ("try: raise KeyError('k')\nexcept ValueError: print(1)\nexcept: print(2)", "2"),
        ("try:\n  try: raise KeyError('k')\n  except KeyError: raise\nexcept KeyError as e: e", "KeyError: k"),
        ("def f():\n  try: return 1\n  finally: print(2)\n\nf()", "2, 1"),
        ("try: raise KeyError('k')\nexcept KeyError: print(1)\nfinally: print(2)", "1, 2"),
        ("while True:\n  try: break\n  finally: print(1)", "1"),
        ("for i in [1, 2]:\n  if i == 5: break\nelse: print(9)", "9"),
        ("for i in [1, 2]:\n  for j in [3]:\n    if i == 2: break\n  else: print(i)\nelse: print(8)", "1, 8"),
        ("while True:\n  break\nelse: print(9)\n\n5", "5"),
        ("try: 1\nexcept ValueError: print(2)\nelse: print(3)\nfinally: print(4)", "1, 3, 4"),
        ("try: raise ValueError('a')\nexcept ValueError: print(2)\nelse: print(3)", "2"),
    ];
    for (python, shown) in rows {
        assert_eq!(run(python), shown, "for {python:?}");
    }
}

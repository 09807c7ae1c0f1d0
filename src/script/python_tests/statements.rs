//! Statements: Python on the left, Rhai on the right.

use super::{check, is_defined};
use crate::python::{Statement, translate};

#[test]
fn assignments() {
    check(&[
        ("a = 1; a = 2", &["let a = 1;", "a = 2;"]),
        ("x = 1", &["x = 1;"]),
        ("a = b = c = f()", &["let a = f();\nlet b = a;\nlet c = a;"]),
        ("x.a = b = f()", &["let value_ = f();\nx.a = value_;\nlet b = value_;", "delete: value_"]),
        (
            "a, b = f()",
            &["let unpacked_ = unpack(f(), 2);\nlet a = unpacked_[0];\nlet b = unpacked_[1];", "delete: unpacked_"],
        ),
        ("a, b = 1, 2", &["let a = 1;\nlet b = 2;"]),
        ("x, y = y, x", &["let unpacked_ = [y, x];\nx = unpacked_[0];\ny = unpacked_[1];", "delete: unpacked_"]),
        (
            "a, *b = x",
            &[
                "let unpacked_ = unpack_star(x, 1, 0);\nlet a = unpacked_[0];\nlet b = unpacked_[1];",
                "delete: unpacked_",
            ],
        ),
        (
            "(a, (b, x[0])), = y",
            &[
                "let unpacked_ = unpack(y, 1);\nlet unpacked2_ = unpack(unpacked_[0], 2);\nlet a = unpacked2_[0];\nlet unpacked3_ = unpack(unpacked2_[1], 2);\nlet b = unpacked3_[0];\nx[0] = unpacked3_[1];",
                "delete: unpacked_, unpacked2_, unpacked3_",
            ],
        ),
        ("a: int = 1", &["let a = 1;"]),
        ("x += 1", &["x = __iadd__(x, 1);"]),
        ("x[0] *= 2", &["x[0] = __imul__(x[0], 2);"]),
        ("x.a[y] @= 2", &["x.a[key_(y)] = __imatmul__(x.a[y], 2);"]),
        ("x.a //= 2", &["x.a = __ifloordiv__(x.a, 2);"]),
        (
            "x[0, 1] -= 2",
            &[
                "{ let base_ = x; let index_ = at(0, 1); base_.__setitem__(index_, __isub__(base_.__getitem__(index_), 2)); }",
            ],
        ),
        ("f().a **= 2", &["{ let base_ = f(); base_.a = __ipow__(base_.a, 2); }"]),
        ("del x, y; x = 1", &["delete: x", "delete: y", "let x = 1;"]),
        (
            "import torch, numpy as np, os.path",
            &["import_(\"torch\");\nlet np = import_(\"numpy\");\nimport_(\"os.path\");\nlet os = import_(\"os\");"],
        ),
        ("import torch.nn.functional as F", &["let F = import_(\"torch.nn.functional\");"]),
        ("y = [1, [2]]; f([3])", &["y = list([1, [2]]);", "echo: f([3])"]),
        ("(a := x)", &["echo: let a = ();\n({ a = x; a })"]),
        ("import torch.nn", &["import_(\"torch.nn\");"]),
        (
            "from torch import nn, zeros as z",
            &["let nn = import_from(\"torch\", \"nn\");\nlet z = import_from(\"torch\", \"zeros\");"],
        ),
        ("from __future__ import annotations", &[]),
        ("assert x, 'm'", &["assert_(x, \"m\");"]),
        ("assert x", &["assert_(x);"]),
        ("raise ValueError('a')", &["raise_(ValueError(\"a\"));"]),
        ("raise torch.OutOfMemoryError", &["raise_(torch.OutOfMemoryError);"]),
        ("raise x", &["raise_(x);"]),
    ]);
}

#[test]
fn blocks() {
    check(&[
        (
            "if x:\n  y = 1\nelif y and t:\n  a = 2\nelse:\n  pass",
            &["let a = ();\nif truth(x) {\n    y = 1;\n} else if truth(y) && truth(t) {\n    a = 2;\n} else {\n}"],
        ),
        ("for i in range(3): i", &["let i = ();\nfor item_ in iter(range(3)) {\n    i = item_;\n    echo_(i);\n}"]),
        (
            "for a, b in x: print(a)",
            &[
                "let a = ();\nlet b = ();\nfor item_ in iter(x) {\n    let unpacked_ = unpack(item_, 2);\n    a = unpacked_[0];\n    b = unpacked_[1];\n    print(a);\n}",
            ],
        ),
        ("while x > 0:\n  x -= 1\n  continue", &["while truth(x > 0) {\n    x = __isub__(x, 1);\n    continue;\n}"]),
        (
            "with f() as a: x",
            &[
                "let a = ();\n{\n    let context_ = f();\n    a = context_.__enter__();\n    try {\n        echo_(x);\n    } catch (error_) {\n        if !leave_(context_, error_) { throw; }\n        context_ = ();\n    }\n    leave_(context_);\n}",
            ],
        ),
        (
            "for i in x:\n  with t: break",
            &[
                "let i = ();\nfor item_ in iter(x) {\n    i = item_;\n    {\n        let context_ = t;\n        context_.__enter__();\n        try {\n            leave_(context_);\n            break;\n        } catch (error_) {\n            if !leave_(context_, error_) { throw; }\n            context_ = ();\n        }\n        leave_(context_);\n    }\n}",
            ],
        ),
        (
            "try: f()\nexcept (A, t.B) as e: print(e)\nexcept: raise",
            &[
                "let e = ();\ntry {\n    echo_(f());\n} catch (error_) {\n    if __matches__(error_, A) || __matches__(error_, t.B) {\n        e = caught_(error_);\n        print(e);\n    } else {\n        throw;\n    }\n}",
            ],
        ),
        ("try: x = 1\nfinally: y = 2", &["try {\n    x = 1;\n} catch {\n    y = 2;\n    throw;\n}\ny = 2;"]),
    ]);
}

#[test]
fn functions() {
    check(&[
        (
            "def f(a): return a\nf(1), map(f, x)",
            &[
                "fn f(a) {\n    return a;\n}\nlet f = function_(\"f\", Fn(\"f\"), [\"a\"], #{});",
                "echo: tuple([f(1), map(f, x)])",
            ],
        ),
        (
            "def f(a, b=1, *, c=x):\n  'doc'\n  print(a)\nf(1, c=5)",
            &[
                "fn f(a, b, c) {\n    print(a);\n    return;\n}\nlet f = function_(\"f\", Fn(\"f\"), [\"a\", \"b\", \"*\", \"c\"], #{b: 1, c: x});\nsetattr(f, \"__doc__\", \"doc\");",
                "echo: f(1, 1, 5)",
            ],
        ),
        (
            "def f(a): pass\nf(b=1)",
            &[
                "fn f(a) {\n    return;\n}\nlet f = function_(\"f\", Fn(\"f\"), [\"a\"], #{});",
                "echo: call_(f, [], #{b: 1})",
            ],
        ),
        (
            "def new(self): x.y = self",
            &[
                "fn new_(self) {\n    setattr(x, \"y\", self);\n    return;\n}\nnew_ = function_(\"new\", Fn(\"new_\"), [\"self\"], #{});",
            ],
        ),
        (
            "@x\n@y.z(1)\ndef f(): f()",
            &[
                "fn f_undecorated() {\n    call_(f, []);\n    return;\n}\nlet f = call_(y.z(1), [function_(\"f\", Fn(\"f_undecorated\"), [], #{})]);\nf = call_(x, [f]);",
            ],
        ),
        (
            "def f(n):\n  a = n\n  if a: b = a\n  return b",
            &[
                "fn f(n) {\n    let a = n;\n    let b = ();\n    if truth(a) {\n        b = a;\n    }\n    return b;\n}\nlet f = function_(\"f\", Fn(\"f\"), [\"n\"], #{});",
            ],
        ),
        (
            "def f(n):\n  def g(k): return k + n\n  return g(1)",
            &[
                "fn f(n) {\n    let g = ();\n    g = function_(\"f.<locals>.g\", |k| {\n        return k + n;\n    }, [\"k\"], #{});\n    return call_(g, [1]);\n}\nlet f = function_(\"f\", Fn(\"f\"), [\"n\"], #{});",
            ],
        ),
        (
            "def f():\n  with t: return x",
            &[
                "fn f() {\n    {\n        let context_ = t;\n        context_.__enter__();\n        try {\n            let returned_ = x;\n            leave_(context_);\n            return returned_;\n        } catch (error_) {\n            if !leave_(context_, error_) { throw; }\n            context_ = ();\n        }\n        leave_(context_);\n    }\n    return;\n}\nlet f = function_(\"f\", Fn(\"f\"), [], #{});",
            ],
        ),
        ("g = lambda a, new: a + new\ng(1, 2)", &["let g = |a, new_| a + new_;", "echo: call_(g, [1, 2])"]),
        ("g = lambda n: g(n - 1)", &["let g = ();\ng = |n| call_(g, [n - 1]);"]),
        ("y = lambda a, *b, k=2: a", &["y = function_(\"<lambda>\", |a, k, b| a, [\"a\", \"*b\", \"k\"], #{k: 2});"]),
        (
            "def f(**k): pass\nf(a=1)",
            &[
                "fn f(k) {\n    return;\n}\nlet f = function_(\"f\", Fn(\"f\"), [\"**k\"], #{});",
                "echo: call_(f, [], #{a: 1})",
            ],
        ),
        ("lambda: None", &["echo: (|| ())"]),
        (
            "[a + b for a, b in x if a]",
            &[
                "echo: ({ let list_ = []; for item_ in iter(x) { let unpacked_ = unpack(item_, 2); let a = unpacked_[0]; let b = unpacked_[1]; if truth(a) { list_.push(a + b); } } list_ })",
            ],
        ),
        ("y = {a for a in x}", &["y = set({ let list_ = []; for a in iter(x) { list_.push(a); } list_ });"]),
        (
            "y = {a: [b for b in a] for a in x}",
            &[
                "y = dict({ let list_ = []; for a in iter(x) { list_.push([a, { let list_ = []; for b in iter(a) { list_.push(b); } list_ }]); } list_ });",
            ],
        ),
        (
            "y = [len for len in x]; len",
            &["y = list({ let list_ = []; for len in iter(x) { list_.push(len); } list_ });", "echo: builtin(\"len\")"],
        ),
    ]);
}

#[test]
fn lines_tabs_and_comments() {
    check(&[
        ("x; y # both", &["echo: x", "echo: y"]),
        ("x = 1\r\ny = 2\r\n", &["x = 1;", "y = 2;"]),
        ("if x:\r\n\ty = 1\r\n", &["if truth(x) {\n    y = 1;\n}"]),
        ("x = (1 +\n  2)", &["x = 1 + 2;"]),
        ("x = 1 + \\\n  2", &["x = 1 + 2;"]),
        ("\u{feff}x", &["echo: x"]),
        ("# a\n\nx", &["echo: x"]),
        ("'a'", &["echo: \"a\""]),
    ]);
}

#[test]
fn names_of_a_statement() {
    let names = |source: &str| match translate(source, &is_defined).as_deref() {
        Ok([Statement::Run { names, .. }, ..]) => names.join(" "),
        other => panic!("{source:?}: {other:?}"),
    };
    assert_eq!(names("a, (new, *b) = x"), "a new_ b");
    assert_eq!(names("for i in x:\n  if i: a = 1\n  def g(): z = 1"), "i a g");
    assert_eq!(names("with x as (a, b): import torch, os.path"), "a b os");
    assert_eq!(names("def f(a): b = 1"), "f");
    assert_eq!(names("x[0] = 1"), "");
    assert_eq!(names("x += 1"), "x");
}

#[test]
fn places_lead_back_to_the_source() {
    let source = "y = 1; z = f(x, [2, undefined.a]) + t[missing]";
    let Ok(statements) = translate(source, &is_defined) else {
        panic!("it is Python");
    };
    let Some(Statement::Run { rhai, map, .. }) = statements.last() else {
        panic!("it is a statement");
    };
    for word in ["f(", "x,", "2,", "undefined", "a]", "+", "t[", "missing"] {
        let offset = rhai.find(word).map(|at| map.source_offset(at));
        assert_eq!(offset, source.find(word), "for {word:?} in {rhai:?}");
    }
}

#[test]
fn classes() {
    check(&[
        (
            "class C(x):\n  y = 1\n  def f(self): return self.y",
            &[
                "let class_ = begin_class_(\"C\", [x]);\nclass_.y = 1;\nfn f_of_C(self) {\n    return self.y;\n}\nclass_.f = function_(\"C.f\", Fn(\"f_of_C\"), [\"self\"], #{});\nlet C = end_class_(class_);",
                "delete: class_",
            ],
        ),
        ("class x: pass", &["let class_ = begin_class_(\"x\", []);\nx = end_class_(class_);", "delete: class_"]),
    ]);
}

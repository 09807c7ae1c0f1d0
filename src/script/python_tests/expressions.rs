//! Expressions: Python on the left, Rhai on the right.

use super::check;

#[test]
fn literals() {
    check(&[
        ("None, True, False, ...", &["echo: tuple([(), true, false, Ellipsis])"]),
        ("9223372036854775807", &["echo: 9223372036854775807"]),
        ("9223372036854775808", &["echo: int(\"9223372036854775808\")"]),
        ("-9223372036854775808", &["echo: -9223372036854775808"]),
        ("-9223372036854775809", &["echo: int(\"-9223372036854775809\")"]),
        ("0xffff_ffff_ffff_ffff_ffff", &["echo: int(\"1208925819614629174706175\")"]),
        ("0b101, 0o17, 1_000", &["echo: tuple([5, 15, 1000])"]),
        ("1., .5, 1e16, 1e-7, 5e-324", &["echo: tuple([1.0, 0.5, 1.0e16, 1.0e-7, 5.0e-324])"]),
        ("1e400, -1e400, -0.0", &["echo: tuple([float(\"inf\"), float(\"-inf\"), -0.0])"]),
        ("2j, -1.5j", &["echo: tuple([complex(0.0, 2.0), -complex(0.0, 1.5)])"]),
        ("'a' \"b\"", &["echo: \"ab\""]),
        (r#"'"\\\n\t\r\x00\x7f{}${x}`'"#, &[r#"echo: "\"\\\n\t\r\x00\x7f{}${x}`""#]),
        (r"'\u200b\U0001F600é'", &["echo: \"\\u200b😀é\""]),
        ("r'\\d'", &["echo: \"\\\\d\""]),
        (r"b'ab\x00' b'c'", &["echo: bytes([97, 98, 0, 99])"]),
        ("b''", &["echo: bytes([])"]),
        ("()", &["echo: tuple([])"]),
        ("[1, *x, 2]", &["echo: __concat__([[1], iter(x), [2]])"]),
        ("*x, 1", &["echo: tuple(__concat__([iter(x), [1]]))"]),
        ("{1, 2}", &["echo: set([1, 2])"]),
        ("{}", &["echo: dict([])"]),
        ("{'a': 1, **x}", &["echo: dict(__concat__([[[\"a\", 1]], iter(x.items())]))"]),
    ]);
}

#[test]
fn f_strings() {
    check(&[
        ("f'a'", &["echo: fstring([\"a\"])"]),
        ("f'{x}'", &["echo: fstring([py.format(x, \"\")])"]),
        ("f'a{x:.2f}{{}}' 'b'", &["echo: fstring([\"a\", py.format(x, \".2f\"), \"{}b\"])"]),
        ("f'{x!r}{x!s:>4}'", &["echo: fstring([repr(x), py.format(str(x), \">4\")])"]),
        (
            "f'{x:{y}.{t}f}'",
            &["echo: fstring([py.format(x, fstring([py.format(y, \"\"), \".\", py.format(t, \"\"), \"f\"]))])"],
        ),
        ("f'{x = }'", &["echo: fstring([\"x = \", repr(x)])"]),
        ("f'{x=:.1f}'", &["echo: fstring([\"x=\", py.format(x, \".1f\")])"]),
    ]);
}

#[test]
fn names_and_reserved_words() {
    check(&[
        ("new = 1; new", &["new_ = 1;", "echo: new_"]),
        ("new_ = 1; default = new_", &["let new__ = 1;", "let default_ = new__;"]),
        ("_ = t", &["let underscore_ = t;"]),
        ("item_ = 1", &["let item__ = 1;"]),
        ("é = 1", &["let u00e9_ = 1;"]),
        ("x.new(), x.is_shared(), x.type()", &["echo: tuple([x.new(), x.is_shared(), x.type()])"]),
        ("x.call(1)", &["echo: x.__call__(\"call\", [1], #{})"]),
        ("x.print(1, a=2)", &["echo: x.__call__(\"print\", [1], #{a: 2})"]),
        ("x.switch", &["echo: getattr(x, \"switch\")"]),
        ("x.switch = 1", &["setattr(x, \"switch\", 1);"]),
        ("t.zeros(2, default=1, dtype=float)", &["echo: t.zeros(2, #{\"default\": 1, dtype: builtin(\"float\")})"]),
        (
            "isinstance(x, int), map(str, y)",
            &["echo: tuple([isinstance(x, builtin(\"int\")), map(builtin(\"str\"), y)])"],
        ),
        ("print(1, print)", &["echo: print(1, builtin(\"print\"))"]),
        ("len = 1; len", &["let len = 1;", "echo: len"]),
        ("Ellipsis", &["echo: Ellipsis"]),
    ]);
}

#[test]
fn operators() {
    check(&[
        ("x + y - t", &["echo: x + y - t"]),
        ("x - (y - t)", &["echo: x - (y - t)"]),
        ("x * (y + t) @ x", &["echo: x * (y + t) @ x"]),
        ("x * (y * t)", &["echo: x * (y * t)"]),
        ("x / y // t % 2", &["echo: __mod__(__floordiv__(__truediv__(x, y), t), 2)"]),
        ("-2 ** 2", &["echo: -__pow__(2, 2)"]),
        ("(-2) ** 2", &["echo: __pow__(-2, 2)"]),
        ("-x - -y", &["echo: -x - -y"]),
        ("-(-x), -(x + y)", &["echo: tuple([-(-x), -(x + y)])"]),
        ("~x + +y", &["echo: __invert__(x) + __pos__(y)"]),
        ("x & y == 1", &["echo: (x & y) == 1"]),
        ("x & (y == 1), x | y < t", &["echo: tuple([x & (y == 1), (x | y) < t])"]),
        ("x & y | t ^ x", &["echo: (x & y) | (t ^ x)"]),
        ("x & y & t", &["echo: x & y & t"]),
        ("1 << 2 + 3", &["echo: 1 << (2 + 3)"]),
        ("(1 << 2) * 3", &["echo: (1 << 2) * 3"]),
        ("x + y < 3 * t", &["echo: x + y < 3 * t"]),
        ("(x < y) == t", &["echo: (x < y) == t"]),
        ("x == None", &["echo: x == ()"]),
        ("x is None, x is not y", &["echo: tuple([__is__(x, ()), !__is__(x, y)])"]),
        ("x in y, x not in [1]", &["echo: tuple([y.__contains__(x), !list([1]).__contains__(x)])"]),
        ("x in y + t", &["echo: (y + t).__contains__(x)"]),
        ("not x", &["echo: !truth(x)"]),
        ("not (x and y)", &["echo: !(truth(x) && truth(y))"]),
        ("not not x", &["echo: !(!truth(x))"]),
        ("x and y", &["echo: ({ let left_ = x; if truth(left_) { left_ = y; } left_ })"]),
        (
            "f(x or y or t)",
            &["echo: f({ let left_ = x; if !truth(left_) { left_ = y; } if !truth(left_) { left_ = t; } left_ })"],
        ),
        ("f(0 < x < 10)", &["echo: f({ let result_ = 0 < x; if truth(result_) { result_ = x < 10; } result_ })"]),
        (
            "f(0 < f(x) < 10)",
            &[
                "echo: f({ let left_ = 0; let right_ = f(x); let result_ = left_ < right_; if truth(result_) { left_ = right_; right_ = 10; result_ = left_ < right_; } result_ })",
            ],
        ),
        ("x if y or t else -x", &["echo: (if truth(y) || truth(t) { x } else { -x })"]),
        ("(x if y else t).z", &["echo: (if truth(y) { x } else { t }).z"]),
        ("(lambda: x)()", &["echo: call_(|| x, [])"]),
        ("x or (lambda a: a)", &["echo: ({ let left_ = x; if !truth(left_) { left_ = |a| a; } left_ })"]),
        ("(lambda a: a) if x else (lambda a: -a)", &["echo: (if truth(x) { |a| a } else { |a| -a })"]),
        ("1 .real, (1.5).is_integer()", &["echo: tuple([(1).real, (1.5).is_integer()])"]),
    ]);
}

#[test]
fn subscripts() {
    check(&[
        ("x[0]", &["echo: x[0]"]),
        ("x[-1][y]", &["echo: x.__getitem__(-1)[y]"]),
        ("x[0, 1:3]", &["echo: x[at(0, slice(1, 3))]"]),
        ("x[...,None]", &["echo: x[at(Ellipsis, ())]"]),
        ("x[1:]", &["echo: x.__getitem__(slice(1, ()))"]),
        ("x[::2, :]", &["echo: x[at(slice((), (), 2), slice((), ()))]"]),
        ("x[None], x[True], x['a']", &["echo: tuple([x[()], x[true], x[key_(\"a\")]])"]),
        ("x[()], x[[0, 1]]", &["echo: tuple([x[at()], x[[0, 1]]])"]),
        ("x[0].item()", &["echo: x.__getitem__(0).item()"]),
        ("x[0].grad.zero_()", &["echo: x.__getitem__(0).grad.zero_()"]),
        ("x[0].shape", &["echo: x[0].shape"]),
        ("x[0].shape[1]", &["echo: x.__getitem__(0).shape[1]"]),
        (
            "f(x)[0], 'abc'[1], [1, 2]['a']",
            &["echo: tuple([f(x)[0], \"abc\".__getitem__(1), list([1, 2]).__getitem__(key_(\"a\"))])"],
        ),
        ("(x + y)[0]", &["echo: (x + y)[0]"]),
        ("x[*y]", &["echo: x[tuple(__concat__([iter(y)]))]"]),
        ("x[0] = 1", &["x[0] = 1;"]),
        ("x[0][y].data[-1] = 1", &["x[0][key_(y)].data[-1] = 1;"]),
        ("x[0, 1:] = 1", &["x[at(0, slice(1, ()))] = 1;"]),
        ("x[:] = 1", &["x.__setitem__(slice((), ()), 1);"]),
        ("x[y > 0] = 1", &["x[y > 0] = 1;"]),
        ("x[True] = x[None] = 1", &["let value_ = 1;\nx[true] = value_;\nx[()] = value_;", "delete: value_"]),
        ("x[y + 1][0] = 1", &["x.__getitem__(y + 1).__setitem__(0, 1);"]),
        ("x.T[0] = 1", &["x.T[0] = 1;"]),
        ("f()[0] = 1", &["f().__setitem__(0, 1);"]),
        ("z[0] = 1", &["z.__setitem__(0, 1);"]),
        ("del x[0], x.a", &["x.__delitem__(0);", "delattr(x, \"a\");"]),
    ]);
}

#[test]
fn calls() {
    check(&[
        ("f(x, 1, a=2)", &["echo: f(x, 1, #{a: 2})"]),
        ("f(a=1)", &["echo: f(#{a: 1})"]),
        ("x.f(1, b=2)", &["echo: x.f(1, #{b: 2})"]),
        ("x(1), y(1, a=2)", &["echo: tuple([call_(x, [1]), call_(y, [1], #{a: 2})])"]),
        ("f(1)(2)", &["echo: call_(f(1), [2])"]),
        ("x['k'](2)", &["echo: call_(x[key_(\"k\")], [2])"]),
        ("f(*x, **y)", &["echo: __call__(\"f\", __concat__([iter(x)]), __merge__(#{}, y))"]),
        ("f(1, *x, a=2)", &["echo: __call__(\"f\", __concat__([[1], iter(x)]), #{a: 2})"]),
        ("x.f(a=1, **y, b=2)", &["echo: x.__call__(\"f\", [], __merge__(#{a: 1}, y, #{b: 2}))"]),
        ("x(*y)", &["echo: call_(x, __concat__([iter(y)]))"]),
        ("f(1,2,3,4,5,6,7,8,9)", &["echo: __call__(\"f\", [1, 2, 3, 4, 5, 6, 7, 8, 9], #{})"]),
        ("f(a for a in x)", &["echo: f({ let list_ = []; for a in iter(x) { list_.push(a); } list_ })"]),
    ]);
}

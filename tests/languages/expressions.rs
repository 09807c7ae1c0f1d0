//! Random expressions, each written in both languages. Expressions for which the languages differ by design, according
//! to docs/rhai.md, are not generated: integers are not divided, nothing negative precedes `%`, and bit operations are
//! in parentheses.

/// Variables that both languages see, besides literals: the engine evaluates an expression of literals alone while it
/// parses.
pub(super) const VARIABLES: &[(&str, &str)] = &[
    ("i", "3"),
    ("j", "-2"),
    ("k", "9007199254740993"),
    ("m", "9223372036854775807"),
    ("x", "0.1"),
    ("y", "-2.5"),
    ("z", "1e-20"),
    ("w", "9007199254740992.0"),
    ("p", "true"),
    ("q", "false"),
    ("s", "\"ab\""),
];

pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    fn choose<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Whole,
    Float,
    Bool,
    Text,
}
use Kind::{Bool, Float, Text, Whole};

/// The precedence of an expression, from `||` to a name. An operand of kind `Alone` is always in parentheses.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Closeness {
    Alone,
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}
use Closeness::{Alone, And, Atom, Comparison, Or, Power, Product, Sign, Sum};

#[derive(Clone)]
pub(super) struct Expression {
    pub rhai: String,
    pub python: String,
    /// Its integer subexpressions, in Python.
    pub whole_parts: Vec<String>,
    closeness: Closeness,
}

impl Expression {
    pub(super) fn random(random: &mut Random) -> Expression {
        let kind = random.choose(&[Whole, Float, Bool, Bool, Bool, Text]);
        let depth = 1 + random.below(4);
        any(random, kind, depth)
    }

    /// Adds parentheses if the precedence is lower than needed.
    fn in_place(mut self, needed: Closeness) -> Expression {
        if self.closeness < needed {
            (self.rhai, self.python) = (format!("({})", self.rhai), format!("({})", self.python));
            self.closeness = Atom;
        }
        self
    }
}

fn atom(random: &mut Random, kind: Kind) -> Expression {
    let (rhai, python) = match kind {
        Whole => same(random.choose(&["0", "1", "2", "7", "1000003", "9007199254740993", "i", "j", "k", "m"])),
        Float => same(random.choose(&[
            "0.0",
            "0.1",
            "0.2",
            "0.3",
            "1.0",
            "2.5",
            "1e16",
            "1e-20",
            "1e308",
            "inf",
            "nan",
            "1.0000000000000002",
            "x",
            "y",
            "z",
            "w",
        ])),
        Bool => random.choose(&[("true", "True"), ("false", "False"), ("p", "p"), ("q", "q")]),
        Text => same(random.choose(&["\"\"", "\"a\"", "\"Z\"", "\"\u{e4}\"", "\"\u{1f600}\"", "s"])),
    };
    made(kind, Atom, rhai.to_owned(), python.to_owned(), &[])
}

fn same(text: &str) -> (&str, &str) {
    (text, text)
}

fn made(kind: Kind, closeness: Closeness, rhai: String, python: String, parts: &[&Expression]) -> Expression {
    let mut whole_parts: Vec<String> = parts.iter().flat_map(|part| part.whole_parts.iter().cloned()).collect();
    if kind == Whole {
        whole_parts.push(format!("({python})"));
    }
    Expression { rhai, python, whole_parts, closeness }
}

/// Joins two operands with an operator that needs this precedence.
fn joined(
    kind: Kind,
    closeness: Closeness,
    (a, b): (Expression, Expression),
    (rhai, python): (&str, &str),
    needed: (Closeness, Closeness),
) -> Expression {
    let (a, b) = (a.in_place(needed.0), b.in_place(needed.1));
    let rhai = format!("{} {rhai} {}", a.rhai, b.rhai);
    let python = format!("{} {python} {}", a.python, b.python);
    made(kind, closeness, rhai, python, &[&a, &b])
}

fn called(kind: Kind, (rhai, python): (&str, &str), args: &[Expression]) -> Expression {
    let text = |of: fn(&Expression) -> &String| args.iter().map(|arg| of(arg).clone()).collect::<Vec<_>>().join(", ");
    let (ours, theirs) = (text(|arg| &arg.rhai), text(|arg| &arg.python));
    let parts: Vec<&Expression> = args.iter().collect();
    made(kind, Atom, format!("{rhai}({ours})"), format!("{python}({theirs})"), &parts)
}

fn any(random: &mut Random, kind: Kind, depth: usize) -> Expression {
    if depth == 0 || random.below(8) == 0 {
        return atom(random, kind);
    }
    let depth = depth - 1;
    if random.below(8) == 0 {
        let (condition, a, b) = (any(random, Bool, depth), any(random, kind, depth), any(random, kind, depth));
        let rhai = format!("if {} {{ {} }} else {{ {} }}", condition.rhai, a.rhai, b.rhai);
        let python = format!("{} if {} else {}", a.python, condition.python, b.python);
        return made(kind, Alone, rhai, python, &[&condition, &a, &b]).in_place(Or);
    }
    match kind {
        Bool => truth(random, depth),
        Text => text(random, depth),
        Whole | Float => number(random, kind, depth),
    }
}

fn number(random: &mut Random, kind: Kind, depth: usize) -> Expression {
    // One operand determines the type of the result; the other may be a number of any type.
    let both = |random: &mut Random| {
        let others: &[Kind] = if kind == Float { &[Float, Float, Whole, Bool] } else { &[Whole, Whole, Bool] };
        let (a, other) = (any(random, kind, depth), random.choose(others));
        let b = any(random, other, depth);
        if random.below(2) == 0 { (a, b) } else { (b, a) }
    };
    match random.below(9) {
        0..=2 => {
            let operator = same(random.choose(&["+", "-"]));
            joined(kind, Sum, both(random), operator, (Sum, Product))
        }
        3 => joined(kind, Product, both(random), ("*", "*"), (Product, Sign)),
        4 if kind == Float => {
            let divisor = random.choose(&["2", "0.1", "-3", "1e-20", "7.5"]);
            let divisor = made(Float, Sign, divisor.to_owned(), divisor.to_owned(), &[]);
            joined(kind, Product, (any(random, kind, depth), divisor), ("/", "/"), (Product, Sign))
        }
        4 => {
            let (a, b) = random.choose(&[("7", "3"), ("1000003", "1000"), ("0", "5"), ("m", "i")]);
            joined(kind, Product, (literal(a), literal(b)), ("%", "%"), (Product, Sign))
        }
        5 => {
            let negated = any(random, kind, depth).in_place(Sign);
            // A second sign would be a decrement.
            let negated = if negated.closeness == Sign { negated.in_place(Atom) } else { negated };
            made(kind, Sign, format!("-{}", negated.rhai), format!("-{}", negated.python), &[&negated])
        }
        6 => {
            let exponent = random.choose(&["0", "1", "2", "3"]);
            let base = if kind == Float {
                random.choose(&["2.5", "0.1", "x", "y"])
            } else {
                random.choose(&["2", "i", "j", "k"])
            };
            joined(kind, Power, (literal(base), literal(exponent)), ("**", "**"), (Atom, Power))
        }
        7 if kind == Whole => {
            let operator = same(random.choose(&["&", "|", "^"]));
            let (a, b) = (any(random, Whole, depth), any(random, Whole, depth));
            joined(kind, Alone, (a, b), operator, (Atom, Atom)).in_place(Or)
        }
        7 => called(kind, same("float"), &[any(random, Whole, depth)]),
        _ => {
            let name = same(random.choose(&["max", "min", "abs"]));
            let count = if name.0 == "abs" { 1 } else { 2 };
            let args: Vec<_> = (0..count).map(|_| any(random, kind, depth)).collect();
            called(kind, name, &args)
        }
    }
}

fn literal(text: &str) -> Expression {
    made(Whole, Atom, text.to_owned(), text.to_owned(), &[])
}

fn truth(random: &mut Random, depth: usize) -> Expression {
    match random.below(8) {
        0 => {
            let (a, b) = (any(random, Bool, depth), any(random, Bool, depth));
            joined(Bool, And, (a, b), ("&&", "and"), (And, Comparison))
        }
        1 => {
            let (a, b) = (any(random, Bool, depth), any(random, Bool, depth));
            joined(Bool, Or, (a, b), ("||", "or"), (Or, And))
        }
        2 => {
            // Python's `not` binds less tightly than a comparison, `!` more.
            let denied = any(random, Bool, depth).in_place(Atom);
            made(Bool, Alone, format!("!{}", denied.rhai), format!("not {}", denied.python), &[&denied]).in_place(Or)
        }
        3 => {
            let (kinds, count) = (comparable(random), 1 + random.below(2));
            let (a, b) = (listed(random, kinds, count), listed(random, kinds, count));
            let operator = same(random.choose(&["==", "!="]));
            joined(Bool, Comparison, (a, b), operator, (Sum, Sum))
        }
        4 => {
            let kinds = comparable(random);
            let (items, kind) = (listed(random, kinds, 3), random.choose(kinds));
            let wanted = any(random, kind, depth);
            joined(Bool, Comparison, (wanted, items), ("in", "in"), (Sum, Sum))
        }
        5 => {
            let (a, b) = (any(random, Text, depth), any(random, Text, depth));
            let operator = same(random.choose(&["<", "<=", ">", ">=", "==", "!=", "in"]));
            joined(Bool, Comparison, (a, b), operator, (Sum, Sum))
        }
        _ => {
            let kinds = [Whole, Float, Float, Bool];
            let (a, b) = (random.choose(&kinds), random.choose(&kinds));
            let (a, b) = (any(random, a, depth), any(random, b, depth));
            let operator = same(random.choose(&["<", "<=", ">", ">=", "==", "!="]));
            joined(Bool, Comparison, (a, b), operator, (Sum, Sum))
        }
    }
}

/// Returns types whose values can be compared with each other.
fn comparable(random: &mut Random) -> &'static [Kind] {
    if random.below(3) == 0 { &[Text] } else { &[Whole, Float, Bool] }
}

/// Returns an array. For Python, identical objects are equal, even NaN. The table lists this difference, so the array
/// does not contain NaN.
fn listed(random: &mut Random, kinds: &[Kind], count: usize) -> Expression {
    let items = (0..count).map(|_| {
        let kind = random.choose(kinds);
        let item = atom(random, kind);
        if item.rhai == "nan" { literal("4") } else { item }
    });
    let list = called(Bool, ("", ""), &items.collect::<Vec<_>>());
    let bracketed = |text: &str| format!("[{}]", &text[1..text.len() - 1]);
    Expression { rhai: bracketed(&list.rhai), python: bracketed(&list.python), ..list }
}

fn text(random: &mut Random, depth: usize) -> Expression {
    match random.below(3) {
        0 => {
            let (a, b) = (any(random, Text, depth), any(random, Text, depth));
            joined(Text, Sum, (a, b), ("+", "+"), (Sum, Product))
        }
        1 => {
            let text = any(random, Text, depth);
            joined(Text, Product, (text, literal(random.choose(&["0", "1", "3"]))), ("*", "*"), (Product, Sign))
        }
        _ => {
            let text = any(random, Text, depth).in_place(Atom);
            let at = random.choose(&["0", "1", "-1"]);
            made(Text, Atom, format!("{}[{at}]", text.rhai), format!("{}[{at}]", text.python), &[&text])
        }
    }
}

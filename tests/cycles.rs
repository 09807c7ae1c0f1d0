//! Values that contain themselves, and values nested 100,000 deep: no walk through them may end the process, loop
//! forever or panic. A stack overflow ends this test; a panic is reported as a SystemError.

use proptest::prelude::*;
use tensorsh::session::transcript::spawn_with_big_stack;
use tensorsh::session::{Language, Outcome, Session, SessionOptions};

/// Operations on a value `X`, some with another value `Y`.
const RHAI: &[&str] = &[
    "X",
    "print(X)",
    "debug(X)",
    "`${X}`",
    "\"\" + X",
    "X.to_string()",
    "X.to_debug()",
    "X == Y",
    "X != Y",
    "X in [Y, X]",
    "[Y, X].contains(X)",
    "[Y, X].index_of(X)",
    "{ let all = [X, X, Y]; all.dedup(); all.len() }",
    "[X, Y].order()",
    "[X, Y].map(|item| item)",
    "{ let copy = X; copy == X }",
    "hash(X)",
    "str(X)",
    "to_json(X)",
    "X.to_json()",
    "[X].to_json()",
    "type_of(X)",
    "X.len()",
    "X.len",
    "X.call()",
    "X.part",
    "torch.tensor(X)",
    "torch.tensor([X])",
    "torch.save(X, io)",
    "explain(X)",
    "aliases()",
    "why_view(X, [1])",
    "throw X",
    "try { throw X } catch (e) { e == X }",
    "switch X { 1 => 2, _ => 3 }",
    "list(X)",
    "py.sorted([X, Y])",
    "format(\"{} {}\", X, 1)",
    "no_grad(|| X)",
    "{ fn same(a) { a } same(X) }",
    "exit(X)",
];

const PYTHON: &[&str] = &[
    "X",
    "print(X)",
    "repr(X)",
    "f'{X} {X!r}'",
    "X == Y",
    "X != Y",
    "X < Y",
    "X in [Y, X]",
    "[Y, X].index(X)",
    "[Y, X].count(Y)",
    "hash(X)",
    "{X: 1}",
    "list(X)",
    "tuple([X, Y])",
    "sorted([X, Y])",
    "copy.copy(X)",
    "copy.deepcopy(X)",
    "len(X)",
    "bool(X)",
    "X()",
    "X.part",
    "dict(a=X) == dict(a=X)",
    "torch.tensor(X)",
    "torch.tensor([X])",
    "torch.save(X, io)",
    "explain(X)",
    "aliases()",
    "raise X",
    "isinstance(X, list)",
    "'%s' % (X,)",
    "max(X, Y)",
];

const MAKERS: &[(Language, &str)] = &[
    (Language::Rhai, "let N = [1];"),
    (Language::Rhai, "let N = #{part: 1};"),
    (Language::Rhai, "let N = || 1;"),
    (Language::Python, "N = [1]"),
    (Language::Python, "N = {'part': 1}"),
    (Language::Python, "N = Thing()"),
    (Language::Python, "N = lambda: 1"),
    (Language::Python, "N = (1,)"),
];

/// Ways to make `X` contain `Y`. Those that do not fit the type of `X` are rejected.
const LINKS: &[(Language, &str)] = &[
    (Language::Rhai, "X.push(Y)"),
    (Language::Rhai, "X.part = Y"),
    (Language::Rhai, "X[0] = Y"),
    (Language::Rhai, "X = || Y"),
    (Language::Rhai, "X = [Y, X]"),
    (Language::Rhai, "X.part = || [X, Y]"),
    (Language::Rhai, "X.push(|| Y)"),
    (Language::Python, "X.append(Y)"),
    (Language::Python, "X['part'] = Y"),
    (Language::Python, "X.part = Y"),
    (Language::Python, "X = lambda: Y"),
    (Language::Python, "X = (X, Y)"),
];

const NAMES: [&str; 4] = ["p", "q", "r", "s"];

fn session() -> Session {
    let mut session = Session::new(SessionOptions::default());
    let setup = "import torch, copy, io as module\nio = module.BytesIO()\nclass Thing:\n    part = 0\n";
    assert_eq!(session.eval(Language::Python, setup).error, None);
    session
}

fn line(form: &str, x: &str, y: &str) -> String {
    form.replace('X', x).replace('Y', y)
}

/// Fails if an input was ended by a panic.
fn check(outcome: &Outcome, input: &str) {
    if let Some(error) = &outcome.error {
        assert!(!error.message.starts_with("internal error"), "{input}: {}", error.message);
    }
}

/// Applies every operation to a pair of variables.
fn walk(session: &mut Session, x: &str, y: &str) {
    let forms =
        RHAI.iter().map(|form| (Language::Rhai, form)).chain(PYTHON.iter().map(|form| (Language::Python, form)));
    for (language, form) in forms {
        let input = line(form, x, y);
        check(&session.eval(language, &input), &input);
    }
    session.remember();
    let change = line("X = 5", x, y);
    check(&session.eval(Language::Rhai, &change), &change);
    assert!(session.undo().is_some());
    session.variables();
    session.aliases();
    session.storage_warnings();
    session.help(x);
    for language in [Language::Rhai, Language::Python] {
        session.complete(language, &format!("{x}."), x.len() + 1);
        session.complete(language, "torch.zeros(", 12);
    }
}

fn on_large_stack(run: impl FnOnce() + Clone + Send + 'static) {
    spawn_with_big_stack("cycles", run).unwrap().join().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn graphs_of_both_languages_are_walked(
        makers in prop::collection::vec(0..MAKERS.len(), NAMES.len()),
        links in prop::collection::vec((0..LINKS.len(), 0..NAMES.len(), 0..NAMES.len()), 1..12),
        pair in (0..NAMES.len(), 0..NAMES.len()),
    ) {
        on_large_stack(move || {
            let mut session = session();
            for (name, maker) in NAMES.iter().zip(makers) {
                let (language, text) = MAKERS[maker];
                let input = text.replace('N', name);
                assert_eq!(session.eval(language, &input).error, None, "{input}");
            }
            for (link, x, y) in links {
                let (language, form) = LINKS[link];
                let input = line(form, NAMES[x], NAMES[y]);
                check(&session.eval(language, &input), &input);
            }
            walk(&mut session, NAMES[pair.0], NAMES[pair.1]);
        });
    }
}

#[test]
fn what_lies_deep_is_walked_and_dropped() {
    let chains = [
        (Language::Python, "p = []\nfor i in range(100000):\n    p = [p]\n"),
        (Language::Python, "p = ()\nfor i in range(100000):\n    p = (p,)\n"),
        (Language::Python, "p = {}\nfor i in range(100000):\n    p = {'part': p}\n"),
        (Language::Python, "p = Thing()\nfor i in range(100000):\n    q = Thing()\n    q.part = p\n    p = q\n"),
        (Language::Rhai, "let p = (); for i in 0..100000 { let before = p; p = || before; }"),
        (Language::Rhai, "let p = []; for i in 0..1000 { p = [p]; }"),
        (Language::Rhai, "let p = #{}; for i in 0..1000 { p = #{part: p}; }"),
    ];
    for (language, chain) in chains {
        on_large_stack(move || {
            let mut session = session();
            assert_eq!(session.eval(language, chain).error, None, "{chain}");
            assert_eq!(session.eval(Language::Rhai, "q = p;").error, None, "{chain}");
            walk(&mut session, "p", "q");
        });
    }
}

/// Python's text for values that contain themselves, and Rhai's equivalent.
#[test]
fn what_holds_itself_is_shown() {
    let rows = [
        (Language::Python, "x = [1]; x.append(x); x", "[1, [...]]"),
        (Language::Python, "x = {}; x['a'] = x; x", "{'a': {...}}"),
        (Language::Python, "x = [1]; x.append((x, {'b': x})); x", "[1, ([...], {'b': [...]})]"),
        (Language::Python, "x = []; x.append(x); y = []; y.append(y); x == y", "RecursionError"),
        (Language::Python, "x = []; x.append(x); x == x, x in x", "(True, True)"),
        (Language::Rhai, "let x = #{}; x.a = || x; x.len()", "1"),
        (Language::Rhai, "let x = #{v: 1}; x.inc = || { this.v += 1; this.v }; x.inc(); x.inc()", "3"),
        (Language::Rhai, "let x = #{}; x.a = || x; to_json(x)", "TypeError"),
        (Language::Rhai, "let x = #{}; x.a = || x; x == 1", "False"),
        (Language::Rhai, "let x = #{}; x.a = || x; hash(x)", "TypeError"),
    ];
    for (language, code, wanted) in rows {
        on_large_stack(move || {
            let outcome = session().eval(language, code);
            let shown = outcome.error.map_or(outcome.text.trim_end().to_owned(), |error| error.kind);
            assert_eq!(shown, wanted, "{code}");
        });
    }
}

//! Every text that Rhai accepts has the same meaning here. Each line of tests/rhai_grammar.txt, with `⏎` for a line
//! break, runs in a plain Rhai engine and in a session. Both must return the same value, or reject it with the same
//! kind of error.

use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicBlobPackage, BasicFnPackage, BasicIteratorPackage, BasicMapPackage,
    BasicMathPackage, BasicStringPackage, BitFieldPackage, LanguageCorePackage, LogicPackage, MoreStringPackage,
    Package,
};
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, Map, OptimizationLevel};
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use tensorsh::session::transcript::spawn_with_big_stack;
use tensorsh::session::{Language, Outcome, Session, SessionOptions};

const TABLE: &str = include_str!("rhai_grammar.txt");

/// Texts with another meaning here, with the reason; docs/rhai.md has the rule.
const OTHERWISE: &[(&str, &str)] = &[
    ("1.25.round(1)", "Rhai rounds decimals to digits, and floats only with them"),
    ("-2 ** 2", "a power binds closer than a sign"),
    ("0.1 + 0.2 == 0.3", "Rhai compares floats within an epsilon"),
    ("1.0 / 0.0 > 1e308", "Rhai compares floats within an epsilon"),
    ("1 < \"a\"", "Python has no order between kinds"),
    ("1 == true", "Python's numbers"),
    ("(1, 2)", "a tuple, as in Python"),
    ("!5", "Python's `not`"),
    ("true + 1", "Python's numbers"),
    ("const X = 3; fn f() { X } f()", "functions see constants"),
    ("#{new: 1}", "words of the language are keywords of calls"),
];

/// A plain engine, with the settings of ours.
fn plain() -> Engine {
    let mut engine = Engine::new_raw();
    macro_rules! packages {
        ($($package:ident)*) => { $($package::new().register_into_engine(&mut engine);)* };
    }
    packages!(
        ArithmeticPackage LogicPackage LanguageCorePackage BasicStringPackage MoreStringPackage BasicIteratorPackage
        BasicArrayPackage BasicBlobPackage BasicMapPackage BasicMathPackage BasicFnPackage
        BitFieldPackage
    );
    engine.set_fail_on_invalid_map_property(true);
    engine.set_optimization_level(OptimizationLevel::None);
    engine.set_max_call_levels(100);
    engine.set_max_expr_depths(500, 500);
    engine.register_type_with_name::<i64>("int").register_type_with_name::<f64>("float");
    engine
}

/// Formats a value like the prompt.
fn shown(value: &Dynamic) -> String {
    if let Some(text) = value.read_lock::<rhai::ImmutableString>() {
        return quoted(&text);
    }
    if let Some(array) = value.read_lock::<Array>() {
        return format!("[{}]", array.iter().map(within).collect::<Vec<_>>().join(", "));
    }
    if let Some(map) = value.read_lock::<Map>() {
        let entries = map.iter().map(|(key, value)| format!("{}: {}", quoted(key), within(value)));
        return format!("{{{}}}", entries.collect::<Vec<_>>().join(", "));
    }
    if value.is::<Range<i64>>() || value.is::<RangeInclusive<i64>>() {
        return value.to_string();
    }
    match value.type_name() {
        "()" => String::new(),
        "bool" => if value.as_bool().unwrap() { "True" } else { "False" }.to_owned(),
        "char" => quoted(&value.to_string()),
        _ => value.to_string(),
    }
}

/// Formats a value inside an array or an object map.
fn within(value: &Dynamic) -> String {
    if value.is_unit() { "None".to_owned() } else { shown(value) }
}

/// Formats a string like Python.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut written = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\t' => written.push_str("\\t"),
            c if c == quote => written.extend(['\\', c]),
            c => written.push(c),
        }
    }
    written.push(quote);
    written
}

/// Returns the error kinds that ours may have for one of the engine's errors.
fn kinds(error: &EvalAltResult) -> &'static [&'static str] {
    use EvalAltResult as E;
    match error {
        E::ErrorInFunctionCall(_, _, inner, _) => kinds(inner),
        E::ErrorParsing(..) => &["SyntaxError"],
        E::ErrorVariableNotFound(..) | E::ErrorUnboundThis(..) => &["NameError"],
        E::ErrorFunctionNotFound(..) => &["NameError", "TypeError", "AttributeError"],
        E::ErrorModuleNotFound(..) => &["ModuleNotFoundError"],
        E::ErrorArrayBounds(..) | E::ErrorStringBounds(..) | E::ErrorBitFieldBounds(..) => &["IndexError"],
        E::ErrorIndexNotFound(..) | E::ErrorPropertyNotFound(..) => &["KeyError"],
        E::ErrorIndexingType(..) | E::ErrorMismatchDataType(..) | E::ErrorFor(..) => &["TypeError"],
        E::ErrorDotExpr(..) => &["AttributeError"],
        E::ErrorArithmetic(..) => &["OverflowError", "ZeroDivisionError", "ValueError"],
        E::ErrorAssignmentToConstant(..) | E::ErrorNonPureMethodCallOnConstant(..) => &["TypeError"],
        E::ErrorStackOverflow(..) => &["RecursionError"],
        E::ErrorRuntime(..) => &["Error", "ValueError"],
        _ => &[],
    }
}

/// Describes the difference between the engine's result and a session's. `None` if both are the same.
fn difference(line: &str) -> Option<String> {
    let text = line.replace('⏎', "\n");
    let result = plain().eval::<Dynamic>(&text);
    let mut session = Session::new(SessionOptions::default());
    let outcome = match &result {
        // At a prompt, a text that only Python accepts is read as Python.
        Err(error) if matches!(**error, EvalAltResult::ErrorParsing(..) | EvalAltResult::ErrorVariableNotFound(..)) => {
            session.run_script(Language::Rhai, &text, Some(Path::new("a.rhai")))
        }
        _ => session.eval(Language::Rhai, &text),
    };
    let said = |outcome: &Outcome| match &outcome.error {
        Some(error) => format!("{}: {}", error.kind, error.message),
        None => outcome.text.trim_end().to_owned(),
    };
    let is_same = match (&result, &outcome.error) {
        // A value that ends with a semicolon is not shown.
        (Ok(_), None) if text.trim_end().ends_with(';') => true,
        (Ok(value), None) if value.is::<FnPtr>() => true,
        (Ok(value), None) if value.is_float() => outcome.text.trim_end().parse().ok() == value.as_float().ok(),
        (Ok(value), None) => shown(value) == outcome.text.trim_end_matches('\n'),
        (Err(error), Some(failure)) => kinds(error).contains(&failure.kind.as_str()),
        _ => false,
    };
    let wanted = match &result {
        Ok(value) => shown(value),
        Err(error) => error.to_string(),
    };
    (!is_same).then(|| format!("{line}\n    Rhai: {wanted}\n    here: {}", said(&outcome)))
}

#[test]
fn nothing_that_rhai_reads_means_something_else() {
    let lines: Vec<&'static str> = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).collect();
    let found = spawn_with_big_stack("grammar", move || {
        let mut found = Vec::new();
        for line in &lines {
            found.extend(difference(line).map(|told| (*line, told)));
        }
        (lines.len(), found)
    })
    .unwrap();
    let (count, found) = found.join().unwrap();
    let meant = |line: &str| OTHERWISE.iter().any(|(other, _)| *other == line);
    let unexpected: Vec<_> = found.iter().filter(|(line, _)| !meant(line)).map(|(_, told)| told.as_str()).collect();
    assert!(unexpected.is_empty(), "{} of {count} differ:\n{}", unexpected.len(), unexpected.join("\n"));
    // Listed exceptions must still differ.
    for (line, reason) in OTHERWISE {
        assert!(found.iter().any(|(other, _)| other == line), "{line} is the same now: {reason}");
    }
    assert!(count >= 250, "only {count} lines");
}

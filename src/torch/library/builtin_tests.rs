//! Tests of the builtins on containers and iterators. The expected texts are CPython 3.11's.

use super::registry;
use call::{Keywords, State};
use objects::calling::{NativeFunction, call_value};
use objects::iterate::iterate;
use objects::operators;
use objects::plain::containers;
use std::rc::Rc;
use tensor::Result;
use value::{Dict, List, Range, Set, Value};

fn state() -> Rc<State> {
    State::new(registry(), None)
}

fn ints(items: impl IntoIterator<Item = i64>) -> Value {
    Value::list(items.into_iter().map(Value::Int))
}

fn call(state: &State, name: &str, args: &[Value], keywords: &[(&str, Value)]) -> Result<Value> {
    let keywords: Keywords = keywords.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    call_value(state, &Value::Function(name.into()), args.to_vec(), keywords)
}

/// Shows the result of a call, with iterators written out as lists, or its error.
fn shown(state: &State, result: Result<Value>) -> String {
    let value = match result {
        Ok(object @ Value::Object(_)) => match iterate(state, &object) {
            Ok(items) => items.collect().map(Value::list),
            Err(_) => Ok(object),
        },
        other => other,
    };
    match value.and_then(|value| state.repr(&value)) {
        Ok(text) => text,
        Err(error) => format!("{}: {}", error.kind.name(), error.message),
    }
}

fn asked(state: &State, name: &str, args: &[Value]) -> String {
    shown(state, call(state, name, args, &[]))
}

/// A function that adds its arguments.
fn adding() -> Value {
    NativeFunction::value("adding", |args, _| {
        let sum = args.iter().map(|arg| if let Value::Int(i) = arg { *i } else { 0 }).sum();
        Ok(Value::Int(sum))
    })
}

#[test]
fn iterators_make_their_items_when_asked() {
    let state = state();
    let huge = Value::Range(Range { start: 0, stop: i64::MAX, step: 1 });
    let text = Value::str("aé");
    let mapped = [adding(), ints([1, 2, 3]), huge.clone()];
    assert_eq!(asked(&state, "py.map", &mapped), "[1, 3, 5]");
    assert_eq!(asked(&state, "py.zip", &[text.clone(), huge.clone()]), "[('a', 0), ('é', 1)]");
    assert_eq!(asked(&state, "py.enumerate", &[text.clone(), Value::Int(5)]), "[(5, 'a'), (6, 'é')]");
    assert_eq!(asked(&state, "py.filter", &[Value::None, ints([0, 1, 2])]), "[1, 2]");
    assert_eq!(asked(&state, "py.reversed", &[ints([1, 2])]), "[2, 1]");
    assert_eq!(asked(&state, "py.any", std::slice::from_ref(&huge)), "True");
    for (name, args, text) in [
        ("py.map", vec![], "TypeError: map() must have at least two arguments."),
        ("py.map", vec![adding(), Value::Int(5)], "TypeError: 'int' object is not iterable"),
        ("py.map", vec![Value::Int(1), ints([1])], "TypeError: 'int' object is not callable"),
        ("py.filter", vec![Value::None], "TypeError: filter expected 2 arguments, got 1"),
        ("py.reversed", vec![Value::Set(Set::default())], "TypeError: 'set' object is not reversible"),
        ("py.next", vec![ints([])], "TypeError: 'list' object is not an iterator"),
        ("py.iter", vec![Value::Int(5), Value::Int(6)], "TypeError: iter(v, w): v must be callable"),
    ] {
        assert_eq!(asked(&state, name, &args), text, "{name}");
    }
    let strict = |args: &[Value]| shown(&state, call(&state, "py.zip", args, &[("strict", Value::Bool(true))]));
    assert_eq!(strict(&[ints([1]), ints([1, 2])]), "ValueError: zip() argument 2 is longer than argument 1");
    assert_eq!(
        strict(&[ints([1, 2]), ints([1, 2]), ints([1])]),
        "ValueError: zip() argument 3 is shorter than arguments 1-2"
    );
}

#[test]
fn an_iterator_sees_what_becomes_of_its_container() -> Result<()> {
    let state = state();
    let list = List::from(vec![Value::Int(1)]);
    let mut items = iterate(&state, &Value::List(list.clone()))?;
    assert!(items.next()?.is_some());
    list.change(|held| held.push(Value::Int(2)))?;
    assert!(items.next()?.is_some() && items.next()?.is_none());
    list.change(|held| held.push(Value::Int(3)))?;
    assert!(items.next()?.is_none(), "it has ended");
    let dict = Dict::new([(Value::Int(1), Value::None)])?;
    let mut keys = iterate(&state, &Value::Dict(dict.clone()))?;
    dict.insert(Value::Int(2), Value::None)?;
    for _ in 0..2 {
        let said = keys.next().map_err(|error| error.message);
        assert!(said.is_err_and(|text| text == "dictionary changed size during iteration"));
    }
    Ok(())
}

#[test]
fn a_chain_of_iterators_is_no_fault_however_long() -> Result<()> {
    let state = state();
    let mut chain = ints([1]);
    for _ in 0..200_000 {
        chain = call(&state, "py.filter", &[Value::None, chain], &[])?;
    }
    assert_eq!(asked(&state, "py.next", &[chain]), "RecursionError: maximum recursion depth exceeded");
    Ok(())
}

#[test]
fn itertools_are_iterators() {
    let state = state();
    let text = |text: &str| Value::str(text);
    let pairs = "[('a', 'b'), ('a', 'c'), ('b', 'c')]";
    for (name, args, shown) in [
        ("product", vec![text("ab"), text("c")], "[('a', 'c'), ('b', 'c')]"),
        ("product", vec![], "[()]"),
        ("product", vec![text("")], "[]"),
        ("combinations", vec![text("abc"), Value::Int(2)], pairs),
        ("combinations", vec![text("abc"), Value::Int(0)], "[()]"),
        ("combinations", vec![text("abc"), Value::Int(4)], "[]"),
        ("combinations_with_replacement", vec![text("ab"), Value::Int(2)], "[('a', 'a'), ('a', 'b'), ('b', 'b')]"),
        ("permutations", vec![text("ab")], "[('a', 'b'), ('b', 'a')]"),
        ("permutations", vec![text("ab"), Value::Int(1)], "[('a',), ('b',)]"),
        ("chain", vec![text("a"), ints([1])], "['a', 1]"),
        ("chain_from_iterable", vec![Value::list([text("ab"), text("c")])], "['a', 'b', 'c']"),
        ("accumulate", vec![ints([1, 2, 3])], "[1, 3, 6]"),
        ("pairwise", vec![text("abc")], "[('a', 'b'), ('b', 'c')]"),
        ("repeat", vec![Value::Int(1), Value::Int(2)], "[1, 1]"),
        ("islice", vec![text("abcdef"), Value::Int(1), Value::None, Value::Int(2)], "['b', 'd', 'f']"),
        ("compress", vec![text("abc"), ints([1, 0, 1])], "['a', 'c']"),
        ("zip_longest", vec![text("ab"), text("c")], "[('a', 'c'), ('b', None)]"),
        ("starmap", vec![adding(), Value::list([ints([1, 2])])], "[3]"),
        ("combinations", vec![text("abc"), Value::Int(-1)], "ValueError: r must be non-negative"),
    ] {
        assert_eq!(asked(&state, &format!("itertools.{name}"), &args), shown, "{name}");
    }
    for (endless, first) in [("count", "[5, 6, 7]"), ("cycle", "['a', 'b', 'a']")] {
        let of = if endless == "count" { Value::Int(5) } else { text("ab") };
        let Ok(all) = call(&state, &format!("itertools.{endless}"), &[of], &[]) else { continue };
        assert_eq!(asked(&state, "itertools.islice", &[all, Value::Int(3)]), first);
    }
    let mut groups = call(&state, "itertools.groupby", &[text("aab")], &[]).and_then(|groups| iterate(&state, &groups));
    let mut found = Vec::new();
    while let Ok(Some(group)) = groups.as_mut().map_or(Ok(None), |groups| groups.next()) {
        let group = group.sequence().unwrap_or_default();
        found.push(shown(&state, Ok(group[1].clone())));
    }
    assert_eq!(found, ["['a', 'a']", "['b']"]);
}

#[test]
fn containers_are_made_of_anything_with_items() {
    let state = state();
    let pair = |a: Value, b: Value| Value::tuple([a, b]);
    let odd = Value::list([Value::tuple([Value::Int(1), Value::Int(2), Value::Int(3)])]);
    for (name, args, text) in [
        ("py.dict", vec![Value::list([pair(Value::str("a"), Value::Int(1))])], "{'a': 1}"),
        ("py.dict", vec![Value::list([Value::str("ab")])], "{'a': 'b'}"),
        ("py.dict", vec![ints([1])], "TypeError: cannot convert dictionary update sequence element #0 to a sequence"),
        ("py.dict", vec![odd], "ValueError: dictionary update sequence element #0 has length 3; 2 is required"),
        ("py.dict", vec![Value::Int(1), Value::Int(2)], "TypeError: dict expected at most 1 argument, got 2"),
        ("py.frozenset", vec![ints([2, 1, 2])], "frozenset({1, 2})"),
        ("py.frozenset", vec![], "frozenset()"),
        ("py.set", vec![Value::list([ints([])])], "TypeError: unhashable type: 'list'"),
        ("py.sum", vec![Value::list([ints([1]), ints([2])]), ints([])], "[1, 2]"),
        ("py.sum", vec![ints([]), Value::str("")], "TypeError: sum() can't sum strings [use ''.join(seq) instead]"),
        ("py.sum", vec![Value::list(vec![Value::Float(0.1); 10])], "0.9999999999999999"),
        ("py.min", vec![ints([])], "ValueError: min() arg is an empty sequence"),
        ("py.max", vec![], "TypeError: max expected at least 1 argument, got 0"),
        (
            "py.min",
            vec![Value::Int(1), Value::str("a")],
            "TypeError: '<' not supported between instances of 'str' and 'int'",
        ),
        ("py.len", vec![Value::Int(5)], "TypeError: object of type 'int' has no len()"),
    ] {
        assert_eq!(asked(&state, name, &args), text, "{name}");
    }
    let with =
        |name: &str, args: &[Value], keywords: &[(&str, Value)]| shown(&state, call(&state, name, args, keywords));
    let negative = NativeFunction::value("negative", |args, _| match args.as_slice() {
        [Value::Int(i)] => Ok(Value::Int(-i)),
        _ => Ok(Value::None),
    });
    assert_eq!(with("py.dict", &[], &[("a", Value::Int(1))]), "{'a': 1}");
    assert_eq!(with("py.max", &[ints([1, 3, 2])], &[("key", negative.clone())]), "1");
    assert_eq!(with("py.min", &[ints([])], &[("default", Value::None)]), "None");
    assert_eq!(
        with("py.min", &[Value::Int(1), Value::Int(2)], &[("default", Value::Int(3))]),
        "TypeError: Cannot specify a default for min() with multiple positional arguments"
    );
    assert_eq!(
        with("py.min", &[ints([1])], &[("foo", Value::None)]),
        "TypeError: 'foo' is an invalid keyword argument for min()"
    );
    assert_eq!(with("py.sorted", &[ints([1, 3, 2])], &[("key", negative)]), "[3, 2, 1]");
    let both = Value::list([pair(Value::Int(1), Value::str("a")), pair(Value::Int(1), Value::str("b"))]);
    let first = NativeFunction::value("first", |args, _| Ok(args[0].sequence().unwrap_or_default()[0].clone()));
    assert_eq!(
        with("py.sorted", &[both], &[("key", first), ("reverse", Value::Bool(true))]),
        "[(1, 'a'), (1, 'b')]",
        "equal items keep their order"
    );
}

#[test]
fn arguments_are_refused_in_the_words_of_cpython() {
    let state = state();
    let one = || Value::Int(1);
    for (name, args, text) in [
        ("len", vec![], "len() takes exactly one argument (0 given)"),
        ("round", vec![], "round() missing required argument 'number' (pos 1)"),
        ("round", vec![one(); 3], "round() takes at most 2 arguments (3 given)"),
        ("sum", vec![], "sum() takes at least 1 positional argument (0 given)"),
        ("enumerate", vec![], "enumerate() missing required argument 'iterable'"),
        ("sorted", vec![], "sorted expected 1 argument, got 0"),
        ("divmod", vec![one()], "divmod expected 2 arguments, got 1"),
        ("getattr", vec![one()], "getattr expected at least 2 arguments, got 1"),
        ("getattr", vec![one(); 2], "attribute name must be string, not 'int'"),
        ("format", vec![one(); 2], "format() argument 2 must be str, not int"),
        ("list", vec![one(); 2], "list expected at most 1 argument, got 2"),
        ("range", vec![], "range expected at least 1 argument, got 0"),
        ("range", vec![Value::Float(1.5)], "'float' object cannot be interpreted as an integer"),
        ("chr", vec![Value::str("a")], "'str' object cannot be interpreted as an integer"),
        ("ord", vec![one()], "ord() expected string of length 1, but int found"),
        ("next", vec![one(); 3], "next expected at most 2 arguments, got 3"),
    ] {
        assert_eq!(asked(&state, &format!("py.{name}"), &args), format!("TypeError: {text}"));
    }
    for (name, args, text) in [
        ("len", vec![], "len() takes no keyword arguments"),
        ("sorted", vec![ints([])], "'foo' is an invalid keyword argument for sort()"),
        ("zip", vec![], "'foo' is an invalid keyword argument for zip()"),
        ("map", vec![], "map() takes no keyword arguments"),
    ] {
        let said = shown(&state, call(&state, &format!("py.{name}"), &args, &[("foo", Value::None)]));
        assert_eq!(said, format!("TypeError: {text}"));
    }
}

#[test]
fn operators_in_place_change_what_everybody_holds() -> Result<()> {
    let state = state();
    let apply = |symbol: &str, a: &Value, b: &Value| match operators::find(symbol) {
        Some(operator) => operators::in_place(&state, operator, a, b),
        None => Ok(Value::None),
    };
    let list = ints([1]);
    apply("+", &list, &Value::str("ab"))?;
    apply("*", &list, &Value::Int(2))?;
    assert_eq!(state.repr(&list)?, "[1, 'a', 'b', 1, 'a', 'b']");
    apply("+", &list, &list)?;
    assert_eq!(containers::count(&state, &list, &Value::Int(1))?, 4);
    let set = Value::Set(Set::new([Value::Int(1), Value::Int(2)])?);
    let other = Value::Set(Set::new([Value::Int(2), Value::Int(3)])?);
    apply("^", &set, &other)?;
    assert_eq!(state.repr(&set)?, "{1, 3}");
    apply("|", &set, &other)?;
    apply("-", &set, &Value::Set(Set::new([Value::Int(3)])?))?;
    apply("&", &set, &other)?;
    assert_eq!(state.repr(&set)?, "{2}");
    let dict = Value::Dict(Dict::default());
    apply("|", &dict, &Value::list([Value::tuple([Value::Int(3), Value::Int(4)])]))?;
    assert_eq!(state.repr(&dict)?, "{3: 4}");
    for (symbol, a, b, text) in [
        ("+", ints([]), Value::Int(5), "'int' object is not iterable"),
        ("*", ints([1]), Value::str("a"), "can't multiply sequence by non-int of type 'str'"),
        ("|", set, ints([1]), "unsupported operand type(s) for |=: 'set' and 'list'"),
        ("+", Value::tuple([]), ints([]), "can only concatenate tuple (not \"list\") to tuple"),
    ] {
        assert_eq!(apply(symbol, &a, &b).err().map(|error| error.message).as_deref(), Some(text), "{symbol}");
    }
    Ok(())
}

#[test]
fn what_holds_itself_is_shown_compared_and_copied() -> Result<()> {
    let state = state();
    let list = List::default();
    list.change(|held| held.push(Value::List(list.clone())))?;
    let whole = Value::List(list.clone());
    assert_eq!(state.repr(&whole)?, "[[...]]");
    let dict = Dict::default();
    dict.insert(Value::Int(1), Value::Dict(dict.clone()))?;
    assert_eq!(state.repr(&Value::Dict(dict.clone()))?, "{1: {...}}");
    let ordered = Dict::default().to_kind(true);
    ordered.insert(Value::Int(1), Value::Dict(ordered.clone()))?;
    assert_eq!(state.repr(&Value::Dict(ordered))?, "OrderedDict([(1, ...)])");
    let copy = call(&state, "copy.deepcopy", std::slice::from_ref(&whole), &[])?;
    assert_eq!(state.repr(&copy)?, "[[...]]");
    assert!(matches!(&copy, Value::List(copy) if !copy.is(&list)));
    // Functions that search arguments for tensors must end for a list that contains itself.
    assert_eq!(asked(&state, "py.len", std::slice::from_ref(&whole)), "1");
    assert!(call(&state, "torch.stack", std::slice::from_ref(&whole), &[]).is_err());
    assert!(call(&state, "torch.tensor", std::slice::from_ref(&whole), &[]).is_err());
    list.change(Vec::clear)?;
    dict.remove(&Value::Int(1))?;
    if let Value::List(copy) = copy {
        copy.change(Vec::clear)?;
    }
    Ok(())
}

#[test]
fn subscripts_of_lists_are_read_written_and_deleted() -> Result<()> {
    let state = state();
    let slice = |start: Value, stop: Value, step: Value| objects::plain::slices::slice(start, stop, step);
    let list = ints(0..6);
    let set = |index: &Value, value: &Value| objects::subscript::set_item(&state, &list, index, value);
    set(&slice(Value::Int(1), Value::Int(3), Value::None), &ints([7, 8, 9]))?;
    assert_eq!(state.repr(&list)?, "[0, 7, 8, 9, 3, 4, 5]");
    set(&slice(Value::None, Value::None, Value::Int(-3)), &ints([1, 2, 3]))?;
    assert_eq!(state.repr(&list)?, "[3, 7, 8, 2, 3, 4, 1]");
    containers::delete_item(&state, &list, &slice(Value::None, Value::None, Value::Int(2)))?;
    containers::delete_item(&state, &list, &Value::Int(-1))?;
    assert_eq!(state.repr(&list)?, "[7, 2]");
    set(&slice(Value::None, Value::None, Value::None), &list)?;
    let text = |done: Result<()>| done.err().map(|error| error.message).unwrap_or_default();
    let every = slice(Value::None, Value::None, Value::Int(2));
    assert_eq!(text(set(&Value::Int(2), &Value::None)), "list assignment index out of range");
    assert_eq!(text(set(&Value::str("a"), &Value::None)), "list indices must be integers or slices, not str");
    assert_eq!(text(set(&every, &Value::Int(5))), "must assign iterable to extended slice");
    assert_eq!(text(set(&every, &ints([1, 2]))), "attempt to assign sequence of size 2 to extended slice of size 1");
    assert_eq!(
        text(containers::delete_item(&state, &Value::tuple([]), &Value::Int(0))),
        "'tuple' object doesn't support item deletion"
    );
    Ok(())
}

#[test]
fn functions_are_made_of_functions() -> Result<()> {
    let state = state();
    let call_it = |callee: &Value, args: Vec<Value>| call_value(&state, callee, args, Keywords::new());
    assert_eq!(asked(&state, "functools.reduce", &[adding(), ints([1, 2, 3])]), "6");
    let empty = "TypeError: reduce() of empty iterable with no initial value";
    assert_eq!(asked(&state, "functools.reduce", &[adding(), ints([])]), empty);
    let len = Value::Function("py.len".into());
    let partial = call(&state, "functools.partial", &[len.clone(), ints([1])], &[])?;
    assert_eq!(state.repr(&partial)?, "functools.partial(<built-in function len>, [1])");
    assert_eq!(shown(&state, call_it(&partial, vec![])), "1");
    let cached = call(&state, "functools.cache", &[adding()], &[])?;
    for _ in 0..2 {
        assert_eq!(shown(&state, call_it(&cached, vec![Value::Int(1), Value::Int(2)])), "3");
    }
    let info = objects::members::attribute(&state, &cached, "cache_info")?;
    assert_eq!(shown(&state, call_it(&info, vec![])), "CacheInfo(hits=1, misses=1, maxsize=None, currsize=1)");
    assert_eq!(shown(&state, call_it(&cached, vec![ints([])])), "TypeError: unhashable type: 'list'");
    let squares = NativeFunction::value("f", |args, _| Ok(args.into_iter().next().unwrap_or(Value::None)));
    let mapped = call(&state, "torch.vmap", &[squares], &[])?;
    let rows = call(&state, "torch.arange", &[Value::Int(3)], &[])?;
    assert_eq!(shown(&state, call_it(&mapped, vec![rows])), "tensor([0, 1, 2])");
    Ok(())
}

//! Methods of arrays and object maps that call a closure or compare items.
//!
//! Rhai's own methods treat every answer other than `true` as false, and every pair of items for which `==` does not
//! return `true` as different. Comparisons of tensors are tensors, so those methods would be silently wrong. The
//! methods here use PyTorch's truth value of a tensor, or fail with PyTorch's message.

use super::Scripted;
use super::closures::Closure;
use super::fault;
use super::native::{Run, add_calling};
use super::runtime::Runtime;
use super::values::{is_ours, to_dynamic, to_value};
use objects::operators::{self, is_or_equals};
use objects::plain::containers;
use rhai::{Array, Dynamic, FnPtr, ImmutableString, Map, Module, NativeCallContext};
use std::any::TypeId;
use std::cmp::Ordering;
use std::rc::Rc;
use tensor::{Result, interrupt};
use value::Value;
use value::equality::truth;

/// Replaces Rhai's own methods with these.
pub(super) fn register(module: &mut Module, state: &Rc<Runtime>) {
    let (array, map, any) = (TypeId::of::<Array>(), TypeId::of::<Map>(), TypeId::of::<Dynamic>());
    let (closure, int) = (TypeId::of::<FnPtr>(), TypeId::of::<i64>());
    let mut add = |name: &str, types: &[TypeId], is_pure: bool, run: Run| {
        add_calling(module, state, name, types, is_pure, run);
    };
    add("map", &[array, closure], true, |state, context, args| {
        let Some(closure) = closure_of(state, context, args, 0) else { return Ok(Dynamic::UNIT) };
        let mut made = Array::new();
        for (at, item) in items(args).iter_mut().enumerate() {
            made.push(closure.call([], item, at)?.flatten());
        }
        Ok(made.into())
    });
    add("for_each", &[array, closure], false, |state, context, args| {
        let Some(pointer) = pointer_of(args) else { return Ok(Dynamic::UNIT) };
        let closure = Closure::on_this(state, context, pointer);
        let mut items = items(args);
        for (at, item) in items.iter_mut().enumerate() {
            drop(closure.call([], item, at)?);
        }
        replace(args, items.into());
        Ok(Dynamic::UNIT)
    });
    for types in [&[array, closure][..], &[array, closure, int]] {
        add("find_map", types, true, |state, context, args| {
            let Some(closure) = closure_of(state, context, args, 0) else { return Ok(Dynamic::UNIT) };
            for (at, item) in items(args).iter_mut().enumerate().skip(start(args)) {
                let answer = closure.call([], item, at)?;
                if !answer.is_unit() {
                    return Ok(answer);
                }
            }
            Ok(Dynamic::UNIT)
        });
    }
    for types in [&[array, closure][..], &[array, closure, any]] {
        add("reduce", types, true, |state, context, args| reduced(state, context, args, false));
        add("reduce_rev", types, true, |state, context, args| reduced(state, context, args, true));
    }
    add("filter", &[array, closure], true, |state, context, args| {
        let chosen = chosen(state, context, args)?;
        Ok(items(args).into_iter().zip(chosen).filter_map(|(item, is_chosen)| is_chosen.then_some(item)).collect())
    });
    add("all", &[array, closure], true, |state, context, args| {
        Ok((first(state, context, args, 0, false)?.is_none()).into())
    });
    add("some", &[array, closure], true, |state, context, args| {
        Ok((first(state, context, args, 0, true)?.is_some()).into())
    });
    for types in [&[array, closure][..], &[array, closure, int]] {
        add("index_of", types, true, |state, context, args| {
            let found = first(state, context, args, start(args), true)?;
            Ok(found.map_or(-1, |at| at as i64).into())
        });
        add("find", types, true, |state, context, args| {
            let found = first(state, context, args, start(args), true)?;
            Ok(found.and_then(|at| items(args).into_iter().nth(at)).unwrap_or_default())
        });
    }
    // If the second argument is a closure, the functions registered above apply instead.
    for types in [&[array, any][..], &[array, any, int]] {
        add("index_of", types, true, |state, context, args| {
            let found = place_of(state, context, args, start(args))?;
            Ok(found.map_or(-1, |at| at as i64).into())
        });
    }
    add("contains", &[array, any], true, |state, context, args| {
        Ok(place_of(state, context, args, 0)?.is_some().into())
    });
    add("retain", &[array, closure], false, |state, context, args| split_by_closure(state, context, args, true));
    add("drain", &[array, closure], false, |state, context, args| split_by_closure(state, context, args, false));
    for name in ["sort", "sort_by"] {
        add(name, &[array, closure], false, |_, context, args| sort(context, args).map(Dynamic::from));
    }
    for name in ["order", "order_by"] {
        add(name, &[array, closure], true, |_, context, args| {
            let mut ordered = Dynamic::from(items(args));
            let mut comparer = args.get(1).map(|closure| (**closure).clone()).unwrap_or_default();
            sort(context, &mut [&mut ordered, &mut comparer])?;
            Ok(ordered)
        });
    }
    for (name, is_copy, is_descending) in
        [("sort", false, false), ("sort_desc", false, true), ("order", true, false), ("order_desc", true, true)]
    {
        let run: Run = match (is_copy, is_descending) {
            (false, false) => |state, _, args| sort_by_value(state, args, false),
            (false, true) => |state, _, args| sort_by_value(state, args, true),
            (true, false) => |state, _, args| ordered(state, items(args), false).map(Dynamic::from),
            (true, true) => |state, _, args| ordered(state, items(args), true).map(Dynamic::from),
        };
        add(name, &[array], is_copy, run);
    }
    add("dedup", &[array], false, |state, context, args| {
        let mut kept = Array::new();
        for item in items(args) {
            match kept.last() {
                Some(last) if is_same(state, context, last, &item)? => {}
                _ => kept.push(item),
            }
        }
        replace(args, kept.into());
        Ok(Dynamic::UNIT)
    });
    add("dedup", &[array, closure], false, |_, context, args| {
        let Some(comparer) = pointer_of(args) else { return Ok(Dynamic::UNIT) };
        let mut kept = Array::new();
        for item in items(args) {
            let is_repeated = match kept.last() {
                Some(last) => holds(&comparer.call_raw(context, None, [last.clone(), item.clone()])?)?,
                None => false,
            };
            if !is_repeated {
                kept.push(item);
            }
        }
        replace(args, kept.into());
        Ok(Dynamic::UNIT)
    });
    for class in [array, map] {
        add("==", &[class, class], true, |state, context, args| match args {
            [a, b] => is_same(state, context, a, b).map(Dynamic::from),
            _ => Ok(Dynamic::UNIT),
        });
        add("!=", &[class, class], true, |state, context, args| match args {
            [a, b] => is_same(state, context, a, b).map(|same| Dynamic::from(!same)),
            _ => Ok(Dynamic::UNIT),
        });
    }
    add("items", &[map], true, |_, _, args| {
        let Some(map) = args.first().and_then(|map| map.read_lock::<Map>()) else { return Ok(Dynamic::UNIT) };
        let pairs = map.iter().map(|(key, value)| {
            let pair = [Value::str(key.as_str()), to_value(value)?];
            Ok(to_dynamic(Value::tuple(pair)))
        });
        pairs.collect::<Result<Array>>().map(Dynamic::from).map_err(fault::thrown)
    });
    add("filter", &[map, closure], true, |state, context, args| Ok(parted_map(state, context, args)?.0.into()));
    add("retain", &[map, closure], false, |state, context, args| {
        let (kept, others) = parted_map(state, context, args)?;
        replace(args, kept.into());
        Ok(others.into())
    });
    add("drain", &[map, closure], false, |state, context, args| {
        let (drained, others) = parted_map(state, context, args)?;
        replace(args, others.into());
        Ok(drained.into())
    });
}

/// Makes `in` work on every class of ours that has items. Shapes and tuples also compare equal to arrays, the only
/// sequences that a Rhai line can write.
pub(crate) fn register_containers(module: &mut Module, state: &Rc<Runtime>, classes: &[TypeId], sequences: &[TypeId]) {
    let (array, any) = (TypeId::of::<Array>(), TypeId::of::<Dynamic>());
    for class in classes {
        add_calling(module, state, "contains", &[*class, any], true, |state, _, args| match args {
            [whole, item] => to_value(whole)
                .and_then(|whole| containers::contains(state, &whole, &to_value(item)?))
                .map(Dynamic::from)
                .map_err(fault::thrown),
            _ => Ok(Dynamic::UNIT),
        });
    }
    for sequence in sequences {
        for types in [[*sequence, array], [array, *sequence]] {
            add_calling(module, state, "==", &types, true, |state, context, args| {
                same_items(state, context, args).map(Dynamic::from)
            });
            add_calling(module, state, "!=", &types, true, |state, context, args| {
                same_items(state, context, args).map(|same| Dynamic::from(!same))
            });
        }
    }
}

fn same_items(state: &Runtime, context: &NativeCallContext, args: &[&mut Dynamic]) -> Scripted<bool> {
    match args {
        [a, b] => is_same(state, context, a, b),
        _ => Ok(false),
    }
}

/// Returns whether a closure's answer counts as true. A Rhai value counts as true only if it is `true`.
fn holds(answer: &Dynamic) -> Scripted<bool> {
    if is_ours(answer) {
        return to_value(answer).and_then(|answer| truth(&answer)).map_err(fault::thrown);
    }
    Ok(answer.as_bool().unwrap_or(false))
}

/// Returns whether two items are identical or equal. Values of Rhai are compared with Rhai's `==`.
fn is_same(state: &Runtime, context: &NativeCallContext, a: &Dynamic, b: &Dynamic) -> Scripted<bool> {
    interrupt::check().map_err(fault::thrown)?;
    if let (Ok(a), Ok(b)) = (a.as_int(), b.as_int()) {
        return Ok(a == b);
    }
    if let (Some(a), Some(b)) = (a.read_lock::<Array>(), b.read_lock::<Array>()) {
        if a.len() != b.len() {
            return Ok(false);
        }
        for (a, b) in a.iter().zip(b.iter()) {
            if !is_same(state, context, a, b)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if let (Some(a), Some(b)) = (a.read_lock::<Map>(), b.read_lock::<Map>()) {
        if a.len() != b.len() {
            return Ok(false);
        }
        for (key, a) in a.iter() {
            match b.get(key) {
                Some(b) if is_same(state, context, a, b)? => {}
                _ => return Ok(false),
            }
        }
        return Ok(true);
    }
    if is_ours(a) || is_ours(b) {
        let same = || -> Result<bool> {
            let (a, b) = (to_value(a)?, to_value(b)?);
            match (&a, &b) {
                (Value::Size(_) | Value::Tuple(_) | Value::NamedTuple(_), Value::List(list)) => {
                    is_or_equals(state, &a, &Value::Tuple(list.to_vec().into_iter().collect()))
                }
                (Value::List(list), Value::Size(_) | Value::Tuple(_) | Value::NamedTuple(_)) => {
                    is_or_equals(state, &Value::Tuple(list.to_vec().into_iter().collect()), &b)
                }
                _ => is_or_equals(state, &a, &b),
            }
        };
        return same().map_err(fault::thrown);
    }
    let equal = context.call_native_fn_raw("==", true, &mut [&mut a.clone(), &mut b.clone()])?;
    Ok(equal.as_bool().unwrap_or(false))
}

/// Returns the items of the receiver.
fn items(args: &[&mut Dynamic]) -> Array {
    args.first().and_then(|array| array.read_lock::<Array>().map(|array| array.clone())).unwrap_or_default()
}

fn pointer_of(args: &[&mut Dynamic]) -> Option<FnPtr> {
    args.get(1)?.read_lock::<FnPtr>().map(|closure| closure.clone())
}

/// Returns the second argument as a closure to call for every item, with `before` arguments in front of the item.
fn closure_of<'c, 'e>(
    state: &Runtime,
    context: &'c NativeCallContext<'e>,
    args: &[&mut Dynamic],
    before: usize,
) -> Option<Closure<'c, 'e>> {
    Some(Closure::new(state, context, pointer_of(args)?, before))
}

/// Folds all items into one value. The initial value is the third argument, or `()`.
fn reduced(
    state: &Runtime,
    context: &NativeCallContext,
    args: &mut [&mut Dynamic],
    is_reversed: bool,
) -> Scripted<Dynamic> {
    let Some(closure) = closure_of(state, context, args, 1) else { return Ok(Dynamic::UNIT) };
    let mut sum = args.get(2).map(|first| (**first).clone()).unwrap_or_default();
    // Like Rhai, call the initial value if it is a closure.
    if let Some(first) = sum.read_lock::<FnPtr>().map(|first| first.clone()) {
        sum = first.call_raw(context, None, [])?;
    }
    let mut items = items(args);
    let length = items.len();
    for step in 0..length {
        let at = if is_reversed { length - 1 - step } else { step };
        if let Some(item) = items.get_mut(at) {
            sum = closure.call([sum], item, at)?;
        }
    }
    Ok(sum)
}

/// Overwrites the receiver with a value.
fn replace(args: &mut [&mut Dynamic], value: Dynamic) {
    let Some(receiver) = args.first_mut() else { return };
    if let Some(array) = value.read_lock::<Array>() {
        if let Some(mut receiver) = receiver.write_lock::<Array>() {
            receiver.clone_from(&array);
        }
        return;
    }
    if let (Some(mut receiver), Some(map)) = (receiver.write_lock::<Map>(), value.read_lock::<Map>()) {
        receiver.clone_from(&map);
    }
}

/// The index at which a search starts: the third argument. A negative index counts from the end.
fn start(args: &[&mut Dynamic]) -> usize {
    let at = args.get(2).and_then(|at| at.as_int().ok()).unwrap_or(0);
    match usize::try_from(at) {
        Ok(at) => at,
        Err(_) => items(args).len().saturating_sub(usize::try_from(at.unsigned_abs()).unwrap_or(usize::MAX)),
    }
}

/// Calls the closure for each item and returns its answers.
fn chosen(state: &Runtime, context: &NativeCallContext, args: &[&mut Dynamic]) -> Scripted<Vec<bool>> {
    let Some(closure) = closure_of(state, context, args, 0) else { return Ok(Vec::new()) };
    items(args).iter_mut().enumerate().map(|(at, item)| holds(&closure.call([], item, at)?)).collect()
}

/// Returns the index of the first item, from `start` on, for which the closure returns `wanted`.
fn first(
    state: &Runtime,
    context: &NativeCallContext,
    args: &[&mut Dynamic],
    start: usize,
    wanted: bool,
) -> Scripted<Option<usize>> {
    let Some(closure) = closure_of(state, context, args, 0) else { return Ok(None) };
    for (at, item) in items(args).iter_mut().enumerate().skip(start) {
        if holds(&closure.call([], item, at)?)? == wanted {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Returns the index of the first item, from `start` on, that equals the second argument.
fn place_of(
    state: &Runtime,
    context: &NativeCallContext,
    args: &[&mut Dynamic],
    start: usize,
) -> Scripted<Option<usize>> {
    let [array, wanted, ..] = args else { return Ok(None) };
    let Some(array) = array.read_lock::<Array>() else { return Ok(None) };
    for (at, item) in array.iter().enumerate().skip(start) {
        if is_same(state, context, item, wanted)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Keeps the items for which the closure returns `kept`, and returns the others.
fn split_by_closure(
    state: &Runtime,
    context: &NativeCallContext,
    args: &mut [&mut Dynamic],
    kept: bool,
) -> Scripted<Dynamic> {
    let chosen = chosen(state, context, args)?;
    let (mut stay, mut leave) = (Array::new(), Array::new());
    for (item, is_chosen) in items(args).into_iter().zip(chosen) {
        if is_chosen == kept { stay.push(item) } else { leave.push(item) }
    }
    replace(args, stay.into());
    Ok(leave.into())
}

/// Splits the entries of an object map: those for which the closure returns true, and the rest.
fn parted_map(state: &Runtime, context: &NativeCallContext, args: &[&mut Dynamic]) -> Scripted<(Map, Map)> {
    let (mut yes, mut no) = (Map::new(), Map::new());
    let (Some(closure), Some(map)) = (closure_of(state, context, args, 1), args.first()) else { return Ok((yes, no)) };
    let entries = map.read_lock::<Map>().map(|map| map.clone()).unwrap_or_default();
    for (index, (key, mut item)) in entries.into_iter().enumerate() {
        let name = [Dynamic::from(ImmutableString::from(key.as_str()))];
        if holds(&closure.call(name, &mut item, index)?)? {
            yes.insert(key, item)
        } else {
            no.insert(key, item)
        };
    }
    Ok((yes, no))
}

/// Sorts with a closure that returns either a number below, equal to or above zero, or whether the first item comes
/// first.
fn sort(context: &NativeCallContext, args: &mut [&mut Dynamic]) -> Scripted<()> {
    let Some(comparer) = pointer_of(args) else { return Ok(()) };
    let mut compare = |a: &Dynamic, b: &Dynamic| -> Scripted<Ordering> {
        let answer = comparer.call_raw(context, None, [a.clone(), b.clone()])?;
        order_of(&answer).map_err(fault::thrown)
    };
    let sorted = merged(items(args), &mut compare)?;
    replace(args, sorted.into());
    Ok(())
}

fn sort_by_value(state: &Runtime, args: &mut [&mut Dynamic], is_descending: bool) -> Scripted<Dynamic> {
    let sorted = ordered(state, items(args), is_descending)?;
    replace(args, sorted.into());
    Ok(Dynamic::UNIT)
}

/// Sorts with `<`.
fn ordered(state: &Runtime, items: Array, is_descending: bool) -> Scripted<Array> {
    let Some(less) = operators::BINARY.iter().find(|operator| operator.symbol == "<") else { return Ok(items) };
    let is_less = |a: &Dynamic, b: &Dynamic| -> Result<bool> {
        if let (Ok(a), Ok(b)) = (a.as_int(), b.as_int()) {
            return Ok(a < b);
        }
        truth(&operators::binary(state, less, &to_value(a)?, &to_value(b)?)?)
    };
    merged(items, &mut |a, b| {
        let (first, second) = if is_descending { (a, b) } else { (b, a) };
        let is_behind = interrupt::check().and_then(|()| is_less(first, second)).map_err(fault::thrown)?;
        Ok(if is_behind { Ordering::Greater } else { Ordering::Less })
    })
}

fn order_of(answer: &Dynamic) -> Result<Ordering> {
    let value = match to_value(answer)? {
        Value::Tensor(tensor) => Value::from(tensor.borrow().item()?),
        other => other,
    };
    Ok(match value {
        Value::Int(sign) => sign.cmp(&0),
        Value::Float(sign) => sign.partial_cmp(&0.0).unwrap_or(Ordering::Equal),
        Value::Bool(true) => Ordering::Less,
        Value::Bool(false) => Ordering::Greater,
        other => {
            let class = other.type_name();
            return Err(tensor::Error::type_error(format!(
                "a sorting closure must return a number or a bool, not {class}"
            )));
        }
    })
}

/// Merge sort: stable, and safe if the comparison contradicts itself.
fn merged(mut items: Array, compare: &mut dyn FnMut(&Dynamic, &Dynamic) -> Scripted<Ordering>) -> Scripted<Array> {
    if items.len() < 2 {
        return Ok(items);
    }
    let right = merged(items.split_off(items.len() / 2), compare)?;
    let left = merged(items, compare)?;
    let mut both = Array::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = if compare(a, b)? == Ordering::Greater { right.next() } else { left.next() };
        both.extend(next);
    }
    both.extend(left);
    both.extend(right);
    Ok(both)
}

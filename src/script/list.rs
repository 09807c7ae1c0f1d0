//! Python's lists: shared by everyone who holds them, unlike Rhai's arrays, which are values. A line of Python makes
//! lists, a line of Rhai arrays; functions of the table see a copy of either. This file must not know what the items
//! are.

use super::class::Instance;
use super::dict::Dict;
use super::engine::{add, any};
use super::runtime::Runtime;
use super::value::{self, BoxedObject, to_dynamic, to_value};
use crate::bail;
use crate::functions::subscript::{self, slice_bounds};
use crate::tensor::interrupt::{self, watched};
use crate::tensor::{Error, ErrorKind, Result, limits};
use crate::value::equality::equal;
use crate::value::{Slice, Value};
use rhai::{Array, Dynamic, Module};
use std::any::TypeId;
use std::cell::RefCell;
use std::rc::Rc;

/// A list. Cloning it gives another handle on the same items.
#[derive(Clone)]
pub struct List(Rc<Items>);

struct Items(RefCell<Vec<Dynamic>>);

/// Lists within lists within lists … are taken apart without recursion, or a long chain of them would exhaust the
/// stack.
impl Drop for Items {
    fn drop(&mut self) {
        dismantle(self.0.take());
    }
}

/// Drops values, and what only they hold, one after the other.
pub fn dismantle(mut doomed: Vec<Dynamic>) {
    while let Some(item) = doomed.pop() {
        if item.is::<List>() {
            let items = item.try_cast::<List>().and_then(|list| Rc::into_inner(list.0));
            doomed.extend(items.map(|items| items.0.take()).unwrap_or_default());
        } else if item.is::<Dict>() {
            doomed.extend(item.try_cast::<Dict>().and_then(Dict::into_values).unwrap_or_default());
        } else if let Some(object) = item.try_cast::<BoxedObject>()
            && let Value::Object(object) = &object.0
            && Rc::strong_count(object) == 1
            && let Some(instance) = object.as_any().downcast_ref::<Instance>()
        {
            doomed.extend(instance.fields.take());
        }
    }
}

impl List {
    /// A list of these items. Arrays among them become lists, so that changing one in place reaches its holder.
    pub fn new(items: impl IntoIterator<Item = Dynamic>) -> List {
        List(Rc::new(Items(RefCell::new(watched(items).map(own).collect()))))
    }

    /// The items as they are now.
    pub fn items(&self) -> Vec<Dynamic> {
        self.0.0.borrow().clone()
    }

    /// The list as functions of the table take it.
    ///
    /// # Errors
    /// RecursionError for a list that contains itself or lies too deep.
    pub fn to_value(&self, copied: &mut value::Copied) -> Result<Value> {
        // Held as if to be written to: a list that contains itself meets its own lock.
        let Ok(items) = self.0.0.try_borrow_mut() else { return Err(value::too_deep()) };
        copied.items(items.len(), items.iter(), value::to_value_within).map(Value::List)
    }

    /// Puts these items in place of all others.
    pub fn replace(&self, items: Vec<Dynamic>) {
        *self.0.0.borrow_mut() = items;
    }

    fn push(&self, item: Dynamic) -> Result<()> {
        let mut items = self.0.0.borrow_mut();
        limits::grown_to::<Dynamic>(items.len() + 1)?;
        items.push(own(item));
        Ok(())
    }

    fn take_first(&self) -> Option<Dynamic> {
        let mut items = self.0.0.borrow_mut();
        if items.is_empty() { None } else { Some(items.remove(0)) }
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.0.0.borrow().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A number that is the same for two handles exactly when they are one list.
    pub fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }

    fn is(&self, other: &List) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    fn position(&self, wanted: &Value) -> Result<Option<usize>> {
        for (i, item) in watched(self.items()).enumerate() {
            if equal(&to_value(&item)?, wanted) {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }

    fn get(&self, index: &Value) -> Result<Dynamic> {
        let items = self.0.0.borrow();
        match index {
            Value::Slice(slice) => {
                let chosen = chosen(slice, items.len())?;
                Ok(Dynamic::from(List::new(chosen.into_iter().filter_map(|i| items.get(i).cloned()))))
            }
            _ => {
                let i = place(index, items.len(), "list index out of range")?;
                items.get(i).cloned().ok_or_else(|| Error::index("list index out of range"))
            }
        }
    }

    fn set(&self, state: &Runtime, index: &Value, value: &Dynamic) -> Result<()> {
        if let Value::Slice(slice) = index {
            let items = items_of(state, value)?;
            // Some of them may be missing.
            interrupt::check()?;
            return self.set_slice(slice, items);
        }
        let mut items = self.0.0.borrow_mut();
        let i = place(index, items.len(), "list assignment index out of range")?;
        if let Some(item) = items.get_mut(i) {
            *item = own(value.clone());
        }
        Ok(())
    }

    fn set_slice(&self, slice: &Slice, values: Vec<Dynamic>) -> Result<()> {
        let mut items = self.0.0.borrow_mut();
        let (start, stop, step) = slice_bounds(slice, items.len())?;
        if step == 1 {
            let (start, stop) = (start.max(0) as usize, stop.max(start).max(0) as usize);
            limits::room_for::<Dynamic>(items.len() + values.len())?;
            items.splice(start..stop, values.into_iter().map(own));
            return Ok(());
        }
        let chosen = chosen(slice, items.len())?;
        if chosen.len() != values.len() {
            bail!(
                ValueError,
                "attempt to assign sequence of size {} to extended slice of size {}",
                values.len(),
                chosen.len()
            );
        }
        for (i, value) in chosen.into_iter().zip(values) {
            if let Some(item) = items.get_mut(i) {
                *item = own(value);
            }
        }
        Ok(())
    }

    fn delete(&self, index: &Value) -> Result<()> {
        let mut items = self.0.0.borrow_mut();
        let mut doomed = match index {
            Value::Slice(slice) => chosen(slice, items.len())?,
            _ => vec![place(index, items.len(), "list assignment index out of range")?],
        };
        doomed.sort_unstable();
        let (mut doomed, mut at) = (doomed.into_iter().peekable(), 0);
        items.retain(|_| {
            at += 1;
            doomed.next_if_eq(&(at - 1)).is_none()
        });
        Ok(())
    }
}

/// The positions a slice selects.
fn chosen(slice: &Slice, length: usize) -> Result<Vec<usize>> {
    let (start, stop, step) = slice_bounds(slice, length)?;
    Ok(subscript::positions(start, stop, step).filter(|&i| i < length).collect())
}

/// The position an integer subscript names.
fn place(index: &Value, length: usize, refusal: &str) -> Result<usize> {
    let Some(i) = subscript::as_index(index)? else {
        bail!(TypeError, "list indices must be integers or slices, not {}", index.type_name())
    };
    let position = if i < 0 { i.saturating_add(length as i64) } else { i };
    usize::try_from(position).ok().filter(|&p| p < length).ok_or_else(|| Error::index(refusal))
}

/// A value that is about to be held by a list, a dictionary or a name: arrays become lists.
pub fn own(item: Dynamic) -> Dynamic {
    match item.read_lock::<Array>().map(|array| array.clone()) {
        Some(array) => Dynamic::from(List::new(array)),
        None => item,
    }
}

/// What iterating over any value gives, each item the very object where it has an identity.
pub fn items_of(state: &Runtime, value: &Dynamic) -> Result<Vec<Dynamic>> {
    if let Some(list) = value.read_lock::<List>() {
        return Ok(list.items());
    }
    if let Some(array) = value.read_lock::<Array>() {
        return Ok(array.clone());
    }
    subscript::items(state, &to_value(value)?).map(|items| watched(items).map(to_dynamic).collect())
}

type Method = fn(&Runtime, &List, &[&mut Dynamic]) -> Result<Dynamic>;

/// The methods of a list: name, the numbers of arguments they take, function.
const METHODS: &[(&str, &[usize], Method)] = &[
    ("append", &[1], |_, list, args| list.push(argument(args, 0)).map(|()| Dynamic::UNIT)),
    ("extend", &[1], |state, list, args| extend(state, list, &argument(args, 0)).map(|()| Dynamic::UNIT)),
    ("insert", &[2], |_, list, args| {
        let length = list.0.0.borrow().len();
        let at = subscript::as_index(&to_value(&argument(args, 0))?)?;
        let Some(at) = at else { bail!(TypeError, "'{}' object cannot be interpreted as an integer", class(args, 0)?) };
        let at = if at < 0 { at.saturating_add(length as i64).max(0) } else { at };
        limits::grown_to::<Dynamic>(length + 1)?;
        list.0.0.borrow_mut().insert(usize::try_from(at).unwrap_or(length).min(length), own(argument(args, 1)));
        Ok(Dynamic::UNIT)
    }),
    ("pop", &[0, 1], |_, list, args| {
        let mut items = list.0.0.borrow_mut();
        if items.is_empty() {
            bail!(IndexError, "pop from empty list");
        }
        let i = match args.first() {
            Some(index) => place(&to_value(index)?, items.len(), "pop index out of range")?,
            None => items.len() - 1,
        };
        Ok(items.remove(i))
    }),
    ("remove", &[1], |_, list, args| match list.position(&to_value(&argument(args, 0))?)? {
        Some(i) => {
            let _: Dynamic = list.0.0.borrow_mut().remove(i);
            Ok(Dynamic::UNIT)
        }
        None => bail!(ValueError, "list.remove(x): x not in list"),
    }),
    ("clear", &[0], |_, list, _| {
        list.0.0.borrow_mut().clear();
        Ok(Dynamic::UNIT)
    }),
    ("copy", &[0], |_, list, _| Ok(Dynamic::from(List::new(list.items())))),
    ("reverse", &[0], |_, list, _| {
        list.0.0.borrow_mut().reverse();
        Ok(Dynamic::UNIT)
    }),
    ("iter", &[0], |_, list, _| Ok(list.items().into())),
    ("list", &[0], |_, list, _| Ok(Dynamic::from(List::new(list.items())))),
    ("id", &[0], |_, list, _| Ok((Rc::as_ptr(&list.0) as *const () as i64).into())),
    ("__contains__", &[1], |_, list, args| Ok(list.position(&to_value(&argument(args, 0))?)?.is_some().into())),
    ("__is__", &[1], |_, list, args| {
        Ok(args.first().and_then(|other| other.read_lock::<List>()).is_some_and(|other| list.is(&other)).into())
    }),
    ("__getitem__", &[1], |_, list, args| list.get(&to_value(&argument(args, 0))?)),
    ("__setitem__", &[2], |state, list, args| {
        list.set(state, &to_value(&argument(args, 0))?, &argument(args, 1)).map(|()| Dynamic::UNIT)
    }),
    ("__delitem__", &[1], |_, list, args| list.delete(&to_value(&argument(args, 0))?).map(|()| Dynamic::UNIT)),
    ("__iadd__", &[1], |state, list, args| {
        extend(state, list, &argument(args, 0))?;
        Ok(Dynamic::from(list.clone()))
    }),
];

/// Makes Python's error for a call of a list's method with this many arguments, if it takes other numbers of them.
pub fn wrong_count(name: &str, given: usize) -> Option<Error> {
    let (_, takes, _) = METHODS.iter().find(|(known, ..)| *known == name)?;
    if takes.contains(&given) || name.starts_with('_') {
        return None;
    }
    let s = |count: usize| if count == 1 { "" } else { "s" };
    Some(Error::type_error(match takes {
        [0] => format!("list.{name}() takes no arguments ({given} given)"),
        [1] => format!("list.{name}() takes exactly one argument ({given} given)"),
        [only] => format!("{name} expected {only} argument{}, got {given}", s(*only)),
        [.., most] => format!("{name} expected at most {most} argument{}, got {given}", s(*most)),
        [] => return None,
    }))
}

fn argument(args: &[&mut Dynamic], index: usize) -> Dynamic {
    args.get(index).map_or(Dynamic::UNIT, |arg| arg.flatten_clone())
}

fn class(args: &[&mut Dynamic], index: usize) -> Result<String> {
    to_value(&argument(args, index)).map(|value| value.type_name().to_string())
}

fn extend(state: &Runtime, list: &List, more: &Dynamic) -> Result<()> {
    let more = items_of(state, more)?;
    // Some of them may be missing.
    interrupt::check()?;
    // The new items are there twice while they are added.
    limits::room_for::<Dynamic>(2 * (list.len() + more.len()))?;
    list.0.0.borrow_mut().extend(more.into_iter().map(own));
    Ok(())
}

/// Adds the class to a module of the engine.
pub fn register(module: &mut Module, state: &Rc<Runtime>) {
    for (name, arities, method) in METHODS {
        for arity in *arities {
            let types = [vec![TypeId::of::<List>()], any(*arity)].concat();
            let state = state.clone();
            add(module, name, &types, move |args| match args.split_first() {
                Some((this, rest)) => method(&state, &receiver(this)?, rest),
                None => Ok(Dynamic::UNIT),
            });
        }
    }
    // `l[i]` where Rhai subscripts itself.
    let class = TypeId::of::<List>();
    let this = state.clone();
    add(module, "index$get$", &[class, TypeId::of::<Dynamic>()], move |args| match args {
        [list, index] => match index.read_lock::<rhai::ImmutableString>() {
            Some(name) => Err(crate::call::suggest::no_attribute(&this, &to_value(list)?, &name)),
            None => receiver(list)?.get(&to_value(index)?),
        },
        _ => Ok(Dynamic::UNIT),
    });
    let this = state.clone();
    add(module, "index$set$", &[class, TypeId::of::<Dynamic>(), TypeId::of::<Dynamic>()], move |args| match args {
        [list, index, value] => receiver(list)?.set(&this, &to_value(index)?, value).map(|()| Dynamic::UNIT),
        _ => Ok(Dynamic::UNIT),
    });
    // Rhai's name for it.
    add(module, "push", &[class, TypeId::of::<Dynamic>()], |args| match args {
        [list, item] => receiver(list)?.push(item.clone()).map(|()| Dynamic::UNIT),
        _ => Ok(Dynamic::UNIT),
    });
    // A literal, or what a comprehension filled, becomes a list.
    add(module, "list", &[TypeId::of::<Array>()], |args| match args {
        [array] => Ok(own(array.clone())),
        _ => Ok(Dynamic::UNIT),
    });
    // What `iter` gave is used up from the front.
    for class in [class, TypeId::of::<Array>()] {
        for more in [0, 1] {
            add(module, "next", &[vec![class], any(more)].concat(), |args| {
                let Some((items, default)) = args.split_first_mut() else { return Ok(Dynamic::UNIT) };
                let taken = items
                    .write_lock::<Array>()
                    .map(|mut array| if array.is_empty() { None } else { Some(array.remove(0)) });
                let first = match taken {
                    Some(first) => first,
                    None => receiver(items)?.take_first(),
                };
                let default = default.first().map(|default| default.flatten_clone());
                first.or(default).ok_or_else(|| Error::new(ErrorKind::StopIteration, ""))
            });
        }
    }
    // The arguments of a call, some of them starred.
    let this = state.clone();
    add(module, "__concat__", &[TypeId::of::<Array>()], move |args| match args {
        [parts] => {
            let parts: Array = parts.read_lock::<Array>().map(|parts| parts.clone()).unwrap_or_default();
            let parts = parts.iter().map(|part| items_of(&this, part)).collect::<Result<Vec<_>>>()?;
            limits::room_for::<Dynamic>(parts.iter().map(Vec::len).sum())?;
            Ok(parts.concat().into())
        }
        _ => Ok(Dynamic::UNIT),
    });
    module.set_iter_result(class, |list| {
        Box::new(list.try_cast::<List>().map(|list| list.items()).unwrap_or_default().into_iter().map(Ok))
    });
}

fn receiver(this: &Dynamic) -> Result<List> {
    this.read_lock::<List>().map(|list| list.clone()).ok_or_else(|| Error::type_error("a list is needed here"))
}

//! Methods of Python's lists. See `container_methods.rs`.

use crate::iterate::iterate;
use crate::methods::{ContainerMethod, Given, takes};
use crate::operators::is_or_equals;
use crate::plain::containers;
use crate::plain::numbers::size;
use crate::plain::slices::as_index;
use crate::plain::sorting::sorted_items;
use tensor::{Error, Result, bail, interrupt, limits};
use value::equality::truth;
use value::{List, Value};

pub(crate) const METHODS: &[ContainerMethod<List>] = &[
    takes(
        "append",
        (1, 1),
        |list, given| {
            limits::grown_to::<Value>(list.len() + 1)?;
            list.change(|items| items.push(given.at(0)))?;
            Ok(Value::None)
        },
        "Adds an item at the end.",
    ),
    takes(
        "extend",
        (1, 1),
        |list, given| extend(given, list).map(|()| Value::None),
        "Adds the items of another value at the end.",
    ),
    takes(
        "insert",
        (2, 2),
        |list, given| {
            let length = list.len();
            let at = size(&given.at(0))?;
            let at = if at < 0 { at.saturating_add(length as i64).max(0) } else { at };
            limits::grown_to::<Value>(length + 1)?;
            let at = usize::try_from(at).unwrap_or(length).min(length);
            list.change(|items| items.insert(at, given.at(1)))?;
            Ok(Value::None)
        },
        "Puts an item before a place.",
    ),
    takes(
        "pop",
        (0, 1),
        |list, given| {
            if list.is_empty() {
                bail!(IndexError, "pop from empty list");
            }
            match given.args.first() {
                None => list.change(Vec::pop)?.ok_or_else(|| Error::index("pop from empty list")),
                Some(index) => {
                    let at = size(index)?;
                    let length = list.len();
                    let place = if at < 0 { at.saturating_add(length as i64) } else { at };
                    let place = usize::try_from(place).ok().filter(|&place| place < length);
                    let place = place.ok_or_else(|| Error::index("pop index out of range"))?;
                    list.change(|items| items.remove(place))
                }
            }
        },
        "Takes an item out, by default the last one.",
    ),
    takes(
        "remove",
        (1, 1),
        |list, given| match position(given, list, 0, usize::MAX)? {
            Some(at) => list.change(|items| drop(items.remove(at))).map(|()| Value::None),
            None => bail!(ValueError, "list.remove(x): x not in list"),
        },
        "Takes out the first item that is equal to a value.",
    ),
    takes("clear", (0, 0), |list, _| list.replace(Vec::new()).map(|()| Value::None), "Takes out all items."),
    takes("copy", (0, 0), |list, _| Ok(Value::List(list.to_vec().into())), "Returns a list of the same items."),
    takes(
        "reverse",
        (0, 0),
        |list, _| list.change(|items| items.reverse()).map(|()| Value::None),
        "Reverses the order of the items.",
    ),
    takes(
        "index",
        (1, 3),
        |list, given| {
            let length = list.len();
            let bound = |at: usize, default: usize| -> Result<usize> {
                match given.args.get(at).map(as_index).transpose()?.flatten() {
                    Some(at) if at < 0 => Ok((at.saturating_add(length as i64)).max(0) as usize),
                    Some(at) => Ok(at as usize),
                    None => Ok(default),
                }
            };
            match position(given, list, bound(1, 0)?, bound(2, usize::MAX)?)? {
                Some(at) => Ok(Value::Int(at as i64)),
                None => bail!(ValueError, "{} is not in list", given.state.repr(&given.at(0))?),
            }
        },
        "Returns the place of the first item that is equal to a value.",
    ),
    takes(
        "count",
        (1, 1),
        |list, given| {
            let count = containers::count(given.state, &Value::List(list.clone()), &given.at(0))?;
            Ok(Value::Int(count as i64))
        },
        "Counts the items that are equal to a value.",
    ),
    ContainerMethod {
        named: true,
        ..takes(
            "sort",
            (0, 0),
            |list, given| {
                if let Some((name, _)) = given.keywords.iter().find(|(name, _)| !matches!(&**name, "key" | "reverse")) {
                    bail!(TypeError, "'{name}' is an invalid keyword argument for sort()");
                }
                let reverse = given.named("reverse").map_or(Ok(false), truth)?;
                let key = given.named("key").unwrap_or(&Value::None);
                let sorted = sorted_items(given.state, list.to_vec(), key, reverse)?;
                // Copying the list stops early on an interrupt: an incomplete result must not replace it.
                interrupt::check()?;
                list.replace(sorted).map(|()| Value::None)
            },
            "Sorts the items.",
        )
    },
];

/// Returns the position of the first item in `from..to` that equals the argument.
fn position(given: &Given, list: &List, from: usize, to: usize) -> Result<Option<usize>> {
    for (i, item) in list.to_vec().iter().enumerate().take(to).skip(from) {
        interrupt::check_at(i)?;
        if is_or_equals(given.state, item, &given.at(0))? {
            return Ok(Some(i));
        }
    }
    Ok(None)
}

/// Appends the items of another value.
fn extend(given: &Given, list: &List) -> Result<()> {
    let more = iterate(given.state, &given.at(0))?.collect()?;
    limits::room_for::<Value>(list.len() + more.len())?;
    list.change(|items| items.extend(more))
}

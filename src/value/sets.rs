//! Python's sets: distinct items, the operators between sets, and the order in which a set shows its items.

use super::hashed::{Hashed, has_fixed_hash, hash};
use crate::Value;
use std::cell::{Ref, RefCell};
use std::rc::Rc;
use tensor::interrupt::watched;
use tensor::{Error, Result, interrupt};

/// Sorts items into CPython's iteration order of sets. The order depends on their hashes, which for small integers are
/// the integers themselves. Strings have hashes that differ from run to run; here they keep insertion order.
pub(crate) fn in_set_order(items: &[Value]) -> Vec<Value> {
    let fixed = |item| has_fixed_hash(item).then(|| hash(item).ok().map(i64::cast_unsigned)).flatten();
    let Some(hashes) = items.iter().map(fixed).collect::<Option<Vec<u64>>>() else { return items.to_vec() };
    let mut table: Vec<Option<usize>> = vec![None; 8];
    for (filled, &hash) in hashes.iter().enumerate() {
        place(&mut table, hash, filled);
        // The table grows when three fifths of it are in use.
        if (filled + 1) * 5 >= (table.len() - 1) * 3 {
            let used = filled + 1;
            let wanted = if used > 50_000 { used * 2 } else { used * 4 };
            let mut size = 8;
            while size <= wanted {
                size *= 2;
            }
            let old = std::mem::replace(&mut table, vec![None; size]);
            for slot in old.into_iter().flatten() {
                if let Some(&hash) = hashes.get(slot) {
                    place(&mut table, hash, slot);
                }
            }
        }
    }
    table.into_iter().flatten().filter_map(|i| items.get(i).cloned()).collect()
}

/// The number of adjacent slots tried before the next jump.
const NEIGHBOURS: usize = 9;

fn place(table: &mut [Option<usize>], hash: u64, item: usize) {
    let mask = table.len() - 1;
    let mut perturb = hash;
    let mut at = hash as usize & mask;
    loop {
        let last = if at + NEIGHBOURS <= mask { at + NEIGHBOURS } else { at };
        for slot in table.iter_mut().take(last + 1).skip(at) {
            if slot.is_none() {
                *slot = Some(item);
                return;
            }
        }
        perturb >>= 5;
        at = at.wrapping_mul(5).wrapping_add(1).wrapping_add(perturb as usize) & mask;
    }
}

/// A set, or a `frozenset`. Clones are handles to the same items.
#[derive(Clone, Default)]
pub struct Set(Rc<Shared>);

#[derive(Default)]
struct Shared {
    items: RefCell<Hashed<()>>,
    is_frozen: bool,
}

impl Set {
    /// Creates a set of the distinct items.
    ///
    /// # Errors
    /// TypeError for an unhashable item, MemoryError.
    pub fn new(items: impl IntoIterator<Item = Value>) -> Result<Set> {
        Ok(Set(Rc::new(Shared { items: RefCell::new(distinct(items)?), is_frozen: false })))
    }

    /// Copies the items to a new `frozenset` or plain set.
    pub fn to_kind(&self, is_frozen: bool) -> Set {
        Set(Rc::new(Shared { items: self.0.items.clone(), is_frozen }))
    }

    pub fn is_frozen(&self) -> bool {
        self.0.is_frozen
    }

    /// Borrows the items for reading. The set must not be changed meanwhile.
    pub fn borrow(&self) -> Ref<'_, Hashed<()>> {
        self.0.items.borrow()
    }

    pub fn len(&self) -> usize {
        self.borrow().len()
    }

    pub fn is_empty(&self) -> bool {
        self.borrow().is_empty()
    }

    /// Returns a copy of the current items, in the order in which they are shown.
    pub fn to_vec(&self) -> Vec<Value> {
        let items: Vec<Value> = self.borrow().iter().map(|(item, ())| item.clone()).collect();
        in_set_order(&items)
    }

    /// Adds an item unless the set contains it.
    ///
    /// # Errors
    /// TypeError for an unhashable item; RuntimeError during iteration; MemoryError.
    pub fn insert(&self, item: Value) -> Result<()> {
        let known = self.borrow().contains(&item)?;
        if known { Ok(()) } else { self.change(|items| items.add(item, ()))? }
    }

    /// Returns whether the set contains an item.
    ///
    /// # Errors
    /// Those of [`Set::insert`].
    pub fn contains(&self, item: &Value) -> Result<bool> {
        self.borrow().contains(&findable(item))
    }

    /// Removes an item. Returns whether the set contained it.
    ///
    /// # Errors
    /// Those of [`Set::insert`].
    pub fn remove(&self, item: &Value) -> Result<bool> {
        let Some(at) = self.borrow().position(&findable(item))? else { return Ok(false) };
        Ok(self.change(|items| items.take(at))?.is_some())
    }

    /// Replaces all items.
    ///
    /// # Errors
    /// Those of [`Set::insert`].
    pub fn replace(&self, items: Vec<Value>) -> Result<()> {
        let held = distinct(items)?;
        let before = self.change(|items| std::mem::replace(items, held))?;
        drop(before);
        Ok(())
    }

    /// Changes the items. Comparing items may run a script that reads them meanwhile.
    ///
    /// # Errors
    /// RuntimeError during iteration.
    pub fn change<R>(&self, change: impl FnOnce(&mut Hashed<()>) -> R) -> Result<R> {
        let items = self.0.items.try_borrow_mut();
        let mut items = items.map_err(|_| Error::runtime("Set changed size during iteration"))?;
        Ok(change(&mut items))
    }

    /// Returns whether both handles refer to the same set.
    pub fn is(&self, other: &Set) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Returns a number that identifies the set.
    pub fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }
}

/// Returns the value by which an item is looked up: for an unhashable set, a frozen set with the same items.
fn findable(item: &Value) -> Value {
    match item {
        Value::Set(set) if !set.is_frozen() => Value::Set(set.to_kind(true)),
        other => other.clone(),
    }
}

/// Collects the distinct items by their hashes.
fn distinct(items: impl IntoIterator<Item = Value>) -> Result<Hashed<()>> {
    let mut kept = Hashed::default();
    for (i, item) in items.into_iter().enumerate() {
        // Looking up an item takes longer than a step of a kernel.
        interrupt::check_at(i * 16)?;
        kept.insert(item, ())?;
    }
    Ok(kept)
}

/// Applies an operator between sets; the result has the kind of the first one. `None` for other operators.
///
/// # Errors
/// Errors of comparing items.
pub fn combined(symbol: &str, a: &Set, b: &Set) -> Result<Option<Value>> {
    let only = |from: &Set, without: &Set| -> Result<Vec<Value>> {
        let mut kept = Vec::new();
        for item in watched(from.to_vec()) {
            if !without.borrow().contains(&item)? {
                kept.push(item);
            }
        }
        Ok(kept)
    };
    let is_part =
        |small: &Set, large: &Set| Ok::<_, Error>(small.len() <= large.len() && only(small, large)?.is_empty());
    let made = |items: Vec<Value>| Ok::<_, Error>(Value::Set(Set::new(items)?.to_kind(a.is_frozen())));
    Ok(Some(match symbol {
        "|" => made([a.to_vec(), only(b, a)?].concat())?,
        "&" => {
            // Iterates over the smaller set, like CPython, because that determines the order.
            let (small, large) = if b.len() > a.len() { (a, b) } else { (b, a) };
            let common = watched(small.to_vec()).filter_map(|item| match large.borrow().contains(&item) {
                Ok(known) => known.then_some(Ok(item)),
                Err(error) => Some(Err(error)),
            });
            made(common.collect::<Result<_>>()?)?
        }
        "-" => made(only(a, b)?)?,
        "^" => made([only(a, b)?, only(b, a)?].concat())?,
        "==" => Value::Bool(a.len() == b.len() && is_part(a, b)?),
        "!=" => Value::Bool(a.len() != b.len() || !is_part(a, b)?),
        "<=" => Value::Bool(is_part(a, b)?),
        "<" => Value::Bool(a.len() < b.len() && is_part(a, b)?),
        ">=" => Value::Bool(is_part(b, a)?),
        ">" => Value::Bool(b.len() < a.len() && is_part(b, a)?),
        _ => return Ok(None),
    }))
}

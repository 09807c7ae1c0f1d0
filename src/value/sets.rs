//! Sets of Python: items that are all different, the operators between sets, and the order in which a set shows its items.

use super::hashed::Hashed;
use super::numbers::hash_number;
use crate::bail;
use crate::tensor::interrupt::watched;
use crate::tensor::{Result, interrupt, limits};
use crate::value::Value;

/// Items in the order in which CPython walks through a set of them. That is told by their hashes, which for small
/// integers are the integers; texts have hashes that differ from run to run, and keep the order of insertion here.
pub fn in_set_order(items: &[Value]) -> Vec<Value> {
    let hashes: Option<Vec<u64>> = items.iter().map(|item| hash_number(item).map(i64::cast_unsigned)).collect();
    let Some(hashes) = hashes else { return items.to_vec() };
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

/// The number of neighbours tried before the next jump.
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

/// An item as it takes room.
pub type Item = (Value, [usize; 4]);

/// Items that are all different.
///
/// # Errors
/// TypeError for one that can change.
pub fn distinct(items: impl IntoIterator<Item = Value>) -> Result<Vec<Value>> {
    Ok(hashed(items)?.into_entries().map(|(item, ())| item).collect())
}

/// The items, found by their hashes.
///
/// # Errors
/// As [`distinct`].
pub fn hashed(items: impl IntoIterator<Item = Value>) -> Result<Hashed<()>> {
    let mut kept = Hashed::default();
    for (i, item) in items.into_iter().enumerate() {
        // Finding an item takes longer than a step of a kernel.
        interrupt::check_at(i * 16)?;
        check(&item)?;
        limits::grown_to::<Item>(kept.len() + 1)?;
        kept.insert_new(item, ());
    }
    Ok(kept)
}

/// Refuses an item that can change.
///
/// # Errors
/// TypeError.
pub fn check(item: &Value) -> Result<()> {
    if matches!(item, Value::List(_) | Value::Dict(_) | Value::OrderedDict(_) | Value::Set(_)) {
        bail!(TypeError, "unhashable type: '{}'", item.type_name());
    }
    Ok(())
}

/// What the operators between sets give; `None` for any other operator.
pub fn combined(symbol: &str, a: &[Value], b: &[Value]) -> Option<Value> {
    if !matches!(symbol, "|" | "&" | "-" | "^" | "==" | "!=" | "<=" | "<" | ">=" | ">") {
        return None;
    }
    let hashed = |all: &[Value]| -> Hashed<()> { watched(all.iter().cloned()).collect() };
    let only = |from: &[Value], without: &[Value]| -> Vec<Value> {
        let without = hashed(without);
        watched(from).filter(|item| !without.contains(item)).cloned().collect()
    };
    let is_part = |small: &[Value], large: &[Value]| {
        let large = hashed(large);
        watched(small).all(|item| large.contains(item))
    };
    Some(match symbol {
        "|" => Value::Set(a.iter().cloned().chain(only(b, a)).collect()),
        "&" => {
            let others = hashed(b);
            Value::Set(watched(a).filter(|item| others.contains(item)).cloned().collect())
        }
        "-" => Value::Set(only(a, b).into()),
        "^" => Value::Set(only(a, b).into_iter().chain(only(b, a)).collect()),
        "==" => Value::Bool(a.len() == b.len() && is_part(a, b)),
        "!=" => Value::Bool(a.len() != b.len() || !is_part(a, b)),
        "<=" => Value::Bool(is_part(a, b)),
        "<" => Value::Bool(a.len() < b.len() && is_part(a, b)),
        ">=" => Value::Bool(is_part(b, a)),
        ">" => Value::Bool(b.len() < a.len() && is_part(b, a)),
        _ => return None,
    })
}

//! The order in which a set shows its items.

use crate::value::Value;

/// Items in the order in which CPython walks through a set of them. That is told by their hashes, which for small
/// integers are the integers; texts have hashes that differ from run to run, and keep the order of insertion here.
pub fn in_set_order(items: &[Value]) -> Vec<Value> {
    let hashes: Option<Vec<u64>> = items.iter().map(hash).collect();
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

/// How many neighbours are tried before the next jump.
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

/// Python's hash of a number that is an integer of moderate size.
fn hash(item: &Value) -> Option<u64> {
    match item {
        Value::Bool(b) => Some(u64::from(*b)),
        Value::Int(-1) => Some((-2i64) as u64),
        Value::Int(i) if i.unsigned_abs() < (1 << 61) - 1 => Some(*i as u64),
        _ => None,
    }
}

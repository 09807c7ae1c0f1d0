//! Maps keyed by Python's equality, in insertion order, with lookups in constant time, and the hashes they need. Used
//! by dictionaries and sets.

use super::equality::{equals, is};
use crate::Value;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use tensor::{BufferKind, Result, bail, limits};

pub struct Hashed<V> {
    /// The entries. A removed entry leaves a gap; gaps are closed when there are many.
    entries: Vec<Option<Entry<V>>>,
    /// There are only gaps before this position.
    first: usize,
    /// The positions of the entries, by hash.
    places: HashTable<usize>,
}

struct Entry<V> {
    hash: u64,
    key: Value,
    value: V,
}

/// Mixes the bits of a hash for the table, which takes a place from the lowest and compares the highest. Python's hash of an
/// integer is the integer, so that multiples of 65,536 would all have one place. But numbers that follow each other are to
/// stay near each other, in memory that is in a cache: blocks of 64 are kept together.
#[inline]
fn mixed(hash: u64) -> u64 {
    /// 2^64 divided by the golden ratio.
    const FACTOR: u128 = 0x9E37_79B9_7F4A_7C15;
    const BITS: u32 = 6;
    // Both halves of a product depend on all bits.
    let product = u128::from(hash >> BITS) * FACTOR;
    let block = product as u64 ^ (product >> 64) as u64;
    let within = hash & ((1 << BITS) - 1);
    (block << BITS) ^ (block >> (64 - BITS)) ^ within ^ (within << 57)
}

impl<V> Default for Hashed<V> {
    fn default() -> Hashed<V> {
        Hashed { entries: Vec::new(), first: 0, places: HashTable::new() }
    }
}

impl<V> Hashed<V> {
    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Value, &V)> {
        let rest = self.entries.get(self.first..).unwrap_or_default();
        rest.iter().flatten().map(|entry| (&entry.key, &entry.value))
    }

    pub fn into_entries(self) -> impl Iterator<Item = (Value, V)> {
        self.entries.into_iter().flatten().map(|entry| (entry.key, entry.value))
    }

    /// Returns the position of a key.
    ///
    /// # Errors
    /// TypeError for an unhashable key; errors of comparing keys.
    pub fn position(&self, key: &Value) -> Result<Option<usize>> {
        self.position_of(hash(key)? as u64, key)
    }

    fn position_of(&self, hash: u64, key: &Value) -> Result<Option<usize>> {
        let mut failed = None;
        let found = self.places.find(mixed(hash), |&at| {
            let Some(Some(entry)) = self.entries.get(at) else { return false };
            entry.hash == hash
                && failed.is_none()
                && (is(&entry.key, key)
                    || equals(&entry.key, key).unwrap_or_else(|error| {
                        failed = Some(error);
                        true
                    }))
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(found.copied()),
        }
    }

    /// Returns the position of a string key.
    pub(crate) fn position_of_str(&self, text: &str) -> Option<usize> {
        let hash = of(text) as u64;
        let is_it = |at: &usize| match self.entries.get(*at) {
            Some(Some(entry)) => entry.hash == hash && matches!(&entry.key, Value::Str(key) if **key == *text),
            _ => false,
        };
        self.places.find(mixed(hash), is_it).copied()
    }

    /// Returns whether the map contains a key.
    ///
    /// # Errors
    /// Those of [`Hashed::position`].
    pub fn contains(&self, key: &Value) -> Result<bool> {
        Ok(self.position(key)?.is_some())
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// Those of [`Hashed::position`].
    pub fn get(&self, key: &Value) -> Result<Option<&V>> {
        Ok(self.position(key)?.and_then(|at| self.at(at)))
    }

    pub fn at(&self, position: usize) -> Option<&V> {
        self.entries.get(position)?.as_ref().map(|entry| &entry.value)
    }

    pub(crate) fn at_mut(&mut self, position: usize) -> Option<&mut V> {
        self.entries.get_mut(position)?.as_mut().map(|entry| &mut entry.value)
    }

    /// Returns the first entry at or after this position, and the position after it.
    pub fn next(&self, from: usize) -> Option<(usize, &Value, &V)> {
        let from = from.max(self.first);
        let rest = self.entries.get(from..)?;
        let (gap, entry) = rest.iter().enumerate().find_map(|(i, entry)| entry.as_ref().map(|entry| (i, entry)))?;
        Some((from + gap + 1, &entry.key, &entry.value))
    }

    /// Adds a key that is not in the map, according to [`Hashed::position`].
    ///
    /// # Errors
    /// TypeError for an unhashable key, MemoryError.
    pub fn add(&mut self, key: Value, value: V) -> Result<()> {
        // The same limit as for lists of its keys and values.
        limits::grown_to::<(Value, V)>(self.len() + 1)?;
        let hash = hash(&key)? as u64;
        self.push(Entry { hash, key, value });
        Ok(())
    }

    /// Sets the value of a key, for maps that are not shared yet.
    ///
    /// # Errors
    /// Those of [`Hashed::position`] and [`Hashed::add`].
    pub fn insert(&mut self, key: Value, value: V) -> Result<()> {
        match self.position(&key)?.and_then(|at| self.at_mut(at)) {
            Some(slot) => *slot = value,
            None => self.add(key, value)?,
        }
        Ok(())
    }

    fn push(&mut self, entry: Entry<V>) {
        let (hash, at) = (entry.hash, self.entries.len());
        self.entries.push(Some(entry));
        let entries = &self.entries;
        let hash_at = |at: &usize| entries.get(*at).and_then(Option::as_ref).map_or(0, |entry| mixed(entry.hash));
        self.places.insert_unique(mixed(hash), at, hash_at);
    }

    /// Removes the entry at a position.
    pub fn take(&mut self, at: usize) -> Option<(Value, V)> {
        let taken = self.entries.get_mut(at)?.take()?;
        if let Ok(place) = self.places.find_entry(mixed(taken.hash), |&place| place == at) {
            place.remove();
        }
        while let Some(None) = self.entries.last() {
            self.entries.pop();
        }
        while let Some(None) = self.entries.get(self.first) {
            self.first += 1;
        }
        self.first = self.first.min(self.entries.len());
        if self.len() * 2 + 8 < self.entries.len() {
            for entry in std::mem::take(self).entries.into_iter().flatten() {
                self.push(entry);
            }
        }
        Some((taken.key, taken.value))
    }

    /// Removes the last entry.
    pub fn pop(&mut self) -> Option<(Value, V)> {
        let at = self.entries.iter().rposition(Option::is_some)?;
        self.take(at)
    }
}

impl<V: Clone> Clone for Hashed<V> {
    fn clone(&self) -> Hashed<V> {
        let mut copy = Hashed::default();
        for Entry { hash, key, value } in self.entries.iter().flatten() {
            copy.push(Entry { hash: *hash, key: key.clone(), value: value.clone() });
        }
        copy
    }
}

/// Returns Python's hash. Numbers have the same hash as in CPython; strings have a fixed hash here, whereas CPython's
/// changes from run to run.
///
/// # Errors
/// TypeError for unhashable values.
pub fn hash(value: &Value) -> Result<i64> {
    if let Some(hash) = super::numbers::hash_number(value) {
        return Ok(hash);
    }
    Ok(match value {
        Value::Str(text) => of(&**text),
        Value::Buffer(buffer) if buffer.kind() == BufferKind::Bytes => of(buffer.memory().to_vec()?),
        Value::Buffer(view) if matches!(view.kind(), BufferKind::MemoryView { writable: false, .. }) => {
            of(view.to_vec()?)
        }
        Value::Buffer(view) if matches!(view.kind(), BufferKind::MemoryView { .. }) => {
            bail!(ValueError, "cannot hash writable memoryview object")
        }
        Value::Tensor(tensor) => tensor.identity() as i64,
        Value::Tuple(items) => of_items(items.iter())?,
        Value::Size(sizes) => of_items(sizes.iter().copied().map(Value::Int).collect::<Vec<_>>().iter())?,
        Value::NamedTuple(tuple) => of_items(tuple.fields.iter().map(|(_, item)| item))?,
        Value::Range(range) => {
            let part = |is_told: bool, part: i64| if is_told { Value::Int(part) } else { Value::None };
            let length = range.len();
            let parts = [part(true, length as i64), part(length > 0, range.start), part(length > 1, range.step)];
            of_items(parts.iter())?
        }
        Value::Set(set) if set.is_frozen() => of_frozen(set.borrow().iter().map(|(item, ())| item))?,
        Value::Object(object) => match object.special("__hash__", &[]) {
            Some(answer) => match answer? {
                // -1 says in C that there was an error.
                Value::Int(-1) => -2,
                Value::Int(number) => number,
                number @ (Value::Bool(_) | Value::BigInt(_)) => hash(&number)?,
                _ => bail!(TypeError, "__hash__ method should return an integer"),
            },
            None => value.address().unwrap_or_default() as i64 >> 4,
        },
        Value::Method(method) => of(method.name),
        Value::Type(name) | Value::Module(name) => of(name),
        Value::Function(name) => of(&**name),
        Value::DType(dtype) => of(dtype),
        Value::Device(device) => of(device),
        Value::List(_) | Value::Dict(_) | Value::Set(_) | Value::Slice(_) | Value::Buffer(_) => {
            bail!(TypeError, "unhashable type: '{}'", value.type_name())
        }
        other => match other.address() {
            Some(address) => address as i64 >> 4,
            // Few values are of these types, or they are equal by their contents.
            None => of(other.type_name()),
        },
    })
}

fn of(value: impl Hash) -> i64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish() as i64
}

/// Returns the hash of a tuple, computed from the items' hashes by the xxHash variant of CPython.
fn of_items<'v>(items: impl ExactSizeIterator<Item = &'v Value>) -> Result<i64> {
    const FIRST: u64 = 11_400_714_785_074_694_791;
    const SECOND: u64 = 14_029_467_366_897_019_727;
    const FIFTH: u64 = 2_870_177_450_012_600_261;
    let length = items.len() as u64;
    let mut mixed = FIFTH;
    for item in items {
        mixed = mixed.wrapping_add(hash(item)?.cast_unsigned().wrapping_mul(SECOND));
        mixed = mixed.rotate_left(31).wrapping_mul(FIRST);
    }
    mixed = mixed.wrapping_add(length ^ FIFTH ^ 3_527_539);
    Ok(if mixed == u64::MAX { 1_546_275_796 } else { mixed.cast_signed() })
}

/// Returns the hash of a frozen set, independent of the order of items, like CPython.
fn of_frozen<'v>(items: impl Iterator<Item = &'v Value>) -> Result<i64> {
    let (mut mixed, mut count) = (0u64, 0u64);
    for item in items {
        let hash = hash(item)?.cast_unsigned();
        mixed ^= (hash ^ 89_869_747 ^ hash << 16).wrapping_mul(3_644_798_167);
        count += 1;
    }
    mixed ^= (count + 1).wrapping_mul(1_927_868_237);
    mixed ^= (mixed >> 11) ^ (mixed >> 25);
    mixed = mixed.wrapping_mul(69_069).wrapping_add(907_133_923);
    Ok(if mixed == u64::MAX { 590_923_713 } else { mixed.cast_signed() })
}

/// Returns whether a value has the same hash in every run of CPython.
pub(crate) fn has_fixed_hash(value: &Value) -> bool {
    match value {
        Value::Tuple(items) => items.iter().all(has_fixed_hash),
        Value::Set(set) => set.is_frozen() && set.borrow().iter().all(|(item, ())| has_fixed_hash(item)),
        Value::Range(range) => range.len() > 1,
        value => super::numbers::number(value).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn places_and_tags_of_regular_hashes_differ() {
        for shift in [0, 3, 16, 24, 40, 47] {
            let hashes = (0..1u64 << 16).map(|i| mixed(i << shift));
            let (places, tags): (HashSet<_>, HashSet<_>) = hashes.map(|hash| (hash & 0xFFFF, hash >> 57)).unzip();
            // Random places leave 37 % empty.
            assert!(places.len() > 36_000 && tags.len() == 128, "{shift}: {} {}", places.len(), tags.len());
        }
    }

    fn number(key: &Value) -> i64 {
        if let Value::Int(number) = key { *number } else { panic!("no integer") }
    }

    /// Insertions and removals at both ends and between, beside a plain list.
    #[test]
    fn a_map_holds_what_a_list_does() {
        let mut map = Hashed::default();
        let mut list: Vec<(i64, i64)> = Vec::new();
        let mut random = 1u64;
        for step in 0..20_000i64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let choice = (random >> 33) as usize;
            // Grows for some time, then shrinks.
            if choice % 8 < if step / 2500 % 2 == 0 { 5 } else { 3 } || list.is_empty() {
                let key = (choice as i64 % 5000) << 20;
                map.insert(Value::Int(key), step).unwrap();
                match list.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, value)) => *value = step,
                    None => list.push((key, step)),
                }
            } else {
                let at = [0, list.len() - 1, choice % list.len()][choice / 8 % 3];
                let (key, value) = list.remove(at);
                let place = map.position(&Value::Int(key)).unwrap().unwrap();
                assert_eq!(map.take(place).map(|(_, value)| value), Some(value));
            }
            let first = map.next(0).map(|(_, key, value)| (number(key), *value));
            assert_eq!(first, list.first().copied());
            if step % 97 == 0 {
                let held: Vec<_> = map.iter().map(|(key, value)| (number(key), *value)).collect();
                assert_eq!(held, list);
            }
        }
    }
}

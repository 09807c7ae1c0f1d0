//! Maps keyed by Python's equality, with lookups whose time does not depend on the size, in order of insertion.
//! Dictionaries and sets are made of them.

use super::equality::equal;
use super::numbers::hash_number;
use crate::value::Value;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// So few keys are looked at one after the other.
const FEW: usize = 8;

pub struct Hashed<V> {
    /// The entries; a removed one leaves a gap until there are many.
    entries: Vec<Option<(Value, V)>>,
    /// The positions of the keys of a hash; only once they are not few.
    places: HashMap<u64, Vec<usize>>,
    /// The positions of the keys that only know themselves what they equal.
    loose: Vec<usize>,
    len: usize,
}

impl<V> Default for Hashed<V> {
    fn default() -> Hashed<V> {
        Hashed { entries: Vec::new(), places: HashMap::new(), loose: Vec::new(), len: 0 }
    }
}

impl<V> Hashed<V> {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = &(Value, V)> {
        self.entries.iter().flatten()
    }

    pub fn into_entries(self) -> impl Iterator<Item = (Value, V)> {
        self.entries.into_iter().flatten()
    }

    /// Finds a key.
    pub fn position(&self, key: &Value) -> Option<usize> {
        let is_at = |at: &usize| matches!(self.entries.get(*at), Some(Some((known, _))) if equal(known, key));
        match hash(key) {
            Some(hash) if self.entries.len() > FEW => {
                self.places.get(&hash).into_iter().flatten().chain(&self.loose).copied().filter(is_at).min()
            }
            _ => (0..self.entries.len()).find(is_at),
        }
    }

    pub fn contains(&self, key: &Value) -> bool {
        self.position(key).is_some()
    }

    pub fn at(&self, position: usize) -> Option<&V> {
        self.entries.get(position)?.as_ref().map(|(_, value)| value)
    }

    pub fn at_mut(&mut self, position: usize) -> Option<&mut V> {
        self.entries.get_mut(position)?.as_mut().map(|(_, value)| value)
    }

    /// Adds a key that is not there yet.
    pub fn push(&mut self, key: Value, value: V) {
        let at = self.entries.len();
        self.entries.push(Some((key, value)));
        self.len += 1;
        match at.cmp(&FEW) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal => (0..=at).for_each(|at| self.note(at)),
            std::cmp::Ordering::Greater => self.note(at),
        }
    }

    /// Adds a key unless it is there.
    pub fn insert_new(&mut self, key: Value, value: V) {
        if !self.contains(&key) {
            self.push(key, value);
        }
    }

    fn note(&mut self, at: usize) {
        let Some(Some((key, _))) = self.entries.get(at) else { return };
        match hash(key) {
            Some(hash) => self.places.entry(hash).or_default().push(at),
            None => self.loose.push(at),
        }
    }

    /// Takes out the entry at a place.
    pub fn take(&mut self, at: usize) -> Option<(Value, V)> {
        let taken = self.entries.get_mut(at)?.take()?;
        self.len -= 1;
        if let Some(places) = hash(&taken.0).and_then(|hash| self.places.get_mut(&hash)) {
            places.retain(|place| *place != at);
        }
        if self.len * 2 + FEW < self.entries.len() {
            let entries = std::mem::take(self).into_entries();
            entries.for_each(|(key, value)| self.push(key, value));
        }
        Some(taken)
    }

    /// Takes out the last entry.
    pub fn pop(&mut self) -> Option<(Value, V)> {
        let at = self.entries.iter().rposition(Option::is_some)?;
        self.take(at)
    }
}

impl<V: Default> FromIterator<Value> for Hashed<V> {
    fn from_iter<I: IntoIterator<Item = Value>>(keys: I) -> Hashed<V> {
        let mut hashed = Hashed::default();
        keys.into_iter().for_each(|key| hashed.insert_new(key, V::default()));
        hashed
    }
}

/// The same number for whatever is equal; `None` for an object, which may be equal to anything.
fn hash(value: &Value) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    write(value, &mut hasher).then(|| hasher.finish())
}

fn write(value: &Value, hasher: &mut DefaultHasher) -> bool {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::BigInt(_) | Value::Float(_) | Value::Complex(_) => {
            hash_number(value).hash(hasher);
        }
        Value::Str(text) => text.hash(hasher),
        Value::Tuple(items) => return items.iter().all(|item| write(item, hasher)),
        Value::Size(sizes) => return sizes.iter().all(|size| write(&Value::Int(*size), hasher)),
        Value::NamedTuple(tuple) => return tuple.fields.iter().all(|(_, item)| write(item, hasher)),
        Value::Tensor(tensor) => tensor.identity().hash(hasher),
        Value::Object(_) => return false,
        // There are not many of these, or they are equal by what they hold.
        other => std::mem::discriminant(other).hash(hasher),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    #[test]
    fn what_is_equal_has_one_hash() {
        let rows = [
            [Value::Int(1), Value::Bool(true)],
            [Value::Int(1), Value::Float(1.0)],
            [Value::Int(1), Value::Complex(Complex::new(1.0, -0.0))],
            [Value::Float(0.0), Value::Float(-0.0)],
            [Value::size(&[1, 2]), Value::tuple([Value::Float(1.0), Value::Int(2)])],
            [Value::str("a"), Value::str("a")],
        ];
        for [a, b] in rows {
            assert!(equal(&a, &b) && hash(&a).is_some() && hash(&a) == hash(&b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn keys_keep_their_order_through_removals() {
        let mut all: Hashed<()> = (0..100).chain(0..50).map(Value::Int).collect();
        assert_eq!(all.len(), 100);
        for i in (0..100).filter(|i| i % 10 != 3) {
            let at = all.position(&Value::Float(f64::from(i)));
            assert!(at.and_then(|at| all.take(at)).is_some(), "{i}");
        }
        let left = |all: &Hashed<()>| {
            all.iter()
                .map(|(key, ())| format!("{}", key.as_scalar().map_or(0, |s| s.to_i64())))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(left(&all), "3 13 23 33 43 53 63 73 83 93");
        assert!(matches!(all.pop(), Some((Value::Int(93), ()))) && !all.contains(&Value::Int(93)));
        all.insert_new(Value::Int(4), ());
        assert_eq!((left(&all).as_str(), all.len()), ("3 13 23 33 43 53 63 73 83 4", 10));
    }
}

//! Compares the variables of two sessions: tensors by their bytes, layouts and sharing, other values by what Python
//! would print.

use super::Session;
use super::results::shown_name;
use super::undo::holds;
use super::variables::class_name;
use explain::format::PrintOptions;
use explain::tensors::parts;
use languages::script::engine::constant;
use languages::script::values::to_value;
use rhai::Dynamic;
use std::collections::HashMap;
use tensor::{Memory, Tensor, View};
use value::{Dict, Object, Value};

/// The maximum depth of nested lists to compare.
const DEPTH: usize = 100;
/// The number of characters of a value to show.
const TOLD: usize = 60;

impl Session {
    /// Describes the variables of this session that differ in another, one sentence each. The prompt's results, and
    /// variables that only the other session has, do not count.
    pub fn differences(&self, other: &Session) -> Vec<String> {
        let here = self.runtime.print_options.replace(PrintOptions::default());
        let there = other.runtime.print_options.replace(PrintOptions::default());
        let differences = self.different(other);
        self.runtime.print_options.replace(here);
        other.runtime.print_options.replace(there);
        differences
    }

    fn different(&self, other: &Session) -> Vec<String> {
        let mut names: Vec<_> = self.scope.iter_raw().map(|(name, ..)| name).filter(|name| is_own(name)).collect();
        // The scope lists the newest entry first.
        names.reverse();
        let told = |name: &str| {
            let value = self.scope.get(name)?;
            let Some(again) = other.scope.get(name) else {
                return (!other.has_builtin_value(name, value)).then(|| format!("'{name}' is missing"));
            };
            if is_same(self, other, value, again) {
                return None;
            }
            let (value, again) = (shown(self, value), shown(other, again));
            Some(match without_addresses(&value) == without_addresses(&again) {
                true => format!("'{name}' also prints {value}, but its memory differs"),
                false => format!("'{name}' is {again}, not {value}"),
            })
        };
        let differences: Vec<_> = names.into_iter().filter_map(told).collect();
        if differences.is_empty() { self.differently_shared(other) } else { differences }
    }

    /// Returns whether `name` has this value even without a variable: a module, or a function of Rhai.
    fn has_builtin_value(&self, name: &str, value: &Dynamic) -> bool {
        match to_value(value) {
            Ok(Value::Module(module)) => matches!(constant(name), Some(Value::Module(known)) if known == module),
            Ok(Value::Object(object)) => object.is_callable() && self.runtime.defined.borrow().contains_key(name),
            _ => false,
        }
    }

    /// Describes memory that variables share in only one of the sessions.
    fn differently_shared(&self, other: &Session) -> Vec<String> {
        let mut there: HashMap<String, usize> = HashMap::new();
        for holder in other.holders() {
            there.insert(holder.name, holder.storage.identity());
        }
        let mut pairs: HashMap<usize, (String, usize)> = HashMap::new();
        let mut back: HashMap<usize, (String, usize)> = HashMap::new();
        let mut differences = Vec::new();
        for holder in self.holders().into_iter().filter(|holder| is_own(&holder.name)) {
            let (here, Some(&there)) = (holder.storage.identity(), there.get(&holder.name)) else { continue };
            let (first, partner) = pairs.entry(here).or_insert_with(|| (holder.name.clone(), there));
            if *partner != there {
                differences.push(format!("'{}' does not share its memory with '{first}'", holder.name));
            }
            let (first, partner) = back.entry(there).or_insert_with(|| (holder.name.clone(), here));
            if *partner != here {
                differences.push(format!("'{}' shares its memory with '{first}'", holder.name));
            }
        }
        differences
    }
}

/// Returns whether a variable was created by the user.
fn is_own(variable: &str) -> bool {
    shown_name(variable) == variable && variable != "ARGS"
}

fn shown(session: &Session, value: &Dynamic) -> String {
    let text = to_value(value).and_then(|value| session.runtime.repr(&value)).unwrap_or_else(|_| class_name(value));
    let words: Vec<_> = text.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(TOLD) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn is_same(here: &Session, there: &Session, a: &Dynamic, b: &Dynamic) -> bool {
    match (to_value(a), to_value(b)) {
        (Ok(a), Ok(b)) => SessionPair { here, there }.is_same(&a, &b, 0),
        // A closure or a moment: a Rhai value without comparable content.
        (Err(_), Err(_)) => class_name(a) == class_name(b),
        _ => false,
    }
}

/// The sessions that two compared values belong to.
struct SessionPair<'s> {
    here: &'s Session,
    there: &'s Session,
}

impl SessionPair<'_> {
    fn is_same(&self, a: &Value, b: &Value, depth: usize) -> bool {
        let all = |a: &[Value], b: &[Value]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.is_same(a, b, depth + 1))
        };
        match (a, b) {
            _ if depth > DEPTH => true,
            (Value::Tensor(own), Value::Tensor(other)) => {
                self.is_same_tensor(own, other, depth) && self.is_same_text(a, b)
            }
            (Value::Storage(own), Value::Storage(other)) => same_bytes(&own.memory(), &other.memory()),
            (Value::TypedStorage(own), Value::TypedStorage(other)) => {
                own.dtype == other.dtype && same_bytes(&own.storage.memory(), &other.storage.memory())
            }
            (Value::Buffer(own), Value::Buffer(other)) => {
                same_bytes(&own.memory(), &other.memory()) && self.is_same_text(a, b)
            }
            (Value::List(own), Value::List(other)) => all(&own.to_vec(), &other.to_vec()),
            (Value::Tuple(own), Value::Tuple(other)) => all(own, other),
            (Value::Dict(own), Value::Dict(other)) => {
                let apart = |dict: &Dict| dict.to_vec().into_iter().unzip();
                let ((keys, values), (other_keys, other_values)): ((Vec<_>, Vec<_>), (Vec<_>, Vec<_>)) =
                    (apart(own), apart(other));
                all(&keys, &other_keys) && all(&values, &other_values)
            }
            (Value::Object(own), Value::Object(other)) => {
                let fields = |object: &dyn Object| object.own_attribute("__dict__").and_then(Result::ok);
                match (fields(&**own), fields(&**other)) {
                    (Some(own), Some(other)) => a.type_name() == b.type_name() && self.is_same(&own, &other, depth + 1),
                    _ => self.is_same_text(a, b),
                }
            }
            _ => self.is_same_text(a, b),
        }
    }

    fn is_same_tensor(&self, a: &Tensor, b: &Tensor, depth: usize) -> bool {
        let grad = |tensor: &Tensor| tensor.autograd(|meta| meta.grad.clone());
        let same_grad = match (grad(a), grad(b)) {
            (Some(a), Some(b)) => self.is_same(&Value::Tensor(a), &Value::Tensor(b), depth + 1),
            (None, None) => true,
            _ => false,
        };
        same_grad && a.requires_grad() == b.requires_grad() && a.names() == b.names() && same_view(&a.view(), &b.view())
    }

    /// Returns whether two values print alike, apart from memory addresses.
    fn is_same_text(&self, a: &Value, b: &Value) -> bool {
        match (self.here.runtime.repr(a), self.there.runtime.repr(b)) {
            (Ok(a), Ok(b)) => without_addresses(&a) == without_addresses(&b),
            (Err(a), Err(b)) => a.message == b.message,
            _ => false,
        }
    }
}

fn same_view(a: &View, b: &View) -> bool {
    let same_parts = match (parts(a), parts(b)) {
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(&b).all(|((_, a), (_, b))| same_view(a, b)),
        (None, None) => same_bytes(&a.storage.memory(), &b.storage.memory()),
        _ => false,
    };
    a.dtype == b.dtype
        && a.sizes() == b.sizes()
        && a.strides() == b.strides()
        && a.layout.offset == b.layout.offset
        && same_parts
}

fn same_bytes(a: &Memory, b: &Memory) -> bool {
    a.nbytes() == b.nbytes()
        && a.is_meta() == b.is_meta()
        && (a.is_meta() || b.to_vec().is_ok_and(|bytes| holds(a, &bytes)))
}

/// Removes the memory addresses from the text of an object.
fn without_addresses(text: &str) -> String {
    let mut pieces = text.split("0x");
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        kept.push_str(piece.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    kept
}

#[cfg(test)]
mod tests {
    use crate::{Language, Session, SessionOptions};

    fn after(input: &str) -> Session {
        let mut session = Session::new(SessionOptions { keeps_results: true, ..SessionOptions::default() });
        let outcome = session.eval(Language::Python, input);
        assert_eq!(outcome.error, None, "{input}");
        session
    }

    #[test]
    fn variables_are_the_same_down_to_their_bytes() {
        let rows = [
            ("x = torch.ones(3)", "x = torch.ones(3); y = 2", None),
            ("x = 1; y = 2", "x = 1", Some("'y' is missing")),
            ("x = torch.ones(2)", "x = torch.zeros(2)", Some("'x' is tensor([0., 0.]), not tensor([1., 1.])")),
            (
                "x = torch.tensor([1.5, 1])",
                "x = torch.tensor([1.5, 1.00001])",
                Some("'x' also prints tensor([1.5000, 1.0000]), but its memory differs"),
            ),
            ("x = torch.zeros(2, 2)", "x = torch.zeros(2, 2).t()", Some("'x' also prints")),
            ("x = [1, {'a': torch.ones(1)}]", "x = [1, {'a': torch.ones(1)}]", None),
            ("x = [1, {'a': torch.ones(1)}]", "x = [1, {'a': torch.zeros(1)}]", Some("'x' is")),
            ("x = torch.ones(2); y = x[1:]", "x = torch.ones(2); y = x[1:]", None),
            (
                "x = torch.ones(2); y = x.view(2)",
                "x = torch.ones(2); y = torch.ones(2)",
                Some("'y' does not share its memory with 'x'"),
            ),
            (
                "x = torch.ones(2); y = torch.ones(2)",
                "x = torch.ones(2); y = x.view(2)",
                Some("'y' shares its memory with 'x'"),
            ),
            ("x = torch.ones(1, requires_grad=True)", "x = torch.ones(1)", Some("'x' is")),
            ("class A: pass\na = A(); a.b = 1", "class A: pass\na = A(); a.b = 1", None),
            ("class A: pass\na = A(); a.b = 1", "class A: pass\na = A(); a.b = 2", Some("'a' also prints")),
            ("def f(): return 1", "def f(): return 1", None),
            ("x = float('nan')", "x = float('nan')", None),
            ("1 + 1", "2 + 2", None),
            ("x = []\nx.append(x)", "x = []\nx.append(x)", None),
        ];
        for (here, there, wanted) in rows {
            let found = after(&format!("import torch\n{here}")).differences(&after(&format!("import torch\n{there}")));
            let first = found.first().map(String::as_str);
            assert!(
                first
                    .zip(wanted)
                    .map_or(first.is_none() && wanted.is_none(), |(found, wanted)| found.starts_with(wanted)),
                "{here} and {there}: {found:?}"
            );
        }
    }
}

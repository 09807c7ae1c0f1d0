//! Errors for unknown names, with suggestions for the name that was probably meant.

use super::module_names::is_absent;
use super::{Kind, LIBRARY, Receiver, Registry, State};
use tensor::{DType, Error};
use value::Value;

/// Builds Python's AttributeError, with the nearest name as a hint, or NotImplementedError if a module
/// of CPython or PyTorch has the name.
pub fn no_attribute(state: &State, value: &Value, name: &str) -> Error {
    match value {
        Value::Module(module) if is_absent(module, name) => return unsupported(module, name),
        Value::Module(_) => {}
        other => {
            if let Some(refused) = refused_special(other.type_name(), name) {
                return refused;
            }
        }
    }
    let error = Error::attribute(match value {
        Value::Module(module) if *module == "torch" || LIBRARY.contains(module) => {
            format!("module '{module}' has no attribute '{name}'")
        }
        Value::Module(module) => format!("module 'torch.{module}' has no attribute '{name}'"),
        Value::Type(class) if class.ends_with("Storage") => format!("type object '{class}' has no attribute '{name}'"),
        Value::Type(class) => {
            format!("type object '{}' has no attribute '{name}'", class.rsplit('.').next().unwrap_or(class))
        }
        other => format!("'{}' object has no attribute '{name}'", other.type_name()),
    });
    // Special names are rarely misspelled, and a lookup with a default discards the error.
    if name.starts_with("__") || state.is_probing.get() {
        return error;
    }
    let near = || nearest(name, (state.registry.methods.names)(value.type_name()));
    with_suggestion(error, suggestion(state.registry, receiver_of(value), name).or_else(near))
}

/// Builds the error for a name that CPython or PyTorch has and we lack.
fn unsupported(of: &str, name: &str) -> Error {
    let outer = if of == "torch" || LIBRARY.contains(&of) { "" } else { "torch." };
    Error::not_implemented(format!("{outer}{of}.{name} is not supported at this prompt"))
}

/// Special attributes that every object has in CPython. Some of them are missing here.
const OF_OBJECTS: &[&str] = &[
    "__class__",
    "__delattr__",
    "__dir__",
    "__doc__",
    "__eq__",
    "__format__",
    "__ge__",
    "__getattribute__",
    "__getstate__",
    "__gt__",
    "__hash__",
    "__init__",
    "__init_subclass__",
    "__le__",
    "__lt__",
    "__ne__",
    "__new__",
    "__reduce__",
    "__reduce_ex__",
    "__repr__",
    "__setattr__",
    "__sizeof__",
    "__str__",
    "__subclasshook__",
];

/// Returns the error for a special attribute that CPython's objects of a class have and ours lack, or `None` for other
/// names.
pub fn refused_special(class: &str, name: &str) -> Option<Error> {
    let of_class: &[&str] = match class {
        "int" | "bool" | "float" => &["__divmod__", "__rdivmod__", "__round__"],
        "function" => {
            &["__annotations__", "__builtins__", "__call__", "__closure__", "__code__", "__get__", "__globals__"]
        }
        "builtin_function_or_method" | "method" => &["__call__", "__name__", "__qualname__", "__self__"],
        _ => &[],
    };
    (OF_OBJECTS.contains(&name) || of_class.contains(&name)).then(|| unsupported(class, name))
}

/// Adds a suggestion to an error, if there is one.
pub fn with_suggestion(error: Error, known: Option<&str>) -> Error {
    match known {
        Some(known) => error.with_hint(format!("did you mean '{known}'?")),
        None => error,
    }
}

fn receiver_of(value: &Value) -> Option<Receiver> {
    match value {
        Value::Module("torch") => Some(Receiver::Module("")),
        Value::Module(module) => Some(Receiver::Module(module)),
        value => Kind::of(value).map(Receiver::Class),
    }
}

/// Returns the known name most similar to an unknown one, for "did you mean".
pub fn suggestion(registry: &Registry, receiver: Option<Receiver>, name: &str) -> Option<&'static str> {
    match receiver? {
        module @ Receiver::Module("") => {
            let dtypes = DType::ALL.iter().map(|dtype| dtype.name());
            nearest(name, registry.names(module).into_iter().chain(dtypes)).or_else(|| dtype_in_short(name))
        }
        other => nearest(name, registry.names(other)),
    }
}

/// Returns the dtype with a short name from other languages: `f32`, `i64`, `bf16`.
fn dtype_in_short(name: &str) -> Option<&'static str> {
    let parts = |name: &'_ str| {
        let end = name.find(|c: char| c.is_ascii_digit())?;
        name.split_at_checked(end).map(|(letters, digits)| (letters.to_owned(), digits.to_owned()))
    };
    let (letters, digits) = parts(name).filter(|(letters, _)| matches!(letters.len(), 1 | 2))?;
    let mut names = DType::ALL.iter().map(|dtype| dtype.name());
    names.find(|known| parts(known).is_some_and(|(whole, bits)| bits == digits && whole.starts_with(&letters)))
}

/// Returns the name most similar to a misspelt one.
pub fn nearest<N: AsRef<str> + Ord>(name: &str, names: impl IntoIterator<Item = N>) -> Option<N> {
    near(name, names).into_iter().next()
}

/// Returns the names similar to a misspelt one, most likely first. A short name may differ by one edit, a longer one by
/// two.
pub fn near<N: AsRef<str> + Ord>(name: &str, names: impl IntoIterator<Item = N>) -> Vec<N> {
    let allowed = match name.chars().count() {
        3..=5 => 1,
        // Names of hundreds of characters are not typos, and comparing them is slow.
        6..=100 => 2,
        _ => return Vec::new(),
    };
    // Among equally similar names, those with the same first letter come first: typos are more often later in a word.
    let scored = names.into_iter().map(|known| {
        let begins_otherwise = known.as_ref().chars().next() != name.chars().next();
        (strsim::damerau_levenshtein(known.as_ref(), name), begins_otherwise, known)
    });
    let mut scored: Vec<_> = scored.filter(|(distance, ..)| *distance <= allowed).collect();
    scored.sort();
    // A name that is known exactly was not misspelt.
    if scored.first().is_some_and(|(distance, ..)| *distance == 0) {
        return Vec::new();
    }
    scored.into_iter().map(|(.., known)| known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dtypes_may_be_written_in_short() {
        let known = [("f32", "float32"), ("i8", "int8"), ("u16", "uint16"), ("bf16", "bfloat16")];
        let known = known.map(|(typed, meant)| (typed, Some(meant)));
        for (typed, meant) in known.into_iter().chain(["x8", "f", "f128", "int3"].map(|typed| (typed, None))) {
            assert_eq!(dtype_in_short(typed), meant, "{typed}");
        }
    }

    #[test]
    fn of_names_as_near_the_one_that_begins_alike() {
        let names = ["new", "view", "view_as", "values"];
        for (typed, meant) in [("vew", Some("view")), ("viwe", Some("view")), ("nwe", Some("new")), ("vw", None)] {
            assert_eq!(nearest(typed, names), meant, "{typed}");
        }
    }
}

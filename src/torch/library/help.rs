//! Help from the function table: the signatures of a name, what it does, and what it shares or changes. Completion,
//! hints and `help` all use it, so their answers always match what a call does.

use super::registry;
use call::{Family, Kind, MODULES, Overloads, Param, Receiver, Role, Signature, bare_name};
use objects::container_methods;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A name that a module or class has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Whether the name is called, with parentheses, or read as an attribute.
    pub is_called: bool,
}

/// Lists every name of `receiver` in alphabetical order. Names that begin with an underscore come last.
pub fn members(receiver: Receiver) -> Vec<Member> {
    let registry = registry();
    let mut members: Vec<_> = registry
        .names(receiver)
        .into_iter()
        .filter(|name| !name.ends_with("$"))
        .filter_map(|name| {
            let called = registry.find(name, receiver).and_then(|overloads| overloads.functions.first());
            let row = called.map(|function| function.row).or_else(|| match receiver {
                Receiver::Class(kind) => registry.attribute(name, kind).map(|function| function.row),
                Receiver::Module(_) => None,
            })?;
            Some(Member { name, doc: row.doc, is_called: called.is_some() })
        })
        .collect();
    let methods = class_of(receiver).map(container_methods::methods).unwrap_or_default();
    members.extend(methods.iter().map(|method| Member { name: method.name, doc: method.doc, is_called: true }));
    members.sort_unstable_by_key(|member| (member.name.starts_with('_'), member.name));
    members.dedup();
    members
}

/// Returns the Python class of a receiver, if the methods of that class have their own table.
fn class_of(receiver: Receiver) -> Option<&'static str> {
    Some(match receiver {
        Receiver::Class(Kind::Str) => "str",
        Receiver::Class(Kind::Int) => "int",
        Receiver::Class(Kind::Float) => "float",
        Receiver::Class(Kind::Number) => "complex",
        Receiver::Class(Kind::Buffer) => "bytearray",
        Receiver::Class(Kind::Sequence) => "list",
        _ => return None,
    })
}

/// Shows how to call each overload: `sum(dim, keepdim=False, *, dtype=None)`.
pub fn usages(overloads: &Overloads) -> Vec<String> {
    let mut usages = Vec::new();
    for function in overloads.functions.iter().filter(|function| function.signature.places.is_empty()) {
        let usage = usage(overloads.name, &function.signature, overloads.method);
        if !usages.contains(&usage) {
            usages.push(usage);
        }
    }
    usages
}

fn usage(name: &str, signature: &Signature, is_method: bool) -> String {
    let mut parts = Vec::new();
    let mut is_starred = false;
    for param in signature.visible(is_method) {
        if param.keyword_only && !is_starred {
            is_starred = true;
            parts.push("*".to_owned());
        }
        parts.push(match param {
            Param { kind: Kind::Rest, .. } => format!("*{}", param.shown_name()),
            Param { kind: Kind::Keywords, .. } => format!("**{}", param.shown_name()),
            Param { default: Some(_), default_text, .. } => format!("{}={default_text}", param.shown_name()),
            Param { .. } => param.shown_name().to_owned(),
        });
    }
    format!("{name}({})", parts.join(", "))
}

/// Returns the subject of the functions with this name. Empty if the table does not group them.
pub fn subject(name: &str) -> &'static str {
    static SUBJECTS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
        // A name that `torch` shares with one of its modules or with Python has `torch`'s subject.
        let derived = super::DERIVED.iter().map(|(subject, row)| (*subject, row));
        let (torch, modules): (Vec<_>, Vec<_>) = crate::by_subject()
            .chain(derived)
            .filter(|(subject, _)| !subject.is_empty())
            .partition(|(_, row)| row.signature.starts_with(bare_name(row.signature)));
        let mut subjects = HashMap::new();
        for (subject, row) in torch.into_iter().chain(modules) {
            subjects.entry(bare_name(row.signature)).or_insert(subject);
        }
        subjects
    });
    SUBJECTS.get(name).copied().unwrap_or_default()
}

/// Returns the keywords that any overload accepts, each with the kind of its values.
pub fn keywords(overloads: &Overloads) -> Vec<(&'static str, Kind)> {
    let mut found: Vec<(&'static str, Kind)> = Vec::new();
    for function in &overloads.functions {
        for param in function.signature.visible(overloads.method) {
            if !matches!(param.kind, Kind::Rest | Kind::Keywords)
                && !found.iter().any(|(name, _)| *name == param.shown_name())
            {
                found.push((param.shown_name(), param.kind));
            }
        }
    }
    found
}

/// Returns the kind of a keyword's values.
pub fn keyword_kind(overloads: &Overloads, name: &str) -> Option<Kind> {
    keywords(overloads).into_iter().find(|(known, _)| *known == name).map(|(_, kind)| kind)
}

/// Returns the overloads that a call of `name` would choose from, on `receiver` or as a bare function.
pub fn callee(receiver: Option<Receiver>, name: &str) -> Option<&'static Overloads> {
    let family = registry().family(name)?;
    match receiver {
        Some(receiver) => family.find(receiver),
        None => family.find(Receiver::Module("")).or_else(|| family.find(Receiver::Module("py"))),
    }
}

/// Returns the class of the attribute `name` of a value of class `kind`, if the signature tells it.
pub fn attribute_class(kind: Kind, name: &str) -> Option<Kind> {
    let returns = registry().attribute(name, kind)?.signature.returns;
    let base = returns.split(['(', '?', '[']).next()?;
    Some(match base {
        "Tensor" => Kind::Tensor,
        "Size" => Kind::Size,
        "Device" => Kind::Device,
        "ScalarType" => Kind::DType,
        "UntypedStorage" => Kind::UntypedStorage,
        "TypedStorage" => Kind::TypedStorage,
        "str" => Kind::Str,
        "int" => Kind::Int,
        "float" => Kind::Float,
        _ => return None,
    })
}

/// Describes a name, qualified or not (`view`, `Tensor.view`, `torch.linalg.norm`): how to call it, what it does, and
/// where PyTorch documents it. `None` if the table does not have the name.
pub fn describe(topic: &str) -> Option<String> {
    let topic = topic.trim().trim_end_matches("()");
    let (path, name) = topic.rsplit_once('.').unwrap_or(("", topic));
    let registry = registry();
    let mut text = String::new();
    for class in container_methods::CLASSES.iter().filter(|class| path.is_empty() || **class == path) {
        for method in container_methods::methods(class).iter().filter(|method| method.name == name) {
            text.push_str(&format!("{class}.{name}(…)\n    {}\n", method.doc));
        }
    }
    let Some(wanted) = wanted_receiver(path) else { return (!text.is_empty()).then_some(text) };
    if let Some(family) = registry.family(name) {
        for overloads in chosen(family, wanted) {
            section(&mut text, overloads);
        }
    }
    for (kind, function) in registry.attributes_of(name) {
        if wanted.is_none_or(|wanted| wanted == Receiver::Class(*kind)) {
            let shared = function.signature.returns;
            text.push_str(&format!("{}.{name}\n    {}\n", class_path(*kind), function.row.doc));
            text.push_str(&remarks(&function.signature));
            text.push_str(&format!("    gives: {shared}\n"));
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Returns the class or module that the part before the last dot names, or `Some(None)` if that part is empty. `None` if
/// the name is unknown.
fn wanted_receiver(path: &str) -> Option<Option<Receiver>> {
    let last = path.strip_prefix("torch.").unwrap_or(path);
    Some(match last {
        "" => None,
        "torch" => Some(Receiver::Module("")),
        "Tensor" => Some(Receiver::Class(Kind::Tensor)),
        "UntypedStorage" | "storage.UntypedStorage" => Some(Receiver::Class(Kind::UntypedStorage)),
        "TypedStorage" | "storage.TypedStorage" => Some(Receiver::Class(Kind::TypedStorage)),
        module => {
            let known = MODULES.iter().find(|known| **known == module)?;
            Some(Receiver::Module(known))
        }
    })
}

/// Chooses the overloads to describe. A function that is also a method is described once.
fn chosen(family: &'static Family, wanted: Option<Receiver>) -> Vec<&'static Overloads> {
    let all = family.members();
    match wanted {
        Some(wanted) => all.filter(|(receiver, _)| *receiver == wanted).map(|(_, overloads)| overloads).collect(),
        None => {
            let all: Vec<_> = all.collect();
            let is_both = |overloads: &Overloads| {
                overloads.method && overloads.functions.iter().all(|function| function.row.role == Role::Both)
            };
            let has_function = all.iter().any(|(receiver, _)| *receiver == Receiver::Module(""));
            all.into_iter().map(|(_, o)| o).filter(|o| !(has_function && is_both(o))).collect()
        }
    }
}

fn section(text: &mut String, overloads: &Overloads) {
    let Some(first) = overloads.functions.first() else { return };
    let also_method = !overloads.method && overloads.functions.iter().any(|function| function.row.role == Role::Both);
    let path = match first.signature.receiver() {
        Some(kind) if overloads.method => format!("{}.", class_path(kind)),
        _ if first.signature.name.contains("::") => String::new(),
        _ => "torch.".to_owned(),
    };
    for function in overloads.functions.iter().filter(|function| function.signature.places.is_empty()) {
        let qualified = function.signature.name.replace("::", ".");
        let name = if overloads.method { overloads.name } else { &qualified };
        let path = if qualified.starts_with("py.") { "" } else { &path };
        let shown = usage(name, &function.signature, overloads.method).replacen("py.", "", 1);
        text.push_str(&format!("{path}{shown}\n    {}\n", function.row.doc));
        text.push_str(&remarks(&function.signature));
    }
    if also_method {
        text.push_str(&format!("    Also a method: x.{}(…)\n", overloads.name));
    }
    if first.signature.receiver() == Some(Kind::Tensor) || path == "torch." {
        let page = if overloads.method {
            format!("torch.Tensor.{}", overloads.name)
        } else {
            format!("torch.{}", first.signature.name)
        };
        if !first.signature.name.starts_with("py.") && !first.signature.name.contains("::") {
            text.push_str(&format!("    https://pytorch.org/docs/2.7/generated/{page}.html\n"));
        }
    }
}

/// Describes what the alias marks of a schema say about memory.
fn remarks(signature: &Signature) -> String {
    let written: Vec<_> = signature.params.iter().filter(|param| param.written).map(Param::shown_name).collect();
    match written.as_slice() {
        [] if signature.is_view() => "    The result is a view: it shares memory with its input.\n".to_owned(),
        [] => String::new(),
        names => format!("    Writes to {}.\n", names.join(", ")),
    }
}

fn class_path(kind: Kind) -> &'static str {
    match kind {
        Kind::Tensor => "Tensor",
        Kind::UntypedStorage => "UntypedStorage",
        Kind::TypedStorage => "TypedStorage",
        Kind::Sequence => "list",
        other => other.type_name(),
    }
}

/// Finds every function whose name or documentation contains all of the words. Functions whose name matches come first.
pub fn search(words: &str) -> Vec<Member> {
    let words: Vec<_> = words.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let classes = [Receiver::Module(""), Receiver::Class(Kind::Tensor), Receiver::Class(Kind::UntypedStorage)];
    let modules = MODULES.iter().map(|module| Receiver::Module(module));
    let mut found: Vec<Member> = classes.into_iter().chain(modules).flat_map(members).collect();
    found.retain(|member| {
        let text = format!("{} {} {}", member.name, member.doc, subject(member.name)).to_lowercase();
        !member.name.starts_with("__") && words.iter().all(|word| text.contains(word.as_str()))
    });
    found.sort_unstable_by_key(|member| {
        let in_name = words.iter().any(|word| member.name.contains(word.as_str()));
        (!in_name, member.name.len(), member.name, member.doc)
    });
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_says_that_it_shares() {
        let text = describe("Tensor.transpose").unwrap();
        assert!(text.starts_with("Tensor.transpose(dim0, dim1)\n    Swaps two dimensions.\n"), "{text}");
        assert!(text.contains("shares memory"), "{text}");
        assert!(describe("fill_").unwrap().contains("Writes to"));
        assert!(describe("torch.linalg.no_such_thing").is_none());
        assert!(describe("shape").unwrap().starts_with("Tensor.shape\n"));
    }

    #[test]
    fn every_name_can_be_described() {
        for receiver in [Receiver::Module(""), Receiver::Class(Kind::Tensor), Receiver::Class(Kind::UntypedStorage)] {
            for member in members(receiver) {
                assert!(describe(member.name).is_some(), "{}", member.name);
            }
        }
    }

    /// Completion groups the methods by subject if there are many.
    #[test]
    fn every_method_has_a_subject() {
        let methods = members(Receiver::Class(Kind::Tensor)).into_iter().filter(|member| !member.name.starts_with('_'));
        let without: Vec<_> = methods.map(|member| member.name).filter(|name| subject(name).is_empty()).collect();
        assert!(without.is_empty(), "{without:?}");
        assert_eq!(
            [subject("pow"), subject("arccos"), subject("untyped_storage")],
            ["arithmetic", "mathematics", "storage"]
        );
    }

    #[test]
    fn words_find_functions() {
        let found = search("transpose");
        assert!(found.iter().take(3).any(|member| member.name == "transpose"), "{found:?}");
        assert!(search("no such words at all").is_empty() && search(" ").is_empty());
    }
}

//! Writes the function table as the page docs/reference.md. `scripts/house/reference` stores it, and a test compares
//! it.

use super::rows;
use call::{BELOW, Kind, LIBRARY, MODULES, Role, Row, Signature};
use objects::container_methods::{self, CLASSES};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Returns the page, as Markdown.
pub fn page() -> String {
    let mut sections: BTreeMap<String, Vec<(String, &'static Row)>> = BTreeMap::new();
    let mut names = BTreeSet::new();
    let mut overloads = 0;
    for row in rows() {
        let Some(signature) = Signature::parse(row.signature) else { continue };
        // Skips the parts of functions that are listed under their own name.
        if signature.name.starts_with(BELOW) || row.role == Role::Internal {
            continue;
        }
        // What the modules of Python's library are written on.
        if signature
            .name
            .split_once('.')
            .is_some_and(|(module, _)| module.starts_with('_') && LIBRARY.contains(&module))
        {
            continue;
        }
        let owner = owner(row, &signature);
        let name = called(&owner, &signature, row);
        names.insert(name.clone());
        overloads += 1;
        sections.entry(owner).or_default().push((name, row));
    }
    let mut methods = String::new();
    for class in CLASSES {
        let _ = write!(methods, "\n## Methods of Python's {class}\n\n| Name | Arguments | |\n| --- | --- | --- |\n");
        let mut members = container_methods::methods(class);
        members.sort_by_key(|method| method.name);
        for method in members {
            let arguments = match method.takes {
                (least, most) if least == most => least.to_string(),
                (least, usize::MAX) => format!("{least} or more"),
                (least, most) => format!("{least} to {most}"),
            };
            let _ = writeln!(methods, "| `{}` | {arguments} | {} |", method.name, method.doc);
            names.insert(format!("{class}.{}", method.name));
            overloads += 1;
        }
    }
    let mut page = format!(
        "# Functions\n\n\
         {} functions, methods and attributes in {overloads} overloads. `scripts/house/reference` writes this page from \
         the function table;\na test fails when it is stale.\n\n\
         The first column names what a row follows, in PyTorch 2.7 or in Python; PyTorch's page on `torch.NAME` is\n\
         `https://pytorch.org/docs/2.7/generated/torch.NAME.html`. Signatures are PyTorch's schemas: a function writes to \
         a `Tensor(a!)`,\n`Tensor(a)` shares its elements with the result of the same mark, parameters after `*` are given \
         by name, and `?` allows `None`.\nA row under `torch` whose first parameter is `self` is both a function and a \
         method.\n",
        names.len()
    );
    let mut order: Vec<&String> = sections.keys().collect();
    // PyTorch comes before Python, and functions of `torch` before classes and modules.
    order.sort_by_key(|owner| (!owner.starts_with("torch"), owner.as_str() != "torch", owner.as_str()));
    for owner in order {
        // Writing to a string cannot fail.
        let _ = write!(page, "\n## {owner}\n\n| Name | Signature | |\n| --- | --- | --- |\n");
        let mut members = sections.get(owner).cloned().unwrap_or_default();
        members.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, row) in members {
            let _ = writeln!(page, "| `{name}` | `{}` | {} |", row.signature.replace('|', "\\|"), row.doc);
        }
    }
    page + methods.as_str()
}

/// Returns the module or class whose section lists a row.
fn owner(row: &Row, signature: &Signature) -> String {
    match (row.role, signature.receiver()) {
        (Role::Method | Role::Attribute | Role::Setter, Some(kind)) => class(kind),
        _ => match signature.name.split_once("::").or_else(|| signature.name.split_once('.')) {
            Some(("py", _)) => "Python's builtins".into(),
            Some((class @ "int", _)) => format!("Python's {class}"),
            Some((module, _)) if LIBRARY.contains(&module) => format!("Python's {module}"),
            Some((module, _)) if MODULES.contains(&module) || module.contains("Storage") => format!("torch.{module}"),
            _ => "torch".into(),
        },
    }
}

fn class(kind: Kind) -> String {
    match kind {
        Kind::Tensor | Kind::Operand => "torch.Tensor".into(),
        Kind::Sequence => "Python's list and tuple".into(),
        Kind::Buffer => "Python's array, bytearray, bytes and memoryview".into(),
        Kind::Number => "Python's complex".into(),
        Kind::Str | Kind::Int | Kind::Float => format!("Python's {}", kind.type_name()),
        other => other.type_name().into(),
    }
}

/// Returns the name that users call, with its module or class.
fn called(owner: &str, signature: &Signature, row: &Row) -> String {
    let name = signature.name.rsplit([':', '.']).next().unwrap_or(signature.name);
    let name = if row.role == Role::Setter { format!("{name} = …") } else { name.to_string() };
    match owner.strip_prefix("Python's ") {
        Some(module) if LIBRARY.contains(&module) => format!("{module}.{name}"),
        Some(_) => name,
        None => format!("{owner}.{name}"),
    }
}

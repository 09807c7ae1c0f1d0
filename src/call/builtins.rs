//! How CPython's builtins refuse arguments, each in one of three styles. This file knows the builtins' names and
//! numbers of arguments, but not what they do.

use super::bind::Arguments;
use super::signature::{Kind, Param, Signature};
use tensor::{Error, Result, bail};
use value::Value;

/// The way a builtin accepts arguments.
#[derive(Clone, Copy)]
enum Style {
    /// Exactly one positional argument.
    One,
    /// Between a minimum and a maximum of positional arguments.
    Counted(usize, usize),
    /// A minimum of arguments, which can be keywords, and a maximum.
    Named(usize, usize),
}

use Style::{Counted, Named, One};

const ANY: usize = usize::MAX;

const STYLES: &[(&str, Style)] = &[
    ("abs", One),
    ("all", One),
    ("any", One),
    ("ascii", One),
    ("bin", One),
    ("bool", Counted(0, 1)),
    ("bytearray", Named(0, 3)),
    ("bytes", Named(0, 3)),
    ("callable", One),
    ("chr", One),
    ("complex", Named(0, 2)),
    ("delattr", Counted(2, 2)),
    ("divmod", Counted(2, 2)),
    ("enumerate", Named(1, 2)),
    ("filter", Counted(0, ANY)),
    ("float", Counted(0, 1)),
    ("format", Counted(1, 2)),
    ("frozenset", Counted(0, 1)),
    ("getattr", Counted(2, 3)),
    ("hasattr", Counted(2, 2)),
    ("hash", One),
    ("hex", One),
    ("id", One),
    ("input", Counted(0, 1)),
    ("int", Named(0, 2)),
    ("isinstance", Counted(2, 2)),
    ("issubclass", Counted(2, 2)),
    ("iter", Counted(1, 2)),
    ("len", One),
    ("list", Counted(0, 1)),
    ("map", Counted(0, ANY)),
    ("next", Counted(1, 2)),
    ("oct", One),
    ("ord", One),
    ("pow", Named(2, 3)),
    ("print", Named(0, ANY)),
    ("range", Counted(1, 3)),
    ("repr", One),
    ("reversed", Counted(1, 1)),
    ("round", Named(1, 2)),
    ("set", Counted(0, 1)),
    ("setattr", Counted(3, 3)),
    ("slice", Counted(1, 3)),
    ("sorted", Named(1, 1)),
    ("str", Named(0, 3)),
    ("sum", Named(1, 2)),
    ("tuple", Counted(0, 1)),
    ("zip", Named(0, ANY)),
];

fn style(signature: &Signature) -> Option<Style> {
    let name = signature.name;
    if knows_number(name) {
        let needed =
            signature.params.iter().filter(|param| param.default.is_none() && param.kind != Kind::Rest).count();
        let any = signature.params.iter().any(|param| param.kind == Kind::Rest);
        return Some(match (needed, signature.params.len()) {
            (1, 1) => One,
            (_, most) => Counted(needed, if any { ANY } else { most }),
        });
    }
    named(name)
}

/// Returns whether this is a function of `math` that takes no keywords.
fn knows_number(name: &str) -> bool {
    name.strip_prefix("math.").is_some_and(|short| !matches!(short, "isclose" | "prod"))
}

fn named(name: &str) -> Option<Style> {
    let short = name.strip_prefix("py.")?;
    STYLES.binary_search_by_key(&short, |(known, _)| known).ok().and_then(|at| STYLES.get(at)).map(|(_, style)| *style)
}

/// Returns whether a function is a builtin of CPython, whose argument errors are in CPython's words.
pub fn knows(name: &str) -> bool {
    knows_number(name) || named(name).is_some()
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Checks the number of arguments and the names of keywords.
///
/// # Errors
/// TypeError in CPython's words.
pub fn check(signature: &Signature, arguments: &Arguments) -> Result<()> {
    let Some(style) = style(signature) else { return Ok(()) };
    let name = signature.called();
    let (given, keywords) = (arguments.positional.len(), &arguments.keywords);
    if let (One | Counted(..), true) = (style, !keywords.is_empty()) {
        bail!(TypeError, "{name}() takes no keyword arguments");
    }
    match style {
        One if given != 1 => {
            let name = signature.name.strip_prefix("py.").unwrap_or(signature.name);
            bail!(TypeError, "{name}() takes exactly one argument ({given} given)")
        }
        Counted(least, most) if given < least || given > most => {
            let (how, count) = match (least == most, given < least) {
                (true, _) => ("", least),
                (_, true) => ("at least ", least),
                _ => ("at most ", most),
            };
            bail!(TypeError, "{name} expected {how}{count} argument{}, got {given}", plural(count))
        }
        // `sorted` passes its keywords to the list method `sort`, whose errors come later.
        Named(..) if &*name == "sorted" && given != 1 => bail!(TypeError, "sorted expected 1 argument, got {given}"),
        Named(_, most) if given.saturating_add(keywords.len()) > most && &*name != "sorted" => {
            let all = given + keywords.len();
            bail!(TypeError, "{name}() takes at most {most} argument{} ({all} given)", plural(most))
        }
        Named(least, _) => {
            let has = |param: &Param| keywords.iter().any(|(keyword, _)| &**keyword == param.name);
            let required = signature.params.iter().take(least).enumerate().skip(given);
            match (&*name, required.into_iter().find(|(_, param)| !has(param))) {
                (_, None) => {}
                ("sum", _) => bail!(TypeError, "sum() takes at least 1 positional argument ({given} given)"),
                ("enumerate", _) => bail!(TypeError, "enumerate() missing required argument 'iterable'"),
                (_, Some((i, param))) => {
                    bail!(TypeError, "{name}() missing required argument '{}' (pos {})", param.name, i + 1)
                }
            }
            // The number argument of `int` is positional only.
            let is_placed = |param: &Param| &*name == "int" && param.name != "base";
            let is_known = |keyword: &str| {
                signature.params.iter().any(|p| p.name == keyword && p.kind != Kind::Rest && !is_placed(p))
            };
            if let Some((unknown, _)) = keywords.iter().find(|(keyword, _)| !is_known(keyword)) {
                let of = if &*name == "sorted" { "sort" } else { &name };
                bail!(TypeError, "'{unknown}' is an invalid keyword argument for {of}()");
            }
            if &*name == "int" && given == 0 && !keywords.is_empty() {
                bail!(TypeError, "int() missing string argument");
            }
            Ok(())
        }
        One | Counted(..) => Ok(()),
    }
}

/// Builds the error for an argument of a class that the builtin does not accept.
pub fn wrong(signature: &Signature, position: usize, param: &Param, value: &Value) -> Error {
    let (name, class) = (signature.called(), value.type_name());
    let named = if let Value::None = value { "None" } else { class };
    Error::type_error(match (param.kind, &*name) {
        (Kind::Str, "getattr" | "setattr" | "hasattr" | "delattr") => {
            format!("attribute name must be string, not '{class}'")
        }
        (Kind::Str, "ord") => format!("ord() expected string of length 1, but {class} found"),
        (Kind::Int, _) => format!("'{class}' object cannot be interpreted as an integer"),
        (kind, _) => format!("{name}() argument {position} must be {}, not {named}", kind.type_name()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_in_order() {
        assert!(STYLES.is_sorted_by_key(|(name, _)| name));
        assert!(STYLES.iter().all(|(name, _)| knows(&format!("py.{name}"))));
    }
}

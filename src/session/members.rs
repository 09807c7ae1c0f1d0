//! Suggestions for a misspelt name after `::`, a misspelt module, or a misspelt file.

use rhai::{FnAccess, Module, Shared};

use super::Session;
use super::failure::Failure;
use call::LIBRARY;
use call::suggest::nearest;

/// A module with its functions, each with the numbers of its arguments, and its constants and variables.
struct Members<'m> {
    functions: Vec<(&'m str, usize)>,
    variables: Vec<&'m str>,
}

impl<'m> Members<'m> {
    fn of(module: &'m Module) -> Members<'m> {
        let functions = module.iter_script_fn_info().filter(|(_, access, ..)| *access == FnAccess::Public);
        let mut functions: Vec<_> = functions.map(|(_, _, name, count, _)| (name, count)).collect();
        functions.sort_unstable();
        let mut variables: Vec<_> = module.iter_var().map(|(name, _)| name).collect();
        variables.sort_unstable();
        Members { functions, variables }
    }

    fn names(&self) -> Vec<&'m str> {
        let mut names: Vec<_> =
            self.functions.iter().map(|(name, _)| *name).chain(self.variables.iter().copied()).collect();
        names.dedup();
        names
    }

    /// Returns advice on a name that does not exist as written.
    fn advice(&self, module: &str, name: &str, is_called: bool) -> Option<String> {
        let path = format!("{module}::{name}");
        let counts: Vec<_> =
            self.functions.iter().filter(|(known, _)| *known == name).map(|(_, count)| count).collect();
        if let [first, more @ ..] = counts.as_slice() {
            if !is_called {
                return Some(format!("`{path}` is a function; as a value, write `|x| {path}(x)`"));
            }
            let counts = more.iter().fold(first.to_string(), |text, count| format!("{text} or {count}"));
            return Some(format!("`{path}` takes {counts} argument{}", if counts == "1" { "" } else { "s" }));
        }
        if self.variables.contains(&name) {
            return Some(format!("`{path}` is a value: write it without `()`"));
        }
        let names = self.names();
        match nearest(name, names.iter().copied()) {
            Some(near) => Some(format!("did you mean `{module}::{near}`?")),
            None if names.is_empty() => None,
            None => Some(format!("`{module}` has {}", names.join(", "))),
        }
    }
}

impl Session {
    /// Returns advice on `module::name`, on an unknown module, and on a module before a dot.
    pub(super) fn on_modules(&self, failure: &Failure, rest: &str) -> Option<String> {
        let quoted = failure.message.split('\'').nth(1)?;
        let named = self.runtime.modules.named.borrow();
        match failure.kind.as_str() {
            "NameError" => match quoted.rsplit_once("::") {
                Some(("global", name)) => Some(if self.scope.contains(name) {
                    format!("`{name}` is a variable, and `global::` reaches constants: `const {name} = …;`")
                } else {
                    format!("`global::` reaches the constants of the script: `const {name} = …;`")
                }),
                Some((module, name)) => {
                    let is_called = rest.trim_start_matches(quoted).trim_start().starts_with('(')
                        || rest.trim_start_matches(name).trim_start().starts_with('(');
                    Members::of(named.get(module)?).advice(module, name, is_called)
                }
                None if named.contains_key(quoted) => Some(format!("`{quoted}` is a module: write `{quoted}::name`")),
                None => None,
            },
            "ModuleNotFoundError" => {
                let member = rest.strip_prefix(quoted).and_then(|rest| rest.strip_prefix("::"));
                let Some(member) =
                    member.and_then(|rest| rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next())
                else {
                    let is_file = self.runtime.modules.find(None, quoted).is_ok();
                    return is_file.then(|| format!("`import \"{quoted}\" as {quoted};` imports {quoted}.rhai"));
                };
                if LIBRARY.contains(&quoted) || quoted == "torch" || self.scope.contains(quoted) {
                    return Some(format!("write a dot: `{quoted}.{member}`"));
                }
                let has = |module: &&Shared<Module>| Members::of(module).names().contains(&member);
                let known = named.iter().find(|(_, module)| has(module)).map(|(name, _)| name.as_str());
                match known.or_else(|| nearest(quoted, named.keys().map(String::as_str))) {
                    Some(known) => Some(format!("did you mean `{known}::{member}`?")),
                    None => {
                        let file = if self.runtime.modules.find(None, quoted).is_ok() { quoted } else { "file" };
                        Some(format!("`import \"{file}\" as {quoted};` gives a module this name"))
                    }
                }
            }
            _ => None,
        }
    }
}

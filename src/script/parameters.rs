//! How a function written in Python takes its arguments: by position, by name, gathered in `*args` and `**kwargs`, or
//! by default; and Python's words when that fails. This file must not know what the function does.

use super::dict::Dict;
use super::list::own;
use super::value::{to_dynamic, to_value};
use crate::bail;
use crate::tensor::{Error, Result};
use crate::value::Value;
use rhai::{Array, Dynamic, Map};

/// The parameters of one function.
pub struct Parameters {
    function: String,
    /// Those that take one argument by position or by name.
    plain: Vec<String>,
    keyword_only: Vec<String>,
    rest: bool,
    keywords: bool,
    defaults: Map,
}

impl Parameters {
    /// Reads `["a", "b", "*args", "k", "**kwargs"]`.
    pub fn new(function: &str, names: &Array, defaults: Map) -> Parameters {
        let (plain, keyword_only) = (Vec::new(), Vec::new());
        let function = function.to_string();
        let mut this = Parameters { function, plain, keyword_only, rest: false, keywords: false, defaults };
        let mut after_star = false;
        for name in names.iter().map(Dynamic::to_string) {
            match name.as_str() {
                "*" => after_star = true,
                name if name.starts_with("**") => this.keywords = true,
                name if name.starts_with('*') => (this.rest, after_star) = (true, true),
                _ if after_star => this.keyword_only.push(name),
                _ => this.plain.push(name),
            }
        }
        this
    }

    /// The name of the function, as messages show it.
    pub fn function(&self) -> &str {
        &self.function
    }

    /// The arguments in the order in which the body takes them: plain, keyword-only, `*args`, `**kwargs`.
    ///
    /// # Errors
    /// Python's TypeErrors about too many, missing, repeated and unknown arguments.
    pub fn bind(&self, mut positional: Vec<Dynamic>, given: Map) -> Result<Vec<Dynamic>> {
        let count = positional.len();
        let rest = if count > self.plain.len() { positional.split_off(self.plain.len()) } else { Vec::new() };
        if !rest.is_empty() && !self.rest {
            return Err(self.too_many(count));
        }
        let mut values: Vec<Option<Dynamic>> = positional.into_iter().map(Some).collect();
        values.resize(self.plain.len() + self.keyword_only.len(), None);
        let mut others = Vec::new();
        for (name, value) in given {
            match self.singles().position(|known| *known == name.as_str()).and_then(|i| values.get_mut(i)) {
                Some(slot @ None) => *slot = Some(value),
                Some(Some(_)) => bail!(TypeError, "{}() got multiple values for argument '{name}'", self.function),
                None if self.keywords => others.push((Value::str(name.as_str()), value)),
                None => bail!(TypeError, "{}() got an unexpected keyword argument '{name}'", self.function),
            }
        }
        for (value, name) in values.iter_mut().zip(self.singles()) {
            *value = value.take().or_else(|| self.defaults.get(name.as_str()).cloned());
        }
        self.check_missing(&values)?;
        let mut bound: Vec<Dynamic> = values.into_iter().flatten().map(own).collect();
        if self.rest {
            bound.push(to_dynamic(Value::Tuple(rest.iter().map(to_value).collect::<Result<_>>()?)));
        }
        if self.keywords {
            bound.push(Dynamic::from(Dict::new(others)?));
        }
        Ok(bound)
    }

    /// The parameters that take one argument each.
    fn singles(&self) -> impl Iterator<Item = &String> {
        self.plain.iter().chain(&self.keyword_only)
    }

    fn check_missing(&self, values: &[Option<Dynamic>]) -> Result<()> {
        let missing = |values: &[Option<Dynamic>], names: &[String]| -> Vec<String> {
            values.iter().zip(names).filter(|(value, _)| value.is_none()).map(|(_, name)| format!("'{name}'")).collect()
        };
        let (plain, keyword_only) = values.split_at(self.plain.len().min(values.len()));
        for (kind, names) in
            [("positional", missing(plain, &self.plain)), ("keyword-only", missing(keyword_only, &self.keyword_only))]
        {
            if !names.is_empty() {
                let plural = if names.len() == 1 { "" } else { "s" };
                bail!(
                    TypeError,
                    "{}() missing {} required {kind} argument{plural}: {}",
                    self.function,
                    names.len(),
                    enumeration(&names)
                );
            }
        }
        Ok(())
    }

    fn too_many(&self, given: usize) -> Error {
        let most = self.plain.len();
        let least = self.plain.iter().filter(|name| !self.defaults.contains_key(name.as_str())).count();
        let takes = if least < most { format!("from {least} to {most}") } else { most.to_string() };
        let plural = if most == 1 { "" } else { "s" };
        let were = if given == 1 { "was" } else { "were" };
        let function = &self.function;
        Error::type_error(format!("{function}() takes {takes} positional argument{plural} but {given} {were} given"))
    }
}

/// `'a'`, `'a' and 'b'`, `'a', 'b', and 'c'`.
fn enumeration(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first, second] => format!("{first} and {second}"),
        [before @ .., last] => format!("{}, and {last}", before.join(", ")),
    }
}

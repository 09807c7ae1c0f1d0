//! The names of a class, which a script may set.

use value::{Value, intern};

#[derive(Clone, Copy)]
pub(super) struct ClassNames {
    pub name: &'static str,
    /// The name with the enclosing classes and functions, preceded by the module.
    pub path: &'static str,
    /// The name of the module, with which `path` begins.
    pub module: &'static str,
}

impl ClassNames {
    /// Returns the names of a class in a module, from the name with the enclosing classes and functions.
    pub(super) fn new(module: &str, qualified: &str) -> ClassNames {
        ClassNames {
            name: intern(qualified.rsplit('.').next().unwrap_or(qualified)),
            path: intern(&format!("{module}.{qualified}")),
            module: intern(module),
        }
    }

    pub(super) fn qualified(self) -> &'static str {
        self.path.get(self.module.len() + 1..).unwrap_or(self.path)
    }

    /// Returns the names after one of them was set as an attribute.
    pub(super) fn renamed(mut self, attribute: &str, value: &Value) -> ClassNames {
        let Value::Str(text) = value else { return self };
        let qualified = self.qualified();
        match attribute {
            "__name__" => self.name = intern(text),
            "__qualname__" => self.path = intern(&format!("{}.{text}", self.module)),
            _ => {
                self.module = intern(text);
                self.path = intern(&format!("{text}.{qualified}"));
            }
        }
        self
    }
}

//! Comprehensions and generator expressions: a block that fills an array.
//!
//! A generator expression gives the whole array at once: Rhai has nothing that runs half-way.

use ruff_python_ast::{Comprehension, Expr};

use super::scope::{Body, Known};
use super::target::Value;
use super::{SyntaxFault, Translator, Written, names, start};

impl Translator<'_> {
    pub(super) fn comprehension(&mut self, expression: &Expr) -> Written {
        match expression {
            Expr::ListComp(e) => self.list_of(&e.generators, None, &e.elt),
            Expr::Generator(e) => self.list_of(&e.generators, None, &e.elt),
            Expr::SetComp(e) => {
                self.out.push("set(");
                self.list_of(&e.generators, None, &e.elt)?;
                self.out.push(")");
                Ok(())
            }
            Expr::DictComp(e) => {
                let Some(key) = &e.key else {
                    return Err(SyntaxFault::unsupported("comprehensions of dictionaries", e));
                };
                self.out.push("dict(");
                self.list_of(&e.generators, Some(key), &e.value)?;
                self.out.push(")");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// `{ let list_ = []; for x in iter(xs) { if truth(c) { list_.push(value); } } list_ }`
    fn list_of(&mut self, generators: &[Comprehension], key: Option<&Expr>, value: &Expr) -> Written {
        self.scope.push(Body::Expression);
        self.out.inline += 1;
        self.out.push("{ let list_ = [];");
        let mut braces = 0;
        for generator in generators {
            if generator.is_async {
                return Err(SyntaxFault::unsupported("async comprehensions", generator));
            }
            self.loop_header(generator)?;
            braces += 1;
            for condition in &generator.ifs {
                self.out.push(" if ");
                self.test(condition)?;
                self.out.push(" {");
                braces += 1;
            }
        }
        self.out.push(" list_.push(");
        if let Some(key) = key {
            self.out.push("[");
            self.expression(key)?;
            self.out.push(", ");
        }
        self.argument(value)?;
        self.out.push(if key.is_some() { "]);" } else { ");" });
        for _ in 0..braces {
            self.out.push(" }");
        }
        self.out.push(" list_ }");
        self.out.inline -= 1;
        self.scope.pop();
        Ok(())
    }

    fn loop_header(&mut self, generator: &Comprehension) -> Written {
        self.out.push(" for ");
        self.out.mark(start(generator));
        let name = match &generator.target {
            Expr::Name(target) => Some(names::variable(target.id.as_str())),
            _ => None,
        };
        self.out.push(name.as_deref().unwrap_or("item_"));
        self.out.push(" in ");
        self.function_of("iter", &[&generator.iter])?;
        self.out.push(" {");
        match name {
            Some(name) => {
                self.scope.define(&name, Known::Variable);
                Ok(())
            }
            None => self.assign_to(&generator.target, &Value::Text("item_".into())),
        }
    }
}

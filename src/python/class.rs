//! `class`. The body runs at once; what it names becomes an attribute of the class that is being made, which no
//! function in it sees as a variable.

use ruff_python_ast::{Expr, Stmt, StmtClassDef};

use super::scope::Known;
use super::{SyntaxFault, Translator, Written, names, start};

impl<'a> Translator<'a> {
    /// `let class_ = begin_class_("C", [Base]); class_.x = 1; let C = end_class_(class_);`
    pub(super) fn class(&mut self, class: &'a StmtClassDef) -> Written {
        let name = names::variable(class.name.as_str()).into_owned();
        let is_session = self.scope.is_session() && self.scope.frame().compounds == 0;
        let is_outermost = self.scope.only_classes();
        let making = match self.scope.classes() {
            0 => "class_".to_owned(),
            outer => format!("class{}_", outer + 1),
        };
        // A function that names the class must find it when it is made.
        if !is_outermost && !self.scope.is_class() && !self.scope.is_assignable(&name) {
            self.bind(&name);
            self.out.push("();");
        }
        self.out.line();
        self.out.mark(start(class));
        let qualified = self.scope.qualified(class.name.as_str());
        self.out.push(&format!("let {making} = begin_class_(\"{qualified}\", ["));
        if let Some(arguments) = &class.arguments {
            if let Some(keyword) = arguments.keywords.first() {
                return Err(SyntaxFault::unsupported("keywords of classes", keyword));
            }
            for (i, base) in arguments.args.iter().enumerate() {
                if base.is_starred_expr() {
                    return Err(SyntaxFault::unsupported("unpacked base classes", base));
                }
                self.out.push(if i > 0 { ", " } else { "" });
                self.expression(base)?;
            }
        }
        self.out.push("]);");
        self.scope.push_class(class.name.as_str(), &making);
        let blocks = std::mem::take(&mut self.blocks);
        let written = self.class_body(class, &making);
        self.blocks = blocks;
        self.scope.pop();
        written?;
        self.open_binding(&name);
        let made = format!("end_class_({making})");
        let mut value = Some(made);
        for (i, decorator) in class.decorator_list.iter().rev().enumerate() {
            if i > 0 {
                self.out.push(";");
                self.open_binding(&name);
            }
            self.out.push("call_(");
            self.expression(&decorator.expression)?;
            self.out.push(&format!(", [{}])", value.take().unwrap_or_else(|| name.clone())));
            self.scope.define(&name, Known::Variable);
        }
        self.out.push(&value.take().unwrap_or_default());
        self.out.push(";");
        if !self.scope.is_class() {
            self.scope.define(&name, Known::Variable);
        }
        if is_session {
            self.leftovers.push(making);
        }
        Ok(())
    }

    fn class_body(&mut self, class: &'a StmtClassDef, making: &str) -> Written {
        for (i, statement) in class.body.iter().enumerate() {
            match statement {
                Stmt::Expr(text) if i == 0 && text.value.is_string_literal_expr() => {
                    self.out.line_of(&format!("{making}.__doc__ = "));
                    self.expression(&text.value)?;
                    self.out.push(";");
                }
                Stmt::Expr(ellipsis) if ellipsis.value.is_literal_expr() => {}
                Stmt::AnnAssign(annotated) if let Expr::Name(name) = annotated.target.as_ref() => {
                    let annotation: &Expr = &annotated.annotation;
                    self.out.line_of(&format!("annotate_({making}, \"{}\", ", name.id));
                    match annotation {
                        Expr::Name(_) | Expr::Attribute(_) | Expr::StringLiteral(_) | Expr::NoneLiteral(_) => {
                            self.expression(annotation)?;
                        }
                        // What types are made of means nothing here.
                        other => self.string(self.source.get(start(other)..super::end(other)).unwrap_or_default()),
                    }
                    self.out.push(");");
                    self.statement(statement)?;
                }
                other => self.statement(other)?,
            }
        }
        Ok(())
    }

    /// The body being written, if it is a class's.
    pub(super) fn class_being_made(&self) -> Option<String> {
        self.scope.class_being_made().map(str::to_owned)
    }

    /// An attribute's name: within a class, what begins with two underscores belongs to that class alone.
    pub(super) fn mangled(&self, name: &str) -> String {
        match self.scope.class_name() {
            Some(class) if name.starts_with("__") && !name.ends_with("__") => {
                format!("_{}{name}", class.trim_start_matches('_'))
            }
            _ => name.to_owned(),
        }
    }
}

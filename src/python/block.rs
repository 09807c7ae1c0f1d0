//! Compound statements: `if`, loops, `with`, `try`.
//!
//! A Rhai block hides the variables declared in it, a Python block does not: the outermost compound statement declares
//! beforehand what is assigned anywhere inside.

use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtFor, StmtIf, StmtTry, StmtWhile, StmtWith, WithItem};

use super::scope::{Cleanup, Known};
use super::statement::assigned_names;
use super::target::Value;
use super::{SyntaxFault, Translator, Written, start};

/// As CPython's limit on blocks inside each other.
const MAX_BLOCKS: usize = 20;
/// Rhai reads a chain of `else if` by recursion.
const MAX_BRANCHES: usize = 500;

impl<'a> Translator<'a> {
    /// Writes a compound statement after the declarations of what is assigned in it.
    pub(super) fn compound(&mut self, statement: &'a Stmt, write: impl FnOnce(&mut Self) -> Written) -> Written {
        for name in assigned_names(std::slice::from_ref(statement)) {
            // Attributes and variables of the session need no declaration.
            if self.scope.is_class() || self.scope.is_global(&name) {
                continue;
            }
            if !self.scope.is_assignable(&name) {
                self.out.line_of(&format!("let {name} = ();"));
            }
            // Whatever was known about it may or may not hold inside and after the statement.
            self.scope.define(&name, Known::Variable);
        }
        self.out.line();
        self.out.mark(start(statement));
        self.scope.frame().compounds += 1;
        write(self)?;
        self.scope.frame().compounds -= 1;
        Ok(())
    }

    fn body(&mut self, body: &'a [Stmt]) -> Written {
        self.out.open();
        self.statements(body)?;
        self.out.close();
        Ok(())
    }

    fn enter_block(&mut self, offset: usize) -> Written {
        self.blocks += 1;
        if self.blocks > MAX_BLOCKS {
            return Err(SyntaxFault::syntax("too many statically nested blocks", offset));
        }
        Ok(())
    }

    pub(super) fn if_statement(&mut self, statement: &'a StmtIf) -> Written {
        self.out.push("if ");
        self.test(&statement.test)?;
        self.out.push(" ");
        self.body(&statement.body)?;
        for (i, clause) in statement.elif_else_clauses.iter().enumerate() {
            if i >= MAX_BRANCHES {
                return Err(SyntaxFault::syntax(
                    "too many branches in one if statement (more than 500)",
                    start(clause),
                ));
            }
            self.out.push(" else ");
            if let Some(test) = &clause.test {
                self.out.push("if ");
                self.test(test)?;
                self.out.push(" ");
            }
            self.body(&clause.body)?;
        }
        Ok(())
    }

    pub(super) fn while_loop(&mut self, statement: &'a StmtWhile) -> Written {
        self.with_else(&statement.orelse, "broken", |t, flag| {
            t.out.push("while ");
            t.test(&statement.test)?;
            t.out.push(" ");
            t.enter_loop(start(statement), flag)?;
            t.body(&statement.body)?;
            t.exit_loop();
            Ok(())
        })
    }

    pub(super) fn for_loop(&mut self, statement: &'a StmtFor) -> Written {
        if statement.is_async {
            return Err(SyntaxFault::unsupported("async loops", statement));
        }
        self.with_else(&statement.orelse, "broken", |t, flag| {
            t.out.push("for item_ in ");
            t.function_of("iter", &[&statement.iter])?;
            t.out.push(" ");
            t.enter_loop(start(statement), flag)?;
            t.out.open();
            t.temporaries.clear();
            t.assign_to(&statement.target, &Value::Text("item_".into()))?;
            t.statements(&statement.body)?;
            t.out.close();
            t.exit_loop();
            Ok(())
        })
    }

    /// A statement with an `else` clause, which runs unless a flag was set: `{ let broken_ = false; … if !broken_ { … } }`.
    fn with_else(
        &mut self,
        clause: &'a [Stmt],
        flag: &str,
        write: impl FnOnce(&mut Self, Option<String>) -> Written,
    ) -> Written {
        if clause.is_empty() {
            return write(self, None);
        }
        let flag = format!("{flag}{}_", self.blocks + 1);
        self.out.open();
        self.out.line_of(&format!("let {flag} = false;"));
        self.out.line();
        write(self, Some(flag.clone()))?;
        self.out.line_of(&format!("if !{flag} "));
        self.body(clause)?;
        self.out.close();
        Ok(())
    }

    /// `flag` is set where the loop is left by `break`.
    fn enter_loop(&mut self, offset: usize, flag: Option<String>) -> Written {
        self.enter_block(offset)?;
        let frame = self.scope.frame();
        frame.loops.push((frame.cleanups.len(), flag));
        Ok(())
    }

    fn exit_loop(&mut self) {
        self.blocks -= 1;
        self.scope.frame().loops.pop();
    }

    /// `break` or `continue`.
    pub(super) fn leave_loop(&mut self, word: &str, offset: usize) -> Written {
        let Some((cleanups, flag)) = self.scope.frame().loops.last().cloned() else {
            let message = match word {
                "break" => "'break' outside loop",
                _ => "'continue' not properly in loop",
            };
            return Err(SyntaxFault::syntax(message, offset));
        };
        self.clean_up_to(cleanups)?;
        if let (Some(flag), "break") = (flag, word) {
            self.out.line_of(&format!("{flag} = true;"));
        }
        self.out.line();
        self.out.mark(offset);
        self.out.push(word);
        self.out.push(";");
        Ok(())
    }

    /// Leaves the `with` and `try … finally` blocks opened since there were this many.
    pub(super) fn clean_up_to(&mut self, kept: usize) -> Written {
        let open = self.scope.frame().cleanups.clone();
        for (i, cleanup) in open.iter().enumerate().skip(kept).rev() {
            // A cleanup that leaves early itself leaves only what is around it.
            self.scope.frame().cleanups.truncate(i);
            self.clean_up(cleanup)?;
        }
        self.scope.frame().cleanups = open;
        Ok(())
    }

    fn clean_up(&mut self, cleanup: &Cleanup<'a>) -> Written {
        match cleanup {
            Cleanup::Exit(context) => {
                self.out.line_of(&format!("leave_({context});"));
                Ok(())
            }
            Cleanup::Finally(body) => self.statements(body),
        }
    }

    /// `try { … } catch { cleanup; throw; } cleanup`
    fn guarded(&mut self, cleanup: Cleanup<'a>, offset: usize, write: impl FnOnce(&mut Self) -> Written) -> Written {
        self.out.push("try ");
        self.out.open();
        self.scope.frame().cleanups.push(cleanup.clone());
        write(self)?;
        self.scope.frame().cleanups.pop();
        self.out.close();
        if let Cleanup::Exit(context) = &cleanup {
            // The context is told what went wrong, and may say that it is settled.
            self.out.push(" catch (error_) ");
            self.out.open();
            self.out.line_of(&format!("if !leave_({context}, error_) {{ "));
            self.out.mark(offset);
            self.out.push("throw; }");
            self.out.line_of(&format!("{context} = ();"));
        } else {
            self.out.push(" catch ");
            self.out.open();
            self.clean_up(&cleanup)?;
            self.out.line();
            self.out.mark(offset);
            self.out.push("throw;");
        }
        self.out.close();
        self.clean_up(&cleanup)
    }

    pub(super) fn with(&mut self, statement: &'a StmtWith) -> Written {
        if statement.is_async {
            return Err(SyntaxFault::unsupported("async with statements", statement));
        }
        self.with_items(&statement.items, statement)
    }

    fn with_items(&mut self, items: &'a [WithItem], statement: &'a StmtWith) -> Written {
        let Some((item, rest)) = items.split_first() else {
            return self.statements(&statement.body);
        };
        self.enter_block(start(item))?;
        let context = match self.scope.frame().cleanups.len() {
            0 => "context_".to_string(),
            open => format!("context{}_", open + 1),
        };
        self.out.open();
        self.out.line_of(&format!("let {context} = "));
        self.expression(&item.context_expr)?;
        self.out.push(";");
        let enter = format!("{context}.__enter__()");
        match &item.optional_vars {
            Some(target) => {
                self.temporaries.clear();
                self.assign_to(target, &Value::Text(enter.into()))?;
            }
            None => self.out.line_of(&format!("{enter};")),
        }
        self.out.line();
        self.guarded(Cleanup::Exit(context), start(statement), |t| {
            if !rest.is_empty() {
                t.out.line();
            }
            t.with_items(rest, statement)
        })?;
        self.out.close();
        self.blocks -= 1;
        Ok(())
    }

    pub(super) fn try_statement(&mut self, statement: &'a StmtTry) -> Written {
        if statement.is_star {
            return Err(SyntaxFault::unsupported("except* clauses", statement));
        }
        self.enter_block(start(statement))?;
        if statement.finalbody.is_empty() {
            self.try_except_else(statement)?;
        } else {
            let cleanup = Cleanup::Finally(&statement.finalbody);
            self.guarded(cleanup, start(statement), |t| {
                if statement.handlers.is_empty() {
                    t.statements(&statement.body)
                } else {
                    t.out.line();
                    t.try_except_else(statement)
                }
            })?;
        }
        self.blocks -= 1;
        Ok(())
    }

    /// The `else` clause runs unless an error was caught, and its own errors are not.
    fn try_except_else(&mut self, statement: &'a StmtTry) -> Written {
        self.with_else(&statement.orelse, "failed", |t, flag| t.try_except(statement, flag))
    }

    fn try_except(&mut self, statement: &'a StmtTry, flag: Option<String>) -> Written {
        self.out.push("try ");
        self.body(&statement.body)?;
        self.out.push(" catch (error_) ");
        self.out.open();
        if let Some(flag) = flag {
            self.out.line_of(&format!("{flag} = true;"));
        }
        self.scope.frame().handlers += 1;
        let mut is_caught = false;
        for (i, ExceptHandler::ExceptHandler(handler)) in statement.handlers.iter().enumerate() {
            if i >= MAX_BRANCHES {
                return Err(SyntaxFault::syntax("too many except clauses (more than 500)", start(handler)));
            }
            if i == 0 {
                self.out.line();
            }
            match &handler.type_ {
                Some(class) => {
                    self.out.push(if i == 0 { "if " } else { " else if " });
                    self.matches(class)?;
                    self.out.push(" ");
                }
                None if is_caught => {
                    return Err(SyntaxFault::syntax("default 'except:' must be last", start(handler)));
                }
                None => {
                    is_caught = true;
                    self.out.push(if i == 0 { "" } else { " else " });
                }
            }
            self.out.open();
            if let Some(name) = &handler.name {
                let name = super::names::variable(name.as_str());
                self.bind(&name);
                self.out.push("caught_(error_);");
            }
            self.statements(&handler.body)?;
            self.out.close();
        }
        if !is_caught {
            self.out.push(" else ");
            self.out.open();
            self.out.line_of("throw;");
            self.out.close();
        }
        self.scope.frame().handlers -= 1;
        self.out.close();
        Ok(())
    }

    /// `__matches__(error_, "ValueError")`, for each class of a tuple.
    fn matches(&mut self, class: &'a Expr) -> Written {
        let classes = match class {
            Expr::Tuple(tuple) => tuple.elts.as_slice(),
            single => std::slice::from_ref(single),
        };
        if classes.is_empty() {
            self.out.push("false");
        }
        for (i, class) in classes.iter().enumerate() {
            self.out.push(if i > 0 { " || __matches__(error_, " } else { "__matches__(error_, " });
            match self.exception_name(class) {
                Some(name) => self.out.push(&format!("\"{name}\"")),
                None => self.expression(class)?,
            }
            self.out.push(")");
        }
        Ok(())
    }
}

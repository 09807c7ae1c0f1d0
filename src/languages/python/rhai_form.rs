//! Translates a Python line to Rhai as a person would write it, for reading and for learning. The result is never run.
//!
//! If Rhai cannot express something naturally, the result is a sentence that names the construct. This part does not
//! know tensors, how either language is evaluated, or anything about the session except which names are defined. This
//! file writes statements; `expression` writes expressions.

mod expression;
mod words;

use super::syntax::depth::excess;
use expression::{Bind, enclosed};
use ruff_python_ast::{
    Expr, ExprAttribute, ExprList, ExprSubscript, ExprTuple, Operator, Parameters, Stmt, StmtFor, StmtFunctionDef,
    StmtIf,
};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use std::collections::{HashMap, HashSet};
use words::{ValueHint, braced, is_name, names};

/// The maximum length of a source to translate, in bytes.
const LONGEST: usize = 1 << 16;
/// The maximum depth of a source: the parser and this printer recurse.
const DEEPEST: usize = 140;
/// Modules of torch that a variable can hold.
const SUBMODULES: &[&str] = &["autograd", "fft", "func", "functional", "linalg", "nn", "special", "testing"];

/// The translated text, or a sentence that names the construct without a Rhai form.
type Translation = Result<String, String>;
type TranslatedLines = Result<Vec<String>, String>;

/// The kind of a session variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    Tensor,
    /// A Python list, dictionary or set, whose methods differ from those of Rhai's containers.
    Container,
    Other,
    /// Perhaps a tensor.
    Unknown,
}

/// Like [`rhai_form`], but restricted to Rhai's own grammar: `x[at(0, slice(1, 3))]`, `f(#{dim: 0})`.
///
/// # Errors
/// The errors of [`rhai_form`].
pub fn grammar_form(source: &str, variable: &dyn Fn(&str) -> Option<VariableKind>) -> Translation {
    printed(source, variable, true)
}

/// Translates Python to Rhai. `variable` returns the kind of a session variable by its Python name. Session variables
/// are assigned without `let`, and called with `.call`.
///
/// # Errors
/// Fails with a sentence that names the construct without a Rhai form.
pub fn rhai_form(source: &str, variable: &dyn Fn(&str) -> Option<VariableKind>) -> Translation {
    printed(source, variable, false)
}

fn printed(source: &str, variable: &dyn Fn(&str) -> Option<VariableKind>, by_grammar: bool) -> Translation {
    if source.len() > LONGEST || excess(source, DEEPEST).is_some() {
        return Err("an input as long or as deep as this has no Rhai form".into());
    }
    let parsed = parse_unchecked(source, ParseOptions::from(Mode::Module));
    let Some(module) = parsed.syntax().as_module().filter(|_| parsed.has_valid_syntax()) else {
        return Err("what is not Python has no Rhai form".into());
    };
    let mut printer = Printer {
        source,
        variable,
        by_grammar,
        known: HashMap::new(),
        functions: HashSet::new(),
        in_function: false,
        blocks: 0,
        hoisted: Vec::new(),
    };
    let lines = printer.statements(&module.body)?;
    let mut text = lines.join("\n");
    // A prompt shows the value of a last statement without a semicolon.
    if module.body.last().is_some_and(Stmt::is_expr_stmt) && text.ends_with(';') {
        text.pop();
    }
    Ok(text)
}

/// Methods that modify a list, a set or a dictionary.
const CHANGES: &[&str] = &[
    "add",
    "append",
    "clear",
    "discard",
    "extend",
    "insert",
    "pop",
    "popitem",
    "remove",
    "reverse",
    "setdefault",
    "sort",
    "update",
];

/// Returns whether the value of a name is modified in place and may be a list. For an array of Rhai, `b = a` makes a
/// copy.
fn is_changed(source: &str, name: &str) -> bool {
    source.match_indices(name).any(|(at, _)| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let before = source.get(..at).unwrap_or_default();
        let rest = source.get(at + name.len()..).unwrap_or_default();
        let method = rest.strip_prefix('.').and_then(|rest| rest.split_once('(')).map(|(method, _)| method.trim());
        let item = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(_, behind)| behind.trim_start());
        let is_assigned = item.is_some_and(|behind| {
            let operator = behind.trim_start_matches(['+', '-', '*', '/', '%', '|', '&']);
            operator.starts_with('=') && !behind.starts_with("==")
        });
        !before.ends_with(is_part) && (method.is_some_and(|method| CHANGES.contains(&method)) || is_assigned)
    })
}

/// Returns whether an expression is `x.items()`.
fn is_items(e: &Expr) -> bool {
    let method = e.as_call_expr().filter(|call| call.arguments.is_empty()).map(|call| &*call.func);
    method.and_then(Expr::as_attribute_expr).is_some_and(|method| method.attr.as_str() == "items")
}

fn no_form<T>(constructs: &str) -> Result<T, String> {
    Err(format!("{constructs} no Rhai form"))
}

struct Printer<'a> {
    source: &'a str,
    variable: &'a dyn Fn(&str) -> Option<VariableKind>,
    /// Whether to restrict the output to Rhai's own grammar.
    by_grammar: bool,
    /// The variables created by this input so far, and their kinds.
    known: HashMap<String, ValueHint>,
    /// The functions defined by this input, which Rhai keeps separate from variables.
    functions: HashSet<String>,
    in_function: bool,
    /// Number of blocks around the current statement.
    blocks: usize,
    /// Variables that outlive their block in Python but not in Rhai. They are declared before the block.
    hoisted: Vec<String>,
}

impl Printer<'_> {
    fn statements(&mut self, body: &[Stmt]) -> TranslatedLines {
        let mut lines = Vec::new();
        for statement in body {
            let written = self.statement(statement)?;
            if self.blocks == 0 {
                lines.extend(self.hoisted.drain(..).map(|name| format!("let {name};")));
            }
            lines.extend(written);
        }
        Ok(lines)
    }

    fn statement(&mut self, statement: &Stmt) -> TranslatedLines {
        let line = match statement {
            Stmt::Expr(e) => format!("{};", self.value(&e.value)?),
            Stmt::Assign(e) => return self.assign(&e.targets, &e.value),
            Stmt::AnnAssign(e) => match &e.value {
                Some(value) => return self.assign(std::slice::from_ref(&*e.target), value),
                None => return no_form("annotations without a value have"),
            },
            Stmt::AugAssign(e) => self.augmented(&e.target, e.op, &e.value)?,
            Stmt::If(e) => return self.branches(e),
            Stmt::For(e) => return self.for_loop(e),
            Stmt::While(e) if e.orelse.is_empty() => {
                self.known.values_mut().for_each(|kind| *kind = ValueHint::Unknown);
                let head = format!("while {}", self.condition(&e.test)?.0);
                return self.block(&head, &e.body);
            }
            Stmt::While(_) => return no_form("loops with `else` have"),
            Stmt::FunctionDef(e) => return self.function(e),
            Stmt::Return(e) => match &e.value {
                Some(value) => format!("return {};", self.value(value)?),
                None => "return;".into(),
            },
            Stmt::Assert(e) => {
                let message = e.msg.as_deref().map_or(Ok(String::new()), |message| self.value(message))?;
                let test = enclosed(self.condition(&e.test)?, Bind::Number);
                format!("if !{test} {{ throw AssertionError({message}); }}")
            }
            Stmt::Raise(e) => match (e.exc.as_deref(), &e.cause) {
                (Some(Expr::Name(class)), None) if class.id.starts_with(char::is_uppercase) => {
                    format!("throw {}();", class.id)
                }
                (Some(value), None) => format!("throw {};", self.value(value)?),
                _ => return no_form("`raise` without an exception has"),
            },
            Stmt::Import(e) => {
                return e.names.iter().map(|a| self.import(&a.name, "", a.asname.as_deref())).collect();
            }
            Stmt::ImportFrom(e) => {
                let module = e.module.as_deref().unwrap_or_default();
                return e.names.iter().map(|a| self.import(module, &a.name, a.asname.as_deref())).collect();
            }
            Stmt::Pass(_) if self.blocks > 0 => return Ok(Vec::new()),
            Stmt::Pass(_) => "// nothing to do".into(),
            Stmt::Break(_) => "break;".into(),
            Stmt::Continue(_) => "continue;".into(),
            Stmt::Delete(_) => return no_form("`del` has"),
            Stmt::ClassDef(_) => return no_form("class definitions have"),
            Stmt::With(_) => return no_form("`with` blocks have"),
            Stmt::Try(_) => return no_form("`try` blocks have"),
            Stmt::Match(_) => return no_form("`match` statements have"),
            Stmt::Global(_) | Stmt::Nonlocal(_) => return no_form("`global` and `nonlocal` have"),
            Stmt::TypeAlias(_) | Stmt::IpyEscapeCommand(_) => return no_form("type aliases and IPython commands have"),
        };
        Ok(vec![line])
    }

    /// Writes an import of a module, or of one of its members.
    fn import(&mut self, module: &str, member: &str, name: Option<&str>) -> Translation {
        let is_torch = module == "torch" || module.starts_with("torch.");
        let is_module = member.is_empty() || SUBMODULES.contains(&member);
        let path = if member.is_empty() { module.to_owned() } else { format!("{module}.{member}") };
        match name {
            None if member == "*" && module != "torch" => no_form("`import *` has"),
            None if is_torch && member.is_empty() => Ok("// torch is always there".into()),
            None if module == "torch" && !is_module => Ok("// the names of torch are always there".into()),
            name if is_torch && is_module => self.assigned(name.unwrap_or(member), &path, ValueHint::Unknown),
            name if member.is_empty() && is_name(module) => {
                self.assigned(name.unwrap_or(module), &format!("import_(\"{module}\")"), ValueHint::Unknown)
            }
            _ => no_form("imports of what is no module have"),
        }
    }

    /// Returns whether assigning to the name needs no `let`.
    fn is_variable(&self, name: &str) -> bool {
        self.known.contains_key(name) || !self.in_function && (self.variable)(name).is_some()
    }

    /// Writes `let x = …;` or `x = …;`.
    fn assigned(&mut self, name: &str, value: &str, kind: ValueHint) -> Translation {
        let spelled = self.spelled(name)?;
        let is_new = !self.is_variable(name);
        self.known.insert(name.to_owned(), if self.blocks == 0 { kind } else { ValueHint::Unknown });
        if is_new && self.blocks > 0 {
            self.hoisted.push(spelled.clone());
        }
        let word = if is_new && self.blocks == 0 { "let " } else { "" };
        Ok(format!("{word}{spelled} = {value};"))
    }

    fn assign(&mut self, targets: &[Expr], value: &Expr) -> TranslatedLines {
        let kind = self.kind(value);
        let [target] = targets else {
            // `a = b = 1`: the first name passes its value on.
            let Some(first) = targets.iter().find(|target| target.is_name_expr()) else {
                return no_form("chained assignments without a name have");
            };
            let mut lines = self.assign(std::slice::from_ref(first), value)?;
            for target in targets.iter().filter(|target| *target != first) {
                lines.extend(self.assign(std::slice::from_ref(target), first)?);
            }
            return Ok(lines);
        };
        let text = match target {
            Expr::Tuple(e) => return self.unpacked(&e.elts, value),
            Expr::List(e) => return self.unpacked(&e.elts, value),
            _ => self.value(value)?,
        };
        if let (Expr::Name(one), Expr::Name(other)) = (target, value)
            && [&one.id, &other.id].iter().any(|name| is_changed(self.source, name))
        {
            return no_form("two names of one list that is changed have");
        }
        Ok(vec![self.stored(target, &text, kind)?])
    }

    fn stored(&mut self, target: &Expr, value: &str, kind: ValueHint) -> Translation {
        if let Expr::Name(name) = target {
            return self.assigned(name.id.as_str(), value, kind);
        }
        let (before, place) = self.place(target)?;
        Ok(format!("{before}{place} = {value};"))
    }

    /// Returns an assignment target, and the line to write before it. Rhai assigns to parts of variables, but not to
    /// parts of call results.
    fn place(&mut self, target: &Expr) -> Result<(String, String), String> {
        let place = self.value(target)?;
        let (Expr::Attribute(ExprAttribute { value: owner, .. }) | Expr::Subscript(ExprSubscript { value: owner, .. })) =
            target
        else {
            return Ok((String::new(), place));
        };
        let mut root = owner;
        while let Expr::Attribute(ExprAttribute { value, .. }) | Expr::Subscript(ExprSubscript { value, .. }) = &**root
        {
            root = value;
        }
        if root.is_name_expr() {
            return Ok((String::new(), place));
        }
        let owner = self.operand(owner, Bind::Closed)?;
        let (name, line) = self.between(&owner, &["parts", "pieces", "rest"])?;
        Ok((line + "\n", place.replacen(&owner, &name, 1)))
    }

    /// Returns a name for a temporary, and the line that declares it.
    fn between(&mut self, value: &str, names_of_it: &[&str]) -> Result<(String, String), String> {
        let free = |name: &&&str| !self.is_variable(name) && !names(self.source, name);
        let Some(name) = names_of_it.iter().find(free) else { return no_form("so many names have") };
        Ok(((*name).to_owned(), self.assigned(name, value, ValueHint::Unknown)?))
    }

    /// Writes `let parts = …; let a = parts[0]; …`, unless the values are listed individually or already have a name.
    fn unpacked(&mut self, targets: &[Expr], value: &Expr) -> TranslatedLines {
        if targets.iter().any(|target| target.is_tuple_expr() || target.is_list_expr()) {
            return no_form("targets within targets have");
        }
        let written = targets.iter().map(|target| self.value(target)).collect::<TranslatedLines>()?;
        let mut whole = match value {
            Expr::Tuple(ExprTuple { elts, .. }) | Expr::List(ExprList { elts, .. }) if elts.len() == targets.len() => {
                let values = elts.iter().map(|value| self.value(value)).collect::<TranslatedLines>()?;
                let reads = |(i, value): (usize, &String)| written.iter().take(i).any(|target| names(value, target));
                if !values.iter().enumerate().any(reads) {
                    let pairs = targets.iter().zip(values).zip(elts);
                    return pairs.map(|((target, value), e)| self.stored(target, &value, self.kind(e))).collect();
                }
                format!("[{}]", values.join(", "))
            }
            value => self.value(value)?,
        };
        let mut lines = Vec::new();
        if !whole.split('.').all(is_name) || written.iter().any(|target| names(&whole, target)) {
            let (name, line) = self.between(&whole, &["parts", "both", "pieces"])?;
            lines.push(line);
            whole = name;
        }
        for (i, target) in targets.iter().enumerate() {
            lines.push(self.stored(target, &format!("{whole}[{i}]"), ValueHint::Unknown)?);
        }
        Ok(lines)
    }

    /// Writes `x += y`, or `x = …` if Rhai does not have the operator.
    fn augmented(&mut self, target: &Expr, op: Operator, value: &Expr) -> Translation {
        let (left, whole) = (self.value(target)?, self.binary(target, op, value)?.0);
        let (before, place) = self.place(target)?;
        if let Some(kind) = target.as_name_expr().and_then(|name| self.known.get_mut(name.id.as_str())) {
            *kind = ValueHint::Unknown;
        }
        let right = whole.strip_prefix(&left).and_then(|rest| rest.strip_prefix(' ')?.split_once(' '));
        Ok(match right {
            Some((sign, right)) if sign != "@" => format!("{before}{place} {sign}= {right};"),
            _ => format!("{before}{place} = {};", whole.replacen(&left, &place, 1)),
        })
    }

    fn block(&mut self, head: &str, body: &[Stmt]) -> TranslatedLines {
        self.blocks += 1;
        let lines = self.statements(body);
        self.blocks -= 1;
        Ok(braced(head, &lines?))
    }

    fn branches(&mut self, e: &StmtIf) -> TranslatedLines {
        let head = format!("if {}", self.condition(&e.test)?.0);
        let mut lines = self.block(&head, &e.body)?;
        for clause in &e.elif_else_clauses {
            let before = lines.pop().unwrap_or_default();
            let head = match &clause.test {
                Some(test) => format!("{before} else if {}", self.condition(test)?.0),
                None => format!("{before} else"),
            };
            lines.extend(self.block(&head, &clause.body)?);
        }
        Ok(lines)
    }

    fn for_loop(&mut self, e: &StmtFor) -> TranslatedLines {
        let call = e.iter.as_call_expr().filter(|call| call.arguments.keywords.is_empty());
        let callee = call.and_then(|call| call.func.as_name_expr()).map_or("", |name| name.id.as_str());
        let args = call.map(|call| &*call.arguments.args).unwrap_or_default();
        let (names, iter) = match (&*e.target, callee, args) {
            _ if !e.orelse.is_empty() || e.is_async => return no_form("loops with `else` have"),
            (Expr::Name(i), "range", [end]) => {
                (vec![(i, ValueHint::Count)], format!("0{}", self.range(None, Some(end))?))
            }
            (Expr::Name(i), "range", [start, end]) => {
                (vec![(i, self.kind(start))], self.range(Some(start), Some(end))?)
            }
            (Expr::Name(x), ..) => (vec![(x, ValueHint::Unknown)], self.operand(&e.iter, Bind::Or)?),
            (Expr::Tuple(pair), "enumerate", [_]) if let [Expr::Name(i), Expr::Name(x)] = &*pair.elts => {
                (vec![(i, ValueHint::Count), (x, ValueHint::Unknown)], self.operand(&e.iter, Bind::Or)?)
            }
            (Expr::Tuple(pair), "zip", [_, _]) if let [Expr::Name(a), Expr::Name(b)] = &*pair.elts => {
                (vec![(a, ValueHint::Unknown), (b, ValueHint::Unknown)], self.operand(&e.iter, Bind::Or)?)
            }
            (Expr::Tuple(pair), _, _)
                if let ([Expr::Name(a), Expr::Name(b)], true) = (&*pair.elts, is_items(&e.iter)) =>
            {
                (vec![(a, ValueHint::Unknown), (b, ValueHint::Unknown)], self.operand(&e.iter, Bind::Or)?)
            }
            _ => return no_form("loops over several variables, except with `enumerate`, `zip` and `items`, have"),
        };
        // A loop may change any variable, and its own variables end with it.
        self.known.values_mut().for_each(|kind| *kind = ValueHint::Unknown);
        let outer = self.known.clone();
        self.known.extend(names.iter().map(|(name, kind)| (name.id.to_string(), *kind)));
        let names = names.iter().map(|(name, _)| self.spelled(&name.id)).collect::<TranslatedLines>()?.join(", ");
        let names = if names.contains(',') { format!("({names})") } else { names };
        let lines = self.block(&format!("for {names} in {iter}"), &e.body);
        self.known.retain(|name, _| outer.contains_key(name) || self.hoisted.contains(name));
        lines
    }

    fn function(&mut self, e: &StmtFunctionDef) -> TranslatedLines {
        if self.in_function || self.blocks > 0 {
            return no_form("functions within functions and blocks have");
        }
        if e.is_async || !e.decorator_list.is_empty() {
            return no_form(if e.is_async { "`async` has" } else { "decorators have" });
        }
        let parameters = self.parameters(&e.parameters)?;
        self.functions.insert(e.name.to_string());
        let known = parameters.iter().map(|name| (name.clone(), ValueHint::Unknown)).collect();
        let outer = std::mem::replace(&mut self.known, known);
        self.in_function = true;
        let body = self.function_body(&e.body);
        self.in_function = false;
        self.known = outer;
        let names = parameters.iter().map(|name| self.spelled(name)).collect::<TranslatedLines>()?;
        Ok(braced(&format!("fn {}({})", self.spelled(&e.name)?, names.join(", ")), &body?))
    }

    fn function_body(&mut self, body: &[Stmt]) -> TranslatedLines {
        let Some((last, rest)) = body.split_last() else { return Ok(Vec::new()) };
        let mut lines = self.statements(rest)?;
        match last {
            Stmt::Return(e) => lines.extend(e.value.as_deref().map(|value| self.value(value)).transpose()?),
            Stmt::Pass(_) => {}
            last => lines.extend(self.statements(std::slice::from_ref(last))?),
        }
        Ok(lines)
    }

    /// Returns the names of plain parameters.
    fn parameters(&self, parameters: &Parameters) -> TranslatedLines {
        let plain = parameters.iter_non_variadic_params().all(|p| p.default.is_none());
        if !plain || parameters.vararg.is_some() || parameters.kwarg.is_some() || !parameters.kwonlyargs.is_empty() {
            return no_form("parameters with defaults or stars have");
        }
        Ok(parameters.iter_non_variadic_params().map(|p| p.parameter.name.to_string()).collect())
    }
}

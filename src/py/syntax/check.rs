//! What CPython refuses after it has parsed: names that are declared too late, `return` outside a function, a starred
//! expression in the wrong place.
//!
//! It must not know how a program runs.
//!
//! The order is CPython's, for the first fault is the one: first the imports from `__future__`, then the names of all
//! scopes (`scopes`), then the statements one by one (`flow`).

use ruff_python_ast::{
    Expr, FStringPart, InterpolatedStringElement, InterpolatedStringElements, ModModule, Parameters, Stmt,
};

use super::flow::Flow;
use super::raised::Raised;
use super::scopes::Scopes;
use super::start;

pub type Checked = Result<(), Raised>;

/// Tells whether the tree is doubtful: it has a form that ruff makes of sources that are not Python.
///
/// # Errors
/// The first fault of a source that has been parsed.
pub fn check(module: &ModModule, source: &str) -> Result<bool, Raised> {
    let future = future_imports(&module.body, source)?;
    let scopes = Scopes::of(&module.body, future.annotations)?;
    let mut flow = Flow::new(source, &scopes, &future);
    flow.module(&module.body)?;
    Ok(flow.doubtful)
}

/// What the imports from `__future__` say.
#[derive(Default)]
pub struct Future {
    /// Annotations are not evaluated.
    pub annotations: bool,
    /// Where the last of them stands.
    pub last: Option<usize>,
}

fn future_imports(body: &[Stmt], source: &str) -> Result<Future, Raised> {
    const FEATURES: &[&str] = &[
        "absolute_import",
        "annotations",
        "barry_as_FLUFL",
        "division",
        "generator_stop",
        "generators",
        "nested_scopes",
        "print_function",
        "unicode_literals",
        "with_statement",
    ];
    let mut future = Future::default();
    // Only a docstring may stand before them.
    let mut late_from: Option<usize> = None;
    for (index, statement) in body.iter().enumerate() {
        let at = start(statement);
        let on_line_of = |before: usize| !source.get(before..at).unwrap_or_default().contains('\n');
        match statement {
            Stmt::ImportFrom(import) if import.module.as_ref().is_some_and(|name| name.as_str() == "__future__") => {
                if let Some(before) = late_from {
                    return if on_line_of(before) { Err(late_future(at)) } else { Ok(future) };
                }
                for alias in &import.names {
                    match alias.name.as_str() {
                        "annotations" => future.annotations = true,
                        known if FEATURES.contains(&known) => {}
                        "braces" => return Err(Raised::syntax("not a chance", at)),
                        other => {
                            return Err(Raised::syntax(format!("future feature {other} is not defined"), at));
                        }
                    }
                }
                future.last = Some(at);
            }
            Stmt::Expr(statement) if index == 0 && statement.value.is_string_literal_expr() => {}
            _ if late_from.is_some_and(|before| !on_line_of(before)) => return Ok(future),
            _ => late_from = Some(at),
        }
    }
    Ok(future)
}

pub fn late_future(at: usize) -> Raised {
    Raised::syntax("from __future__ imports must occur at the beginning of the file", at)
}

/// Where `def` or `class` stands, behind any decorators.
pub fn definition(statement: &Stmt, source: &str) -> usize {
    let decorators = match statement {
        Stmt::FunctionDef(function) => &function.decorator_list,
        Stmt::ClassDef(class) => &class.decorator_list,
        _ => return start(statement),
    };
    let Some(last) = decorators.last() else { return start(statement) };
    let mut at = super::end(last);
    loop {
        let rest = source.get(at..).unwrap_or_default();
        let word = rest.trim_start();
        at += rest.len() - word.len();
        match word.strip_prefix('#') {
            Some(comment) => at += 1 + comment.find(['\n', '\r']).unwrap_or(comment.len()),
            None => return at,
        }
    }
}

/// Everything that an expression is made of, in CPython's order; a lambda's and a comprehension's parts are not among
/// them, for they have scopes of their own.
pub fn each_part<'a>(expression: &'a Expr, visit: &mut dyn FnMut(&'a Expr) -> Checked) -> Checked {
    match expression {
        Expr::BoolOp(e) => e.values.iter().try_for_each(visit),
        Expr::Named(e) => {
            visit(&e.value)?;
            visit(&e.target)
        }
        Expr::BinOp(e) => {
            visit(&e.left)?;
            visit(&e.right)
        }
        Expr::UnaryOp(e) => visit(&e.operand),
        Expr::If(e) => {
            visit(&e.test)?;
            visit(&e.body)?;
            visit(&e.orelse)
        }
        Expr::Dict(e) => {
            e.items.iter().filter_map(|item| item.key.as_ref()).try_for_each(&mut *visit)?;
            e.items.iter().map(|item| &item.value).try_for_each(visit)
        }
        Expr::Set(e) => e.elts.iter().try_for_each(visit),
        Expr::Await(e) => visit(&e.value),
        Expr::Yield(e) => e.value.as_deref().map_or(Ok(()), visit),
        Expr::YieldFrom(e) => visit(&e.value),
        Expr::Compare(e) => {
            visit(&e.left)?;
            e.comparators.iter().try_for_each(visit)
        }
        Expr::Call(e) => {
            visit(&e.func)?;
            e.arguments.args.iter().try_for_each(&mut *visit)?;
            e.arguments.keywords.iter().map(|keyword| &keyword.value).try_for_each(visit)
        }
        Expr::FString(e) => {
            for part in &e.value {
                if let FStringPart::FString(string) = part {
                    each_interpolation(&string.elements, visit)?;
                }
            }
            Ok(())
        }
        Expr::Attribute(e) => visit(&e.value),
        Expr::Subscript(e) => {
            visit(&e.value)?;
            visit(&e.slice)
        }
        Expr::Starred(e) => visit(&e.value),
        Expr::List(e) => e.elts.iter().try_for_each(visit),
        Expr::Tuple(e) => e.elts.iter().try_for_each(visit),
        Expr::Slice(e) => [&e.lower, &e.upper, &e.step].into_iter().flatten().try_for_each(|part| visit(part)),
        _ => Ok(()),
    }
}

fn each_interpolation<'a>(
    elements: &'a InterpolatedStringElements,
    visit: &mut dyn FnMut(&'a Expr) -> Checked,
) -> Checked {
    for element in elements {
        if let InterpolatedStringElement::Interpolation(inner) = element {
            visit(&inner.expression)?;
            if let Some(specification) = &inner.format_spec {
                each_interpolation(&specification.elements, visit)?;
            }
        }
    }
    Ok(())
}

/// The values that parameters have when nothing is passed.
pub fn each_default<'a>(parameters: &'a Parameters, visit: &mut dyn FnMut(&'a Expr) -> Checked) -> Checked {
    parameters.iter_non_variadic_params().filter_map(|parameter| parameter.default.as_deref()).try_for_each(visit)
}

/// The annotations of parameters.
pub fn each_annotation<'a>(parameters: &'a Parameters, visit: &mut dyn FnMut(&'a Expr) -> Checked) -> Checked {
    let ordinary = parameters.posonlyargs.iter().chain(&parameters.args).map(|parameter| &parameter.parameter);
    let stars = parameters.vararg.iter().chain(&parameters.kwarg).map(|parameter| &**parameter);
    let named = parameters.kwonlyargs.iter().map(|parameter| &parameter.parameter);
    ordinary.chain(stars).chain(named).filter_map(|parameter| parameter.annotation.as_deref()).try_for_each(visit)
}

//! The error object that `catch (e)` binds for every error of the shell, at any call depth. Its fields are `kind`,
//! `message`, `file` (of an imported script), `line`, `column`, `place` (these three as text), `hint`, `calls` and
//! `value` (the exception, if one was thrown). It prints as `Kind: message`, and keeps all its fields if it is thrown
//! again. Any other value that a script throws is caught unchanged.

use super::fault::{self, Fault};
use super::input::{RhaiInput, near};
use super::native::add;
use super::runtime::Runtime;
use super::values::to_value;
use super::words::ENCLOSED;
use call::suggest::{nearest, with_suggestion};
use rhai::{Dynamic, Engine, EvalAltResult, EvalContext, Expression, ImmutableString, Module};
use std::any::TypeId;
use std::fmt;
use std::rc::Rc;
use tensor::{Error, Result};
use value::equality;

/// An error caught by a script.
#[derive(Clone, Debug)]
pub struct Caught(pub Rc<Fault>);

impl fmt::Display for Caught {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.0.error.message.is_empty() { "" } else { ": " };
        write!(f, "{}{separator}{}", self.0.kind(), self.0.error.message)
    }
}

const FIELDS: [&str; 9] = ["kind", "message", "file", "line", "column", "place", "hint", "calls", "value"];

impl Caught {
    /// Returns the field `e.name`.
    fn field(&self, name: &str) -> Result<Dynamic> {
        let fault = &*self.0;
        let place = || fault.place.as_ref().and_then(|cell| cell.place(fault.position));
        let number = |number: Option<usize>| number.map_or(Dynamic::UNIT, |number| (number as i64).into());
        let text = |text: &str| Dynamic::from(ImmutableString::from(text));
        Ok(match name {
            "kind" => text(&fault.kind()),
            "message" => text(&fault.error.message),
            "file" => fault.place.as_ref().and_then(RhaiInput::file).map_or(Dynamic::UNIT, |file| text(&near(file))),
            "line" => number(place().map(|(line, _)| line)),
            "column" => number(place().map(|(_, column)| column)),
            "place" => place().map_or(Dynamic::UNIT, |(line, column)| {
                let file =
                    fault.place.as_ref().and_then(RhaiInput::file).map_or(String::new(), |file| near(file) + ", ");
                text(&format!("{file}line {line}, column {column}"))
            }),
            "hint" => fault.error.hint.as_deref().map_or(Dynamic::UNIT, text),
            "calls" => fault.calls.iter().map(|call| text(call.shown_name())).collect::<rhai::Array>().into(),
            "value" => fault.thrown.clone().unwrap_or_default(),
            _ => {
                let error = Error::attribute(format!("'error' object has no attribute '{name}'"));
                return Err(with_suggestion(error, nearest(name, FIELDS)));
            }
        })
    }

    /// Returns whether both are the same error, or the thrown exception equals the other value.
    fn is_equal(&self, other: &Dynamic) -> Result<bool> {
        if let Some(other) = other.read_lock::<Caught>() {
            return Ok(Rc::ptr_eq(&self.0, &other.0));
        }
        match &self.0.thrown {
            Some(value) => equality::equals(&to_value(value)?, &to_value(other)?),
            None => Ok(false),
        }
    }
}

/// Registers the error object and the step that makes `catch` receive it.
pub fn register(engine: &mut Engine, module: &mut Module, state: &Rc<Runtime>) {
    module.set_custom_type::<Caught>("error");
    let (caught, any) = (TypeId::of::<Caught>(), TypeId::of::<Dynamic>());
    add(module, "index$get$", &[caught, TypeId::of::<ImmutableString>()], |args| match args {
        [error, name] => match error.read_lock::<Caught>() {
            Some(error) => error.field(&name.to_string()),
            None => Ok(Dynamic::UNIT),
        },
        _ => Ok(Dynamic::UNIT),
    });
    for (operator, wanted) in [("==", true), ("!=", false)] {
        for types in [[caught, any], [any, caught]] {
            add(module, operator, &types, move |args| {
                let [left, right] = args else { return Ok(Dynamic::UNIT) };
                let (error, other) = if left.is::<Caught>() { (left, right) } else { (right, left) };
                let Some(error) = error.read_lock::<Caught>() else { return Ok(Dynamic::UNIT) };
                error.is_equal(other).map(|is_equal| (is_equal == wanted).into())
            });
        }
    }
    let state = state.clone();
    engine.register_custom_syntax_with_state_raw(
        ENCLOSED,
        |read, _, _| Ok((read.len() == 1).then(|| "$block$".into())),
        false,
        move |context: &mut EvalContext, inputs: &[Expression], _| {
            let Some(body) = inputs.first() else { return Ok(Dynamic::UNIT) };
            context.eval_expression_tree(body).map_err(|error| error_object(&state, error, context.source()))
        },
    );
}

/// Wraps an error in an error object with all its fields. `source` names the input that contains the failed block.
fn error_object(state: &Runtime, error: Box<EvalAltResult>, source: Option<&str>) -> Box<EvalAltResult> {
    if !error.is_catchable() || fault::is_end(&error) {
        return error;
    }
    let here = state.cell_of_source(source);
    let mut fault = fault::from_eval(&error, state, &here);
    if fault.is_value_of_script() {
        return error;
    }
    fault.settle(state, &here);
    EvalAltResult::ErrorRuntime(Dynamic::from(Caught(Rc::new(fault))), error.position()).into()
}

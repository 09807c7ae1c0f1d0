//! `sys.stdout` and `sys.stderr`.

use crate::calling::NativeFunction;
use call::State;
use std::cell::RefCell;
use std::rc::{Rc, Weak};
use tensor::{Result, bail};
use value::{Object, Value};

struct StandardStream {
    state: Weak<State>,
    is_error: bool,
    /// What was written to standard error since the last newline: it is shown line by line.
    line: Rc<RefCell<String>>,
}

/// Gives `sys` the streams of a session.
pub fn provide(state: &Rc<State>) {
    for (name, is_error) in [("stdout", false), ("stderr", true)] {
        let stream = StandardStream { state: Rc::downgrade(state), is_error, line: Rc::default() };
        // A text always has a hash.
        drop(state.sys.insert(Value::str(name), Value::Object(Rc::new(stream))));
    }
}

/// Returns whether a value is `sys.stdout` as a session begins with it.
pub(crate) fn is_standard_output(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            object.as_any().downcast_ref::<StandardStream>().is_some_and(|stream| !stream.is_error)
        }
        _ => false,
    }
}

fn write(state: &State, is_error: bool, line: &RefCell<String>, text: &str) {
    if !is_error {
        return state.print(text);
    }
    let mut line = line.borrow_mut();
    line.push_str(text);
    while let Some(end) = line.find('\n') {
        let rest = line.split_off(end + 1);
        let whole = std::mem::replace(&mut *line, rest);
        state.warn(whole.trim_end_matches('\n').to_owned());
    }
}

fn flush(state: &State, line: &RefCell<String>) {
    let rest = line.take();
    if !rest.is_empty() {
        state.warn(rest);
    }
}

impl Object for StandardStream {
    fn type_name(&self) -> &str {
        "TextIOWrapper"
    }
    fn class_name(&self) -> &'static str {
        "_io.TextIOWrapper"
    }
    fn repr(&self) -> String {
        let name = if self.is_error { "stderr" } else { "stdout" };
        format!("<_io.TextIOWrapper name='<{name}>' mode='w' encoding='utf-8'>")
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        let (state, is_error, line) = (self.state.clone(), self.is_error, self.line.clone());
        let method = |run: fn(&State, bool, &RefCell<String>, &[Value]) -> Result<Value>| {
            NativeFunction::value(name, move |args, _| match state.upgrade() {
                Some(state) => run(&state, is_error, &line, &args),
                None => bail!(ValueError, "I/O operation on closed file."),
            })
        };
        Some(match name {
            "write" => method(|state, is_error, line, args| match args {
                [Value::Str(text)] => {
                    write(state, is_error, line, text);
                    Ok(Value::Int(text.chars().count() as i64))
                }
                [other] => bail!(TypeError, "write() argument must be str, not {}", other.type_name()),
                _ => bail!(TypeError, "TextIOWrapper.write() takes exactly one argument ({} given)", args.len()),
            }),
            "flush" => method(|state, _, line, _| {
                flush(state, line);
                Ok(Value::None)
            }),
            "isatty" => method(|_, _, _, _| Ok(Value::Bool(false))),
            "writable" => method(|_, _, _, _| Ok(Value::Bool(true))),
            "readable" => method(|_, _, _, _| Ok(Value::Bool(false))),
            "encoding" => Value::str("utf-8"),
            "name" => Value::str(if is_error { "<stderr>" } else { "<stdout>" }),
            "mode" => Value::str("w"),
            "closed" => Value::Bool(false),
            _ => return None,
        })
    }
}

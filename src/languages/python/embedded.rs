//! Rows whose functions are written in Python. Each source runs on a machine of its own, so its variables are separate
//! from those of the session. It is compiled when one of its functions is first called.

use super::compile::{Shows, Unit, compile};
use super::frame::Frame;
use super::machine::Machine;
use super::syntax::{self, SyntaxFault};
use call::embedded::Source;
use std::rc::Rc;
use tensor::{Error, ErrorKind, Result};
use value::Value;

impl Machine {
    /// Returns what a source that is part of the program defines under a name.
    ///
    /// # Errors
    /// Any error of the source.
    pub(super) fn embedded_value(&self, source: &'static Source, name: &str) -> Result<Option<Value>> {
        let known = self.embedded.borrow().get(source.name).cloned();
        let machine = match known {
            Some(machine) => machine,
            None => {
                let machine = begun(self, source)?;
                self.embedded.borrow_mut().insert(source.name, machine.clone());
                machine
            }
        };
        let value = machine.variables.borrow().named(name);
        Ok(value)
    }
}

/// Compiles a source, and runs it on a new machine, which defines its functions.
fn begun(session: &Machine, source: &Source) -> Result<Rc<Machine>> {
    let fault = |fault: SyntaxFault| match fault.kind {
        "KeyboardInterrupt" => Error::new(ErrorKind::KeyboardInterrupt, ""),
        _ => Error::runtime(format!("{} is not valid: {} at byte {}", source.name, fault.message, fault.offset)),
    };
    let machine = Machine::hidden(&session.state);
    let text: Rc<str> = source.text()?.into();
    let parsed = syntax::parse(&text).map_err(fault)?;
    let mut slot_of = |name: &str| machine.variables.borrow_mut().slot(name);
    let code = compile(parsed.syntax(), &text, session.state.registry, &mut slot_of, Shows::Nothing, Unit::Module)
        .map_err(fault)?;
    machine.run(&mut Frame::new(code, Vec::new(), &[]))?;
    Ok(machine)
}

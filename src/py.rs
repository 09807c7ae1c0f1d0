//! Python: what reads it, and what shows it in the shell's other language.

pub mod rhai_form;

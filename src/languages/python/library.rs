//! Python's own library: the texts of its modules. The build packs them (`build.rs`), and a module is unpacked when it is
//! first imported; a page fetches it then. `library/` has the list, the modules that CPython has in C, and amendments to
//! modules of which parts are in C there.

#[cfg(test)]
mod comments;

use std::io;
use tensor::system::Part;
use tensor::{Error, Result, part};

/// A module of the library.
pub(super) struct Module {
    name: &'static str,
    /// Its path in the library, without the extension.
    path: &'static str,
    pub(super) is_package: bool,
    length: usize,
    part: Part,
}

static MODULES: &[Module] = include!(concat!(env!("OUT_DIR"), "/library/index.rs"));

/// Finds a module by its full name.
pub(super) fn find(name: &str) -> Option<&'static Module> {
    let at = MODULES.binary_search_by(|module| module.name.cmp(name)).ok()?;
    MODULES.get(at)
}

impl Module {
    /// The path that messages and `__file__` show. No such file exists on disk.
    pub(super) fn shown(&self) -> String {
        format!("<python3.11>/{}.py", self.path)
    }

    /// Returns the text of the module.
    ///
    /// # Errors
    /// RuntimeError if a page cannot fetch it, or what the build packed cannot be read.
    pub(super) fn text(&self) -> Result<String> {
        let text = self.part.bytes().and_then(|bytes| unpacked(bytes, self.length));
        let text = text.and_then(|text| String::from_utf8(text).map_err(io::Error::other));
        text.map_err(|error| Error::runtime(format!("module {} cannot be read: {error}", self.name)))
    }
}

/// Unpacks what the build has packed.
#[cfg(not(target_family = "wasm"))]
fn unpacked(bytes: &[u8], length: usize) -> io::Result<Vec<u8>> {
    use flate2::{Decompress, FlushDecompress};
    let mut text = Vec::with_capacity(length);
    // At once, so that nothing is copied to a window.
    Decompress::new(false).decompress_vec(bytes, &mut text, FlushDecompress::Finish)?;
    // A text that is cut off is no error of the decoder.
    if text.len() == length { Ok(text) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(target_family = "wasm")]
fn unpacked(bytes: &[u8], _length: usize) -> io::Result<Vec<u8>> {
    Ok(bytes.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::code::Code;
    use crate::python::compile::{Shows, Unit, compile, compile_known, compile_late};
    use crate::python::syntax;
    use std::mem::discriminant;
    use std::rc::Rc;

    /// Numbers variables by their names, so that the order in which they are met does not matter.
    fn slot_of(name: &str) -> u32 {
        name.bytes().fold(0, |number: u32, byte| number.wrapping_mul(31).wrapping_add(u32::from(byte)))
    }

    /// Compares a code that was compiled at once with one whose functions are compiled now. Returns how many those are.
    fn compare(known: &Code, outlined: &Rc<Code>) -> usize {
        let registry = torch::library::registry();
        let compiled = outlined.late.as_ref().map(|late| {
            compile_late(outlined, late, registry, &mut slot_of).unwrap_or_else(|fault| panic!("{}", fault.message))
        });
        let code = compiled.as_ref().unwrap_or(outlined);
        let name = &known.qualified;
        assert_eq!(code.name, known.name);
        assert_eq!(code.qualified, known.qualified);
        assert_eq!(code.doc, known.doc, "{name}");
        assert_eq!(
            (code.kind, code.is_generator, code.is_async),
            (known.kind, known.is_generator, known.is_async),
            "{name}"
        );
        for code in [code, outlined] {
            assert_eq!(code.parameters.names, known.parameters.names, "{name}");
            assert_eq!(code.parameters.positional, known.parameters.positional, "{name}");
        }
        assert_eq!(code.locals, known.locals, "{name}");
        assert_eq!(code.free, known.free, "{name}");
        assert!(
            outlined.free == known.free || outlined.free == ["__class__".into()] && known.free.is_empty(),
            "{name}"
        );
        let names = |code: &Code| code.names.iter().map(|name| name.text.clone()).collect::<Vec<_>>();
        assert_eq!(names(code), names(known), "{name}");
        let texts = |code: &Code| {
            code.constants.iter().map(|value| explain::format::repr_by_default(value).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(texts(code), texts(known), "{name}");
        assert_eq!(code.places, known.places, "{name}");
        let kinds = |code: &Code| code.ops.iter().map(discriminant).collect::<Vec<_>>();
        assert!(kinds(code) == kinds(known), "{name}");
        assert_eq!(code.codes.len(), known.codes.len(), "{name}");
        let inner = known.codes.iter().zip(&code.codes).map(|((known, _), (code, _))| compare(known, code));
        usize::from(compiled.is_some()) + inner.sum::<usize>()
    }

    #[test]
    fn functions_compiled_late_are_those_compiled_at_once() {
        let (registry, mut late) = (torch::library::registry(), 0);
        for module in MODULES {
            let text: Rc<str> = module.text().unwrap().into();
            let parsed = syntax::parse(&text).unwrap_or_else(|fault| panic!("{}: {}", module.name, fault.message));
            let known = compile(parsed.syntax(), &text, registry, &mut slot_of, Shows::Nothing, Unit::Module);
            let outlined = compile_known(&text, registry, &mut slot_of);
            late += compare(&known.unwrap(), &outlined.unwrap());
        }
        assert!(late > 2000, "{late}");
    }
}

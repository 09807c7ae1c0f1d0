//! Python's own library: the texts of its modules. The build packs them (`build.rs`), and a module is unpacked when it is
//! first imported; a page fetches it then. `library/` has the list, the modules that CPython has in C, and amendments to
//! modules of which parts are in C there.

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
        let mut text = String::with_capacity(self.length);
        let read = self.part.bytes().and_then(|bytes| unpack(bytes, &mut text));
        read.map_err(|error| Error::runtime(format!("module {} cannot be read: {error}", self.name)))?;
        Ok(text)
    }
}

#[cfg(not(target_family = "wasm"))]
fn unpack(bytes: &[u8], text: &mut String) -> std::io::Result<()> {
    std::io::Read::read_to_string(&mut flate2::read::ZlibDecoder::new(bytes), text).map(drop)
}

#[cfg(target_family = "wasm")]
fn unpack(bytes: &[u8], text: &mut String) -> std::io::Result<()> {
    std::io::Read::read_to_string(&mut &*bytes, text).map(drop)
}

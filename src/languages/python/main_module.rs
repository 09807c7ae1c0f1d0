//! What `-m` runs: a module as `__main__`, as in [`python -m`](https://docs.python.org/3.11/using/cmdline.html#cmdoption-m).

use super::imports::{Found, Module, as_module, missing};
use super::machine::Machine;
use std::path::PathBuf;
use tensor::system::{Files, System};
use tensor::{Error, ErrorKind, Result};

impl Machine {
    /// Finds a module, imports the packages that contain it, and begins it as a script whose relative imports start from its
    /// package. A package runs its `__main__`. Returns the text and the file.
    ///
    /// # Errors
    /// ModuleNotFoundError, ImportError for a module without code, and any error of a package.
    pub fn main_module(&self, name: &str) -> Result<(String, PathBuf)> {
        let here = System::current_folder();
        self.set_first("path", &here);
        let mut full = name.to_owned();
        let mut found = self.found(&full)?;
        if found.is_package {
            self.import_path(&full)?;
            full.push_str(".__main__");
            let why = format!("; '{name}' is a package and cannot be directly executed");
            found = self.found(&full).map_err(|_| missing(&full, &why))?;
        }
        let (text, file) = found.code.read()?.ok_or_else(|| missing(&full, ""))?;
        self.begin_script(Some(&file));
        self.set_first("path", &here);
        self.set_first("argv", &here.join(&file));
        let package = full.rsplit_once('.').map_or("", |(package, _)| package);
        self.shared()?.package.replace(Some(package.into()));
        Ok((text, file))
    }

    fn found(&self, name: &str) -> Result<Found> {
        if objects::python::import(name).is_ok() {
            return Err(Error::new(ErrorKind::Other("ImportError"), format!("No code object available for {name}")));
        }
        let folders = match name.rsplit_once('.') {
            None => self.path(),
            Some((outer, _)) => {
                let package = self.import_path(outer)?.ok_or_else(|| missing(outer, ""))?;
                let folders = as_module(&package).and_then(Module::folders);
                folders.ok_or_else(|| missing(name, &format!("; '{outer}' is not a package")))?
            }
        };
        Found::module(&folders, name).ok_or_else(|| missing(name, ""))
    }
}

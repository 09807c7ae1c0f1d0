//! The modules of a session: which file a name of `import` means, and what has been read and run so far. The file is
//! looked for beside the importing script and in the folders of `TENSORSH_PATH`.

use super::input::RhaiInput;
use call::suggest::nearest;
use rhai::{AST, Module, Shared};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tensor::system::{Files, PathKind, System, with_slashes};
use tensor::{Error, ErrorKind};

/// The environment variable that lists module folders, separated like those in `PATH`.
pub(crate) const PATH: &str = "TENSORSH_PATH";

/// The modules of a session.
#[derive(Default)]
pub struct Modules {
    /// The folder of the running script, or the working directory without one.
    pub folder: RefCell<PathBuf>,
    /// The modules read so far, by file.
    pub read: RefCell<HashMap<String, Rc<Source>>>,
    /// The modules run so far, by file.
    pub done: RefCell<HashMap<String, Shared<Module>>>,
    /// The modules that inputs have imported, by the names they gave them.
    pub named: RefCell<BTreeMap<String, Shared<Module>>>,
    /// The files now running, each imported by the previous one.
    pub running: RefCell<Vec<String>>,
}

/// The text of a module.
pub struct Source {
    pub cell: RhaiInput,
    /// `None` if the module could not be read; the next import tries again.
    pub ast: Option<AST>,
}

impl Modules {
    /// Returns the text of a module that was read.
    pub fn source(&self, file: &str) -> Option<Rc<Source>> {
        self.read.borrow().get(file).cloned()
    }

    /// Returns the file of the module `name`. `importer` is the importing module, or `None` for the script itself.
    pub fn find(&self, importer: Option<&str>, name: &str) -> Result<String, Error> {
        let instead = call::module_names::instead(name).map_or(String::new(), |instead| format!(": {instead}"));
        let missing = |hint: String| Error {
            hint: Some(hint.into()),
            ..Error::new(ErrorKind::ModuleNotFoundError, format!("No module named '{name}'{instead}"))
        };
        let named = Path::new(name);
        let file = if named.extension().is_some() { named.to_owned() } else { named.with_extension("rhai") };
        let beside = importer.map_or_else(
            || self.folder.borrow().clone(),
            |file| Path::new(file).parent().unwrap_or(Path::new("")).to_owned(),
        );
        let folders = || [beside.clone()].into_iter().chain(System::folders_in(PATH));
        let found =
            folders().map(|folder| folder.join(&file)).find(|file| matches!(System::kind(file), Ok(PathKind::File(_))));
        let found = found.ok_or_else(|| {
            if let Some(near) = nearest_file(folders(), &file, named.extension().is_none()) {
                return missing(format!("did you mean `import \"{near}\"`?"));
            }
            if call::LIBRARY.contains(&name) {
                return missing(format!("`let {name} = import_(\"{name}\")` imports the module of Python"));
            }
            let beside = if beside.as_os_str().is_empty() {
                "the current folder".to_owned()
            } else {
                beside.display().to_string()
            };
            missing(format!("{} is neither in {beside} nor in a folder of {PATH}", file.display()))
        })?;
        Ok(System::full_name(&found).display().to_string())
    }
}

/// Returns the existing module with the name closest to a missing one.
fn nearest_file(folders: impl Iterator<Item = PathBuf>, file: &Path, is_bare: bool) -> Option<String> {
    let within = file.parent().unwrap_or(Path::new(""));
    let here = |folder: PathBuf| if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
    let read = folders.filter_map(|folder| System::names(&here(folder.join(within))).ok()).flatten();
    let modules = read.map(PathBuf::from).filter(|file| file.extension().is_some_and(|e| e == "rhai"));
    let shown = |file: &Path| {
        let name = if is_bare { file.file_stem() } else { file.file_name() };
        name.map(|name| name.to_string_lossy().into_owned())
    };
    let near = nearest(&shown(file)?, modules.filter_map(|file| shown(&file)))?;
    Some(with_slashes(within.join(near)).display().to_string())
}

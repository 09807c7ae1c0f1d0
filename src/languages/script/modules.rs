//! Scripts in several files. `import "stats" as s;` runs `stats.rhai` once and makes its functions, constants and
//! variables available as `s::mean`. The file is looked for beside the importing script and in the folders of
//! `TENSORSH_PATH`.

use super::Scripted;
use super::cell::Cell;
use super::fault;
use super::read::{self as texts, Compiled, Names};
use super::runtime::Runtime;
use call::suggest::nearest;
use rhai::{
    AST, ASTFlags, ASTNode, Engine, EvalAltResult, Expr, LexError, Module, ModuleResolver, ParseError, ParseErrorType,
    Position, Scope, Shared, Stmt,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use tensor::system::{Files, Kind, System};
use tensor::{Error, ErrorKind};

/// The environment variable that lists module folders, separated like those in `PATH`.
pub(crate) const PATH: &str = "TENSORSH_PATH";

/// The modules of a session.
#[derive(Default)]
pub struct Modules {
    /// The folder of the running script, or the working directory without one.
    pub folder: RefCell<PathBuf>,
    /// The modules read so far, by file.
    read: RefCell<HashMap<String, Rc<Source>>>,
    /// The modules run so far, by file.
    done: RefCell<HashMap<String, Shared<Module>>>,
    /// The modules that inputs have imported, by the names they gave them.
    pub named: RefCell<BTreeMap<String, Shared<Module>>>,
    /// The files now running, each imported by the previous one.
    running: RefCell<Vec<String>>,
}

/// The text of a module.
pub struct Source {
    pub cell: Cell,
    /// `None` if the module could not be read; the next import tries again.
    ast: Option<AST>,
}

impl Modules {
    /// Returns the text of a module that was read.
    pub fn source(&self, file: &str) -> Option<Rc<Source>> {
        self.read.borrow().get(file).cloned()
    }

    /// Returns the file of the module `name`. `importer` is the importing module, or `None` for the script itself.
    pub fn find(&self, importer: Option<&str>, name: &str) -> Result<String, Error> {
        let missing = |hint: String| Error {
            hint: Some(hint.into()),
            ..Error::new(ErrorKind::ModuleNotFoundError, format!("No module named '{name}'"))
        };
        let named = Path::new(name);
        let file = if named.extension().is_some() { named.to_owned() } else { named.with_extension("rhai") };
        let beside = importer.map_or_else(
            || self.folder.borrow().clone(),
            |file| Path::new(file).parent().unwrap_or(Path::new("")).to_owned(),
        );
        let folders = || [beside.clone()].into_iter().chain(System::folders_in(PATH));
        let found =
            folders().map(|folder| folder.join(&file)).find(|file| matches!(System::kind(file), Ok(Kind::File(_))));
        let found = found.ok_or_else(|| {
            if let Some(near) = nearest_file(folders(), &file, named.extension().is_none()) {
                return missing(format!("did you mean `import \"{near}\"`?"));
            }
            let beside = if beside.as_os_str().is_empty() {
                "the folder you are in".to_owned()
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
    Some(within.join(near).display().to_string())
}

/// Returns the text if its imports name modules in quotes. `import torch` is Python.
pub(crate) fn check_names(ast: AST) -> Result<AST, ParseError> {
    let mut bare = None;
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Import(parts, position))) = path.last()
            && let Expr::Variable(variable, ..) = &parts.0
        {
            bare = Some((variable.1.to_string(), *position));
        }
        bare.is_none()
    });
    let Some((name, position)) = bare else { return Ok(ast) };
    let reason =
        format!("`import \"{name}\"` imports {name}.rhai; `let {name} = import_(\"{name}\")` a module of Python");
    Err(ParseError(Box::new(ParseErrorType::BadInput(LexError::Runtime(reason))), position))
}

/// Keeps the modules that an input has imported, under the names it gave them, for later inputs.
pub fn keep(engine: &RefCell<Engine>, runtime: &Runtime, ast: &AST) {
    for statement in ast.statements() {
        let Stmt::Import(parts, _) = statement else { continue };
        let Expr::StringConstant(name, _) = &parts.0 else { continue };
        let found = runtime.modules.find(None, name).ok();
        let module = found.and_then(|file| runtime.modules.done.borrow().get(&file).cloned());
        if let Some(module) = module.filter(|_| !parts.1.name.is_empty()) {
            runtime.modules.named.borrow_mut().insert(parts.1.name.to_string(), module.clone());
            engine.borrow_mut().register_static_module(parts.1.name.as_str(), module);
        }
    }
}

/// Reads the modules that a text imports by name, and those they import, so that the engine knows the functions they
/// call before anything runs. Errors are reported when the module is imported.
pub fn prepare(engine: &Engine, runtime: &Runtime, importer: Option<&str>, ast: &AST) {
    let mut names = Vec::new();
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Import(parts, _))) = path.last()
            && let Expr::StringConstant(name, _) = &parts.0
        {
            names.push(name.to_string());
        }
        true
    });
    for name in names {
        let Ok(file) = runtime.modules.find(importer, &name) else { continue };
        if runtime.modules.source(&file).is_none()
            && let Ok(source) = read(engine, runtime, &file)
        {
            source.ast.iter().for_each(|ast| prepare(engine, runtime, Some(&file), ast));
        }
    }
}

/// Reads a module's file, unless it was read before.
fn read(engine: &Engine, runtime: &Runtime, file: &str) -> Scripted<Rc<Source>> {
    if let Some(source) = runtime.modules.source(file).filter(|source| source.ast.is_some()) {
        return Ok(source);
    }
    let read = System::read(Path::new(file)).and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other));
    let typed = read.map_err(|error| {
        fault::thrown(Error::new(ErrorKind::Other("ImportError"), format!("cannot read '{file}': {error}")))
    })?;
    let names = Names { is_closure: &|_| false, is_variable: None };
    let compiled = texts::parse(engine, runtime, &typed, &names).and_then(|compiled| {
        let words = exports(&compiled.made);
        compiled.with(engine, &typed, words)
    });
    let (made, written) = match compiled {
        Ok(Compiled { made, written }) => (Ok(made), written),
        Err(Compiled { made, written }) => (Err(made), written),
    };
    let mut source = Source { cell: Cell::new(&typed, written, file), ast: None };
    let refused = match made {
        Ok(mut ast) => {
            ast.set_source(file);
            runtime.note_assigned(&file.into(), &ast);
            source.ast = Some(ast);
            None
        }
        Err(error) => Some(EvalAltResult::ErrorParsing(*error.0, error.1)),
    };
    let source = Rc::new(source);
    runtime.modules.read.borrow_mut().insert(file.to_owned(), source.clone());
    refused.map_or(Ok(source), |refused| Err(refused.into()))
}

/// Returns the `export` words to insert before a module's variables: every variable of a module is exported, declared
/// so or not.
fn exports(ast: &AST) -> Vec<(Position, String)> {
    let unsaid = |statement: &Stmt| match statement {
        Stmt::Var(_, flags, position) if !flags.intersects(ASTFlags::EXPORTED) => {
            Some((*position, "export ".to_owned()))
        }
        _ => None,
    };
    ast.statements().iter().filter_map(unsaid).collect()
}

/// Runs modules for the engine.
pub struct Resolver {
    runtime: Weak<Runtime>,
}

impl Resolver {
    pub fn new(runtime: &Rc<Runtime>) -> Resolver {
        Resolver { runtime: Rc::downgrade(runtime) }
    }
}

impl ModuleResolver for Resolver {
    fn resolve(
        &self,
        engine: &Engine,
        importer: Option<&str>,
        name: &str,
        position: Position,
    ) -> Scripted<Shared<Module>> {
        let ended = || fault::thrown(Error::runtime("the session has ended"));
        let runtime = self.runtime.upgrade().ok_or_else(ended)?;
        let modules = &runtime.modules;
        let here = |error| {
            let mut error = fault::thrown(error);
            error.set_position(position);
            error
        };
        let file = modules.find(importer, name).map_err(here)?;
        if let Some(module) = modules.done.borrow().get(&file) {
            return Ok(module.clone());
        }
        let circle = modules.running.borrow().iter().position(|running| *running == file).map(|first| {
            let running = modules.running.borrow();
            let files = running.iter().skip(first).chain([&file]);
            files.map(|file| short(file)).collect::<Vec<_>>().join(" imports ")
        });
        if let Some(circle) = circle {
            return Err(here(Error::new(
                ErrorKind::Other("ImportError"),
                format!("modules import each other: {circle}"),
            )));
        }
        let within = |error| Box::new(EvalAltResult::ErrorInModule(file.clone(), error, position));
        let source = read(engine, &runtime, &file).map_err(within)?;
        modules.running.borrow_mut().push(file.clone());
        let ast = source.ast.clone().unwrap_or_default();
        let made = Module::eval_ast_as_new(Scope::new(), &ast, engine);
        modules.running.borrow_mut().pop();
        let module: Shared<Module> = made.map_err(within)?.into();
        modules.done.borrow_mut().insert(file, module.clone());
        Ok(module)
    }
}

/// Returns the file name without its folder.
fn short(file: &str) -> &str {
    Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file)
}

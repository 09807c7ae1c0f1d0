//! Scripts in several files: `import "stats" as s;` runs `stats.rhai` once and gives its functions, constants and variables
//! as `s::mean`.

use super::Scripted;
use super::fault;
use super::input::RhaiInput;
use super::modules::Source;
use super::reading::{self as texts, Compiled, Names};
use super::runtime::Runtime;
use rhai::{
    AST, ASTFlags, ASTNode, Engine, EvalAltResult, Expr, Module, ModuleResolver, Position, Scope, Shared, Stmt,
};
use std::cell::RefCell;
use std::path::Path;
use std::rc::{Rc, Weak};
use tensor::system::{Files, System};
use tensor::{Error, ErrorKind};

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
    let mut source = Source { cell: RhaiInput::new(&typed, written, file), ast: None };
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

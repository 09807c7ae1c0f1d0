//! Parses texts: weaves in the extra tokens, rewrites forms that the engine lacks, and adds declarations.

mod chains;
mod forms;
pub(crate) mod forms_of_python;
pub mod names;
pub(crate) mod weave;
pub mod written;

use super::bounds;
use super::runtime::Runtime;
use rhai::{AST, ASTNode, Engine, Expr, LexError, ParseError, ParseErrorType, Position, Stmt};
use written::{Edit, EditedText};

/// The result of parsing a text, with the rewritten text if it differs from the typed one.
pub struct Compiled<T> {
    pub made: T,
    pub written: Option<EditedText>,
}

/// Knowledge about names, needed before a text is parsed.
pub struct Names<'n> {
    /// Whether a variable holds a closure, which is called like a function.
    pub is_closure: &'n dyn Fn(&str) -> bool,
    /// Whether a variable of this name exists. If given, an assignment to any other name declares a variable.
    pub is_variable: Option<&'n dyn Fn(&str) -> bool>,
}

/// Parses a text with the extra tokens woven in. If the engine cannot parse it, subscripts, slices and keywords are
/// rewritten first.
///
/// # Errors
/// Fails with the engine's parse error.
pub fn parse(
    engine: &Engine,
    state: &Runtime,
    source: &str,
    names: &Names,
) -> std::result::Result<Compiled<AST>, Compiled<ParseError>> {
    let is_function = |name: &str| state.is_function(name);
    let tokens = weave::tokens(engine, source);
    let edits = weave::edits(&tokens, source, names.is_closure, &is_function);
    let changes = weave::changes(&tokens, source);
    let mut compiled = match read(engine, source, [changes.clone(), edits.clone()].concat()) {
        Err(refused) if !state.interrupt.is_set() => match forms::edits(&tokens, source) {
            Ok(forms) => {
                let all = [forms.clone(), changes.clone(), edits.clone()].concat();
                let read_at_last = if forms.is_empty() { Err(refused) } else { read(engine, source, all) };
                match read_at_last {
                    // Report errors for the text as typed.
                    Err(refused) if changes.is_empty() => return Err(refused),
                    Err(_) => read(engine, source, [forms, edits].concat())?,
                    Ok(compiled) => compiled,
                }
            }
            Err(forms::MisplacedArgument(position)) => {
                let reason = LexError::Runtime("positional argument follows keyword argument".to_owned());
                let error = ParseError(Box::new(ParseErrorType::BadInput(reason)), position);
                return Err(Compiled { made: error, written: None });
            }
        },
        read => read?,
    };
    if let Some(is_variable) = names.is_variable {
        let missing = names::missing(&compiled.made, is_variable);
        compiled = compiled.with(engine, source, missing)?;
    }
    state.note_shadowed(&compiled.made);
    Ok(compiled)
}

impl Compiled<AST> {
    /// Like [`parse`], with words inserted before statements.
    ///
    /// # Errors
    /// The errors of [`parse`].
    pub fn with(
        self,
        engine: &Engine,
        source: &str,
        words: Vec<(Position, String)>,
    ) -> std::result::Result<Compiled<AST>, Compiled<ParseError>> {
        if words.is_empty() {
            return Ok(self);
        }
        let written = self.written.unwrap_or_else(|| EditedText::new(source, Vec::new()));
        let (mut own, mut edits) = (Vec::new(), written.edits());
        // From last to first, so that offsets within one edit remain valid.
        for (position, text) in words.into_iter().rev() {
            let Some((line, column)) = position.line().zip(position.position()) else { continue };
            if let Some((index, within)) = written.inserted(line, column)
                && let Some(edit) = edits.get_mut(index)
                && let Some((at, _)) = edit.text.char_indices().nth(within)
            {
                edit.text.to_mut().insert_str(at, &text);
            } else if let Some(at) = written.typed_offset(source, line, column) {
                own.push(Edit { at, removed: 0, text: text.into() });
            }
        }
        own.reverse();
        read(engine, source, [own, edits].concat())
    }
}

fn read(engine: &Engine, source: &str, edits: Vec<Edit>) -> std::result::Result<Compiled<AST>, Compiled<ParseError>> {
    let written = (!edits.is_empty()).then(|| EditedText::new(source, edits));
    let text = written.as_ref().map_or(source, |written| &written.text);
    match engine.compile(text).and_then(bounds::check_calls).and_then(check_names) {
        Ok(ast) => Ok(Compiled { made: ast, written }),
        Err(error) => Err(Compiled { made: error, written }),
    }
}

/// Returns the first part of a module's name without quotes: `torch` of `import torch.nn as nn`.
fn bare_name(module: &Expr) -> Option<String> {
    match module {
        Expr::Variable(variable, ..) => Some(variable.1.to_string()),
        Expr::Dot(parts, ..) => bare_name(&parts.lhs),
        _ => None,
    }
}

/// Returns the text if its imports name modules in quotes. `import torch` is Python.
fn check_names(ast: AST) -> Result<AST, ParseError> {
    let mut bare = None;
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Import(parts, position))) = path.last()
            && let Some(name) = bare_name(&parts.0)
        {
            bare = Some((name, *position));
        }
        bare.is_none()
    });
    let Some((name, position)) = bare else { return Ok(ast) };
    let reason =
        format!("`import \"{name}\"` imports {name}.rhai; `let {name} = import_(\"{name}\")` a module of Python");
    Err(ParseError(Box::new(ParseErrorType::BadInput(LexError::Runtime(reason))), position))
}

//! Reads texts: what is typed becomes what the engine knows, with what is woven into it, forms written out and
//! declarations made.

use super::runtime::Runtime;
use super::written::{Edit, Written};
use super::{bounds, forms, names, weave};
use rhai::{AST, ASTNode, Engine, Expr, LexError, ParseError, ParseErrorType, Position, Stmt};

/// What the engine made of a text, and the text it was made of where that is not the typed one.
pub struct Compiled<T> {
    pub made: T,
    pub written: Option<Written>,
}

/// What is known of names before a text is read.
pub struct Names<'n> {
    /// Whether a variable holds a closure, which is called as a function is.
    pub is_closure: &'n dyn Fn(&str) -> bool,
    /// Whether a variable goes by a name; where it is told, an assignment to any other name is a declaration.
    pub is_variable: Option<&'n dyn Fn(&str) -> bool>,
}

/// Reads a text, with what is woven into it. Where the engine cannot read it so, subscripts, slices and keywords are
/// first written as it knows them.
///
/// # Errors
/// What the engine says to a text that it cannot read.
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
                    // What is wrong is told of the text as it was typed.
                    Err(refused) if changes.is_empty() => return Err(refused),
                    Err(_) => read(engine, source, [forms, edits].concat())?,
                    Ok(compiled) => compiled,
                }
            }
            Err(forms::Misplaced(position)) => {
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
    /// The same with words put in front of statements.
    ///
    /// # Errors
    /// Those of [`parse`].
    pub fn with(
        self,
        engine: &Engine,
        source: &str,
        words: Vec<(Position, String)>,
    ) -> std::result::Result<Compiled<AST>, Compiled<ParseError>> {
        if words.is_empty() {
            return Ok(self);
        }
        let written = self.written.unwrap_or_else(|| Written::new(source, Vec::new()));
        let (mut own, mut edits) = (Vec::new(), written.edits());
        // From the last to the first, so that places within one change stay what they are.
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
    let written = (!edits.is_empty()).then(|| Written::new(source, edits));
    let text = written.as_ref().map_or(source, |written| &written.text);
    match engine.compile(text).and_then(bounds::check_calls).and_then(check_names) {
        Ok(ast) => Ok(Compiled { made: ast, written }),
        Err(error) => Err(Compiled { made: error, written }),
    }
}

/// Returns the text if what it imports has names in quotes: `import torch` is Python.
fn check_names(ast: AST) -> Result<AST, ParseError> {
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

//! What Python becomes, as tables; every Rhai text of a table is also shown to Rhai's own parser.

use rhai::{Engine, Token};

use crate::python::{Statement, SyntaxFault, translate};

mod expressions;
mod limits;
mod running;
mod statements;

/// An engine with the lexical changes the translation counts on.
fn engine() -> Engine {
    let mut engine = Engine::new();
    engine.set_max_expr_depths(0, 0);
    engine.register_custom_operator("@", 180).expect("a free operator");
    let after_dot = std::cell::Cell::new(false);
    #[expect(deprecated, reason = "Rhai marks this method as unstable that way")]
    engine.on_parse_token(move |token, _, _| {
        let freed = after_dot.replace(matches!(token, Token::Period | Token::Elvis));
        match token {
            Token::Reserved(word) if freed => Token::Identifier(word),
            word if freed && word.is_standard_keyword() => Token::Identifier(Box::new(word.literal_syntax().into())),
            other => other,
        }
    });
    engine
}

/// The names that tests take as defined.
fn is_defined(name: &str) -> bool {
    matches!(name, "torch" | "t" | "x" | "y" | "f_" | "new_")
}

/// The Rhai text of every statement, each on its own; `echo:` before those whose value is shown.
fn rhai(source: &str) -> Result<Vec<String>, SyntaxFault> {
    let engine = engine();
    let statements = translate(source, &is_defined)?;
    let texts = statements.into_iter().map(|statement| match statement {
        Statement::Run { rhai, echo, .. } => {
            if let Err(error) = engine.compile(&rhai) {
                panic!("{source:?} became {rhai:?}, which Rhai refuses: {error}");
            }
            format!("{}{rhai}", if echo { "echo: " } else { "" })
        }
        Statement::Delete { names, .. } => format!("delete: {}", names.join(", ")),
    });
    Ok(texts.collect())
}

fn check(rows: &[(&str, &[&str])]) {
    for (python, expected) in rows {
        match rhai(python) {
            Ok(texts) => assert_eq!(&texts, expected, "for {python:?}"),
            Err(fault) => panic!("{python:?}: {fault:?}"),
        }
    }
}

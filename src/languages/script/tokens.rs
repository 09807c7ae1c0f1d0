//! What the engine's parser reads: reserved words of Rhai become plain names where they can be, and every name is noted.

use super::runtime::Runtime;
use rhai::{Engine, LexError, Token};
use std::cell::Cell;
use std::rc::Rc;
use value::intern;

/// Records a name of the table that occurs in a text, and whether it occurs bare or after a dot.
fn note(state: &Runtime, word: &str, dotted: bool) {
    if !state.known.borrow().contains(word)
        && let Some(family) = state.registry.family(word)
    {
        state.named.borrow_mut().push(family);
        if family.is_another_bare() {
            let is_bare = Rc::new(Cell::new(state.names_functions.get()));
            state.bare.borrow_mut().entry(family.name).or_insert(is_bare);
        }
    }
    if dotted {
        if !state.known_attributes.borrow().contains(word)
            && (!state.registry.attributes_of(word).is_empty() || objects::modules::member(word).is_some())
        {
            state.named_attributes.borrow_mut().push(intern(word));
        }
        return;
    }
    if let Some(is_bare) = state.bare.borrow().get(word) {
        is_bare.set(true);
    }
}

/// Lets reserved words of Rhai be plain names after a dot and as keys: `storage.new()`, `#{shared: true}`.
pub(super) fn free_reserved_words(engine: &mut Engine, state: &Rc<Runtime>) {
    let state = state.clone();
    let after_dot = Cell::new(false);
    let before_key = Cell::new(false);
    #[allow(deprecated)] // "volatile", but the parser offers no other way
    engine.on_parse_token(move |token, position, _| {
        // Ctrl-C interrupts the parsing of a long text. The caller translates this error.
        if state.interrupt.is_set() {
            return Token::LexError(Box::new(LexError::Runtime("KeyboardInterrupt".to_owned())));
        }
        // A token at the start of a text also resets the state that an abandoned parse left behind.
        let dotted = after_dot.get() && !(position.line() == Some(1) && position.position() == Some(1));
        after_dot.set(matches!(token, Token::Period | Token::Elvis));
        let key = before_key.replace(matches!(token, Token::MapStart | Token::Comma));
        let token = match token {
            // The last results at a prompt, `_` and `__`.
            Token::Underscore if !state.has_switch.get() => Token::Identifier(Box::new("underscore_".into())),
            Token::LexError(fault) => match *fault {
                LexError::MalformedIdentifier(word) if word.bytes().all(|b| b == b'_') => {
                    Token::Identifier(Box::new(format!("underscore{word}").into()))
                }
                other => Token::LexError(Box::new(other)),
            },
            Token::Reserved(word) if word.as_str() == "type_of" => Token::Identifier(Box::new("type_of_".into())),
            // A keyword argument: `#{shared: true}`.
            Token::Reserved(word) if key && word.as_str() != "this" && rhai::is_valid_identifier(&word) => {
                Token::Identifier(word)
            }
            Token::Reserved(word) if dotted && rhai::is_valid_identifier(&word) => {
                Token::Identifier(Box::new(rename(&word).into()))
            }
            Token::Identifier(word) if dotted && rename(&word) != word.as_str() => {
                Token::Identifier(Box::new(rename(&word).into()))
            }
            other if dotted && other.is_standard_keyword() => {
                Token::Identifier(Box::new(other.literal_syntax().into()))
            }
            other => other,
        };
        if let Token::Identifier(word) = &token {
            note(&state, word, dotted);
        }
        // `Fn("where")` can name any function.
        if matches!(&token, Token::Reserved(word) if word.as_str() == "Fn") && !state.names_functions.replace(true) {
            state.bare.borrow().values().for_each(|is_bare| is_bare.set(true));
        }
        token
    });
}

/// `is_shared` after a dot.
pub(super) const IS_SHARED: &str = "is_shared_";

/// Renames words whose built-in meaning would win even after a dot.
fn rename(word: &str) -> &str {
    match word {
        "is_shared" => IS_SHARED,
        "type_of" => "type_of_",
        other => other,
    }
}

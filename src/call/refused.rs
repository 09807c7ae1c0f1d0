//! What is said of arguments that fit no signature, where that takes more than one of them to say.

use super::bind::{Arguments, matches_name};
use super::signature::{Param, Signature};
use super::suggest::nearest;
use crate::tensor::Error;

pub fn unexpected_keyword(name: &str, params: &[Param], arguments: &Arguments) -> String {
    for (keyword, _) in &arguments.keywords {
        match params.iter().position(|p| matches_name(p, keyword)) {
            None => return format!("{name}() got an unexpected keyword argument '{keyword}'"),
            Some(i) if i < arguments.positional.len() => {
                return format!("{name}() got multiple values for argument '{keyword}'");
            }
            Some(_) => {}
        }
    }
    "invalid keyword arguments".to_string()
}

/// Adds the keyword that was meant, where one was given that no signature has.
pub fn with_nearest_keyword<'s>(
    error: Error,
    signatures: impl Iterator<Item = &'s Signature> + Clone,
    arguments: &Arguments,
) -> Error {
    let params = signatures.filter(|s| !s.hidden).flat_map(|s| &s.params);
    let is_unknown = |keyword: &str| !params.clone().any(|param| matches_name(param, keyword));
    let unknown = arguments.keywords.iter().map(|(keyword, _)| keyword).find(|keyword| is_unknown(keyword));
    let meant = unknown.and_then(|keyword| nearest(keyword, params.clone().map(Param::shown_name)));
    match meant {
        Some(meant) => error.with_hint(format!("did you mean '{meant}'?")),
        None => error,
    }
}

/// The error that lists every signature.
pub fn no_combination<'s>(
    name: &str,
    signatures: impl Iterator<Item = &'s Signature> + Clone,
    method: bool,
    arguments: &Arguments,
) -> Error {
    let mut got: Vec<String> = arguments.positional.iter().map(|v| v.type_name().to_string()).collect();
    let keywords = arguments.keywords.iter().rev().map(|(k, v)| format!("{k}={}", v.type_name()));
    let only_keywords = got.is_empty() && !arguments.keywords.is_empty();
    got.extend(keywords);
    let mut got = got.join(", ");
    if only_keywords {
        got += ", ";
    }
    let module = if name == "UntypedStorage" { "torch." } else { "" };
    let mut text =
        format!("{module}{name}() received an invalid combination of arguments - got ({got}), but expected ");
    let listings: Vec<String> = signatures.filter(|s| !s.hidden).flat_map(|s| s.listings(method)).collect();
    match listings.as_slice() {
        [only] => text += only,
        several => {
            text += "one of:\n";
            for listing in several {
                text += &format!(" * {listing}\n");
            }
        }
    }
    Error::type_error(text)
}

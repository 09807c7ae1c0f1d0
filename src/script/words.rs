//! Names that the engine knows otherwise than they are typed.

use super::forms_of_python;

/// A name as it was typed, where ours reach the engine under another.
pub fn typed(name: &str) -> &str {
    match name {
        "type_of_" => "type_of",
        "is_shared_" => "is_shared",
        "len_" => "len",
        "is_empty_" => "is_empty",
        "tag_" => "tag",
        _ if name.starts_with("underscore_") => name.strip_prefix("underscore").unwrap_or(name),
        _ => forms_of_python::operator(name).unwrap_or(name),
    }
}

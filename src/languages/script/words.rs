//! Words that the engine knows and no text has: names that are typed otherwise, and what is woven in among them. Uses nothing.

/// A word that the language reserves, so that no text has it as a name.
pub(crate) const ENCLOSED: &str = "protected";

/// Another reserved word: the call after it reads variables (see `holders.rs`).
pub(crate) const LOOKING: &str = "public";

/// What makes a call of a function's name one of a variable.
pub(crate) const CALLED: &str = ".call";

/// The comparisons as they are written in a condition: what they give there is true or false.
pub const COMPARISONS: [(&str, &str); 6] =
    [("==", "is_eq_"), ("!=", "is_ne_"), ("<", "is_lt_"), ("<=", "is_le_"), (">", "is_gt_"), (">=", "is_ge_")];

/// Properties of arrays that are read by a call.
pub(crate) const PROPERTIES: [&str; 3] = ["len", "is_empty", "tag"];

/// The source of these methods, which is no place to report an error at.
pub(crate) const SOURCE: &str = "methods of the table";

/// The name of a comparison where it is a condition.
pub(crate) fn in_condition(symbol: &str) -> &str {
    COMPARISONS.iter().find(|(known, _)| *known == symbol).map_or(symbol, |(_, name)| name)
}

/// The operator that a name stands for.
pub fn operator(name: &str) -> Option<&'static str> {
    COMPARISONS.iter().find(|(_, known)| *known == name).map(|(symbol, _)| *symbol)
}

/// A name as it was typed, where ours reach the engine under another.
pub fn typed(name: &str) -> &str {
    match name {
        "type_of_" => "type_of",
        "is_shared_" => "is_shared",
        "len_" => "len",
        "is_empty_" => "is_empty",
        "tag_" => "tag",
        _ if name.starts_with("underscore_") => name.strip_prefix("underscore").unwrap_or(name),
        _ => operator(name).unwrap_or(name),
    }
}

//! Words that the engine knows and no typed text contains: renamed names, and words inserted by weaving. Depends on
//! nothing.

/// Marks the body of `try`. A reserved word of Rhai, so no text uses it as a name.
pub(crate) const ENCLOSED: &str = "protected";

/// Marks a call that reads variables (see `holders.rs`). Also a reserved word.
pub(crate) const LOOKING: &str = "public";

/// Turns the call of a name into the call of a variable.
pub(crate) const CALLED: &str = ".call";

/// The names of comparisons inside a condition, where their result is true or false.
pub const COMPARISONS: [(&str, &str); 6] =
    [("==", "is_eq_"), ("!=", "is_ne_"), ("<", "is_lt_"), ("<=", "is_le_"), (">", "is_gt_"), (">=", "is_ge_")];

/// Array properties that are read through a call.
pub(crate) const PROPERTIES: [&str; 3] = ["len", "is_empty", "tag"];

/// The source name of the methods for shadowed functions. No error position refers to it.
pub(crate) const SOURCE: &str = "methods of the table";

/// Returns the name of a comparison inside a condition.
pub(crate) fn in_condition(symbol: &str) -> &str {
    COMPARISONS.iter().find(|(known, _)| *known == symbol).map_or(symbol, |(_, name)| name)
}

/// Returns the operator that a name stands for.
pub fn operator(name: &str) -> Option<&'static str> {
    COMPARISONS.iter().find(|(_, known)| *known == name).map(|(symbol, _)| *symbol)
}

/// Returns a name as typed, if the engine knows it under another name.
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

//! Errors for arguments that fit no signature, if they take more than one sentence.

use super::bind::Arguments;
use super::signature::matches_name;
use super::signature::{Param, Signature};
use super::suggest::nearest;
use tensor::Error;
use value::Value;

pub(crate) fn unexpected_keyword(name: &str, params: &[Param], arguments: &Arguments) -> String {
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

/// Adds a suggestion for a keyword that no signature has.
pub(crate) fn with_nearest_keyword<'s>(
    error: Error,
    signatures: impl Iterator<Item = &'s Signature> + Clone,
    arguments: &Arguments,
) -> Error {
    let params = signatures.filter(|s| s.places.is_empty()).flat_map(|s| &s.params);
    let is_unknown = |keyword: &str| !params.clone().any(|param| matches_name(param, keyword));
    let unknown = arguments.keywords.iter().map(|(keyword, _)| keyword).find(|keyword| is_unknown(keyword));
    let meant = unknown.and_then(|keyword| nearest(keyword, params.clone().map(Param::shown_name)));
    match meant {
        Some(meant) => error.with_hint(format!("did you mean '{meant}'?")),
        None => error,
    }
}

/// Builds the error that lists every signature. For each one that takes as many arguments, it says why they do not fit.
pub(crate) fn no_combination<'s>(
    name: &str,
    signatures: impl Iterator<Item = &'s Signature> + Clone,
    method: bool,
    arguments: &Arguments,
) -> Error {
    let module = if name == "UntypedStorage" { "torch." } else { "" };
    let mut text = format!("{module}{name}() received an invalid combination of arguments - ");
    let given = Given::of(arguments);
    let listings = listings(signatures.filter(|s| s.places.is_empty()), method);
    if let [only] = listings.as_slice() {
        let option = Listed::read(only);
        let unknown = given.unknown_to(&option);
        if unknown.is_empty() {
            let got = if given.fits_count_of(&option) { given.matched(&option) } else { given.described() };
            text += &format!("got {got}, but expected {only}");
        } else {
            text += &format!("got unrecognized keyword arguments: {}", each_with_comma(&unknown));
        }
        return Error::type_error(cut(text));
    }
    text += &format!("got {}, but expected one of:\n", given.described());
    for listing in &listings {
        text += &format!(" * {listing}\n");
        let option = Listed::read(listing);
        if !given.fits_count_of(&option) {
            continue;
        }
        let unknown = given.unknown_to(&option);
        text += "      didn't match because some of the ";
        text += &match unknown.is_empty() {
            true => format!("arguments have invalid types: {}\n", given.matched(&option)),
            false => format!("keywords were incorrect: {}\n", each_with_comma(&unknown)),
        };
    }
    Error::type_error(cut(text))
}

/// Lists the overloads in PyTorch's order, those for tensors first.
fn listings<'s>(signatures: impl Iterator<Item = &'s Signature>, method: bool) -> Vec<String> {
    let all = signatures.map(|signature| signature.listings(method));
    let (mut tensors, mut numbers) = (Vec::new(), Vec::new());
    for mut listed in all {
        numbers.extend(listed.split_off(1));
        tensors.extend(listed);
    }
    tensors.extend(numbers);
    tensors
}

/// Cuts a text to the length of PyTorch's buffer.
fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(1023));
    text
}

fn each_with_comma(names: &[&str]) -> String {
    names.iter().map(|name| format!("{name}, ")).collect()
}

/// A listing, parsed as PyTorch parses it for these errors: split at the commas, with a type and, after the last space,
/// a name in each part. So `*` is a part too, and a parameter with a default has the default as its name.
struct Listed<'l>(Vec<(&'l str, &'l str)>);

impl<'l> Listed<'l> {
    fn read(listing: &'l str) -> Listed<'l> {
        let within = listing.trim_start_matches('(').trim_end_matches(')');
        Listed(within.split(", ").map(|part| part.rsplit_once(' ').unwrap_or((part, part))).collect())
    }
}

/// The arguments of a call. Keywords are in the order of the hash table in which PyTorch keeps them.
struct Given<'a> {
    positional: &'a [Value],
    keywords: Vec<(&'a str, &'a Value)>,
}

impl<'a> Given<'a> {
    fn of(arguments: &'a Arguments) -> Given<'a> {
        let mut keywords: Vec<(&str, &Value)> = Vec::new();
        let buckets = if arguments.keywords.len() > 13 { 29 } else { 13 };
        let bucket = |name: &str| hash(name) % buckets;
        for (name, value) in &arguments.keywords {
            let before = keywords.iter().position(|(other, _)| bucket(other) == bucket(name)).unwrap_or(0);
            keywords.insert(before, (name, value));
        }
        Given { positional: &arguments.positional, keywords }
    }

    fn len(&self) -> usize {
        self.positional.len() + self.keywords.len()
    }

    fn fits_count_of(&self, option: &Listed) -> bool {
        self.len() == option.0.len()
    }

    /// Returns the keywords that are not among the last names of a listing.
    fn unknown_to(&self, option: &Listed) -> Vec<&'a str> {
        let last = option.0.iter().skip(option.0.len().saturating_sub(self.keywords.len()));
        let known: Vec<&str> = last.map(|(_, name)| *name).collect();
        self.keywords.iter().map(|(name, _)| *name).filter(|name| !known.contains(name)).collect()
    }

    /// Shows the types of the arguments.
    fn described(&self) -> String {
        let mut got: Vec<String> = self.positional.iter().map(|value| value.type_name().to_string()).collect();
        got.extend(self.keywords.iter().map(|(name, value)| format!("{name}={}", value.type_name())));
        let only_keywords = self.positional.is_empty() && !self.keywords.is_empty();
        format!("({}{})", got.join(", "), if only_keywords { ", " } else { "" })
    }

    /// Shows the types of the arguments. Types that differ from the listing are between exclamation marks.
    fn matched(&self, option: &Listed) -> String {
        let described = (0..self.len()).filter_map(|i| {
            let listed = option.0.get(i);
            let (name, value) = match self.positional.get(i) {
                Some(value) => (String::new(), value),
                None => {
                    let (_, name) = listed?;
                    let (_, value) = self.keywords.iter().find(|(keyword, _)| keyword == name)?;
                    (format!("{name}="), *value)
                }
            };
            let mark = if listed.is_some_and(|(kind, _)| is_of_listed(value, kind)) { "" } else { "!" };
            Some(format!("{mark}{name}{}{mark}", with_elements(value)))
        });
        format!("({})", described.collect::<Vec<_>>().join(", "))
    }
}

/// Returns whether a value has the type that a listing names.
fn is_of_listed(value: &Value, kind: &str) -> bool {
    let class = value.type_name();
    class == kind || kind == "float" && class == "int"
}

/// Shows the type of a value, and those of the elements of a list or tuple.
fn with_elements(value: &Value) -> String {
    let class = value.type_name();
    let (open, close) = match value {
        Value::List(_) => ("[", "]"),
        Value::Tuple(_) => ("(", ")"),
        _ => return class.to_string(),
    };
    let items = value.sequence().unwrap_or_default();
    let elements: Vec<&str> = items.iter().map(Value::type_name).collect();
    let comma = if open == "(" && elements.len() == 1 { "," } else { "" };
    format!("{class} of {open}{}{comma}{close}", elements.join(", "))
}

/// The hash function that orders the table of keywords: MurmurHash64A, as in the C++ library that PyTorch is built
/// with.
fn hash(name: &str) -> u64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    let mixed = |word: u64| word ^ (word >> 47);
    let mut hash = 0xc70f_6907 ^ (name.len() as u64).wrapping_mul(FACTOR);
    for chunk in name.as_bytes().chunks(8) {
        let word = chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let whole = chunk.len() == 8;
        hash ^= if whole { mixed(word.wrapping_mul(FACTOR)).wrapping_mul(FACTOR) } else { word };
        hash = hash.wrapping_mul(FACTOR);
    }
    mixed(mixed(hash).wrapping_mul(FACTOR))
}

//! Completion, and the signature of the call being typed. Looks names up in the session and in the function table, but
//! evaluates and formats nothing: the cost of a key press does not depend on the variables' contents.

use rhai::Dynamic;

use super::cursor::{Call, Cursor, CursorContext};
use super::variables::summary;
use super::{Language, Session};
use call::module_names::KEYWORDS;
use call::signature::Kind;
use call::{MODULES, Overloads, Receiver};
use languages::script::engine::constant;
use languages::script::holders::is_container;
use languages::script::own;
use languages::script::values::to_value;
use objects::modules::{SCHEMES, member};
use tensor::DType;
use torch::library::help;
use value::{MemoryFormat, Object, TensorLayout, Value};

/// A completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The replacement for the word at the cursor.
    pub text: String,
    /// A description of one line.
    pub doc: String,
    /// The function's subject in the table; empty for anything else.
    pub subject: &'static str,
}

impl Candidate {
    fn new(text: impl Into<String>, doc: impl Into<String>) -> Candidate {
        Candidate { text: text.into(), doc: doc.into(), subject: "" }
    }

    pub(super) fn member(member: &help::Member) -> Candidate {
        Candidate { subject: help::subject(member.name), ..Candidate::new(member.name, member.doc) }
    }

    /// Returns whether the completion continues a word. Its last name after a dot counts as well.
    fn continues(&self, word: &str) -> bool {
        self.text.starts_with(word) || self.text.rsplit('.').next().is_some_and(|last| last.starts_with(word))
    }
}

/// Returns the candidates whose name contains a word, or else those whose description does.
fn searched(candidates: &[Candidate], word: &str) -> Vec<Candidate> {
    let word = word.to_lowercase();
    let found = |has: &dyn Fn(&Candidate) -> bool| candidates.iter().filter(|c| has(c)).cloned().collect::<Vec<_>>();
    let named = found(&|candidate| candidate.subject == word || candidate.text.to_lowercase().contains(&word));
    // A few letters would match every other description.
    if named.is_empty() && word.len() > 3 {
        found(&|candidate| candidate.doc.to_lowercase().contains(&word))
    } else {
        named
    }
}

/// The completions at a position of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The start of the word to replace, in bytes.
    pub start: usize,
    pub candidates: Vec<Candidate>,
    /// Whether the cursor is in a string, which may be a file path.
    pub in_string: bool,
}

/// Returns the keywords of a language.
pub fn keywords(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python => KEYWORDS,
        Language::Rhai => &[
            "break", "catch", "const", "continue", "do", "else", "fn", "for", "if", "in", "let", "loop", "private",
            "return", "switch", "throw", "try", "until", "while",
        ],
    }
}

/// Returns the names of predefined values.
pub(super) fn constants(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python => &["torch", "None", "True", "False"],
        Language::Rhai => &["torch", "None", "True", "False", "true", "false", "inf", "nan"],
    }
}

impl Session {
    /// Returns the completions at byte `at` of `text`.
    pub fn complete(&self, language: Language, text: &str, at: usize) -> Completion {
        let cursor = Cursor::find(language, text, at);
        let mut candidates = match &cursor.place {
            CursorContext::Comment => Vec::new(),
            CursorContext::Text => return Completion { start: cursor.start, candidates: Vec::new(), in_string: true },
            CursorContext::Member(path) => self.members_of(language, &cursor, path),
            CursorContext::Name => self.names(language, &cursor),
        };
        let fits = |candidate: &Candidate| {
            candidate.continues(cursor.word) || !cursor.word.is_empty() && candidate.subject == cursor.word
        };
        let found = candidates.iter().any(fits);
        match &cursor.place {
            CursorContext::Member(_) if !found && cursor.word.len() > 1 => {
                candidates = searched(&candidates, cursor.word)
            }
            _ => candidates.retain(fits),
        }
        Completion { start: cursor.start, candidates, in_string: false }
    }

    /// Returns the signatures of the call that is open at byte `at` of `text`, one line per overload.
    pub(crate) fn call_hint(&self, language: Language, text: &str, at: usize) -> Option<Vec<String>> {
        let call = Cursor::find(language, text, at).call?;
        self.called(&call).map(help::usages)
    }

    fn called(&self, call: &Call) -> Option<&'static Overloads> {
        let (name, path) = call.callee.split_last()?;
        if path.is_empty() {
            return help::callee(None, name);
        }
        help::callee(Some(self.receiver(path)?), name)
    }

    /// Returns the receiver for a path of names. The first is a variable or a constant, the others are attributes.
    fn receiver(&self, path: &[&str]) -> Option<Receiver> {
        let (first, rest) = path.split_first()?;
        let mut receiver = match self.scope.get(first) {
            Some(value) => Receiver::Class(class_of_dynamic(value)?),
            None => match constant(first)? {
                Value::Module(module) => module_receiver(module)?,
                value => Receiver::Class(Kind::of(&value)?),
            },
        };
        for name in rest {
            receiver = match receiver {
                Receiver::Module("") => match MODULES.iter().find(|module| module == &name) {
                    Some(module) => Receiver::Module(module),
                    None => class_receiver(name).or_else(|| Some(Receiver::Class(Kind::of(&member(name)?)?)))?,
                },
                Receiver::Module(_) => return None,
                Receiver::Class(kind) => Receiver::Class(help::attribute_class(kind, name)?),
            };
        }
        Some(receiver)
    }

    /// Returns the possible values of the keyword whose value is being typed, if they can be listed.
    fn values(&self, language: Language, cursor: &Cursor) -> Vec<Candidate> {
        let Some(call) = &cursor.call else { return Vec::new() };
        let kind = call.value_of.and_then(|name| help::keyword_kind(self.called(call)?, name));
        let truths = match language {
            Language::Python => ["True", "False"],
            Language::Rhai => ["true", "false"],
        };
        // Rhai knows torch's names without a prefix.
        let torch = if language == Language::Python { "torch." } else { "" };
        let named = |kind: &str| {
            let names = torch_names().filter(|(_, doc)| *doc == kind);
            names.map(|(name, doc)| Candidate::new(format!("{torch}{name}"), doc)).collect()
        };
        match kind {
            Some(Kind::DType) => named(DTYPE),
            Some(Kind::Layout) => named(LAYOUT),
            Some(Kind::MemoryFormat) => named(MEMORY_FORMAT),
            Some(Kind::Bool) => truths.map(|truth| Candidate::new(truth, "bool")).into(),
            Some(Kind::Device) => ["cpu", "meta"].map(|name| Candidate::new(format!("\"{name}\""), "device")).into(),
            _ => Vec::new(),
        }
    }

    fn members_of(&self, language: Language, cursor: &Cursor, path: &[&str]) -> Vec<Candidate> {
        let word = cursor.word;
        if let [name] = path
            && let Some(found) = self.scope.get(name).and_then(members_of_own)
        {
            return found;
        }
        let receiver = match path {
            // Only evaluation could tell the class. Most often it is a tensor.
            [] => Some(Receiver::Class(Kind::Tensor)),
            path => self.receiver(path),
        };
        let Some(receiver) = receiver else { return Vec::new() };
        let mut found: Vec<_> = help::members(receiver)
            .into_iter()
            .filter(|member| word.starts_with('_') || !member.name.starts_with('_'))
            .map(|member| Candidate::member(&member))
            .collect();
        if receiver == Receiver::Module("") {
            let values = self.values(language, cursor);
            if values.iter().any(|value| value.continues(word)) {
                let name = |value: Candidate| value.text.trim_start_matches("torch.").to_owned();
                return values.into_iter().map(|value| Candidate::new(name(value.clone()), value.doc)).collect();
            }
            found.extend(torch_names().map(|(name, doc)| Candidate { subject: "values", ..Candidate::new(name, doc) }));
            let modules = MODULES.iter().filter(|module| !matches!(**module, "py" | "array" | "copy" | "math"));
            found.extend(modules.map(|name| Candidate { subject: "modules", ..Candidate::new(*name, "module") }));
        }
        found
    }

    fn names(&self, language: Language, cursor: &Cursor) -> Vec<Candidate> {
        let mut found = self.values(language, cursor);
        if found.iter().any(|value| value.continues(cursor.word)) {
            return found;
        }
        if let Some(call) = &cursor.call
            && let Some(sign) = call.keyword
            && let Some(overloads) = self.called(call)
        {
            let keyword = |(name, kind): (&str, Kind)| Candidate::new(format!("{name}{sign}"), kind.type_name());
            found.extend(help::keywords(overloads).into_iter().map(keyword));
        }
        // With an empty word, offer the call's keywords, or else the session's names, but not all of torch.
        let variables = self.scope.iter_raw().map(|(name, _, value)| Candidate::new(name, summary(value)));
        found.extend(variables);
        found.extend(self.runtime.defined.borrow().keys().map(|name| Candidate::new(name.as_str(), "function")));
        if cursor.word.is_empty() {
            return found;
        }
        found.extend(keywords(language).iter().map(|word| Candidate::new(*word, "")));
        // Rhai also knows torch's names without a prefix; Python does not.
        let modules: &[&str] = match language {
            Language::Rhai => &["py", ""],
            Language::Python => &["py"],
        };
        found.extend(constants(language).iter().map(|name| Candidate::new(*name, "")));
        if language == Language::Rhai {
            found.extend(torch_names().map(|(name, doc)| Candidate::new(name, doc)));
        }
        found.retain(|candidate| candidate.text.starts_with(cursor.word));
        for receiver in modules.iter().copied().map(Receiver::Module) {
            for member in help::members(receiver) {
                let is_meant = member.name.starts_with(cursor.word);
                if is_meant && !found.iter().any(|candidate| candidate.text == member.name) {
                    found.push(Candidate::member(&member));
                }
            }
        }
        found
    }
}

/// The kinds of the named values of torch.
const DTYPE: &str = "dtype";
const LAYOUT: &str = "layout";
const MEMORY_FORMAT: &str = "memory format";

/// Returns the values that are in `torch.` and, in Rhai, available by their bare names, each with its kind.
fn torch_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let dtypes = DType::ALL.iter().map(|dtype| (dtype.name(), DTYPE));
    let layouts = TensorLayout::ALL.into_iter().map(|layout| (layout.name(), LAYOUT));
    let formats = MemoryFormat::ALL.into_iter().map(|format| (format.name(), MEMORY_FORMAT));
    let schemes = SCHEMES.into_iter().map(|name| (name, "quantization scheme"));
    dtypes.chain(layouts).chain(formats).chain(schemes)
}

fn module_receiver(module: &str) -> Option<Receiver> {
    if module == "torch" {
        return Some(Receiver::Module(""));
    }
    let last = module.rsplit('.').next().unwrap_or(module);
    MODULES.iter().find(|known| **known == last).map(|known| Receiver::Module(known))
}

/// Returns the receiver for a class reached through `torch.`, for its static functions.
fn class_receiver(name: &str) -> Option<Receiver> {
    match name {
        "UntypedStorage" => Some(Receiver::Module("UntypedStorage")),
        "TypedStorage" => Some(Receiver::Module("TypedStorage")),
        "Tensor" => Some(Receiver::Class(Kind::Tensor)),
        _ => None,
    }
}

/// Returns the keys, methods and properties of a Rhai value. `None` for a value of another class.
fn members_of_own(value: &Dynamic) -> Option<Vec<Candidate>> {
    if let Ok(Value::Object(object)) = to_value(value) {
        return members_of_object(&*object).filter(|found| !found.is_empty());
    }
    let kind = if value.is_array() {
        "array"
    } else if value.is_map() {
        "map"
    } else if value.is_string() {
        "text"
    } else if value.is_int() {
        "number"
    } else if value.is_float() {
        "x"
    } else if value.is::<rhai::FnPtr>() {
        "closure"
    } else {
        return None;
    };
    let map = value.read_lock::<rhai::Map>();
    let keys = map.iter().flat_map(|map| map.iter()).filter(|(key, _)| rhai::is_valid_identifier(key));
    let keys = keys.map(|(key, value)| Candidate::new(key.as_str(), summary(value)));
    Some(keys.chain(own::members(kind).map(|(name, doc)| Candidate::new(name, doc))).collect())
}

/// Returns what a module of a script, a class or an object has, and its classes. Runs nothing.
fn members_of_object(object: &dyn Object) -> Option<Vec<Candidate>> {
    let dicts = |object: &dyn Object| object.object_state().dicts;
    let mut found = dicts(object);
    if matches!(object.class_name(), "function" | "builtin_function_or_method") {
        return None;
    }
    if let Some(Value::Object(class)) = object.class()
        && let Some(Ok(Value::Tuple(order))) = class.own_attribute("__mro__")
    {
        for class in order.iter() {
            if let Value::Object(class) = class {
                found.extend(dicts(&**class));
            }
        }
    }
    let entries = found.iter().flat_map(|dict| dict.to_vec());
    let mut candidates: Vec<Candidate> = Vec::new();
    for (key, value) in entries {
        if let Value::Str(name) = key
            && !name.starts_with('_')
            && !candidates.iter().any(|known| known.text == *name)
        {
            candidates.push(Candidate::new(&*name, value.type_name()));
        }
    }
    Some(candidates)
}

/// Returns the class of a variable, without walking long lists.
pub(super) fn class_of_dynamic(value: &Dynamic) -> Option<Kind> {
    if value.is_array() || is_container(value) {
        return Some(Kind::Sequence);
    }
    if is_container(value) {
        return None;
    }
    Kind::of(&to_value(value).ok()?)
}

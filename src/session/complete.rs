//! Completion, and the signature of the call being typed. Looks names up in the session and in the function table, but
//! evaluates and formats nothing, so that a key press costs the same whatever the variables hold.

use rhai::Dynamic;

use super::cursor::{Call, Cursor, Place};
use super::variables::{is_container, summary};
use super::{Language, Session};
use crate::call::module_names::KEYWORDS;
use crate::call::signature::Kind;
use crate::call::{MODULES, Overloads, Receiver};
use crate::functions::SCHEMES;
use crate::functions::member;
use crate::library::help;
use crate::script::engine::constant;
use crate::script::value::to_value;
use crate::tensor::DType;
use crate::value::{MemoryFormat, TensorLayout, Value};

/// One way to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The replacement for the word at the cursor.
    pub text: String,
    /// One line on what it is.
    pub doc: String,
}

/// The ways to go on at a place of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The start of the word they replace, in bytes.
    pub start: usize,
    pub candidates: Vec<Candidate>,
    /// The cursor stands in a string: a path of a file may be meant.
    pub in_string: bool,
}

/// The words of a language itself.
pub fn keywords(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python => KEYWORDS,
        Language::Rhai => &[
            "break", "catch", "const", "continue", "do", "else", "fn", "for", "if", "in", "let", "loop", "private",
            "return", "switch", "throw", "try", "until", "while",
        ],
    }
}

impl Session {
    /// Returns what could stand at byte `at` of `text`.
    pub fn complete(&self, language: Language, text: &str, at: usize) -> Completion {
        let cursor = Cursor::find(language, text, at);
        let mut candidates = match &cursor.place {
            Place::Comment => Vec::new(),
            Place::Text => return Completion { start: cursor.start, candidates: Vec::new(), in_string: true },
            Place::Member(path) => self.members_of(path, cursor.word),
            Place::Name => self.names(language, &cursor),
        };
        candidates.retain(|candidate| candidate.text.starts_with(cursor.word));
        Completion { start: cursor.start, candidates, in_string: false }
    }

    /// Shows how to call what is open at byte `at` of `text`, one line for each overload.
    pub fn call_hint(&self, language: Language, text: &str, at: usize) -> Option<Vec<String>> {
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

    /// Returns the receiver of a path of names. The first is a variable or a constant, the others are attributes.
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

    fn members_of(&self, path: &[&str], word: &str) -> Vec<Candidate> {
        let receiver = match path {
            // Something that only evaluating could tell: most often it is a tensor.
            [] => Some(Receiver::Class(Kind::Tensor)),
            path => self.receiver(path),
        };
        let Some(receiver) = receiver else { return Vec::new() };
        let mut found: Vec<_> = help::members(receiver)
            .into_iter()
            .filter(|member| word.starts_with('_') || !member.name.starts_with('_'))
            .map(|member| Candidate { text: member.name.to_owned(), doc: member.doc.to_owned() })
            .collect();
        if receiver == Receiver::Module("") {
            found.extend(torch_names().map(|(name, doc)| Candidate { text: name.to_owned(), doc: doc.to_owned() }));
            let modules = MODULES.iter().filter(|module| !matches!(**module, "py" | "array" | "copy" | "math"));
            found.extend(modules.map(|module| Candidate { text: (*module).to_owned(), doc: "module".to_owned() }));
        }
        found
    }

    fn names(&self, language: Language, cursor: &Cursor) -> Vec<Candidate> {
        let mut found = Vec::new();
        if let Some(call) = cursor.call.as_ref().filter(|call| call.takes_keyword)
            && let Some(overloads) = self.called(call)
        {
            let sign = if language == Language::Python { "=" } else { ": " };
            found.extend(
                help::keywords(overloads)
                    .into_iter()
                    .map(|(name, kind)| Candidate { text: format!("{name}{sign}"), doc: kind.to_owned() }),
            );
        }
        // Nothing typed yet: the keywords of the call, or else everything the session holds; not the whole of torch.
        let variables =
            self.scope.iter_raw().map(|(name, _, value)| Candidate { text: name.to_owned(), doc: summary(value) });
        found.extend(variables);
        found.extend(
            self.runtime
                .defined
                .borrow()
                .keys()
                .map(|name| Candidate { text: name.clone(), doc: "function".to_owned() }),
        );
        if cursor.word.is_empty() {
            return found;
        }
        found.extend(keywords(language).iter().map(|word| Candidate { text: (*word).to_owned(), doc: String::new() }));
        // Rhai knows torch's names by themselves, too; Python does not.
        let (constants, modules): (&[&str], &[&str]) = match language {
            Language::Rhai => (&["torch", "None", "True", "False", "true", "false", "inf", "nan"], &["py", ""]),
            Language::Python => (&["torch", "None", "True", "False"], &["py"]),
        };
        found.extend(constants.iter().map(|name| Candidate { text: (*name).to_owned(), doc: String::new() }));
        if language == Language::Rhai {
            found.extend(torch_names().map(|(name, doc)| Candidate { text: name.to_owned(), doc: doc.to_owned() }));
        }
        found.retain(|candidate| candidate.text.starts_with(cursor.word));
        for receiver in modules.iter().copied().map(Receiver::Module) {
            for member in help::members(receiver) {
                let is_meant = member.name.starts_with(cursor.word);
                if is_meant && !found.iter().any(|candidate| candidate.text == member.name) {
                    found.push(Candidate { text: member.name.to_owned(), doc: member.doc.to_owned() });
                }
            }
        }
        found
    }
}

/// Values that stand in `torch.` and by their bare names.
fn torch_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let dtypes = DType::ALL.iter().map(|dtype| (dtype.name(), "dtype"));
    let layouts = TensorLayout::ALL.into_iter().map(|layout| (layout.name(), "layout"));
    let formats = MemoryFormat::ALL.into_iter().map(|format| (format.name(), "memory format"));
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

/// A class reached through `torch.`: its static functions.
fn class_receiver(name: &str) -> Option<Receiver> {
    match name {
        "UntypedStorage" => Some(Receiver::Module("UntypedStorage")),
        "TypedStorage" => Some(Receiver::Module("TypedStorage")),
        "Tensor" => Some(Receiver::Class(Kind::Tensor)),
        _ => None,
    }
}

/// The class of a variable; a long list is not walked for it.
fn class_of_dynamic(value: &Dynamic) -> Option<Kind> {
    if value.is_array() || is_container(value) {
        return Some(Kind::Sequence);
    }
    if is_container(value) {
        return None;
    }
    Kind::of(&to_value(value).ok()?)
}

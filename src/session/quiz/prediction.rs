//! Predictions of what an input gives, judged by value: `(3, 1)` and `torch.Size([3, 1])` are equal here too.

use super::answer::{Elements, is_refusal, unquoted};
use crate::failure::failure_of;
use crate::{Failure, Language, Outcome, Picture, Session};
use call::registry::Receiver;
use call::signature::Kind;
use tensor::{DType, Error};
use torch::library::registry;
use value::{Value, equality};

/// The names behind a tensor that ask for its layout, which the picture of the tensor shows.
const ASKS_FOR_LAYOUT: [&str; 14] = [
    "stride",
    "shape",
    "size",
    "is_contiguous",
    "storage_offset",
    "dtype",
    "ndim",
    "dim",
    "numel",
    "nbytes",
    "itemsize",
    "element_size",
    "data_ptr",
    "untyped_storage",
];

/// An input whose value was predicted, after it has run.
pub(crate) struct Predicted {
    language: Language,
    source: String,
    pub outcome: Outcome,
    value: Option<Value>,
}

impl Predicted {
    /// Runs an input like [`Session::eval`].
    pub(crate) fn run(session: &mut Session, language: Language, source: &str) -> Predicted {
        let (outcome, value) = session.eval_with_value(language, source);
        Predicted { language, source: source.to_owned(), outcome, value }
    }

    /// Judges a prediction. `None` if the text means no value.
    pub(crate) fn is_right(&self, session: &mut Session, typed: &str) -> Option<bool> {
        let word = typed.trim().to_lowercase();
        match (&self.outcome.error, &self.value) {
            (Some(failure), _) => Some(is_refusal(&word) || word == failure.kind.to_lowercase()),
            (None, None) => Some(matches!(word.as_str(), "none" | "nothing")),
            (None, Some(_)) if word != "no" && word != "none" && is_refusal(&word) => Some(false),
            (None, Some(value)) => spelt(typed, &word, value, session).or_else(|| evaluated(session, typed, value)),
        }
    }

    /// Draws what explains the value, if a picture does.
    pub(crate) fn picture(&self, session: &mut Session) -> Option<Picture> {
        if let Some(Value::Tensor(_)) = self.value {
            // The tensor is the latest result.
            return picture_of(session, self.language, "explain(_)").ok();
        }
        // The tensor is made again, so nothing else may happen thereby.
        let source = self.source.trim().trim_end_matches(';');
        let (subject, name, arguments) = last_call(source)?;
        let code = match (&self.outcome.error, name) {
            (None, name) if ASKS_FOR_LAYOUT.contains(&name) => format!("explain({subject})"),
            (Some(_), "view") if !arguments.is_empty() => format!("why_view({subject}, {arguments})"),
            _ => return None,
        };
        is_pure(source).then(|| picture_of(session, self.language, &code).ok())?
    }
}

/// Judges a text that spells a value. `None` if it might be an expression.
fn spelt(typed: &str, word: &str, value: &Value, session: &Session) -> Option<bool> {
    match (value, word) {
        (Value::Bool(is_so), "true" | "yes" | "y") => return Some(*is_so),
        (Value::Bool(is_so), "false" | "no" | "n") => return Some(!is_so),
        (Value::DType(dtype), word) => {
            return DType::from_name(unquoted(word).trim_start_matches("torch.")).map(|typed| typed == *dtype);
        }
        (Value::Tensor(tensor), "view" | "copy") => {
            let view = tensor.view();
            let is_view = session.holders().iter().any(|holder| holder.is_on(&view.storage));
            return Some(is_view == (word == "view"));
        }
        (Value::Str(text), _) => return Some(unquoted(typed.trim()) == text.to_string()),
        _ => {}
    }
    let own = Elements::of(value)?;
    let typed = Elements::read(typed)?;
    // The shape of a tensor counts. Sizes may be typed without brackets.
    let same_shape = own.sizes == typed.sizes || !matches!(value, Value::Tensor(_)) && own.sizes.len() <= 1;
    Some(same_shape && own.is_met_by(&typed))
}

/// Judges a text by its value as an expression. `None` if it has none.
fn evaluated(session: &mut Session, typed: &str, value: &Value) -> Option<bool> {
    let language = crate::lessons::language_of(session, Language::Python, typed);
    let typed = session.value_of(language, typed).ok()??;
    match (Elements::of(value), Elements::of(&typed)) {
        (Some(own), Some(other)) => Some(own.sizes == other.sizes && own.is_met_by(&other)),
        _ => Some(equality::equal(value, &typed)),
    }
}

/// Runs a call that returns a picture, which may have blank parts, and shows nothing.
///
/// # Errors
/// The failure of the call, or TypeError if it returns anything else.
pub(crate) fn picture_of(session: &mut Session, language: Language, code: &str) -> Result<Picture, Box<Failure>> {
    if let Some(Value::Object(object)) = session.value_of(language, code)?
        && let Some(picture) = object.as_any().downcast_ref::<Picture>()
    {
        return Ok(Picture { blanks: picture.blanks.clone(), ..Picture::of(picture.scene.clone(), picture.width) });
    }
    Err(Box::new(failure_of(Error::type_error(format!("{code} is not a picture")))))
}

/// Splits `x.t().stride()` into `x.t()`, `stride` and the arguments. `None` for anything else.
fn last_call(source: &str) -> Option<(&str, &str, &str)> {
    let (mut depth, mut dot, mut open) = (0usize, None, None);
    for (at, c) in source.char_indices() {
        match c {
            '(' | '[' | '{' => {
                if depth == 0 && c == '(' {
                    open = Some(at);
                }
                depth += 1;
            }
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            '.' if depth == 0 => (dot, open) = (Some(at), None),
            // An operator, a comparison or a statement is not one chain of calls.
            c if depth == 0 && !c.is_alphanumeric() && c != '_' => return None,
            _ => {}
        }
    }
    let dot = dot?;
    let subject = source.get(..dot)?;
    match open {
        Some(open) => Some((subject, source.get(dot + 1..open)?, source.get(open + 1..)?.strip_suffix(')')?)),
        None => Some((subject, source.get(dot + 1..)?, "")),
    }
}

/// Returns whether a chain of calls only reads: no function in it writes to an argument or draws random numbers.
fn is_pure(source: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices('(').all(|(at, _)| {
        let before = source.get(..at).unwrap_or_default();
        let name = before.rsplit(|c| !is_part(c)).next().unwrap_or_default();
        // Brackets that group, or tuples.
        if name.is_empty() {
            return true;
        }
        let of_tensors = |receiver: &Receiver| matches!(receiver, Receiver::Class(Kind::Tensor) | Receiver::Module(""));
        let Some(family) = registry().family(name) else { return false };
        let mut signatures = family
            .members()
            .filter(|(receiver, _)| of_tensors(receiver))
            .flat_map(|(_, overloads)| overloads.functions.iter().map(|function| &function.signature))
            .peekable();
        let writes = |name: &str, is_written: bool| is_written && name != "out";
        signatures.peek().is_some()
            && signatures.all(|signature| {
                !signature.params.iter().any(|param| param.kind == Kind::Generator || writes(param.name, param.written))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionOptions;

    #[test]
    fn chains_are_split_at_their_last_call() {
        for (source, wanted) in [
            ("x.t().stride()", Some(("x.t()", "stride", ""))),
            ("x[:, 1].shape", Some(("x[:, 1]", "shape", ""))),
            ("x.view(2, 3).view((6,))", Some(("x.view(2, 3)", "view", "(6,)"))),
            ("(x + y).shape", Some(("(x + y)", "shape", ""))),
            ("x + y.shape", None),
            ("y = x.shape", None),
            ("x", None),
            ("x)", None),
        ] {
            assert_eq!(last_call(source), wanted, "{source}");
        }
    }

    #[test]
    fn what_writes_or_draws_is_not_run_again() {
        for (source, wanted) in [
            ("x.t().stride()", true),
            ("torch.zeros(2, 3).t().shape", true),
            ("x.add_(1).shape", false),
            ("torch.rand(3).shape", false),
            ("f(x).shape", false),
            ("next(g).shape", false),
            ("(x, y)[0].shape", true),
            ("(x + y).shape", true),
        ] {
            assert_eq!(is_pure(source), wanted, "{source}");
        }
    }

    #[test]
    fn predictions_are_judged_by_value() {
        let options = SessionOptions { live: Some(Box::new(|_| {})), keeps_results: true, ..SessionOptions::default() };
        let mut session = Session::new(options);
        session.eval(Language::Python, "import torch; x = torch.arange(6).view(2, 3)");
        let rows = [
            ("x.t().stride()", "(1, 3)", Some(true)),
            ("x.t().stride()", "[1, 3]", Some(true)),
            ("x.t().stride()", "1 3", Some(true)),
            ("x.t().stride()", "(3, 1)", Some(false)),
            ("x.t().stride()", "(1, x.shape[1])", Some(true)),
            ("x.shape", "torch.Size([2, 3])", Some(true)),
            ("x.is_contiguous()", "yes", Some(true)),
            ("x.is_contiguous()", "false", Some(false)),
            ("x.dtype", "int64", Some(true)),
            ("x.dtype", "torch.float32", Some(false)),
            ("x[0]", "[0, 1, 2]", Some(true)),
            ("x[0]", "tensor([0, 1, 2])", Some(true)),
            ("x[0]", "[[0, 1, 2]]", Some(false)),
            ("x[:1]", "[0, 1, 2]", Some(false)),
            ("x[0]", "x[1] - 3", Some(true)),
            ("x[0]", "view", Some(true)),
            ("x[[0]]", "view", Some(false)),
            ("x[[0]]", "copy", Some(true)),
            ("x.sum().item()", "15", Some(true)),
            ("x.sum()", "15", Some(true)),
            ("x.sum()", "refused", Some(false)),
            ("x.view(4)", "error", Some(true)),
            ("x.view(4)", "RuntimeError", Some(true)),
            ("x.view(4)", "(4,)", Some(false)),
            ("x.sum().item()", "?!", None),
            ("'a' + 'b'", "ab", Some(true)),
            ("y = x.clone()", "none", Some(true)),
            ("y = x.clone()", "3", Some(false)),
        ];
        for (source, typed, wanted) in rows {
            let predicted = Predicted::run(&mut session, Language::Python, source);
            assert_eq!(predicted.is_right(&mut session, typed), wanted, "{source}: {typed}");
            session.eval(Language::Python, "x = torch.arange(6).view(2, 3)");
        }
        let mut drawn = |source: &str| {
            let predicted = Predicted::run(&mut session, Language::Python, source);
            predicted.picture(&mut session).map(|picture| picture.scene.title)
        };
        assert_eq!(drawn("x.t().stride()").as_deref(), Some("int64 tensor of size [3, 2]: 6 elements"));
        assert_eq!(drawn("x[0]").as_deref(), Some("int64 tensor of size [3]: 3 elements"));
        assert!(drawn("x.t().view(6)").is_some_and(|title| title.contains("view")), "why_view");
        assert_eq!(drawn("1 + 1"), None);
    }
}

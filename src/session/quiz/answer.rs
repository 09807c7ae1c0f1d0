//! Answers: what a value answers to a question of a form, and what a typed text means. Spelling does not count:
//! `(3, 1)`, `[3, 1]`, `3 1` and `torch.Size([3, 1])` are the same sizes.

use std::collections::BTreeSet;
use tensor::DType;
use value::Value;

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Sizes or strides.
    Sizes,
    /// Sizes, or the word that an operation is refused.
    SizesOrRefused,
    Number,
    YesNo,
    /// Whether an expression works: yes or no.
    Works,
    ViewCopy,
    DType,
    /// Names of variables; possibly none.
    Names,
    /// The elements of a tensor, with its shape if that has several dimensions.
    Elements,
}

impl Form {
    /// Returns whether there are only two answers, which a quiz must then give equally often.
    pub(super) fn is_two_way(self) -> bool {
        matches!(self, Form::YesNo | Form::Works | Form::ViewCopy)
    }

    /// Returns whether a failing expression is an answer.
    pub(super) fn may_fail(self) -> bool {
        matches!(self, Form::SizesOrRefused | Form::Works)
    }

    /// Says what can be typed, for an answer that could not be read.
    pub(super) fn hint(self) -> &'static str {
        match self {
            Form::Sizes => "Type numbers, such as (3, 1).",
            Form::SizesOrRefused => "Type numbers, such as (3, 1), or refused.",
            Form::Number => "Type a number.",
            Form::YesNo | Form::Works => "Type yes or no.",
            Form::ViewCopy => "Type view or copy.",
            Form::DType => "Type a dtype, such as float32.",
            Form::Names => "Type names, such as x, a; or none.",
            Form::Elements => "Type the elements, such as [1, 2].",
        }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Sizes(Vec<i64>),
    Number(f64),
    Word(&'static str),
    DType(DType),
    Names(BTreeSet<String>),
    Elements(Elements),
}

/// Numbers with the shape that they have.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Elements {
    pub sizes: Vec<i64>,
    pub items: Vec<f64>,
}

const YES: &str = "yes";
const NO: &str = "no";
const VIEW: &str = "view";
const COPY: &str = "copy";
pub(super) const REFUSED: &str = "refused";

impl Answer {
    /// Returns what a value answers. `None` if it does not have the form.
    pub(super) fn of(form: Form, value: &Value) -> Option<Answer> {
        Some(match (form, value) {
            (Form::Works, _) => Answer::Word(YES),
            (Form::YesNo, Value::Bool(is_so)) => Answer::Word(if *is_so { YES } else { NO }),
            (Form::ViewCopy, Value::Bool(is_so)) => Answer::Word(if *is_so { VIEW } else { COPY }),
            (Form::DType, Value::DType(dtype)) => Answer::DType(*dtype),
            (Form::Number, number) => Answer::Number(number.as_scalar()?.to_f64()),
            (Form::Sizes | Form::SizesOrRefused, sizes) => {
                let sizes = sizes.sequence()?.into_iter().map(|size| match size {
                    Value::Int(size) => Some(size),
                    _ => None,
                });
                Answer::Sizes(sizes.collect::<Option<_>>()?)
            }
            (Form::Names, names) => {
                let names = names.sequence()?.into_iter().map(|name| match name {
                    Value::Str(name) => Some(name.to_string()),
                    _ => None,
                });
                Answer::Names(names.collect::<Option<_>>()?)
            }
            (Form::Elements, elements) => Answer::Elements(Elements::of(elements)?),
            _ => return None,
        })
    }

    /// Returns what the failure of an expression answers.
    pub(super) fn of_failure(form: Form) -> Option<Answer> {
        match form {
            Form::Works => Some(Answer::Word(NO)),
            Form::SizesOrRefused => Some(Answer::Word(REFUSED)),
            _ => None,
        }
    }

    /// Returns whether the answer is the first of two.
    pub(super) fn is_first(&self) -> bool {
        matches!(self, Answer::Word(YES | VIEW | REFUSED))
    }

    /// Reads a typed text. `None` if it has not the form.
    pub(super) fn read(form: Form, text: &str) -> Option<Answer> {
        let text = text.trim().trim_end_matches([';', '.', '!']).trim();
        let word = text.to_lowercase();
        Some(match form {
            Form::YesNo | Form::Works => Answer::Word(match word.as_str() {
                "yes" | "y" | "true" | "works" | "it works" => YES,
                "no" | "n" | "false" | REFUSED | "fails" | "error" => NO,
                _ => return None,
            }),
            Form::ViewCopy => Answer::Word(match word.as_str() {
                "view" | "v" | "a view" | "shares" | "shared" => VIEW,
                "copy" | "c" | "a copy" => COPY,
                _ => return None,
            }),
            Form::DType => Answer::DType(DType::from_name(unquoted(&word).trim_start_matches("torch."))?),
            Form::Names => Answer::Names(names(text)?),
            Form::SizesOrRefused if is_refusal(&word) => Answer::Word(REFUSED),
            Form::Sizes | Form::SizesOrRefused => {
                let is_whole = |number: &f64| number.fract() == 0.0 && number.abs() < 1e15;
                let items = Elements::read(text)?.items;
                items.iter().all(is_whole).then(|| Answer::Sizes(items.iter().map(|item| *item as i64).collect()))?
            }
            Form::Number => match Elements::read(without_unit(&word))?.items.as_slice() {
                [number] => Answer::Number(*number),
                _ => return None,
            },
            Form::Elements => Answer::Elements(Elements::read(text)?),
        })
    }

    /// Returns whether a typed answer is this one.
    pub(super) fn is_met_by(&self, typed: &Answer) -> bool {
        match (self, typed) {
            (Answer::Elements(own), Answer::Elements(typed)) => own.is_met_by(typed),
            _ => self == typed,
        }
    }

    /// Returns the answer as text, as PyTorch would print it.
    pub(super) fn text(&self) -> String {
        match self {
            Answer::Sizes(sizes) => match sizes.as_slice() {
                [one] => format!("({one},)"),
                sizes => format!("({})", sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
            },
            Answer::Number(number) => number.to_string(),
            Answer::Word(word) => (*word).to_owned(),
            Answer::DType(dtype) => format!("torch.{}", dtype.name()),
            Answer::Names(names) if names.is_empty() => "none".to_owned(),
            Answer::Names(names) => names.iter().cloned().collect::<Vec<_>>().join(", "),
            Answer::Elements(elements) => elements.text(),
        }
    }
}

impl Elements {
    /// Returns the numbers of a tensor, a number, or nested sequences of numbers.
    pub(super) fn of(value: &Value) -> Option<Elements> {
        if let Value::Tensor(tensor) = value {
            let view = tensor.view();
            let view = if view.dtype.is_quantized() { return None } else { view };
            let items = view.scalars().ok()?.into_iter().map(|scalar| scalar.to_f64()).collect();
            return Some(Elements { sizes: view.sizes().to_vec(), items });
        }
        if let Some(scalar) = value.as_scalar() {
            return Some(Elements { sizes: Vec::new(), items: vec![scalar.to_f64()] });
        }
        let parts: Vec<Elements> = value.sequence()?.iter().map(Elements::of).collect::<Option<_>>()?;
        Elements::joined(parts)
    }

    /// Joins parts of equal shape along a new first dimension.
    fn joined(parts: Vec<Elements>) -> Option<Elements> {
        let inner = parts.first().map(|part| part.sizes.clone()).unwrap_or_default();
        if parts.iter().any(|part| part.sizes != inner) {
            return None;
        }
        let sizes = std::iter::once(parts.len() as i64).chain(inner).collect();
        Some(Elements { sizes, items: parts.into_iter().flat_map(|part| part.items).collect() })
    }

    /// Reads numbers, with or without brackets, commas and the name of a class before them: `tensor([1, 2])`, `3 1`.
    pub(super) fn read(text: &str) -> Option<Elements> {
        const CLASSES: [&str; 8] =
            ["torch.size", "torch.tensor", "tensor", "np.array", "array", "size", "tuple", "list"];
        let mut text = text.trim().to_lowercase();
        if let Some((numbers, _)) = text.split_once(", dtype=") {
            text = format!("{numbers})");
        }
        let class = CLASSES.into_iter().find_map(|class| text.strip_prefix(class));
        // The parentheses of the call are not a dimension.
        let inner = class.and_then(|rest| rest.trim().strip_prefix('(')?.strip_suffix(')'));
        let mut tokens = Tokens { rest: inner.unwrap_or(&text) };
        let mut parts = Vec::new();
        while let Some(part) = tokens.part(0)? {
            parts.push(part);
        }
        match parts.len() {
            1 => parts.pop(),
            // Numbers without brackets.
            2.. => Elements::joined(parts),
            _ => None,
        }
    }

    /// A list without inner brackets may stand for any shape.
    pub(super) fn is_met_by(&self, typed: &Elements) -> bool {
        let same_shape = typed.sizes.len() <= 1 || typed.sizes == self.sizes;
        let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
        same_shape && self.items.len() == typed.items.len() && self.items.iter().zip(&typed.items).all(same)
    }

    fn text(&self) -> String {
        let Some((_, inner)) = self.sizes.split_first() else {
            return self.items.first().map(f64::to_string).unwrap_or_default();
        };
        let length: i64 = inner.iter().product();
        if length == 0 || self.items.is_empty() {
            return "[]".to_owned();
        }
        let parts = self.items.chunks(usize::try_from(length).unwrap_or(1).max(1));
        let text = |items: &[f64]| Elements { sizes: inner.to_vec(), items: items.to_vec() }.text();
        format!("[{}]", parts.map(text).collect::<Vec<_>>().join(", "))
    }
}

/// The text of numbers that is still unread.
struct Tokens<'t> {
    rest: &'t str,
}

/// Brackets nested deeper are no answer to any question.
const DEEPEST: usize = 16;

impl Tokens<'_> {
    /// Reads a number or a bracket with its contents; `Some(None)` at the end. `None` for anything else.
    fn part(&mut self, depth: usize) -> Option<Option<Elements>> {
        self.rest = self.rest.trim_start_matches([' ', ',', '\n', '\t']);
        let Some(first) = self.rest.chars().next() else { return Some(None) };
        if let '(' | '[' | '{' = first {
            if depth > DEEPEST {
                return None;
            }
            self.skip(first);
            let mut parts = Vec::new();
            loop {
                self.rest = self.rest.trim_start_matches([' ', ',', '\n', '\t']);
                match self.rest.chars().next()? {
                    close @ (')' | ']' | '}') => {
                        self.skip(close);
                        return Elements::joined(parts).map(Some);
                    }
                    _ => parts.push(self.part(depth + 1)??),
                }
            }
        }
        let end = self.rest.find([' ', ',', ')', ']', '}', '\n', '\t', 'x', '×']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        // Sizes may be written `2x3`.
        self.rest = rest.trim_start_matches(['x', '×']);
        let number = match word {
            "true" => 1.0,
            "false" => 0.0,
            word => word.replace('−', "-").replace('_', "").parse::<f64>().ok()?,
        };
        Some(Some(Elements { sizes: Vec::new(), items: vec![number] }))
    }

    fn skip(&mut self, sign: char) {
        self.rest = self.rest.get(sign.len_utf8()..).unwrap_or_default();
    }
}

pub(super) fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\'', '`'])
}

/// Removes `bytes` or `elements` behind a number.
fn without_unit(text: &str) -> &str {
    let units = ["bytes", "byte", "elements", "element", "storages", "storage"];
    units.into_iter().find_map(|unit| text.strip_suffix(unit)).unwrap_or(text).trim()
}

pub(super) fn is_refusal(word: &str) -> bool {
    matches!(word, REFUSED | "refuse" | "error" | "an error" | "fails" | "no" | "none" | "runtimeerror" | "indexerror")
}

fn names(text: &str) -> Option<BTreeSet<String>> {
    let text = text.trim_matches(['{', '}', '[', ']', '(', ')']);
    let words = text.split([' ', ',']).filter(|word| !word.is_empty() && !matches!(*word, "and" | "&" | "+"));
    let words: BTreeSet<String> = words.map(|word| unquoted(word).to_owned()).collect();
    if words.len() == 1 && words.iter().all(|word| matches!(word.as_str(), "none" | "None" | "nobody" | "-")) {
        return Some(BTreeSet::new());
    }
    let is_name = |word: &String| word.chars().all(|c| c.is_alphanumeric() || c == '_');
    (!words.is_empty() && words.iter().all(is_name)).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_right(form: Form, answer: &Answer, typed: &str) -> Option<bool> {
        Answer::read(form, typed).map(|typed| answer.is_met_by(&typed))
    }

    #[test]
    fn spelling_does_not_count() {
        let sizes = Answer::Sizes(vec![3, 1]);
        for typed in
            ["(3,1)", "(3, 1)", "[3, 1]", "3 1", "3, 1", "torch.Size([3, 1])", "3x1", " (3, 1,) ", "Size(3 1)", "3×1."]
        {
            assert_eq!(is_right(Form::Sizes, &sizes, typed), Some(true), "{typed}");
        }
        for typed in ["(1, 3)", "3", "[3, 1, 1]", "31"] {
            assert_eq!(is_right(Form::Sizes, &sizes, typed), Some(false), "{typed}");
        }
        for typed in ["", "abc", "(3, y)", "((3, 1)", "3.5 1", "refused", "[[[[[[[[[[[[[[[[[[[[[["] {
            assert_eq!(is_right(Form::Sizes, &sizes, typed), None, "{typed}");
        }
        assert_eq!(is_right(Form::Sizes, &Answer::Sizes(Vec::new()), "()"), Some(true));
        assert_eq!(is_right(Form::Sizes, &Answer::Sizes(vec![-1]), "(-1,)"), Some(true));
    }

    #[test]
    fn every_form_is_read() {
        let names = |names: &[&str]| Answer::Names(names.iter().map(|name| (*name).to_owned()).collect());
        let matrix = Elements { sizes: vec![2, 2], items: vec![1.0, 2.0, 3.0, 4.0] };
        let rows = [
            (Form::YesNo, Answer::Word(YES), "True", Some(true)),
            (Form::YesNo, Answer::Word(YES), "n", Some(false)),
            (Form::YesNo, Answer::Word(YES), "perhaps", None),
            (Form::ViewCopy, Answer::Word(COPY), "a copy", Some(true)),
            (Form::ViewCopy, Answer::Word(COPY), "View", Some(false)),
            (Form::DType, Answer::DType(DType::Float), "torch.float", Some(true)),
            (Form::DType, Answer::DType(DType::Float), "float32", Some(true)),
            (Form::DType, Answer::DType(DType::Float), "torch.float64", Some(false)),
            (Form::DType, Answer::DType(DType::Float), "number", None),
            (Form::Number, Answer::Number(24.0), "24 bytes", Some(true)),
            (Form::Number, Answer::Number(24.0), "(24)", Some(true)),
            (Form::Number, Answer::Number(24.0), "24 1", None),
            (Form::Names, names(&["x", "a"]), "a and x", Some(true)),
            (Form::Names, names(&["x", "a"]), "{'x', 'a'}", Some(true)),
            (Form::Names, names(&["x", "a"]), "x", Some(false)),
            (Form::Names, names(&[]), "none", Some(true)),
            (Form::Names, names(&[]), "?", None),
            (Form::SizesOrRefused, Answer::Word(REFUSED), "error", Some(true)),
            (Form::SizesOrRefused, Answer::Word(REFUSED), "2 3", Some(false)),
            (Form::SizesOrRefused, Answer::Sizes(vec![2]), "refused", Some(false)),
            (Form::Elements, Answer::Elements(matrix.clone()), "tensor([[1, 2], [3, 4]])", Some(true)),
            (Form::Elements, Answer::Elements(matrix.clone()), "tensor([[1., 2.],\n        [3., 4.]])", Some(true)),
            (Form::Elements, Answer::Elements(matrix.clone()), "1 2 3 4", Some(true)),
            (Form::Elements, Answer::Elements(matrix.clone()), "[[1, 2, 3, 4]]", Some(false)),
            (Form::Elements, Answer::Elements(matrix.clone()), "[[1, 2], [3]]", None),
            (
                Form::Elements,
                Answer::Elements(Elements { sizes: vec![1], items: vec![1.0] }),
                "tensor([True], dtype=torch.bool)",
                Some(true),
            ),
        ];
        for (form, answer, typed, wanted) in rows {
            assert_eq!(is_right(form, &answer, typed), wanted, "{typed}");
        }
        assert_eq!(Answer::Elements(matrix).text(), "[[1, 2], [3, 4]]");
    }
}

//! Judges the output of an example: whether it is what the page shows, and if not, whether it could be here.

use std::collections::BTreeMap;

use super::compare::{form_of, matches, may_vary};
use super::example::TRACEBACK;
use super::example::{Example, Manner, Origin};
use super::names::{bound, code_words, words};
use super::replay::Answer;
use super::verdict::{Kind, Verdict};
use crate::without_magics;

/// Judges the examples of one session, in order.
#[derive(Default)]
pub(super) struct Judge {
    /// The names that were not bound because an example failed, with its index and its kind.
    lost: BTreeMap<String, (usize, Option<Kind>)>,
}

impl Judge {
    /// Returns the verdict on an example. Random outputs count as wrong here: finding them takes a second run.
    /// `index` is the place of the example in the session.
    pub(super) fn verdict(&mut self, index: usize, example: &Example, answer: Answer) -> Verdict {
        let is_compared = !example.options.ignore_output && !may_vary(&example.expected);
        let is_right = match is_compared {
            false => answer.error.is_none(),
            true => matches(&example.expected, &answer.text, &example.options),
        };
        if is_right {
            if answer.error.is_none() {
                for name in bound(example.language, &example.source) {
                    self.lost.remove(name);
                }
            }
            return if is_compared { Verdict::Passed } else { Verdict::Ran };
        }
        let cause = code_words(&example.source).into_iter().find_map(|word| self.lost.get(word).copied());
        let kind = match cause {
            Some((_, kind)) => kind,
            None => kind_of(example, &answer),
        };
        if answer.error.is_some() && !example.expected.contains(TRACEBACK) {
            let root = cause.unwrap_or((index, kind));
            let lost = bound(example.language, &example.source).into_iter().map(|name| (name.to_owned(), root));
            self.lost.extend(lost);
        }
        match (cause, kind) {
            (Some((root, kind)), _) => Verdict::Follows { root, kind, printed: answer.text },
            (None, Some(kind)) => Verdict::Apart(kind, answer.text),
            (None, None) => match passed_over(example) {
                Some(line) if line.contains("time") => Verdict::Apart(Kind::Time, answer.text),
                Some(line) => Verdict::Apart(Kind::Missing, format!("{}passed over: {line}\n", answer.text)),
                None => Verdict::Differs(answer.text),
            },
        }
    }
}

/// Returns the first line of a cell that only IPython reads.
fn passed_over(example: &Example) -> Option<String> {
    let (_, magics) = (example.manner == Manner::Cell).then(|| without_magics(&example.source))?;
    magics.into_iter().next().map(|(_, line)| line)
}

/// Returns why an output differs, if it cannot be the recorded one here.
fn kind_of(example: &Example, answer: &Answer) -> Option<Kind> {
    let expected = example.expected.as_str();
    if needs_device(&example.source) || needs_device(expected) {
        return Some(Kind::Device);
    }
    if let Some((class, message)) = &answer.error {
        let is_missing = is_missing(class, message) && !expected.contains(class.as_str());
        // A module may need much that a page does not.
        let is_module = matches!(example.origin, Origin::Module(_));
        return (is_missing || is_module).then_some(Kind::Missing);
    }
    let printed = answer.text.trim_end_matches('\n');
    if without_addresses(expected) == without_addresses(printed) {
        return Some(Kind::Address);
    }
    if form_of(expected) != form_of(printed) {
        return None;
    }
    let mentions = |names: &[&str]| words(&example.source).any(|word| names.contains(&word));
    if mentions(&["data_ptr", "id", "hash", "__array_interface__", "_cdata"]) {
        Some(Kind::Address)
    } else if mentions(&["time", "perf_counter", "datetime", "timeit", "Timer"]) {
        Some(Kind::Time)
    } else {
        None
    }
}

/// Returns whether a text names an accelerator.
fn needs_device(text: &str) -> bool {
    words(text).any(|word| matches!(word, "cuda" | "mps" | "xpu" | "hpu" | "cudnn"))
}

/// Returns whether an error says that tensorsh lacks something. Names that PyTorch lacks as well cannot be told apart.
fn is_missing(class: &str, message: &str) -> bool {
    match class {
        "ModuleNotFoundError" | "ImportError" => true,
        "NotImplementedError" => message.contains("not supported at this prompt") || message.contains("tensorsh"),
        "AttributeError" => {
            message.starts_with("module '")
                || ["'Tensor' object has no", "type object 'Tensor'", "'numpy.ndarray' object has no"]
                    .iter()
                    .any(|head| message.starts_with(head))
        }
        _ => message.contains("tensorsh"),
    }
}

/// Replaces addresses: `0x7f3a…`.
fn without_addresses(text: &str) -> String {
    let mut new = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("0x") {
        let digits = after.bytes().take_while(u8::is_ascii_hexdigit).count();
        new.push_str(before);
        // Short numbers are values.
        new.push_str(if digits > 5 { "0x…" } else { "0x" });
        rest = if digits > 5 { after.get(digits..).unwrap_or_default() } else { after };
    }
    new.push_str(rest);
    new
}

/// Returns whether an output that differs from the recorded one depends on the seed, given what the same example prints
/// with another seed. A wrong form counts as wrong, unless the seed changes the form too.
pub(super) fn depends_on_seed(expected: &str, printed: &str, reseeded: &str) -> bool {
    let is_error = printed.contains(TRACEBACK) || expected.contains(TRACEBACK);
    let form = form_of(printed);
    printed != reseeded && !is_error && (form == form_of(expected) || form != form_of(reseeded))
}

#[cfg(test)]
mod tests {
    use super::super::example::Document;
    use super::super::parse::Form;
    use super::*;

    fn judged(text: &str, answers: &[(&str, Option<(&str, &str)>)]) -> Vec<Verdict> {
        let document = Document::parse(text, Form::Text);
        let mut judge = Judge::default();
        let examples = document.cases[0].examples.iter().zip(answers);
        examples
            .enumerate()
            .map(|(index, (example, (text, error)))| {
                let error = error.map(|(class, message)| (class.to_owned(), message.to_owned()));
                judge.verdict(index, example, Answer { text: (*text).to_owned(), error, ..Answer::default() })
            })
            .collect()
    }

    #[test]
    fn what_hangs_on_a_missing_name_is_told() {
        let missing = Some(("ModuleNotFoundError", "No module named 'm'"));
        let unknown = Some(("NameError", "name 'm' is not defined"));
        let text = ">>> import m\n>>> y = m.f()\n>>> y\n3\n>>> 1\n2\n>>> y = 4\n>>> y\n5\n";
        let answers = [("E", missing), ("E", unknown), ("E", unknown), ("1\n", None), ("", None), ("4\n", None)];
        let follows =
            |printed: &str| Verdict::Follows { root: 0, kind: Some(Kind::Missing), printed: printed.to_owned() };
        let wanted = [
            Verdict::Apart(Kind::Missing, "E".to_owned()),
            follows("E"),
            follows("E"),
            Verdict::Differs("1\n".to_owned()),
            Verdict::Passed,
            Verdict::Differs("4\n".to_owned()),
        ];
        assert_eq!(judged(text, &answers), wanted);
    }

    #[test]
    fn what_cannot_agree_has_a_kind() {
        let rows = [
            (">>> x\n<A at 0x7f3a12345678>", "<A at 0x55aa12345678>\n", None, Some(Kind::Address)),
            (">>> x\n0x1f", "0x2f\n", None, None),
            (">>> x.data_ptr()\n1234", "99\n", None, Some(Kind::Address)),
            (">>> time.time()\n1.5", "2.5\n", None, Some(Kind::Time)),
            (">>> x.cuda()\ntensor([1.], device='cuda:0')", "E", Some(("AssertionError", "")), Some(Kind::Device)),
            (
                ">>> torch.nope\n1",
                "E",
                Some(("AttributeError", "module 'torch' has no attribute 'nope'")),
                Some(Kind::Missing),
            ),
            (">>> x.nope\n1", "E", Some(("AttributeError", "'list' object has no attribute 'nope'")), None),
            (">>> x\n1.5", "2.5\n", None, None),
            (">>> x\n1.5 # may vary", "2.5\n", None, None),
        ];
        for (text, printed, error, wanted) in rows {
            let found = match &judged(text, &[(printed, error)])[0] {
                Verdict::Apart(kind, _) => Some(*kind),
                _ => None,
            };
            assert_eq!(found, wanted, "{text}");
        }
    }

    #[test]
    fn values_of_an_unseeded_generator() {
        let rows = [
            ("tensor([0.1])", "tensor([0.4])", "tensor([0.7])", true),
            ("tensor([0.1])", "tensor([0.4])", "tensor([0.4])", false),
            ("tensor([0.1])", "tensor([0.4, 0.5])", "tensor([0.7, 0.8])", false),
            ("tensor([0.1])", "tensor([0.4, 0.5])", "tensor([0.7])", true),
        ];
        for (expected, printed, reseeded, wanted) in rows {
            assert_eq!(depends_on_seed(expected, printed, reseeded), wanted, "{expected} {printed}");
        }
    }
}

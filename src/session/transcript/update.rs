//! Rewrites recorded outputs in place, without changing any other byte.

use std::path::Path;

use similar::TextDiff;
use tensor::system::{Files, System};

use super::example::{Case, Document, Example, Reading, Written};
use super::notebook;
use super::parse::Form;
use super::verdict::{FileReport, Verdict};

/// A new output of an example.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewOutput<'a> {
    pub(super) text: &'a str,
    /// The byte at which the value begins.
    pub(super) value: Option<usize>,
}

/// The result of an update.
struct Rewritten {
    text: String,
    /// The updated examples, each by the index of its session and its own.
    accepted: Vec<(usize, usize)>,
}

impl FileReport {
    /// Writes differing outputs into the file if `accepts` agrees, and marks them as updated.
    pub fn update(&mut self, mut accepts: impl FnMut(&Case, &Example, &str) -> bool) {
        match self.rewritten(&mut accepts) {
            Ok(Some(new)) => match self.write(&new.text) {
                Ok(()) => self.mark(&new.accepted),
                Err(reason) => self.not_updated = Some(reason),
            },
            Ok(None) => {}
            Err(reason) => self.not_updated = Some(reason),
        }
    }

    /// Returns the changes that an update would make, as a patch; `None` if nothing differs.
    ///
    /// # Errors
    /// Fails with a sentence if the file cannot be read, or an output cannot be written into it.
    pub fn patch(&self) -> Result<Option<String>, String> {
        let Some(new) = self.rewritten(&mut |_, _, _| true)? else { return Ok(None) };
        let (old, name) = (self.target.read()?.0, self.target.name());
        let diff = TextDiff::from_lines(&old, &new.text);
        Ok(Some(diff.unified_diff().header(&format!("a/{name}"), &format!("b/{name}")).to_string()))
    }

    fn write(&self, text: &str) -> Result<(), String> {
        let path = self.target.path().ok_or("not updated: standard input is not a file")?;
        write_whole(path, text).map_err(|reason| format!("not updated: {reason}"))
    }

    fn mark(&mut self, accepted: &[(usize, usize)]) {
        let Ok(cases) = &mut self.cases else { return };
        for (at, index) in accepted {
            if let Some(verdict) = cases.get_mut(*at).and_then(|case| case.verdicts.get_mut(*index)) {
                *verdict = Verdict::Updated;
            }
        }
    }

    /// Returns the new text; `None` if nothing differs.
    fn rewritten(&self, accepts: &mut dyn FnMut(&Case, &Example, &str) -> bool) -> Result<Option<Rewritten>, String> {
        let Ok(cases) = &self.cases else { return Ok(None) };
        let mut answers: Vec<(&Example, Option<NewOutput<'_>>)> = Vec::new();
        let mut accepted = Vec::new();
        for (at, report) in cases.iter().enumerate() {
            for (index, (example, verdict)) in report.case.examples.iter().zip(&report.verdicts).enumerate() {
                let new = match verdict {
                    Verdict::Differs(printed) if accepts(&report.case, example, printed) => {
                        accepted.push((at, index));
                        Some(NewOutput { text: printed, value: report.values.get(&index).copied() })
                    }
                    _ => None,
                };
                answers.push((example, new));
            }
        }
        if accepted.is_empty() {
            return Ok(None);
        }
        let (text, form) = self.target.read()?;
        Ok(Some(Rewritten { text: rewrite(&text, form, answers)?, accepted }))
    }
}

/// Replaces a file when its new text is complete, so that an interruption leaves the old one.
///
/// # Errors
/// Fails with a line that names the path and the system's message.
pub fn write_whole(path: &Path, text: &str) -> Result<(), String> {
    use std::io::Write;
    let refused = |error| super::files::describe(path, &error);
    System::rewrite(path, 0o644, refused, |file| file.write_all(text.as_bytes()).map_err(refused))
}

/// Returns `text` with the recorded outputs replaced by new ones. An example without a new one keeps its output.
///
/// # Errors
/// Fails if the new text would not read back as the same inputs with the new outputs, because a line of an output looks
/// like a prompt or closes the block, or because the page has no place for an output.
pub(super) fn rewrite(
    text: &str,
    form: Form,
    mut answers: Vec<(&Example, Option<NewOutput<'_>>)>,
) -> Result<String, String> {
    // All cells of a notebook may be on one line.
    let place = |example: &Example| (example.line, example.output.start);
    let mut disagreement: Option<usize> = None;
    // Set-ups are shared by sessions, and sessions may be interleaved.
    answers.retain(|(example, _)| example.origin.is_page());
    answers.sort_by_key(|(example, _)| place(example));
    answers.dedup_by(|(left, one), (right, other)| {
        let is_same = place(left) == place(right) && left.source == right.source;
        // Updating for one session would make the other fail.
        disagreement = disagreement
            .or_else(|| (is_same && one.map(|new| new.text) != other.map(|new| new.text)).then_some(left.line));
        is_same
    });
    if let Some(line) = disagreement {
        return Err(format!("not updated: line {line} runs in several sessions, and prints different outputs"));
    }
    let mut new = String::with_capacity(text.len());
    let mut done = 0;
    for (example, answer) in &answers {
        let Some(answer) = answer else { continue };
        new.push_str(text.get(done..example.output.start).ok_or(CHANGED)?);
        done = example.output.end;
        let old = text.get(example.output.clone()).ok_or(CHANGED)?;
        push_output(&mut new, example, *answer, text, old)?;
    }
    new.push_str(text.get(done..).unwrap_or_default());

    let document = Document::read(&new, form, &Reading::default())?;
    let mut read_back: Vec<&Example> = document.cases.iter().flat_map(|case| &case.examples).collect();
    read_back.sort_by_key(|example| place(example));
    read_back.dedup_by(|left, right| place(left) == place(right) && left.source == right.source);
    let mut read_back = read_back.into_iter();
    for (example, answer) in answers {
        let wanted = answer.map(|answer| answer.text.trim_end_matches('\n'));
        let same = read_back.next().is_some_and(|read| {
            let output = wanted.unwrap_or(&example.expected);
            // The last input of a file may have ended without a newline before an output followed it.
            read.source.trim_end() == example.source.trim_end()
                && (read.expected == output || written_shorter(&read.expected, output, example))
        });
        if !same {
            return Err("not updated: a line of the output looks like a prompt or as the end of its block".to_owned());
        }
    }
    if read_back.next().is_some() {
        return Err("not updated: a line of the output looks like a prompt".to_owned());
    }
    Ok(new)
}

const CHANGED: &str = "not updated: the file has changed meanwhile";

/// Returns whether an output reads back as a form writes it: without a traceback's frames in a comment, and without
/// warnings in a notebook.
fn written_shorter(read: &str, output: &str, example: &Example) -> bool {
    match &example.written {
        Written::Comment { .. } => commented(output) == read,
        Written::Outputs { .. } => read.ends_with(output),
        _ => false,
    }
}

/// Returns an output as a comment tells it: of an error, only the last line.
fn commented(output: &str) -> &str {
    let output = output.trim_end_matches('\n');
    match output.starts_with(super::example::TRACEBACK) {
        true => output.rsplit('\n').next().unwrap_or(output),
        false => output,
    }
}

fn push_output(
    new: &mut String,
    example: &Example,
    answer: NewOutput<'_>,
    text: &str,
    old: &str,
) -> Result<(), String> {
    let output = answer.text.trim_end_matches('\n');
    match &example.written {
        Written::Lines { indent, line_end, encoding, numbered } => {
            if output.is_empty() {
                return Ok(());
            }
            // The last line of a file or of a docstring may end without a line end.
            let ends_bare = if old.is_empty() { !new.ends_with('\n') } else { !old.ends_with('\n') };
            if old.is_empty() && ends_bare {
                new.push_str(line_end);
            }
            for (index, line) in output.split('\n').enumerate() {
                let number = numbered.as_ref().filter(|(at, _)| *at == index).map_or("", |(_, number)| number);
                if !line.is_empty() || !number.is_empty() {
                    new.push_str(indent);
                }
                new.push_str(number);
                new.push_str(&encoding.encode(line));
                new.push_str(line_end);
            }
            if ends_bare {
                new.truncate(new.len() - line_end.len());
            }
        }
        Written::Comment { next, .. } => {
            let lines: Vec<&str> = commented(output).split('\n').collect();
            if output.is_empty() {
                return Err("not updated: nothing was printed, and a comment cannot say so".to_owned());
            }
            for (index, line) in lines.into_iter().enumerate() {
                if index > 0 {
                    new.push_str(if line.is_empty() { next.trim_end_matches(' ') } else { next });
                }
                new.push_str(line);
            }
        }
        Written::Outputs { execution_count } => {
            new.push_str(&notebook::outputs(text, &example.output, answer.text, answer.value, execution_count));
        }
        Written::Nowhere => {
            return Err(format!("not updated: the page has no place for the output of line {}", example.line));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str, form: Form, answers: &[Option<&str>]) -> Result<String, String> {
        let document = Document::parse(text, form);
        let examples: Vec<_> = document.cases.iter().flat_map(|case| &case.examples).collect();
        assert_eq!(examples.len(), answers.len(), "{text:?}");
        let answers: Vec<_> = answers.iter().map(|answer| answer.map(|text| NewOutput { text, value: None })).collect();
        rewrite(text, form, examples.into_iter().zip(answers).collect())
    }

    fn check(text: &str, form: Form, answers: &[Option<&str>], wanted: &str) {
        assert_eq!(rewritten(text, form, answers).as_deref(), Ok(wanted), "{text:?}");
    }

    #[test]
    fn only_outputs_change() {
        check(">>> x\n1\n", Form::Text, &[Some("2\n")], ">>> x\n2\n");
        check(">>> x\n1\n", Form::Text, &[None], ">>> x\n1\n");
        check("p\n>>> x\n\n\n>>> y\n1\n\n", Form::Text, &[Some("2\n3\n"), Some("")], "p\n>>> x\n2\n3\n\n\n>>> y\n\n");
        check(
            ">>> x\r\n1\r\n\r\n>>> y\r\n",
            Form::Text,
            &[Some("2\n\n3\n"), Some("4\n")],
            ">>> x\r\n2\r\n\r\n3\r\n\r\n>>> y\r\n4\r\n",
        );
        check(">>> x", Form::Text, &[Some("1\n")], ">>> x\n1");
        check(">>> x\n1", Form::Text, &[Some("2\n3\n")], ">>> x\n2\n3");
        check(
            "# T\n- item\n\n  ```pycon\n  >>> x\n  1\n  ```\n\n```sh\n$ x\n```\n",
            Form::Markdown,
            &[Some("a\n\n b\n")],
            "# T\n- item\n\n  ```pycon\n  >>> x\n  a\n\n   b\n  ```\n\n```sh\n$ x\n```\n",
        );
    }

    #[test]
    fn every_form_is_written_in_its_own_way() {
        check(
            "In [1]: x\nOut[1]: 1\n\nIn [2]: y\n",
            Form::Text,
            &[Some("2\n"), None],
            "In [1]: x\nOut[1]: 2\n\nIn [2]: y\n",
        );
        check("> ```\n> >>> x\n> 1\n> ```\n", Form::Markdown, &[Some("2\n3\n")], "> ```\n> >>> x\n> 2\n> 3\n> ```\n");
        check(
            "```python\nx  # 1\nprint(y)\n# tensor([1])\n# a remark\n```\n",
            Form::Markdown,
            &[Some("2\n"), Some("tensor([1,\n        2])\n")],
            "```python\nx  # 2\nprint(y)\n# tensor([1,\n#         2])\n# a remark\n```\n",
        );
        check(
            "```python\nx.f()  # ValueError: a\n```\n",
            Form::Markdown,
            &[Some("Traceback (most recent call last):\n  ...\nTypeError: b\n")],
            "```python\nx.f()  # TypeError: b\n```\n",
        );
        check(
            "T\n=\n\n.. testcode::\n\n   print(1)\n\n.. testoutput::\n   :hide:\n\n   2\n\nEnd.\n",
            Form::Rst,
            &[Some("1\n")],
            "T\n=\n\n.. testcode::\n\n   print(1)\n\n.. testoutput::\n   :hide:\n\n   1\n\nEnd.\n",
        );
        // An example of two groups runs in two sessions, and is written once.
        check(
            ".. testcode:: a, b\n\n   print(1)\n\n.. testoutput:: a, b\n\n   2\n",
            Form::Rst,
            &[Some("1\n"), Some("1\n")],
            ".. testcode:: a, b\n\n   print(1)\n\n.. testoutput:: a, b\n\n   1\n",
        );
        check("def f():\n    \"\"\"\n    >>> x\n    1\"\"\"\n", Form::Docstrings, &[Some("b'\\x00'\n")], {
            "def f():\n    \"\"\"\n    >>> x\n    b'\\\\x00'\"\"\"\n"
        });
        check(
            "# T\n<pre><code>\n&gt;&gt;&gt; x &lt; 1\n1</code></pre>\n",
            Form::Markdown,
            &[Some("<a>\n")],
            "# T\n<pre><code>\n&gt;&gt;&gt; x &lt; 1\n&lt;a&gt;</code></pre>\n",
        );
        check(
            "<pre>&gt;&gt;&gt; x\n1\n&gt;&gt;&gt; y\n2</pre>\n",
            Form::Html,
            &[Some("<a>\n"), Some("3\n")],
            "<pre>&gt;&gt;&gt; x\n&lt;a&gt;\n&gt;&gt;&gt; y\n3</pre>\n",
        );
    }

    #[test]
    fn the_outputs_of_a_cell() {
        let text = r#"{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": 3,
   "metadata": {},
   "outputs": [
    {
     "data": {
      "text/plain": [
       "1"
      ]
     },
     "execution_count": 3,
     "metadata": {},
     "output_type": "execute_result"
    }
   ],
   "source": [
    "x"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
"#;
        let document = Document::parse(text, Form::Notebook);
        let example = &document.cases[0].examples[0];
        assert_eq!((example.line, example.expected.as_str(), example.heading.as_str()), (19, "1", "cell 1"));
        let new = NewOutput { text: "a\ntensor([1,\n        2])\n", value: Some(2) };
        let found = rewrite(text, Form::Notebook, vec![(example, Some(new))]).unwrap();
        let outputs = r#"[
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "a\n"
     ]
    },
    {
     "data": {
      "text/plain": [
       "tensor([1,\n",
       "        2])"
      ]
     },
     "execution_count": 3,
     "metadata": {},
     "output_type": "execute_result"
    }
   ]"#;
        let old = &text[example.output.clone()];
        assert_eq!(found, text.replace(old, outputs));
    }

    #[test]
    fn a_notebook_on_one_line() {
        let cell = |source: &str, output: &str| {
            let text = format!(
                r#"{{"data":{{"text/plain":["{output}"]}},"execution_count":1,"metadata":{{}},"output_type":"execute_result"}}"#
            );
            format!(
                r#"{{"cell_type":"code","execution_count":1,"metadata":{{}},"outputs":[{text}],"source":["{source}"]}}"#
            )
        };
        let page = |outputs: [&str; 3]| {
            let cells = ["x", "y", "z"].iter().zip(outputs).map(|(source, output)| cell(source, output));
            format!(r#"{{"cells":[{}],"metadata":{{}},"nbformat":4}}"#, cells.collect::<Vec<_>>().join(","))
        };
        let old = page(["1", "2", "3"]);
        let document = Document::parse(&old, Form::Notebook);
        let answers = document.cases[0].examples.iter().zip([None, Some("5\n"), Some("6\n")]);
        let answers = answers.map(|(example, new)| (example, new.map(|text| NewOutput { text, value: Some(0) })));
        assert_eq!(rewrite(&old, Form::Notebook, answers.collect()), Ok(page(["1", "5", "6"])));
    }

    #[test]
    fn sessions_that_disagree_are_not_written() {
        let text = ".. testcode:: a, b\n\n   print(1)\n\n.. testoutput:: a, b\n\n   2\n";
        for answers in [[Some("1\n"), Some("3\n")], [Some("1\n"), None], [None, Some("3\n")]] {
            assert!(rewritten(text, Form::Rst, &answers).is_err(), "{answers:?}");
        }
    }

    #[test]
    fn an_output_that_would_not_read_back_is_refused() {
        for (text, form, answer) in [
            (">>> x\n", Form::Text, ">>> y\n"),
            (">>> x\n", Form::Text, "... y\n"),
            ("```pycon\n>>> x\n```\n", Form::Markdown, "```\n"),
            ("def f():\n    r'''\n    >>> x\n    1\n    '''\n", Form::Docstrings, "'''\n"),
            (".. testcode::\n\n   print(1)\n", Form::Rst, "1\n"),
        ] {
            assert!(rewritten(text, form, &[Some(answer)]).is_err(), "{text:?}");
        }
    }
}

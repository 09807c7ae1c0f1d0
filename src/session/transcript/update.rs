//! Rewrites recorded outputs in place, without changing any other byte.

use super::parse::{Document, Example, Form};

/// Returns `text` with the recorded outputs replaced by `answers`. An example without an answer keeps its output. The
/// examples are those of [`Document::parse`], in file order.
///
/// # Errors
/// Fails if the new text would not read back as the same inputs with the new outputs, because a line of an output looks
/// like a prompt or closes the fence.
pub fn rewrite(text: &str, form: Form, answers: &[(&Example, Option<&str>)]) -> Result<String, String> {
    let mut new = String::with_capacity(text.len());
    let mut done = 0;
    let mut wanted = Vec::with_capacity(answers.len());
    for (example, answer) in answers {
        let Some(answer) = answer.map(|answer| answer.trim_end_matches('\n')) else {
            wanted.push((example.input.as_str(), example.expected.as_str()));
            continue;
        };
        wanted.push((example.input.as_str(), answer));
        new.push_str(text.get(done..example.output.start).unwrap_or_default());
        done = example.output.end;
        let old = text.get(example.output.clone()).unwrap_or_default();
        push_output(&mut new, example, answer, old, done == text.len());
    }
    new.push_str(text.get(done..).unwrap_or_default());

    let document = Document::parse(&new, form);
    let mut read_back = document.cases.iter().flat_map(|case| &case.examples);
    for (input, output) in wanted {
        match read_back.next() {
            // The last input of a file may have ended without a newline before an output followed it.
            Some(example) if example.input.trim_end() == input.trim_end() && example.expected == output => {}
            _ => {
                return Err(
                    "not updated: a line of the output looks like a prompt or as the end of its block".to_owned()
                );
            }
        }
    }
    if read_back.next().is_some() {
        return Err("not updated: a line of the output looks like a prompt".to_owned());
    }
    Ok(new)
}

fn push_output(new: &mut String, example: &Example, answer: &str, old: &str, at_end: bool) {
    if answer.is_empty() {
        return;
    }
    let file_ends_bare = at_end && !old.ends_with('\n') && !(old.is_empty() && new.ends_with('\n'));
    if old.is_empty() && !new.ends_with('\n') {
        new.push_str(example.line_end);
    }
    for line in answer.split('\n') {
        if !line.is_empty() {
            new.push_str(&example.indent);
        }
        new.push_str(line);
        new.push_str(example.line_end);
    }
    if file_ends_bare {
        new.truncate(new.len() - example.line_end.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, form: Form, answers: &[Option<&str>], wanted: &str) {
        let document = Document::parse(text, form);
        let examples: Vec<_> =
            document.cases.iter().flat_map(|case| &case.examples).zip(answers.iter().copied()).collect();
        assert_eq!(examples.len(), answers.len(), "{text:?}");
        assert_eq!(rewrite(text, form, &examples).as_deref(), Ok(wanted), "{text:?}");
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
    fn an_output_that_would_not_read_back_is_refused() {
        for (text, form, answer) in [
            (">>> x\n", Form::Text, ">>> y\n"),
            (">>> x\n", Form::Text, "... y\n"),
            ("```pycon\n>>> x\n```\n", Form::Markdown, "```\n"),
        ] {
            let document = Document::parse(text, form);
            let example = &document.cases[0].examples[0];
            assert!(rewrite(text, form, &[(example, Some(answer))]).is_err(), "{text:?}");
        }
    }
}

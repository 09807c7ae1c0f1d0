//! Prompts at the start of a line, and the numbers of IPython: `In [1]: ` before an input, `Out[1]: ` before its value.

use super::example::prompt_of;

/// Returns whether a line starts with a prompt, of this shell or of IPython.
pub(super) fn has_prompt(line: &str) -> bool {
    prompt_of(line).is_some() || in_number_of(line).is_some()
}

/// Returns the input after IPython's number: `In [3]: x`, `In [*]: x`, `In [ ]:`.
pub(crate) fn in_number_of(line: &str) -> Option<&str> {
    after_number(line, "In")
}

/// Returns the value after IPython's number: `Out[3]: x`.
pub(crate) fn out_number_of(line: &str) -> Option<&str> {
    after_number(line, "Out")
}

fn after_number<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(word)?;
    let (number, rest) = rest.strip_prefix(' ').unwrap_or(rest).strip_prefix('[')?.split_once("]:")?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'*' || byte == b' ');
    is_number.then(|| rest.strip_prefix([' ', '\t']).unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_ipython() {
        let rows = [
            ("In [3]: x", Some("x"), None),
            ("In[3]:x", Some("x"), None),
            ("In [*]: x", Some("x"), None),
            ("In [ ]:", Some(""), None),
            ("Out[12]: tensor(1)", None, Some("tensor(1)")),
            ("In [a]: x", None, None),
            ("Inside [3]: x", None, None),
            ("In 3]: x", None, None),
        ];
        for (line, input, output) in rows {
            assert_eq!((in_number_of(line), out_number_of(line)), (input, output), "{line}");
        }
    }
}

//! Compares printed with recorded output. Pure functions on text.

use std::ops::Range;

use super::example::TRACEBACK;
use super::options::Options;

/// Compares a recorded output with a printed one. Trailing newlines do not count. A traceback is compared by the output
/// before it and the line with the error; the frames and further lines of the message are ignored, as in doctest.
/// `<BLANKLINE>` means a blank line, as in doctest.
pub fn matches(expected: &str, printed: &str, options: &Options) -> bool {
    if options.comment {
        return matches_comment(expected, printed, options);
    }
    let printed = ComparedOutput::of(printed);
    let mut recorded = expected.trim_end_matches('\n');
    if options.page {
        recorded = without_prose(recorded);
    }
    loop {
        let essence = ComparedOutput::of(recorded);
        if essence.fits(&printed, options) || options.page && essence.fits_on_page(&printed, options) {
            return true;
        }
        if without_remarks(recorded).is_some_and(|bare| ComparedOutput::of(&bare).fits(&printed, options)) {
            return true;
        }
        // Pages put remarks between a result and the next input.
        match recorded.rsplit_once('\n').unwrap_or(("", recorded)) {
            (before, remark) if remark.starts_with('#') => recorded = before.trim_end_matches('\n'),
            _ => return false,
        }
    }
}

/// Compares an output recorded in a comment. A remark may follow a value on its line, and an error may be named by its
/// last line or its class alone.
fn matches_comment(expected: &str, printed: &str, options: &Options) -> bool {
    let options = Options { comment: false, page: false, ..options.clone() };
    if matches(expected, printed, &options) {
        return true;
    }
    let output = ComparedOutput::of(printed);
    if let Some(error) = output.error {
        let named = expected.strip_prefix("raises ").unwrap_or(expected).trim();
        let class = error.split(':').next().unwrap_or(error);
        // A class may be named with its module.
        let is_class = !named.contains([':', ' ']) && named.rsplit('.').next() == class.rsplit('.').next();
        return output.text.is_empty() && (is_class || same(without_place(named), error, &options));
    }
    let printed = printed.trim_end_matches('\n');
    let remark = expected.strip_prefix(printed).filter(|_| !printed.is_empty() && !printed.contains('\n'));
    remark.is_some_and(|remark| remark.trim_start_matches([',', ';', '.', ':']).starts_with(' '))
}

/// Removes the remark at the end of each line of an output: `[1, 2]  # a remark`. Returns `None` if no line has one.
fn without_remarks(recorded: &str) -> Option<String> {
    if !recorded.contains(" # ") {
        return None;
    }
    let value = |line: &'_ str| line.split_once(" # ").map(|(value, _)| value.trim_end().len()).filter(|end| *end > 0);
    let lines = recorded.split('\n').map(|line| line.get(..value(line).unwrap_or(line.len())).unwrap_or(line));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// Returns whether a page says that an output is not always the same, as NumPy's pages do.
pub(super) fn may_vary(recorded: &str) -> bool {
    recorded.lines().any(|line| {
        let remark = line.rsplit_once('#').map_or("", |(_, remark)| remark.trim());
        ["may vary", "random", "will vary"].iter().any(|word| remark.starts_with(word))
    })
}

/// The compared part of an output.
struct ComparedOutput<'a> {
    text: String,
    error: Option<&'a str>,
}

impl ComparedOutput<'_> {
    /// Returns whether the recorded output (`self`) matches the printed one.
    fn fits(&self, printed: &ComparedOutput<'_>, options: &Options) -> bool {
        let same = |recorded: &str, printed: &str| same(&recorded.replace(BLANK, ""), printed, options);
        same(&self.text, &printed.text)
            && match (self.error, printed.error) {
                (Some(recorded), Some(printed)) if options.ignore_exception_detail => {
                    let class =
                        |line: &str| line.split(':').next().unwrap_or(line).rsplit('.').next().map(str::to_owned);
                    class(recorded) == class(printed)
                }
                (Some(recorded), Some(printed)) => same(recorded, printed),
                (None, None) => true,
                _ => false,
            }
    }

    /// Like `fits`, for an output recorded on a page. Pages may omit outputs, but not errors, and show only the last
    /// line of an error.
    fn fits_on_page(&self, printed: &ComparedOutput<'_>, options: &Options) -> bool {
        match (self.error, printed.error) {
            (None, None) => self.text.is_empty(),
            (None, Some(error)) => printed.text.is_empty() && same(without_place(self.text.trim_end()), error, options),
            _ => false,
        }
    }

    fn of(output: &str) -> ComparedOutput<'_> {
        let output = output.trim_end_matches('\n');
        let mut lines = output.split('\n');
        let before: Vec<_> = lines.by_ref().take_while(|line| *line != TRACEBACK).collect();
        let text = before.join("\n");
        if text.len() == output.len() {
            return ComparedOutput { text, error: None };
        }
        let named = lines.find(|line| !line.is_empty() && !line.starts_with(' '));
        ComparedOutput { text, error: Some(without_place(named.unwrap_or_default().trim_end())) }
    }
}

/// Removes prose directly after a result: everything from the first sentence on.
fn without_prose(recorded: &str) -> &str {
    let mut start = 0;
    for line in recorded.split_inclusive('\n') {
        let is_sentence = line.starts_with(char::is_uppercase) && line.split_whitespace().count() > 4;
        let is_error = line.split_whitespace().any(|word| word.ends_with("Error:") || word.ends_with("Warning:"));
        if line.trim_end() == TRACEBACK {
            break;
        }
        if is_sentence && !is_error {
            return recorded.get(..start).unwrap_or(recorded).trim_end_matches('\n');
        }
        start += line.len();
    }
    recorded
}

/// doctest's marker for a blank line in an output.
const BLANK: &str = "<BLANKLINE>";

/// Compares two texts with these options.
fn same(recorded: &str, printed: &str, options: &Options) -> bool {
    let printed = if options.number || options.tolerance.is_some() {
        rounded(recorded, printed, options)
    } else {
        printed.to_owned()
    };
    let (recorded, printed) = if options.normalize_whitespace {
        let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        (joined(recorded), joined(&printed))
    } else {
        (recorded.to_owned(), printed)
    };
    if options.ellipsis {
        return fits(&recorded.replace("...", FOLD), &printed);
    }
    let fits =
        |recorded: &str, printed: &str| recorded == printed || recorded.contains(FOLD) && fits(recorded, printed);
    fits(&recorded, &printed) || fits_folded(&recorded, &printed, &fits)
}

/// The mark for any text.
const FOLD: &str = "…";

/// Returns whether a recorded output that is folded matches a printed one. Any lines may be in the place of a line
/// that consists of dots only. `fits` compares the lines before the first and after the last of them.
fn fits_folded(recorded: &str, printed: &str, fits: &dyn Fn(&str, &str) -> bool) -> bool {
    let is_fold = |line: &&str| matches!(line.trim(), "…" | "..." | "[...]" | "[…]");
    let recorded: Vec<&str> = recorded.lines().collect();
    let printed: Vec<&str> = printed.lines().collect();
    let mut parts = recorded.split(is_fold);
    let (Some(first), Some(last)) = (parts.next(), parts.next_back()) else { return false };
    let end = printed.len().saturating_sub(last.len());
    let (Some(before), Some(after)) = (printed.get(..first.len()), printed.get(end..)) else { return false };
    if first.len() > end || !fits(&first.join("\n"), &before.join("\n")) || !fits(&last.join("\n"), &after.join("\n")) {
        return false;
    }
    let mut rest = printed.get(first.len()..end).unwrap_or_default();
    parts.filter(|part| !part.is_empty()).all(|part| {
        let at = rest.windows(part.len()).position(|lines| lines == part);
        rest = at.and_then(|at| rest.get(at + part.len()..)).unwrap_or_default();
        at.is_some()
    })
}

/// Replaces the numbers in `printed` that agree with `recorded` to the recorded digits. If the texts differ in their
/// count of numbers, nothing is replaced.
fn rounded(recorded: &str, printed: &str, options: &Options) -> String {
    let (wanted, found) = (numbers(recorded), numbers(printed));
    if wanted.len() != found.len() {
        return printed.to_owned();
    }
    let (mut text, mut done) = (String::new(), 0);
    for (wanted, found) in wanted.into_iter().zip(found) {
        text.push_str(printed.get(done..found.start).unwrap_or_default());
        done = found.end;
        let (wanted, found) = (recorded.get(wanted).unwrap_or_default(), printed.get(found).unwrap_or_default());
        let is_same = options.number && agrees(wanted, found)
            || options.tolerance.is_some_and(|tolerance| is_within(tolerance, wanted, found));
        text.push_str(if is_same { wanted } else { found });
    }
    text + printed.get(done..).unwrap_or_default()
}

/// Returns whether two numbers differ by at most one in the last recorded digit. Integers must be equal.
fn agrees(recorded: &str, printed: &str) -> bool {
    let (digits, exponent) = recorded.split_once(['e', 'E']).unwrap_or((recorded, "0"));
    let Some((_, decimals)) = digits.split_once('.') else { return recorded == printed };
    let (Ok(left), Ok(right), Ok(exponent)) =
        (recorded.parse::<f64>(), printed.parse::<f64>(), exponent.parse::<i32>())
    else {
        return false;
    };
    let unit = 10f64.powi(exponent.saturating_sub(i32::try_from(decimals.len()).unwrap_or(i32::MAX)));
    (left - right).abs() <= unit
}

/// Returns whether two numbers with a point differ by at most `tolerance`, or by this fraction of the recorded one.
fn is_within(tolerance: f64, recorded: &str, printed: &str) -> bool {
    let is_float = |text: &str| text.contains(['.', 'e', 'E']);
    let (Ok(left), Ok(right)) = (recorded.parse::<f64>(), printed.parse::<f64>()) else { return false };
    is_float(recorded) && is_float(printed) && (left - right).abs() <= tolerance.max(tolerance * left.abs())
}

/// Returns the form of an output: without white space and signs, with a mark in place of every number and truth value.
pub(super) fn form_of(output: &str) -> String {
    let (mut form, mut done) = (String::new(), 0);
    for range in numbers(output) {
        form.push_str(output.get(done..range.start).unwrap_or_default());
        form.push('#');
        done = range.end;
    }
    form.push_str(output.get(done..).unwrap_or_default());
    let form = form.replace("True", "?").replace("False", "?");
    form.chars().filter(|c| !c.is_whitespace() && *c != '-').collect()
}

/// Returns the ranges of the numbers in a text: digits with a point or an exponent, not adjacent to a word or another
/// number.
fn numbers(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let is_word = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        let mut end = digits(at);
        if end == start {
            at += 1;
            continue;
        }
        if bytes.get(end) == Some(&b'.') {
            end = digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let after = digits(end + 1 + sign);
            if after > end + 1 + sign {
                end = after;
            }
        }
        at = end;
        if (start == 0 || !is_word(start - 1)) && !is_word(end) {
            found.push(start..end);
        }
    }
    found
}

/// Removes the location at the end of a SyntaxError's message: `(<stdin>, line 1)`.
fn without_place(line: &str) -> &str {
    match line.rsplit_once(" (<") {
        Some((before, place)) if line.contains("Error: ") && place.contains(">, line ") => before,
        _ => line,
    }
}

/// Returns whether `text` matches `pattern`, in which `…` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, pattern)) = pattern.split_once(FOLD) else {
        return pattern == text;
    };
    let (middle, last) = pattern.rsplit_once(FOLD).unwrap_or(("", pattern));
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    for piece in middle.split(FOLD) {
        // The leftmost match is enough: it leaves the most text for the following pieces.
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparison() {
        let rows = [
            ("", "", false, true),
            ("", "\n", false, true),
            ("1", "1\n", false, true),
            ("1", " 1\n", false, false),
            ("1", "1 \n", false, false),
            ("1\n\n2", "1\n2\n", false, false),
            ("\n1", "1", false, false),
            (
                "Traceback (most recent call last):\n  ...\nE: m",
                "Traceback (most recent call last):\n  ...\nE: m\n",
                false,
                true,
            ),
            (
                "Traceback (most recent call last):\n  File x\n\nE: m  \nmore",
                "Traceback (most recent call last):\n  ...\nE: m",
                false,
                true,
            ),
            (
                "Traceback (most recent call last):\n  ...\nE: m",
                "Traceback (most recent call last):\n  ...\nE: n",
                false,
                false,
            ),
            (
                "out\nTraceback (most recent call last):\n  ...\nE: m",
                "Traceback (most recent call last):\n  ...\nE: m",
                false,
                false,
            ),
            (
                "out\nTraceback (most recent call last):\n  ...\nE: m",
                "out\nTraceback (most recent call last):\n  ...\nE: m",
                false,
                true,
            ),
            ("Traceback (most recent call last):", "", false, false),
            ("Traceback (most recent call last):\n  ...\nE: m", "E: m", false, false),
            ("E: m", "Traceback (most recent call last):\n  ...\nE: m", false, false),
            (
                "Traceback (most recent call last):\n  ...\nE: a...z",
                "Traceback (most recent call last):\n  ...\nE: abcz",
                true,
                true,
            ),
            ("a...", "abc", false, false),
            ("a...", "abc", true, true),
            ("a...c...e", "abcde", true, true),
            ("a...c...c", "abc", true, false),
            ("ab...ba", "aba", true, false),
            ("...", "", true, true),
            ("[0., ...9.]\n...", "[0., 1.,\n 9.]\nx", true, true),
            ("abc", "abcd", true, false),
            ("[0, …]", "[0, 1]", false, true),
            ("[0, …]", "[1, 1]", false, false),
            ("a...", "a...", false, true),
            ("1\n…\n9", "1\n2\n9\n", false, true),
            ("1\n...\n9", "1\n9\n", false, true),
            ("1\n[...]", "1\n2\n", false, true),
            ("…", "1\n", false, true),
            ("...\n2\n...\n4\n...", "1\n2\n3\n4\n5\n", false, true),
            ("...\n4\n...\n2\n...", "1\n2\n3\n4\n5\n", false, false),
            ("1\n…\n9", "1\n2\n8\n", false, false),
            ("1\n…\n1", "1\n", false, false),
            ("1, ...\n2", "1\n2\n", false, false),
        ];
        for (expected, printed, ellipsis, wanted) in rows {
            let options = Options { ellipsis, ..Options::default() };
            assert_eq!(matches(expected, printed, &options), wanted, "{expected:?} {printed:?} {ellipsis}");
        }
    }

    #[test]
    fn remarks_below_a_result_and_blank_lines_by_name() {
        let rows = [
            ("True\n# a remark", "True\n", true),
            ("True\n\n# a remark\n\n# another", "True\n", true),
            ("# a remark", "", true),
            ("# printed", "# printed\n", true),
            ("True\n# a remark", "False\n", false),
            ("True\n  # no remark", "True\n", false),
            ("# a remark\nTrue", "True\n", false),
            ("a\n<BLANKLINE>\nb", "a\n\nb\n", true),
            ("a\n<BLANKLINE>\nb", "a\nb\n", false),
            ("[1, 2]  # a remark", "[1, 2]\n", true),
            ("[1, 2]  # a remark", "[1, 3]\n", false),
        ];
        for (expected, printed, wanted) in rows {
            assert_eq!(matches(expected, printed, &Options::default()), wanted, "{expected:?} {printed:?}");
        }
    }

    #[test]
    fn numbers_to_the_digits_that_are_recorded() {
        let number = Options { number: true, ..Options::default() };
        let both = Options { number: true, normalize_whitespace: true, ..Options::default() };
        let rows = [
            ("1.234", "1.2339999", &number, true),
            ("1.234", "1.2361", &number, false),
            ("-1.234", "-1.2341", &number, true),
            ("1.234", "-1.234", &number, false),
            ("1.23e-05", "1.2339e-05", &number, true),
            ("1.23e-05", "1.26e-05", &number, false),
            ("3", "4", &number, false),
            ("3", "3.0", &number, false),
            ("tensor([0.5, 12.25])", "tensor([0.51, 12.254])", &number, true),
            ("tensor([0.5, 12.25])", "tensor([0.51, 12.254])", &Options::default(), false),
            ("tensor([[0.50,\n  12.25]])", "tensor([[0.5049, 12.2540]])", &both, true),
            ("float32 1.0", "float64 1.0", &number, false),
            ("1.0 2.0", "1.0", &number, false),
            ("nan", "nan", &number, true),
            ("1.0 3", "1.00001 3", &Options { tolerance: Some(1e-4), ..Options::default() }, true),
            ("1000.0", "1000.05", &Options { tolerance: Some(1e-4), ..Options::default() }, true),
            ("1.0", "1.001", &Options { tolerance: Some(1e-4), ..Options::default() }, false),
            ("3", "4", &Options { tolerance: Some(9.0), ..Options::default() }, false),
        ];
        for (expected, printed, options, wanted) in rows {
            assert_eq!(matches(expected, printed, options), wanted, "{expected:?} {printed:?}");
        }
    }

    #[test]
    fn pages_leave_out_and_go_on() {
        let page = Options { page: true, ..Options::default() };
        let rows = [
            ("True\nSince views share data, edits are seen.", "True\n", true),
            ("True\nSince views share data, edits are seen.", "False\n", false),
            ("For reference, here is a list of all.", "", true),
            ("", "tensor([1.])\n", true),
            ("", "Traceback (most recent call last):\n  ...\nValueError: no\n", false),
            ("ValueError: no", "Traceback (most recent call last):\n  ...\nValueError: no\n", true),
            ("ValueError: yes", "Traceback (most recent call last):\n  ...\nValueError: no\n", false),
            ("tensor(3.14)\nIn the view it is seen as well.", "tensor(3.1400)\n", false),
            ("1\n2", "1\n", false),
        ];
        for (expected, printed, wanted) in rows {
            assert_eq!(matches(expected, printed, &page), wanted, "{expected:?} {printed:?}");
            let is_strict = !matches(expected, printed, &Options::default());
            assert!(is_strict, "{expected:?} {printed:?}");
        }
    }

    #[test]
    fn comments_tell_outputs_and_go_on() {
        let comment = Options { comment: true, ..Options::default() };
        let error = "Traceback (most recent call last):\n  ...\nValueError: no\n";
        let rows = [
            ("tensor([1.])", "tensor([1.])\n", true),
            ("tensor([1.]) shares memory", "tensor([1.])\n", true),
            ("tensor([1.])x", "tensor([1.])\n", false),
            ("3.5", "3\n", false),
            ("30", "3\n", false),
            ("ValueError", error, true),
            ("ValueError: no", error, true),
            ("raises ValueError", error, true),
            ("ValueError: yes", error, false),
            ("TypeError", error, false),
            ("ValueError", "1\n", false),
            ("3", "", false),
        ];
        for (expected, printed, wanted) in rows {
            assert_eq!(matches(expected, printed, &comment), wanted, "{expected:?} {printed:?}");
        }
        let detail = Options { ignore_exception_detail: true, ..Options::default() };
        let recorded = |message: &str| format!("Traceback (most recent call last):\n  ...\n{message}");
        assert!(matches(&recorded("m.ValueError: yes"), error, &detail));
        assert!(!matches(&recorded("TypeError: no"), error, &detail));
    }

    #[test]
    fn the_form_of_an_output() {
        assert_eq!(form_of("tensor([ 0.5, -1.2e-3])"), form_of("tensor([-2.5000e+00,\n  3.])"));
        assert_ne!(form_of("tensor([1., 2.])"), form_of("tensor([[1., 2.]])"));
        assert_eq!(form_of("tensor([True])"), form_of("tensor([False])"));
    }

    #[test]
    fn white_space() {
        let options = Options { normalize_whitespace: true, ..Options::default() };
        assert!(matches("tensor([1,\n  2])", "tensor([1, 2])\n", &options));
        assert!(!matches("tensor([1,2])", "tensor([1, 2])\n", &options));
    }
}

//! Compares printed with recorded output. Pure functions over text.

use super::replay::TRACEBACK;

/// Compares a recorded output with a printed one. Line ends at the very end do not count. A traceback is compared by
/// what was printed before it and by the line that names the error; the frames and any further lines of the message
/// are left out, as doctest leaves them out. With `ellipsis`, `...` in the recorded text stands for any text.
pub fn matches(expected: &str, printed: &str, ellipsis: bool) -> bool {
    let (expected, printed) = (Essence::of(expected), Essence::of(printed));
    let same = |left: &str, right: &str| {
        if ellipsis { fits(left, right) } else { left == right }
    };
    same(&expected.text, &printed.text)
        && match (expected.error, printed.error) {
            (Some(expected), Some(printed)) => same(expected, printed),
            (None, None) => true,
            _ => false,
        }
}

/// The part of an output that is compared.
struct Essence<'a> {
    text: String,
    error: Option<&'a str>,
}

impl Essence<'_> {
    fn of(output: &str) -> Essence<'_> {
        let output = output.trim_end_matches('\n');
        let mut lines = output.split('\n');
        let before: Vec<_> = lines.by_ref().take_while(|line| *line != TRACEBACK).collect();
        let text = before.join("\n");
        if text.len() == output.len() {
            return Essence { text, error: None };
        }
        let named = lines.find(|line| !line.is_empty() && !line.starts_with(' '));
        Essence { text, error: Some(without_place(named.unwrap_or_default().trim_end())) }
    }
}

/// The line of an error without the place that a SyntaxError may tell behind it: `(<stdin>, line 1)`.
fn without_place(line: &str) -> &str {
    match line.rsplit_once(" (<") {
        Some((before, place)) if line.contains("Error: ") && place.contains(">, line ") => before,
        _ => line,
    }
}

/// Whether `text` is `pattern` with every `...` replaced by some text.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, pattern)) = pattern.split_once("...") else {
        return pattern == text;
    };
    let (middle, last) = pattern.rsplit_once("...").unwrap_or(("", pattern));
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    for piece in middle.split("...") {
        // The leftmost place is enough: it leaves the most text for the pieces that follow.
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
        ];
        for (expected, printed, ellipsis, wanted) in rows {
            assert_eq!(matches(expected, printed, ellipsis), wanted, "{expected:?} {printed:?} {ellipsis}");
        }
    }
}

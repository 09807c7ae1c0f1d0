//! The prose of lessons for a terminal.

/// Returns a paragraph without the asterisks of emphasis; code between backticks stays as it is.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (i, piece) in text.split('`').enumerate() {
        if i > 0 {
            out.push('`');
        }
        match i % 2 {
            0 => out.push_str(&without_emphasis(piece)),
            _ => out.push_str(piece),
        }
    }
    out
}

/// Removes pairs of `*` or `**` around words. An asterisk between spaces is an operator.
fn without_emphasis(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('*') {
        let (sign, inside) = after.strip_prefix('*').map_or(("*", after), |inside| ("**", inside));
        let is_word = |c: char| !c.is_whitespace() && c != '*';
        let emphasis = inside.split_once(sign).filter(|(word, _)| word.starts_with(is_word) && word.ends_with(is_word));
        out.push_str(before);
        rest = match emphasis {
            Some((word, after)) => {
                out.push_str(word);
                after
            }
            None => {
                out.push_str(sign);
                inside
            }
        };
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn emphasis_is_plain_and_code_stays() {
        for (text, wanted) in [
            ("a *storage*, and **not** `*args` or `a * b`", "a storage, and not `*args` or `a * b`"),
            ("3 * 5 * 8 and 2*3", "3 * 5 * 8 and 2*3"),
            ("*two words* **x", "two words **x"),
        ] {
            assert_eq!(plain(text), wanted);
        }
    }
}

//! Common typos with CPython 3.11's message, line and column, in tests/python/syntax.txt, which tests/python/syntax.py
//! writes. Fix differences in src/languages/python/syntax, not there.

use tensorsh::languages::python::syntax::parse;

/// The sources with another position: CPython counts it inside the braces of a formatted string.
const ELSEWHERE: &[&str] = &["f'{a b}'", "f'{a.}'", "f'{lambda x: 1}'"];

/// The sources with another message.
const OTHERWISE: &[&str] = &["raise ValueError, \"a\"", "x == = 1", "x = yield = 1", "del *a", "[x := 1 for x in y]"];

#[test]
fn typos_are_answered_in_cpythons_words() {
    let (mut count, mut different) = (0, Vec::new());
    for block in include_str!("python/syntax.txt").trim_end().split("\n\n") {
        let mut lines: Vec<&str> = block.split('\n').collect();
        let (place, words) = (lines.pop().unwrap(), lines.pop().unwrap());
        let source = lines.join("\n");
        let said = parse(&source).err().map(|fault| {
            let before = &source[..fault.offset];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
            (format!("{}: {}", fault.kind, fault.message), format!("{line}:{column}"))
        });
        let known = ELSEWHERE.contains(&source.as_str()) && said.as_ref().is_some_and(|(said, _)| said == words)
            || OTHERWISE.contains(&source.as_str());
        count += 1;
        if known == (said == Some((words.to_owned(), place.to_owned()))) {
            different.push(format!("{source}\n  {words} {place}\n  got {said:?}"));
        }
    }
    assert!(different.is_empty(), "{} of {count} differ\n{}", different.len(), different.join("\n"));
    assert!((ELSEWHERE.len() + OTHERWISE.len()) * 100 <= count * 8, "too many are known to differ");
}

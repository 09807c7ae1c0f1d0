//! Options of an example, a page and a run: how outputs are compared, and how far a session goes.

use std::path::PathBuf;

use crate::Language;

/// How an example is run and compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// `...` in the recorded output matches any text.
    pub ellipsis: bool,
    /// All white space is equivalent, of any kind and length.
    pub normalize_whitespace: bool,
    /// Numbers with a point need to agree only to the recorded digits.
    pub number: bool,
    /// Numbers with a point agree if they differ by at most this, or by this fraction of the recorded one.
    pub tolerance: Option<f64>,
    /// Of an error, only the class is compared.
    pub ignore_exception_detail: bool,
    /// The example is run, and its output is not compared.
    pub ignore_output: bool,
    /// The example is on a page, which may omit outputs, show only the last line of an error, and continue with prose
    /// directly after a result.
    pub page: bool,
    /// The output is recorded in a comment. It may be followed by a remark on the same line, and an error may be named
    /// by its class alone.
    pub comment: bool,
    /// The example is neither run nor counted.
    pub skip: bool,
    /// An unknown option, which makes the example fail.
    pub unknown: Option<String>,
}

/// The tolerance of `FLOAT_CMP`, which is that of pytest-doctestplus.
const FLOAT_CMP: f64 = 1e-5;

/// Options of doctest and its relatives that change nothing here: they are about reports, or about Python 2.
const WITHOUT_EFFECT: &[&str] = &[
    "DONT_ACCEPT_TRUE_FOR_1",
    "DONT_ACCEPT_BLANKLINE",
    "REPORT_UDIFF",
    "REPORT_CDIFF",
    "REPORT_NDIFF",
    "REPORT_ONLY_FIRST_FAILURE",
    "FAIL_FAST",
    "ALLOW_UNICODE",
    "ALLOW_BYTES",
    "IGNORE_WARNINGS",
    "SHOW_WARNINGS",
];

impl Options {
    /// Applies an option, such as `+ELLIPSIS`, `-NUMBER` or `tolerance=1e-4`. A name without a sign is switched on.
    ///
    /// # Errors
    /// Fails with the option if it is unknown.
    pub fn set(&mut self, option: &str) -> Result<(), String> {
        let unknown = || option.to_owned();
        if let Some((name, value)) = option.split_once('=') {
            let tolerance = value.parse().ok().filter(|number| (0.0..f64::INFINITY).contains(number));
            self.tolerance = Some(tolerance.filter(|_| name.eq_ignore_ascii_case("tolerance")).ok_or_else(unknown)?);
            return Ok(());
        }
        let (is_on, name) = match option.split_at_checked(1) {
            Some(("+", name)) => (true, name),
            Some(("-", name)) => (false, name),
            _ => (true, option),
        };
        match name {
            "ELLIPSIS" => self.ellipsis = is_on,
            "NORMALIZE_WHITESPACE" => self.normalize_whitespace = is_on,
            "NUMBER" => self.number = is_on,
            "FLOAT_CMP" => self.tolerance = is_on.then_some(FLOAT_CMP),
            "IGNORE_EXCEPTION_DETAIL" => self.ignore_exception_detail = is_on,
            "IGNORE_OUTPUT" | "IGNORE_RESULT" => self.ignore_output = is_on,
            "SKIP" => self.skip = is_on,
            _ if WITHOUT_EFFECT.contains(&name) => {}
            _ => return Err(unknown()),
        }
        Ok(())
    }

    /// Adds the options of another layer.
    pub(super) fn add(&mut self, other: &Options) {
        self.ellipsis |= other.ellipsis;
        self.normalize_whitespace |= other.normalize_whitespace;
        self.number |= other.number;
        self.tolerance = other.tolerance.or(self.tolerance);
        self.ignore_exception_detail |= other.ignore_exception_detail;
        self.ignore_output |= other.ignore_output;
        self.page |= other.page;
        self.comment |= other.comment;
        self.skip |= other.skip;
        self.unknown = self.unknown.take().or_else(|| other.unknown.clone());
    }

    /// Applies the options of a list, separated by commas or spaces. The first unknown one makes the example fail.
    pub(super) fn set_all(&mut self, options: &str) {
        for option in options.split([',', ' ', '\t']).filter(|option| !option.is_empty()) {
            if let Err(unknown) = self.set(option) {
                self.unknown.get_or_insert(unknown);
            }
        }
    }

    /// Reads the `# doctest: +NAME` (in Rhai also `// doctest: +NAME`) at the end of an input's lines. In Python it is
    /// a comment. Rhai does not have `#` comments, so it is removed from `source`.
    pub(super) fn take_from(&mut self, source: &mut String, language: Language) {
        if !source.contains("doctest:") {
            return;
        }
        let mut kept = Vec::new();
        for line in source.split('\n') {
            let Some((start, names)) = directive(line) else {
                kept.push(line);
                continue;
            };
            kept.push(if language == Language::Rhai { line.get(..start).unwrap_or(line) } else { line });
            self.set_all(names);
        }
        *source = kept.join("\n");
    }
}

/// Returns where the comment `# doctest: …` of a line starts, and the options it names. A quote after it means that it
/// is inside a string.
fn directive(line: &str) -> Option<(usize, &str)> {
    ["#", "//"].into_iter().find_map(|mark| {
        line.match_indices(mark).find_map(|(start, _)| {
            let names = line.get(start + mark.len()..)?.trim_start().strip_prefix("doctest:")?;
            (!names.contains(['"', '\''])).then_some((start, names))
        })
    })
}

/// The part of a page that shares its variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole page.
    Page,
    /// The text below a heading, up to the next; in a `.py` file, a docstring.
    Heading,
    /// A block.
    Block,
}

impl Scope {
    /// Returns the scope with a name: `page`, `heading` or `block`.
    pub fn of_name(name: &str) -> Option<Scope> {
        match name {
            "page" => Some(Scope::Page),
            "heading" => Some(Scope::Heading),
            "block" => Some(Scope::Block),
            _ => None,
        }
    }
}

/// What a page says about itself in its front matter, or in a comment `tensorsh: …`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// How far a session goes; `None` for the form's own way.
    pub scope: Option<Scope>,
    /// The options that all its examples start with.
    pub options: Options,
    /// Files of Python that each session runs first. Relative to the page's folder.
    pub setup: Vec<PathBuf>,
}

/// A word of a comment `tensorsh: …` that is about the next block only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The block is run before every session of the page.
    Setup,
    /// The block is not run.
    Skip,
}

impl Settings {
    /// Applies the words of a comment or of front matter: `session=page setup=FILE +NUMBER`. Returns the word about the
    /// next block, if there is one.
    ///
    /// # Errors
    /// Fails with the first word that is not known.
    pub(super) fn take(&mut self, words: &str) -> Result<Option<Mark>, String> {
        let mut mark = None;
        for word in words.split([',', ' ', '\t', '[', ']', '\'', '"']).filter(|word| !word.is_empty()) {
            match word.split_once('=') {
                _ if word == "setup" => mark = Some(Mark::Setup),
                _ if word == "skip" => mark = Some(Mark::Skip),
                Some(("session", name)) => {
                    self.scope = Some(Scope::of_name(name).ok_or_else(|| word.to_owned())?);
                }
                Some(("setup", file)) => self.setup.push(file.into()),
                _ => self.options.set(word)?,
            }
        }
        Ok(mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives() {
        let rows = [
            ("x # doctest: +SKIP", "x # doctest: +SKIP", Options { skip: true, ..Options::default() }),
            ("x #doctest: +ELLIPSIS, -SKIP", "x #doctest: +ELLIPSIS, -SKIP", {
                Options { ellipsis: true, ..Options::default() }
            }),
            ("'x # doctest: +SKIP'", "'x # doctest: +SKIP'", Options::default()),
            ("x # xdoctest: +SKIP", "x # xdoctest: +SKIP", Options::default()),
            ("x # doctest: +NO", "x # doctest: +NO", Options { unknown: Some("+NO".into()), ..Options::default() }),
            ("x # doctest: +FLOAT_CMP", "x # doctest: +FLOAT_CMP", {
                Options { tolerance: Some(1e-5), ..Options::default() }
            }),
        ];
        for (line, source, wanted) in rows {
            let (mut found, mut options) = (line.to_owned(), Options::default());
            options.take_from(&mut found, Language::Python);
            assert_eq!((found.as_str(), &options), (source, &wanted), "{line}");
        }
        let mut source = "x; // doctest: +NUMBER +NORMALIZE_WHITESPACE\ny  # doctest: +IGNORE_OUTPUT".to_owned();
        let mut options = Options::default();
        options.take_from(&mut source, Language::Rhai);
        assert_eq!(source, "x; \ny  ");
        let wanted = Options { number: true, normalize_whitespace: true, ignore_output: true, ..Options::default() };
        assert_eq!(options, wanted);
    }

    #[test]
    fn a_page_says_how_it_is_read() {
        let mut settings = Settings::default();
        assert_eq!(settings.take("session=page, +NUMBER tolerance=0.5"), Ok(None));
        assert_eq!(settings.take("setup=a.py [ELLIPSIS]"), Ok(None));
        assert_eq!(settings.scope, Some(Scope::Page));
        let options = Options { number: true, ellipsis: true, tolerance: Some(0.5), ..Options::default() };
        assert_eq!((settings.options.clone(), settings.setup.clone()), (options, vec![PathBuf::from("a.py")]));
        assert_eq!(settings.take("setup"), Ok(Some(Mark::Setup)));
        for word in ["session=chapter", "colour", "tolerance=x", "tolerance=-1", "limit=1"] {
            assert_eq!(settings.take(word), Err(word.to_owned()));
        }
    }
}

//! The results of pages: a verdict for each example.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::example::{Case, Example, Origin};
use super::files::Target;

/// Why an output cannot be the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It depends on random numbers, and nothing was seeded.
    Random,
    /// It contains an address.
    Address,
    /// It contains a time.
    Time,
    /// It needs an accelerator.
    Device,
    /// It needs a module, a function or a language feature that tensorsh lacks.
    Missing,
}

impl Kind {
    /// Returns the word for reports.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Random => "random",
            Kind::Address => "address",
            Kind::Time => "time",
            Kind::Device => "device",
            Kind::Missing => "missing",
        }
    }
}

/// The verdict on an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The output was as recorded.
    Passed,
    /// The example ran without an error, and the page does not show its output.
    Ran,
    /// The example is marked not to run.
    Skipped,
    /// The example belongs to a session that was not selected.
    Unasked,
    /// The output differed, and was written into the file.
    Updated,
    /// The output differed, as the baseline says.
    Accepted,
    /// The output differed; this is the new one.
    Differs(String),
    /// There is no output to compare, for this reason.
    Broken(String),
    /// The output differed, and cannot be the recorded one here.
    Apart(Kind, String),
    /// The output differed because an earlier example failed, or could not run here.
    Follows {
        /// The index of the earlier example in the session.
        root: usize,
        /// Its kind; `None` if it failed.
        kind: Option<Kind>,
        printed: String,
    },
}

/// What a verdict means for the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Good,
    /// The page is neither confirmed nor refuted.
    Apart(Kind),
    Bad,
}

impl Verdict {
    pub(super) fn standing(&self) -> Standing {
        match self {
            Verdict::Apart(kind, _) | Verdict::Follows { kind: Some(kind), .. } => Standing::Apart(*kind),
            Verdict::Differs(_) | Verdict::Broken(_) | Verdict::Follows { kind: None, .. } => Standing::Bad,
            _ => Standing::Good,
        }
    }

    /// Returns whether the verdict on an example counts. The statements of a set-up count only if they fail, and those
    /// of a module not at all: what hangs on them does.
    pub(super) fn counts(&self, example: &Example) -> bool {
        match example.origin {
            Origin::Page => true,
            Origin::Setup(_) => *self != Verdict::Ran,
            Origin::Module(_) => false,
        }
    }

    pub(super) fn is_bad(&self) -> bool {
        self.standing() == Standing::Bad
    }
}

/// One session's results.
#[derive(Clone, Debug)]
pub struct CaseReport {
    /// The session.
    pub case: Arc<Case>,
    /// One verdict per example.
    pub verdicts: Vec<Verdict>,
    /// The warnings, each with the line of the example.
    pub warnings: Vec<(usize, String)>,
    /// The bytes of outputs at which a value begins, by the index of the example.
    pub(super) values: BTreeMap<usize, usize>,
    /// Whether a random number was drawn without a seed.
    pub(super) is_unseeded: bool,
}

/// One file's results.
#[derive(Debug)]
pub struct FileReport {
    /// The page that was run.
    pub target: Target,
    /// Every session with the verdicts on its examples, or the reason why the file could not be run.
    pub cases: Result<Vec<CaseReport>, String>,
    /// The number of blocks that were not read, by their language, or by `no prompt`.
    pub not_read: BTreeMap<String, usize>,
    /// The reason why the file could not be updated.
    pub not_updated: Option<String>,
    /// Advice on the page as a whole.
    pub advice: Option<String>,
}

impl CaseReport {
    /// The report of a session with these verdicts.
    pub fn of_verdicts(case: Arc<Case>, verdicts: Vec<Verdict>) -> CaseReport {
        CaseReport { case, verdicts, warnings: Vec::new(), values: BTreeMap::new(), is_unseeded: false }
    }

    /// Returns the examples that count, with their verdicts.
    pub(super) fn counted(&self) -> impl Iterator<Item = (&Example, &Verdict)> {
        self.case.examples.iter().zip(&self.verdicts).filter(|(example, verdict)| verdict.counts(example))
    }

    /// Returns whether an example that counts is wrong.
    pub(super) fn is_bad(&self) -> bool {
        self.counted().any(|(_, verdict)| verdict.is_bad())
    }

    /// Returns the number of the page's examples that hang on the one at an index.
    pub(super) fn hanging_on(&self, index: usize) -> usize {
        let hangs = |verdict: &Verdict| matches!(verdict, Verdict::Follows { root, .. } if *root == index);
        self.counted().filter(|(_, verdict)| hangs(verdict)).count()
    }

    /// Returns whether the session was selected to run.
    pub(super) fn is_asked(&self) -> bool {
        !self.verdicts.contains(&Verdict::Unasked)
    }
}

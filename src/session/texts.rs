//! The texts that the program carries: lessons, and the recorded sessions that help takes its examples from. They lie
//! outside this package, which could not be published with them; the program hands them down when it starts.

use std::sync::OnceLock;

/// What a program has to say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texts {
    /// The pages of the tutorial in the order in which they are taught, each with the name it goes by.
    pub lessons: &'static [(&'static str, &'static str)],
    /// Recorded sessions, in Markdown.
    pub examples: &'static [&'static str],
}

static TEXTS: OnceLock<Texts> = OnceLock::new();

/// Hands the texts down, before the first session; those of the first call stay.
pub fn carry(texts: Texts) {
    TEXTS.get_or_init(|| texts);
}

/// The texts that were handed down; none before [`carry`].
#[cfg(not(test))]
pub(crate) fn texts() -> Texts {
    TEXTS.get().copied().unwrap_or_default()
}

/// What the unit tests of this package have.
#[cfg(test)]
pub(crate) fn texts() -> Texts {
    const EXAMPLE: &str = "```pycon\n>>> x = torch.arange(4)\n>>> x.view(2, 2).untyped_storage().nbytes()\n32\n```\n";
    Texts { lessons: &[], examples: &[EXAMPLE] }
}

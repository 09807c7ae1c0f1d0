//! The texts embedded in the program: lessons, and the recorded sessions that provide examples for help. A published
//! package contains only files of its own folder, and these are elsewhere, so the program provides them at startup.

use std::sync::OnceLock;

/// Lessons and examples.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texts {
    /// The pages of the tutorial in teaching order, each with its name.
    pub lessons: &'static [(&'static str, &'static str)],
    /// Recorded sessions, in Markdown.
    pub examples: &'static [&'static str],
}

static TEXTS: OnceLock<Texts> = OnceLock::new();

/// Provides the texts. Call this before the first session; later calls have no effect.
pub fn provide(texts: Texts) {
    TEXTS.get_or_init(|| texts);
}

/// The texts provided; empty before [`provide`].
#[cfg(not(test))]
pub(crate) fn texts() -> Texts {
    TEXTS.get().copied().unwrap_or_default()
}

/// The texts of the unit tests.
#[cfg(test)]
pub(crate) fn texts() -> Texts {
    const EXAMPLE: &str = "```pycon\n>>> x = torch.arange(4)\n>>> x.view(2, 2).untyped_storage().nbytes()\n32\n```\n";
    Texts { lessons: &[], examples: &[EXAMPLE] }
}

/// The pages of docs/learn with their file names, for unit tests.
#[cfg(test)]
pub(crate) fn lesson_pages() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/learn");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 11, "{folder}");
    let name = |path: &std::path::Path| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

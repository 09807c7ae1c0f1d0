//! `tensorsh quiz`: questions at the terminal, or a sheet of them in Markdown.

use std::io::{IsTerminal, stdin, stdout};

use super::prompt::{PromptOptions, prompt};
use super::screen::{Screen, show};
use session::Language;
use session::quiz::{PRINTED, Sheet, SheetTerms, Topic, any_seed};

/// The arguments of `tensorsh quiz`.
#[derive(Clone, Debug)]
pub struct Quizzing {
    /// The names of the topics; empty for all.
    pub topics: Vec<String>,
    pub level: Option<usize>,
    pub seed: Option<u64>,
    pub count: Option<usize>,
    /// Whether to print the questions with their answers, even at a terminal.
    pub answers: bool,
    /// The language of the questions. Answers may be in either.
    pub language: Language,
    /// Whether to ignore the settings file.
    pub no_config: bool,
}

/// Returns the names of the topics.
pub fn quiz_topics() -> impl Iterator<Item = &'static str> {
    Topic::ALL.into_iter().map(Topic::name)
}

/// Asks questions or prints them, and returns the program's exit status.
pub fn quiz(screen: Screen, wanted: &Quizzing) -> i32 {
    let seed = wanted.seed.unwrap_or_else(any_seed);
    let (level, count, language) = (wanted.level, wanted.count, wanted.language);
    let mut terms = SheetTerms { topics: Vec::new(), level, seed, count, language };
    wanted.topics.iter().filter_map(|name| Topic::named(name)).for_each(|topic| terms.add(topic));
    if wanted.answers || !stdin().is_terminal() || !stdout().is_terminal() {
        terms.count = count.or(Some(PRINTED));
        show(&Sheet::new(terms).markdown(wanted.answers));
        return 0;
    }
    let command = terms.command(count).replacen("tensorsh quiz", ":quiz", 1).replace(" --rhai", "");
    prompt(
        screen,
        PromptOptions {
            quiet: true,
            no_config: wanted.no_config,
            language: Some(language),
            command: Some(command),
            ..PromptOptions::default()
        },
    )
}

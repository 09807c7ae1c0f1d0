//! Exercises without end: questions made at random from operations that a session runs. Nothing says what an answer is:
//! the session computes it, here as in the test that computes it again.

mod answer;
mod broadcasting;
mod draft;
mod dtypes;
mod indexing;
mod prediction;
mod question;
mod random;
mod round;
mod sharing;
mod sheet;
mod strides;
#[cfg(test)]
mod tests;
mod views;

use draft::Make;

pub(crate) use prediction::{Predicted, picture_of};
pub use question::Question;
pub use round::{Judgement, Round};
pub use sheet::{Sheet, SheetTerms};

use tensor::system::{Machine, System};

/// The most questions of a sheet.
const MOST: usize = 500;
/// The number of questions of a sheet if none is asked for.
pub const PRINTED: usize = 10;
/// Seeds that the shell chooses are below this, so that they are short enough to be typed again.
const SEEDS: u64 = 1_000_000;

/// Chooses a seed.
pub fn any_seed() -> u64 {
    System::entropy() % SEEDS
}

/// The subject of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    Strides,
    Views,
    Sharing,
    DTypes,
    Broadcasting,
    Indexing,
}

impl Topic {
    pub const ALL: [Topic; 6] =
        [Topic::Strides, Topic::Views, Topic::Sharing, Topic::DTypes, Topic::Broadcasting, Topic::Indexing];

    pub fn name(self) -> &'static str {
        match self {
            Topic::Strides => "strides",
            Topic::Views => "views",
            Topic::Sharing => "sharing",
            Topic::DTypes => "dtypes",
            Topic::Broadcasting => "broadcasting",
            Topic::Indexing => "indexing",
        }
    }

    pub fn named(name: &str) -> Option<Topic> {
        Topic::ALL.into_iter().find(|topic| topic.name() == name)
    }

    /// The kinds of questions, by level.
    fn levels(self) -> &'static [&'static [Make]; 3] {
        match self {
            Topic::Strides => &strides::LEVELS,
            Topic::Views => &views::LEVELS,
            Topic::Sharing => &sharing::LEVELS,
            Topic::DTypes => &dtypes::LEVELS,
            Topic::Broadcasting => &broadcasting::LEVELS,
            Topic::Indexing => &indexing::LEVELS,
        }
    }
}

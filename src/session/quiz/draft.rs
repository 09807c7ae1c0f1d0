//! A question before it is asked: code that sets it up, and the expression whose value is the answer.

use super::answer::Form;
use super::random::Random;
use std::fmt::Write as _;

/// Makes a draft of one kind.
pub(super) type Make = fn(&mut Random) -> Draft;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    pub steps: Vec<Step>,
    /// The question, in Markdown.
    pub ask: String,
    pub form: Form,
    /// The expression of the answer, in Python like everything here. If it fails, the answer is that it is refused.
    pub answer: String,
    /// The expressions of plausible wrong answers.
    pub others: Vec<String>,
    pub picture: PictureRecipe,
}

/// A line that sets a question up.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub source: String,
    /// Whether the learner sees it. Hidden lines only note values for the answer.
    pub is_shown: bool,
}

/// How a wrong answer is explained.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PictureRecipe {
    /// The picture that a call returns, after these lines.
    Call(String),
    /// The sizes of these variables below each other.
    Broadcast(&'static [&'static str]),
    /// The sizes of a product of `a` and `b`, matrices or batches of them.
    Product,
    /// The dtypes of two variables, and of what an operation between them gives.
    Promotion { operands: [&'static str; 2], result: &'static str },
}

impl Draft {
    pub(super) fn new(form: Form, ask: impl Into<String>, answer: impl Into<String>) -> Draft {
        Draft {
            steps: Vec::new(),
            ask: ask.into(),
            form,
            answer: answer.into(),
            others: Vec::new(),
            picture: PictureRecipe::Call("aliases()".to_owned()),
        }
    }

    pub(super) fn given(mut self, source: impl Into<String>) -> Draft {
        self.steps.push(Step { source: source.into(), is_shown: true });
        self
    }

    pub(super) fn hidden(mut self, source: impl Into<String>) -> Draft {
        self.steps.push(Step { source: source.into(), is_shown: false });
        self
    }

    pub(super) fn others<const N: usize>(mut self, expressions: [&str; N]) -> Draft {
        self.others.extend(expressions.map(str::to_owned));
        self
    }

    /// Explains a wrong answer by the picture that a call returns.
    pub(super) fn call(mut self, call: impl Into<String>) -> Draft {
        self.picture = PictureRecipe::Call(call.into());
        self
    }

    pub(super) fn explained(mut self, picture: PictureRecipe) -> Draft {
        self.picture = picture;
        self
    }
}

/// Formats sizes for a call: `2, 3`.
pub(super) fn joined(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns a tensor that counts its elements from 0, so that a value tells its cell: `torch.arange(6).view(2, 3)`.
pub(super) fn counting(sizes: &[i64]) -> String {
    let count: i64 = sizes.iter().product();
    match sizes {
        [_] => format!("torch.arange({count})"),
        _ => format!("torch.arange({count}).view({})", joined(sizes)),
    }
}

/// Returns the index of a random element: `1, 2`. It is not the first one if there are others.
pub(super) fn element(random: &mut Random, sizes: &[i64]) -> String {
    let has_others = sizes.iter().any(|&size| size > 1);
    loop {
        let index: Vec<i64> = sizes.iter().map(|&size| random.below(size)).collect();
        if !has_others || index.iter().any(|&at| at > 0) {
            return joined(&index);
        }
    }
}

/// A tensor's sizes while calls are appended to its expression. Only views are appended, all of which succeed.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub text: String,
    pub sizes: Vec<i64>,
}

impl Chain {
    pub(super) fn of(name: &str, sizes: &[i64]) -> Chain {
        Chain { text: name.to_owned(), sizes: sizes.to_vec() }
    }

    fn size(&self, dim: usize) -> i64 {
        self.sizes.get(dim).copied().unwrap_or(1)
    }

    /// Appends a random view.
    pub(super) fn step(mut self, random: &mut Random) -> Chain {
        let rank = self.sizes.len();
        match random.below(7) {
            0 | 1 if rank >= 2 => self.transpose(random),
            2 if rank >= 3 => self.permute(random),
            3 if rank >= 2 => self.select(random),
            4 if (1..4).contains(&rank) => {
                let dim = random.below(rank as i64 + 1) as usize;
                self.sizes.insert(dim, 1);
                let _ = write!(self.text, ".unsqueeze({dim})");
                self
            }
            _ => self.slice(random),
        }
    }

    pub(super) fn transpose(mut self, random: &mut Random) -> Chain {
        let rank = self.sizes.len();
        if rank == 2 && random.coin() {
            self.sizes.reverse();
            self.text.push_str(".t()");
            return self;
        }
        let (a, b) = two_dims(random, rank);
        self.sizes.swap(a, b);
        let _ = write!(self.text, ".transpose({a}, {b})");
        self
    }

    pub(super) fn permute(mut self, random: &mut Random) -> Chain {
        let mut order: Vec<usize> = (0..self.sizes.len()).collect();
        let plain = order.clone();
        while order == plain && order.len() > 1 {
            random.shuffle(&mut order);
        }
        self.sizes = order.iter().map(|&dim| self.size(dim)).collect();
        let order: Vec<i64> = order.iter().map(|&dim| dim as i64).collect();
        let _ = write!(self.text, ".permute({})", joined(&order));
        self
    }

    /// Selects one index of a dimension, which disappears.
    pub(super) fn select(mut self, random: &mut Random) -> Chain {
        let dim = random.below(self.sizes.len() as i64) as usize;
        let at = random.below(self.size(dim));
        let _ = write!(self.text, "[{}{at}]", ":, ".repeat(dim));
        self.sizes.remove(dim);
        self
    }

    /// Takes a slice of one dimension, with a step if it is long enough.
    pub(super) fn slice(mut self, random: &mut Random) -> Chain {
        let rank = self.sizes.len();
        let dim = random.below(rank as i64) as usize;
        let size = self.size(dim);
        let before = ":, ".repeat(dim);
        let taken = match (random.below(3), size) {
            (0, 3..) => {
                let start = random.below(2);
                let from = if start == 0 { String::new() } else { start.to_string() };
                let _ = write!(self.text, "[{before}{from}::2]");
                (size - start + 1) / 2
            }
            (1, 3..) => {
                let start = random.within(1, size - 2);
                let _ = write!(self.text, "[{before}{start}:]");
                size - start
            }
            (_, 3..) => {
                let end = random.within(2, size - 1);
                let _ = write!(self.text, "[{before}:{end}]");
                end
            }
            _ => {
                let _ = write!(self.text, "[{before}-1:]");
                1
            }
        };
        if let Some(size) = self.sizes.get_mut(dim) {
            *size = taken;
        }
        self
    }
}

/// Returns two different dimensions, the smaller first.
pub(super) fn two_dims(random: &mut Random, rank: usize) -> (usize, usize) {
    let a = random.below(rank as i64) as usize;
    let b = (a + random.within(1, rank as i64 - 1) as usize) % rank;
    (a.min(b), a.max(b))
}

/// Returns the ways to write a number as sizes of a tensor with 1 to 3 dimensions, in order. Sizes of 1 are left out.
pub(super) fn shapes_of(count: i64) -> Vec<Vec<i64>> {
    let divisors = |count: i64| (2..=count).filter(move |size| count % size == 0);
    let mut shapes = vec![vec![count]];
    for first in divisors(count).filter(|first| *first < count) {
        shapes.push(vec![first, count / first]);
        for second in divisors(count / first).filter(|second| first * second < count) {
            shapes.push(vec![first, second, count / first / second]);
        }
    }
    shapes
}

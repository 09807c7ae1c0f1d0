//! Measures how long an input takes.

use std::time::{Duration, Instant};

use super::failure::Cell;
use super::{Failure, Language, Session};

/// Samples shorter than this would measure the clock.
const SAMPLE: Duration = Duration::from_millis(2);

/// The time of one evaluation, over many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The number of evaluations.
    pub runs: u64,
    pub best: Duration,
    pub median: Duration,
}

impl Session {
    /// Evaluates an input over and over for about `budget` (once at least), without showing its value.
    ///
    /// # Errors
    /// What the input raises; the first failure ends it, and so does Ctrl-C.
    pub fn timeit(&mut self, language: Language, source: &str, budget: Duration) -> Result<Timing, Box<Failure>> {
        let rhai = match language {
            Language::Rhai if self.compile(source).is_ok() => source.to_owned(),
            _ => self.translated(source).unwrap_or_else(|| source.to_owned()),
        };
        let cell = Cell::rhai(&rhai);
        let ast = self.compile(&rhai).map_err(|error| self.refused(&error, &cell))?;
        let mut samples = Vec::new();
        let mut error = None;
        let (mut runs, mut batch) = (0, 1u64);
        let outcome = self.guarded(|session| {
            let begun = Instant::now();
            while error.is_none() && (samples.is_empty() || begun.elapsed() < budget) {
                let start = Instant::now();
                for _ in 0..batch {
                    if let Err(raised) = session.run(&ast, &cell) {
                        error = Some(*session.failed(&raised, &cell));
                        break;
                    }
                }
                let elapsed = start.elapsed();
                runs += batch;
                if elapsed < SAMPLE && begun.elapsed() < budget / 4 {
                    batch *= 2;
                    samples.clear();
                }
                samples.push(elapsed / u32::try_from(batch).unwrap_or(u32::MAX));
            }
            Ok(())
        });
        if let Some(failure) = error.or(outcome.error) {
            return Err(Box::new(failure));
        }
        samples.sort_unstable();
        let at = |index: usize| samples.get(index).copied().unwrap_or_default();
        Ok(Timing { runs, best: at(0), median: at(samples.len() / 2) })
    }
}

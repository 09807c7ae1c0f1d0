//! Measures the running time of an input.

use languages::python::code::Code;
use rhai::AST;
use std::rc::Rc;
use std::time::Duration;

use super::{Failure, Language, Session};
use languages::script::input::RhaiInput;
use tensor::system::Moment;

/// The minimum duration of a sample. Shorter ones would measure the clock.
const SAMPLE: Duration = Duration::from_millis(2);

/// The time of one evaluation, from many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Number of evaluations.
    pub runs: u64,
    pub best: Duration,
    pub median: Duration,
}

/// An input ready to run.
enum Input {
    Rhai(AST),
    Python(Rc<Code>),
}

impl Session {
    /// Evaluates an input repeatedly for about `budget`, at least once, without showing its value.
    ///
    /// # Errors
    /// Fails with the first error of the input, or if Ctrl-C stops it.
    pub(crate) fn timeit(
        &mut self,
        language: Language,
        source: &str,
        budget: Duration,
    ) -> Result<Timing, Box<Failure>> {
        let (input, cell) = match (language, self.compile(source, true)) {
            (Language::Rhai, Ok((ast, cell))) => (Input::Rhai(ast), cell),
            (Language::Rhai, Err((error, cell))) if !self.is_only_python(source) => {
                return Err(self.refused(&error, &cell));
            }
            _ => (Input::Python(self.prepare_python(source)?), RhaiInput::new(source, None, "")),
        };
        let mut samples = Vec::new();
        let mut error = None;
        let (mut runs, mut batch) = (0, 1u64);
        let outcome = self.guarded(|session| {
            let begun = Moment::now();
            while error.is_none() && (samples.is_empty() || begun.elapsed() < budget) {
                let start = Moment::now();
                for _ in 0..batch {
                    let done = match &input {
                        Input::Rhai(ast) => session.run(ast, &cell).map(drop).map_err(|e| session.failed(&e, &cell)),
                        Input::Python(code) => session.time_python(code, source),
                    };
                    if let Err(failure) = done {
                        error = Some(*failure);
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

//! `timestamp()`: moments of the clock, their differences in seconds, and their order. Rhai's own use the standard
//! library's clock, which does not exist in a page. Knows nothing about tensors.

use super::fault;
use rhai::{EvalAltResult, FuncRegistration, Module};
use std::time::Duration;
use tensor::system::Moment;
use tensor::{Error, ErrorKind};

type Scripted<T> = Result<T, Box<EvalAltResult>>;

/// Adds `timestamp()` and its operators and methods.
pub(super) fn register(module: &mut Module) {
    macro_rules! functions {
        ($($name:literal: $function:expr;)*) => {$(
            FuncRegistration::new($name).in_global_namespace().set_into_module(module, $function);
        )*};
    }
    functions! {
        "timestamp": Moment::now;
        "elapsed": elapsed;
        "-": |a: Moment, b: Moment| a.seconds_since(b);
        "+": |moment: Moment, seconds: f64| later(moment, seconds);
        "+": |moment: Moment, seconds: i64| later(moment, seconds as f64);
        "-": |moment: Moment, seconds: f64| later(moment, -seconds);
        "-": |moment: Moment, seconds: i64| later(moment, -(seconds as f64));
        "==": |a: Moment, b: Moment| a == b;
        "!=": |a: Moment, b: Moment| a != b;
        "<": |a: Moment, b: Moment| a < b;
        "<=": |a: Moment, b: Moment| a <= b;
        ">": |a: Moment, b: Moment| a > b;
        ">=": |a: Moment, b: Moment| a >= b;
    }
    let getter = FuncRegistration::new_getter("elapsed").in_global_namespace();
    getter.set_into_module(module, |moment: &mut Moment| elapsed(*moment));
}

fn elapsed(moment: Moment) -> f64 {
    Moment::now().seconds_since(moment)
}

fn later(moment: Moment, seconds: f64) -> Scripted<Moment> {
    let moved = Duration::try_from_secs_f64(seconds.abs()).ok().and_then(|by| moment.moved(by, seconds < 0.0));
    moved.ok_or_else(|| fault::thrown(Error::new(ErrorKind::OverflowError, "a timestamp too far from now")))
}

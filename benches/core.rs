//! Times views in the core, without the script engine above it: nanoseconds per call, from the fastest of many rounds.
//! Run by `scripts/house/bench`.

use std::hint::black_box;
use std::time::Instant;
use tensorsh::tensor::ops::view;
use tensorsh::tensor::{DType, Device, Result, Tensor, View};

const CALLS: u32 = 10_000;
const ROUNDS: u32 = 200;

fn main() -> Result<()> {
    let line = Tensor::new(View::zeros(&[16], DType::Float, Device::CPU)?);
    let matrix = Tensor::new(View::zeros(&[4, 4], DType::Float, Device::CPU)?);
    measure("view(2, 8)", || {
        let layout = line.borrow().layout.view(black_box(&[2, 8]))?;
        let view = line.borrow().with_layout(layout);
        Ok(line.new_view(view))
    })?;
    measure("t()", || {
        let view = view::t(&matrix.borrow())?;
        Ok(matrix.new_view(view))
    })?;
    measure("select(0, 3)", || {
        let layout = matrix.borrow().layout.select(0, black_box(3));
        let view = matrix.borrow().with_layout(layout);
        view.check_bounds()?;
        Ok(matrix.new_view(view))
    })
}

fn measure(name: &str, call: impl Fn() -> Result<Tensor>) -> Result<()> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(call()?);
        }
        best = best.min(start.elapsed().as_secs_f64() / f64::from(CALLS));
    }
    println!("{:<44} {:8.0} ns", format!("core: {name}"), best * 1e9);
    Ok(())
}

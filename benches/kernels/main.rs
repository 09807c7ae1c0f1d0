//! How long kernels take on 16 million elements, how much of what the machine can do that is, and how much memory they
//! take: beside PyTorch where `--python PROGRAM` names a Python that has it. Both programs are asked in turn, line by line,
//! so that whatever else the machine does falls on both; the shortest of many times counts.
//!
//! `cargo bench --bench kernels -- --python python3` measures the rows of the first table; names select others, of rows
//! (`exp`, `sum-transposed`) or of whole tables (`int8`), and what is no name is a line of one's own (`'x.cosh()'`).
//!
//!     --all       every row: the first table, and those for dtypes and layouts
//!     --runs N    as many runs, of which the median counts
//!     --memory    the peak of memory of each row instead of its time
//!     --plot      the times of some rows from one element to 100 million instead, as docs/growth.svg and docs/growth.md
//!
//! `scripts/house/bench` runs this, too.

mod growth;
mod limit;
mod memory;
mod peer;
mod rows;
mod serve;
mod table;

use std::error::Error;
use tensorsh::session::transcript::spawn_with_big_stack;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The one in the middle, or the mean of both.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let (low, high) = (figures.len().saturating_sub(1) / 2, figures.len() / 2);
    match (figures.get(low), figures.get(high)) {
        (Some(low), Some(high)) => (low + high) / 2.0,
        _ => f64::NAN,
    }
}

fn main() -> Outcome<()> {
    let (mut names, mut python, mut runs, mut what) = (Vec::new(), None, 1, "--times".to_owned());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // What cargo adds.
            "--bench" => {}
            "--python" => python = Some(arguments.next().ok_or("--python: which?")?),
            "--runs" => runs = arguments.next().ok_or("--runs: how many?")?.parse()?,
            "--all" => names.extend(rows::tables().iter().map(|table| table.name.to_owned())),
            "--memory" | "--plot" | "--serve" => what = argument,
            unknown if unknown.starts_with("--") => return Err(format!("{unknown}: no such option").into()),
            _ => names.push(argument),
        }
    }
    let tables = rows::selected(&names);
    match what.as_str() {
        // Sessions need room on the stack.
        "--serve" => {
            let session = spawn_with_big_stack("session", || serve::serve().map_err(|error| error.to_string()))?;
            Ok(session.join().map_err(|_| "the session panicked")??)
        }
        "--memory" => memory::measure(&tables, python.as_deref()),
        "--plot" => growth::measure(python.as_deref().ok_or("--plot: needs --python")?),
        _ => table::measure(&tables, python.as_deref(), runs),
    }
}

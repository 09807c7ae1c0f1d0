//! Measures kernels on 16 million elements: their time, the share of the machine's limits they reach, and their memory.
//! Compares with PyTorch if `--python PROGRAM` names a Python that has it. Both programs run in turn, line by line, so
//! that other load on the machine affects both. The shortest of many times counts.
//!
//! `cargo bench --bench kernels -- --python python3` measures the rows of the first table. Names select other rows
//! (`exp`, `sum-transposed`) or whole tables (`int8`). Anything that is not a name is a line of your own
//! (`'x.cosh()'`).
//!
//!     --all       every row: the first table, and those for dtypes and layouts
//!     --runs N    number of runs, of which the median counts
//!     --calls     350 calls of all kinds instead, on 4,096, 65,536 and 4,194,304 elements
//!     --memory    the peak memory of each row in place of its time
//!     --plot      the times of some rows for one element to 100 million, as docs/growth.svg and docs/growth.md
//!
//! `scripts/house/bench` runs this, too.

mod calls;
mod growth;
mod limit;
mod memory;
mod peer;
mod rows;
mod serve;
mod table;

use std::error::Error;
use tensorsh::session::transcript::spawn_with_big_stack;
use tensorsh::tensor::system::{Machine, System};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Returns the median: the middle value, or the mean of the two middle ones.
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
            // Added by cargo.
            "--bench" => {}
            "--python" => python = Some(arguments.next().ok_or("--python: which?")?),
            "--runs" => runs = arguments.next().ok_or("--runs: how many?")?.parse()?,
            "--all" => names.extend(rows::tables().iter().map(|table| table.name.to_owned())),
            "--calls" | "--memory" | "--plot" | "--serve" => what = argument,
            unknown if unknown.starts_with("--") => return Err(format!("{unknown}: no such option").into()),
            _ => names.push(argument),
        }
    }
    let tables = rows::selected(&names);
    match what.as_str() {
        // Sessions need a large stack.
        "--serve" => {
            System::keep_freed_memory();
            let session = spawn_with_big_stack("session", || serve::serve().map_err(|error| error.to_string()))?;
            Ok(session.join().map_err(|_| "the session panicked")??)
        }
        "--calls" => calls::measure(&names, python.as_deref(), runs),
        "--memory" => memory::measure(&tables, python.as_deref()),
        "--plot" => growth::measure(python.as_deref().ok_or("--plot: needs --python")?),
        _ => table::measure(&tables, python.as_deref(), runs),
    }
}

//! The table of times: ours, PyTorch's, and the share of the machine's limits.

use crate::limit::{Limit, Streams};
use crate::peer::{PAUSE, Peer, Tally, Turns, prepare, take_turns};
use crate::rows::Table;
use crate::{Outcome, median};
use std::collections::HashMap;
use std::thread;
use std::time::Duration;

/// The turns of each side per row and run: many, but not for minutes.
const TURNS: Turns = Turns { least: 3, most: 30, long_enough: Duration::from_secs(3) };

/// The measurements of a row in one run: …
struct Measured {
    /// … the times of each side, …
    sides: Vec<Tally>,
    /// … and the minimum number of seconds.
    least: Option<f64>,
}

/// Measures the rows of all tables in several runs. Prints for each row the medians over the runs of the shortest time
/// and of the mean processor time.
pub(crate) fn measure(tables: &[Table], python: Option<&str>, runs: usize) -> Outcome<()> {
    let (mut peers, mut streams) = (Peer::pair(python)?, Streams::new());
    let mut measured: HashMap<&str, Vec<Measured>> = HashMap::new();
    let (mut machine, mut ratios) = (Limit::NONE, Vec::new());
    for run in 1..=runs {
        if run == runs {
            print_head(peers.len() > 1);
        }
        for table in tables {
            prepare(&mut peers, table)?;
            for row in &table.rows {
                let mut sides: Vec<_> = peers.iter().map(|_| Tally::of_calls(1)).collect();
                let mut limit = Limit::NONE;
                take_turns(&mut peers, &row.line, &mut sides, TURNS, || {
                    thread::sleep(PAUSE);
                    limit = limit.or(streams.turn()?);
                    Ok(())
                })?;
                machine = machine.or(limit);
                let least = limit.seconds(peers[0].bytes(row, table)?, &row.bound());
                let all = measured.entry(&row.name).or_default();
                all.push(Measured { sides, least });
                if run == runs {
                    ratios.extend(print_row(&row.name, all).map(|ratio| (row.name.as_str(), ratio)));
                }
            }
        }
    }
    println!("\nAt best {}.", machine.describe());
    print_slower(ratios);
    Ok(())
}

fn print_head(beside: bool) {
    print!("{:30}{:>10}{:>11}", "milliseconds", "tensorsh", "processor");
    if beside {
        print!("{:>10}{:>11}{:>8}", "PyTorch", "processor", "ratio");
    }
    print!("{:>10}{:>10}", "limit", "tensorsh");
    println!("{}", if beside { "   PyTorch" } else { "" });
}

/// Prints a row, and returns the ratio of the times if there are two.
fn print_row(name: &str, runs: &[Measured]) -> Option<f64> {
    let of = |figure: &dyn Fn(&Measured) -> Option<f64>| median(runs.iter().filter_map(figure).collect());
    let sides: Vec<_> = (0..runs[0].sides.len())
        .map(|side| [of(&|run| Some(run.sides[side].shortest)), of(&|run| Some(run.sides[side].cpu()))])
        .collect();
    print!("{name:30}");
    for [wall, cpu] in &sides {
        print!("{:10.2}{:11.1}", wall * 1e3, cpu * 1e3);
    }
    let ratio = sides.get(1).map(|[theirs, _]| sides[0][0] / theirs);
    if let Some(ratio) = ratio {
        print!("{ratio:8.2}");
    }
    match runs[0].least {
        Some(_) => {
            let share = |side: usize| of(&|run| Some(run.least? / run.sides[side].shortest));
            print!("{:10.2}", of(&|run| run.least) * 1e3);
            (0..sides.len()).for_each(|side| print!("{:8.0} %", share(side) * 100.0));
        }
        None => print!("{:>10}", "none"),
    }
    println!();
    ratio
}

fn print_slower(mut ratios: Vec<(&str, f64)>) {
    let all = ratios.len();
    ratios.retain(|(_, ratio)| *ratio > 1.0);
    if all > 0 {
        ratios.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        println!("\n{} of {all} rows take no longer than PyTorch's. Longer, by their ratios:", all - ratios.len());
        ratios.iter().for_each(|(name, ratio)| println!("{name:30}{ratio:8.2}"));
    }
}

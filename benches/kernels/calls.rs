//! The calls of calls.txt, of all kinds, on a few thousand elements, which stay in the nearest caches, on many thousand, and
//! on four million.

use crate::peer::{Peer, Tally, Turns, take_turns};
use crate::rows::{Row, Table};
use crate::{Outcome, median};
use std::time::Duration;

/// The operands, a line each, and after an empty line the name and the line of each row.
const CALLS: &str = include_str!("calls.txt");

/// The sides of the matrices.
const SIDES: [usize; 3] = [64, 256, 2048];

/// A turn has as many calls as take this many seconds, but at most [`MOST`].
const TURN: f64 = 1e-3;
const MOST: usize = 1000;
const TURNS: Turns = Turns { least: 3, most: 10, long_enough: Duration::from_millis(400) };

/// The ratio from which a row is listed.
const LISTED: f64 = 1.2;

/// Returns the rows and their operands.
pub(crate) fn table() -> Table {
    let (operands, rows) = CALLS.split_once("\n\n").unwrap_or_default();
    let row =
        |line: &str| line.split_once('\t').map(|(name, line)| Row { name: name.to_owned(), line: line.to_owned() });
    Table {
        name: "calls",
        operands: operands.lines().filter_map(|line| line.split_once(" = ")).collect(),
        rows: rows.lines().filter_map(row).collect(),
    }
}

/// Measures the calls in several runs. Prints the rows that take longer than PyTorch's on some size, with the medians of
/// our time and of the ratio, and a summary of each size. Without a Python, prints our times of all rows.
pub(crate) fn measure(names: &[String], python: Option<&str>, runs: usize) -> Outcome<()> {
    let mut table = table();
    table.rows.retain(|row| names.is_empty() || names.contains(&row.name));
    // For each row and size, the times of both sides in each run.
    let mut times = vec![SIDES.map(|_| Vec::new()); table.rows.len()];
    for _ in 0..runs {
        for (k, side) in SIDES.into_iter().enumerate() {
            let mut peers = Peer::pair(python)?;
            peers.iter_mut().for_each(|peer| peer.is_python = true);
            let lines: Vec<_> = table.rows.iter().map(|row| row.line.as_str()).collect();
            peers.iter_mut().try_for_each(|peer| peer.prepare(&table, &lines, side))?;
            for (line, times) in lines.into_iter().zip(&mut times) {
                times[k].push(turns(&mut peers, line)?);
            }
        }
    }
    let summaries: Vec<[Summary; SIDES.len()]> =
        times.iter().map(|row| row.each_ref().map(|t| Summary::of(t))).collect();
    print!("{:20}", "elements");
    SIDES.iter().for_each(|side| print!("{:>14} us  ratio", side * side));
    println!();
    let mut rows: Vec<_> = table.rows.iter().zip(&summaries).collect();
    let most = |summaries: &[Summary]| summaries.iter().map(|one| one.ratio).fold(f64::NAN, f64::max);
    rows.sort_by(|(_, a), (_, b)| most(*b).total_cmp(&most(*a)));
    for (row, summaries) in rows.into_iter().filter(|(_, row)| python.is_none() || most(*row) > LISTED) {
        print!("{:20}", row.name);
        summaries.iter().for_each(|one| print!("{:17.1}{:7.2}", one.ours * 1e6, one.ratio));
        println!();
    }
    for (k, side) in SIDES.iter().enumerate() {
        let ratios: Vec<f64> = summaries.iter().map(|row| row[k].ratio).filter(|ratio| !ratio.is_nan()).collect();
        if !ratios.is_empty() {
            let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
            let (listed, all) = (ratios.iter().filter(|&&ratio| ratio > LISTED).count(), ratios.len());
            let most = ratios.iter().copied().fold(f64::NAN, f64::max);
            let elements = side * side;
            println!(
                "{elements} elements: geometric mean {mean:.2}, {listed} of {all} above {LISTED}, worst {most:.1}"
            );
        }
    }
    Ok(())
}

/// The medians over the runs: our time in seconds, and its ratio to PyTorch's.
struct Summary {
    ours: f64,
    ratio: f64,
}

impl Summary {
    fn of(runs: &[Vec<f64>]) -> Summary {
        let ratios = runs.iter().filter_map(|sides| Some(sides.first()? / sides.get(1)?));
        Summary { ours: median(runs.iter().map(|sides| sides[0]).collect()), ratio: median(ratios.collect()) }
    }
}

/// Returns the shortest time of a call on each side, over several turns.
fn turns(peers: &mut [Peer], line: &str) -> Outcome<Vec<f64>> {
    let mut tallies = Vec::new();
    for peer in &mut *peers {
        let once = peer.time(line, 1)?.wall.min(peer.time(line, 1)?.wall);
        tallies.push(Tally::of_calls(((TURN / once) as usize).clamp(1, MOST)));
    }
    take_turns(peers, line, &mut tallies, TURNS, || Ok(()))?;
    Ok(tallies.iter().map(|tally| tally.shortest).collect())
}

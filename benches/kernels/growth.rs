//! Measures how times grow with the number of elements: some rows of the first table for one element to 100 million.
//! Writes a picture, and a page that describes it.

mod page;
mod plot;

use crate::Outcome;
use crate::limit::{Limit, Streams};
use crate::peer::{Bytes, Peer, Tally, Turns, take_turns};
use crate::rows::{self, Row};
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tensorsh::tensor::parallel::cores;

const ROWS: [&str; 12] =
    ["copy", "add", "add-in-place", "to-float16", "less", "where", "exp", "sum", "max", "cumsum", "gather", "sort"];

/// Powers of ten and the points halfway between them, up to 100 million.
const STEPS: i32 = 16;

/// A turn has as many calls as take this many seconds, …
const TURN: f64 = 8e-3;
/// … but at most this many.
const MOST_CALLS: usize = 1 << 20;
const TURNS: Turns = Turns { least: 1, most: 8, long_enough: Duration::from_millis(500) };

/// The measurements of a row.
struct Curve {
    name: String,
    line: String,
    /// In order of the number of elements.
    points: Vec<Point>,
}

struct Point {
    elements: usize,
    bytes: Bytes,
    /// Seconds per call in tensorsh.
    ours: f64,
    /// Seconds per call in PyTorch.
    theirs: f64,
    /// The minimum number of seconds, if the operands are not in a cache.
    least: f64,
}

/// Selects one time of a point.
type Side = fn(&Point) -> f64;

impl Curve {
    /// Returns the number of elements from which a call's operands and results exceed the largest cache.
    fn outgrown(&self, machine: &Machine) -> Option<f64> {
        let Point { elements, bytes, .. } = self.points.last()?;
        Some(machine.cache / ((bytes.read + bytes.written) / *elements as f64))
    }
}

/// Measures, and writes the picture and the page.
pub(crate) fn measure(python: &str) -> Outcome<()> {
    let mut table = rows::selected(&ROWS.map(str::to_owned)).pop().ok_or("no row")?;
    // In the order of `ROWS`, not of the table.
    table.rows.sort_by_key(|row| ROWS.iter().position(|name| *name == row.name));
    let lines: Vec<_> = table.rows.iter().map(|row| row.line.as_str()).collect();
    let mut peers = Peer::pair(Some(python))?;
    let mut streams = Streams::new();
    let curve = |row: &Row| Curve { name: row.name.clone(), line: row.line.clone(), points: Vec::new() };
    let mut curves: Vec<_> = table.rows.iter().map(curve).collect();
    for step in 0..=STEPS {
        let elements = 10f64.powf(f64::from(step) / 2.0).round() as usize;
        println!("{elements} elements");
        for peer in &mut peers {
            peer.prepare_line(&table, &lines, elements)?;
        }
        // Measured separately for each size: other machines may share this one's memory.
        let limit = (0..5).try_fold(Limit::NONE, |limit, _| Ok::<_, Box<dyn Error>>(limit.or(streams.turn()?)))?;
        for (row, curve) in table.rows.iter().zip(&mut curves) {
            let tallies = peers.iter_mut().map(|peer| Ok(Tally::of_calls(calls(peer, &row.line)?)));
            let mut tallies = tallies.collect::<Outcome<Vec<_>>>()?;
            take_turns(&mut peers, &row.line, &mut tallies, TURNS, || Ok(()))?;
            let [ours, theirs] = [tallies[0].shortest, tallies[1].shortest];
            println!("    {:24}{:>10}{:>10}", row.name, page::duration(ours), page::duration(theirs));
            let bytes = peers[0].bytes(row, &table)?;
            let least = limit.seconds(bytes, &row.bound()).ok_or("a row without a limit")?;
            curve.points.push(Point { elements, bytes, ours, theirs, least });
        }
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let machine = Machine::ask()?;
    fs::write(docs.join("growth.svg"), plot::draw(&curves, &machine))?;
    fs::write(docs.join("growth.md"), page::write(&curves, &machine)?)?;
    Ok(())
}

/// Returns the number of calls that make a turn.
fn calls(peer: &mut Peer, line: &str) -> Outcome<usize> {
    // The first call is slower than the others.
    if peer.time(line, 1)?.wall > 1.0 {
        return Ok(1);
    }
    let mut calls = 1;
    loop {
        let wall = peer.time(line, calls)?.wall;
        if wall > TURN / 2.0 || calls == MOST_CALLS {
            return Ok(calls);
        }
        let factor = (TURN / wall).clamp(2.0, 64.0);
        calls = ((calls as f64 * factor) as usize).min(MOST_CALLS);
    }
}

/// The machine of the measurements.
struct Machine {
    processor: String,
    /// The size of the largest cache in bytes.
    cache: f64,
}

impl Machine {
    fn describe(&self) -> String {
        format!("{} cores of {}", cores(), self.processor)
    }

    fn ask() -> Outcome<Machine> {
        let table = fs::read_to_string("/proc/cpuinfo")?;
        let name = table.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("an unknown processor");
        let cache = fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size")?;
        let kilobytes: f64 = cache.trim_end().trim_end_matches('K').parse()?;
        Ok(Machine { processor: name.trim_start_matches([':', '\t', ' ']).to_owned(), cache: kilobytes * 1024.0 })
    }
}

//! The two programs that are measured, as processes that answer lines: ours is this bench itself, PyTorch's is a Python.

use crate::Outcome;
use crate::rows::{Row, SIDE, Table};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

/// Answers as [`crate::serve`] does.
const SERVER: &str = include_str!("server.py");

/// Between two turns: threads have time to fall asleep that a library keeps spinning after its work.
pub(crate) const PAUSE: Duration = Duration::from_millis(5);

pub(crate) struct Peer {
    child: Child,
    /// `None` once it is asked to end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// By the clock, and of the processor by all threads together, in seconds.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub wall: f64,
    pub cpu: f64,
}

/// Bytes that a row's operands and results have.
#[derive(Clone, Copy)]
pub(crate) struct Bytes {
    pub read: f64,
    pub written: f64,
    /// Those of `written` that were not there before.
    pub made: f64,
}

impl Peer {
    /// This bench; and PyTorch, where there is a Python that has it.
    pub(crate) fn pair(python: Option<&str>) -> Outcome<Vec<Peer>> {
        let mut peers = vec![Peer::start(Command::new(std::env::current_exe()?).arg("--serve"))?];
        if let Some(python) = python {
            peers.push(Peer::start(Command::new(python).args(["-c", SERVER]))?);
        }
        Ok(peers)
    }

    fn start(command: &mut Command) -> Outcome<Peer> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        Ok(Peer { child, input, output })
    }

    fn ask<T: FromStr>(&mut self, question: &str) -> Outcome<Vec<T>> {
        writeln!(self.input.as_mut().ok_or("no standard input")?, "{question}")?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        if !answer.ends_with('\n') {
            return Err(format!("no answer to: {question}").into());
        }
        let numbers: Result<_, _> = answer.split_whitespace().map(str::parse).collect();
        numbers.map_err(|_| format!("{question}: {answer}").into())
    }

    /// Runs a statement of Python.
    pub(crate) fn run(&mut self, line: &str) -> Outcome<()> {
        self.ask::<f64>(&format!("run {line}")).map(|_| ())
    }

    /// Makes the operands that lines of a table name, of `side` × `side` elements.
    pub(crate) fn prepare(&mut self, table: &Table, lines: &[&str], side: usize) -> Outcome<()> {
        self.run(&format!("side = {side}"))?;
        self.prepare_line(table, lines, side * side)
    }

    /// Same as [`Peer::prepare`], for operands of one dimension.
    pub(crate) fn prepare_line(&mut self, table: &Table, lines: &[&str], n: usize) -> Outcome<()> {
        self.run("torch.manual_seed(0)")?;
        self.run(&format!("n = {n}"))?;
        let operands = table.operands_of(lines);
        operands.iter().try_for_each(|(name, made)| self.run(&format!("{name} = {made}")))
    }

    /// Evaluates a line so often and drops each result at once: the time of all.
    pub(crate) fn time(&mut self, line: &str, count: usize) -> Outcome<Times> {
        match self.ask(&format!("time {count} {line}"))?[..] {
            [wall, cpu] => Ok(Times { wall, cpu }),
            _ => Err(format!("not two numbers for: {line}").into()),
        }
    }

    /// Bytes of memory that a line takes at its peak, above what the process had before it.
    pub(crate) fn peak(&mut self, line: &str) -> Outcome<f64> {
        self.ask(&format!("peak {line}"))?.first().copied().ok_or_else(|| format!("no number for: {line}").into())
    }

    /// Bytes that a row reads and writes; only our side can tell.
    pub(crate) fn bytes(&mut self, row: &Row, table: &Table) -> Outcome<Bytes> {
        let overwrites = if row.overwrites() { "True" } else { "False" };
        match self.ask(&format!("bytes {}, {overwrites}, [{}]", row.line, row.arguments(table)))?[..] {
            [read, written, made] => Ok(Bytes { read, written, made }),
            _ => Err(format!("not three numbers for: {}", row.line).into()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The end of its input ends it. What it says about that no longer matters.
        self.input = None;
        let _ = self.child.wait();
    }
}

/// What one side took for all its turns, each of as many calls.
pub(crate) struct Tally {
    pub shortest: f64,
    cpu: f64,
    turns: u32,
    calls: usize,
}

impl Tally {
    pub(crate) fn of_calls(calls: usize) -> Tally {
        Tally { shortest: f64::INFINITY, cpu: 0.0, turns: 0, calls }
    }

    fn add(&mut self, times: Times) {
        self.shortest = self.shortest.min(times.wall / self.calls as f64);
        self.cpu += times.cpu / self.calls as f64;
        self.turns += 1;
    }

    /// Seconds of the processor that a call took, on average.
    pub(crate) fn cpu(&self) -> f64 {
        self.cpu / f64::from(self.turns.max(1))
    }
}

/// How often each side is asked: the least and the most, and no more than the least beyond a time.
#[derive(Clone, Copy)]
pub(crate) struct Turns {
    pub least: u32,
    pub most: u32,
    pub long_enough: Duration,
}

/// Asks the sides in turn, and then does `what`, so that whatever else the machine does falls on all.
pub(crate) fn take_turns(
    peers: &mut [Peer],
    line: &str,
    tallies: &mut [Tally],
    turns: Turns,
    mut what: impl FnMut() -> Outcome<()>,
) -> Outcome<()> {
    let start = Instant::now();
    for turn in 0..turns.most {
        if turn >= turns.least && start.elapsed() > turns.long_enough {
            break;
        }
        for side in 0..peers.len() {
            // Nobody always comes first: after `what`, caches and clocks are not as they are after the other side.
            let side = if turn % 2 == 0 { side } else { peers.len() - 1 - side };
            thread::sleep(PAUSE);
            if let (Some(peer), Some(tally)) = (peers.get_mut(side), tallies.get_mut(side)) {
                tally.add(peer.time(line, tally.calls)?);
            }
        }
        what()?;
    }
    Ok(())
}

/// Same as [`Peer::prepare`], on all sides, at the size of the tables.
pub(crate) fn prepare(peers: &mut [Peer], table: &Table) -> Outcome<()> {
    let lines: Vec<_> = table.rows.iter().map(|row| row.line.as_str()).collect();
    peers.iter_mut().try_for_each(|peer| peer.prepare(table, &lines, SIDE))
}

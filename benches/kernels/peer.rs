//! The two programs being measured, as processes that answer lines: ours is this bench itself, PyTorch's is a Python.

use crate::Outcome;
use crate::rows::{Row, SIDE, Table};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

/// The Python counterpart of [`crate::serve`].
const SERVER: &str = include_str!("server.py");

/// The pause between two turns. Some libraries keep their threads spinning after work; the pause lets them fall asleep.
pub(crate) const PAUSE: Duration = Duration::from_millis(5);

pub(crate) struct Peer {
    child: Child,
    /// `None` once the process has been asked to end.
    input: Option<ChildStdin>,
    /// Whether lines are Python's on our side too, instead of Rhai's.
    pub is_python: bool,
    output: BufReader<ChildStdout>,
}

/// Wall-clock time, and processor time of all threads together, in seconds.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub wall: f64,
    pub cpu: f64,
}

/// The number of bytes of a row's operands and results.
#[derive(Clone, Copy)]
pub(crate) struct Bytes {
    pub read: f64,
    pub written: f64,
    /// The newly allocated part of `written`.
    pub made: f64,
}

impl Peer {
    /// Starts this bench and, if a Python is given, PyTorch.
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
        Ok(Peer { child, input, is_python: false, output })
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

    /// Runs a Python statement.
    pub(crate) fn run(&mut self, line: &str) -> Outcome<()> {
        self.ask::<f64>(&format!("run {line}")).map(|_| ())
    }

    /// Creates the operands that lines of a table name, with `side` × `side` elements.
    pub(crate) fn prepare(&mut self, table: &Table, lines: &[&str], side: usize) -> Outcome<()> {
        self.run(&format!("side = {side}"))?;
        self.prepare_line(table, lines, side * side)
    }

    /// Same as [`Peer::prepare`], for one-dimensional operands.
    pub(crate) fn prepare_line(&mut self, table: &Table, lines: &[&str], n: usize) -> Outcome<()> {
        self.run("torch.manual_seed(0)")?;
        self.run(&format!("n = {n}"))?;
        let operands = table.operands_of(lines);
        operands.iter().try_for_each(|(name, made)| self.run(&format!("{name} = {made}")))
    }

    /// Evaluates a line `count` times, dropping each result immediately, and returns the total time.
    pub(crate) fn time(&mut self, line: &str, count: usize) -> Outcome<Times> {
        let question = if self.is_python { "call" } else { "time" };
        match self.ask(&format!("{question} {count} {line}"))?[..] {
            [wall, cpu] => Ok(Times { wall, cpu }),
            _ => Err(format!("not two numbers for: {line}").into()),
        }
    }

    /// Returns the peak memory of a line in bytes, above the process's memory before it.
    pub(crate) fn peak(&mut self, line: &str) -> Outcome<f64> {
        self.ask(&format!("peak {line}"))?.first().copied().ok_or_else(|| format!("no number for: {line}").into())
    }

    /// Returns the bytes that a row reads and writes. Only our side can tell.
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
        // The process ends when its input ends. Errors no longer matter.
        self.input = None;
        let _ = self.child.wait();
    }
}

/// The times of one side over all its turns, each with the same number of calls.
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

    /// Returns the mean processor time of a call in seconds.
    pub(crate) fn cpu(&self) -> f64 {
        self.cpu / f64::from(self.turns.max(1))
    }
}

/// The number of turns per side: at least `least`, at most `most`, and no more than `least` after the time
/// `long_enough`.
#[derive(Clone, Copy)]
pub(crate) struct Turns {
    pub least: u32,
    pub most: u32,
    pub long_enough: Duration,
}

/// Runs the sides in turn, followed by `what`, so that other load on the machine affects all.
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
            // Alternate the order of the two sides: each one leaves caches and clock frequency changed for the next.
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

/// Same as [`Peer::prepare`], on all sides, with the size of the tables.
pub(crate) fn prepare(peers: &mut [Peer], table: &Table) -> Outcome<()> {
    let lines: Vec<_> = table.rows.iter().map(|row| row.line.as_str()).collect();
    peers.iter_mut().try_for_each(|peer| peer.prepare(table, &lines, SIDE))
}

//! How long kernels take on 16 million elements, beside PyTorch where `--python PROGRAM` names a Python that has it.
//! Both programs are asked in turn, line by line, so that whatever else the machine does falls on both; between turns
//! threads have time to fall asleep that a library keeps spinning after its work. The shortest of many times counts. A second figure is the processor time that all threads together took.
//!
//! `scripts/house/bench` runs this; `cargo bench --bench kernels -- --python python3 exp sum 'x.cosh()'` only some rows,
//! or lines of one's own.

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tensorsh::session::{Language, Session, SessionOptions};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What both sides run first.
const SETUP: &[&str] = &[
    "torch.manual_seed(0)",
    "n = 4096 * 4096",
    "x = torch.rand(n)",
    "y = torch.rand(n)",
    "z = torch.rand(n)",
    "h = x.half()",
    "i = x.int()",
    "c = x < y",
    "p = torch.randperm(n)",
    "m = x.view(4096, 4096)",
    "a = torch.rand(1024, 1024)",
    "b = torch.rand(1024, 1024)",
];

/// Name, and what is timed.
const ROWS: &[(&str, &str)] = &[
    ("copy", "z.copy_(x)"),
    ("clone", "x.clone()"),
    ("transposed-contiguous", "m.t().contiguous()"),
    ("to-float16", "x.half()"),
    ("to-bfloat16", "x.bfloat16()"),
    ("to-float8_e4m3fn", "x.to(torch.float8_e4m3fn)"),
    ("to-float8_e5m2", "x.to(torch.float8_e5m2)"),
    ("to-int32", "x.int()"),
    ("to-float64", "x.double()"),
    ("add", "x + y"),
    ("add-in-place", "z.add_(x)"),
    ("add-float16", "h + h"),
    ("add-int32", "i + i"),
    ("mul", "x * y"),
    ("mul-number", "x * 3.0"),
    ("div", "x / y"),
    ("pow", "x ** 2.5"),
    ("sqrt", "x.sqrt()"),
    ("relu", "x.relu()"),
    ("clamp", "x.clamp(0.25, 0.75)"),
    ("less", "x < y"),
    ("where", "torch.where(c, x, y)"),
    ("logical-and", "c & c"),
    ("masked-fill", "x.masked_fill(c, 0.5)"),
    ("exp", "x.exp()"),
    ("log", "x.log()"),
    ("log1p", "x.log1p()"),
    ("sin", "x.sin()"),
    ("cos", "x.cos()"),
    ("tanh", "x.tanh()"),
    ("sigmoid", "x.sigmoid()"),
    ("atan", "x.atan()"),
    ("erf", "x.erf()"),
    ("softmax", "m.softmax(1)"),
    ("sum", "x.sum()"),
    ("sum-rows", "m.sum(0)"),
    ("sum-columns", "m.sum(1)"),
    ("sum-int32", "i.sum()"),
    ("mean", "x.mean()"),
    ("norm", "x.norm()"),
    ("var", "x.var()"),
    ("var-columns", "m.var(1)"),
    ("prod", "x.prod()"),
    ("max", "x.max()"),
    ("max-rows", "m.amax(0)"),
    ("max-columns", "m.amax(1)"),
    ("max-and-index", "m.max(1)"),
    ("argmax", "x.argmax()"),
    ("any", "c.any()"),
    ("all", "c.all()"),
    ("count-nonzero", "c.count_nonzero()"),
    ("cumsum", "x.cumsum(0)"),
    ("cat", "torch.cat([x, y])"),
    ("gather", "x[p]"),
    ("arange", "torch.arange(0, n)"),
    ("fill", "z.fill_(0.5)"),
    ("rand", "torch.rand(n)"),
    ("randn", "torch.randn(n)"),
    ("sort", "x.sort()"),
    ("matmul-1024", "a.mm(b)"),
];

/// Answers `run LINE` with an empty line, and `time LINE` with nanoseconds by the clock and of the processor.
const SERVER: &str = r#"
import sys, time, torch
names = {"torch": torch}
for line in sys.stdin:
    what, code = line.rstrip("\n").split(" ", 1)
    if what == "run":
        exec(code, names)
        print(flush=True)
        continue
    code = compile(code, "row", "eval")
    cpu, start = time.process_time_ns(), time.perf_counter_ns()
    eval(code, names)
    print(time.perf_counter_ns() - start, time.process_time_ns() - cpu, flush=True)
"#;

struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn start(python: &str) -> Outcome<Peer> {
        let mut child =
            Command::new(python).args(["-c", SERVER]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("no standard input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        Ok(Peer { child, input, output })
    }

    fn ask(&mut self, what: &str, line: &str) -> Outcome<String> {
        writeln!(self.input, "{what} {line}")?;
        let mut answer = String::new();
        match self.output.read_line(&mut answer)? {
            0 => Err(format!("{} ended at: {line}", self.child.id()).into()),
            _ => Ok(answer),
        }
    }

    fn time(&mut self, line: &str) -> Outcome<Times> {
        let answer = self.ask("time", line)?;
        let mut numbers = answer.split_whitespace().map(|n| n.parse().map(Duration::from_nanos));
        let mut next = || numbers.next().ok_or_else(|| format!("not two numbers: {answer}"));
        Ok(Times { wall: next()??, cpu: next()?? })
    }
}

/// By the clock, and of the processor by all threads together.
#[derive(Clone, Copy)]
struct Times {
    wall: Duration,
    cpu: Duration,
}

/// What one side took for all its turns.
struct Tally {
    shortest: Duration,
    cpu: Duration,
    turns: u32,
}

impl Tally {
    const NONE: Tally = Tally { shortest: Duration::MAX, cpu: Duration::ZERO, turns: 0 };

    fn add(&mut self, times: Times) {
        self.shortest = self.shortest.min(times.wall);
        self.cpu += times.cpu;
        self.turns += 1;
    }

    /// Milliseconds by the clock, at best, and of the processor, on average.
    fn milliseconds(&self) -> (f64, f64) {
        (self.shortest.as_secs_f64() * 1e3, self.cpu.as_secs_f64() * 1e3 / f64::from(self.turns.max(1)))
    }
}

/// The processor time that this process has had, in steps of the system's clock: it only tells over many turns.
fn cpu() -> Outcome<Duration> {
    const TICK: Duration = Duration::from_millis(10);
    let line = fs::read_to_string("/proc/self/stat")?;
    let fields = line.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(11).take(2).map(str::parse::<u32>).sum::<Result<u32, _>>()?;
    Ok(TICK * ticks)
}

fn eval(session: &mut Session, language: Language, line: &str) -> Outcome<()> {
    match session.eval(language, line).error {
        Some(error) => Err(format!("{line}: {}", error.message).into()),
        None => Ok(()),
    }
}

fn time(session: &mut Session, line: &str) -> Outcome<Times> {
    let (used, start) = (cpu()?, Instant::now());
    // Rhai's semicolon drops the result at once, as Python's `eval` does.
    eval(session, Language::Rhai, &format!("{line};"))?;
    Ok(Times { wall: start.elapsed(), cpu: cpu()?.saturating_sub(used) })
}

/// Turns each side gets: many, but not for minutes.
const TURNS: u32 = 40;
const LONG_ENOUGH: Duration = Duration::from_secs(4);
/// Between two turns.
const PAUSE: Duration = Duration::from_millis(5);

/// A row by its name; what is none is a line to be timed.
fn row(wanted: &str) -> (&str, &str) {
    ROWS.iter().copied().find(|(name, _)| *name == wanted).unwrap_or((wanted, wanted))
}

fn measure(wanted: &[String], python: Option<&str>) -> Outcome<()> {
    let mut session = Session::new(SessionOptions::default());
    let mut peer = python.map(Peer::start).transpose()?;
    for line in SETUP {
        eval(&mut session, Language::Python, line)?;
        if let Some(peer) = &mut peer {
            peer.ask("run", line)?;
        }
    }
    println!(
        "{:24}{:>12}{:>12}{:>12}{:>12}{:>8}{:>8}",
        "ms", "tensorsh", "processor", "PyTorch", "processor", "ratio", "ratio"
    );
    let rows = if wanted.is_empty() { ROWS.to_vec() } else { wanted.iter().map(|name| row(name)).collect() };
    for (name, line) in rows {
        let (mut ours, mut theirs, start) = (Tally::NONE, Tally::NONE, Instant::now());
        while ours.turns < 3 || ours.turns < TURNS && start.elapsed() < LONG_ENOUGH {
            thread::sleep(PAUSE);
            ours.add(time(&mut session, line)?);
            if let Some(peer) = &mut peer {
                thread::sleep(PAUSE);
                theirs.add(peer.time(line)?);
            }
        }
        let (wall, cpu) = ours.milliseconds();
        print!("{name:24}{wall:12.2}{cpu:12.1}");
        if peer.is_some() {
            let (their_wall, their_cpu) = theirs.milliseconds();
            print!("{their_wall:12.2}{their_cpu:12.1}{:8.2}{:8.2}", wall / their_wall, cpu / their_cpu);
        }
        println!();
    }
    if let Some(Peer { mut child, input, .. }) = peer {
        // The end of its input ends it.
        drop(input);
        child.wait()?;
    }
    Ok(())
}

fn main() -> Outcome<()> {
    let (mut rows, mut python) = (Vec::new(), None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // What cargo adds.
            "--bench" => {}
            "--python" => python = Some(arguments.next().ok_or("--python: which?")?),
            row => rows.push(row.to_owned()),
        }
    }
    // Sessions need room on the stack.
    let thread = thread::Builder::new().stack_size(256 << 20);
    let run = thread.spawn(move || measure(&rows, python.as_deref()).map_err(|error| error.to_string()))?;
    Ok(run.join().map_err(|_| "the bench panicked")??)
}

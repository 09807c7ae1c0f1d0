//! Our side: a session that answers each line of standard input with a line of numbers, like server.py does for
//! PyTorch.

use crate::Outcome;
use std::fs;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};
use tensorsh::session::{Language, Session, SessionOptions};

/// Computes the bytes of a row: read, written, and newly allocated. A storage counts as read completely, wherever the
/// operand's elements are in it.
const BYTES: &str = "\
def bytes_of(result, overwrites, operands):
    results = result if isinstance(result, tuple) else (result,)
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in operands}
    is_old = [t.untyped_storage().data_ptr() in storages for t in results]
    written = sum(t.nbytes for t in results)
    made = sum(t.nbytes for t, old in zip(results, is_old) if not old)
    return sum(storages.values()) - (written - made if overwrites else 0), written, made

";

/// Answers until standard input ends.
pub(crate) fn serve() -> Outcome<()> {
    let mut session = Session::new(SessionOptions::default());
    eval(&mut session, Language::Python, BYTES)?;
    for question in io::stdin().lock().lines() {
        let question = question?;
        let answer = answer(&mut session, &question)?;
        let mut out = io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(session: &mut Session, question: &str) -> Outcome<String> {
    let (what, line) = question.split_once(' ').unwrap_or((question, ""));
    match what {
        "run" => eval(session, Language::Python, line).map(|_| String::new()),
        "bytes" => {
            let numbers = eval(session, Language::Python, &format!("bytes_of({line})"))?;
            Ok(numbers.replace(['(', ',', ')', '\n'], " "))
        }
        "time" => {
            let (count, line) = line.split_once(' ').ok_or("time COUNT LINE")?;
            let (used, start) = (cpu()?, Instant::now());
            // Rhai's semicolon drops the result immediately, like Python's statement.
            eval(session, Language::Rhai, &format!("for _ in 0..{count} {{ {line}; }}"))?;
            let wall = start.elapsed();
            Ok(format!("{} {}", wall.as_secs_f64(), cpu()?.saturating_sub(used).as_secs_f64()))
        }
        // The same in a function of Python, for lines that only Python can read.
        "call" => {
            let (count, line) = line.split_once(' ').ok_or("call COUNT LINE")?;
            eval(session, Language::Python, &format!("def row():\n for _ in range({count}): {line}\n\n"))?;
            let (used, start) = (cpu()?, Instant::now());
            eval(session, Language::Python, "row()")?;
            let wall = start.elapsed();
            Ok(format!("{} {}", wall.as_secs_f64(), cpu()?.saturating_sub(used).as_secs_f64()))
        }
        "peak" => {
            // Resets the peak to the current resident size.
            fs::write("/proc/self/clear_refs", "5")?;
            let before = resident("VmRSS")?;
            eval(session, Language::Rhai, &format!("{line};"))?;
            Ok(resident("VmHWM")?.saturating_sub(before).to_string())
        }
        _ => Err(format!("no question: {question}").into()),
    }
}

fn eval(session: &mut Session, language: Language, line: &str) -> Outcome<String> {
    let outcome = session.eval(language, line);
    match outcome.error {
        Some(error) => Err(format!("{line}: {}", error.message).into()),
        None => Ok(outcome.text),
    }
}

/// Returns the processor time of this process. Its resolution is the system's clock tick, so it is meaningful only over
/// many turns.
fn cpu() -> Outcome<Duration> {
    const TICK: Duration = Duration::from_millis(10);
    let line = fs::read_to_string("/proc/self/stat")?;
    let fields = line.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(11).take(2).map(str::parse::<u32>).sum::<Result<u32, _>>()?;
    Ok(TICK * ticks)
}

/// Returns the bytes in a row of the process's status file.
fn resident(field: &str) -> Outcome<usize> {
    let table = fs::read_to_string("/proc/self/status")?;
    let row = table.lines().find_map(|line| line.strip_prefix(field)).ok_or("no such row")?;
    let kilobytes: usize = row.trim_matches(|c: char| !c.is_ascii_digit()).parse()?;
    Ok(kilobytes * 1024)
}

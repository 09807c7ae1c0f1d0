//! The page: page.md with its placeholders filled in, and the numbers as tables.

use super::{Curve, Machine, Point, Side, TURN, TURNS};
use crate::{Outcome, median};
use tensorsh::tensor::parallel::cores;
use tensorsh::tensor::thresholds::THREAD;

const TEMPLATE: &str = include_str!("page.md");

/// The maximum number of elements of a small call.
const SMALL: usize = 1000;

/// Returns the page with its figures.
pub(super) fn write(curves: &[Curve], machine: &Machine) -> Outcome<String> {
    let mut page = String::new();
    let mut rest = TEMPLATE;
    while let Some((before, after)) = rest.split_once('{') {
        page.push_str(before);
        // In code, a space follows the brace.
        if after.starts_with(' ') {
            page.push('{');
            rest = after;
            continue;
        }
        let (name, after) = after.split_once('}').ok_or("a brace that is not closed")?;
        let words: Vec<_> = name.split(' ').collect();
        page.push_str(&figure(&words, curves, machine).ok_or_else(|| format!("{name}: no such figure"))?);
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

fn figure(words: &[&str], curves: &[Curve], machine: &Machine) -> Option<String> {
    let curve = |name: &str| curves.iter().find(|curve| curve.name == name);
    Some(match *words {
        ["machine"] => machine.describe(),
        ["cores"] => cores().to_string(),
        ["cache"] => format!("{:.0}", machine.cache / f64::from(1 << 20)),
        ["threads"] => grouped((2 * THREAD) as f64),
        ["turns"] => TURNS.most.to_string(),
        ["turn"] => format!("{:.0} ms", TURN * 1e3),
        ["outgrown", row] => grouped(curve(row)?.outgrown(machine)?),
        ["small"] => ratios(curves, SMALL).len().to_string(),
        ["small", "faster"] => ratios(curves, SMALL).iter().filter(|ratio| **ratio < 1.0).count().to_string(),
        ["small", "ratio"] => format!("{:.2}", median(ratios(curves, SMALL))),
        ["table", side] => table(curves, time(side)?),
        [row, side, "each", elements] => {
            let point = curve(row)?.at(elements)?;
            format!("{:.2} ns", time(side)?(point) / point.elements as f64 * 1e9)
        }
        [row, side, "share"] => {
            let last = curve(row)?.points.last()?;
            format!("{:.0} %", last.least / time(side)?(last) * 100.0)
        }
        [row, side, elements] => duration(time(side)?(curve(row)?.at(elements)?)),
        _ => return None,
    })
}

fn time(side: &str) -> Option<Side> {
    match side {
        "ours" => Some(|point| point.ours),
        "theirs" => Some(|point| point.theirs),
        _ => None,
    }
}

/// Returns the ratios of our times to PyTorch's, for up to `most` elements.
fn ratios(curves: &[Curve], most: usize) -> Vec<f64> {
    let points = curves.iter().flat_map(|curve| &curve.points);
    points.filter(|point| point.elements <= most).map(|point| point.ours / point.theirs).collect()
}

impl Curve {
    fn at(&self, elements: &str) -> Option<&Point> {
        let elements: usize = elements.parse().ok()?;
        self.points.iter().find(|point| point.elements == elements)
    }
}

/// Returns a table with a row per number of elements and a column per operation.
fn table(curves: &[Curve], time: Side) -> String {
    let mut table = String::from("| elements |");
    table.extend(curves.iter().map(|curve| format!(" `{}` |", curve.line)));
    table.push_str("\n| ---: |");
    table.push_str(&" ---: |".repeat(curves.len()));
    for (k, point) in curves.iter().take(1).flat_map(|curve| curve.points.iter().enumerate()) {
        table.push_str(&format!("\n| {} |", grouped(point.elements as f64)));
        table.extend(curves.iter().map(|curve| format!(" {} |", duration(time(&curve.points[k])))));
    }
    table
}

/// Formats a duration with three digits and a unit.
pub(super) fn duration(seconds: f64) -> String {
    let (unit, name) = match seconds {
        s if s < 999.5e-9 => (1e-9, "ns"),
        s if s < 999.5e-6 => (1e-6, "µs"),
        s if s < 999.5e-3 => (1e-3, "ms"),
        _ => (1.0, "s"),
    };
    let number = seconds / unit;
    let digits = [9.995, 99.95].iter().filter(|least| number < **least).count();
    format!("{number:.digits$} {name}")
}

/// Formats an integer with a comma between groups of three digits.
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

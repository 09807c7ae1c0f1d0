//! The picture: one panel per row, all with the same two logarithmic axes, for a light and a dark page.

use super::{Curve, Machine, Side};
use std::fmt::Write;
use tensorsh::tensor::thresholds::THREAD;

const COLUMNS: usize = 4;
/// The size of a panel with its margins, in pixels, …
const PANEL: (f64, f64) = (262.0, 226.0);
/// … and of the plot area inside.
const FIELD: (f64, f64) = (212.0, 162.0);
/// The margin to the left of and above the plot area.
const BEFORE: (f64, f64) = (42.0, 28.0);
/// The margin around all panels.
const MARGIN: (f64, f64) = (26.0, 64.0);
const BELOW: f64 = 34.0;
/// The ranges of the axes, as powers of ten.
const ELEMENTS: (f64, f64) = (0.0, 8.0);
const SECONDS: (f64, f64) = (-7.0, 1.5);

const STYLE: &str = "\
:root { color-scheme: light dark; --page: #ffffff; --ink: #1f2328; --faint: #59636e; --grid: #e2e6ea; \
--ours: #0550ae; --theirs: #bc4c00; }
@media (prefers-color-scheme: dark) { :root { --page: #0d1117; --ink: #e6edf3; --faint: #9aa4ae; --grid: #2b323b; \
--ours: #6cb6ff; --theirs: #f69d50; } }
text { font: 11px system-ui, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif; fill: var(--faint); }
.title { font-size: 18px; font-weight: 600; fill: var(--ink); }
.code { font: 600 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: var(--ink); }
.note { font-size: 9.5px; }
.grid { stroke: var(--grid); fill: none; }
.mark { stroke: var(--faint); stroke-dasharray: 2 3; fill: none; }
.least { stroke: var(--faint); stroke-width: 1.5; stroke-dasharray: 6 3; fill: none; }
.ours, .theirs { stroke-width: 2; stroke-linejoin: round; fill: none; }
.ours { stroke: var(--ours); }
.theirs { stroke: var(--theirs); }
circle.ours { fill: var(--ours); }
circle.theirs { fill: var(--theirs); }
text.ours, text.theirs { font-weight: 600; stroke: none; }
text.ours { fill: var(--ours); }
text.theirs { fill: var(--theirs); }
";

/// Returns the whole picture.
pub(super) fn draw(curves: &[Curve], machine: &Machine) -> String {
    let rows = curves.len().div_ceil(COLUMNS);
    let (width, height) = (MARGIN.0 + COLUMNS as f64 * PANEL.0 + 8.0, MARGIN.1 + rows as f64 * PANEL.1 + BELOW);
    let (title, left) = ("How the time of a call grows with the number of elements", MARGIN.0 + BEFORE.0);
    let lines: Vec<_> = curves.iter().map(|curve| escaped(&curve.line)).collect();
    let (count, lines, machine_name) = (curves.len(), lines.join(", "), escaped(&machine.describe()));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-labelledby=\"title description\">\n<title id=\"title\">{title}</title>\n\
         <desc id=\"description\">{count} panels with logarithmic axes, each with the time of one operation in tensorsh and in \
         PyTorch on one to 100 million elements: {lines}. The tables in growth.md have the same numbers.</desc>\n\
         <style>\n{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill: var(--page)\"/>\n\
         <text class=\"title\" x=\"{left}\" y=\"30\">{title}</text>\n\
         <text x=\"{left}\" y=\"49\">float32 on {machine_name}. Dashed: what memory allows at best, from where a call's \
         operands and results outgrow the level-3 cache.</text>\n"
    );
    for (index, curve) in curves.iter().enumerate() {
        let (column, row) = (index % COLUMNS, index / COLUMNS);
        let (x, y) = (MARGIN.0 + column as f64 * PANEL.0 + BEFORE.0, MARGIN.1 + row as f64 * PANEL.1 + BEFORE.1);
        let _ = writeln!(svg, "<g transform=\"translate({x:.0} {y:.0})\">");
        panel(&mut svg, curve, machine);
        if column == 0 {
            let middle = FIELD.1 / 2.0;
            let _ = writeln!(
                svg,
                "<text transform=\"translate(-52 {middle:.0}) rotate(-90)\" text-anchor=\"middle\">time of a call</text>"
            );
        }
        if row + 1 == rows {
            let (middle, under) = (FIELD.0 / 2.0, FIELD.1 + 34.0);
            let _ = writeln!(svg, "<text x=\"{middle:.0}\" y=\"{under:.0}\" text-anchor=\"middle\">elements</text>");
        }
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

fn panel(svg: &mut String, curve: &Curve, machine: &Machine) {
    let _ = writeln!(svg, "<text class=\"code\" y=\"-9\">{}</text>", escaped(&curve.line));
    axes(svg);
    mark(svg, (2 * THREAD) as f64, ("end", -3.0), "threads");
    if let Some(outgrown) = curve.outgrown(machine) {
        mark(svg, outgrown, ("start", 3.0), "memory");
        let last = curve.points.last();
        let least =
            last.map(|last| [outgrown, last.elements as f64].map(|n| (n, last.least * n / last.elements as f64)));
        path(svg, "least", least.into_iter().flatten());
    }
    let times: [(&str, &str, Side); 2] =
        [("theirs", "PyTorch", |point| point.theirs), ("ours", "tensorsh", |point| point.ours)];
    for (class, _, time) in times {
        path(svg, class, curve.points.iter().map(|point| (point.elements as f64, time(point))));
        for point in &curve.points {
            let (x, y) = place(point.elements as f64, time(point));
            let _ = writeln!(svg, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1\"/>");
        }
    }
    // For small calls the curves are flat, with space above the upper and below the lower one.
    if let Some(point) = curve.points.get(1) {
        for (class, name, time) in times {
            let (x, y) = place(point.elements as f64, time(point));
            let is_upper = time(point) >= point.ours.max(point.theirs);
            let y = if is_upper { y - 8.0 } else { y + 16.0 };
            let _ = writeln!(svg, "<text class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\">{name}</text>", x - 8.0);
        }
    }
}

fn axes(svg: &mut String) {
    for power in (ELEMENTS.0 as i32..=ELEMENTS.1 as i32).step_by(2) {
        let (x, bottom) = place(10f64.powi(power), 10f64.powf(SECONDS.0));
        let name = ["1", "100", "10 k", "1 M", "100 M"].get(power as usize / 2).copied().unwrap_or_default();
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{x:.1} 0V{bottom:.1}\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>",
            bottom + 15.0
        );
    }
    for (power, name) in
        [(-7, ""), (-6, "1 µs"), (-5, ""), (-4, "100 µs"), (-3, ""), (-2, "10 ms"), (-1, ""), (0, "1 s"), (1, "")]
    {
        let y = place(1.0, 10f64.powi(power)).1;
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M0 {y:.1}H{}\"/><text x=\"-5\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
            FIELD.0,
            y + 4.0
        );
    }
}

/// Draws a vertical line across the plot area, labelled at the bottom, where no curve passes.
fn mark(svg: &mut String, elements: f64, (anchor, shift): (&str, f64), name: &str) {
    let (x, bottom) = place(elements, 10f64.powf(SECONDS.0));
    let _ = writeln!(
        svg,
        "<path class=\"mark\" d=\"M{x:.1} 0V{bottom:.1}\"/>\
         <text class=\"note\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{name}</text>",
        x + shift,
        bottom - 5.0
    );
}

fn path(svg: &mut String, class: &str, points: impl Iterator<Item = (f64, f64)>) {
    let places: Vec<_> = points.map(|(elements, seconds)| place(elements, seconds)).collect();
    let places: Vec<_> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let _ = writeln!(svg, "<path class=\"{class}\" d=\"M{}\"/>", places.join("L"));
}

/// Returns the position of a number of elements and a time in the plot area.
fn place(elements: f64, seconds: f64) -> (f64, f64) {
    let share = |value: f64, (from, to): (f64, f64)| ((value.log10() - from) / (to - from)).clamp(0.0, 1.0);
    (share(elements, ELEMENTS) * FIELD.0, (1.0 - share(seconds, SECONDS)) * FIELD.1)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

//! Draws a scene as lines of text of a given width, each span with its ink. Writes nothing.

use super::scene::{
    Bars, Block, CellMap, Ink, Item, Lane, Level, Levels, Line, Scene, Shape, Span, Strip, Table, span,
};

/// The minimum width to draw for.
const NARROWEST: usize = 20;
/// The maximum length of a bar.
const LONGEST_BAR: usize = 48;

/// Returns the lines of a scene, at most `width` columns wide unless a single word or cell is wider.
pub fn draw(scene: &Scene, width: usize) -> Vec<Line> {
    let width = width.max(NARROWEST);
    let mut lines = Vec::new();
    paragraph(&mut lines, &span(Ink::Title, &scene.title), width, "");
    for block in &scene.blocks {
        match block {
            Block::Facts(facts) => {
                let widest = facts.iter().map(|(name, _)| columns(name)).max().unwrap_or_default();
                for (name, what) in facts {
                    let pad = " ".repeat(widest - columns(name) + 2);
                    labelled(&mut lines, span(Ink::Label, format!("{name}{pad}")), what, width);
                }
            }
            Block::Note(note) => paragraph(&mut lines, note, width, ""),
            Block::Heading(text) => {
                lines.push(Line::new());
                paragraph(&mut lines, &span(Ink::Title, text), width, "");
            }
            Block::Table(table) => draw_table(&mut lines, table, width),
            Block::Strip(strip) => draw_strip(&mut lines, strip, width),
            Block::Bars(bars) => draw_bars(&mut lines, bars, width),
            Block::Levels(levels) => draw_levels(&mut lines, levels, width),
            Block::Cells(map) => draw_map(&mut lines, map, width),
        }
    }
    for line in &mut lines {
        trim_end(line);
    }
    lines
}

/// Returns the lines as plain text, without a newline at the end.
pub fn plain(lines: &[Line]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| line.iter().map(|span| span.text.as_str()).collect()).collect();
    lines.join("\n")
}

/// Counts the columns of a text, in which every character takes one.
fn columns(text: &str) -> usize {
    text.chars().count()
}

fn trim_end(line: &mut Line) {
    while let Some(last) = line.last_mut() {
        last.text.truncate(last.text.trim_end().len());
        if !last.text.is_empty() {
            return;
        }
        line.pop();
    }
}

/// Wraps a text into lines of at most `width` columns.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            line.push_str(word);
        } else if columns(line) + 1 + columns(word) <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

fn paragraph(lines: &mut Vec<Line>, text: &Span, width: usize, indent: &str) {
    for line in wrapped(&text.text, width.saturating_sub(columns(indent)).max(1)) {
        lines.push(vec![span(Ink::Plain, indent), span(text.ink, line)]);
    }
}

/// Draws a label with the text beside it.
fn labelled(lines: &mut Vec<Line>, name: Span, what: &Span, width: usize) {
    let indent = columns(&name.text);
    let mut texts = wrapped(&what.text, width.saturating_sub(indent).max(1)).into_iter();
    lines.push(vec![name, span(what.ink, texts.next().unwrap_or_default())]);
    for text in texts {
        lines.push(vec![span(Ink::Plain, " ".repeat(indent)), span(what.ink, text)]);
    }
}

/// Draws a table, wrapping its last column. If even that does not fit, draws each row as a list of facts.
fn draw_table(lines: &mut Vec<Line>, table: &Table, width: usize) {
    let count = table.head.len();
    let cell = |row: &Vec<Span>, column: usize| row.get(column).map_or(0, |cell| columns(&cell.text));
    let widest = |column: usize| {
        let head = table.head.get(column).map_or(0, |name| columns(name));
        table.rows.iter().map(|row| cell(row, column)).max().unwrap_or_default().max(head)
    };
    let widths: Vec<usize> = (0..count).map(widest).collect();
    let left: usize = widths.iter().rev().skip(1).map(|width| width + 2).sum();
    let last = widths.last().copied().unwrap_or_default();
    if left + last.min(24) > width {
        for row in &table.rows {
            let facts = table.head.iter().zip(row).filter(|(_, cell)| !cell.text.is_empty());
            let name_width = table.head.iter().map(|name| columns(name)).max().unwrap_or_default();
            for (i, (name, what)) in facts.enumerate() {
                let mark = if i == 0 { "- " } else { "  " };
                labelled(lines, span(Ink::Label, format!("{mark}{name:<name_width$}  ")), what, width);
            }
        }
        return;
    }
    let head = table.head.iter().zip(&widths).map(|(name, width)| span(Ink::Label, format!("{name:<width$}  ")));
    lines.push(head.collect());
    for row in &table.rows {
        let mut line = Line::new();
        for (cell, &width) in row.iter().zip(&widths).take(count.saturating_sub(1)) {
            let pad = " ".repeat(width.saturating_sub(columns(&cell.text)) + 2);
            line.push(span(cell.ink, format!("{}{pad}", cell.text)));
        }
        let Some(what) = row.get(count.saturating_sub(1)) else { continue };
        for (i, text) in wrapped(&what.text, width.saturating_sub(left).max(1)).into_iter().enumerate() {
            let mut start = if i == 0 { std::mem::take(&mut line) } else { vec![span(Ink::Plain, " ".repeat(left))] };
            start.push(span(what.ink, text));
            lines.push(start);
        }
    }
}

/// Draws framed cells, in as many rows as the width requires.
fn draw_strip(lines: &mut Vec<Line>, strip: &Strip, width: usize) {
    let (names, unit, per_row) = measure(strip, width);
    for row in strip.rows(per_row) {
        draw_row(lines, &row, names, unit);
    }
}

/// Returns the width of the names and of a unit, and the number of units in a row.
fn measure(strip: &Strip, width: usize) -> (usize, usize, usize) {
    let names = strip.lanes.iter().map(|lane| columns(&lane.name)).max().unwrap_or_default();
    let items = || strip.lanes.iter().flat_map(|lane| &lane.items);
    // Every unit has the same number of columns, plus one for the line after it.
    let needed = |item: &Item| (columns(&item.text) + 3).div_ceil(item.units);
    let unit = items().map(needed).max().unwrap_or_default().max(2);
    let room = width.saturating_sub(names + 2);
    (names, unit, (room / unit).max(1))
}

/// Draws the cells of several variables with their indices. If that takes more than two rows, draws a sign for each.
fn draw_map(lines: &mut Vec<Line>, map: &CellMap, width: usize) {
    let strip = map.strip();
    let (names, _, per_row) = measure(&strip, width);
    if !map.is_binned && map.columns.len() <= 2 * per_row {
        draw_strip(lines, &strip, width);
        return;
    }
    let per_row = map.per_row(width.saturating_sub(names + 2));
    let spacing = map.spacing(1.0);
    for start in (0..map.columns.len()).step_by(per_row) {
        let mut ruler = String::new();
        for column in map.columns.iter().skip(start).take(per_row).step_by(spacing) {
            ruler.push_str(&format!("{:<spacing$}", column.cell));
        }
        lines.push(vec![span(Ink::Label, format!("{:<names$}  {ruler}", map.unit))]);
        for (name, cells) in &map.rows {
            let mut line = vec![span(Ink::Label, format!("{name:<names$}  "))];
            for cell in cells.iter().skip(start).take(per_row) {
                match line.last_mut().filter(|last| last.ink == cell.ink) {
                    Some(last) => last.text.push(cell.sign),
                    None => line.push(span(cell.ink, cell.sign)),
                }
            }
            lines.push(line);
        }
    }
}

fn draw_row(lines: &mut Vec<Line>, strip: &Strip, names: usize, unit: usize) {
    let margin = |lane: Option<&Lane>| -> Line {
        let name = lane.map(Lane::name_pieces).unwrap_or_default();
        let room = (names + 1).saturating_sub(lane.map_or(0, |lane| columns(&lane.name)));
        name.into_iter().chain([span(Ink::Label, " ".repeat(room))]).collect()
    };
    let total = strip.units() * unit;
    let framed: Vec<_> = strip.lanes.iter().filter(|lane| lane.is_framed).collect();
    for lane in strip.lanes.iter().filter(|lane| !lane.is_framed) {
        let mut line = margin(Some(lane));
        line.push(span(Ink::Plain, " "));
        for item in &lane.items {
            push_centred(&mut line, item, item.units * unit);
        }
        lines.push(line);
    }
    let borders: Vec<Vec<usize>> = framed
        .iter()
        .map(|lane| {
            let ends = lane.items.iter().scan(0, |end, item| {
                *end += item.units * unit;
                Some(*end)
            });
            std::iter::once(0).chain(ends).collect()
        })
        .collect();
    let rule = |above: Option<&Vec<usize>>, below: Option<&Vec<usize>>| {
        let mark = |at: usize| {
            let has = |borders: Option<&Vec<usize>>| borders.is_some_and(|b| b.binary_search(&at).is_ok());
            match (has(above), has(below), at) {
                (false, false, _) => '─',
                (true, true, 0) => '├',
                (true, true, at) if at == total => '┤',
                (true, true, _) => '┼',
                (false, true, 0) => '┌',
                (false, true, at) if at == total => '┐',
                (false, true, _) => '┬',
                (true, false, 0) => '└',
                (true, false, at) if at == total => '┘',
                (true, false, _) => '┴',
            }
        };
        let mut line = margin(None);
        line.push(span(Ink::Frame, (0..=total).map(mark).collect::<String>()));
        line
    };
    for (i, lane) in framed.iter().enumerate() {
        let above = i.checked_sub(1).and_then(|above| borders.get(above));
        if above != borders.get(i) {
            lines.push(rule(above, borders.get(i)));
        }
        let mut line = margin(Some(lane));
        for item in &lane.items {
            line.push(span(Ink::Frame, "│"));
            push_centred(&mut line, item, item.units * unit - 1);
        }
        line.push(span(Ink::Frame, "│"));
        lines.push(line);
    }
    if !framed.is_empty() {
        lines.push(rule(borders.last(), None));
    }
}

/// Appends the text of an item, centred in `width` columns.
fn push_centred(line: &mut Line, item: &Item, width: usize) {
    let room = width.saturating_sub(columns(&item.text));
    line.push(span(Ink::Plain, " ".repeat(room / 2)));
    line.extend(item.pieces());
    line.push(span(Ink::Plain, " ".repeat(room - room / 2)));
}

/// Draws bars to scale: `█` for the bar, `·` for the rest.
fn draw_bars(lines: &mut Vec<Line>, bars: &Bars, width: usize) {
    let names = bars.rows.iter().map(|bar| columns(&bar.name)).max().unwrap_or_default();
    let texts = bars.rows.iter().map(|bar| columns(&bar.text)).max().unwrap_or_default();
    let beside = width.saturating_sub(names + texts + 4);
    // If there is not enough room beside the text, the bar goes below it.
    let is_below = beside < 12;
    let length = if is_below { width.saturating_sub(names + 2) } else { beside }.min(LONGEST_BAR);
    for bar in &bars.rows {
        let scale = |at: u64| (u128::from(at) * length as u128 / u128::from(bars.total.max(1))) as usize;
        let start = scale(bar.start).min(length.saturating_sub(1));
        // Even the shortest range stays visible.
        let end = if bar.end > bar.start { scale(bar.end).max(start + 1).min(length) } else { start };
        let name = span(Ink::Label, format!("{:<names$}  ", bar.name));
        let drawn = [
            span(Ink::Unused, "·".repeat(start)),
            span(bar.ink, "█".repeat(end - start)),
            span(Ink::Unused, "·".repeat(length - end)),
        ];
        if is_below {
            lines.push(vec![name, span(Ink::Plain, &bar.text)]);
            let mut line = vec![span(Ink::Plain, " ".repeat(names + 2))];
            line.extend(drawn);
            lines.push(line);
        } else {
            let mut line = vec![name, span(Ink::Plain, format!("{:<texts$}  ", bar.text))];
            line.extend(drawn);
            lines.push(line);
        }
    }
}

/// Returns the signs for levels, in ascending order.
fn signs(shape: Shape) -> &'static [char] {
    match shape {
        Shape::Heights => &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
        Shape::Shades => &['·', '░', '▒', '▓', '█'],
    }
}

/// Draws each row as a line of signs. Shades are two columns wide if there is room, which makes them square.
fn draw_levels(lines: &mut Vec<Line>, levels: &Levels, width: usize) {
    let names = levels.rows.iter().map(|(name, _)| columns(name)).max().unwrap_or_default();
    let indent = if names > 0 { names + 2 } else { 0 };
    let room = width.saturating_sub(indent).max(1);
    let cells = levels.rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or_default();
    let unit = if levels.shape == Shape::Shades && 2 * cells <= room { 2 } else { 1 };
    let signs = signs(levels.shape);
    for (name, cells) in levels.narrowed(room / unit).rows {
        let mut line = vec![span(Ink::Label, format!("{name:<indent$}"))];
        for cell in cells {
            let (ink, sign) = match cell {
                Level::Of(level) => (Ink::Shown, signs.get((level * signs.len() as f32) as usize).or(signs.last())),
                Level::Fault(ref sign) => (Ink::Fault, Some(sign)),
            };
            let text = sign.map(|sign| sign.to_string().repeat(unit)).unwrap_or_default();
            match line.last_mut().filter(|last| last.ink == ink) {
                Some(last) => last.text.push_str(&text),
                None => line.push(span(ink, text)),
            }
        }
        lines.push(line);
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::Bar;
    use super::*;

    fn text(block: Block, width: usize) -> String {
        plain(&draw(&Scene { title: "t".to_owned(), blocks: vec![block] }, width))
    }

    #[test]
    fn lanes_share_their_borders() {
        let mut ruler = Lane::ruler("at");
        let mut bytes = Lane::framed("hex");
        let mut wide = Lane::framed("int16");
        for i in 0..4 {
            ruler.push(1, Ink::Label, i.to_string());
            bytes.push(1, Ink::Shown, "0a");
        }
        (0..2).for_each(|_| wide.push(2, Ink::Shown, "2570"));
        let strip = Block::Strip(Strip { lanes: vec![ruler, bytes, wide] });
        let wanted = "\
t
at       0    1    2    3
      ┌────┬────┬────┬────┐
hex   │ 0a │ 0a │ 0a │ 0a │
      ├────┴────┼────┴────┤
int16 │  2570   │  2570   │
      └─────────┴─────────┘";
        assert_eq!(text(strip.clone(), 40), wanted);
        assert_eq!(text(strip, 20).matches('┌').count(), 2);
    }

    #[test]
    fn bars_are_seen_however_short() {
        let bar =
            |name: &str, start, end| Bar { name: name.to_owned(), text: String::new(), start, end, ink: Ink::Shown };
        let bars = Bars { total: 1 << 40, rows: vec![bar("a", 0, 1 << 40), bar("b", 1 << 39, (1 << 39) + 1)] };
        assert_eq!(text(Block::Bars(bars), 25), "t\na    ████████████████████\nb    ··········█·········");
    }

    #[test]
    fn nothing_is_wider_than_asked_for() {
        let row = |n: usize| vec![span(Ink::Plain, format!("row {n}")), span(Ink::Plain, "some words ".repeat(n))];
        let table = Table { head: vec!["name", "what"], rows: (1..9).map(row).collect() };
        for width in [20, 40, 80] {
            let drawn = draw(&Scene { title: "word ".repeat(40), blocks: vec![Block::Table(table.clone())] }, width);
            assert!(plain(&drawn).lines().all(|line| columns(line) <= width), "{width}\n{}", plain(&drawn));
        }
    }
}

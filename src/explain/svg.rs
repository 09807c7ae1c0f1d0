//! Draws a scene as an SVG picture that follows the reader's theme.

use std::fmt::Write;

use super::page::{SCRIPT, STYLE, escaped};
use super::scene::{Bars, Block, CellMap, Ink, Item, Level, Levels, Line, Scene, Shape, Span, Strip};
use super::terminal;

/// The width of a picture, in pixels, …
const WIDTH: f64 = 860.0;
/// … and of a part of a page, which must fit a screen of 800.
const PART: f64 = 780.0;
const MARGIN: f64 = 20.0;
/// The narrowest and the widest column to draw for.
const LEAST: f64 = 200.0;
const MOST: f64 = 2000.0;
/// The width of a picture in a column of unknown width.
pub const NATURAL: f64 = WIDTH - 2.0 * MARGIN;
/// The advance width of a character in the style's fonts, at their size.
const CHARACTER: f64 = 7.83;
const LINE: f64 = 20.0;
const CELL: f64 = 26.0;
const BAR: f64 = 12.0;

/// The narrowest cell that a sign fits into.
const NARROW: f64 = 10.0;
/// The number of rows that a map of cells may take to show its indices, before it shows signs instead.
const MAP_ROWS: usize = 4;
/// The shortest bar beside its text; if there is less room, it goes below.
const SHORT_BAR: f64 = 120.0;

/// Returns the whole picture.
pub fn draw(scene: &Scene) -> String {
    let mut canvas = Canvas { has_choices: false, body: String::new(), y: MARGIN, width: WIDTH, right: WIDTH };
    canvas.scene(scene);
    let (width, height) = (canvas.right, canvas.y + MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"graphics-document document\" aria-label=\"{0}\">\n\
         <title>{0}</title>\n<style>\n{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" style=\"fill: var(--page)\"/>\n{1}<script><![CDATA[\n{SCRIPT}]]></script>\n</svg>\n",
        escaped(&scene.title),
        canvas.body
    )
}

/// Draws a picture without margins into a column of a page that already has the style. What cannot be made narrower
/// makes the picture wider than the column.
pub fn fitted(scene: &Scene, width: f64) -> String {
    // Frames reach a little beyond their cells.
    let width = width.clamp(LEAST, MOST) - 2.0 + 2.0 * MARGIN;
    let mut canvas = Canvas { has_choices: true, body: String::new(), y: 0.0, width, right: MARGIN };
    canvas.scene(scene);
    let (width, height) = (canvas.right - MARGIN, canvas.y + 2.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"{MARGIN} 0 {width:.0} {height:.0}\" role=\"graphics-document document\" aria-label=\"{0}\">\n\
         {1}</svg>\n",
        escaped(&scene.title),
        canvas.body
    )
}

/// Draws a single strip, bars or levels at natural width, for a page that already has the style.
pub(super) fn fragment(block: &Block) -> String {
    let mut canvas = Canvas { has_choices: false, body: String::new(), y: 2.0, width: PART, right: 0.0 };
    canvas.block(block);
    let (width, height) = (canvas.right - MARGIN + 2.0, canvas.y + 2.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"{MARGIN} 0 {width:.0} {height:.0}\">\n{}</svg>\n",
        canvas.body
    )
}

/// Describes a picture for screen readers.
fn in_words(block: &Block) -> String {
    let row = |name: &str, cells: Vec<String>| format!("{name}: {}", cells.join(", "));
    let rows: Vec<String> = match block {
        Block::Strip(strip) => strip
            .lanes
            .iter()
            .map(|lane| row(&lane.name, lane.items.iter().map(|item| item.text.clone()).collect()))
            .collect(),
        Block::Bars(bars) => bars
            .rows
            .iter()
            .map(|bar| {
                row(&bar.name, vec![bar.text.clone(), format!("{} to {} of {}", bar.start, bar.end, bars.total)])
            })
            .collect(),
        Block::Levels(levels) => {
            let level = |level: &Level| match level {
                Level::Of(level) => format!("{:.0}", level * 100.0),
                Level::Fault(sign) => sign.to_string(),
            };
            let cells = |(name, cells): &(String, Vec<Level>)| row(name, cells.iter().map(level).collect());
            std::iter::once("In percent of the range".to_owned()).chain(levels.rows.iter().map(cells)).collect()
        }
        // The cells of a map speak for themselves.
        _ => Vec::new(),
    };
    rows.join(". ")
}

struct Canvas {
    /// Whether somebody listens for choices: on the page, not in a file.
    has_choices: bool,
    body: String,
    /// The vertical position of the next block.
    y: f64,
    /// The available width.
    width: f64,
    /// The rightmost position used.
    right: f64,
}

fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

impl Canvas {
    /// Cannot fail: writes to a string.
    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = self.body.write_fmt(element);
    }

    /// Draws all parts of a picture.
    fn scene(&mut self, scene: &Scene) {
        let mut text = Scene::new(scene.title.clone());
        for block in &scene.blocks {
            match block {
                Block::Strip(_) | Block::Bars(_) | Block::Levels(_) | Block::Cells(_) => {
                    self.text(&std::mem::take(&mut text));
                    self.block(block);
                }
                other => text.blocks.push(other.clone()),
            }
        }
        self.text(&text);
    }

    /// Draws a block. For a screen reader it is one image, unless its cells have their own descriptions.
    fn block(&mut self, block: &Block) {
        let speaks =
            |strip: &Strip| strip.lanes.iter().any(|lane| lane.items.iter().any(|item| !item.about.is_empty()));
        let role = match block {
            Block::Cells(_) => "group",
            Block::Strip(strip) if speaks(strip) => "group",
            _ => "img",
        };
        let label =
            if role == "group" { "cells; arrow keys go from one to the next".to_owned() } else { in_words(block) };
        self.put(format_args!("<g role=\"{role}\" aria-label=\"{}\">\n", escaped(&label)));
        match block {
            Block::Strip(strip) => self.strip(strip),
            Block::Bars(bars) => self.bars(bars),
            Block::Levels(levels) => self.levels(levels),
            Block::Cells(map) => self.map(map),
            _ => {}
        }
        self.put(format_args!("</g>\n"));
    }

    /// Draws facts, sentences and tables like a terminal of this width.
    fn text(&mut self, scene: &Scene) {
        if scene.title.is_empty() && scene.blocks.is_empty() {
            return;
        }
        let columns = ((self.width - 2.0 * MARGIN) / CHARACTER) as usize;
        let lines = terminal::draw(scene, columns);
        let skipped = usize::from(scene.title.is_empty());
        for line in lines.iter().skip(skipped) {
            self.line(line);
        }
        self.y += 6.0;
    }

    fn line(&mut self, line: &Line) {
        self.y += if line.is_empty() { LINE / 2.0 } else { LINE };
        let baseline = self.y - 5.0;
        let mut x = MARGIN;
        for piece in line {
            let start = piece.text.len() - piece.text.trim_start().len();
            let text = piece.text.trim();
            if !text.is_empty() {
                let at = x + width_of(&piece.text[..start]);
                let class = piece.ink.name();
                self.put(format_args!(
                    "<text class=\"{class}\" x=\"{at:.1}\" y=\"{baseline:.1}\">{}</text>\n",
                    escaped(text)
                ));
            }
            x += width_of(&piece.text);
            if !text.is_empty() {
                self.right = self.right.max(x);
            }
        }
    }

    /// Returns the width of the names and of a unit, and the number of units in a row.
    fn measure(&self, strip: &Strip) -> (f64, f64, usize) {
        let names = strip.lanes.iter().map(|lane| width_of(&lane.name)).fold(0.0, f64::max) + 12.0;
        let items = || strip.lanes.iter().flat_map(|lane| &lane.items);
        let needed = |item: &Item, space: f64| (width_of(&item.text) + space) / item.units as f64;
        let unit = items().map(|item| needed(item, 14.0)).fold(CELL, f64::max);
        let room = self.width - 2.0 * MARGIN - names;
        // Cells that must stay together may be closer to each other.
        let starts = std::iter::once(0).chain(strip.cuts());
        let together = starts.zip(strip.cuts()).map(|(start, end)| end - start).max().unwrap_or(1).max(1);
        let least = items().map(|item| needed(item, 6.0)).fold(CELL / 2.0, f64::max);
        let unit = unit.min((room / together as f64).max(least));
        (names, unit, ((room / unit) as usize).max(1))
    }

    /// Draws the cells of several variables with their indices or, if that takes too many rows, with a sign for each.
    fn map(&mut self, map: &CellMap) {
        let strip = map.strip();
        let (names, unit, per_row) = self.measure(&strip);
        if !map.is_binned && map.columns.len().div_ceil(per_row) <= MAP_ROWS {
            self.strip(&strip);
            return;
        }
        let room = self.width - 2.0 * MARGIN - names;
        let per_row = map.per_row((room / NARROW) as usize);
        let unit = (room / per_row as f64).clamp(NARROW, unit.min(CELL));
        let spacing = map.spacing(unit / CHARACTER);
        for start in (0..map.columns.len()).step_by(per_row) {
            let row = start..(start + per_row).min(map.columns.len());
            let x = |at: usize| MARGIN + names + (at - start) as f64 * unit;
            let baseline = self.y + LINE / 2.0 + 4.5;
            let numbers =
                row.clone().step_by(spacing).filter_map(|at| Some((x(at), map.columns.get(at)?.cell.to_string())));
            for (x, text) in std::iter::once((MARGIN, map.unit.to_owned())).chain(numbers) {
                self.put(format_args!("<text class=\"label\" x=\"{x:.1}\" y=\"{baseline:.1}\">{text}</text>\n"));
                self.right = self.right.max(x + width_of(&text));
            }
            self.y += LINE;
            for (name, cells) in &map.rows {
                let baseline = self.y + CELL / 2.0 + 4.5;
                self.put(format_args!(
                    "<text class=\"label\" x=\"{MARGIN}\" y=\"{baseline:.1}\">{}</text>\n",
                    escaped(name)
                ));
                for at in row.clone() {
                    let (Some(column), Some(cell)) = (map.columns.get(at), cells.get(at)) else { continue };
                    let item = Item {
                        units: 1,
                        ink: cell.ink,
                        text: cell.sign.to_string(),
                        tints: Vec::new(),
                        at: Some(column.at),
                        about: cell.about.clone(),
                        choice: None,
                    };
                    self.item(&item, true, [x(at), self.y, unit, CELL]);
                }
                self.y += CELL;
            }
            self.right = self.right.max(x(row.end) + 2.0);
            self.y += 12.0;
        }
    }

    fn strip(&mut self, strip: &Strip) {
        let (names, unit, per_row) = self.measure(strip);
        for row in strip.rows(per_row) {
            for lane in &row.lanes {
                let height = if lane.is_framed { CELL } else { LINE };
                let baseline = self.y + height / 2.0 + 4.5;
                let name = match lane.tints.is_empty() {
                    true => escaped(&lane.name),
                    false => tspans(&lane.name_pieces()),
                };
                self.put(format_args!("<text class=\"label\" x=\"{MARGIN}\" y=\"{baseline:.1}\">{name}</text>\n"));
                let mut x = MARGIN + names;
                for item in &lane.items {
                    let width = unit * item.units as f64;
                    self.item(item, lane.is_framed, [x, self.y, width, height]);
                    x += width;
                }
                self.right = self.right.max(x + 2.0);
                self.y += height;
            }
            self.y += 12.0;
        }
    }

    /// Draws a cell with its text. A cell with a description can be reached by keyboard. Cells about the same cell of
    /// the storage are highlighted together.
    fn item(&mut self, item: &Item, is_framed: bool, [x, y, width, height]: [f64; 4]) {
        match (item.at, item.about.as_str()) {
            (None, _) => self.put(format_args!("<g>")),
            (Some(at), "") => self.put(format_args!("<g class=\"at\" data-at=\"{at}\" aria-hidden=\"true\">")),
            (Some(at), about) => {
                let about = escaped(about);
                let (role, choice) = match item.choice.filter(|_| self.has_choices) {
                    Some(choice) => ("button", format!(" data-choice=\"{choice}\"")),
                    None => ("img", String::new()),
                };
                self.put(format_args!(
                    "<g class=\"at\" data-at=\"{at}\"{choice} tabindex=\"0\" role=\"{role}\" aria-label=\"{about}\"><title>{about}</title>"
                ));
            }
        }
        if is_framed {
            let class = item.ink.name();
            self.put(format_args!(
                "<rect class=\"cell {class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height}\"/>"
            ));
        }
        let (middle, baseline) = (x + width / 2.0, y + height / 2.0 + 4.5);
        self.put(format_args!("<text x=\"{middle:.1}\" y=\"{baseline:.1}\" text-anchor=\"middle\">"));
        self.put(format_args!("{}</text></g>\n", tspans(&item.pieces())));
    }

    fn bars(&mut self, bars: &Bars) {
        let names = bars.rows.iter().map(|bar| width_of(&bar.name)).fold(0.0, f64::max) + 12.0;
        let texts = bars.rows.iter().map(|bar| width_of(&bar.text)).fold(0.0, f64::max) + 16.0;
        let beside = self.width - 2.0 * MARGIN - names - texts;
        let is_below = beside < SHORT_BAR;
        let (start, room) = match is_below {
            true => (MARGIN + names, (self.width - 2.0 * MARGIN - names).max(SHORT_BAR)),
            false => (MARGIN + names + texts, beside),
        };
        // A bar that exceeds the whole is drawn up to its end.
        let scale = |at: u64| (at as f64 / bars.total.max(1) as f64).min(1.0) * room;
        for bar in &bars.rows {
            let baseline = self.y + LINE / 2.0 + 4.5;
            self.y += if is_below { LINE } else { 0.0 };
            let top = self.y + (LINE - BAR) / 2.0;
            let text = MARGIN + names;
            // Even the shortest range stays visible.
            let width = if bar.end > bar.start { (scale(bar.end) - scale(bar.start)).max(2.0) } else { 0.0 };
            let x = start + scale(bar.start).min(room - width);
            let class = bar.ink.name();
            self.put(format_args!(
                "<text class=\"label\" x=\"{MARGIN}\" y=\"{baseline:.1}\">{}</text>\n\
                 <text class=\"plain\" x=\"{text:.1}\" y=\"{baseline:.1}\">{}</text>\n\
                 <rect class=\"rest\" x=\"{start:.1}\" y=\"{top:.1}\" width=\"{room:.1}\" height=\"{BAR}\"/>\n\
                 <rect class=\"bar {class}\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{BAR}\"/>\n",
                escaped(&bar.name),
                escaped(&bar.text),
            ));
            self.y += LINE;
        }
        self.right = self.right.max(start + room + 2.0).max(MARGIN + names + texts);
        self.y += 8.0;
    }

    fn levels(&mut self, levels: &Levels) {
        let names = levels.rows.iter().map(|(name, _)| width_of(name)).fold(0.0, f64::max);
        let start = MARGIN + if names > 0.0 { names + 12.0 } else { 0.0 };
        let cells = levels.rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or_default().max(1);
        let unit = ((self.width - MARGIN - start) / cells as f64).min(CELL);
        let height = if levels.shape == Shape::Shades { unit.max(LINE) } else { 2.0 * CELL };
        for (name, cells) in &levels.rows {
            let (top, baseline) = (self.y, self.y + height / 2.0 + 4.5);
            self.put(format_args!(
                "<text class=\"label\" x=\"{MARGIN}\" y=\"{baseline:.1}\">{}</text>\n",
                escaped(name)
            ));
            for (i, cell) in cells.iter().enumerate() {
                let x = start + i as f64 * unit;
                let (ink, level, opacity) = match (cell, levels.shape) {
                    (Level::Of(level), Shape::Heights) => (Ink::Shown, f64::from(*level), 1.0),
                    (Level::Of(level), Shape::Shades) => (Ink::Shown, 1.0, f64::from(*level)),
                    (Level::Fault(_), _) => (Ink::Fault, 1.0, 1.0),
                };
                // Even the lowest level stays visible.
                let (tall, opacity) = ((height * level).max(1.0), 0.04 + 0.96 * opacity);
                let (y, class) = (top + height - tall, ink.name());
                self.put(format_args!(
                    "<rect class=\"bar {class}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{unit:.2}\" height=\"{tall:.1}\" \
                     fill-opacity=\"{opacity:.3}\"/>\n"
                ));
                if let Level::Fault(sign) = cell {
                    let middle = x + unit / 2.0;
                    self.put(format_args!(
                        "<text class=\"sign-on-bar\" x=\"{middle:.1}\" y=\"{baseline:.1}\" text-anchor=\"middle\">{sign}</text>\n"
                    ));
                }
            }
            self.right = self.right.max(start + cells.len() as f64 * unit + 2.0);
            self.y += height + if levels.shape == Shape::Shades { 0.0 } else { 8.0 };
        }
        self.y += 8.0;
    }
}

/// Returns spans as parts of a text element.
fn tspans(spans: &[Span]) -> String {
    let tspan = |span: &Span| format!("<tspan class=\"{}\">{}</tspan>", span.ink.name(), escaped(&span.text));
    spans.iter().map(tspan).collect()
}

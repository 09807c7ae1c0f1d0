//! A scene as an SVG picture that follows the reader's theme.

use std::fmt::Write;

use super::page::{STYLE, escaped};
use super::scene::{Bars, Block, Item, Line, Scene, Strip};
use super::terminal;

/// The width of a picture, in pixels.
const WIDTH: f64 = 860.0;
const MARGIN: f64 = 20.0;
/// The advance of one character of the fonts named in the style, at their size.
const CHARACTER: f64 = 7.83;
const LINE: f64 = 20.0;
const CELL: f64 = 26.0;
const BAR: f64 = 12.0;

/// The whole picture.
pub fn draw(scene: &Scene) -> String {
    let mut canvas = Canvas { body: String::new(), y: MARGIN };
    let mut text = Scene::new(scene.title.clone());
    for block in &scene.blocks {
        match block {
            Block::Strip(_) | Block::Bars(_) => {
                canvas.text(&std::mem::take(&mut text));
                canvas.block(block);
            }
            other => text.blocks.push(other.clone()),
        }
    }
    canvas.text(&text);
    let height = canvas.y + MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" style=\"fill: var(--page)\"/>\n{}</svg>\n",
        escaped(&scene.title),
        canvas.body
    )
}

/// A strip or bars alone, for a page that has the style already.
pub(super) fn fragment(block: &Block) -> String {
    let mut canvas = Canvas { body: String::new(), y: 2.0 };
    canvas.block(block);
    let height = canvas.y + 2.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"{MARGIN} 0 {WIDTH} {height}\" role=\"img\">\n{}</svg>\n",
        canvas.body
    )
}

struct Canvas {
    body: String,
    /// The position where the next thing begins.
    y: f64,
}

fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

impl Canvas {
    /// Writing to a string cannot fail.
    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = self.body.write_fmt(element);
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Strip(strip) => self.strip(strip),
            Block::Bars(bars) => self.bars(bars),
            _ => {}
        }
    }

    /// Facts, sentences and tables, as a terminal of this width has them.
    fn text(&mut self, scene: &Scene) {
        if scene.title.is_empty() && scene.blocks.is_empty() {
            return;
        }
        let columns = ((WIDTH - 2.0 * MARGIN) / CHARACTER) as usize;
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
        }
    }

    fn strip(&mut self, strip: &Strip) {
        let names = strip.lanes.iter().map(|lane| width_of(&lane.name)).fold(0.0, f64::max) + 12.0;
        let items = || strip.lanes.iter().flat_map(|lane| &lane.items);
        let needed = |item: &Item| (width_of(&item.text) + 14.0) / item.units as f64;
        let unit = items().map(needed).fold(26.0, f64::max);
        let per_row = ((WIDTH - 2.0 * MARGIN - names) / unit) as usize;
        for row in strip.rows(per_row.max(1)) {
            for lane in &row.lanes {
                let height = if lane.is_framed { CELL } else { LINE };
                let baseline = self.y + height / 2.0 + 4.5;
                self.put(format_args!(
                    "<text class=\"label\" x=\"{MARGIN}\" y=\"{baseline:.1}\">{}</text>\n",
                    escaped(&lane.name)
                ));
                let mut x = MARGIN + names;
                for item in &lane.items {
                    let (width, y, class) = (unit * item.units as f64, self.y, item.ink.name());
                    if lane.is_framed {
                        self.put(format_args!(
                            "<rect class=\"cell {class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height}\"/>\n"
                        ));
                    }
                    let middle = x + width / 2.0;
                    self.put(format_args!(
                        "<text class=\"{class}\" x=\"{middle:.1}\" y=\"{baseline:.1}\" text-anchor=\"middle\">{}</text>\n",
                        escaped(&item.text)
                    ));
                    x += width;
                }
                self.y += height;
            }
            self.y += 12.0;
        }
    }

    fn bars(&mut self, bars: &Bars) {
        let names = bars.rows.iter().map(|bar| width_of(&bar.name)).fold(0.0, f64::max) + 12.0;
        let texts = bars.rows.iter().map(|bar| width_of(&bar.text)).fold(0.0, f64::max) + 16.0;
        let start = MARGIN + names + texts;
        let room = (WIDTH - MARGIN - start).max(120.0);
        // What reaches beyond the whole is drawn up to its end.
        let scale = |at: u64| (at as f64 / bars.total.max(1) as f64).min(1.0) * room;
        for bar in &bars.rows {
            let baseline = self.y + LINE / 2.0 + 4.5;
            let top = self.y + (LINE - BAR) / 2.0;
            let text = MARGIN + names;
            // However short a stretch is, it is seen.
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
        self.y += 8.0;
    }
}

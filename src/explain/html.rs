//! Draws a scene as a standalone page that follows the reader's theme: searchable text, with strips and bars as
//! embedded pictures.

use super::page::{SCRIPT, STYLE, escaped};
use super::scene::{Block, Scene, Span, Table};
use super::svg;

/// Fades what scrolls, where it goes on.
const SCROLL: &str = "\
document.querySelectorAll('.scroll').forEach(box => {
  const mark = () => box.classList.toggle('more', box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
  box.addEventListener('scroll', mark);
  new ResizeObserver(mark).observe(box);
});
";

const PAGE: &str = "\
body { background: var(--page); color: var(--plain); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto 4rem; \
max-width: 1500px; padding: 0 1rem; overflow-wrap: break-word; }
article { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 0 3rem; }
section { min-width: 0; max-width: 100%; } section.whole { flex-basis: 100%; }
h1 { font-size: 1.3rem; flex-basis: 100%; } h2 { font-size: 1.05rem; margin: 1.4rem 0 .4rem; }
dl { display: grid; grid-template-columns: fit-content(45%) 1fr; gap: .15rem 1.2rem; margin: .4rem 0; }
dt { color: var(--label); overflow-wrap: anywhere; } dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; } th { color: var(--label); font-weight: 500; text-align: left; }
th, td { padding: .15rem 1.2rem .15rem 0; vertical-align: top; white-space: nowrap; }
td:last-child { white-space: normal; min-width: 14rem; }
p { margin: .4rem 0; } dd span, td span, p span { color: var(--ink); }
.scroll { overflow-x: auto; margin: .6rem 0; } .scroll:focus-visible { outline: 2px solid var(--label); }
svg { display: block; }
.scroll.more { mask-image: linear-gradient(to left, transparent, #000 2rem); }
html { scroll-padding: 1rem 0 5rem; }
#told { position: fixed; inset: auto 0 0 0; background: var(--unused-fill); padding: .4rem 1rem; }
#told:empty { display: none; }
@media print { body { margin: 0; max-width: none; font-size: 11pt; } #told { display: none; }
article + article { break-before: page; } section, tr { break-inside: avoid; } .scroll { overflow: visible; }
svg { max-width: 100%; height: auto; } svg rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
";

/// Returns a page with the pictures below each other.
pub fn draw(scenes: &[Scene]) -> String {
    let title = match scenes {
        [one] => escaped(&one.title),
        _ => format!("{} pictures", scenes.len()),
    };
    let articles: String = scenes.iter().map(article).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}{PAGE}</style>\n<body>\n<main>\n{articles}</main>\n\
         <div id=\"told\" aria-hidden=\"true\"></div>\n<script>\n{SCRIPT}{SCROLL}</script>\n</body>\n</html>\n"
    )
}

/// Draws one picture.
fn article(scene: &Scene) -> String {
    format!("<article>\n<h1>{}</h1>\n{}</article>\n", escaped(&scene.title), sections(scene))
}

/// The style of a page with [`part`]s, besides its own.
pub fn style() -> String {
    format!("{STYLE}{PAGE}")
}

/// Returns a picture as a part of a page that has the [`style`], and no script: no cell is a Tab stop.
pub fn part(scene: &Scene) -> String {
    // All text is escaped, so whatever looks like a tag is one.
    let sections = sections(scene).replace("<h2>", "<p class=\"label\">").replace("</h2>", "</p>");
    let still = sections.replace(" tabindex=\"0\" role=\"img\"", " role=\"img\"");
    format!("<figure>\n<figcaption>{}</figcaption>\n{still}</figure>\n", escaped(&scene.title))
}

/// Draws all blocks, those below a heading together.
fn sections(scene: &Scene) -> String {
    let mut sections = String::from("<section class=\"whole\">\n");
    let mut name = escaped(&scene.title);
    for part in &scene.blocks {
        if let Block::Heading(text) = part {
            name = escaped(text);
            sections.push_str("</section>\n<section>\n");
        }
        sections.push_str(&block(part, &name));
    }
    sections + "</section>\n"
}

/// Draws a block. Wide blocks scroll on their own, also by keyboard. `name` is the heading above.
fn block(block: &Block, name: &str) -> String {
    let scrolling = |what: String| {
        format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">\n{what}</div>\n")
    };
    match block {
        Block::Facts(facts) => {
            let row = |(name, what): &(String, Span)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), inked(what));
            format!("<dl>\n{}</dl>\n", facts.iter().map(row).collect::<String>())
        }
        Block::Note(note) => format!("<p>{}</p>\n", inked(note)),
        Block::Heading(text) => format!("<h2>{}</h2>\n", escaped(text)),
        Block::Table(table) => scrolling(rows(table)),
        picture @ (Block::Strip(_) | Block::Bars(_) | Block::Levels(_) | Block::Cells(_)) => {
            scrolling(svg::fragment(picture))
        }
    }
}

fn rows(table: &Table) -> String {
    let head: String = table.head.iter().map(|name| format!("<th>{}</th>", escaped(name))).collect();
    let row = |cells: &Vec<Span>| {
        let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", inked(cell))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    format!("<table>\n<tr>{head}</tr>\n{}</table>\n", table.rows.iter().map(row).collect::<String>())
}

fn inked(text: &Span) -> String {
    format!("<span class=\"{}\">{}</span>", text.ink.name(), escaped(&text.text))
}

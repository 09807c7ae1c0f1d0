//! A scene as a page of its own, which follows the reader's theme: text that can be searched and copied, strips and bars
//! as pictures in it.

use super::page::{STYLE, escaped};
use super::scene::{Block, Scene, Span, Table};
use super::svg;

const PAGE: &str = "\
body { background: var(--page); color: var(--plain); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; \
max-width: 880px; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin: 1.4rem 0 .4rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.2rem; } dt { color: var(--label); } dd { margin: 0; }
table { border-collapse: collapse; margin: .6rem 0; } th { color: var(--label); font-weight: 500; text-align: left; }
th, td { padding: .15rem 1.2rem .15rem 0; vertical-align: top; }
p { margin: .4rem 0; } dd span, td span, p span { color: var(--ink); }
svg { display: block; max-width: 100%; height: auto; margin: .4rem 0; }
";

/// The whole page.
pub fn draw(scene: &Scene) -> String {
    let title = escaped(&scene.title);
    let blocks: String = scene.blocks.iter().map(block).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}{PAGE}</style>\n<body>\n<h1>{title}</h1>\n{blocks}</body>\n</html>\n"
    )
}

fn block(block: &Block) -> String {
    match block {
        Block::Facts(facts) => {
            let row = |(name, what): &(String, Span)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), inked(what));
            format!("<dl>\n{}</dl>\n", facts.iter().map(row).collect::<String>())
        }
        Block::Note(note) => format!("<p>{}</p>\n", inked(note)),
        Block::Heading(text) => format!("<h2>{}</h2>\n", escaped(text)),
        Block::Table(table) => rows(table),
        picture @ (Block::Strip(_) | Block::Bars(_)) => svg::fragment(picture),
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

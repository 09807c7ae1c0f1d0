//! Reads the cells of a notebook with their outputs, and writes outputs. Follows nbformat 4:
//! <https://nbformat.readthedocs.io/en/latest/format_description.html>.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::value::RawValue;
use serde_json::{Value, from_str, json};

use super::example::TRACEBACK;
use super::example::{Example, Manner, Origin, Written};
use super::options::Options;
use super::reader::Reader;
use crate::{Language, without_magics};

/// An object of JSON whose values have not been read yet, and so keep their places.
type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// Reads a notebook.
///
/// # Errors
/// Fails with the line and the fault if the file is not a notebook, or one of an older format.
pub(super) fn read(text: &str, reader: &mut Reader) -> Result<(), String> {
    let fields: Fields<'_> = from_str(text).map_err(|fault| format!("not a notebook: {fault}"))?;
    let part = |name: &str| fields.get(name).map(|raw| from_str::<Value>(raw.get()).unwrap_or_default());
    if fields.contains_key("worksheets") {
        return Err("a notebook of format 3; `jupyter nbconvert --to notebook` converts it".to_owned());
    }
    let cells = fields.get("cells").ok_or("not a notebook: the key \"cells\" is missing")?;
    let cells: Vec<&RawValue> = from_str(cells.get()).map_err(|fault| format!("not a notebook: cells: {fault}"))?;
    let metadata = part("metadata").unwrap_or_default();
    if let Some(words) = metadata["tensorsh"].as_str() {
        reader.comment(words, 1);
    }
    let language = metadata["kernelspec"]["language"].as_str().or(metadata["language_info"]["name"].as_str());
    let language = language.unwrap_or("python").to_owned();
    let mut place = Place { text, at: 0, line: 1 };
    let cells: Vec<Cell<'_>> = cells
        .into_iter()
        .enumerate()
        .map(|(index, cell)| Cell::read(cell, index + 1, &mut place))
        .collect::<Result<_, _>>()?;
    let was_run = cells.iter().any(Cell::was_run);
    for cell in cells {
        match cell.kind.as_str() {
            "markdown" => cell.source.lines().filter_map(|line| line.strip_prefix('#')).for_each(|name| {
                reader.heading(name.trim_start_matches('#').trim());
            }),
            "code" if language != "python" => reader.not_read(&language),
            "code" if cell.source.trim().is_empty() => {}
            "code" => {
                without_magics(&cell.source).1.iter().for_each(|_| reader.not_read("magic"));
                reader.push(cell.example(was_run)?);
                reader.close_block();
            }
            other => reader.not_read(&format!("{other} cell")),
        }
    }
    Ok(())
}

/// Counts lines, for places that only grow.
struct Place<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Place<'_> {
    /// Returns the byte range of a value in the file.
    fn range(&self, raw: &RawValue) -> Range<usize> {
        let start = (raw.get().as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        start..start + raw.get().len()
    }

    fn line(&mut self, at: usize) -> usize {
        self.line += self.text.get(self.at..at).unwrap_or_default().matches('\n').count();
        self.at = self.at.max(at);
        self.line
    }
}

struct Cell<'a> {
    number: usize,
    line: usize,
    kind: String,
    source: String,
    tags: Vec<String>,
    execution_count: String,
    outputs: Option<&'a RawValue>,
    /// The place of the outputs in the file.
    range: Range<usize>,
}

impl<'a> Cell<'a> {
    fn read(raw: &'a RawValue, number: usize, place: &mut Place<'_>) -> Result<Cell<'a>, String> {
        let fault = |fault: serde_json::Error| format!("not a notebook: cell {number}: {fault}");
        let fields: Fields<'a> = from_str(raw.get()).map_err(fault)?;
        let value = |name: &str| fields.get(name).map(|raw| from_str::<Value>(raw.get()).unwrap_or_default());
        let begin = place.range(fields.get("source").copied().unwrap_or(raw)).start;
        let line = place.line(begin);
        let outputs = fields.get("outputs").copied();
        let tags = value("metadata").unwrap_or_default()["tags"].as_array().cloned().unwrap_or_default();
        Ok(Cell {
            number,
            line,
            kind: value("cell_type").unwrap_or_default().as_str().unwrap_or_default().to_owned(),
            source: joined(&value("source").unwrap_or_default()),
            tags: tags.iter().filter_map(|tag| tag.as_str().map(str::to_owned)).collect(),
            execution_count: fields.get("execution_count").map_or("null", |raw| raw.get()).to_owned(),
            outputs,
            range: outputs.map_or(0..0, |raw| place.range(raw)),
        })
    }

    fn outputs(&self) -> Result<Vec<Value>, String> {
        let Some(raw) = self.outputs else { return Ok(Vec::new()) };
        from_str(raw.get()).map_err(|fault| format!("not a notebook: the outputs of cell {}: {fault}", self.number))
    }

    fn was_run(&self) -> bool {
        self.execution_count != "null" || self.outputs().is_ok_and(|outputs| !outputs.is_empty())
    }

    /// Returns the cell as an example. Outputs are compared if the notebook has any.
    fn example(&self, was_run: bool) -> Result<Example, String> {
        let has = |tag: &str| self.tags.iter().any(|own| own == tag);
        let outputs = self.outputs()?;
        let expected = recorded(&outputs);
        let options = Options {
            skip: has("skip-execution") || has("nbval-skip"),
            ignore_output: has("nbval-ignore-output") || !was_run || !self.was_run(),
            // IPython breaks the lines of long lists in its own way.
            normalize_whitespace: expected.starts_with(['[', '(', '{']),
            ..Options::default()
        };
        let written = match self.outputs {
            Some(_) => Written::Outputs { execution_count: self.execution_count.clone() },
            None => Written::Nowhere,
        };
        Ok(Example {
            language: Language::Python,
            manner: Manner::Cell,
            line: self.line,
            heading: format!("cell {}", self.number),
            input: format!("{}\n", self.source.trim_end()),
            source: self.source.clone(),
            expected,
            options,
            output: self.range.clone(),
            written,
            origin: Origin::Page,
        })
    }
}

/// Returns a text that is written as one string or as a list of its lines.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// Returns the outputs of a cell as a session shows them. Warnings and logs are left out.
fn recorded(outputs: &[Value]) -> String {
    let mut text = String::new();
    for output in outputs {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        match output["output_type"].as_str() {
            Some("stream") if output["name"] != "stderr" => text.push_str(&joined(&output["text"])),
            Some("execute_result" | "display_data") => text.push_str(&joined(&output["data"]["text/plain"])),
            Some("error") => {
                let name = output["ename"].as_str().unwrap_or_default();
                let message = output["evalue"].as_str().unwrap_or_default().lines().next().unwrap_or_default();
                let separator = if message.is_empty() { "" } else { ": " };
                text.push_str(&format!("{TRACEBACK}\n  ...\n{name}{separator}{message}"));
            }
            _ => {}
        }
    }
    text.trim_end_matches('\n').to_owned()
}

/// Returns the outputs of a cell in JSON, in the style of the file. `printed` is the output, whose value begins at the
/// byte `value`. Outputs in `old` that are no text of the session stay: warnings, pictures.
pub(super) fn outputs(
    text: &str,
    range: &Range<usize>,
    printed: &str,
    value: Option<usize>,
    execution_count: &str,
) -> String {
    let old: Vec<Value> = text.get(range.clone()).and_then(|old| from_str(old).ok()).unwrap_or_default();
    let is_kept = |output: &Value| output["name"] == "stderr" || output["output_type"] == "display_data";
    let mut new: Vec<Value> = old.into_iter().filter(is_kept).collect();
    let error_at = printed.find(TRACEBACK).filter(|at| *at == 0 || printed[..*at].ends_with('\n'));
    let end = error_at.unwrap_or(printed.len());
    let value_at = value.filter(|at| *at <= end).unwrap_or(end);
    let (stream, shown) = printed.get(..end).unwrap_or_default().split_at_checked(value_at).unwrap_or((printed, ""));
    if !stream.is_empty() {
        new.push(json!({ "name": "stdout", "output_type": "stream", "text": lines(stream) }));
    }
    let shown = shown.strip_suffix('\n').unwrap_or(shown);
    if !shown.is_empty() {
        let count: Value = from_str(execution_count).unwrap_or_default();
        new.push(json!({
            "data": { "text/plain": lines(shown) },
            "execution_count": count,
            "metadata": {},
            "output_type": "execute_result",
        }));
    }
    if let Some(error) = error_at.and_then(|at| printed.get(at..)) {
        let last = error.trim_end().lines().next_back().unwrap_or_default();
        let (name, message) = last.split_once(": ").unwrap_or((last, ""));
        let traceback: Vec<&str> = error.trim_end().lines().collect();
        new.push(json!({ "ename": name, "evalue": message, "output_type": "error", "traceback": traceback }));
    }
    in_style(&Value::Array(new), text, range.start)
}

/// Splits a text into its lines, with their ends, as notebooks store it.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Writes a value like the file around it: on one line, or indented.
fn in_style(value: &Value, text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    let margin = super::lines::indent_of(line);
    let is_indented = line.trim_start().starts_with("\"outputs\"") && !margin.is_empty();
    if !is_indented || value.as_array().is_some_and(Vec::is_empty) {
        return value.to_string();
    }
    // The key is in a cell, in the list of cells, in the notebook.
    let unit = margin.get(..(margin.len() / 3).max(1)).unwrap_or(" ");
    // Two spaces a level. A line end inside a string is written as an escape.
    let pretty = format!("{value:#}");
    let lines = pretty.split('\n').enumerate().map(|(index, line)| {
        let body = line.trim_start_matches(' ');
        let start = if index == 0 { "" } else { margin };
        format!("{start}{}{body}", unit.repeat((line.len() - body.len()) / 2))
    });
    lines.collect::<Vec<_>>().join("\n")
}

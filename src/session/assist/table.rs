//! Lays out the variables of a session as a table of a given width. Returns text; shows nothing.

use unicode_width::UnicodeWidthStr;

use crate::Variable;

/// Returns a table of `variables`, with no line wider than `width`.
pub(super) fn variables(variables: &[Variable], width: usize) -> String {
    if variables.is_empty() {
        return "no variables yet\n".to_owned();
    }
    let head = ["name", "type", "size", "stride", "offset", "storage", "bytes", "shared with"];
    // Those of one storage come together; earlier results stay last.
    let mut variables: Vec<&Variable> = variables.iter().collect();
    variables.sort_by_key(|variable| {
        let storage = variable.memory.as_ref().map(|memory| memory.storage);
        (variable.name.starts_with('_'), storage.is_none(), storage)
    });
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(variables.into_iter().map(row));
    // Leave out columns that no variable fills.
    let is_used = |column: usize| rows.iter().skip(1).any(|row| row.get(column).is_some_and(|cell| !cell.is_empty()));
    let used: Vec<usize> = (0..head.len()).filter(|&column| is_used(column)).collect();
    let widest = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or_default();
    let widths: Vec<usize> = used.iter().map(|&column| widest(column)).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (&column, &width) in used.iter().zip(&widths) {
            let cell = &row[column];
            let pad = " ".repeat(width - cell.width());
            // Numbers are right-aligned.
            let is_number = matches!(column, 4 | 6);
            line.push_str(&if is_number { format!("{pad}{cell}  ") } else { format!("{cell}{pad}  ") });
        }
        text.push_str(&cut(line.trim_end(), width));
        text.push('\n');
    }
    text
}

fn row(variable: &Variable) -> [String; 8] {
    let name = variable.name.clone();
    let Some(memory) = &variable.memory else {
        return [name, variable.summary.clone(), "".into(), "".into(), "".into(), "".into(), "".into(), "".into()];
    };
    let dims = |dims: &Option<_>| dims.as_ref().map(|dims: &crate::Dims| list(dims)).unwrap_or_default();
    // An array counts in bytes.
    let unit = if memory.is_in_bytes { " B" } else { "" };
    let stride = match memory.stride.as_ref().filter(|stride| !stride.is_empty()) {
        Some(_) => dims(&memory.stride) + unit,
        None => dims(&memory.stride),
    };
    [
        name,
        variable.kind().to_owned(),
        dims(&memory.size),
        stride,
        memory.offset.map(|offset| format!("{offset}{unit}")).unwrap_or_default(),
        format!("#{}", memory.storage),
        memory.nbytes.to_string(),
        memory.shared_with.join(" "),
    ]
}

fn list(items: &[i64]) -> String {
    let items: Vec<_> = items.iter().map(i64::to_string).collect();
    format!("[{}]", items.join(", "))
}

/// Cuts a line that is too long, and marks the cut.
pub fn cut(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let mut shown = String::new();
    for c in line.chars() {
        if format!("{shown}{c}").width() + 1 > width {
            break;
        }
        shown.push(c);
    }
    shown + "…"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Language, Session, SessionOptions};

    #[test]
    fn tensors_show_who_shares() {
        let mut session = Session::new(SessionOptions::default());
        session
            .eval(Language::Rhai, "let t = torch.zeros(2, 3); let v = t.t(); let s = t.untyped_storage(); let n = 3;");
        let wanted = "\
name  type            size    stride  offset  storage  bytes  shared with
t     float32         [2, 3]  [3, 1]       0  #1          24  v s
v     float32         [3, 2]  [1, 3]       0  #1          24  t s
s     UntypedStorage                          #1          24  t v
n     int 3
";
        assert_eq!(variables(&session.variables(), 80), wanted);
        assert!(variables(&session.variables(), 40).lines().all(|line| line.width() <= 40));
        assert_eq!(variables(&[], 80), "no variables yet\n");
    }
    #[test]
    fn those_of_one_storage_come_together() {
        let mut session = Session::new(SessionOptions::default());
        let source =
            "import torch, numpy as np\na = np.arange(3)\nb = torch.ones(2)\nk = 1\nt = torch.from_numpy(a)[1:]";
        session.eval(Language::Python, source);
        let listed = variables(&session.variables(), 80);
        let names: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
        let at = |name| names.iter().position(|other| *other == name);
        assert_eq!(at("t"), at("a").map(|at| at + 1), "{listed}");
        assert!(at("t") < at("b") && at("b") < at("k"), "{listed}");
    }
}

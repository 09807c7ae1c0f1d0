//! Sizes below each other, aligned at the last dimension as broadcasting reads them.

use super::scene::{Block, Ink, Scene, Span, Table, list, span};

/// The names of the last dimensions. A picture of more would be wider than a page.
const DIMS: [&str; 8] = ["dim -8", "dim -7", "dim -6", "dim -5", "dim -4", "dim -3", "dim -2", "dim -1"];

/// Draws the sizes of several tensors and of the result of an operation between them.
pub fn scene(operands: &[(&str, Vec<i64>)]) -> Scene {
    let rank = operands.iter().map(|(_, sizes)| sizes.len()).max().unwrap_or_default().min(DIMS.len());
    let mut scene = Scene::new("Broadcasting aligns sizes at the last dimension");
    let mut head = vec![""];
    head.extend(DIMS.iter().skip(DIMS.len() - rank));
    let size = |sizes: &[i64], from_end: usize| sizes.iter().rev().nth(from_end).copied();
    let row = |(name, sizes): &(&str, Vec<i64>)| -> Vec<Span> {
        let cells = (0..rank).rev().map(|dim| match size(sizes, dim) {
            Some(1) => span(Ink::Shared, "1"),
            Some(size) => span(Ink::Plain, size.to_string()),
            None => span(Ink::Unused, "-"),
        });
        std::iter::once(span(Ink::Label, *name)).chain(cells).collect()
    };
    let mut rows: Vec<_> = operands.iter().map(row).collect();
    let mut fault = None;
    let mut result = vec![span(Ink::Label, "result")];
    for dim in (0..rank).rev() {
        let mut wide = operands.iter().filter_map(|(_, sizes)| size(sizes, dim)).filter(|size| *size != 1);
        let first = wide.next().unwrap_or(1);
        match wide.find(|size| *size != first) {
            None => result.push(span(Ink::Good, first.to_string())),
            Some(other) => {
                fault = Some((dim + 1, first, other));
                result.push(span(Ink::Fault, format!("{first} or {other}?")));
            }
        }
    }
    rows.push(result);
    scene.blocks.push(Block::Table(Table { head, rows }));
    match fault {
        Some((dim, a, b)) => scene.note(
            Ink::Fault,
            format!("Refused: at dimension -{dim} the sizes are {a} and {b}. They must be equal, or one of them 1."),
        ),
        None => scene.note(Ink::Plain, "A size of 1, or a missing one (-), repeats as often as the others need."),
    }
    scene
}

/// Draws the sizes of a product of matrices or batches of them: only what precedes the last two dimensions is
/// broadcast.
pub fn product(a: &[i64], b: &[i64]) -> Scene {
    // A vector on the left is a row, one on the right a column. The result lacks that dimension.
    let row = if let [size] = a { vec![1, *size] } else { a.to_vec() };
    let column = if let [size] = b { vec![*size, 1] } else { b.to_vec() };
    let (batch_a, matrix_a) = row.split_at(row.len().saturating_sub(2));
    let (batch_b, matrix_b) = column.split_at(column.len().saturating_sub(2));
    let mut scene = scene(&[("batch of a", batch_a.to_vec()), ("batch of b", batch_b.to_vec())]);
    let (inner_a, inner_b) = (matrix_a.last().copied(), matrix_b.first().copied());
    let text = format!("The last two dimensions are matrices: {} @ {}", list(matrix_a), list(matrix_b));
    match inner_a == inner_b {
        true => scene.note(Ink::Good, format!("{text}. The inner sizes agree, and disappear.")),
        false => scene.note(Ink::Fault, format!("{text}. Refused: the inner sizes differ.")),
    }
    if a.len() == 1 || b.len() == 1 {
        scene.note(
            Ink::Plain,
            "A vector counts as a row on the left, as a column on the right, and leaves no dimension.",
        );
    }
    scene
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal;

    fn drawn(scene: &Scene) -> String {
        terminal::plain(&terminal::draw(scene, 120))
    }

    #[test]
    fn sizes_are_aligned() {
        let wanted = "\
Broadcasting aligns sizes at the last dimension
        dim -3  dim -2  dim -1
a       -       4       1
b       2       1       3
result  2       4       3
A size of 1, or a missing one (-), repeats as often as the others need.";
        assert_eq!(drawn(&scene(&[("a", vec![4, 1]), ("b", vec![2, 1, 3])])), wanted);
        let refused = drawn(&scene(&[("a", vec![4, 2]), ("b", vec![3])]));
        assert!(refused.ends_with(
            "result  4       2 or 3?\nRefused: at dimension -1 the sizes are 2 and 3. They must be equal, or one of them 1."
        ));
    }

    #[test]
    fn products_broadcast_their_batches() {
        let text = drawn(&product(&[5, 2, 3], &[4]));
        assert!(text.contains("[2, 3] @ [4, 1]. Refused: the inner sizes differ."), "{text}");
        assert!(drawn(&product(&[5, 2, 3], &[3, 4])).contains("agree"));
    }
}

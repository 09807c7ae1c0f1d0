//! The dtype that an operation between two numbers or tensors gives.

use super::scene::{Block, Ink, Scene, Table, span};
use tensor::{Category, DType};

/// An operand with its name.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'n> {
    Tensor {
        name: &'n str,
        dtype: DType,
        dims: usize,
    },
    /// A number of Python, which has a category but no dtype.
    Number {
        name: &'n str,
        category: Category,
    },
}

fn category_name(category: Category) -> &'static str {
    match category {
        Category::Bool => "bool",
        Category::Integral => "integer",
        Category::Floating => "float",
        Category::Complex => "complex",
    }
}

/// Draws the operands of an operation, by what counts for the dtype of its result.
pub fn scene(operands: &[Operand], result: DType) -> Scene {
    let mut scene = Scene::new("Which dtype comes out");
    let row = |operand: &Operand| {
        let (name, dtype, kind, counts) = match operand {
            Operand::Tensor { name, dtype, dims: 0 } => (name, dtype.name(), dtype.category(), "its category"),
            Operand::Tensor { name, dtype, .. } => (name, dtype.name(), dtype.category(), "its dtype"),
            Operand::Number { name, category } => (name, "-", *category, "its category"),
        };
        let texts = [dtype, category_name(kind), counts].map(|text| span(Ink::Plain, text));
        std::iter::once(span(Ink::Label, *name)).chain(texts).collect()
    };
    let mut rows: Vec<Vec<_>> = operands.iter().map(row).collect();
    let category = category_name(result.category());
    rows.push(vec![
        span(Ink::Label, "result"),
        span(Ink::Good, result.name()),
        span(Ink::Good, category),
        span(Ink::Plain, ""),
    ]);
    let head = vec!["", "dtype", "category", "what counts"];
    scene.blocks.push(Block::Table(Table { head, rows }));
    scene.note(
        Ink::Plain,
        "Categories rise: bool, integer, float, complex. Tensors with dimensions decide the dtype. A number or a \
         0-dimensional tensor beside one changes it only if its category is higher: a number then gives the default dtype of \
         its category, a 0-dimensional tensor its own.",
    );
    scene.note(
        Ink::Plain,
        "An in-place operation keeps the dtype of its first operand, whose category must not be lower.",
    );
    scene
}

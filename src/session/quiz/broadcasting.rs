//! Questions on broadcasting: the size of a result, and whether sizes fit at all.

use super::answer::Form;
use super::draft::{Draft, Make, PictureRecipe, joined};
use super::random::Random;

/// The kinds of questions by level.
pub(super) const LEVELS: [&[Make]; 3] = [
    &[of_two, of_row_and_column, of_two],
    &[of_more_dims, in_place, expanded, number_of_elements, element_of_result],
    &[of_three, batched_product, subscripted, strides_of_expanded, written],
];

const PAIR: PictureRecipe = PictureRecipe::Broadcast(&["a", "b"]);

/// Returns two sizes of which the first has `rank` dimensions, and which mostly fit.
fn pair(random: &mut Random, rank: usize) -> (Vec<i64>, Vec<i64>) {
    let a = random.sizes(rank, 2, 5);
    let kept = random.within(1, rank as i64) as usize;
    let mut b: Vec<i64> = a.iter().skip(rank - kept).copied().collect();
    let mut a = a;
    for (from_end, size) in b.iter_mut().rev().enumerate() {
        match random.below(5) {
            0 | 1 => *size = 1,
            2 => {
                if let Some(other) = a.iter_mut().rev().nth(from_end) {
                    *other = 1;
                }
            }
            _ => {}
        }
    }
    if random.below(3) == 0 {
        // Sizes that nearly fit: one is off, or they are aligned at the wrong end.
        match b.last_mut() {
            Some(last) if random.coin() => *last += 1,
            _ => b.reverse(),
        }
    }
    (a, b)
}

fn zeros(name: &str, sizes: &[i64]) -> String {
    match sizes {
        [] => format!("{name} = torch.tensor(0.)"),
        sizes => format!("{name} = torch.zeros({})", joined(sizes)),
    }
}

/// Asks for the shape of an expression, or whether it is refused.
fn shape(expression: &str) -> Draft {
    Draft::new(
        Form::SizesOrRefused,
        format!("What is the shape of `{expression}`? Type it, or `refused`."),
        format!("({expression}).shape"),
    )
    .explained(PAIR)
}

fn of_two(random: &mut Random) -> Draft {
    let rank = random.within(1, 2) as usize;
    let (a, b) = pair(random, rank);
    let (a, b) = if random.coin() { (a, b) } else { (b, a) };
    shape("a + b").given(zeros("a", &a)).given(zeros("b", &b)).others([
        "a.shape",
        "b.shape",
        "a.shape + b.shape",
        "tuple(reversed(a.shape))",
    ])
}

fn of_row_and_column(random: &mut Random) -> Draft {
    let (rows, columns) = (random.within(2, 6), random.within(2, 6));
    let operator = random.pick(&["+", "*", "-", "<"]);
    let (a, b) = match random.below(3) {
        0 => (vec![rows, 1], vec![columns]),
        1 => (vec![rows], vec![columns, 1]),
        _ => (vec![1, columns], vec![rows, 1]),
    };
    shape(&format!("a {operator} b")).given(zeros("a", &a)).given(zeros("b", &b)).others([
        "a.shape",
        "b.shape",
        "tuple(reversed(torch.broadcast_shapes(a.shape, b.shape)))",
    ])
}

fn of_more_dims(random: &mut Random) -> Draft {
    let rank = random.within(3, 4) as usize;
    let (a, b) = pair(random, rank);
    let (a, b) = if random.coin() { (a, b) } else { (b, a) };
    shape("a * b").given(zeros("a", &a)).given(zeros("b", &b))
}

fn in_place(random: &mut Random) -> Draft {
    let rank = random.within(1, 3) as usize;
    let (a, b) = pair(random, rank);
    let (a, b) = if random.below(3) > 0 { (a, b) } else { (b, a) };
    Draft::new(Form::Works, "Does the line `a += b` work, or is it refused? Type `yes` or `no`.", "a.add_(b)")
        .given(zeros("a", &a))
        .given(zeros("b", &b))
        .explained(PAIR)
}

fn expanded(random: &mut Random) -> Draft {
    let rank = random.within(1, 3) as usize;
    let (a, mut b) = pair(random, rank);
    if random.coin() {
        b.iter_mut().rev().zip(a.iter().rev()).for_each(|(size, other)| {
            if *size != 1 {
                *size = *other;
            }
        });
    }
    let call = format!("b.expand({})", joined(&a));
    Draft::new(Form::Works, format!("Does `{call}` work, or is it refused? Type `yes` or `no`."), call)
        .given(zeros("a", &a))
        .given(zeros("b", &b))
        .explained(PAIR)
}

fn number_of_elements(random: &mut Random) -> Draft {
    let (rows, columns, depth) = (random.within(2, 5), random.within(2, 5), random.within(2, 4));
    let (a, b) = match random.below(4) {
        0 => (vec![rows, 1], vec![columns]),
        1 => (vec![depth, 1, columns], vec![rows, 1]),
        2 => (vec![rows], vec![columns, 1]),
        _ => (vec![depth, 1, 1], vec![rows, columns]),
    };
    Draft::new(Form::Number, "How many elements has `a - b`?", "(a - b).numel()")
        .given(zeros("a", &a))
        .given(zeros("b", &b))
        .explained(PAIR)
}

fn element_of_result(random: &mut Random) -> Draft {
    let (rows, columns) = (random.within(2, 4), random.within(2, 4));
    let (down, across) = (10 * random.within(1, 3), random.within(1, 5));
    let (row, column) = (random.below(rows), random.below(columns));
    Draft::new(Form::Number, format!("What is `c[{row}, {column}]`?"), format!("c[{row}, {column}].item()"))
        .given(format!("a = {down} * torch.arange({rows}).unsqueeze(1)"))
        .given(format!("b = torch.arange({across}, {})", across + columns))
        .given("c = a + b")
        .explained(PAIR)
}

fn of_three(random: &mut Random) -> Draft {
    let rank = random.within(2, 3) as usize;
    let (a, b) = pair(random, rank);
    let c = match random.below(3) {
        0 => vec![random.within(2, 4), 1, 1],
        1 => vec![a.last().copied().unwrap_or(1)],
        _ => vec![1, 1],
    };
    shape("a + b * c")
        .given(zeros("a", &a))
        .given(zeros("b", &b))
        .given(zeros("c", &c))
        .explained(PictureRecipe::Broadcast(&["a", "b", "c"]))
}

fn batched_product(random: &mut Random) -> Draft {
    let (n, k, m) = (random.within(2, 4), random.within(2, 4), random.within(2, 4));
    let inner = if random.below(4) == 0 { k + 1 } else { k };
    let batch = random.within(2, 5);
    let (a, b) = match random.below(5) {
        0 => (vec![batch, n, k], vec![inner, m]),
        1 => (vec![batch, 1, n, k], vec![random.within(2, 4), inner, m]),
        2 => (vec![batch, n, k], vec![inner]),
        3 => (vec![k], vec![batch, inner, m]),
        _ => (vec![batch, n, k], vec![batch, inner, m]),
    };
    shape("a @ b").given(zeros("a", &a)).given(zeros("b", &b)).explained(PictureRecipe::Product)
}

fn subscripted(random: &mut Random) -> Draft {
    let (rows, columns) = (random.within(2, 5), random.within(2, 5));
    let pairs = [
        ("x[:, None] + y", vec![rows], vec![columns]),
        ("x[None] * y[:, None]", vec![rows], vec![columns]),
        ("x[:, None] - y[None]", vec![rows, columns], vec![columns]),
        ("x - x.mean(1)", vec![rows, columns], vec![columns]),
        ("x - x.mean(1, keepdim=True)", vec![rows, columns], vec![columns]),
        ("x.t() + y", vec![rows, columns], vec![rows]),
        ("x[..., None] + y", vec![rows, columns], vec![random.within(2, 4)]),
        ("x[:, :, None] == y", vec![rows, columns], vec![columns, random.within(2, 3)]),
    ];
    let (expression, x, y) = pairs.get(random.below(pairs.len() as i64) as usize).cloned().unwrap_or_default();
    shape(expression).given(zeros("x", &x)).given(zeros("y", &y)).explained(PictureRecipe::Broadcast(&["x", "y"]))
}

fn strides_of_expanded(random: &mut Random) -> Draft {
    let (rows, columns, depth) = (random.within(2, 5), random.within(2, 5), random.within(2, 4));
    let (x, to) = match random.below(4) {
        0 => (vec![rows, 1], vec![depth, rows, columns]),
        1 => (vec![columns], vec![rows, columns]),
        2 => (vec![depth, 1, columns], vec![depth, rows, columns]),
        _ => (vec![1, rows, 1], vec![depth, rows, columns]),
    };
    Draft::new(Form::Sizes, "What is `y.stride()`?", "y.stride()")
        .given(zeros("x", &x))
        .given(format!("y = torch.broadcast_to(x, ({}))", joined(&to)))
        .call("explain(y)")
}

fn written(random: &mut Random) -> Draft {
    let rank = random.within(1, 2) as usize;
    let (a, b) = pair(random, rank);
    let (a, b) = if random.below(4) > 0 { (a, b) } else { (b, a) };
    Draft::new(Form::Works, "Does the line `a[:] = b` work, or is it refused? Type `yes` or `no`.", "a[:].copy_(b)")
        .given(zeros("a", &a))
        .given(zeros("b", &b))
        .explained(PAIR)
}

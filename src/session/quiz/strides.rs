//! Questions on strides, offsets and the order of elements.

use super::answer::Form;
use super::draft::{Chain, Draft, Make, counting, element, joined};
use super::random::Random;

/// The kinds of questions by level.
pub(super) const LEVELS: [&[Make]; 3] = [
    &[new_tensor, transposed, row, bytes_of_a_step, offset_of_a_row],
    &[permuted, stepped, offset_of_a_corner, contiguous, cell_of_an_element, expanded],
    &[chain_strides, chain_offset, chain_contiguous, chain_cell, as_strided, unfolded, diagonal],
];

fn strides(ask: &str) -> Draft {
    Draft::new(Form::Sizes, ask, "y.stride()").call("explain(y)").others([
        "torch.empty(y.shape).stride()",
        "y.shape",
        "tuple(reversed(y.stride()))",
        "tuple(4 * step for step in y.stride())",
    ])
}

fn new_tensor(random: &mut Random) -> Draft {
    let rank = random.within(2, 3) as usize;
    let sizes = random.sizes(rank, 2, 6);
    let dtype = random.pick(&["", ", dtype=torch.int16", ", dtype=torch.float64"]);
    Draft::new(Form::Sizes, "What are the strides of `x`, counted in elements?", "x.stride()")
        .given(format!("x = torch.zeros({}{dtype})", joined(&sizes)))
        .call("explain(x)")
        .others([
            "x.shape",
            "tuple(reversed(x.stride()))",
            "tuple(x.element_size() * step for step in x.stride())",
            "tuple(size - 1 for size in x.shape)",
        ])
}

fn transposed(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 2, 7);
    let call = random.pick(&["x.t()", "x.transpose(0, 1)", "x.T"]);
    strides("What is `y.stride()`?")
        .given(format!("x = torch.zeros({})", joined(&sizes)))
        .given(format!("y = {call}"))
        .others(["(y.shape[0], 1)"])
}

fn row(random: &mut Random) -> Draft {
    let sizes = random.sizes(3, 2, 6);
    let chain = Chain::of("x", &sizes).select(random);
    strides("What is `y.stride()`?")
        .given(format!("x = torch.zeros({})", joined(&sizes)))
        .given(format!("y = {}", chain.text))
        .others(["x.stride()[:2]", "x.stride()[1:]"])
}

fn bytes_of_a_step(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 3, 9);
    let dtype = random.pick(&["int16", "float32", "float64", "uint8", "int64"]);
    let dim = random.below(2);
    let ask = format!("How many bytes lie between an element of `x` and its neighbour along dimension {dim}?");
    Draft::new(Form::Number, ask, format!("x.stride({dim}) * x.element_size()"))
        .given(format!("x = torch.zeros({}, dtype=torch.{dtype})", joined(&sizes)))
        .call("explain(x)")
        .others(["x.stride(0)", "x.shape[0] * x.element_size()", "x.stride(0) * x.element_size()", "x.element_size()"])
}

fn offset_of_a_row(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 3, 8);
    let at = random.within(1, sizes.first().copied().unwrap_or(2) - 1);
    Draft::new(Form::Number, "What is `y.storage_offset()`?", "y.storage_offset()")
        .given(format!("x = torch.zeros({})", joined(&sizes)))
        .given(format!("y = x[{at}]"))
        .call("explain(y)")
        .others(["4 * y.storage_offset()", "y.shape[0]", "y.storage_offset() - 1", "x.shape[0]"])
}

fn permuted(random: &mut Random) -> Draft {
    let sizes = random.sizes(3, 2, 6);
    let chain = Chain::of("x", &sizes).permute(random);
    strides("What is `y.stride()`?")
        .given(format!("x = torch.zeros({})", joined(&sizes)))
        .given(format!("y = {}", chain.text))
}

fn stepped(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 4, 9);
    let (down, across) = (random.within(1, 3), random.within(2, 3));
    let first = random.below(2);
    strides("What is `y.stride()`?")
        .given(format!("x = torch.zeros({})", joined(&sizes)))
        .given(format!("y = x[{first}::{down}, ::{across}]"))
}

fn offset_of_a_corner(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 4, 8);
    let (row, column) = (random.within(1, 3), random.within(1, 3));
    Draft::new(Form::Number, "What is `y.storage_offset()`?", "y.storage_offset()")
        .given(format!("x = torch.zeros({})", joined(&sizes)))
        .given(format!("y = x[{row}:, {column}:]"))
        .call("explain(y)")
}

fn contiguous(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 2, 6);
    let call = match random.below(7) {
        0 => "x.t()".to_owned(),
        1 => format!("x[:{}]", random.within(1, 2)),
        2 => format!("x[:, :{}]", random.within(1, 2)),
        3 => format!("x[:, {}]", random.below(2)),
        4 => format!("x[{}]", random.below(2)),
        5 => "x.unsqueeze(1)".to_owned(),
        _ => format!("x[{}:]", random.below(2)),
    };
    Draft::new(Form::YesNo, "Is `y` contiguous?", "y.is_contiguous()")
        .given(format!("x = torch.zeros({})", joined(&sizes)))
        .given(format!("y = {call}"))
        .call("explain(y)")
}

fn cell_of_an_element(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 3, 7);
    let chain = Chain::of("x", &sizes).transpose(random);
    let index = element(random, &chain.sizes);
    let ask = format!("Which cell of the storage, counted from 0, holds `y[{index}]`?");
    Draft::new(Form::Number, ask, format!("y[{index}].storage_offset()"))
        .given(format!("x = torch.zeros({})", joined(&sizes)))
        .given(format!("y = {}", chain.text))
        .call("explain(y)")
}

fn expanded(random: &mut Random) -> Draft {
    let (rows, columns) = (random.within(2, 6), random.within(2, 6));
    let (sizes, to) = match random.below(3) {
        0 => (vec![1, columns], vec![rows, columns]),
        1 => (vec![rows, 1], vec![rows, columns]),
        _ => (vec![columns], vec![rows, columns]),
    };
    strides("What is `y.stride()`?")
        .given(format!("x = torch.zeros({})", joined(&sizes)))
        .given(format!("y = x.expand({})", joined(&to)))
}

/// Sets up `y`, a chain of views of `x`.
fn chained(random: &mut Random, draft: impl FnOnce(&mut Random, &Chain) -> Draft) -> Draft {
    let rank = random.within(2, 3) as usize;
    let sizes = random.sizes(rank, 3, 6);
    let mut chain = Chain::of("x", &sizes);
    for _ in 0..random.within(2, 3) {
        chain = chain.step(random);
    }
    draft(random, &chain)
        .given(format!("x = {}", counting(&sizes)))
        .given(format!("y = {}", chain.text))
        .call("explain(y)")
}

fn chain_strides(random: &mut Random) -> Draft {
    chained(random, |_, _| strides("What is `y.stride()`?"))
}

fn chain_offset(random: &mut Random) -> Draft {
    chained(random, |_, _| Draft::new(Form::Number, "What is `y.storage_offset()`?", "y.storage_offset()"))
}

fn chain_contiguous(random: &mut Random) -> Draft {
    chained(random, |_, _| Draft::new(Form::YesNo, "Is `y` contiguous?", "y.is_contiguous()"))
}

fn chain_cell(random: &mut Random) -> Draft {
    chained(random, |random, chain| {
        let index = element(random, &chain.sizes);
        let ask = format!("Which cell of the storage, counted from 0, holds `y[{index}]`?");
        Draft::new(Form::Number, ask, format!("y[{index}].storage_offset()"))
    })
}

fn as_strided(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 2, 4);
    let (down, across, offset) = (random.within(0, 4), random.within(1, 3), random.within(0, 4));
    let index = element(random, &sizes);
    let count = offset + sizes.iter().map(|size| size - 1).zip([down, across]).map(|(n, step)| n * step).sum::<i64>();
    Draft::new(Form::Number, format!("What is `y[{index}]`?"), format!("y[{index}].item()"))
        .given(format!("x = torch.arange({})", count + random.within(1, 4)))
        .given(format!("y = x.as_strided(({}), ({down}, {across}), {offset})", joined(&sizes)))
        .call("explain(y)")
}

fn unfolded(random: &mut Random) -> Draft {
    let (size, step) = (random.within(2, 4), random.within(1, 3));
    let count = size + step * random.within(1, 4) + random.below(2);
    strides("What is `y.stride()`?")
        .given(format!("x = torch.arange({})", 2 * count))
        .given(format!("y = x[::2].unfold(0, {size}, {step})"))
}

fn diagonal(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 3, 8);
    let by = random.within(-2, 2);
    let (ask, answer) = match random.coin() {
        true => ("What is `y.stride()`?", "y.stride()"),
        false => ("What is `y.storage_offset()`?", "y.storage_offset()"),
    };
    let form = if answer == "y.stride()" { Form::Sizes } else { Form::Number };
    Draft::new(form, ask, answer)
        .given(format!("x = torch.zeros({})", joined(&sizes)))
        .given(format!("y = x.diagonal({by})"))
        .call("explain(y)")
}

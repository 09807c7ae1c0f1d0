//! Questions on subscripts: the shape of a result, its elements, and whether it is a view.

use super::answer::Form;
use super::draft::{Draft, Make, counting};
use super::random::Random;

/// The kinds of questions by level.
pub(super) const LEVELS: [&[Make]; 3] = [
    &[shape_of_slice, elements_of_slice, view_or_copy],
    &[shape_of_index, elements_of_index, view_or_copy_of_more, masked],
    &[shape_of_several, elements_of_pairs, by_function, view_or_copy_of_several, refused],
];

/// Picks a pattern and replaces its capitals by numbers: `I`, `J`, `K` by an index of dimension 0, 1, 2, and `P`, `Q` by
/// the start and the end of a slice of dimension 1.
fn filled(random: &mut Random, patterns: &[&'static str], sizes: &[i64]) -> String {
    let mut text = random.pick(patterns).to_owned();
    let size = |dim: usize| sizes.get(dim).copied().unwrap_or(2);
    while let Some(at) = text.find(['I', 'J', 'K', 'P', 'Q']) {
        let number = match text.get(at..at + 1) {
            Some("I") => random.below(size(0)),
            Some("J") => random.below(size(1)),
            Some("K") => random.below(size(2)),
            Some("P") => random.within(0, 1),
            _ => random.within(2, size(1)),
        };
        text.replace_range(at..at + 1, &number.to_string());
    }
    text
}

fn subscripted(ask: &str, form: Form, answer: &str, sizes: &[i64], subscript: &str) -> Draft {
    Draft::new(form, ask, answer)
        .given(format!("x = {}", counting(sizes)))
        .given(format!("y = x{subscript}"))
        .call("explain(y)")
}

const SHAPE: &str = "What is `y.shape`?";
const ELEMENTS: &str = "Which elements has `y`?";
const KIND: &str = "Does `y` show the memory of `x`, or is it a copy? Type `view` or `copy`.";
const SHARES: &str = "y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()";

fn shape_of_slice(random: &mut Random) -> Draft {
    let rank = random.within(2, 3) as usize;
    let sizes = random.sizes(rank, 3, 6);
    let subscript =
        filled(random, &["[I]", "[:, J]", "[:, P:Q]", "[::2]", "[:, P::2]", "[I, P:]", "[-1]", "[:-1, J]"], &sizes);
    subscripted(SHAPE, Form::Sizes, "y.shape", &sizes, &subscript).others([
        "x.shape",
        "x.shape[1:]",
        "x.shape[:1]",
        "tuple(reversed(y.shape))",
        "(1,) + y.shape",
    ])
}

fn elements_of_slice(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 3, 4);
    let subscript = filled(random, &["[I]", "[:, J]", "[I, P:Q]", "[I, ::2]", "[-1]", "[:, -1]", "[P:, J]"], &sizes);
    subscripted(ELEMENTS, Form::Elements, "y", &sizes, &subscript).others(["x[0]", "x[:, 0]", "x[1]", "x[:, 1]"])
}

fn view_or_copy(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 3, 6);
    let patterns: &[&str] = if random.coin() {
        &["[I]", "[:, J]", "[P:Q]", "[::2, ::2]", "[..., J]", "[None]", "[I, P:Q]", "[-1]", "[:]"]
    } else {
        &["[[I, I]]", "[:, [J]]", "[[I]]", "[[I, I], [J, J]]", "[x > J]", "[torch.tensor([I, I])]", "[[I, I], P:Q]"]
    };
    let subscript = filled(random, patterns, &sizes);
    subscripted(KIND, Form::ViewCopy, SHARES, &sizes, &subscript)
}

fn shape_of_index(random: &mut Random) -> Draft {
    let sizes = random.sizes(3, 2, 6);
    let patterns = [
        "[[I, I]]",
        "[:, [J, J, J]]",
        "[..., K]",
        "[None, I]",
        "[:, None]",
        "[I, ..., None]",
        "[[[I, I], [I, I]]]",
        "[:, :, [K, K]]",
        "[[I, I], [J, J]]",
        "[[I], [J], [K]]",
        "[I, :, [K, K]]",
        "[..., None, :]",
    ];
    let subscript = filled(random, &patterns, &sizes);
    subscripted(SHAPE, Form::Sizes, "y.shape", &sizes, &subscript)
}

fn elements_of_index(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 3, 4);
    let patterns =
        ["[[I, I], J]", "[I, [J, J]]", "[[I, I], [J, J]]", "[[-1, I], 0]", "[x[:, 0] > J, 1]", "[I][[J, J]]"];
    let subscript = filled(random, &patterns, &sizes);
    subscripted(ELEMENTS, Form::Elements, "y", &sizes, &subscript)
}

fn view_or_copy_of_more(random: &mut Random) -> Draft {
    let sizes = random.sizes(3, 2, 5);
    let patterns: &[&str] = if random.coin() {
        &["[I][J]", "[..., None]", "[:, J, ::2]", "[I:, None, J]", "[:, :, K][I]", "[None, ..., K]", "[::2][:, J]"]
    } else {
        &["[I][[J, J]]", "[[I]][0]", "[:, [J]][:, 0]", "[..., [K, K]]", "[[I, I]][:, J]", "[I, :, [K]]", "[[I], J][0]"]
    };
    let subscript = filled(random, patterns, &sizes);
    subscripted(KIND, Form::ViewCopy, SHARES, &sizes, &subscript)
}

fn masked(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 2, 5);
    let count: i64 = sizes.iter().product();
    let least = random.within(1, count - 1);
    let condition = match random.below(4) {
        0 => format!("x > {least}"),
        1 => format!("x % {} == 0", random.within(2, 3)),
        2 => format!("x[:, 0] >= {least}"),
        _ => format!("(x > {}) & (x < {})", least / 2, least + 2),
    };
    subscripted(SHAPE, Form::Sizes, "y.shape", &sizes, &format!("[{condition}]"))
}

fn shape_of_several(random: &mut Random) -> Draft {
    let sizes = random.sizes(4, 2, 5);
    let patterns = [
        "[:, [J, J], [K, K]]",
        "[[I, I, I], :, [K, K, K]]",
        "[[[I], [I]], [J, J, J]]",
        "[I, :, [K, K]]",
        "[:, [J, J], :, [0, 1]]",
        "[:, [[J], [J]], [K, K, K]]",
        "[[I, I], ..., [0, 1]]",
        "[..., [[0, 1]], None]",
        "[:, None, [J, J, J]]",
    ];
    let subscript = filled(random, &patterns, &sizes);
    subscripted(SHAPE, Form::Sizes, "y.shape", &sizes, &subscript)
}

fn elements_of_pairs(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 3, 4);
    let patterns = ["[[[I], [I]], [J, J]]", "[[I, I], :][:, [J, J]]", "[[I, I], 1:][0]", "[[I, I]][[1, 0], [J, J]]"];
    let subscript = filled(random, &patterns, &sizes);
    subscripted(ELEMENTS, Form::Elements, "y", &sizes, &subscript)
}

fn by_function(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 3, 4);
    let patterns = [
        ".take(torch.tensor([I, J, 4]))",
        ".gather(1, torch.tensor([[J, J], [J, J]]))",
        ".gather(0, torch.tensor([[I, I, I]]))",
        ".index_select(1, torch.tensor([J, J]))",
        ".index_select(0, torch.tensor([I]))",
        ".narrow(1, P, 2)",
        ".masked_select(x > J)[:3]",
        ".diagonal()",
    ];
    let subscript = filled(random, &patterns, &sizes);
    subscripted(ELEMENTS, Form::Elements, "y", &sizes, &subscript)
}

fn view_or_copy_of_several(random: &mut Random) -> Draft {
    let sizes = random.sizes(3, 2, 5);
    let patterns: &[&str] = if random.coin() {
        &["[I].t()[J]", "[:, J].reshape(-1)[0]", "[..., K:].t()", "[I, :, None]", "[I].reshape(-1)", "[:, P:Q][I, 0]"]
    } else {
        &["[:, [J]].t()", "[[I], :, K]", "[:, :, K].reshape(-1)", "[x > I][J:]", "[:, [J, J]][0]", "[I].t().flatten()"]
    };
    let subscript = filled(random, patterns, &sizes);
    subscripted(KIND, Form::ViewCopy, SHARES, &sizes, &subscript)
}

fn refused(random: &mut Random) -> Draft {
    let sizes = random.sizes(2, 3, 5);
    let patterns = [
        "[[I, I], [J, J, J]]",
        "[[I, I], [J]]",
        "[[[I], [I]], [J, J, J]]",
        "[:, :, [I]]",
        "[[I, I, I], [J, J]]",
        "[[I], [J, J, J]]",
        "[[[I, I]], [[J], [J]]]",
    ];
    let subscript = filled(random, &patterns, &sizes);
    Draft::new(
        Form::SizesOrRefused,
        format!("What is the shape of `x{subscript}`? Type it, or `refused`."),
        format!("x{subscript}.shape"),
    )
    .given(format!("x = {}", counting(&sizes)))
    .call("explain(x)")
}

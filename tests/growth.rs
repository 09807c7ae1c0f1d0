//! How long a function of sparse tensors takes grows with the number of its elements, not with its square. Both sizes are
//! timed in the same run, so the speed of the machine does not matter. The functions are those of benches/sparse.py.

use std::time::{Duration, Instant};
use tensorsh::call::facets::Dispatch;
use tensorsh::session::{Language, Session, SessionOptions};
use tensorsh::torch::library::registry;

const BENCH: &str = include_str!("../benches/sparse.py");

/// How many times more elements the larger tensors have.
const FACTOR: u32 = 16;

/// Functions that only read what a tensor says about itself, share its elements, or create a tensor without any.
const CONSTANT: &[&str] = &[
    "grad detach_ data linalg.vector_norm _coalesced_ _indices _values autograd.Variable col_indices crow_indices ccol_indices contiguous data_ptr detach expand \
     broadcast_to indices row_indices values positive reshape flatten.using_ints requires_grad_ retain_grad type_as repeat \
     new_zeros new_ones new_empty zeros_like ones_like empty_like full_like rand_like randn_like randint_like \
     randint_like.low sparse_resize_ sparse_resize_and_clear_ zero_ atleast_1d.tensors atleast_2d.tensors \
     atleast_3d.tensors result_type chain_matmul int_repr q_per_channel_scales q_per_channel_zero_points dequantize",
];

/// Functions that are composed of others, or whose tensors are arguments of a constructor.
const COMPOSED: &[&str] =
    &["imag", "svd_lowrank", "pca_lowrank", "autograd.grad", "tensor", "as_tensor", "asarray", "testing.assert_close"];

/// Returns the rows of the bench: the keys of the functions that each stands for, and its call.
fn rows() -> Vec<(&'static str, &'static str)> {
    let row = |line: &'static str| {
        let (keys, call) = line.trim().strip_prefix('"')?.split_once("\": lambda: ")?;
        Some((keys, call.strip_suffix(',')?))
    };
    BENCH.lines().filter_map(row).collect()
}

/// Returns a session with the tensors of the bench, for `n` elements.
fn with_elements(n: u32) -> Session {
    let mut session = Session::new(SessionOptions::default());
    let start = BENCH.find("def made").unwrap_or_default();
    let end = BENCH.find("def shortest").unwrap_or_default();
    for input in ["import torch", BENCH.get(start..end).unwrap_or_default(), &format!("made({n})")] {
        assert_eq!(session.eval(Language::Python, input).error, None, "{input}");
    }
    session
}

/// Returns the shortest of three times.
fn shortest(session: &mut Session, input: &str) -> Duration {
    let timed = (0..3).map(|_| {
        let began = Instant::now();
        assert_eq!(session.eval(Language::Python, &format!("_ = {input}")).error, None, "{input}");
        began.elapsed()
    });
    timed.min().unwrap_or_default()
}

#[test]
fn sparse_functions_do_not_compare_all_pairs() {
    let rows = rows();
    assert!(rows.len() > 40, "the rows of benches/sparse.py are not found: {rows:?}");
    let (mut few, mut many) = (with_elements(250), with_elements(250 * FACTOR));
    for (_, input) in rows {
        let (short, mut long) = (shortest(&mut few, input), shortest(&mut many, input));
        // Other programs may have taken the processor meanwhile, which makes times longer, never shorter.
        for _ in 0..10 {
            if long >= short * FACTOR * 5 {
                long = long.min(shortest(&mut many, input));
            }
        }
        // A function that compared all pairs would take FACTOR * FACTOR times as long.
        assert!(long < short * FACTOR * 5, "{input}: {short:?}, and {long:?} for {FACTOR} times as many elements");
    }
}

#[test]
fn every_sparse_function_is_timed() {
    let timed: Vec<&str> = rows().iter().flat_map(|(keys, _)| keys.split(' ')).collect();
    let known: Vec<&str> = CONSTANT.iter().chain(COMPOSED).flat_map(|keys| keys.split_whitespace()).collect();
    let refused = |dispatch: &Dispatch| matches!(dispatch, Dispatch::Missing | Dispatch::Refused(_));
    let mut forgotten = Vec::new();
    for function in registry().overloads() {
        let (key, row) = (function.key(), function.row);
        let handled = match row.sparse {
            Dispatch::Split(coo, compressed) => !refused(coo) || !refused(compressed),
            dispatch => !refused(&dispatch),
        };
        // Constructors of dense tensors refuse sparse ones, and in-place functions run the loops of the others.
        let name = key.split('.').next().unwrap_or(key);
        let constructor = name.ends_with("Tensor") || name == "new" || key.starts_with("sparse_");
        let in_place = function.signature.in_place;
        let gives = function.signature.returns.contains("Tensor");
        if handled && gives && row.alias_of.is_none() && !constructor && !in_place {
            let known = timed.contains(&key) || known.contains(&key);
            if !known {
                forgotten.push(key);
            }
        }
    }
    assert!(forgotten.is_empty(), "add rows to benches/sparse.py, or say in {} why not: {forgotten:?}", file!());
}

/// Sums and products of whole numbers, which are exact in any order, by the loops for sparse tensors and by those for
/// dense ones. The sizes lie around every limit of those loops.
const TWINS: &str = "
import torch
def same(what, sparse, dense):
    found = sparse.to_dense() if sparse.layout != torch.strided else sparse
    assert torch.equal(found, dense), (what, dtype, rows, columns, count)
for threads in (1, 3):
    torch.set_num_threads(threads)
    for dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128, torch.int64):
        for rows, columns, count in ((1, 1, 0), (1, 1, 3), (3, 5, 1), (7, 4, 40), (64, 65, 500), (300, 200, 3000), (2000, 3, 5000)):
            i = torch.stack([torch.randint(0, rows, (count,)), torch.randint(0, columns, (count,))])
            v = torch.randint(-4, 5, (count,)).to(dtype)
            s = torch.sparse_coo_tensor(i, v, (rows, columns))
            d = torch.zeros(rows, columns, dtype=dtype).index_put((i[0], i[1]), v, accumulate=True)
            c = s.coalesce()
            place = c.indices()[0] * columns + c.indices()[1]
            assert (place[1:] > place[:-1]).all()
            for t in (s, c):
                same('dense', t, d)
                same('t', t.t(), d.t())
                same('add', t + t, d + d)
                same('add to dense', d + t, d + d)
                same('mul', t * t, d * d)
                same('neg', -t, -d)
                same('sum', torch.sparse.sum(t), d.sum())
                same('sum rows', torch.sparse.sum(t, 0), d.sum(0))
                same('sum columns', torch.sparse.sum(t, 1), d.sum(1))
                same('cat', torch.cat([t, t], 1), torch.cat([d, d], 1))
                same('rows', t.index_select(0, torch.arange(rows).flip(0)), d.flip(0))
                same('columns', t.index_select(1, torch.arange(columns).flip(0)), d.flip(1))
                same('csr', t.to_sparse_csr(), d)
                same('csc', t.to_sparse_csc(), d)
                if dtype == torch.int64:
                    continue
                r = t.to_sparse_csr()
                for width in (1, 2, 9, 33):
                    x = torch.randint(-4, 5, (columns, width)).to(dtype)
                    same('mm', t @ x, d @ x)
                    same('csr mm', r @ x, d @ x)
                    same('csc mm', t.to_sparse_csc() @ x, d @ x)
                    same('transposed', t @ x.t().contiguous().t(), d @ x)
                same('mv', t @ x[:, 0], d @ x[:, 0])
                same('csr mv', r @ x[:, 0], d @ x[:, 0])
                same('sparse', t @ t.t(), d @ d.t())
";

#[test]
fn sparse_functions_equal_dense_ones() {
    let mut session = Session::new(SessionOptions::default());
    let outcome = session.eval(Language::Python, TWINS);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
}

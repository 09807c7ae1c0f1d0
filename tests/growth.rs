//! How long a function takes grows with the number of its elements, not with its square. Both sizes are timed in the same
//! run, so the speed of the machine does not matter.

use std::time::{Duration, Instant};
use tensorsh::session::{Language, Session, SessionOptions};

/// How many times more elements the larger tensors have.
const FACTOR: u32 = 16;

/// Functions of sparse tensors: `s` lists indices several times, `c` is coalesced, `r` is its compressed form, and `x`, `v`
/// and `m` are an index, a vector and another sparse tensor.
const SPARSE: &[&str] = &[
    "s.coalesce()",
    "c + m",
    "s * s",
    "c * m",
    "s.t()",
    "s.index_select(0, x)",
    "s.index_select(0, x[:50])",
    "s.narrow_copy(0, 0, 50)",
    "torch.cat([s, s])",
    "torch.sparse.sum(s, 0)",
    "torch.sparse.softmax(c, 1)",
    "s.to_sparse_csr()",
    "r.to_sparse_csc()",
    "s.mv(v)",
    "torch.sparse.mm(c, m)",
    "c.sparse_mask(m)",
    "torch.sparse.sum(c.detach().requires_grad_(), 0).to_dense().sum().backward()",
    "torch.sparse_coo_tensor(c._indices(), v[:c._nnz()].clone().requires_grad_(), c.shape).coalesce().values().sum().backward()",
];

/// Returns a session with sparse tensors of `n` elements in a matrix of `n` rows and columns.
fn with_elements(n: u32) -> Session {
    let mut session = Session::new(SessionOptions::default());
    let inputs = [
        "import torch".to_owned(),
        format!("n = {n}"),
        "g = torch.manual_seed(0)".to_owned(),
        "made = lambda: torch.sparse_coo_tensor(torch.randint(n, (2, n)), torch.rand(n), (n, n))".to_owned(),
        "s = made()".to_owned(),
        "c, m = made().coalesce(), made().coalesce()".to_owned(),
        "r, x, v = c.to_sparse_csr(), torch.randint(n, (n,)), torch.rand(n)".to_owned(),
    ];
    for input in inputs {
        assert_eq!(session.eval(Language::Python, &input).error, None, "{input}");
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
    let (mut few, mut many) = (with_elements(250), with_elements(250 * FACTOR));
    for input in SPARSE {
        let (short, long) = (shortest(&mut few, input), shortest(&mut many, input));
        // A function that compared all pairs would take FACTOR * FACTOR times as long.
        assert!(long < short * FACTOR * 5, "{input}: {short:?}, and {long:?} for {FACTOR} times as many elements");
    }
}

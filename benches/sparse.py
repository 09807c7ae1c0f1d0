"""Times functions of sparse tensors with 100 to 100,000 elements, in tensorsh and in PyTorch alike.

A row has the keys of the functions that it stands for, and one call. Prints one line a call and size: the call, the number of
elements, and the shortest time in microseconds. `scripts/house/sparse` sets both programs side by side. A test
(tests/growth.rs) reads the rows too, and names the functions of the table that have none.
"""
import time
import torch

rows = {
    # Indices.
    "coalesce": lambda: s.coalesce(),
    "transpose.int t T permute mT H mH adjoint movedim.int movedim.intlist": lambda: s.t(),
    "unsqueeze": lambda: s.unsqueeze(0),
    "index_select": lambda: s.index_select(0, x),
    "index_select short": lambda: s.index_select(0, x[:50]),
    "narrow_copy": lambda: s.narrow_copy(0, 0, 50),
    "select.int __getitem__": lambda: s.select(0, 1),
    "select.int compressed": lambda: r.select(0, 1),
    "unbind.int split": lambda: w.unbind(1),
    "cat hstack vstack dstack column_stack": lambda: torch.cat([s, s]),
    "stack": lambda: torch.stack([s, s]),
    # Conversions.
    "to_dense": lambda: w.to_dense(),
    "to_dense compressed": lambda: wr.to_dense(),
    "to_sparse to_sparse.sparse_dim to_sparse_coo": lambda: z.to_sparse(),
    "to_sparse_csr": lambda: s.to_sparse_csr(),
    "to_sparse_csr dense": lambda: z.to_sparse_csr(),
    "to_sparse_csc": lambda: r.to_sparse_csc(),
    "to_sparse_bsr": lambda: z.to_sparse_bsr((1, 16)),
    "to_sparse_bsc": lambda: z.to_sparse_bsc((1, 16)),
    "sparse_mask": lambda: c.sparse_mask(m),
    "sparse_mask dense": lambda: z.sparse_mask(w),
    "to.dtype to.device to.other type type_as double float half bfloat16 long int short char byte bool cfloat cdouble chalf cpu": lambda: s.double(),
    "clone copy_ conj resolve_conj resolve_neg conj_physical view.dtype": lambda: s.clone(),
    # Sums.
    "sum": lambda: s.sum(),
    "sum.dim_IntList": lambda: s.sum(1),
    "sum.dim_IntList compressed": lambda: r.sum(0, keepdim=True),
    "sparse.sum _sparse_sum.dim": lambda: torch.sparse.sum(s, 0),
    "norm any": lambda: s.norm(),
    "sparse.softmax": lambda: torch.sparse.softmax(c, 1),
    "sparse.log_softmax": lambda: torch.sparse.log_softmax(s, 0),
    # Arithmetic.
    "add.Tensor sub.Tensor": lambda: c + m,
    "add.Tensor repeated": lambda: s + m,
    "add.Tensor compressed": lambda: r + q,
    "add.Tensor dense": lambda: z + w,
    "mul": lambda: c * m,
    "mul repeated": lambda: s * s,
    "mul compressed": lambda: r * q,
    "mul dense": lambda: w * z,
    "mul number div.Tensor": lambda: s * 2,
    "div.Tensor_mode floor_divide": lambda: s // 2,
    "pow.Tensor_Scalar square": lambda: s ** 2,
    "abs sign sgn floor ceil round trunc frac expm1 log1p sqrt sin tan asin atan sinh tanh asinh atanh deg2rad rad2deg erf erfinv angle isposinf isneginf signbit relu isnan isinf neg positive nan_to_num nn.functional.tanhshrink": lambda: s.sin(),
    # Products.
    "mm matmul __matmul__ linalg.matmul": lambda: c @ d,
    "mm compressed": lambda: r @ d,
    "mm dense by sparse": lambda: d.t() @ c,
    "mv": lambda: c.mv(v),
    "mv compressed": lambda: r.mv(v),
    "addmv": lambda: torch.addmv(v, r, v),
    "bmm": lambda: torch.bmm(b, e),
    "sparse.mm": lambda: torch.sparse.mm(c, m),
    "sparse.mm compressed": lambda: r @ q,
    "sparse.mm.reduce": lambda: torch.sparse.mm(r, d, "mean"),
    "smm": lambda: c.smm(d),
    "hspmm": lambda: torch.hspmm(c, d),
    "sspaddmm": lambda: torch.sspaddmm(w, c, d),
    "sparse.addmm addmm": lambda: torch.addmm(d, c, d),
    # Gradients.
    "backward sum": lambda: torch.sparse.sum(c.detach().requires_grad_(), 0).to_dense().sum().backward(),
    "backward coalesce": lambda: torch.sparse_coo_tensor(s._indices(), v.clone().requires_grad_(), s.shape).coalesce().values().sum().backward(),
}


def made(n):
    """Makes the operands: matrices with n elements in n rows and columns, and dense ones of 16 columns."""
    global s, c, m, r, q, w, wr, z, d, v, x, b, e
    torch.manual_seed(0)
    index = lambda columns: torch.stack([torch.randint(n, (n,)), torch.randint(columns, (n,))])
    new = lambda columns: torch.sparse_coo_tensor(index(columns), torch.rand(n), (n, columns))
    s, c, m = new(n), new(n).coalesce(), new(n).coalesce()
    r, q, w = c.to_sparse_csr(), m.to_sparse_csr(), new(16).coalesce()
    wr, z, d, v = w.to_sparse_csr(), w.to_dense(), torch.rand(n, 16), torch.rand(n)
    x, b, e = torch.randint(n, (n,)), torch.stack([c, m]), torch.stack([d, d])


def shortest(call):
    """Returns the shortest of several times, for up to a fifth of a second."""
    best, until = 9e9, time.perf_counter() + 0.2
    for turn in range(200):
        start = time.perf_counter()
        call()
        end = time.perf_counter()
        best = min(best, end - start)
        if end > until and turn > 1:
            break
    return best


for n in (100, 1000, 10000, 100000):
    made(n)
    for name in rows:
        try:
            print(name + "|" + str(n) + "|" + str(round(shortest(rows[name]) * 1e6, 2)))
        except Exception as error:
            print(name + "|" + str(n) + "|" + type(error).__name__)

"""Decompositions of matrices of low rank. They follow algorithms 4.4 and 5.1 of Halko, Martinsson and Tropp,
arXiv:0909.4061.
"""

import torch


def matmul(a, b):
    return torch.sparse.mm(a, b) if a.is_sparse else torch.matmul(a, b)


def adjoint(a):
    swapped = a.transpose(-2, -1)
    return swapped.conj() if a.is_complex() else swapped


def less(a, b):
    """Subtracts what was centred, if anything."""
    return a if b is None else a - b


def basis(matrix, q, niter, mean):
    """Returns q orthonormal columns that nearly span the columns of a matrix."""

    def product(matrix, mean, right):
        return torch.linalg.qr(less(matmul(matrix, right), mean if mean is None else matmul(mean, right))).Q

    dtype = matrix.dtype if matrix.is_floating_point() or matrix.is_complex() else torch.float32
    columns = product(matrix, mean, torch.randn(matrix.shape[-1], q, dtype=dtype, device=matrix.device))
    for _ in range(niter):
        rows = product(adjoint(matrix), mean if mean is None else adjoint(mean), columns)
        columns = product(matrix, mean, rows)
    return columns


def svd(matrix, q, niter, mean):
    q = 6 if q is None else q
    niter = 2 if niter is None else niter
    if mean is not None:
        mean = mean.broadcast_to(matrix.size())
    rows, columns = matrix.shape[-2:]
    is_wide = rows < columns
    if is_wide:
        matrix = adjoint(matrix)
        mean = mean if mean is None else adjoint(mean)
    spanned = basis(matrix, q, niter, mean)
    small = less(matmul(adjoint(spanned), matrix), mean if mean is None else matmul(adjoint(spanned), mean))
    u, s, vh = torch.linalg.svd(small, full_matrices=False)
    u, v = spanned.matmul(u), adjoint(vh)
    return (v, s, u) if is_wide else (u, s, v)


def pca(matrix, q, center, niter):
    rows, columns = matrix.shape[-2:]
    if q is None:
        q = min(6, rows, columns)
    elif not 0 <= q <= min(rows, columns):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(rows, columns)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not center:
        return svd(matrix, q, niter, None)
    if not matrix.is_sparse:
        return svd(matrix - matrix.mean(dim=(-2,), keepdim=True), q, niter, None)
    if matrix.dim() != 2:
        raise ValueError("pca_lowrank input is expected to be 2-dimensional tensor")
    # A centred sparse matrix would be dense, so the mean stays beside it.
    mean = torch.sparse.sum(matrix, dim=(-2,)) / rows
    places = mean.indices()[0]
    indices = torch.stack([places, torch.zeros_like(places)])
    column = torch.sparse_coo_tensor(indices, mean.values(), (columns, 1), dtype=matrix.dtype, device=matrix.device)
    ones = torch.ones(1, rows, dtype=matrix.dtype, device=matrix.device)
    return svd(matrix, q, niter, torch.sparse.mm(column, ones).mT)

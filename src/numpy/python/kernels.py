"""The kernels of `np.linalg` and `np.fft`: functions of PyTorch on the memory of arrays."""
import numpy as np
import torch


def _tensor(a):
    return torch.from_numpy(np.array(a, order="C"))


def _solved(compute, text):
    """Computes, and fails with LinAlgError if PyTorch does."""
    try:
        return compute()
    except torch.linalg.LinAlgError:
        raise np.linalg.LinAlgError(text) from None


class _linalg:
    @staticmethod
    def slogdet(a):
        lu, pivots = torch.linalg.lu_factor_ex(_tensor(a))[:2]
        lu, pivots = lu.numpy(), pivots.numpy()
        size = a.shape[-1]
        swapped = (pivots != np.arange(1, size + 1, dtype=pivots.dtype)).sum(-1) % 2
        sign = np.where(swapped, -1.0, 1.0).astype(a.dtype)
        logarithm = np.zeros(a.shape[:-2])
        # In the order of the diagonal, like LAPACK's caller.
        for at in range(size):
            item = lu[..., at, at]
            length = np.abs(item)
            sign = sign * np.where(length == 0, 0, item / np.where(length == 0, 1, length))
            logarithm = logarithm + np.log(length)
        with np.errstate(all="ignore"):
            return sign[()], np.asarray(logarithm)[()]

    @staticmethod
    def det(a):
        with np.errstate(all="ignore"):
            sign, logarithm = _linalg.slogdet(a)
            return np.asarray(sign * np.exp(logarithm)).astype(a.dtype)[()]

    @staticmethod
    def inv(a):
        return _solved(lambda: torch.linalg.inv(_tensor(a)).numpy(), "Singular matrix")

    @staticmethod
    def solve(a, b):
        return _solved(lambda: torch.linalg.solve(_tensor(a), _tensor(b)).contiguous().numpy(), "Singular matrix")

    @staticmethod
    def solve1(a, b):
        return _linalg.solve(a, np.array(b)[..., None])[..., 0]

    @staticmethod
    def cholesky(a, upper):
        kernel = lambda: torch.linalg.cholesky(_tensor(a), upper=upper).contiguous().numpy()
        return _solved(kernel, "Matrix is not positive definite")

    @staticmethod
    def eigh(a, uplo, vectors):
        text = "Eigenvalues did not converge"
        if not vectors:
            return _solved(lambda: torch.linalg.eigvalsh(_tensor(a), UPLO=uplo).numpy(), text)
        w, v = _solved(lambda: torch.linalg.eigh(_tensor(a), UPLO=uplo), text)
        return w.numpy(), v.contiguous().numpy()

    @staticmethod
    def eig(a, vectors):
        text = "Eigenvalues did not converge"
        if not vectors:
            return _solved(lambda: torch.linalg.eigvals(_tensor(a)).numpy(), text)
        w, v = _solved(lambda: torch.linalg.eig(_tensor(a)), text)
        return w.numpy(), v.contiguous().numpy()

    @staticmethod
    def svd(a, mode):
        text = "SVD did not converge"
        if mode == "values":
            return _solved(lambda: torch.linalg.svdvals(_tensor(a)).numpy(), text)
        u, s, vh = _solved(lambda: torch.linalg.svd(_tensor(a), full_matrices=mode == "full"), text)
        return u.contiguous().numpy(), s.numpy(), vh.contiguous().numpy()

    @staticmethod
    def qr(a):
        h, tau = torch.geqrf(_tensor(a))
        return h.contiguous().numpy(), tau.numpy()

    @staticmethod
    def qr_q(h, tau, k):
        rows, columns = h.shape[-2:]
        if columns < k:
            # More columns than reflections: the missing ones start from those of the identity.
            wide = np.zeros(h.shape[:-1] + (k,), h.dtype)
            wide[..., :columns] = h
            h = wide
        q = torch.linalg.householder_product(_tensor(h[..., :k]), _tensor(tau))
        return q.contiguous().numpy()

    @staticmethod
    def lstsq(a, b, rcond):
        text = "SVD did not converge in Linear Least Squares"
        x, residuals, rank, s = _solved(lambda: torch.linalg.lstsq(_tensor(a), _tensor(b), rcond=rcond, driver="gelsd"), text)
        x, rank = x.contiguous().numpy(), np.int32(int(rank))
        rest = a @ x - b
        left = (np.abs(rest) ** 2).sum(0)
        return x, left, rank, s.numpy()


class _fft:
    @staticmethod
    def _scaled(values, scale):
        return values if scale == 1 else values * values.real.dtype.type(scale)

    @staticmethod
    def c2c(a, forward, scale):
        a = _tensor(a)
        result = torch.fft.fft(a) if forward else torch.fft.ifft(a, norm="forward")
        return _fft._scaled(result.numpy(), scale)

    @staticmethod
    def r2c(a, scale):
        return _fft._scaled(torch.fft.rfft(_tensor(a)).numpy(), scale)

    @staticmethod
    def c2r(a, n, scale):
        return _fft._scaled(torch.fft.irfft(_tensor(a), n=n, norm="forward").numpy(), scale)

"""`torch.autograd.gradcheck` and `gradgradcheck`: gradients against finite differences."""

import torch

UNDEFINED = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'

NONDETERMINISM = """

NOTE: If your op relies on non-deterministic operations i.e., it is listed here:
https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
this failure might be expected.
"""


class Undefined(torch.autograd.Function):
    """The identity, whose gradient is undefined."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return None


def listed(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def recorded(values):
    return [value for value in values if isinstance(value, torch.Tensor) and value.requires_grad]


def results(value):
    """Returns the results that have gradients."""
    return [result for result in listed(value) if result.requires_grad]


def is_number(tensor):
    return tensor.is_floating_point() or tensor.is_complex()


def gradcheck(func, inputs, eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes,
              check_batched_grad, check_batched_forward_grad, check_forward_ad, check_backward_ad, fast_mode, masked):
    assert check_forward_ad or check_backward_ad, (
        "Expected at least one of check_forward_ad or check_backward_ad to be True"
    )
    assert not (check_batched_grad and not check_backward_ad), (
        "Setting check_batched_grad=True requires check_backward_ad to be True"
    )
    assert not (check_batched_forward_grad and not check_forward_ad), (
        "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
    )
    if check_forward_ad or check_batched_grad:
        what = "check_forward_ad" if check_forward_ad else "check_batched_grad"
        raise NotImplementedError(f"gradcheck({what}=True) needs forward derivatives or batches of gradients, which "
                                  "tensorsh does not have")
    check = Check(listed(inputs), eps, atol, rtol, nondet_tol, check_grad_dtypes)
    try:
        check.all(func, check_undefined_grad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func, inputs, grad_outputs, eps, atol, rtol, gen_non_contig_grad_outputs, raise_exception, nondet_tol,
                  check_undefined_grad, check_grad_dtypes, check_batched_grad, check_fwd_over_rev, check_rev_over_rev,
                  fast_mode, masked):
    assert check_fwd_over_rev or check_rev_over_rev, (
        "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
    )
    assert not (check_undefined_grad and not check_rev_over_rev), (
        "Setting check_undefined_grad=True requires check_rev_over_rev to be True"
    )
    assert not (check_batched_grad and not check_rev_over_rev), (
        "Setting check_batched_grad=True requires check_rev_over_rev to be True"
    )
    inputs = listed(inputs)
    if grad_outputs is None:
        seeds = [torch.zeros_like(result).uniform_(-1, 1).requires_grad_() for result in results(func(*inputs))]
    else:
        seeds = listed(grad_outputs)
    leaves = [i for i, value in enumerate(inputs) if isinstance(value, torch.Tensor) and value.requires_grad]

    def gradients(*args):
        given, seeds = args[:len(inputs)], args[len(inputs):]
        wanted = [given[i] for i in leaves]
        found = torch.autograd.grad(results(func(*given)), wanted, seeds, create_graph=True, allow_unused=True)
        return tuple(grad for grad in found if grad is not None)

    return gradcheck(gradients, inputs + seeds, eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad,
                     check_grad_dtypes, check_batched_grad, False, check_fwd_over_rev, check_rev_over_rev, fast_mode,
                     masked)


class Check:
    """A check of one function, with its inputs and tolerances."""

    def __init__(self, inputs, eps, atol, rtol, nondet_tol, dtypes):
        self.inputs, self.leaves = inputs, recorded(inputs)
        self.eps, self.atol, self.rtol, self.nondet_tol, self.dtypes = eps, atol, rtol, nondet_tol, dtypes
        for i, value in enumerate(inputs):
            if not isinstance(value, torch.Tensor) or not value.requires_grad:
                continue
            if value.layout != torch.strided:
                raise NotImplementedError("gradcheck() of sparse inputs is not available in tensorsh")
            if not all(stride > 0 or size <= 1 for stride, size in zip(value.stride(), value.size())):
                raise RuntimeError(
                    f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                    "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                    "on the input before passing it to gradcheck."
                )
        if not self.leaves:
            raise ValueError(
                "gradcheck expects at least one input tensor to require gradient, but none of the them have "
                "requires_grad=True."
            )

    def all(self, func, undefined):
        given = func(*self.inputs)
        roots = results(given)
        if any(root.layout != torch.strided for root in roots):
            raise ValueError(
                "Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) on the output of "
                "fn for gradcheck."
            )
        is_complex = [i for i, root in enumerate(roots) if root.is_complex()]
        if any(value.is_complex() for value in listed(given)):
            for part, take in ("imaginary", torch.imag), ("real", torch.real):
                taken = lambda *args: tuple(take(x) if x.is_complex() else x for x in listed(func(*args)))
                prefix = f"While considering the {part} part of complex outputs only, "
                self.jacobians(taken, lambda i: prefix if i in is_complex else "")
        else:
            self.jacobians(func, lambda i: "")
        self.scales(roots)
        if undefined:
            self.undefined(func, len(roots))

    def jacobians(self, func, prefix):
        given = func(*self.inputs)
        roots = results(given)
        measured = [self.numerical(func, leaf) for leaf in self.leaves]
        if not roots:
            if any((matrix != 0).any() for matrices in measured for matrix in matrices):
                raise GradcheckError("Numerical gradient for function expected to be zero")
            return
        # Results without gradients are measured too.
        rows = [i for i, value in enumerate(v for v in listed(given) if is_number(v)) if value.requires_grad]
        for o, (row, root) in enumerate(zip(rows, roots)):
            for i, (exact, matrices) in enumerate(zip(self.analytical(root), measured)):
                numerical = matrices[row]
                dtype = torch.promote_types(exact.dtype, numerical.dtype)
                if not torch.allclose(exact.to(dtype), numerical.to(dtype), self.rtol, self.atol):
                    raise GradcheckError(
                        f"{prefix(o)}Jacobian mismatch for output {o} with respect to input {i},\n"
                        f"numerical:{numerical}\nanalytical:{exact}\n"
                    )

    def numerical(self, func, leaf):
        """Measures the derivatives of each result by all elements of a leaf. Rows are elements of the leaf."""
        # The leaf itself is changed, so that functions see the change however they got it.
        data, rows = leaf.data, []

        def at(place, step):
            before = data[place].clone()
            data[place].copy_(before + step)
            values = [value.clone() for value in listed(func(*self.inputs)) if is_number(value)]
            data[place].copy_(before)
            return values

        def slopes(place, step):
            slopes = []
            for low, high in zip(at(place, -step), at(place, step)):
                for what in "shape", "dtype":
                    first, second = getattr(low, what), getattr(high, what)
                    assert first == second, (
                        f"Expected `func` to return outputs with the same {what} when inputs are perturbed on index "
                        f"{{idx}} by {self.eps}, but got: {what}s {first} and {second}."
                    )
                slopes.append(((high - low) / (2 * self.eps)).detach().reshape(-1))
            return slopes

        for place in places(leaf.size()):
            row = slopes(place, self.eps)
            if leaf.is_complex():
                row = [x + y * 1j for x, y in zip(row, slopes(place, self.eps * 1j))]
            rows.append(row)
        if rows:
            return [torch.stack(columns) for columns in zip(*rows)]
        return [leaf.new_zeros(0, value.numel()) for value in listed(func(*self.inputs)) if is_number(value)]

    def analytical(self, root):
        """Computes the derivatives of a result by all elements of each leaf, twice."""
        matrices, types_ok, sizes_ok = self.backward(root)
        again, _, _ = self.backward(root)
        if not types_ok and self.dtypes:
            raise GradcheckError("Gradient has dtype mismatch")
        if not sizes_ok:
            raise GradcheckError("Analytical gradient has incorrect size")
        if any(a.numel() and (a - b).abs().max() > self.nondet_tol for a, b in zip(matrices, again)):
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
                "different values, although analytical gradient matches numerical gradient.The tolerance for "
                f"nondeterminism was {self.nondet_tol}.{NONDETERMINISM}"
            )
        return matrices

    def backward(self, root):
        count = root.numel()
        matrices = [leaf.new_zeros(leaf.numel(), count) for leaf in self.leaves]
        types_ok = sizes_ok = True
        one = torch.zeros_like(root, memory_format=torch.contiguous_format).detach()
        for column in range(count):
            one.view(-1).zero_()
            one.view(-1)[column] = 1
            found = torch.autograd.grad(root, self.leaves, one, retain_graph=True, allow_unused=True)
            for matrix, leaf, grad in zip(matrices, self.leaves, found):
                if grad is None:
                    continue
                sizes_ok &= grad.size() == leaf.size()
                types_ok &= grad.dtype == leaf.dtype
                matrix[:, column] = (grad.to_dense() if grad.layout != torch.strided else grad).reshape(-1)
        return matrices, types_ok, sizes_ok

    def scales(self, roots):
        """Checks that gradients are multiplied by those of the results."""
        zeros = [torch.zeros_like(root) for root in roots]
        for grad in torch.autograd.grad(roots, self.leaves, zeros, allow_unused=True):
            if grad is not None and not (grad == 0).all():
                raise GradcheckError("backward not multiplied by grad_output")

    def undefined(self, func, count):
        """Checks gradients where those of all results are undefined, and those of each."""
        for which in [None] + (list(range(count)) if count > 1 else []):
            roots = [
                Undefined.apply(root) if which is None or which == i else root
                for i, root in enumerate(results(func(*self.inputs)))
            ]
            zeros = [torch.zeros_like(root) for root in roots]
            try:
                found = torch.autograd.grad(roots, self.leaves, zeros, allow_unused=True)
            except RuntimeError:
                raise GradcheckError(f"Expected backward function to handle undefined output grads. {UNDEFINED}")
            if any(grad is not None and not (grad == 0).all() for grad in found):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                    f"{UNDEFINED}"
                )


def places(sizes):
    """Returns the subscripts of all elements, in order."""
    found = [()]
    for size in sizes:
        found = [place + (i,) for place in found for i in range(size)]
    return found

"""`torch.autograd.gradcheck` and `gradgradcheck`: gradients against finite differences."""

import torch


def listed(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def recorded(tensors):
    return [tensor for tensor in tensors if isinstance(tensor, torch.Tensor) and tensor.requires_grad]


def differentiable(value):
    """Returns the tensors that require gradients, or all that could if none does."""
    tensors = [t for t in listed(value) if isinstance(t, torch.Tensor)]
    could = [t for t in tensors if t.is_floating_point() or t.is_complex()]
    return recorded(could) or could


def parts(tensor):
    """Returns the real numbers of a tensor in one row. A complex element has two."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).reshape(-1).to(torch.float64)


def from_parts(numbers, like):
    """The inverse of `parts`."""
    if like.is_complex():
        numbers = torch.view_as_complex(numbers.view(-1, 2))
    return numbers.to(like.dtype).view(like.shape)


def gradcheck(func, inputs, eps, atol, rtol, raise_exception, *_):
    with torch.enable_grad():
        return check(func, listed(inputs), eps, atol, rtol, raise_exception)


def gradgradcheck(func, inputs, grad_outputs, eps, atol, rtol, gen_non_contig_grad_outputs, raise_exception, *_):
    inputs = listed(inputs)

    def gradients(*args):
        args, seeds = args[:len(inputs)], args[len(inputs):]
        roots = [(output, seed) for output, seed in zip(differentiable(func(*args)), seeds) if output.requires_grad]
        wanted = recorded(args)
        if not roots or not wanted:
            return []
        outputs, seeds = zip(*roots)
        found = torch.autograd.grad(outputs, wanted, seeds, create_graph=True, allow_unused=True)
        return [grad for grad in found if grad is not None]

    with torch.enable_grad():
        outputs = differentiable(func(*inputs))
        if grad_outputs is None:
            seeds = [torch.zeros_like(output).uniform_(-1, 1).requires_grad_() for output in outputs]
        else:
            seeds = listed(grad_outputs)
        return check(gradients, inputs + seeds, eps, atol, rtol, raise_exception)


def check(func, inputs, eps, atol, rtol, raise_exception):
    leaves = recorded(inputs)
    if not leaves:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True."
        )
    outputs = differentiable(func(*inputs))
    is_recorded = any(output.requires_grad for output in outputs)
    for o, output in enumerate(outputs):
        for i, leaf in enumerate(leaves):
            exact, measured = analytical(output, leaf), numerical(func, inputs, leaf, o, output, eps)
            close = exact == measured
            if is_recorded:
                close |= (exact - measured).abs() <= atol + rtol * measured.abs()
            if close.all():
                continue
            if not raise_exception:
                return False
            if not is_recorded:
                raise GradcheckError("Numerical gradient for function expected to be zero")
            raise GradcheckError(
                f"Jacobian mismatch for output {o} with respect to input {i},\n"
                f"numerical:{measured}\nanalytical:{exact}\n"
            )
    return True


def analytical(output, leaf):
    """Computes the derivatives of all parts of the output by all parts of the leaf. Rows are parts of the leaf."""
    ones = torch.eye(parts(output).numel(), dtype=torch.float64)
    matrix = torch.zeros(parts(leaf).numel(), len(ones), dtype=torch.float64)
    if output.requires_grad:
        for column, one in enumerate(ones):
            (grad,) = torch.autograd.grad(output, leaf, from_parts(one, output), True, allow_unused=True)
            if grad is not None:
                matrix[:, column] = parts(grad)
    return matrix


def numerical(func, inputs, leaf, o, output, eps):
    """Computes the same matrix from central differences."""
    numbers = parts(leaf)

    def at(place, step):
        moved = numbers.clone()
        moved[place] += step
        moved = from_parts(moved, leaf).requires_grad_()
        outputs = differentiable(func(*(moved if input is leaf else input for input in inputs)))
        if o >= len(outputs):
            raise RuntimeError("the function gave fewer results")
        return parts(outputs[o])

    rows = [(at(i, eps) - at(i, -eps)) / (2 * eps) for i in range(len(numbers))]
    return torch.stack(rows) if rows else torch.zeros(0, parts(output).numel(), dtype=torch.float64)

"""`torch.autograd.functional`. Inputs are copied to leaves of a new graph, and results are detached from it unless
`create_graph` asks for their history.
"""

import torch


def unpacked(value, what, name):
    """Returns the tensors of a tensor or a tuple, and whether it was a tuple."""
    several = isinstance(value, tuple)
    for i, item in enumerate(value if several else (value,)):
        if not isinstance(item, torch.Tensor):
            which = f"the value at index {i}" if several else f"the given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but {which} has type "
                f"{type(item)}."
            )
    return (tuple(value), True) if several else ((value,), False)


def packed(tensors, several, create_graph):
    """Returns tensors as a tuple if there are several."""
    tensors = tuple(tensor if create_graph else tensor.detach() for tensor in tensors)
    return tensors if several or len(tensors) != 1 else tensors[0]


def ones_like(tensors):
    return [torch.ones(tensor.shape, dtype=tensor.dtype, device=tensor.device) for tensor in tensors]


def gradients(outputs, inputs, seeds, create_graph):
    """Computes gradients of outputs by inputs. They are 0 for inputs that the outputs do not depend on."""
    roots = [(output, seed) for output, seed in zip(outputs, seeds) if output.requires_grad]
    found = [None] * len(inputs)
    if roots:
        outputs, seeds = zip(*roots)
        found = torch.autograd.grad(outputs, inputs, seeds, True, create_graph, allow_unused=True)
    return [torch.zeros_like(input) if grad is None else grad for input, grad in zip(inputs, found)]


class Run:
    """A call of the user's function on fresh inputs."""

    def __init__(self, name, func, inputs, create_graph, strict):
        given, self.several_in = unpacked(inputs, "inputs", name)
        self.name, self.create_graph = name, create_graph
        self.inputs = tuple(
            # A view continues the history of an input.
            t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_()
            for t in given
        )
        what = "outputs of the user-provided function"
        self.outputs, self.several_out = unpacked(func(*self.inputs), what, name)
        for i, output in enumerate(self.outputs):
            if strict and not output.requires_grad:
                raise RuntimeError(
                    f"Output {i} of the user-provided function does not require gradients. The outputs must be "
                    "computed in a differentiable manner from the input when running in strict mode."
                )

    def vector(self, v, like, which):
        """Returns the tensors of the vector of a product. None stands for 1 and is allowed only for one element."""
        if v is None:
            if len(like) != 1 or like[0].numel() != 1:
                raise RuntimeError(
                    f"The vector v can only be None if the {which} a single Tensor with a single element."
                )
            return ones_like(like)
        found, several = unpacked(v, "v", self.name)
        if len(found) != len(like):
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(found)}.")
        for i, (got, wanted) in enumerate(zip(found, like)):
            if got.shape != wanted.shape:
                entry = f"Entry {i} in " if several else ""
                raise RuntimeError(f"{entry}v has invalid size: should be {wanted.shape} but got {got.shape}.")
        return found

    def refuse_several(self):
        if self.several_out:
            raise RuntimeError(f"The function given to {self.name} should return a single Tensor")
        if self.outputs[0].numel() != 1:
            raise RuntimeError(
                f"The Tensor returned by the function given to {self.name} should contain a single element"
            )

    def with_outputs(self, tensors, several):
        outputs = packed(self.outputs, self.several_out, self.create_graph)
        return outputs, packed(tensors, several, self.create_graph)

    def matrix(self, outputs, several):
        """Computes the derivatives of all elements of outputs by all elements of the inputs."""
        rows = []
        for output in outputs:
            columns = [[] for _ in self.inputs]
            for i in range(output.numel()):
                element = output.reshape(-1).select(0, i)
                found = gradients([element], self.inputs, ones_like([element]), self.create_graph)
                for column, grad in zip(columns, found):
                    column.append(grad)
            row = []
            for column, input in zip(columns, self.inputs):
                shape = output.shape + input.shape
                empty = torch.zeros(shape, dtype=input.dtype, device=input.device)
                row.append(torch.stack(column, 0).view(shape) if column else empty)
            rows.append(packed(row, self.several_in, self.create_graph))
        return tuple(rows) if several or len(rows) != 1 else rows[0]


def jacobian(func, inputs, create_graph, strict, vectorize, strategy):
    with torch.enable_grad():
        run = Run("jacobian", func, inputs, create_graph, strict)
        return run.matrix(run.outputs, run.several_out)


def hessian(func, inputs, create_graph, strict, vectorize, outer_jacobian_strategy):
    with torch.enable_grad():
        run = Run("hessian", func, inputs, create_graph, strict)
        run.refuse_several()
        total = run.outputs[0].squeeze()
        return run.matrix(gradients([total], run.inputs, ones_like([total]), True), run.several_in)


def vjp(func, inputs, v, create_graph, strict):
    with torch.enable_grad():
        run = Run("vjp", func, inputs, create_graph, strict)
        v = run.vector(v, run.outputs, "user-provided function returns")
        return run.with_outputs(gradients(run.outputs, run.inputs, v, create_graph), run.several_in)


def jvp(func, inputs, v, create_graph, strict):
    with torch.enable_grad():
        run = Run("jvp", func, inputs, create_graph, strict)
        v = run.vector(v, run.inputs, "input to the user-provided function is")
        # A vector-Jacobian product is linear in its vector, so its derivative by that vector is the Jacobian-vector
        # product.
        seeds = [torch.zeros_like(output).requires_grad_() for output in run.outputs]
        pulled = gradients(run.outputs, run.inputs, seeds, True)
        return run.with_outputs(gradients(pulled, seeds, v, create_graph), run.several_out)


def hessian_product(name, func, inputs, v, create_graph, strict):
    """The Hessian is symmetric, so the product with a vector is the same from both sides."""
    with torch.enable_grad():
        run = Run(name, func, inputs, create_graph, strict)
        v = run.vector(v, run.inputs, "input to the user-provided function is")
        run.refuse_several()
        grads = gradients(run.outputs, run.inputs, ones_like(run.outputs), True)
        return run.with_outputs(gradients(grads, run.inputs, v, create_graph), run.several_in)


def vhp(*args):
    return hessian_product("vhp", *args)


def hvp(*args):
    return hessian_product("hvp", *args)

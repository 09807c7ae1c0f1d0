"""`torch.utils.checkpoint`: results are computed twice, so that what gradients need is not kept in between."""

import torch


class Stop(Exception):
    """Ends a second computation that has produced all that was asked for."""


def described(tensor):
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


class Place:
    """What a node keeps instead of a tensor: the number of the tensor."""

    def __init__(self, index):
        self.index = index


class Frame:
    """One checkpointed call. The first run only counts and describes the tensors that its nodes would keep."""

    def __init__(self, function, args, keywords, preserve, context_fn, checked):
        self.function, self.args, self.keywords = function, args, keywords
        self.state = torch.get_rng_state() if preserve else None
        self.contexts = context_fn() if context_fn is not None else None
        self.described, self.checked = [], checked
        self.again = {}

    def within(self, index, run):
        if self.contexts is None:
            return run()
        with self.contexts[index]:
            return run()

    def pack(self, tensor):
        self.described.append(described(tensor))
        return Place(len(self.described) - 1)

    def unpack(self, place):
        if place.index not in self.again:
            self.compute_again()
        return self.again.pop(place.index)

    def first(self):
        with torch.autograd.graph.saved_tensors_hooks(self.pack, self.unpack):
            return self.within(0, lambda: self.function(*self.args, **self.keywords))

    def compute_again(self):
        found = []

        def pack(tensor):
            found.append(tensor.detach() if tensor.requires_grad else tensor)
            if len(found) == len(self.described):
                raise Stop()
            return tensor

        now = torch.get_rng_state()
        if self.state is not None:
            torch.set_rng_state(self.state)
        try:
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor), torch.enable_grad():
                self.within(1, lambda: self.function(*self.args, **self.keywords))
        except Stop:
            pass
        finally:
            if self.state is not None:
                torch.set_rng_state(now)
        self.compare(found)
        self.again = dict(enumerate(found))

    def compare(self, found):
        if len(found) != len(self.described):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.described)}\n"
                f"Number of tensors saved during recomputation: {len(found)}"
            )
        if not self.checked:
            return
        differing = ""
        for i, (before, tensor) in enumerate(zip(self.described, found)):
            if before != described(tensor):
                differing += f"tensor at position {i}:\nsaved metadata: {before}\nrecomputed metadata: {described(tensor)}\n"
        if differing:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{differing}"
            )


class CheckpointFunction(torch.autograd.Function):
    """The older form. It keeps its arguments, and its backward pass runs a backward pass of its own."""

    @staticmethod
    def forward(ctx, function, preserve, *args):
        ctx.function = function
        ctx.state = torch.get_rng_state() if preserve else None
        ctx.args = [None if isinstance(arg, torch.Tensor) else arg for arg in args]
        ctx.places = [i for i, arg in enumerate(args) if isinstance(arg, torch.Tensor)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        with torch.no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx, *grads):
        if not torch._VF.is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        args = list(ctx.args)
        for i, tensor in zip(ctx.places, ctx.saved_tensors):
            args[i] = tensor.detach().requires_grad_(tensor.requires_grad)
        now = torch.get_rng_state()
        if ctx.state is not None:
            torch.set_rng_state(ctx.state)
        try:
            with torch.enable_grad():
                outputs = ctx.function(*args)
        finally:
            if ctx.state is not None:
                torch.set_rng_state(now)
        if isinstance(outputs, torch.Tensor):
            outputs = (outputs,)
        reached = [
            (output, grad)
            for output, grad in zip(outputs, grads)
            if isinstance(output, torch.Tensor) and output.requires_grad
        ]
        if not reached:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        torch.autograd.backward(*[list(part) for part in zip(*reached)])
        return (None, None) + tuple(arg.grad if isinstance(arg, torch.Tensor) else None for arg in args)


def checkpoint(function, args, use_reentrant, context_fn, determinism_check, debug, keywords):
    if use_reentrant is None:
        torch._VF.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. In version 2.5 we will "
            "raise an exception if use_reentrant is not passed. use_reentrant=False is recommended, but if you need to "
            "preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on "
            "the differences between the two variants."
        )
        use_reentrant = True
    keywords = dict(keywords)
    preserve = keywords.pop("preserve_rng_state", True)
    if use_reentrant:
        if keywords:
            raise ValueError("Unexpected keyword arguments: " + ",".join(keywords))
        if context_fn is not None or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'], but got {determinism_check}"
        )
    checked = determinism_check == "default"
    return Frame(function, args, keywords, preserve, context_fn, checked).first()


def sequential(functions, segments, input, use_reentrant, preserve):
    def part(first, last):
        def run(value):
            for function in functions[first:last]:
                value = function(value)
            return value

        return run

    size = len(functions) // segments
    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(
            part(start, end), (input,), use_reentrant, None, "default", False, {"preserve_rng_state": preserve}
        )
    return part(end, len(functions))(input)

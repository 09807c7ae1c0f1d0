"""`torch.testing.assert_close`. All values are paired before any are compared, like in PyTorch."""

import math
import torch

# The maximum depth of containers to compare, the same as for `==`.
MAX_DEPTH = 200
BUFFERS = ("array", "bytearray", "bytes", "memoryview")
# The methods that return the indices of each layout.
INDICES = {
    torch.sparse_coo: ["_indices"],
    torch.sparse_csr: ["crow_indices", "col_indices"],
    torch.sparse_bsr: ["crow_indices", "col_indices"],
    torch.sparse_csc: ["ccol_indices", "row_indices"],
    torch.sparse_bsc: ["ccol_indices", "row_indices"],
}
UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)
TENSORS = "Tensor-likes"
DTYPES = {float: torch.float64, complex: torch.complex128, int: torch.int64}
# The default `rtol` and `atol`. Other dtypes must be equal. Quantized values are compared as `float32`.
TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.complex32: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.quint8: (1.3e-6, 1e-5),
    torch.qint8: (1.3e-6, 1e-5),
    torch.qint32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex128: (1e-7, 1e-7),
}


def assert_close(actual, expected, allow_subclasses, rtol, atol, equal_nan, device, dtype, layout, stride, msg):
    pairs = []
    options = {"allow_subclasses": allow_subclasses, "rtol": rtol, "atol": atol}
    pair_up(pairs, options, [], actual, expected)
    checks = {"layout": layout, "stride": stride, "device": device, "dtype": dtype}
    first = None
    with torch.no_grad():
        for name, path, compare, a, b, *tolerances in pairs:
            try:
                message = compare(a, b, checks, *tolerances, bool(equal_nan))
            except MemoryError:
                raise
            except Exception as error:
                raise RuntimeError(
                    f"Comparing\n\n{name}({path})\n\nresulted in an unexpected exception: {error}"
                ) from None
            if message is not None and first is None:
                first = placed(message, path)
    if first is not None:
        raise AssertionError(first if msg is None else msg if isinstance(msg, str) else msg(first))


def placed(message, path):
    return f"{message}\n\nThe failure occurred for item {path}" if path else message


def is_sequence(value):
    return isinstance(value, (list, tuple, range)) or type(value).__name__ in BUFFERS


def is_number(value):
    return isinstance(value, (int, float, complex))


def is_array(value):
    return str(type(value)).startswith("<class 'numpy.")


def pair_up(pairs, options, keys, actual, expected):
    """Adds the pair of two values, or those of the items of two containers. `keys` leads to the values."""
    path = "".join(keys)
    if isinstance(actual, dict) and isinstance(expected, dict):
        missing = ordered([key for key in expected if key not in actual])
        additional = ordered([key for key in actual if key not in expected])
        if missing or additional:
            raise AssertionError(placed(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {missing}\n"
                f"Additional keys in the actual mapping: {additional}",
                path,
            ))
        items = ((key, actual[key], expected[key]) for key in ordered(list(actual)))
    elif is_sequence(actual) and is_sequence(expected):
        if len(actual) != len(expected):
            message = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            raise AssertionError(placed(message, path))
        items = ((i, a, b) for i, (a, b) in enumerate(zip(actual, expected)))
    else:
        pairs.append(single(options, path, actual, expected))
        return
    for key, a, b in items:
        if len(keys) >= MAX_DEPTH:
            raise RecursionError("maximum recursion depth exceeded in comparison")
        pair_up(pairs, options, [*keys, f"[{key!r}]"], a, b)


def ordered(keys):
    """Sorts keys. Those that cannot be sorted keep their order."""
    try:
        return sorted(keys)
    except Exception:
        return keys


def single(options, path, a, b):
    """Returns PyTorch's name for a pair of values, its path, the function that compares it, and its arguments."""
    if a is None or b is None:
        return "NonePair", path, nones, a, b, 0, 0
    if isinstance(a, bool) and isinstance(b, bool):
        return "BooleanPair", path, booleans, a, b, 0, 0
    if is_number(a) and is_number(b):
        if isinstance(a, bool) or isinstance(b, bool):
            # PyTorch looks up the tolerance of `bool`, which is missing in its table.
            shown = "\n\nand\n\n".join(f"{type(value).__name__}(): {value}" for value in (a, b))
            raise RuntimeError(
                f"Originating a NumberPair() at item {path} with\n\n{shown}\n\nresulted in an unexpected exception."
            )
        return "NumberPair", path, numbers, a, b, *tolerance(options, path, DTYPES[type(a)], DTYPES[type(b)])
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        fits = options["allow_subclasses"] or type(a) is type(b)
    else:
        fits = is_array(a) and is_array(b)
    if not fits:
        message = f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}."
        raise TypeError(placed(message, path))
    a, b = (torch.as_tensor(value, device="cpu") if is_array(value) else value for value in (a, b))
    return "TensorLikePair", path, tensors, a, b, *tolerance(options, path, a.dtype, b.dtype)


def tolerance(options, path, *dtypes):
    """Returns the given tolerances, or the looser ones of the dtypes' defaults."""
    rtol, atol = options["rtol"], options["atol"]
    if rtol is None and atol is None:
        defaults = [TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
        return tuple(max(values) for values in zip(*defaults))
    if rtol is None or atol is None:
        name = "rtol" if rtol is None else "atol"
        message = f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {name}."
        raise ValueError(placed(message, path))
    return float(rtol), float(atol)


# The functions that compare return a message if the values differ.


def nones(a, b, *_):
    if a is not b:
        return f"None mismatch: {a} is not {b}"


def booleans(a, b, *_):
    if a is not b:
        return f"Booleans mismatch: {a} is not {b}"


def numbers(a, b, checks, rtol, atol, equal_nan):
    if checks["dtype"] and type(a) is not type(b):
        return f"The (d)types do not match: {type(a)} != {type(b)}."
    if a == b or equal_nan and a != a and b != b:
        return None
    distance = abs(a - b)
    is_finite = not isinstance(distance, float) or math.isfinite(distance)
    if not (is_finite and distance <= atol + rtol * abs(b)):
        return scalar_mismatch(a, b, rtol, atol)


def tensors(a, b, checks, rtol, atol, equal_nan):
    for name, x, y in attributes(a, b, checks):
        if x != y:
            return f"The values for attribute '{name}' do not match: {x} != {y}."
    if a.is_meta or b.is_meta:
        return None
    if a.is_quantized:
        parts = [("Quantized tensor-likes", a.dequantize(), b.dequantize())]
    elif a.layout != b.layout or a.layout == torch.strided:
        parts = [(TENSORS, *(t if t.layout == torch.strided else t.to_dense() for t in (a, b)))]
    else:
        name = str(a.layout).removeprefix("torch.sparse_").upper()
        indices = INDICES[a.layout]
        if a.layout == torch.sparse_coo and a.sparse_dim() != b.sparse_dim():
            return differ("sparse dimensions in sparse COO tensors", a.sparse_dim(), b.sparse_dim())
        x, y = (getattr(t, indices[-1])().shape[-1] for t in (a, b))
        if x != y:
            return differ(f"specified values in sparse {name} tensors", x, y)
        parts = [(f"Sparse {name} {part.strip('_')}", getattr(a, part)(), getattr(b, part)()) for part in indices]
        values = "_values" if a.layout == torch.sparse_coo else "values"
        parts.append((f"Sparse {name} values", getattr(a, values)(), getattr(b, values)()))
    for name, x, y in parts:
        limits = (0.0, 0.0, False) if name.endswith("indices") else (rtol, atol, equal_nan)
        message = elements(name, x, y, *limits)
        if message is not None:
            return message


def attributes(a, b, checks):
    """Yields the attributes that must agree, with both of their values."""
    yield "shape", a.shape, b.shape
    yield "is_quantized", a.is_quantized, b.is_quantized
    if a.is_quantized:
        yield "qscheme()", a.qscheme(), b.qscheme()
    if checks["layout"]:
        yield "layout", a.layout, b.layout
    if checks["stride"] and a.layout == b.layout == torch.strided:
        yield "stride()", a.stride(), b.stride()
    if checks["device"]:
        yield "device", a.device, b.device
    if checks["dtype"]:
        yield "dtype", a.dtype, b.dtype


def differ(what, x, y):
    return f"The number of {what} does not match: {x} != {y}"


def elements(name, a, b, rtol, atol, equal_nan):
    """Compares dense tensors, which are called `name` in the message."""
    if a.dtype != b.dtype:
        # PyTorch cannot promote the wide unsigned dtypes.
        a, b = (t.to(torch.int64) if t.dtype in UNSIGNED else t for t in (a, b))
        common = torch.promote_types(a.dtype, b.dtype)
        a, b = a.to(common), b.to(common)
    matches = torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if matches.all():
        return None
    if a.ndim == 0 and name == TENSORS:
        return scalar_mismatch(a.item(), b.item(), rtol, atol)
    shape, matches = a.shape, matches.flatten()
    if not (a.is_floating_point() or a.is_complex()):
        a, b = a.to(torch.int64), b.to(torch.int64)
    a, b = a.flatten(), b.flatten()
    total = matches.numel()
    failed = total - int(matches.sum())
    absolute = (a - b).abs().masked_fill(matches, 0)
    relative = (absolute / b.abs()).masked_fill(matches, 0)
    return (
        f"{name} are not {adjective(rtol, atol)}!\n\n"
        f"Mismatched elements: {failed} / {total} ({100 * failed / total:.1f}%)\n"
        f"Greatest absolute difference: {greatest(absolute, shape)}{allowed(atol, rtol, atol)}\n"
        f"Greatest relative difference: {greatest(relative, shape)}{allowed(rtol, rtol, atol)}"
    )


def greatest(differences, shape):
    """Describes the greatest of the flattened differences, and its index."""
    value, number = (part.item() for part in differences.max(0))
    index = []
    for size in reversed(shape):
        number, rest = divmod(number, size)
        index.insert(0, rest)
    return f"{value} at index {tuple(index)}"


def scalar_mismatch(actual, expected, rtol, atol):
    distance, size = abs(actual - expected), abs(expected)
    relative = distance / size if size else math.inf
    return (
        f"Scalars are not {adjective(rtol, atol)}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {distance}{allowed(atol, rtol, atol)}\n"
        f"Relative difference: {relative}{allowed(rtol, rtol, atol)}"
    )


def adjective(rtol, atol):
    return "equal" if rtol == atol == 0 else "close"


def allowed(limit, rtol, atol):
    return "" if rtol == atol == 0 else f" (up to {limit} allowed)"

"""`np.einsum` and `np.einsum_path`.

Sums are added in the order of NumPy's loops, which decides their last digits: the axes are visited in memory order, and
the innermost run is summed by a kernel that depends on the strides.
"""

import math

import numpy as np

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def einsum(*operands, out=None, optimize=False, dtype=None, order="K", casting="safe"):
    """Returns the sums of products that subscripts such as "ij,jk->ik" describe."""
    text, arrays = _operands(operands)
    inputs, output = _sides(text, arrays)
    if output is None:
        output = _implicit(inputs)
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    if out is not None and out.ndim != len(output):
        raise ValueError(
            f"out parameter does not have the correct number of dimensions, has {out.ndim} but should have "
            f"{len(output)}"
        )
    rearranges = len(arrays) == 1 and out is None and set(inputs[0]) == set(output)
    names = ["single operand" if rearranges else f"operand {number}" for number in range(len(arrays))]
    parts = [_collapsed(array, labels, name) for array, labels, name in zip(arrays, inputs, names)]
    if rearranges:
        array, labels = parts[0]
        return array.transpose([labels.index(label) for label in output]) if output else array[()]
    axes = output + sorted({label for _, labels in parts for label in labels} - set(output), key=_rank)
    sizes = _sizes(parts, axes)
    kind = np.result_type(*arrays) if dtype is None else np.dtype(dtype)
    for number, array in enumerate(arrays):
        if not np.can_cast(array.dtype, kind, casting=casting):
            raise TypeError(
                f"Iterator operand {number} dtype could not be cast from {array.dtype!r} to {kind!r} according to the "
                f"rule '{casting}'"
            )
    result = _Loops(parts, axes, len(output), sizes, kind, order).result(order)
    if out is not None:
        np.copyto(out, result, casting=casting)
        return out
    return result if output else result[()]


# Subscripts


def _operands(operands):
    """Returns (subscripts, arrays) for both ways to call einsum."""
    if not operands:
        raise ValueError(
            "must specify the einstein sum subscripts string and at least one operand, or at least one operand and its "
            "corresponding subscripts list"
        )
    if isinstance(operands[0], str):
        if len(operands) < 2:
            raise ValueError("must specify the einstein sum subscripts string and at least one operand")
        return operands[0].replace(" ", ""), [np.asanyarray(item) for item in operands[1:]]
    if len(operands) < 2:
        raise ValueError("must provide at least an operand and a subscripts list to einsum")
    arrays = [np.asanyarray(item) for item in operands[0 : len(operands) - len(operands) % 2 : 2]]
    text = ",".join([_spelled(item) for item in operands[1::2]])
    if len(operands) % 2:
        text += "->" + _spelled(operands[-1])
    return text, arrays


def _spelled(numbers):
    """Returns subscripts for a list of numbers."""
    if not isinstance(numbers, (list, tuple)):
        raise TypeError("the subscripts for each operand must be a list or a tuple")
    letters = []
    for number in numbers:
        if number is Ellipsis:
            letters.append("...")
            continue
        place = np._index(number)
        if not 0 <= place < 52:
            raise ValueError("subscript is not within the valid range [0, 52)")
        letters.append(_LETTERS[place])
    return "".join(letters)


def _sides(text, arrays):
    """Returns (labels of each operand, labels of the result or None). Axes of an ellipsis have negative labels."""
    output = None
    if "->" in text:
        place = text.index("->")
        text, output = text[:place], text[place + 2 :]
    elif "-" in text or ">" in text:
        raise ValueError("einstein sum subscript string does not contain proper '->' output specified")
    parts = text.split(",")
    if len(parts) > len(arrays):
        raise ValueError("more operands provided to einstein sum function than specified in the subscripts string")
    if len(parts) < len(arrays):
        raise ValueError("fewer operands provided to einstein sum function than specified in the subscripts string")
    inputs = [_labels(part, array.ndim, number) for number, (part, array) in enumerate(zip(parts, arrays))]
    if output is None:
        return inputs, None
    known = {label for labels in inputs for label in labels}
    extra = sorted([label for label in known if not isinstance(label, str)])
    result = []
    for letter in _letters(output, "in the output"):
        if letter == "...":
            result += extra
        elif letter in result:
            raise ValueError(f"einstein sum subscripts string includes output subscript '{letter}' multiple times")
        elif letter not in known:
            raise ValueError(
                f"einstein sum subscripts string included output subscript '{letter}' which never appeared in an input"
            )
        else:
            result.append(letter)
    if extra and "..." not in output:
        raise ValueError(
            "output has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to "
            "broadcast the extra dimensions."
        )
    return inputs, result


def _letters(text, where):
    """Returns the list of letters and ellipses."""
    found, place = [], 0
    while place < len(text):
        char = text[place]
        if char == ".":
            if text[place : place + 3] != "..." or "..." in found:
                raise ValueError(
                    f"einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...') {where}"
                )
            char = "..."
        elif char not in _LETTERS:
            raise ValueError(
                f"invalid subscript '{char}' in einstein sum subscripts string, subscripts must be letters"
            )
        found.append(char)
        place += len(char)
    return found


def _labels(text, ndim, number):
    """Returns a label for each axis of an operand."""
    letters = _letters(text, f"in operand {number}")
    spread = "..." in letters
    rest = ndim - len(letters) + spread
    if rest < 0:
        raise ValueError(f"einstein sum subscripts string contains too many subscripts for operand {number}")
    if rest and not spread:
        raise ValueError(
            "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to "
            "broadcast the extra dimensions."
        )
    labels = []
    for letter in letters:
        labels += range(-rest, 0) if letter == "..." else [letter]
    return labels


def _rank(label):
    """Returns the sort key of a label: the axes of an ellipsis come first, then letters in ASCII order."""
    return (1, label) if isinstance(label, str) else (0, label)


def _implicit(inputs):
    """Returns the labels of the result: those that occur once, sorted."""
    counts = {}
    for labels in inputs:
        for label in labels:
            counts[label] = counts.get(label, 0) + 1
    kept = [label for label in counts if counts[label] == 1 or not isinstance(label, str)]
    return sorted(kept, key=_rank)


def _collapsed(array, labels, name):
    """Returns (view, labels) with the diagonals of repeated labels."""
    kept = [label for place, label in enumerate(labels) if label not in labels[:place]]
    if len(kept) == len(labels):
        return array, labels
    shape, strides = [], []
    for label in kept:
        places = [place for place, item in enumerate(labels) if item == label]
        size, step = array.shape[places[0]], 0
        for place in places:
            length = array.shape[place]
            if size != length:
                raise ValueError(
                    f"dimensions in {name} for collapsing index '{label}' don't match ({size} != {length})"
                )
            step += array.strides[place]
        shape.append(size)
        strides.append(step)
    view = np.lib.stride_tricks.as_strided(array, tuple(shape), tuple(strides), writeable=array.flags.writeable)
    return view, kept


def _sizes(parts, axes):
    """Returns the size of each axis of the loops; fails if two operands differ."""
    sizes = []
    for axis in axes:
        size = 1
        for array, labels in parts:
            length = array.shape[labels.index(axis)] if axis in labels else 1
            if length == 1:
                continue
            if size != 1 and size != length:
                raise ValueError(
                    "operands could not be broadcast together with remapped shapes [original->remapped]: "
                    + "".join([_remapped(item, labels, axes) for item, labels in parts])
                )
            size = length
        sizes.append(size)
    return sizes


def _remapped(array, labels, axes):
    """Returns the text of a shape and its places in the loops."""
    texts = [str(array.shape[labels.index(axis)]) if axis in labels else "newaxis" for axis in axes]
    while texts and texts[0] == "newaxis":
        texts = texts[1:]
    end = "," if len(axes) == 1 else ""
    return f"{np._plain(array.shape, ',')}->({','.join(texts)}{end}) "


# Loops


def _spread_strides(array, labels, axes):
    """Returns the stride along each axis of the loops; it is 0 along those that the operand does not have."""
    strides = []
    for axis in axes:
        place = labels.index(axis) if axis in labels else None
        strides.append(0 if place is None or array.shape[place] == 1 else array.strides[place])
    return tuple(strides)


class _Loops:
    """The nested loops of a sum of products: views of the operands over all axes, in the order of the loops."""

    def __init__(self, parts, axes, kept, sizes, dtype, order):
        self.dtype, self.kept, self.sizes = dtype, kept, sizes
        # Half precision is computed in single precision.
        self.compute = np.dtype(np.float32) if dtype == np.float16 else dtype
        # NumPy converts blocks of elements, so the order of the loops is that of the original operands.
        self.order = list(range(len(axes)))
        self.strides = [_spread_strides(array, labels, axes) for array, labels in parts]
        if order == "K":
            self.order = np._memory_order(self.strides, len(axes))
        elif order == "F" or (order == "A" and all([array.flags.fnc for array, _ in parts])):
            self.order = self.order[::-1]
        views = []
        for array, labels in parts:
            array = array.astype(self.compute, order="K", copy=False)
            strides = _spread_strides(array, labels, axes)
            views.append(np.lib.stride_tricks.as_strided(array, tuple(sizes), strides, writeable=False))
        self.views = views
        self.cast = [array.dtype != dtype for array, _ in parts]

    def result(self, order):
        """Returns the array of sums."""
        loops = [axis for axis in self.order if self.sizes[axis] != 1]
        inner = self._inner(loops)
        outer = [axis for axis in loops if axis >= self.kept and axis not in inner]
        result_axes = [axis for axis in self.order if axis < self.kept]
        rest = [axis for axis in self.order if axis >= self.kept and self.sizes[axis] == 1]
        views = [view.transpose(outer + result_axes + rest + inner) for view in self.views]
        shape = tuple([self.sizes[axis] for axis in result_axes])
        steps = math.prod([self.sizes[axis] for axis in outer])
        lead = (math.prod(shape), math.prod([self.sizes[axis] for axis in inner]))
        if steps == 0 or 0 in lead:
            total = np.zeros(shape, self.dtype)
        elif steps * lead[0] * lead[1] <= 1 << 20 and self.dtype != np.float16:
            rows = [view.reshape((steps,) + lead) for view in views]
            total = _in_order(self._terms(rows, inner))
        else:
            total = np.zeros(lead[0], self.dtype)
            for place in np.ndindex(*[self.sizes[axis] for axis in outer]):
                rows = [view[place].reshape((1,) + lead) for view in views]
                term = self._terms(rows, inner)[0]
                total = (total.astype(self.compute) + term).astype(self.dtype)
        total = total.reshape(shape)
        total = total.transpose([result_axes.index(axis) for axis in range(self.kept)])
        return np.array(total, order=order, copy=True)

    def _inner(self, loops):
        """Returns the trailing summed axes that one run of the innermost loop covers.

        NumPy copies operands to buffers if it has to convert them, and for three operands or four loops. Runs of
        buffers cover all of the trailing summed axes.
        """
        summed = []
        for axis in loops[::-1]:
            if axis < self.kept:
                break
            summed.insert(0, axis)
        best, least = 1, None
        buffers = len(self.views) > 2 or any(self.cast) or self._count(loops) > 3
        for count in range(1, len(summed) + 1):
            group = summed[-count:]
            copied = sum([cast or not self._one_stride(item, group) for item, cast in zip(self.strides, self.cast)])
            if not buffers:
                if copied:
                    break
                best = count
                continue
            # A copied operand costs as much as the loop itself.
            cost = (1 + copied) / math.prod([self.sizes[axis] for axis in group])
            if least is None or cost <= least:
                best, least = count, cost
        return summed[-best:]

    def _count(self, loops):
        """Returns the number of loops after merging those that all operands walk with one stride."""
        count = len(loops)
        for axis, first in zip(loops, loops[1:]):
            if (axis < self.kept) == (first < self.kept):
                count -= all([self._one_stride(item, [axis, first]) for item in self.strides])
        return count

    def _one_stride(self, strides, group):
        """Returns whether an operand walks the axes of `group` with one stride."""
        return all([strides[axis] == strides[first] * self.sizes[first] for axis, first in zip(group, group[1:])])

    def _terms(self, rows, inner):
        """Returns the sums of the products over the last axis, for operands of shape (steps, results, run)."""
        if not inner:
            return _product(rows)[..., 0]
        if self.compute == np.bool_:
            return np.logical_or.reduce(_product(rows), axis=-1)
        if self.compute.kind in "iu":
            return np.add.reduce(_product(rows), axis=-1, dtype=self.compute)
        steps = [self._run_stride(item, cast, inner) for item, cast in zip(self.strides, self.cast)]
        size = self.compute.itemsize
        if self.dtype == np.float16:
            return _one_by_one(_product(rows))
        if len(rows) == 1 and steps[0] == size:
            return _sum_run(rows[0])
        if len(rows) == 2 and self.compute.kind == "f" and steps == [size, size]:
            return _dot_run(_product(rows))
        if len(rows) == 2 and self.compute.kind == "f" and sorted(steps) == [0, size]:
            # A factor that does not change is multiplied once, with the sum of the others.
            fixed, moving = (rows[0], rows[1]) if steps[0] == 0 else (rows[1], rows[0])
            return _product([fixed[..., 0], _sum_run(moving)])
        return _one_by_one(_product(rows))

    def _run_stride(self, strides, cast, inner):
        """Returns the stride of the innermost loop; it is one element in a buffer."""
        return self.compute.itemsize if cast or not self._one_stride(strides, inner) else strides[inner[-1]]


def _product(rows):
    """Returns the product of all operands, from the left."""
    total = rows[0]
    for row in rows[1:]:
        if total.dtype.kind == "c":
            total = _complex_product(total, row)
        else:
            total = np.logical_and(total, row) if total.dtype == np.bool_ else total * row
    return total


def _complex_product(a, b):
    """Returns the product with each part rounded after every operation; the ufunc fuses some of them."""
    result = np.empty(np.broadcast_shapes(a.shape, b.shape), a.dtype)
    result.real = a.real * b.real - a.imag * b.imag
    result.imag = a.real * b.imag + a.imag * b.real
    return result


def _in_order(terms):
    """Returns the sums over the first axis, one step after the other."""
    if terms.dtype == np.bool_:
        return np.logical_or.reduce(terms, axis=0)
    if terms.dtype.kind in "iu":
        return np.add.reduce(terms, axis=0, dtype=terms.dtype)
    total = terms[0] if len(terms) == 1 else np.add.accumulate(terms, axis=0)[-1]
    # Sums start at zero, so none of them is -0.0.
    return total + total.dtype.type(0)


def _one_by_one(terms):
    """Returns the sums over the last axis, one element after the other."""
    return np.add.accumulate(terms, axis=-1)[..., -1] + terms.dtype.type(0)


def _vectors(terms):
    """Returns the elements of the last axis in vectors of 16 bytes, the last one filled with zeros."""
    lanes = 16 // terms.dtype.itemsize
    count = -(-terms.shape[-1] // lanes)
    filled = np.zeros(terms.shape[:-1] + (count * lanes,), terms.dtype)
    filled[..., : terms.shape[-1]] = terms
    return filled.reshape(terms.shape[:-1] + (count, lanes))


def _lanes_summed(vectors):
    """Returns the sums over the last two axes: vector after vector, then neighbouring lanes."""
    total = np.add.accumulate(vectors, axis=-2)[..., -1, :]
    while total.shape[-1] > 1:
        total = total[..., 0::2] + total[..., 1::2]
    return total[..., 0] + total.dtype.type(0)


def _dot_run(terms):
    """Returns the sums of products of two runs: blocks of four vectors are added from their last to their first."""
    vectors = _vectors(terms)
    blocks = terms.shape[-1] // (4 * vectors.shape[-1])
    order = np.arange(vectors.shape[-2])
    order[: 4 * blocks] = order[: 4 * blocks].reshape(blocks, 4)[:, ::-1].ravel()
    return _lanes_summed(vectors[..., order, :])


def _sum_run(terms):
    """Returns the sums of a run: each block of four vectors is added up in pairs."""
    if terms.dtype.kind == "c":
        return _sum_complex_run(terms)
    vectors = _vectors(terms)
    blocks = terms.shape[-1] // (4 * vectors.shape[-1])
    lead = vectors[..., : 4 * blocks, :].reshape(terms.shape[:-1] + (blocks, 4, vectors.shape[-1]))
    pairs = (lead[..., 0, :] + lead[..., 1, :]) + (lead[..., 2, :] + lead[..., 3, :])
    return _lanes_summed(np.concatenate((pairs, vectors[..., 4 * blocks :, :]), axis=-2))


def _sum_complex_run(terms):
    """Returns the sums of a run of complex numbers: blocks of four but the last are added up in pairs."""
    blocks = (terms.shape[-1] - 1) // 4
    lead = terms[..., : 4 * blocks].reshape(terms.shape[:-1] + (blocks, 4))
    pairs = (lead[..., 0] + lead[..., 1]) + (lead[..., 2] + lead[..., 3])
    return _one_by_one(np.concatenate((pairs, terms[..., 4 * blocks :]), axis=-1))


# Paths


def einsum_path(*operands, optimize="greedy", einsum_call=False):
    """Returns (list of the operands to contract in each step, a report) for the cheapest pairs, chosen one by one."""
    text, arrays = _operands(operands)
    inputs, output = _sides(text, arrays)
    if output is None:
        output = _implicit(inputs)
    parts = [(array, labels) for array, labels in zip(arrays, inputs)]
    axes = sorted({label for labels in inputs for label in labels}, key=_rank)
    sizes = dict(zip(axes, _sizes(parts, axes)))
    sets = [set(labels) for labels in inputs]
    repeats = sum([len(item) for item in sets]) > len(axes)
    naive = _cost(axes, repeats, len(sets), sizes)
    limit = max([_volume(item, sizes) for item in sets + [set(output)]])
    steps = [tuple(range(len(sets)))]
    if optimize and len(sets) > 2 and set(axes) != set(output):
        steps = _greedy(sets, set(output), sizes, limit, naive)
    return ["einsum_path"] + steps, _report(inputs, output, sets, sizes, steps, naive)


def _volume(labels, sizes):
    """Returns the number of elements of an array with these labels."""
    return math.prod([sizes[label] for label in labels])


def _cost(labels, sums, count, sizes):
    """Returns the number of operations of one contraction of `count` operands."""
    return _volume(labels, sizes) * (max(1, count - 1) + bool(sums))


def _contracted(sets, places, output):
    """Returns (labels of the result, the other sets, labels that are summed, all labels) of a contraction."""
    used, others = set(), []
    for place, item in enumerate(sets):
        if place in places:
            used = used | item
        else:
            others.append(item)
    wanted = output.union(*others)
    result = used & wanted
    return result, others, used - result, used


def _greedy(sets, output, sizes, limit, naive):
    """Returns the pairs to contract: at each step those that free the most elements."""
    path, spent = [], 0
    while len(sets) > 1:
        best = None
        pairs = [(i, j) for i in range(len(sets)) for j in range(i + 1, len(sets))]
        for candidates in ([pair for pair in pairs if sets[pair[0]] & sets[pair[1]]], pairs):
            for pair in candidates:
                result, others, summed, used = _contracted(sets, pair, output)
                if _volume(result, sizes) > limit:
                    continue
                cost = _cost(used, summed, 2, sizes)
                if spent + cost > naive:
                    continue
                freed = sum([_volume(sets[place], sizes) for place in pair]) - _volume(result, sizes)
                if best is None or (-freed, cost) < best[0]:
                    best = (-freed, cost), pair, others + [result]
            if best is not None:
                break
        if best is None:
            path.append(tuple(range(len(sets))))
            break
        path.append(best[1])
        sets = best[2]
        spent += best[0][1]
    return path


def _report(inputs, output, sets, sizes, steps, naive):
    """Returns the text that compares a path with one contraction of all operands."""
    texts = ["".join(labels) for labels in inputs]
    final = "".join(output)
    spent, widest, scalings, rows = 0, 1, [], []
    whole = ",".join(texts) + "->" + final
    output = set(output)
    for number, places in enumerate(steps):
        result, others, summed, used = _contracted(sets, places, output)
        spent += _cost(used, summed, len(places), sizes)
        widest = max(widest, _volume(result, sizes))
        scalings.append(len(used))
        joined = [texts[place] for place in sorted(places)[::-1]]
        texts = [text for place, text in enumerate(texts) if place not in places]
        named = final
        if number < len(steps) - 1:
            named = "".join(sorted(result, key=lambda label: (sizes[label], label)))
        texts.append(named)
        sets = others + [result]
        rows.append(f"\n{len(used):4d}    {','.join(joined) + '->' + named:>24} {','.join(texts) + '->' + final:>40}")
    total = spent + 1
    line = "-" * 74
    return (
        f"  Complete contraction:  {whole}\n         Naive scaling:  {len(sizes)}\n"
        f"     Optimized scaling:  {max(scalings)}\n      Naive FLOP count:  {naive:.3e}\n"
        f"  Optimized FLOP count:  {total:.3e}\n   Theoretical speedup:  {naive / total:3.3f}\n"
        f"  Largest intermediate:  {widest:.3e} elements\n{line}\n"
        f"{'scaling':>6} {'current':>24} {'remaining':>40}\n{line}" + "".join(rows)
    )

"""Iterators of `np`, and functions that call a Python function for elements or vectors."""

import itertools
import math

import numpy as np


def _memory_order(strides, ndim):
    """Returns the axes, the slowest first, in the order in which an iterator visits memory; C order on conflicts.

    `strides` has a tuple for each operand, with 0 for the axes that it does not have.
    """
    fastest_first = []
    for axis in range(ndim - 1, -1, -1):
        place = len(fastest_first)
        for before in range(len(fastest_first) - 1, -1, -1):
            other = fastest_first[before]
            pairs = [(abs(item[axis]), abs(item[other])) for item in strides if item[axis] and item[other]]
            if not pairs:
                continue
            if any([step >= inner for step, inner in pairs]):
                break
            place = before
        fastest_first.insert(place, axis)
    return fastest_first[::-1]


_FLAGS = (
    "buffered", "c_index", "copy_if_overlap", "common_dtype", "delay_bufalloc", "external_loop", "f_index", "growinner",
    "multi_index", "ranged", "refs_ok", "reduce_ok", "zerosize_ok",
)
_OPERAND_FLAGS = (
    "readonly", "readwrite", "writeonly", "contig", "aligned", "nbo", "copy", "updateifcopy", "allocate", "no_broadcast",
    "no_subtype", "virtual", "arraymask", "writemasked", "overlap_assume_elementwise",
)


class nditer:
    """Iterates over one or several operands together, which are broadcast to one shape."""

    def __init__(
        self,
        op,
        flags=None,
        op_flags=None,
        op_dtypes=None,
        order="K",
        casting="safe",
        op_axes=None,
        itershape=None,
        buffersize=0,
    ):
        given = list(op) if isinstance(op, (tuple, list)) else [op]
        self._flags = tuple(flags or ())
        for flag in self._flags:
            if flag not in _FLAGS:
                raise ValueError(f'Unexpected iterator global flag "{flag}"')
        kinds = _operand_flags(op_flags, given)
        for flag in [flag for kind in kinds for flag in kind]:
            if flag not in _OPERAND_FLAGS:
                raise ValueError(f'Unexpected per-op iterator flag "{flag}"')
        dtypes = _operand_dtypes(op_dtypes, len(given))
        arrays = [None if item is None else np.asarray(item) for item in given]
        present = [item for item in arrays if item is not None]
        shape = np._loop_shape([item.shape for item in present])
        if itershape is not None:
            shape = tuple([old if new < 0 else new for old, new in zip(shape, itershape)])
        if 0 in shape and "zerosize_ok" not in self._flags:
            raise ValueError("Iteration of zero-sized operands is not enabled")
        for place, item in enumerate(arrays):
            if item is None:
                dtype = dtypes[place] if dtypes[place] is not None else np.result_type(*present)
                arrays[place] = np.empty(shape, dtype)
            elif dtypes[place] is not None and item.dtype != dtypes[place]:
                if "buffered" not in self._flags and "copy" not in kinds[place]:
                    raise TypeError(
                        "Iterator operand required copying or buffering, but neither copying nor buffering was enabled"
                    )
                if not np.can_cast(item.dtype, dtypes[place], casting=casting):
                    raise TypeError(
                        f"Iterator operand {place} dtype could not be cast from {item.dtype!r} to "
                        f"{np.dtype(dtypes[place])!r} according to the rule '{casting}'"
                    )
                arrays[place] = item.astype(dtypes[place])
        self.operands = tuple(arrays)
        self.nop = len(arrays)
        self._shape = shape
        self.ndim = len(shape)
        self.itersize = math.prod(shape)
        self.has_multi_index = "multi_index" in self._flags
        self.has_index = "c_index" in self._flags or "f_index" in self._flags
        self._views = [_spread(item, shape, kind) for item, kind in zip(arrays, kinds)]
        self._order = self._axes(order)
        self.reset()
        self.shape = self._public_shape()
        self.ndim = len(self.shape)

    def _axes(self, order):
        """Returns the axes from the slowest to the fastest, and turns axes that all operands walk backwards."""
        count = self.ndim
        if order in ("C", "F"):
            return list(range(count)) if order == "C" else list(range(count))[::-1]
        strides = [view.strides for view in self._views]
        if order == "A":
            fortran = self.operands and all([item.flags.fnc for item in self.operands])
            return list(range(count))[::-1] if fortran else list(range(count))
        if not self.has_multi_index and not self.has_index:
            for axis in range(count):
                steps = [item[axis] for item in strides]
                if min(steps, default=0) < 0 and max(steps) <= 0:
                    back = np._along(count, axis, slice(None, None, -1))
                    self._views = [view[back] for view in self._views]
        return _memory_order(strides, count)

    def _public_shape(self):
        """Returns the shape that is shown: merged axes, the fastest first, unless indices are tracked."""
        if self.has_multi_index or self.has_index:
            return self._shape
        views = [view.transpose(self._order) for view in self._views]
        shape, count = [], len(self._order)
        for place in range(count - 1, -1, -1):
            size = self._shape[self._order[place]]
            if shape and all([_joins(view, place, place + 1, merged) for view in views]):
                shape[-1] *= size
                merged *= size
            else:
                shape.append(size)
                merged = size
        return tuple(shape)

    def reset(self):
        """Starts again at the first element."""
        self.iterindex = 0
        self._started = False
        self._steps = self._external() if "external_loop" in self._flags else self._elements()
        self.finished = False
        self._advance()

    def _elements(self):
        """Yields (index tuple, 0-d views)."""
        for places in itertools.product(*[range(self._shape[axis]) for axis in self._order]):
            index = [0] * len(self._shape)
            for axis, place in zip(self._order, places):
                index[axis] = place
            index = tuple(index)
            yield index, [view[index + (Ellipsis,)] for view in self._views]

    def _external(self):
        """Yields vectors, as long as the strides of all operands allow."""
        views = [view.transpose(self._order) for view in self._views]
        inner = len(self._shape)
        if "buffered" in self._flags:
            inner = 0
        elif inner:
            inner -= 1
            run = views[0].shape[inner]
            while inner > 0 and all([_joins(view, inner - 1, inner, run) for view in views]):
                inner -= 1
                run *= views[0].shape[inner]
        for places in itertools.product(*[range(size) for size in views[0].shape[:inner]]):
            yield places, [view[places + (Ellipsis,)].reshape(-1) for view in views]

    def _advance(self):
        """Moves to the next element; returns whether there is one."""
        found = next(self._steps, None)
        if found is None:
            self.finished = True
            return False
        self._index, self._values = found
        return True

    def iternext(self):
        """Moves to the next element and returns whether there is one."""
        self.iterindex += 1
        return self._advance()

    @property
    def multi_index(self):
        if not self.has_multi_index:
            raise ValueError("Iterator is not tracking a multi-index")
        if self.finished:
            raise ValueError("Iterator is past the end")
        return self._index

    @property
    def index(self):
        if not self.has_index:
            raise ValueError("Iterator does not have an index")
        sizes, places = self._shape, self._index
        if "f_index" in self._flags:
            sizes, places = sizes[::-1], places[::-1]
        number = 0
        for size, place in zip(sizes, places):
            number = number * size + place
        return number

    @property
    def value(self):
        if self.finished:
            raise ValueError("Iterator is past the end")
        return self._values[0] if self.nop == 1 else tuple(self._values)

    @property
    def dtypes(self):
        return tuple([item.dtype for item in self.operands])

    def __len__(self):
        return self.nop

    def __getitem__(self, place):
        return self._values[place]

    def __setitem__(self, place, value):
        if not self._values[place].flags.writeable:
            raise RuntimeError(f"Iterator operand {place} is not writeable")
        self._values[place][...] = value

    def __iter__(self):
        return self

    def __next__(self):
        if self._started:
            if not self.finished:
                self.iternext()
        self._started = True
        if self.finished:
            raise StopIteration
        return self.value

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def close(self):
        """Ends the iteration."""
        self.finished = True

    def copy(self):
        """Returns an iterator of its own at the first element."""
        return nditer(list(self.operands), flags=self._flags)


def _operand_flags(op_flags, given):
    """Returns a list of flags for each operand."""
    if not op_flags:
        return [["writeonly", "allocate"] if item is None else ["readonly"] for item in given]
    if isinstance(op_flags[0], str):
        return [list(op_flags)] * len(given)
    return [list(item) for item in op_flags]


def _operand_dtypes(op_dtypes, count):
    """Returns a dtype or None for each operand."""
    if op_dtypes is None:
        return [None] * count
    if isinstance(op_dtypes, (list, tuple)):
        return [None if item is None else np.dtype(item) for item in op_dtypes]
    return [np.dtype(op_dtypes)] * count


def _spread(array, shape, kind):
    """Returns a view of an operand with the shape of the iteration, which is read-only unless its flags say so."""
    writes = "readwrite" in kind or "writeonly" in kind
    if array.shape != shape:
        if writes and "reduce_ok" not in kind and array.size != math.prod(shape):
            raise ValueError(
                f"non-broadcastable operand with shape {np._plain(array.shape, ',')} doesn't match the broadcast shape "
                f"{np._plain(shape, ',')}"
            )
        return np._stretched(array, shape, writes)
    view = array.view()
    if not writes:
        view.flags.writeable = False
    elif not array.flags.writeable:
        raise ValueError("output array is read-only")
    return view


def _joins(view, outer, inner, run):
    """Returns whether the axis `outer` follows a run of `run` elements, whose slowest axis is `inner`."""
    if run == 1 or view.shape[outer] == 1:
        return True
    while inner < view.ndim - 1 and view.shape[inner] == 1:
        inner += 1
    return view.strides[outer] == view.strides[inner] * view.shape[inner]


# Python functions of elements


class _Elementwise:
    """What `frompyfunc` returns: calls a Python function for each element of broadcast arrays."""

    def __init__(self, func, nin, nout):
        self._func = func
        self.nin, self.nout, self.nargs = nin, nout, nin + nout
        self.__name__ = f"{getattr(func, '__name__', '?')} (vectorized)"

    def __repr__(self):
        return f"<ufunc '{self.__name__}'>"

    def __call__(self, *args, **keywords):
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} positional arguments but {len(args)} were given")
        shape, results = _results(self._func, args)
        if not shape:
            return results[0]
        columns = [results] if self.nout == 1 else list(zip(*results))
        made = tuple([np.array(list(column), dtype=object).reshape(shape) for column in columns])
        return made[0] if self.nout == 1 else made


def frompyfunc(func, /, nin, nout, *, identity=None):
    """Returns a function that calls `func` for each element and returns arrays of objects."""
    return _Elementwise(func, nin, nout)


def _results(func, args):
    """Returns (shape, list of `func(*elements)`) for broadcast arguments."""
    arrays = np.broadcast_arrays(*[np.asarray(item) for item in args])
    shape = arrays[0].shape if arrays else ()
    columns = [item.ravel().tolist() for item in arrays]
    return shape, [func(*items) for items in zip(*columns)]


class _Unset:
    """The class of the default of `vectorize`, which means that the function comes later."""


_UNSET = _Unset()


class vectorize:
    """Calls a Python function for each element of broadcast arrays, or for each vector if it has a signature."""

    def __init__(
        self, pyfunc=_UNSET, otypes=None, doc=None, excluded=None, cache=False, signature=None
    ):
        self.pyfunc, self.cache, self.signature = pyfunc, cache, signature
        self.excluded = set(excluded) if excluded is not None else set()
        if isinstance(otypes, str):
            for char in otypes:
                if char not in "?bBhHiIlLqQpPefdgFDGSUVOMm":
                    raise ValueError(f"Invalid otype specified: {char}")
        elif otypes is not None:
            if not np.iterable(otypes):
                raise ValueError("Invalid otype specification")
            otypes = "".join([np.dtype(item).char for item in otypes])
        self.otypes = otypes
        self._cores = None if signature is None else _signature(signature)
        self.__doc__ = doc
        if pyfunc is not _UNSET:
            self._named(pyfunc)

    def _named(self, pyfunc):
        self.pyfunc = pyfunc
        self.__name__ = getattr(pyfunc, "__name__", None)
        if self.__doc__ is None:
            self.__doc__ = getattr(pyfunc, "__doc__", None)

    def __call__(self, *args, **kwargs):
        if self.pyfunc is _UNSET:
            # A decorator with arguments: the function arrives now.
            self._named(args[0])
            return self
        names = [name for name in kwargs if name not in self.excluded]
        kept = [place for place in range(len(args)) if place not in self.excluded]
        if not names and len(kept) == len(args) and not kwargs:
            return self._over(self.pyfunc, args)

        def function(*values):
            positional, keywords = list(args), dict(kwargs)
            for place, value in zip(kept, values):
                positional[place] = value
            for name, value in zip(names, values[len(kept) :]):
                keywords[name] = value
            return self.pyfunc(*positional, **keywords)

        return self._over(function, [args[place] for place in kept] + [kwargs[name] for name in names])

    def _over(self, function, args):
        """Returns the results for all elements."""
        if self._cores is not None:
            return self._over_vectors(function, args)
        if not args:
            return function()
        arrays = [np.asanyarray(item) for item in args]
        otypes, first = self.otypes, None
        if not otypes:
            if any([item.size == 0 for item in arrays]):
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            first = function(*[item.flat[0] for item in arrays])
            outputs = first if isinstance(first, tuple) else (first,)
            otypes = [np.asarray(item).dtype for item in outputs]
        remembered = [] if first is None or not self.cache else [first]

        def once(*items):
            return remembered.pop() if remembered else function(*items)

        shape, results = _results(once, arrays)
        columns = [results] if len(otypes) == 1 else list(zip(*results)) or [[]] * len(otypes)
        made = [np.array(list(items), dtype=kind).reshape(shape) for items, kind in zip(columns, otypes)]
        return made[0] if len(made) == 1 else tuple(made)

    def _over_vectors(self, function, args):
        """Returns the results for all vectors that the signature names."""
        inputs, outputs = self._cores
        if len(args) != len(inputs):
            raise TypeError(f"wrong number of positional arguments: expected {len(inputs)}, got {len(args)}")
        arrays = [np.asanyarray(item) for item in args]
        sizes, loops = {}, []
        for array, names in zip(arrays, inputs):
            count = len(names)
            if array.ndim < count:
                raise ValueError(
                    f"{array.ndim}-dimensional argument does not have enough dimensions for all core dimensions "
                    f"{tuple(names)!r}"
                )
            _match(sizes, names, array.shape[array.ndim - count :])
            loops.append(array.shape[: array.ndim - count])
        shape = np.broadcast_shapes(*loops)
        spread = [np.broadcast_to(a, shape + a.shape[len(loop) :]) for a, loop in zip(arrays, loops)]
        made = None
        for index in np.ndindex(*shape):
            results = function(*[item[index] for item in spread])
            results = (results,) if len(outputs) == 1 else results
            if len(results) != len(outputs):
                raise ValueError(
                    f"wrong number of outputs from pyfunc: expected {len(outputs)}, got {len(results)}"
                )
            values = [np.asanyarray(item) for item in results]
            if made is None:
                for value, names in zip(values, outputs):
                    _match(sizes, names, value.shape[value.ndim - len(names) :])
                kinds = self.otypes or [value.dtype for value in values]
                made = [
                    np.empty(shape + tuple([sizes[name] for name in names]), kind)
                    for names, kind in zip(outputs, kinds)
                ]
            for target, value in zip(made, values):
                target[index] = value
        if made is None:
            if not self.otypes:
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            if any([name not in sizes for names in outputs for name in names]):
                raise ValueError(
                    "cannot call `vectorize` with a signature including new output dimensions on size 0 inputs"
                )
            made = [
                np.empty(shape + tuple([sizes[name] for name in names]), kind)
                for names, kind in zip(outputs, self.otypes)
            ]
        return made[0] if len(made) == 1 else tuple(made)


def _match(sizes, names, shape):
    """Notes the sizes of named dimensions; fails if one has another size already."""
    for name, size in zip(names, shape):
        if sizes.setdefault(name, size) != size:
            raise ValueError(f"inconsistent size for core dimension {name!r}: {size!r} vs {sizes[name]!r}")


def _signature(text):
    """Returns the names of the core dimensions of inputs and outputs of a text such as "(m,n),(n)->(m)"."""
    sides = text.replace(" ", "").split("->")
    if len(sides) != 2 or not all([side[:1] == "(" and side[-1:] == ")" for side in sides]):
        raise ValueError(f"not a valid gufunc signature: {text}")
    return [[[name for name in part.split(",") if name] for part in side[1:-1].split("),(")] for side in sides]


# Python functions of vectors


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """Returns the results of `func1d` for each vector along `axis`."""
    given, arr = arr, np.asanyarray(arr)
    axis = np._axis_index(axis, arr.ndim)
    others = [place for place in range(arr.ndim) if place != axis]
    vectors = arr.transpose(others + [axis])
    shape = vectors.shape[:-1]
    if 0 in shape:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    made = None
    for index in np.ndindex(*shape):
        result = np.asanyarray(func1d(vectors[index], *args, **kwargs))
        if made is None:
            made = np.zeros(shape + result.shape, result.dtype)
            extra = result.ndim
        made[index] = result
    lead = len(shape)
    order = list(range(axis)) + list(range(lead, lead + extra)) + list(range(axis, lead))
    return np._returned(given, made.transpose(order))


def apply_over_axes(func, a, axes):
    """Returns `func(a, axis)`, applied for each axis; axes that it removes are kept with size 1."""
    value = np.asarray(a)
    ndim = a.ndim
    if np.array(axes).ndim == 0:
        axes = (axes,)
    for axis in axes:
        axis = axis + ndim if axis < 0 else axis
        result = func(value, axis)
        if result.ndim != value.ndim:
            result = np.expand_dims(result, axis)
            if result.ndim != value.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        value = result
    return value

"""Functions of `np` for sets: distinct elements, and set operations on two arrays."""

import numpy as np

UniqueAllResult = np._named_result("UniqueAllResult", ["values", "indices", "inverse_indices", "counts"])
UniqueCountsResult = np._named_result("UniqueCountsResult", ["values", "counts"])
UniqueInverseResult = np._named_result("UniqueInverseResult", ["values", "inverse_indices"])

# The bucket counts of NumPy's hash table grow along these primes.
_PRIMES = """
1 2 3 5 7 11 13 17 19 23 29 31 37 41 43 47 53 59 61 67 71 73 79 83 89 97 103 109 113 127 137 139 149 157 167 179
193 199 211 227 241 257 277 293 313 337 359 383 409 439 467 503 541 577 619 661 709 761 823 887 953 1031 1109 1193
1289 1381 1493 1613 1741 1879 2029 2179 2357 2549 2753 2971 3209 3469 3739 4027 4349 4703 5087 5503 5953 6427 6949
7517 8123 8783 9497
"""


def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True
):
    """Returns the distinct elements, or slices along `axis`; with first indices, inverse and counts if wanted."""
    ar = np.asanyarray(ar)
    wanted = return_index, return_inverse, return_counts
    if axis is not None and ar.ndim == 1:
        np._axis_index(axis, 1)
        axis = None
    if axis is None:
        return _chosen(_unique_flat(ar, wanted, equal_nan, sorted), wanted)
    axis = np._axis_tuple(axis, ar.ndim)[0]
    return _chosen(_unique_slices(np.moveaxis(ar, axis, 0), axis, wanted), wanted)


def _chosen(parts, wanted):
    """Returns the values alone, or a tuple with the other parts that are wanted."""
    if not any(wanted):
        return parts[0]
    return (parts[0],) + tuple([part for part, keep in zip(parts[1:], wanted) if keep])


def _unique_flat(ar, wanted, equal_nan, sorted):
    """Returns (values, indices, inverse, counts) of the flattened array."""
    flat = ar.flatten()
    if not any(wanted):
        if flat.dtype.kind in "iu" and not sorted:
            return (_hash_order(flat, equal_nan),)
        if flat.dtype.kind == "c":
            values = _hash_order(flat, equal_nan)
            if sorted:
                values.sort()
            return (values,)
    order = None
    if not (wanted[0] or wanted[1]):
        flat.sort()
        ordered = flat
    else:
        order = flat.argsort(kind="stable" if wanted[0] else None)
        ordered = flat[order]
    first = np.ones(len(flat), bool)
    if len(flat) > 1:
        np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
        if equal_nan and flat.dtype.kind in "fc":
            # NaNs are sorted to the end; all of them count as one value.
            nans = np.isnan(ordered)
            first[1:] &= ~(nans[1:] & nans[:-1])
    values = ordered[first]
    if order is None:
        return values, None, None, _lengths(first)
    return _grouped(values, first, order, ar.shape)


def _grouped(values, first, order, shape):
    """Returns (values, indices, inverse, counts); `first` marks where each group starts in the sorted order."""
    number = np.add.accumulate(first, dtype=np.intp) - 1
    inverse = np.empty(len(first), np.intp)
    inverse[order] = number
    if shape is not None:
        inverse = inverse.reshape(shape)
    return values, order[first], inverse, _lengths(first)


def _lengths(first):
    """Returns the lengths of the groups that start where `first` is true."""
    starts = np.concatenate(first.nonzero() + (np.array([len(first)]),))
    return starts[1:] - starts[:-1]


def _unique_slices(front, axis, wanted):
    """Returns (values, indices, inverse, counts) of the slices of the first axis."""
    rows = np.ascontiguousarray(front.reshape(len(front), -1) if front.size else _empty_rows(front))
    count = len(rows)
    order = np.arange(count)
    if rows.shape[1] and count:
        order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    first = np.ones(count, bool)
    if count > 1:
        first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    values = ordered[first].reshape((-1,) + front.shape[1:]) if front.size else _first_rows(front, first)
    values, indices, inverse, counts = _grouped(values, first, order, None)
    return np.moveaxis(values, 0, axis), indices, inverse, counts


def _empty_rows(front):
    """Returns the rows of an array without elements."""
    width = 1
    for size in front.shape[1:]:
        width *= size
    return np.empty((len(front), width), front.dtype)


def _first_rows(front, first):
    """Returns the groups of an array without elements."""
    return np.empty((int(first.sum()),) + front.shape[1:], front.dtype)


def _hash_order(flat, equal_nan):
    """Returns the distinct integers or complex numbers in the order in which NumPy's hash table holds them."""
    _, places, _, _ = _unique_flat(flat, (True, True, True), equal_nan, True)
    if equal_nan and flat.dtype.kind == "c" and len(places) and np.isnan(flat[places[-1]]):
        # The first NaN is kept, whatever its parts are.
        places[-1] = np.isnan(flat).argmax()
    places.sort()
    values = flat[places]
    hashes = _hashes(values)
    buckets = _bucket_count(min(len(flat), 1024))
    listed = np.empty(0, np.intp)
    done = 0
    while done < len(values):
        end = min(len(values), buckets)
        listed = _listed(np.concatenate([listed, np.arange(done, end)]), hashes, buckets)
        done = end
        if done < len(values):
            buckets = _bucket_count(2 * buckets)
            listed = _listed(listed, hashes, buckets)
    return values[listed]


def _hashes(values):
    """Returns the FNV-1a hashes of the bytes of each element; -0.0 hashes like 0.0."""
    rows = (values + 0 if values.dtype.kind == "c" else values).view(np.uint8).reshape(len(values), values.itemsize)
    hashes = np.full(len(values), 0xCBF29CE484222325, np.uint64)
    for column in range(rows.shape[1]):
        hashes = (hashes ^ rows[:, column]) * np.uint64(0x100000001B3)
    return hashes


def _listed(inserted, hashes, buckets):
    """Returns the order of the table's list: new buckets go to its front, and so do elements in a bucket."""
    if len(inserted) == 0:
        return inserted
    bucket = hashes[inserted] % np.uint64(buckets)
    _, indices, inverse, _ = unique_all(bucket)
    created = indices[inverse]
    time = np.arange(len(inserted))
    return inserted[np.lexsort((-time, -created))]


def _bucket_count(least):
    """Returns the number of buckets of a table for `least` elements."""
    for prime in _PRIMES.split():
        if int(prime) >= least:
            return int(prime)
    return least | 1


def unique_all(x):
    """Returns (values, indices, inverse_indices, counts); NaNs are distinct."""
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x):
    """Returns (values, counts); NaNs are distinct."""
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x):
    """Returns (values, inverse_indices); NaNs are distinct."""
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x):
    """Returns the distinct elements, in no particular order; NaNs are distinct."""
    return unique(x, equal_nan=False, sorted=False)


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """Returns the sorted elements of both arrays, with their first indices if wanted."""
    ar1, ar2 = np.asanyarray(ar1), np.asanyarray(ar2)
    if not assume_unique:
        if return_indices:
            ar1, places1 = unique(ar1, return_index=True)
            ar2, places2 = unique(ar2, return_index=True)
        else:
            ar1, ar2 = unique(ar1), unique(ar2)
    else:
        ar1, ar2 = ar1.ravel(), ar2.ravel()
    both = np.concatenate((ar1, ar2))
    if return_indices:
        order = both.argsort(kind="stable")
        both = both[order]
    else:
        both.sort()
    twice = both[1:] == both[:-1]
    values = both[:-1][twice]
    if not return_indices:
        return values
    indices1 = order[:-1][twice]
    indices2 = order[1:][twice] - ar1.size
    if not assume_unique:
        indices1, indices2 = places1[indices1], places2[indices2]
    return values, indices1, indices2


def union1d(ar1, ar2):
    """Returns the sorted elements of either array."""
    return unique(np.concatenate((ar1, ar2), axis=None))


def setxor1d(ar1, ar2, assume_unique=False):
    """Returns the sorted elements that only one of two arrays has."""
    if not assume_unique:
        ar1, ar2 = unique(ar1), unique(ar2)
    both = np.concatenate((ar1, ar2), axis=None)
    if both.size == 0:
        return both
    both.sort()
    changes = np.concatenate(([True], both[1:] != both[:-1], [True]))
    return both[changes[1:] & changes[:-1]]


def setdiff1d(ar1, ar2, assume_unique=False):
    """Returns the elements of the first array that the second does not have."""
    if assume_unique:
        ar1 = np.asarray(ar1).ravel()
    else:
        ar1, ar2 = unique(ar1), unique(ar2)
    return ar1[~isin(ar1, ar2, assume_unique=True)]


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """Returns whether each element is among `test_elements`, or is not if `invert`."""
    element, tests = np.asarray(element), np.asarray(test_elements)
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    if kind == "table" and not (element.dtype.kind in "iub" and tests.dtype.kind in "iub"):
        raise ValueError(
            "The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for kind."
        )
    flat, tests = element.ravel(), tests.ravel()
    if not (element.dtype.kind in "iub" and tests.dtype.kind in "iub") and len(tests) >= 10 * len(flat) ** 0.145:
        return _found_by_sorting(flat, tests, assume_unique, invert).reshape(element.shape)
    common = np.result_type(flat, tests)
    ordered = tests.astype(common)
    ordered.sort()
    if len(ordered):
        searched = flat.astype(common)
        places = np.minimum(ordered.searchsorted(searched), len(ordered) - 1)
        found = ordered[places] == searched
    else:
        found = np.zeros(len(flat), bool)
    return (~found if invert else found).reshape(element.shape)


def _found_by_sorting(flat, tests, assume_unique, invert):
    """Returns whether each element has an equal neighbour among `tests` in their common sorted order."""
    if not assume_unique:
        flat, inverse = unique(flat, return_inverse=True)
        tests = unique(tests)
    both = np.concatenate((flat, tests))
    order = both.argsort(kind="stable")
    ordered = both[order]
    found = np.empty(len(both), bool)
    same = ordered[1:] != ordered[:-1] if invert else ordered[1:] == ordered[:-1]
    found[order] = np.concatenate((same, np.array([invert], bool)))
    return found[: len(flat)] if assume_unique else found[inverse]


def ediff1d(ary, to_end=None, to_begin=None):
    """Returns the differences of neighbours in the flattened array, between `to_begin` and `to_end`."""
    ary = np.asanyarray(ary).ravel()
    parts = []
    for name, given in (("to_begin", to_begin), ("to_end", to_end)):
        if given is not None:
            given = np.asanyarray(given)
            if not np.can_cast(given, ary.dtype, casting="same_kind"):
                raise TypeError(
                    f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
                )
            given = given.ravel()
        parts.append(given)
    before = 0 if parts[0] is None else len(parts[0])
    after = 0 if parts[1] is None else len(parts[1])
    count = max(len(ary) - 1, 0)
    result = np.empty(before + count + after, ary.dtype)
    if before:
        result[:before] = parts[0]
    if after:
        result[before + count :] = parts[1]
    np.subtract(ary[1:], ary[:-1], out=result[before : before + count])
    return result

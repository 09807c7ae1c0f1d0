"""np.testing: assertions about arrays, and the texts of their failures."""
import numpy as np


def _message(arrays, err_msg, header="Items are not equal:", verbose=True, names=("ACTUAL", "DESIRED"), precision=8):
    """Words a failure: an empty line, the header, the caller's message and the arrays, three lines each."""
    err_msg = str(err_msg)
    lines = ["\n" + header]
    if err_msg:
        if "\n" not in err_msg and len(err_msg) < 79 - len(header):
            lines[0] += " " + err_msg
        else:
            lines.append(err_msg)
    if verbose:
        for name, value in zip(names, arrays):
            if isinstance(value, np.ndarray):
                text = np.array_repr(value, precision=precision)
            else:
                text = repr(value)
            if text.count("\n") > 3:
                text = "\n".join(text.split("\n")[:3]) + "..."
            lines.append(f" {name}: {text}")
    return "\n".join(lines)


class _Comparison:
    """One comparison of two arrays; remembers how to word its failures."""

    def __init__(self, x, y, err_msg, verbose, header, precision, names):
        self.x, self.y = np.asanyarray(x), np.asanyarray(y)
        self.err_msg, self.names = err_msg, names
        self.style = {"verbose": verbose, "header": header, "names": names, "precision": precision}

    def fail(self, reason, x=None, y=None):
        shown = [self.x if x is None else x, self.y if y is None else y]
        raise AssertionError(_message(shown, f"{self.err_msg}\n{reason}", **self.style))

    def check_shapes(self, strict):
        x, y = self.x, self.y
        fits = x.shape == y.shape
        if strict:
            fits = fits and x.dtype == y.dtype
        else:
            fits = fits or x.shape == () or y.shape == ()
        if fits:
            return
        if x.shape != y.shape:
            self.fail(f"(shapes {x.shape}, {y.shape} mismatch)")
        self.fail(f"(dtypes {x.dtype}, {y.dtype} mismatch)")

    def check_places(self, x_marks, y_marks, name):
        """Fails unless a property holds at the same places; returns the mask, a scalar if one operand is."""
        if not np.asanyarray(x_marks == y_marks).all():
            self.fail(f"{name} location mismatch:")
        return np.asanyarray(x_marks if np.asanyarray(x_marks).ndim == 0 else y_marks)

    def check_infinities(self, mask):
        """Fails unless infinities have the same sign."""
        if not mask.any():
            return
        x, y = self.x, self.y
        if x.ndim > 0 and y.ndim > 0:
            x, y = x[mask], y[mask]
        if not np.asanyarray(x == y).all():
            self.fail("inf values mismatch:", x, y)

    def run(self, compare, equal_nan, equal_inf, strict):
        """Compares the elements that are not NaN or infinite in both arrays."""
        self.check_shapes(strict)
        x, y = self.x, self.y
        settled = np.asarray(False)
        if x.dtype.kind in "biufc" and y.dtype.kind in "biufc":
            if equal_nan:
                settled = self.check_places(np.isnan(x), np.isnan(y), "nan")
            if equal_inf:
                infinite = [np.logical_and(np.isinf(one), np.invert(settled)) for one in (x, y)]
                mask = self.check_places(infinite[0], infinite[1], "inf")
                self.check_infinities(mask)
                settled = np.asanyarray(settled | mask)
        if settled.ndim > 0:
            x, y = x[~settled], y[~settled]
            if x.size == 0:
                return
        elif settled:
            return
        good = compare(x, y)
        if not np.asanyarray(good).all():
            self.fail("\n".join(self.remarks(x, y, np.asanyarray(good), settled)))

    def remarks(self, x, y, good, settled):
        """Describes the mismatches: their count, the first five places and the largest differences."""
        bad = np.logical_not(good)
        count = good.size - good.sum(dtype=np.intp)
        total = settled.size if settled.ndim else good.size
        lines = [f"Mismatched elements: {count} / {total} ({100 * count / total:.3g}%)"]
        if good.ndim:
            lines.append(self.places(bad, settled))
        if x.dtype.kind == "b" and y.dtype.kind == "b":
            return lines
        with np.errstate(all="ignore"):
            error = abs(x - y)
            if x.dtype.kind == "u":
                # NumPy writes the minimum into the error, which fails for a scalar and drops both remarks.
                if not isinstance(error, np.ndarray):
                    return lines
                error = np.minimum(error, abs(y - x))
            error = np.asanyarray(error)
            lines.append(f"Max absolute difference among violations: {np.array2string(error[bad].max())}")
            relative = np.logical_and(bad, y != 0)
            largest = np.array(np.inf)
            if np.asanyarray(relative).any():
                largest = (error[relative] / abs(np.broadcast_to(y, error.shape)[relative])).max()
            lines.append(f"Max relative difference among violations: {np.array2string(largest)}")
        return lines

    def places(self, bad, settled):
        """Lists the indices of up to five mismatches with both values."""
        if settled.ndim:
            everywhere = np.zeros(settled.shape, bool)
            everywhere[~settled] = bad
            bad = everywhere
        indices = [tuple(index) for index in np.array(bad.nonzero()).T.tolist()]
        lines = []
        for index in indices[:5]:
            values = [one if one.ndim == 0 else one[index] for one in (self.x, self.y)]
            lines.append(f" {list(index)}: {values[0]} ({self.names[0]}), {values[1]} ({self.names[1]})")
        title = "First 5 mismatches are at indices:"
        if len(indices) <= 5:
            title = "Mismatch at index:" if len(indices) == 1 else "Mismatch at indices:"
        return title + "\n" + "\n".join(lines)


def _compare(
    compare, x, y, err_msg, verbose, header, precision=6, equal_nan=True, equal_inf=True, strict=False,
    names=("ACTUAL", "DESIRED"),
):
    comparison = _Comparison(x, y, err_msg, verbose, header, precision, names)
    comparison.run(compare, equal_nan, equal_inf, strict)


def assert_array_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    """Fails unless two arrays have the same shape and elements; NaNs are equal."""
    _compare(lambda x, y: x == y, actual, desired, err_msg, verbose, "Arrays are not equal", strict=strict)


def assert_array_almost_equal(actual, desired, decimal=6, err_msg="", verbose=True):
    """Fails unless all differences are below 1.5 * 10**-decimal."""

    def compare(x, y):
        y = np.asanyarray(y, np.result_type(y, 1.0))
        return abs(x - y) < 1.5 * 10.0 ** (-decimal)

    header = "Arrays are not almost equal to %d decimals" % decimal
    _compare(compare, actual, desired, err_msg, verbose, header, precision=decimal)


def assert_array_less(x, y, err_msg="", verbose=True, *, strict=False):
    """Fails unless each element of `x` is less than that of `y`."""
    _compare(
        lambda x, y: x < y, x, y, err_msg, verbose, "Arrays are not strictly ordered `x < y`", equal_inf=False,
        strict=strict, names=("x", "y"),
    )


def assert_allclose(
    actual, desired, rtol=1e-7, atol=0, equal_nan=True, err_msg="", verbose=True, *, strict=False,
):
    """Fails unless isclose() holds for all elements."""

    def compare(x, y):
        return np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)

    header = f"Not equal to tolerance rtol={rtol:g}, atol={atol:g}"
    _compare(compare, actual, desired, str(err_msg), verbose, header, equal_nan=equal_nan, strict=strict)


def _parts(value):
    """Returns the real and imaginary part; the latter is 0 for real values."""
    return (np.real(value), np.imag(value)) if np.iscomplexobj(value) else (value, 0)


def _complex_pair(actual, desired):
    """Returns whether complex parts must be compared one by one."""
    try:
        return np.iscomplexobj(actual) or np.iscomplexobj(desired)
    except (TypeError, ValueError):
        return False


def _same_parts(check, actual, desired, message):
    """Applies an assertion to both parts; its failure is worded for the whole."""
    try:
        for one, other in zip(_parts(actual), _parts(desired)):
            check(one, other)
    except AssertionError:
        raise AssertionError(message()) from None


def _is_number(value):
    return isinstance(value, (bool, int, float, complex, np.generic)) and not isinstance(value, str)


def assert_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    """Fails unless two objects are equal; compares dicts, lists and tuples item by item."""
    if isinstance(desired, dict):
        if not isinstance(actual, dict):
            raise AssertionError(repr(type(actual)))
        assert_equal(len(actual), len(desired), err_msg, verbose)
        for key in desired:
            if key not in actual:
                raise AssertionError(repr(key))
            assert_equal(actual[key], desired[key], f"key={key!r}\n{err_msg}", verbose)
        return
    if isinstance(desired, (list, tuple)) and isinstance(actual, (list, tuple)):
        assert_equal(len(actual), len(desired), err_msg, verbose)
        for i in range(len(desired)):
            assert_equal(actual[i], desired[i], f"item={i!r}\n{err_msg}", verbose)
        return
    if isinstance(actual, np.ndarray) or isinstance(desired, np.ndarray):
        assert_array_equal(actual, desired, err_msg, verbose, strict=strict)
        return

    def message():
        return _message([actual, desired], err_msg, verbose=verbose)

    if _complex_pair(actual, desired):
        _same_parts(assert_equal, actual, desired, message)
    if np.isscalar(desired) != np.isscalar(actual):
        raise AssertionError(message())
    if _is_number(actual) and _is_number(desired):
        if np.isnan(desired) and np.isnan(actual):
            return
        if desired == 0 and actual == 0 and not _complex_pair(actual, desired):
            # 0.0 and -0.0 differ.
            if np.signbit(desired) != np.signbit(actual):
                raise AssertionError(message())
    if not (desired == actual):
        raise AssertionError(message())


def assert_almost_equal(actual, desired, decimal=7, err_msg="", verbose=True):
    """Fails unless two numbers differ by less than 1.5 * 10**-decimal; arrays element by element."""

    def message():
        header = "Arrays are not almost equal to %d decimals" % decimal
        return _message([actual, desired], err_msg, verbose=verbose, header=header)

    if _complex_pair(actual, desired):
        _same_parts(lambda one, other: assert_almost_equal(one, other, decimal=decimal), actual, desired, message)
    if isinstance(actual, (np.ndarray, tuple, list)) or isinstance(desired, (np.ndarray, tuple, list)):
        assert_array_almost_equal(actual, desired, decimal, err_msg)
        return
    if not (np.isfinite(desired) and np.isfinite(actual)):
        if np.isnan(desired) or np.isnan(actual):
            if not (np.isnan(desired) and np.isnan(actual)):
                raise AssertionError(message())
        elif not desired == actual:
            raise AssertionError(message())
        return
    if abs(desired - actual) >= np.float64(1.5 * 10.0 ** (-decimal)):
        raise AssertionError(message())


def assert_approx_equal(actual, desired, significant=7, err_msg="", verbose=True):
    """Fails unless two numbers agree to `significant` digits."""
    actual, desired = float(actual), float(desired)
    if desired == actual:
        return

    def fail():
        header = "Items are not equal to %d significant digits:" % significant
        raise AssertionError(_message([actual, desired], err_msg, header=header, verbose=verbose))

    if not (np.isfinite(desired) and np.isfinite(actual)):
        if np.isnan(desired) or np.isnan(actual):
            if not (np.isnan(desired) and np.isnan(actual)):
                fail()
        else:
            fail()
        return
    with np.errstate(invalid="ignore"):
        scale = 0.5 * (np.absolute(desired) + np.absolute(actual))
        scale = np.power(10, np.floor(np.log10(scale)))
    if np.absolute(desired / scale - actual / scale) >= np.power(10.0, -(significant - 1)):
        fail()


def assert_(val, msg=""):
    """Fails with `msg`, or with its result if it is callable, unless `val` is true."""
    if not val:
        raise AssertionError(msg() if callable(msg) else msg)


def assert_string_equal(actual, desired):
    """Fails unless two strings are equal."""
    for value in (actual, desired):
        if not isinstance(value, str):
            raise AssertionError(repr(type(value)))
    if actual != desired:
        raise AssertionError(f"Differences in strings:\n- {actual}\n+ {desired}")


class _Raises:
    """The context of `with assert_raises(...)`; afterwards `exception` holds what was raised."""

    def __init__(self, expected, msg):
        self.expected, self.msg, self.exception = expected, msg, None

    def name(self):
        if isinstance(self.expected, tuple):
            # unittest prints a tuple of classes as it is.
            return str(self.expected)
        return self.expected.__name__

    def fail(self, called=None):
        text = f"{self.name()} not raised" + (f" by {called}" if called else "")
        raise AssertionError(text if self.msg is None else f"{text} : {self.msg}")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if kind is None:
            self.fail()
        if not issubclass(kind, self.expected):
            return False
        self.exception = value
        return True


def assert_raises(exception_class, *args, **kwargs):
    """Fails unless a call, or the body of a `with`, raises an exception of a class."""
    if not args:
        return _Raises(exception_class, kwargs.get("msg"))
    context = _Raises(exception_class, None)
    function = args[0]
    try:
        function(*args[1:], **kwargs)
    except exception_class:
        return None
    context.fail(getattr(function, "__name__", str(function)))

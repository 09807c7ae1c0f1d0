"""Functions of `numpy` that stand closest to the core: those that a method or another module provides."""
import numpy as np


def dot(a, b, out=None):
    """Returns the product of two arrays: inner for vectors, of matrices for matrices."""
    return np.asanyarray(a).dot(b, out)


def lexsort(keys, axis=-1):
    """Returns the positions that sort by several keys, of which the last one counts first."""
    keys = [np.asarray(key) for key in keys]
    if not keys:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if any(key.shape != keys[0].shape for key in keys):
        raise ValueError("all keys need to be the same shape")
    if keys[0].ndim == 0:
        return np.intp(0)
    axis = np._axis_index(axis, keys[0].ndim)
    order = keys[0].argsort(axis, kind="stable")
    for key in keys[1:]:
        sorted_key = np.take_along_axis(key, order, axis)
        order = np.take_along_axis(order, sorted_key.argsort(axis, kind="stable"), axis)
    return order


def putmask(a, mask, values):
    """Sets the elements of `a` for which `mask` is true; values are repeated as needed."""
    if not a.flags.writeable:
        raise ValueError("putmask: output array is read-only")
    mask = np.asarray(mask, dtype=bool)
    if mask.shape != a.shape:
        raise ValueError("putmask: mask and data must be the same size")
    values = np.asarray(values)
    if values.size == 0:
        return None
    whole = np.resize(values, a.shape)
    np.copyto(a, whole, casting="unsafe", where=mask)


def from_dlpack(x, /, *, device=None, copy=None):
    """Returns a read-only array on the memory of a tensor or array."""
    result = np.asarray(x).view()
    result.setflags(write=False)
    return result


def isfortran(a):
    """Returns whether `a` is column-major and not row-major."""
    return a.flags.fnc


def asarray_chkfinite(a, dtype=None, order=None):
    """Converts to an array without infinities and NaN."""
    a = np.asarray(a, dtype=dtype, order=order)
    if a.dtype.kind in "fc" and not np.isfinite(a).all():
        raise ValueError("array must not contain infs or NaNs")
    return a


def require(a, dtype=None, requirements=None):
    """Returns an array with the flags that `requirements` names."""
    wanted = {"C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F_CONTIGUOUS": "F", "FORTRAN": "F"}
    names = [wanted.get(name.upper(), name.upper()) for name in requirements or ()]
    order = "F" if "F" in names else "C" if "C" in names else "A"
    result = np.array(a, dtype=dtype, order=order, copy=None)
    if ("W" in names or "WRITEABLE" in names) and not result.flags.writeable or ("O" in names or "OWNDATA" in names) and not result.flags.owndata:
        result = result.copy(order)
    return result


def fromfile(file, dtype=float, count=-1, sep="", offset=0, *, like=None):
    """Reads an array from the bytes of a file."""
    if sep != "":
        raise NotImplementedError("fromfile() with a separator (text files) is not supported here")
    if isinstance(file, str):
        with open(file, "rb") as stream:
            data = stream.read()
    else:
        data = file.read()
    size = np.dtype(dtype).itemsize
    data = data[offset:]
    if count >= 0:
        data = data[: count * size]
    return np.frombuffer(data[: len(data) // size * size], dtype=dtype).copy()


class iinfo:
    """The limits of an integer dtype."""

    def __init__(self, int_type):
        if isinstance(int_type, (int, np.integer, np.ndarray)) and not isinstance(int_type, bool):
            int_type = np.asarray(int_type).dtype
        self.dtype = np.dtype(int_type)
        self.kind = self.dtype.kind
        if self.kind not in "iu":
            raise ValueError(f"Invalid integer data type {self.kind!r}.")
        self.bits = self.dtype.itemsize * 8
        self.key = f"{self.kind}{self.bits}"
        self.min = -(1 << (self.bits - 1)) if self.kind == "i" else 0
        self.max = (1 << (self.bits - (self.kind == "i"))) - 1

    def __repr__(self):
        return f"iinfo(min={self.min!s}, max={self.max!s}, dtype={self.dtype})"

    def __str__(self):
        line = "---------------------------------------------------------------"
        return f"Machine parameters for {self.dtype}\n{line}\nmin = {self.min!s}\nmax = {self.max!s}\n{line}\n"


class finfo:
    """The limits of a floating-point dtype."""

    def __init__(self, dtype):
        if isinstance(dtype, (float, complex, np.ndarray)) or isinstance(dtype, np.inexact):
            dtype = np.asarray(dtype).dtype
        try:
            self.dtype = np.dtype(dtype)
        except TypeError:
            self.dtype = np.dtype(type(dtype))
        if self.dtype.kind == "c":
            self.dtype = np.dtype(f"f{self.dtype.itemsize // 2}")
        if self.dtype.kind != "f":
            raise ValueError(f"data type {self.dtype.type!r} not inexact")
        self.bits = self.dtype.itemsize * 8
        kind = self.dtype.type
        self.nmant, self.nexp = {16: (10, 5), 32: (23, 8), 64: (52, 11)}[self.bits]
        self.maxexp = 1 << (self.nexp - 1)
        self.minexp = 2 - self.maxexp
        self.iexp = self.nexp
        self.machep = -self.nmant
        self.negep = -self.nmant - 1
        self.eps = kind(2.0**-self.nmant)
        self.epsneg = kind(2.0 ** (-self.nmant - 1))
        self.max = kind((2 - 2.0**-self.nmant) * 2.0 ** (self.maxexp - 1))
        self.min = -self.max
        self.tiny = kind(2.0**self.minexp)
        self.smallest_normal = self.tiny
        self.smallest_subnormal = kind(2.0 ** (self.minexp - self.nmant))
        self.precision = {16: 3, 32: 6, 64: 15}[self.bits]
        self.resolution = kind(10.0**-self.precision)

    def __repr__(self):
        return f"finfo(resolution={self.resolution!s}, min={self.min!s}, max={self.max!s}, dtype={self.dtype})"

    def __str__(self):
        line = "---------------------------------------------------------------"
        return (
            f"Machine parameters for {self.dtype}\n{line}\nprecision = {self.precision:3}   resolution = {self.resolution!s}\n"
            f"machep = {self.machep:6}   eps =        {self.eps!s}\nnegep =  {self.negep:6}   epsneg =     {self.epsneg!s}\n"
            f"minexp = {self.minexp:6}   tiny =       {self.tiny!s}\nmaxexp = {self.maxexp:6}   max =        {self.max!s}\n"
            f"nexp =   {self.nexp:6}   min =        -max\nsmallest_normal = {self.smallest_normal!s}   smallest_subnormal = "
            f"{self.smallest_subnormal!s}\n{line}\n"
        )


def astype(x, dtype, /, *, copy=True, device=None):
    """Converts an array to another dtype."""
    if not isinstance(x, (np.ndarray, np.generic)):
        raise TypeError(f"Input should be a NumPy array or scalar. It is a {type(x)} instead.")
    if device is not None and device != "cpu":
        raise ValueError(f"Device not understood. Only \"cpu\" is allowed, but received: {device}")
    return x.astype(dtype, copy=copy)


_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def isdtype(dtype, kind):
    """Returns whether a dtype is of a kind: a dtype, one of the kinds of the array API, or a tuple of them."""
    dtype = np.dtype(dtype)
    for one in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(one, str):
            if one not in _KINDS:
                raise ValueError(f"kind argument is a string, but {one!r} is not a known kind name.")
            if dtype.kind in _KINDS[one]:
                return True
        elif dtype == np.dtype(one):
            return True
    return False


def binary_repr(num, width=None):
    """Returns the digits of an integer to base 2; a negative one as its two's complement if there is a width."""
    num = num.__index__()
    if num >= 0:
        text = format(num, "b")
        if width is not None and width < len(text):
            raise ValueError(f"Insufficient bit width={width} provided for binwidth={len(text)}")
        return text if width is None else text.rjust(width, "0")
    if width is None:
        return "-" + format(-num, "b")
    least = len(format(-num, "b"))
    if 1 << (least - 1) == -num:
        least -= 1
    if width < least + 1:
        raise ValueError(f"Insufficient bit width={width} provided for binwidth={least + 1}")
    return format((1 << width) + num, "b")


def base_repr(number, base=2, padding=0):
    """Returns the digits of an integer to a base up to 36."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if base > len(digits):
        raise ValueError("Bases greater than 36 not handled in base_repr.")
    if base < 2:
        raise ValueError("Bases less than 2 not handled in base_repr.")
    rest, text = abs(int(number)), ""
    while rest:
        text = digits[rest % base] + text
        rest //= base
    text = "0" * padding + (text or "0" if not padding else text)
    return "-" + text if number < 0 else text


def fromstring(string, dtype=float, count=-1, *, sep="", like=None):
    """Reads numbers from text, which `sep` stands between."""
    if not sep:
        raise ValueError("The binary mode of fromstring is removed, use frombuffer instead")
    parts = string.split() if sep.isspace() else string.split(sep.strip())
    numbers = [np.dtype(dtype).type(part.strip()) for part in parts if part.strip()]
    return np.array(numbers[:count] if count >= 0 else numbers, dtype=dtype)


def common_type(*arrays):
    """Returns the class of floats that all arrays fit into."""
    classes = [np.float64 if array.dtype.kind in "iu" else array.dtype.type for array in arrays]
    if any([array.dtype.kind == "b" for array in arrays]):
        raise TypeError("can't get common type for non-numeric array")
    return np.result_type(np.float16, *classes).type

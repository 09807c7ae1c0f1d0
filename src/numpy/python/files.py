"""NumPy's files: `np.load`, `np.save`, `np.savez` and `np.memmap`. Rows without a public name read and write the bytes."""
import numpy as np

_MAGIC = b"\x93NUMPY"
_MAX_HEADER_SIZE = 10000
_MODES = {"readonly": "r", "copyonwrite": "c", "readwrite": "r+", "write": "w+"}


def _path(file):
    """Returns a file name; fails with TypeError for anything else."""
    if isinstance(file, bytes):
        return file.decode()
    if isinstance(file, str):
        return file
    if hasattr(type(file), "__fspath__"):
        return file.__fspath__()
    raise TypeError(f"expected str, bytes or os.PathLike object, not {type(file).__name__}")


def _is_stream(file, method):
    """Returns whether a value is an open file."""
    return hasattr(file, method) or hasattr(file, "closed") and not isinstance(file, (str, bytes))


class _Bytes:
    """The bytes of a storage, read like a file."""

    def __init__(self, storage):
        self.storage = storage
        self.position = 0

    def read(self, count):
        count = max(0, min(count, self.storage.nbytes() - self.position))
        start = self.position
        self.position += count
        return np._on_storage(self.storage, np.uint8, (count,), "C", start).tobytes()

    def _elements(self, dtype, count):
        """Returns the next elements as an array of one dimension, fewer if the file ends before."""
        here = min(count, (self.storage.nbytes() - self.position) // dtype.itemsize)
        return np._on_storage(self.storage, dtype, (here,), "C", self.position).copy()


def _read_bytes(file, count, what):
    data = b""
    while len(data) < count:
        more = file.read(count - len(data))
        data += more
        if len(more) == 0:
            break
    if len(data) != count:
        raise ValueError(f"EOF: reading {what}, expected {count} bytes got {len(data)}")
    return data


def _dtype_of(descr):
    """Returns the dtype that a header names; fails with NotImplementedError for one that is not supported here."""
    if isinstance(descr, list):
        raise NotImplementedError("arrays of records are not supported here; load(path) reads their fields")
    try:
        if not isinstance(descr, str):
            raise TypeError
        if descr[1:2] == "O":
            return None
        return np.dtype(descr)
    except TypeError:
        raise ValueError(f"descr is not a valid dtype descriptor: {descr!r}") from None


def _read_header(file, max_header_size):
    """Reads magic string and header. Returns shape, order and dtype, which is None for objects."""
    magic = _read_bytes(file, 8, "magic string")
    if magic[:6] != _MAGIC:
        raise ValueError(f"the magic string is not correct; expected {_MAGIC!r}, got {magic[:6]!r}")
    version = (magic[6], magic[7])
    if version not in [(1, 0), (2, 0), (3, 0)]:
        raise ValueError(f"we only support format version (1,0), (2,0), and (3,0), not {version}")
    length = int.from_bytes(_read_bytes(file, 2 if version == (1, 0) else 4, "array header length"), "little")
    header = _read_bytes(file, length, "array header").decode("utf-8" if version == (3, 0) else "latin1")
    if len(header) > max_header_size:
        raise ValueError(
            f"Header info length ({len(header)}) is large and may not be safe to load securely.\n"
            "To allow loading, adjust `max_header_size` or fully trust the `.npy` file using `allow_pickle=True`.\n"
            "For safety against large resource use or crashes, sandboxing may be necessary."
        )
    found = np._npy_literal(header)
    if found is None:
        raise ValueError(f"Cannot parse header: {header!r}")
    (d,) = found
    if not isinstance(d, dict):
        raise ValueError(f"Header is not a dictionary: {d!r}")
    if set(d) != {"descr", "fortran_order", "shape"}:
        raise ValueError(f"Header does not contain the correct keys: {sorted(d)!r}")
    shape = d["shape"]
    if not isinstance(shape, tuple) or not all([isinstance(size, int) for size in shape]):
        raise ValueError(f"shape is not valid: {shape!r}")
    if not isinstance(d["fortran_order"], bool):
        raise ValueError(f"fortran_order is not a valid bool: {d['fortran_order']!r}")
    return shape, d["fortran_order"], _dtype_of(d["descr"])


def _count_of(shape):
    if any([size < 0 for size in shape]):
        raise ValueError("negative dimensions are not allowed")
    count = 1
    for size in shape:
        count *= size
    return count


def _read_array(file, allow_pickle, max_header_size):
    shape, fortran_order, dtype = _read_header(file, 2**64 if allow_pickle else max_header_size)
    if dtype is None:
        if allow_pickle:
            raise NotImplementedError("arrays of objects are not supported here: nothing in a file is executed")
        raise ValueError("Object arrays cannot be loaded when allow_pickle=False")
    count = _count_of(shape)
    if hasattr(file, "_elements"):
        array = file._elements(dtype, count)
    else:
        array = np.frombuffer(_read_bytes(file, count * dtype.itemsize, "array data"), dtype).copy()
    if array.size != count:
        raise ValueError(
            f"Failed to read all data for array. Expected {shape} = {count} elements, "
            f"could only read {array.size} elements. (file seems not fully written?)"
        )
    return array.reshape(shape[::-1]).transpose() if fortran_order else array.reshape(shape)


def load(file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII", *, max_header_size=_MAX_HEADER_SIZE):
    """Reads an array from an .npy file, or an archive of arrays (.npz); with mmap_mode an array lies on the file."""
    if encoding not in ("ASCII", "latin1", "bytes"):
        raise ValueError("encoding must be 'ASCII', 'latin1', or 'bytes'")
    own = not _is_stream(file, "read")
    if own:
        path = _path(file)
        stream = _Bytes(np._file_storage(path))
        magic = stream.read(6)
        stream.position = 0
    else:
        stream = file
        magic = stream.read(6)
    if not magic:
        raise EOFError("No data left in file")
    if not own:
        stream.seek(-len(magic), 1)
    if magic.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return np.lib.npyio.NpzFile(path if own else file, own, allow_pickle, max_header_size=max_header_size)
    if magic == _MAGIC:
        if mmap_mode:
            if not own:
                raise ValueError(
                    "Filename must be a string or a path-like object.  Memmap cannot use existing file handles."
                )
            return _mapped(path, stream, mmap_mode, 2**64 if allow_pickle else max_header_size)
        return _read_array(stream, allow_pickle, max_header_size)
    if not allow_pickle:
        raise ValueError(
            "This file contains pickled (object) data. If you trust the file you can load it unsafely using the "
            "`allow_pickle=` keyword argument or `pickle.load()`."
        )
    raise NotImplementedError("pickled data is not supported here: nothing in a file is executed")


def _mapped(path, stream, mode, max_header_size):
    """Returns the array of an .npy file as a memmap."""
    if not isinstance(mode, str):
        raise TypeError(f"argument of type '{type(mode).__name__}' is not iterable")
    if "w" in mode:
        # NumPy fails like this after it has emptied the file.
        if mode in ("w", "w+"):
            raise TypeError("object of type 'NoneType' has no len()")
        raise ValueError(f"invalid mode: '{mode}b'")
    shape, fortran_order, dtype = _read_header(stream, max_header_size)
    if dtype is None:
        raise ValueError("Array can't be memory-mapped: Python objects in dtype.")
    return _memmap(path, dtype, mode, stream.position, shape, "F" if fortran_order else "C")


def _memmap(filename, dtype, mode, offset, shape, order):
    if mode not in ("r", "c", "r+", "w+"):
        if mode not in _MODES:
            modes = ["r", "c", "r+", "w+", *_MODES]
            raise ValueError(f"mode must be one of {modes!r} (got {mode!r})")
        mode = _MODES[mode]
    if mode == "w+" and shape is None:
        raise ValueError("shape must be given if mode == 'w+'")
    path = _path(filename)
    dtype = np.dtype(dtype)
    there = 0 if mode == "w+" else np._file_storage(path).nbytes()
    if shape is None:
        if (there - offset) % dtype.itemsize:
            raise ValueError("Size of available data is not a multiple of the data-type size.")
        shape = ((there - offset) // dtype.itemsize,)
    elif not isinstance(shape, (tuple, list)):
        shape = (shape,)
    shape = tuple(shape)
    nbytes = offset + _count_of(shape) * dtype.itemsize
    if mode == "w+":
        open(path, "wb").close()
    shared = mode in ("r+", "w+")
    storage = np._file_storage(path, True, max(nbytes, 1)) if shared else np._file_storage(path)
    return np._on_storage(storage, dtype, shape, order, offset, mode, np._absolute(path))


def _new_memmap(filename, dtype=np.uint8, mode="r+", offset=0, shape=None, order="C"):
    """Creates an array on a file: what calling `np.memmap` does."""
    return _memmap(filename, dtype, mode, offset, shape, order)


def _header(array):
    """Returns magic string and header of an array, as NumPy writes them."""
    fortran_order = array.flags.f_contiguous and not array.flags.c_contiguous
    shape = array.shape
    text = f"{{'descr': {array.dtype.str!r}, 'fortran_order': {fortran_order}, 'shape': {shape}, }}"
    if shape:
        # Space for the array to grow in place.
        text += " " * (21 - len(repr(shape[-1 if fortran_order else 0])))
    length = len(text) + 1
    length += 64 - (10 + length) % 64
    if length >= 2**16:
        raise ValueError(f"Header length {len(text) + 1} too big for version=(1, 0)")
    return _MAGIC + b"\x01\x00" + length.to_bytes(2, "little") + text.ljust(length - 1).encode("latin1") + b"\n"


def _data(array):
    """Returns an array whose elements lie in the order of a file."""
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        array = array.T
    return np.ascontiguousarray(array)


def save(file, arr, allow_pickle=True):
    """Writes an array to an .npy file; a name without that ending gets it."""
    is_stream = _is_stream(file, "write")
    if not is_stream:
        file = _path(file)
        if not file.endswith(".npy"):
            file += ".npy"
    arr = np.asanyarray(arr)
    if is_stream:
        file.write(_header(arr))
        file.write(_data(arr).tobytes())
    else:
        np._npy_save(file, _header(arr), _data(arr))


def savez(file, *args, allow_pickle=True, **kwds):
    """Writes arrays to an archive (.npz): keywords by their names, the others as arr_0, arr_1 and so on."""
    _savez(file, args, kwds, False)


def savez_compressed(file, *args, allow_pickle=True, **kwds):
    """Writes arrays to an archive (.npz) like np.savez, compressed."""
    _savez(file, args, kwds, True)


def _savez(file, args, kwds, compressed):
    is_stream = _is_stream(file, "write")
    if not is_stream:
        file = _path(file)
        if not file.endswith(".npz"):
            file += ".npz"
    named = dict(kwds)
    for i, value in enumerate(args):
        key = f"arr_{i}"
        if key in named:
            raise ValueError(f"Cannot use un-named variables and keyword {key}")
        named[key] = value
    arrays = [(key, np.asanyarray(value)) for key, value in named.items()]
    entries = [(key, _header(array), _data(array)) for key, array in arrays]
    if is_stream:
        file.write(np._npz_bytes(entries, compressed))
    else:
        np._npz_save(file, entries, compressed)

"""The package `safetensors`: files opened tensor by tensor, and files of arrays."""
import numpy as np
import safetensors
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save, save_file

__module__ = "builtins"

_TORCH = ("pt", "torch", "pytorch")
_NUMPY = ("np", "numpy")
_OTHERS = ("tf", "tensorflow", "jax", "flax", "mlx", "paddle", "paddlepaddle")
_NO_DTYPES = {
    "torch.bfloat16": "BF16",
    "torch.float8_e4m3fn": "F8_E4M3",
    "torch.float8_e4m3fnuz": "F8_E4M3FNUZ",
    "torch.float8_e5m2": "F8_E5M2",
    "torch.float8_e5m2fnuz": "F8_E5M2FNUZ",
    "torch.float8_e8m0fnu": "F8_E8M0",
}
_ARRAY_DTYPES = (
    "bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, float32, float64, bfloat16, "
    "float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu, float4_e2m1fn_x2, complex64"
)


def _text(value, argument):
    if not isinstance(value, str):
        raise TypeError(f"argument '{argument}': '{type(value).__name__}' object is not an instance of 'str'")
    return value


def _filename(value):
    if isinstance(value, bytes):
        raise TypeError("argument 'filename': 'bytes' object is not an instance of 'str'")
    if not isinstance(value, str):
        name = type(value).__name__
        raise TypeError(f"argument 'filename': expected str, bytes or os.PathLike object, not {name}")
    return value


def _device(device):
    """Returns the name of a device; fails with SafetensorError for one that the library does not know."""
    if device is None:
        return "cpu"
    if type(device) is int:
        return f"cuda:{device}"
    if isinstance(device, str):
        kind, colon, number = device.partition(":")
        known = ("cuda", "mps", "npu", "xpu", "xla", "mlu", "musa", "hpu")
        if device == "cpu" or kind in known and (not colon or number.isdigit()):
            return "cuda:0" if device == "cuda" else device
    raise SafetensorError(f"device {device if isinstance(device, str) else repr(device)} is invalid")


class safe_open:
    """Opens a safetensors file and returns its tensors as they are asked for."""

    def __init__(self, filename, framework, device=None, backend="mmap"):
        _filename(filename)
        _text(framework, "framework")
        if framework not in _TORCH + _NUMPY + _OTHERS:
            raise SafetensorError(f"framework {framework} is invalid")
        if framework in _OTHERS:
            raise NotImplementedError(f"framework={framework!r} is not supported here: 'pt' and 'np' are")
        device = _device(device)
        if backend not in ("mmap", "pread"):
            raise SafetensorError(f'backend "{backend}" is invalid (expected one of: "mmap", "pread")')
        if framework in _NUMPY and device != "cpu":
            raise SafetensorError(f"Device {device} is not supported for framework numpy")
        self._device = device
        self._arrays = framework in _NUMPY
        self._file = safetensors._open(filename)

    def __enter__(self):
        return self

    def __exit__(self, _exc_type, _exc_value, _traceback):
        self._file = None

    def _opened(self):
        if self._file is None:
            raise SafetensorError("File is closed")
        return self._file

    def keys(self):
        """Returns the names of the tensors, in alphabetical order."""
        return sorted(self.offset_keys())

    def offset_keys(self):
        """Returns the names of the tensors, in the order of their bytes."""
        return [name for name, _, _ in safetensors._entries(self._opened())]

    def metadata(self):
        """Returns the texts in the header."""
        return safetensors._metadata(self._opened())

    def get_tensor(self, name):
        """Returns a tensor, which lies on the file."""
        tensor = safetensors._tensor(self._opened(), _text(name, "name"))
        return _array(tensor) if self._arrays else _placed(tensor, self._device)

    def get_tensors(self):
        """Returns all tensors by name, in the order of their bytes."""
        return {name: self.get_tensor(name) for name in self.offset_keys()}

    def get_slice(self, name):
        """Returns an object that is indexed for a part of a tensor."""
        file = self._opened()
        tensor = safetensors._tensor(file, _text(name, "name"))
        for known, dtype, shape in safetensors._entries(file):
            if known == name:
                return PySafeSlice(tensor, dtype, shape, self._arrays, self._device)


class PySafeSlice:
    """A tensor of a file that is indexed before it is read."""

    def __init__(self, tensor, dtype, shape, arrays, device):
        self._tensor = tensor
        self._dtype = dtype
        self._shape = shape
        self._arrays = arrays
        self._device = device

    def get_shape(self):
        """Returns the shape as a list."""
        return list(self._shape)

    def get_dtype(self):
        """Returns the dtype as the format spells it."""
        return self._dtype

    def __getitem__(self, index):
        if self._arrays:
            if isinstance(index, list):
                if index:
                    raise SafetensorError("Non empty lists are not implemented")
                return _array(self._tensor[0:0])
            return _array(self._tensor[_checked(index, self._shape)])
        return _placed(self._tensor[index], self._device)


def _placed(tensor, device):
    return tensor if device == "cpu" else tensor.to(device)


def _array(tensor):
    """Copies a tensor to an array."""
    if tensor.dtype == torch.bfloat16:
        raise TypeError("data type 'bfloat16' not understood")
    name = str(tensor.dtype).removeprefix("torch.")
    if name.startswith("float8"):
        raise AttributeError(f"module 'numpy' has no attribute '{name}'")
    return tensor.clone().numpy()


def _whole(value):
    """Returns an index as an integer, or None."""
    if isinstance(value, (str, float, list, tuple, slice, dict)) or value is None or value is Ellipsis:
        return None
    try:
        return np._index(value)
    except TypeError:
        return None


def _bound(value):
    """Returns a bound of a slice, which the library reads as an unsigned integer."""
    if value is None:
        return None
    whole = _whole(value)
    if whole is None:
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
    if whole < 0:
        raise OverflowError("can't convert negative int to unsigned")
    if whole >= 2**64:
        raise OverflowError("int too big to convert")
    return whole


def _checked(index, shape):
    """Returns an index for an array, after the library's own checks: it slices bytes and knows less than NumPy."""
    index = index if isinstance(index, tuple) else (index,)
    if sum([part is Ellipsis for part in index]) > 1:
        raise SafetensorError("Only one ellipsis (...) is allowed in slice index")
    parts = []
    for i, part in enumerate(index):
        if part is Ellipsis:
            parts += [slice(None)] * (len(shape) - len(index) + 1)
        elif isinstance(part, slice):
            if part.step is not None and part.step <= 0:
                raise SafetensorError(f"Slice step must be a positive integer, got {part.step}")
            parts.append(slice(_bound(part.start), _bound(part.stop), part.step))
        else:
            whole = _whole(part)
            if whole is None or abs(whole) >= 2**63:
                raise SafetensorError(
                    f"Unsupported slice index at position {i}: expected slice, int, or ellipsis"
                )
            d = len(parts)
            if whole < 0 and d < len(shape):
                if whole + shape[d] < 0:
                    raise SafetensorError(f"Invalid index {whole} for dimension {d} of size {shape[d]}")
                whole += shape[d]
            parts.append(whole)
    text = "[" + ", ".join([_shown(part) for part in parts]) + "]"
    failed = f"Error during slicing {text} with shape {shape}: "
    if len(parts) > len(shape):
        raise SafetensorError(failed + "more slicing indexes than dimensions in tensor")
    for d, part in enumerate(parts):
        size = shape[d]
        start, stop = (part.start or 0, part.stop) if isinstance(part, slice) else (part, part + 1)
        stop = size if stop is None else stop
        last = start if start >= size else stop - 1
        if last >= size:
            raise SafetensorError(failed + f"index {last} out of bounds for tensor dimension #{d} of size {size}")
        if stop < start:
            raise SystemError("Negative size passed to PyByteArray_FromStringAndSize")
    return tuple(parts)


def _shown(part):
    if not isinstance(part, slice):
        return str(part)
    start = "" if part.start is None else part.start
    stop = "" if part.stop is None else part.stop
    return f"{start}:{stop}"


def load_file(filename, device, backend):
    with safe_open(filename, "pt", device, backend) as file:
        return file.get_tensors()


def load_file_arrays(filename, backend):
    with safe_open(filename, "np", None, backend) as file:
        return file.get_tensors()


def _tensors(tensor_dict):
    """Returns a dictionary of arrays as tensors of their own."""
    tensors = {}
    for name, array in tensor_dict.items():
        dtype = array.dtype
        order = dtype.byteorder
        if not isinstance(array, np.ndarray):
            raise AttributeError(f"'{np._type_name(array)}' object has no attribute 'ctypes'")
        if dtype.name not in _ARRAY_DTYPES.split(", "):
            raise SafetensorError(f'Unknown dtype "{dtype.name}". Supported dtypes: {_ARRAY_DTYPES}')
        if not isinstance(name, str):
            raise TypeError(f"argument 'tensor_dict': '{type(name).__name__}' object is not an instance of 'str'")
        native = np.array(array, dtype=dtype.newbyteorder("=") if order == ">" else dtype, order="C")
        tensors[name] = torch.from_numpy(native)
    return tensors


def save_arrays(tensor_dict, filename, metadata):
    save_file(_tensors(tensor_dict), _filename(filename), metadata)


def array_bytes(tensor_dict, metadata):
    return save(_tensors(tensor_dict), metadata)


def load_arrays(data):
    tensors = load(data)
    for tensor in tensors.values():
        if str(tensor.dtype) in _NO_DTYPES:
            raise KeyError(_NO_DTYPES[str(tensor.dtype)])
    return {name: tensor.numpy() for name, tensor in tensors.items()}

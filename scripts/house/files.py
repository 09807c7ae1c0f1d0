#!/usr/bin/env python3
"""Files of PyTorch, numpy, safetensors and gguf: makes those the tests read, and checks that they read ours.

    PYTHON scripts/house/files.py make            writes tests/files/ anew: each file, and beside it what it holds, as text
    PYTHON scripts/house/files.py check PROGRAM   lets PROGRAM (tensorsh) load and save every file, and loads that there;
                                                  lets it take blocks of random bytes apart, and does that there

PYTHON is an interpreter with PyTorch 2.7, numpy, safetensors and gguf. What a file holds is told by `describe`, which
tests/files.rs tells in the same words: dtype, size, stride, offset and storage of every tensor, and the bytes of every
storage.
"""

import argparse
import collections
import datetime
import io
import os
import pathlib
import pickle
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import gguf
import numpy
import safetensors.torch
import torch

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "files"


def describe(value):
    """The lines that tell a value."""
    lines, storages = [], {}

    def storage(of):
        return storages.setdefault(of._cdata, (len(storages), of))[0]

    def tensor(path, t):
        """A sparse tensor by its parts, a quantized one by its integers and what they stand for."""
        if t.layout == torch.sparse_coo:
            lines.append(f"{path}: sparse_coo {list(t.size())} coalesced {t.is_coalesced()}")
            return visit(f"{path}.indices", t._indices()), visit(f"{path}.values", t._values())
        if t.layout != torch.strided:
            lines.append(f"{path}: {str(t.layout).removeprefix('torch.')} {list(t.size())}")
            rows = t.layout in (torch.sparse_csr, torch.sparse_bsr)
            visit(f"{path}.compressed", t.crow_indices() if rows else t.ccol_indices())
            visit(f"{path}.plain", t.col_indices() if rows else t.row_indices())
            return visit(f"{path}.values", t.values())
        if t.is_quantized and t.qscheme() == torch.per_tensor_affine:
            visit(f"{path}.scale", t.q_scale()), visit(f"{path}.zero_point", t.q_zero_point())
        elif t.is_quantized:
            lines.append(f"{path}.axis: {t.q_per_channel_axis()}")
            visit(f"{path}.scales", t.q_per_channel_scales())
            visit(f"{path}.zero_points", t.q_per_channel_zero_points())
        kind = "parameter" if isinstance(t, torch.nn.Parameter) else "tensor"
        where = "meta" if t.is_meta else f"storage {storage(t.untyped_storage())}"
        marks = [("requires_grad", t.requires_grad), ("conj", t.is_conj()), ("neg", t.is_neg())]
        marks = "".join(f" {mark}" for mark, on in marks if on)
        name = str(t.dtype).removeprefix("torch.")
        lines.append(f"{path}: {kind} {name} {list(t.size())} {list(t.stride())} {t.storage_offset()} {where}{marks}")

    def visit(path, v):
        if isinstance(v, torch.Tensor):
            tensor(path, v)
        elif isinstance(v, torch.storage.TypedStorage):
            name = str(v.dtype).removeprefix("torch.")
            lines.append(f"{path}: storage of {name} storage {storage(v._untyped_storage)}")
        elif isinstance(v, numpy.ndarray) and v.dtype.names:
            records(path, v, v.dtype, 0, v.shape, v.strides, v.tobytes(order="A"))
        elif isinstance(v, gguf.ReaderTensor):
            lines.append(f"{path}: blocks of {v.tensor_type.name} {v.shape.tolist()[::-1]} {v.n_elements} {v.n_bytes}")
            visit(f"{path}.data", v.data)
            with numpy.errstate(all="ignore"):
                visit(f"{path}.dequantized", gguf.quants.dequantize(v.data, v.tensor_type))
        elif isinstance(v, (numpy.ndarray, numpy.generic)):
            v = numpy.asarray(v)
            v = v.astype(v.dtype.newbyteorder("="))
            name = {"complex64": "complex64", "complex128": "complex128"}.get(v.dtype.name, v.dtype.name)
            # Of an empty array numpy tells no strides.
            strides = [step // v.itemsize for step in v.strides] if v.size else list(torch.empty(v.shape).stride())
            lines.append(f"{path}: tensor {name} {list(v.shape)} {strides} 0 storage {len(storages)}")
            storages[len(storages)] = (len(storages), v.tobytes(order="A"))
        elif isinstance(v, dict):
            kind = "OrderedDict" if isinstance(v, collections.OrderedDict) else "dict"
            lines.append(f"{path}: {kind} of {len(v)}")
            for key, item in v.items():
                visit(f"{path}.{key}" if isinstance(key, str) else f"{path}[{key}]", item)
        elif isinstance(v, torch.Size):
            lines.append(f"{path}: Size {list(v)}")
        elif isinstance(v, (list, tuple)):
            lines.append(f"{path}: {type(v).__name__} of {len(v)}")
            for index, item in enumerate(v):
                visit(f"{path}[{index}]", item)
        elif isinstance(v, float):
            lines.append(f"{path}: float {struct.pack('>d', v).hex()}")
        elif isinstance(v, complex):
            lines.append(f"{path}: complex {struct.pack('>dd', v.real, v.imag).hex()}")
        elif isinstance(v, (bytes, bytearray)):
            lines.append(f"{path}: {type(v).__name__} {v.hex()}")
        else:
            lines.append(f"{path}: {v}")

    def records(path, v, dtype, offset, shape, strides, data):
        """Every field of numpy's records: on their bytes if its strides are whole elements, copied otherwise."""
        if dtype.names:
            lines.append(f"{path}: dict of {len(dtype.names)}")
            for name in dtype.names:
                field, place = dtype.fields[name][:2]
                inner = numpy.empty(field.shape, field.base).strides
                below = (*shape, *field.shape), (*strides, *inner)
                records(f"{path}.{name}", v[name], field.base, offset + place, *below, data)
            return
        if not dtype.isnative or any(step % dtype.itemsize for step in strides):
            return visit(path, numpy.ascontiguousarray(v))
        skipped = offset if offset % dtype.itemsize else 0
        key = (id(data), skipped)
        number = storages.setdefault(key, (len(storages), data[skipped:]))[0]
        steps = [step // dtype.itemsize for step in strides]
        lines.append(f"{path}: tensor {dtype.name} {list(shape)} {steps} "
                     f"{(offset - skipped) // dtype.itemsize} storage {number}")

    visit("value", value)
    for number, of in storages.values():
        data = of if isinstance(of, bytes) else bytes(of.tolist())
        lines.append(f"storage {number}: {data.hex()}")
    return "\n".join(lines) + "\n"


def dtypes():
    floating = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn, torch.float8_e5m2]
    floating += [torch.float8_e4m3fnuz, torch.float8_e5m2fnuz]
    integral = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64]
    tensors = {str(dtype): torch.tensor([0.0, 1.5, -2.0, 0.25]).to(dtype) for dtype in floating}
    tensors |= {str(dtype): torch.tensor([0, 1, 100, 7]).to(dtype) for dtype in integral}
    tensors |= {str(dtype): torch.tensor([1 + 2j, -0.5j]).to(dtype) for dtype in [torch.complex64, torch.complex128]}
    tensors["torch.complex32"] = torch.tensor([1.0, 2.0, -0.5, 0.0], dtype=torch.float16).view(torch.complex32)
    tensors["torch.bool"] = torch.tensor([True, False, True])
    return tensors


def views():
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    complex_base = torch.tensor([1 + 2j, 3 - 4j])
    return {
        "base": base,
        "transposed": base.t(),
        "steps": base[1:, ::2],
        "row": base[2],
        "one": base[3, 5],
        "expanded": torch.tensor([1, 2]).expand(3, 2),
        "overlapping": torch.arange(5, dtype=torch.int16).as_strided((3, 3), (1, 1)),
        "conj": complex_base.conj(),
        "imaginary": torch.tensor([5j]).conj().imag,
        "empty": torch.empty(0, 3),
        "scalar": torch.tensor(2.5, dtype=torch.float64),
        "meta": torch.empty(2, 3, device="meta"),
        "again": base,
    }


def containers():
    t = torch.tensor([1, 2], dtype=torch.uint8)
    return {
        "numbers": [0, 1, -1, 255, 256, 65535, 65536, 2**31 - 1, 2**31, -(2**31) - 1, 2**63, -(2**100), 0.1, 1e300, 2j],
        "words": ["", "a", "é", "𝄞", "line\nbreak"],
        "constants": (None, True, False),
        "bytes": [b"a\xff", bytearray(b"b\x00")],
        "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
        "nested": {"a": {"b": [{"c": t}]}, 3: "three"},
        "ordered": collections.OrderedDict(x=t, y=collections.OrderedDict()),
        "torch": [torch.Size([2, 3]), torch.float16, torch.device("cpu"), torch.device("cuda", 1), torch.strided],
        "same": [t, t],
    }


def parameters():
    t = torch.arange(3.0)
    return collections.OrderedDict(
        weight=torch.nn.Parameter(t),
        frozen=torch.nn.Parameter(t * 2, requires_grad=False),
        leaf=torch.ones(2, requires_grad=True),
        bare=t,
    )


def storages():
    t, u = torch.tensor([1.0, 2.0]), torch.tensor([1, 2], dtype=torch.int8)
    return [t.storage(), t, u.untyped_storage(), torch.arange(3).storage()]


def forms():
    grid = torch.tensor([[0.0, 1.0, 0.0, 2.0], [3.0, 0.0, 0.0, 0.0]])
    scales = torch.tensor([0.5, 0.25], dtype=torch.float64)
    return {
        "per_tensor": torch.quantize_per_tensor(grid, 0.5, 3, torch.quint8),
        "view": torch.quantize_per_tensor(grid, 0.1, -3, torch.qint32).t(),
        "per_channel": torch.quantize_per_channel(grid, scales, torch.tensor([1, 2]), 0, torch.qint8),
        "coo": grid.to_sparse(),
        "uncoalesced": torch.sparse_coo_tensor([[0, 0]], [1.0, 2.0], (3,)),
        "hybrid": torch.sparse_coo_tensor([[1]], [[1, 2]], (2, 2), is_coalesced=True),
        "csr": grid.to_sparse_csr(),
        "csc": grid.to_sparse_csc(),
        "bsr": grid.to_sparse_bsr((1, 2)),
        "bsc": grid.to_sparse_bsc((1, 2)),
    }


class Code:
    def __reduce__(self):
        import os

        return os.system, ("echo executed",)


class Unknown:
    pass


def mixed():
    """What people put into one file: tensors, numbers, and objects that are not loaded."""
    weight = torch.arange(6.0).reshape(2, 3)
    return {
        "model": collections.OrderedDict(weight=weight, bias=torch.zeros(2)),
        "module": torch.nn.Linear(2, 1),
        "epoch": 3,
        "rate": 0.001,
        "name": "run\x1b[31m of today",
        "made": datetime.datetime(2024, 2, 29, 12, 30),
        "settings": argparse.Namespace(first=weight[0], seed=1),
        "counts": collections.defaultdict(list, a=[weight[1:]]),
        "kind": datetime.date,
        "dtype": torch.float16,
    }


def arrays():
    """Arrays of numpy's beside tensors, which PyTorch refuses to load with `weights_only`."""
    grid = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    return {
        "rows": grid,
        "columns": numpy.asfortranarray(grid),
        "swapped": grid.astype(">f4"),
        "view": numpy.arange(10)[1::3],
        "empty": numpy.zeros((0, 3), dtype=numpy.int16),
        "flags": numpy.array([True, False]),
        "complex": numpy.array([1 + 2j, 3 - 1j]),
        "half": numpy.array(0.5, dtype=numpy.float16),
        "best": numpy.float64(0.75),
        "count": numpy.int64(-3),
        "tensor": torch.ones(2),
        "nothing": b"",
    }


def objects():
    """Arrays that are no tensors, with tensors in them."""
    return {
        "things": numpy.array([torch.ones(2), "a"], dtype=object),
        "words": numpy.array(["a", "bc"]),
        "days": numpy.array(["2024-02-29"], dtype="datetime64[D]"),
        "plain": numpy.arange(3),
    }


def record_arrays():
    """Arrays of records."""
    packed = numpy.zeros(3, dtype=[("a", "<f4"), ("b", "<i8", (2, 3)), ("c", "?"), ("d", ">i2"), ("e", "<i4")])
    packed["a"], packed["c"], packed["d"], packed["e"] = [1, 2, 3], [1, 0, 1], [4, 5, 6], [7, 8, 9]
    packed["b"] = numpy.arange(18).reshape(3, 2, 3)
    inner = numpy.dtype([("x", "<f8"), ("y", "<c8", 2)])
    fields = [("one", inner), ("n\x1b[31m'o", "u1"), ("several", inner, 2), ("gap", "i4")]
    aligned = numpy.zeros((2, 3), dtype=numpy.dtype(fields, align=True), order="F")
    aligned["one"]["x"] = numpy.arange(6).reshape(2, 3)
    aligned["several"]["y"] = (numpy.arange(24) * (1 + 2j)).reshape(2, 3, 2, 2)
    aligned["gap"], aligned["n\x1b[31m'o"] = 7, 9
    odd = numpy.array([(1, 2, 3), (4, 5, 6)], dtype=[("first", "u1"), ("second", "<i4"), ("third", "u1", 3)])
    titled = numpy.array([(1, 2.0)], dtype=[(("a title", "name"), "<i8"), ("é", "<f8")])
    return {"packed": packed, "aligned": aligned, "odd": odd, "titled": titled, "none": packed[:0]}


def keys():
    """Keys that are no words, in names that would be the same."""
    t = torch.arange(2.0)
    return {
        "a.b": t, "a": {"b": t + 1, "c.d": t + 2}, "a.c": {"d": t + 3}, "list": [t + 4], "list[0]": t + 5,
        (1, "x"): t + 6, None: t + 7, 1.5: t + 8, b"k": t + 9, torch.float16: t + 10, 0: t + 11, "0": t + 12,
        "it's": t + 13, "\x1b[31m": t + 14,
    }


def attributes():
    """A parameter and a buffer with attributes of their own, which may be tensors."""
    weight = torch.nn.Parameter(torch.ones(2))
    weight.sharded, weight.scale = True, torch.zeros(3)
    return {"weight": weight, "running": torch.nn.Buffer(torch.arange(3.0))}


def training():
    """What a program of training keeps: a model, the state of its optimizer, and settings."""
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 3)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}
    return state | {"settings": argparse.Namespace(rate=0.1)}


def module():
    """A module itself, with parameters and buffers."""
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))


def scripted():
    """A module as a program of TorchScript."""
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())), buffer)
    return buffer.getvalue()


def of_any_protocol():
    t = torch.arange(6.0).reshape(2, 3)
    return {"t": t, "turned": t.t(), "values": [1, -1, 300, 70000, 2**70, 2.5, "é", None, True, ()]}


def from_device(tag, value, **options):
    """A checkpoint as it is saved where the storages are on another device."""
    own, torch.serialization.location_tag = torch.serialization.location_tag, lambda storage: tag
    try:
        return saved(value, **options)
    finally:
        torch.serialization.location_tag = own


def first_archive(value):
    """A checkpoint as PyTorch 0.1 wrote it: a tar archive of storages, of tensors, and of a pickle that names both."""
    storages, tensors, pickled = {}, {}, io.BytesIO()

    class Pickler(pickle.Pickler):
        def persistent_id(self, of):
            if isinstance(of, torch.Tensor):
                storage = of.storage()
                storages[storage._cdata] = storage
                tensors[id(of)] = of, storage._cdata
                return str(id(of))
            if isinstance(of, torch.storage.TypedStorage):
                storages[of._cdata] = of
                return str(of._cdata)

    Pickler(pickled, 2).dump(value)
    of_storages, of_tensors, system = io.BytesIO(), io.BytesIO(), io.BytesIO()
    pickle.dump(len(storages), of_storages, 2)
    for key, storage in storages.items():
        pickle.dump((key, "cpu", getattr(torch, storage.pickle_storage_type())), of_storages, 2)
        of_storages.write(struct.pack("<q", storage.size()) + bytes(storage.untyped()))
    pickle.dump([(1, next(iter(storages)), 1, 2)], of_storages, 2)
    pickle.dump(len(tensors), of_tensors, 2)
    for key, (t, storage) in tensors.items():
        pickle.dump((key, storage, torch.FloatTensor), of_tensors, 2)
        layout = [*t.size(), *t.stride(), t.storage_offset()]
        of_tensors.write(struct.pack(f"<ii{len(layout)}q", t.dim(), 0, *layout))
    pickle.dump({"protocol_version": 1000, "little_endian": True}, system, 2)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, part in [("sys_info", system), ("pickle", pickled), ("tensors", of_tensors), ("storages", of_storages)]:
            info = tarfile.TarInfo(name)
            info.size = part.tell()
            part.seek(0)
            tar.addfile(info, part)
    return out.getvalue()


def of_all_devices():
    """(name, bytes, what it holds) of what people have lying around."""
    t = torch.arange(6.0).reshape(2, 3)
    of_gpu = {"w": t, "turned": t.t(), "p": torch.nn.Parameter(torch.ones(2))}
    for name, tag, options in [
        ("cuda", "cuda:0", {}), ("cuda_legacy", "cuda:1", {"_use_new_zipfile_serialization": False}), ("mps", "mps", {})
    ]:
        data = from_device(tag, of_gpu, **options)
        yield f"{name}.pt", data, torch.load(io.BytesIO(data), map_location="cpu")
    yield "keys.pt", saved(keys()), None
    yield "attributes.pt", saved(attributes()), torch.load(io.BytesIO(saved(attributes())))
    yield "training.pt", saved(training()), None
    yield "module.pt", saved(module()), None
    yield "scripted.pt", scripted(), None
    for protocol in (0, 1, 4, 5):
        value = of_any_protocol()
        # PyTorch writes protocol 0, and does not read it.
        yield f"protocol_{protocol}.pt", saved(value, pickle_protocol=protocol), value
        data = saved(value, pickle_protocol=protocol, _use_new_zipfile_serialization=False)
        yield f"protocol_{protocol}_legacy.pt", data, value
        data = pickle.dumps({"t": t, "array": numpy.arange(3), "n": 2**70}, protocol=protocol)
        yield f"protocol_{protocol}.pkl", data, pickle.loads(data)
    value = collections.OrderedDict(w=t, turned=t.t(), n=3, long=torch.arange(3), storage=t.storage())
    data = first_archive(value)
    with tempfile.NamedTemporaryFile(suffix=".tar") as file:
        pathlib.Path(file.name).write_bytes(data)
        yield "first.tar", data, torch.load(file.name, weights_only=False)
    buffer = io.BytesIO()
    others = {"words": ["a", "bcd"], "objects": numpy.array([1, None], dtype=object)}
    numpy.savez(buffer, x=numpy.arange(4.0), days=numpy.array(["2024-02-29"], dtype="M8[D]"), **others)
    yield "others.npz", buffer.getvalue(), {"x": numpy.arange(4.0)}
    base = torch.arange(10.0)
    parts = {"low": base[:4], "high": base[4:]}
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        safetensors.torch.save_file(parts, file.name)
        yield "parts.safetensors", pathlib.Path(file.name).read_bytes(), safetensors.torch.load_file(file.name)
    yield "small.safetensors", small(), None


def small():
    """Elements of less than a byte, as the library writes them."""
    data = numpy.arange(8, dtype=numpy.uint8)
    at = data.ctypes.data
    spec = lambda dtype, shape, nbytes: safetensors.TensorSpec(dtype=dtype, shape=shape, data_ptr=at, data_len=nbytes)
    four, scale = spec("float4_e2m1fn_x2", [2, 2], 4), spec("float8_e8m0fnu", [4], 4)
    return safetensors.serialize({"four": four, "scale": scale, "plain": spec("float32", [2], 8)})


def saved(value, **options):
    buffer = io.BytesIO()
    torch.save(value, buffer, **options)
    return buffer.getvalue()


def big_endian(archive):
    """A checkpoint of 4-byte elements as a machine of the other byte order writes it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename.endswith("/byteorder"):
                data = b"big"
            elif "/data/" in info.filename:
                data = numpy.frombuffer(data, "<u4").astype(">u4").tobytes()
            new.writestr(info.filename, data)
    return out.getvalue()


def array_files():
    def npy(array):
        buffer = io.BytesIO()
        numpy.save(buffer, array)
        return buffer.getvalue()

    grid = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
    arrays = {
        "rows": grid,
        "columns": numpy.asfortranarray(grid),
        "swapped": grid.astype(">f4"),
        "scalar": numpy.array(2.5),
        "empty": numpy.zeros((0, 2), dtype=numpy.int16),
        "complex": numpy.array([1 + 2j, 3 - 1j]),
        "flags": numpy.array([True, False]),
    }
    for name, array in arrays.items():
        yield f"{name}.npy", npy(array), array
    for name, array in record_arrays().items():
        yield f"records_{name}.npy", npy(array), array
    for name, write in [("records.npz", numpy.savez), ("records_packed.npz", numpy.savez_compressed)]:
        buffer = io.BytesIO()
        write(buffer, **record_arrays())
        yield name, buffer.getvalue(), record_arrays()
    for name, write in [("arrays.npz", numpy.savez), ("packed.npz", numpy.savez_compressed)]:
        buffer = io.BytesIO()
        write(buffer, **arrays)
        yield name, buffer.getvalue(), arrays


BLOCKS = [gguf.GGMLQuantizationType[name] for name in "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K".split()]
CODEBOOKS = [gguf.GGMLQuantizationType[name] for name in "IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S IQ4_NL IQ4_XS "
             "TQ1_0 TQ2_0 MXFP4 NVFP4".split()]


def random_blocks(kind, rows, per_row, seed):
    """Blocks of random bytes; some of them with scales that are infinite, tiny or no numbers."""
    nbytes = gguf.GGML_QUANT_SIZES[kind][1]
    blocks = numpy.random.default_rng([seed, kind]).integers(0, 256, (rows * per_row, nbytes), dtype=numpy.uint8)
    special = [0x7C00, 0xFC00, 0x7E12, 0xFC01, 0x0001, 0x8000]
    for number, block in enumerate(blocks[1::2]):
        # A scale stands at one end of a block, or next to one that does.
        start = [0, 2, nbytes - 2, nbytes - 4][(number + kind) % 4]
        block[start:start + 2] = numpy.array(special[(number // 4 + kind) % 6], "<u2")[None].view(numpy.uint8)
    return blocks.reshape(rows, per_row * nbytes)


def gguf_file(fill):
    """The bytes of a file, and what is in it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.gguf"
        writer = gguf.GGUFWriter(path, "none")
        fill(writer)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path.read_bytes(), gguf_tensors(path)


def gguf_tensors(path):
    """Tensors by their names: plain ones as they are, blocks as gguf has them."""
    def value(t):
        if t.tensor_type == gguf.GGMLQuantizationType.BF16:
            return torch.from_numpy(t.data.copy()).view(torch.bfloat16)
        return t if t.tensor_type in BLOCKS + CODEBOOKS else t.data.copy()
    return {t.name: value(t) for t in gguf.GGUFReader(path).tensors}


def add_blocks(writer, kinds):
    for kind in kinds:
        per_row = 64 // gguf.GGML_QUANT_SIZES[kind][0] or 1
        writer.add_tensor(f"blk.{kind.name}", random_blocks(kind, 2, per_row, 1), raw_dtype=kind)


def add_last(writer):
    """Exactly as long as the alignment: nothing that may be missing follows."""
    writer.add_tensor("last", numpy.arange(8, dtype=numpy.float32))


def gguf_blocks(writer):
    add_blocks(writer, BLOCKS)
    writer.add_tensor("cube", numpy.arange(12 * 18, dtype=numpy.uint8).reshape(2, 3, 36), raw_dtype=BLOCKS[0])
    add_last(writer)


def gguf_codebooks(writer):
    add_blocks(writer, CODEBOOKS)
    add_last(writer)


def gguf_plain(writer):
    writer.add_custom_alignment(64)
    types = gguf.GGUFValueType
    for name, value in [("uint8", 200), ("int8", -100), ("uint16", 60000), ("int16", -30000), ("uint32", 2**32 - 1),
                        ("int32", -(2**31)), ("uint64", 2**64 - 1), ("int64", -(2**63)), ("float32", 1e-5),
                        ("float64", 0.1), ("bool", True), ("string", "a\x1b[31m 'quoted' \u00e9\n")]:
        writer.add_key_value(f"one.{name}", value, types[name.upper()])
    for name, value in [("uint8", [1, 2]), ("int16", [-1, 2]), ("float32", [0.5, 1.5]), ("float64", [0.1]),
                        ("bool", [True, False]), ("uint64", list(range(20))), ("string", ["a", "", "b\x1b"])]:
        writer.add_key_value(f"many.{name}", value, types.ARRAY, types[name.upper()])
    writer.add_key_value("many.words", [f"word {number}" for number in range(20)], types.ARRAY)
    writer.add_key_value("nested", [[1, 2], [3], [4, 5, 6]], types.ARRAY)
    plain = [numpy.float32, numpy.float16, numpy.float64, numpy.int8, numpy.int16, numpy.int32, numpy.int64]
    for dtype in plain:
        writer.add_tensor(numpy.dtype(dtype).name, numpy.arange(6, dtype=dtype).reshape(2, 3) - 2)
    halves = torch.tensor([[1.0, -2.5, 3e38], [0.1, 0.0, float("nan")]], dtype=torch.bfloat16).view(torch.uint8).numpy()
    writer.add_tensor("bfloat16", halves, raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.add_tensor("empty", numpy.zeros((0, 3), dtype=numpy.float32))
    writer.add_tensor("last", numpy.arange(16, dtype=numpy.float32).reshape(1, 2, 4, 2))


def of_the_page():
    """(name, bytes) of the files in docs/files.md."""
    numbers, large = torch.arange(1, 10), torch.arange(999)
    yield "small.pt", saved({"numbers": numbers, "evens": numbers[1::2], "of_large": large[:5]})
    t, embedding = torch.arange(12.0).reshape(3, 4), torch.ones(2, 2)
    before = {"w": t, "shape": torch.zeros(2, 3), "old": t + 1, "gone": t[0].clone(), "embed": embedding, "head": embedding}
    changed = t.clone()
    changed[0, 1], changed[2, 3] = 1.5, float("nan")
    after = {"w": changed, "shape": torch.zeros(3, 2), "new": t + 1, "embed": embedding, "head": embedding.clone()}
    yield "before.pt", saved(before | {"step": 3})
    yield "after.pt", saved(after | {"step": 4})
    yield "run.pt", saved(training())
    yield "gpu.pt", from_device("cuda:0", {"weight": torch.ones(2, 3), "bias": torch.zeros(2)})
    points = numpy.zeros(8, dtype=[("at", "<f4", 3), ("gap", "V4"), ("weight", "<f8")])[["at", "weight"]]
    buffer = io.BytesIO()
    numpy.save(buffer, points)
    yield "points.npy", buffer.getvalue()


def files():
    """(name, bytes, what it holds, None where it is refused)."""
    for make in (dtypes, views, forms, containers, parameters, storages):
        data = saved(make())
        yield f"{make.__name__}.pt", data, torch.load(io.BytesIO(data))
    data = big_endian(saved([torch.arange(4.0), torch.arange(3, dtype=torch.int32)]))
    yield "big_endian.pt", data, torch.load(io.BytesIO(data))
    for make in (views, containers):
        data = saved(make(), _use_new_zipfile_serialization=False)
        yield f"{make.__name__}_legacy.pt", data, torch.load(io.BytesIO(data))
    yield "numpy.pt", saved(arrays()), torch.load(io.BytesIO(saved(arrays())), weights_only=False)
    data = saved(arrays(), pickle_protocol=5)
    yield "numpy_newest.pt", data, torch.load(io.BytesIO(data), weights_only=False)
    yield "objects.pt", saved(objects()), None
    yield "mixed.pt", saved(mixed()), None
    yield "mixed_legacy.pt", saved(mixed(), _use_new_zipfile_serialization=False), None
    yield "code.pt", saved(Code()), None
    yield "unknown.pt", saved({"a": torch.ones(1), "b": Unknown()}), None
    endless = [torch.ones(1)]
    endless.append(endless)
    yield "endless.pt", saved(endless), None
    plain = {name: t for name, t in dtypes().items() if t.dtype not in (torch.complex32, torch.complex128)}
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        safetensors.torch.save_file(plain, file.name, metadata={"made": "by safetensors"})
        yield "dtypes.safetensors", pathlib.Path(file.name).read_bytes(), safetensors.torch.load_file(file.name)
    yield from array_files()
    yield from of_all_devices()
    for make in (gguf_blocks, gguf_codebooks, gguf_plain):
        yield f"{make.__name__.removeprefix('gguf_')}.gguf", *gguf_file(make)


def make():
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        if old.is_file() and old.suffix != ".rs":
            old.unlink()
    for name, data, value in files():
        (FOLDER / name).write_bytes(data)
        if value is not None:
            (FOLDER / f"{name}.txt").write_text(describe(value))
    (FOLDER / "page").mkdir(exist_ok=True)
    for name, data in of_the_page():
        (FOLDER / "page" / name).write_bytes(data)
    import folders

    folders.make()


def check_blocks(program):
    """How many blocks of random bytes PROGRAM takes apart, and how many of them not as gguf does, to the last bit."""
    rows, per_row, seed = 64, 128, int.from_bytes(os.urandom(4))
    blocks = {kind: random_blocks(kind, rows, per_row, seed) for kind in BLOCKS + CODEBOOKS}

    def fill(writer):
        for kind, data in blocks.items():
            writer.add_tensor(kind.name, data, raw_dtype=kind)

    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "a.gguf", pathlib.Path(folder) / "a.npy"
        source.write_bytes(gguf_file(fill)[0])
        for kind, data in blocks.items():
            code = f'save(load("{source}")["{kind.name}"].dequantize(), "{target}")'
            subprocess.run([program, "-e", code], check=True, stdout=subprocess.DEVNULL)
            with numpy.errstate(all="ignore"):
                ours, theirs = numpy.load(target), gguf.quants.dequantize(data, kind)
            differs = (ours.view("u4") != theirs.view("u4")).reshape(rows * per_row, -1).any(axis=1).sum()
            wrong += int(differs)
            if differs or ours.shape != theirs.shape:
                print(f"{kind.name}: {differs} blocks differ (seed {seed})")
    print(f"{len(blocks) * rows * per_row} blocks of random bytes taken apart by {program}: {wrong} not as by gguf")
    return wrong


def check(program):
    """Whether what PROGRAM writes is, when PyTorch, numpy and safetensors load it, what it read."""

    def numpy_load(path, **options):
        loaded = numpy.load(path, **options)
        return {name: loaded[name] for name in loaded} if path.suffix == ".npz" else loaded

    loaders = {".pt": torch.load, ".safetensors": safetensors.torch.load_file, ".npy": numpy_load, ".npz": numpy_load}
    wrong = checked = 0
    with tempfile.TemporaryDirectory() as folder:
        for told in sorted(told for told in FOLDER.glob("*.txt") if not told.stem.endswith(".gguf")):
            source, target = told.with_suffix(""), pathlib.Path(folder) / told.stem
            # Folders are read, and written as one checkpoint; records, whose fields share bytes, cannot be written.
            if source.name.startswith("records"):
                continue
            if source.is_dir():
                target = target.with_suffix(".pt")
            code = f'save(load("{source}"), "{target}")'
            subprocess.run([program, "-e", code], check=True, stdout=subprocess.DEVNULL)
            ways = [{}, {"mmap": True}] if target.suffix == ".pt" else [{}]
            for way in ways:
                checked += 1
                if describe(loaders[target.suffix](target, **way)) != told.read_text():
                    wrong += 1
                    print(f"{target.name} {way or ''}: differs")
    print(f"{checked} loads by PyTorch {torch.__version__}, numpy {numpy.__version__} and safetensors "
          f"{safetensors.__version__} of files written by {program}: {checked - wrong} equal, {wrong} different")
    return wrong


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make"]:
            make()
        case ["check", program]:
            sys.exit(check(program) + check_blocks(program) > 0)
        case _:
            sys.exit(__doc__)

#!/usr/bin/env python3
"""Folders of tensors: makes those the tests read. scripts/house/files.py does the same for files, and calls this.

    PYTHON scripts/house/folders.py

Checkpoints of torch.distributed are written by several processes, which talk over the loopback; what they hold is told as
PyTorch loads it. Models in shards are safetensors files with an index beside them.
"""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import tempfile

import safetensors.torch
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing
from torch.distributed.checkpoint.default_planner import _EmptyStateDictLoadPlanner
from torch.distributed.checkpoint.state_dict_loader import _load_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

from files import FOLDER, describe


def state(mesh):
    """What all writers hold together: in rows, in columns, in both, everywhere, and what is no tensor."""
    whole = lambda *sizes: torch.arange(torch.Size(sizes).numel(), dtype=torch.float32).reshape(sizes)
    everywhere = [Replicate()] * mesh.ndim
    state = {
        "model": {
            "rows": distribute_tensor(whole(5, 3), mesh, [Shard(0)] * mesh.ndim),
            "columns": distribute_tensor(whole(2, 6).to(torch.bfloat16), mesh, [*everywhere[1:], Shard(1)]),
            "everywhere": distribute_tensor(whole(3), mesh, everywhere),
            "plain": torch.tensor([1, 2, 3]),
            "empty": torch.zeros(0, 2),
            "transposed": whole(2, 3).t(),
        },
        "optimizer": {"state": [{"step": 7, "moment": torch.ones(2)}, torch.tensor(True), "end"]},
        "epoch": 3,
        "name": "run\x1b[31m of today",
        "nothing": {},
        "settings": {"size": torch.Size([2, 3]), "words": ("a", b"b")},
    }
    if mesh.ndim == 2:
        state["model"]["tiles"] = distribute_tensor(whole(4, 4).to(torch.int32), mesh, [Shard(0), Shard(1)])
    return state


def write(rank, shape, port, folder):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    count = torch.Size(shape).numel()
    dist.init_process_group("gloo", rank=rank, world_size=count)
    dcp.save(state(init_device_mesh("cpu", shape)), checkpoint_id=folder)
    dist.destroy_process_group()


def distributed(shape, folder):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    torch.multiprocessing.spawn(write, (shape, port, folder), nprocs=torch.Size(shape).numel())


def loaded(folder):
    """The nested dictionary that was saved, as torch.distributed.checkpoint.format_utils makes it."""
    state = {}
    _load_state_dict(state, storage_reader=dcp.FileSystemReader(folder), planner=_EmptyStateDictLoadPlanner(), no_dist=True)
    return state


def shards(folder):
    """A model in two files, and the index that names them."""
    parts = {
        "model-00001-of-00002.safetensors": {"embed": torch.arange(6.0).reshape(2, 3), "norm": torch.ones(3)},
        "model-00002-of-00002.safetensors": {"head": torch.arange(4, dtype=torch.int32), "bias": torch.tensor(0.5)},
    }
    folder.mkdir()
    size = 0
    for name, tensors in parts.items():
        safetensors.torch.save_file(tensors, folder / name, metadata={"format": "pt"})
        size += sum(tensor.nbytes for tensor in tensors.values())
    places = {name: shard for shard, tensors in parts.items() for name in tensors}
    index = {"metadata": {"total_size": size}, "weight_map": dict(sorted(places.items()))}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")
    everything = {name: safetensors.torch.load_file(folder / shard)[name] for name, shard in index["weight_map"].items()}
    return everything


def make():
    for name, shape in [("two_writers", (2,)), ("four_writers", (2, 2))]:
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        with tempfile.TemporaryDirectory() as elsewhere, contextlib.chdir(elsewhere):
            # The metadata keeps the path, which is no other machine's business.
            distributed(shape, name)
            shutil.copytree(name, FOLDER / name)
        (FOLDER / f"{name}.txt").write_text(describe(loaded(FOLDER / name)))
    shutil.rmtree(FOLDER / "sharded", ignore_errors=True)
    (FOLDER / "sharded.txt").write_text(describe(shards(FOLDER / "sharded")))


if __name__ == "__main__":
    make()

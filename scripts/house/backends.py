"""Records the backends that PyTorch names when it refuses a tensor: `python backends.py > src/tensor/backends.txt`.

Each operator that some backend lacks is called for that backend, with arguments made from its schema. Operators with the
usual list (CPU, CUDA, Meta) are left out, and so are those that no function of docs/reference.md is named after."""

import collections
import pathlib
import re

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
ONE = torch.ones(1)
ARGUMENTS = {
    "Tensor": ONE, "number": 1, "int": 1, "SymInt": 1, "float": 1.0, "bool": False, "str": "a", "List[int]": [1],
    "List[Tensor]": [ONE], "List[float]": [1.0], "List[bool]": [True], "List[Optional[Tensor]]": [ONE],
    "List[number]": [1], "Device": torch.device("cpu"),
}
BACKENDS = ["SparseCPU", "SparseCsrCPU", "QuantizedCPU"]


def refusal(operator):
    """Returns the backends in the message, or None if every backend has the operator."""
    name, _, overload = operator.partition(".")
    call = getattr(getattr(torch.ops.aten, name, None), overload or "default", None)
    if call is None:
        return None
    has = torch._C._dispatch_has_computed_kernel_for_dispatch_key
    lacking = [key for key in BACKENDS if not has("aten::" + operator, key)]
    needed = [argument for argument in call._schema.arguments if not argument.has_default_value()]
    if not lacking or any(str(argument.type) not in ARGUMENTS for argument in needed):
        return None
    given = [ARGUMENTS[str(argument.type)] for argument in needed if not argument.kwarg_only]
    named = {argument.name: ARGUMENTS[str(argument.type)] for argument in needed if argument.kwarg_only}
    try:
        call.redispatch(torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, lacking[0])), *given, **named)
    except NotImplementedError as error:
        found = re.search(r"only available for these backends: \[(.*?), BackendSelect", str(error))
        return found and found.group(1)
    return None


known = set(re.findall(r"\w+", (ROOT / "docs/reference.md").read_text()))
for source in [*(ROOT / "src/torch").glob("*.rs"), *(ROOT / "src/call").rglob("*.rs")]:
    known |= {name for text in re.findall(r'"([\w.]+)"', source.read_text()) for name in text.split(".")}
lists = collections.defaultdict(list)
for operator in sorted(torch._C._dispatch_get_all_op_names()):
    operator = operator.removeprefix("aten::")
    base = operator.split(".")[0]
    if "::" not in operator and (base in known or base.removesuffix("_") in known):
        lists[refusal(operator)].append(operator)
for backends, operators in sorted((b, o) for b, o in lists.items() if b not in (None, "CPU, CUDA, Meta")):
    print(f"{backends}: {' '.join(operators)}")

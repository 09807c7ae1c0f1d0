"""A wheel for pip, whose only content is the program: `pip install tensorsh` puts it among the commands."""

import base64
import hashlib
import re

from archives import zipped

# The machines that the program of a target runs on. A static program for musl needs no library at all, so it has the tags
# for glibc as well. None depends on a version of Python.
TAGS = {
    "x86_64-unknown-linux-musl": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "aarch64-unknown-linux-musl": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "x86_64-pc-windows-gnu": "win_amd64",
    "x86_64-pc-windows-msvc": "win_amd64",
    "x86_64-apple-darwin": "macosx_10_12_x86_64",
    "aarch64-apple-darwin": "macosx_11_0_arm64",
}


def tags_of(target, program):
    """What pip compares with the machine that it installs on."""
    if not target.endswith("-linux-gnu"):
        return TAGS[target]
    # The newest version of glibc that the program names a function of.
    newest = max(int(version) for version in re.findall(rb"GLIBC_2\.(\d+)", program))
    return f"manylinux_2_{newest}_{target.split('-')[0]}"


def wheel(package, target, program, readme, licences, date):
    """The name and bytes of the wheel for a target. `package` is the program's part of `cargo metadata`."""
    name, version, tags = package["name"], package["version"], tags_of(target, program)
    info = f"{name}-{version}.dist-info"
    command = name + (".exe" if "windows" in target else "")
    metadata = [
        "Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", f"Summary: {package['description']}",
        f"License-Expression: {package['license']}", *(f"License-File: {file}" for file in licences),
        f"Keywords: {','.join(package['keywords'])}", "Description-Content-Type: text/markdown",
    ]
    about = ["Wheel-Version: 1.0", "Generator: tensorsh", "Root-Is-Purelib: false"]
    about += [f"Tag: py3-none-{tag}" for tag in tags.split(".")]
    files = {
        f"{name}-{version}.data/scripts/{command}": (program, True),
        f"{info}/METADATA": ("\n".join(metadata).encode() + b"\n\n" + readme, False),
        f"{info}/WHEEL": ("\n".join(about).encode() + b"\n", False),
        **{f"{info}/licenses/{file}": (content, False) for file, content in licences.items()},
    }
    record = ""
    for file, (content, _) in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{file},sha256={digest},{len(content)}\n"
    # Last, as the format recommends for what describes the rest.
    files = dict(sorted(files.items())) | {f"{info}/RECORD": (f"{record}{info}/RECORD,,\n".encode(), False)}
    return f"{name}-{version}-py3-none-{tags}.whl", zipped(files, date)

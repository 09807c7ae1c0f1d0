#!/usr/bin/env python3
"""Tells what a program of tensorsh is made of: scripts/house/notices.py TARGET [MANIFEST] prints the licences of all parts
with their texts, as the packages bring them; with --sbom it prints a list of the parts instead, in CycloneDX's JSON.

Both are made from `cargo metadata` and the sources of the packages, and are the same wherever they are made.
"""

import hashlib
import html
import json
import re
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = re.compile(r"(.*-)?(licen[cs]e|copying|notice|copyright|unlicense)", re.IGNORECASE)
# A build script copies this package's files into the program, though the program does not depend on it. Its manifest has
# no name for its licence.
LIBRARY = "rustpython-pylib"
LICENCES = {LIBRARY: "Python-2.0.1"}
RULE = "\n" + "=" * 100 + "\n"


class Parts:
    """The packages that a program for a target contains, and the dependencies between them."""

    def __init__(self, target, manifest=ROOT / "Cargo.toml"):
        command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
        found = subprocess.run([*command, "--manifest-path", manifest], check=True, stdout=subprocess.PIPE)
        metadata = json.loads(found.stdout)
        packages = {package["id"]: package for package in metadata["packages"]}
        nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
        self.target, self.edges, self.packages = target, {}, []
        left = [metadata["resolve"]["root"]]
        while left:
            node = left.pop()
            if node in self.edges:
                continue
            # A macro runs in the compiler, and what only builds or tests a package is not in the program either.
            self.edges[node] = [
                other["pkg"] for other in nodes[node]["deps"]
                if packages[other["pkg"]]["name"] == LIBRARY
                or any(kind["kind"] is None for kind in other["dep_kinds"])
                and "proc-macro" not in packages[other["pkg"]]["targets"][0]["kind"]
            ]
            left += self.edges[node]
        self.packages = sorted((packages[node] for node in self.edges), key=lambda part: (part["name"], part["version"]))
        self.root = packages[metadata["resolve"]["root"]]
        locked = tomllib.loads(Path(manifest).with_name("Cargo.lock").read_text())["package"]
        self.checksums = {(part["name"], part["version"]): part.get("checksum") for part in locked}


def licence(package):
    """The licence of a package as an expression of SPDX, which Cargo did not always ask for."""
    return (package["license"] or LICENCES[package["name"]]).replace("/", " OR ")


def texts(package):
    """The texts about its licence that a package brings, as they stand but for blanks at the ends of lines."""
    folder = Path(package["manifest_path"]).parent
    files = {file for file in folder.iterdir() if TEXT.match(file.name)}
    files |= {inner for file in files if file.is_dir() for inner in file.rglob("*")}
    if package["license_file"]:
        files.add(folder / package["license_file"])
    for file in sorted(file for file in files if file.is_file() and file.suffix not in (".rs", ".toml")):
        yield "\n".join(line.rstrip() for line in file.read_text(errors="replace").strip().splitlines()) + "\n"


def runtime(target):
    """Rust's standard library and what it is linked with, as pairs of a heading and a text."""
    command = ["rustc", "--print", "sysroot"]
    shared = Path(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()) / "share/doc/rust"
    notices = html.unescape(re.sub(r"<[^>]*>", "", (shared / "COPYRIGHT-library.html").read_text()))
    # Indented for a browser, with blank lines by the dozen.
    lines = "\n".join(line.strip() for line in notices.splitlines())
    yield "Rust's standard library", re.sub(r"\n{3,}", "\n\n", lines).strip() + "\n"
    mit = (ROOT / "LICENSE-MIT").read_text()
    if target.endswith("-musl"):
        yield "musl, the C library", re.sub(r"Copyright.*", "Copyright © 2005-2020 Rich Felker, et al.", mit, count=1)
        llvm = [(shared / f"licenses/{name}.txt").read_text() for name in ("Apache-2.0", "LLVM-exception")]
        yield "LLVM's libunwind (Apache-2.0 WITH LLVM-exception)", "\n\n".join(llvm)
    if target.endswith("-windows-gnu"):
        text = Path("/usr/share/doc/mingw-w64-x86-64-dev/copyright")
        yield "The C runtime of mingw-w64", text.read_text() if text.exists() else "https://www.mingw-w64.org\n"


def notices(parts):
    others = [part for part in parts.packages if part["source"]]
    written = [
        f"What {parts.root['name']} {parts.root['version']} for {parts.target} contains of others\n\n"
        "Its own licence is the MIT licence or the Apache License 2.0, as you prefer. It contains these packages, each under\n"
        "the licence behind its name. Texts that are the same in several packages stand here once.\n\n"
    ]
    groups = {}
    for part in others:
        at = part["repository"] or part["homepage"] or f"https://crates.io/crates/{part['name']}"
        written.append(f"{part['name']} {part['version']}: {licence(part)}\n    {at}\n")
        found = list(texts(part))
        if not found:
            authors = ", ".join(part["authors"]) or f"the authors of {part['name']}"
            found = [f"The package brings no text of its licence, {licence(part)}. Copyright (c) {authors}\n"]
            if re.search(r"\bMIT\b", licence(part)):
                found[0] += "\n" + (ROOT / "LICENSE-MIT").read_text().split("\n\n", 2)[2]
        for text in found:
            groups.setdefault(text, []).append(f"{part['name']} {part['version']}")
    written.append(
        f"\n{LIBRARY} is the library of CPython. Modules of it are in the program, some of them amended: what was changed "
        "is\nwritten below the text of each.\n"
    )
    for text, names in groups.items():
        written.append(f"{RULE}{', '.join(names)}\n\n{text}")
    # What the sources of tensorsh have from others: the first line says what it is.
    copied = [file.read_text().split("\n\n", 1) for file in sorted((ROOT / "scripts/house/licences").glob("*.txt"))]
    for heading, text in [*copied, *runtime(parts.target)]:
        written.append(f"{RULE}{heading}\n\n{text}")
    return "".join(written)


def sbom(parts):
    def reference(package):
        return f"pkg:cargo/{package['name']}@{package['version']}"

    def component(package):
        found = {
            "type": "application" if package is parts.root else "library",
            "bom-ref": reference(package),
            "name": package["name"],
            "version": package["version"],
            "purl": reference(package),
            "licenses": [{"expression": licence(package)}],
        }
        if package["description"]:
            found["description"] = " ".join(package["description"].split())
        if checksum := parts.checksums.get((package["name"], package["version"])):
            found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        if package["repository"]:
            found["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
        return found

    names = {part["id"]: reference(part) for part in parts.packages}
    written = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": component(parts.root),
            "properties": [{"name": "cargo:target", "value": parts.target}],
        },
        "components": [component(part) for part in parts.packages if part is not parts.root],
        "dependencies": [
            {"ref": names[part["id"]], "dependsOn": sorted({names[other] for other in parts.edges[part["id"]]})}
            for part in parts.packages
        ],
    }
    # A number for this list that says nothing of when it was made.
    digest = hashlib.sha256(json.dumps(written, sort_keys=True).encode()).digest()
    written["serialNumber"] = f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=4)}"
    return json.dumps(written, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--sbom"]
    print(end=(sbom if "--sbom" in sys.argv else notices)(Parts(*arguments)))

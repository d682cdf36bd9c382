"""How srcgrad is packed: what pip calls to make its wheel, its sdist, and an installation that reads the checkout.

It needs the standard library alone and writes nothing into the tree, so that srcgrad is installed without an index,
without build isolation, and from a tree that is read only. The hooks are those of PEP 517 and PEP 660, the files those
of the specifications of wheels, sdists and metadata of packages (packaging.python.org). The project is described in
pyproject.toml; all files below `srcgrad` are its package.
"""

from __future__ import annotations

import ast
import base64
import gzip
import hashlib
import io
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
PACKAGE = "srcgrad"
BESIDE = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "packing.py")
EARLIEST = 315_532_800  # seconds: 1980, before which a zip file knows no time; equal files make equal packages
TAG = "py3-none-any"
Section = dict[str, Any]


def sections(text: str) -> dict[str, Section]:
    """The tables of pyproject.toml that describe the project, which hold strings and lists of strings alone.

    What TOML writes for these Python reads, comments included; Python 3.10 has no reader of TOML.
    """
    found: dict[str, Section] = {}
    for part in re.split(r"^(?=\[)", text, flags=re.MULTILINE):
        heading, _, body = part.partition("\n")
        name = heading.strip().strip("[]")
        if name == "project" or name.startswith("project."):
            rows = re.split(r"^([\w-]+) = ", body, flags=re.MULTILINE)[1:]
            found[name] = {
                key: ast.literal_eval(value.strip()) for key, value in zip(rows[::2], rows[1::2], strict=True)
            }
    return found


TABLES = sections((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = TABLES["project"]
NAME = f"{PROJECT['name']}-{PROJECT['version']}"
INFO = f"{NAME}.dist-info"


def requirements() -> Iterator[str]:
    """Lines of the metadata: what is needed always, then what each extra brings."""
    for item in PROJECT["dependencies"]:
        yield f"Requires-Dist: {item}"
    for extra, items in TABLES["project.optional-dependencies"].items():
        yield f"Provides-Extra: {extra}"
        for item in items:
            name, _, marker = item.partition(";")
            condition = f"({marker.strip()}) and " if marker else ""
            yield f'Requires-Dist: {name.strip()}; {condition}extra == "{extra}"'


def metadata() -> str:
    readme: str = PROJECT["readme"]
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {PROJECT['name']}",
        f"Version: {PROJECT['version']}",
        f"Summary: {PROJECT['description']}",
        f"License-Expression: {PROJECT['license']}",
        *(f"License-File: {name}" for name in PROJECT["license-files"]),
        f"Keywords: {','.join(PROJECT['keywords'])}",
        *(f"Classifier: {item}" for item in PROJECT["classifiers"]),
        f"Requires-Python: {PROJECT['requires-python']}",
        "Description-Content-Type: text/markdown",
        *requirements(),
    ]
    return "\n".join(lines) + "\n\n" + (ROOT / readme).read_text(encoding="utf-8")


def entry_points() -> str:
    prefix = "project.entry-points."
    groups = {name.removeprefix(prefix).strip('"'): table for name, table in TABLES.items() if name.startswith(prefix)}
    lines: list[str] = []
    for group, table in {"console_scripts": TABLES["project.scripts"], **groups}.items():
        lines += [f"[{group}]", *(f"{name} = {place}" for name, place in table.items()), ""]
    return "\n".join(lines)


def described() -> dict[str, bytes]:
    """The files of the wheel that tell what it is, apart from RECORD."""
    wheel = f"Wheel-Version: 1.0\nGenerator: srcgrad\nRoot-Is-Purelib: true\nTag: {TAG}\n"
    texts = {"METADATA": metadata(), "WHEEL": wheel, "entry_points.txt": entry_points()}
    found = {f"{INFO}/{name}": text.encode() for name, text in texts.items()}
    return found | {f"{INFO}/licenses/{name}": (ROOT / name).read_bytes() for name in PROJECT["license-files"]}


def tree(folder: str) -> dict[str, bytes]:
    """The files below a folder of the checkout, those apart that Python or an editor leaves there."""
    paths = (path.relative_to(ROOT) for path in sorted((ROOT / folder).rglob("*")) if path.is_file())
    kept = (path for path in paths if not any(p.startswith(".") or p == "__pycache__" for p in path.parts))
    return {path.as_posix(): (ROOT / path).read_bytes() for path in kept}


def packed(directory: str, files: dict[str, bytes]) -> str:
    """A wheel of some files; its name."""
    files = files | described()
    rows = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(content)}\n")
    files[f"{INFO}/RECORD"] = "".join([*rows, f"{INFO}/RECORD,,\n"]).encode()
    wheel = f"{NAME}-{TAG}.whl"
    (Path(directory) / wheel).write_bytes(zipped(files))
    return wheel


def zipped(files: dict[str, bytes]) -> bytes:
    """A zip file of 1980. With which length of blocks zlib does best differs from file to file: the best is taken."""
    whole, directory = b"", b""
    for name, content in files.items():
        data = min((deflated(content, memory) for memory in (8, 6, 5)), key=len)
        sizes = zlib.crc32(content), len(data), len(content), len(name), 0
        entry = struct.pack("<5H3I2H", 20, 0, zipfile.ZIP_DEFLATED, 0, 33, *sizes)
        place = struct.pack("<3H2I", 0, 0, 0, 0o100644 << 16, len(whole))
        directory += b"PK\1\2" + struct.pack("<H", 3 << 8 | 20) + entry + place + name.encode("ascii")
        whole += b"PK\3\4" + entry + name.encode("ascii") + data
    counts = 0, 0, len(files), len(files), len(directory), len(whole), 0
    return whole + directory + b"PK\5\6" + struct.pack("<4H2IH", *counts)


def deflated(content: bytes, memory: int) -> bytes:
    """What a zip file holds of a file; how much memory zlib has tells how long its blocks are."""
    made = zlib.compressobj(9, zlib.DEFLATED, -15, memory)
    return made.compress(content) + made.flush()


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None) -> str:
    """The wheel; its name."""
    return packed(wheel_directory, tree(PACKAGE))


def build_editable(wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None) -> str:
    """A wheel that reads the checkout: its folder on the path."""
    return packed(wheel_directory, {"_srcgrad.pth": f"{ROOT}\n".encode()})


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    """The sdist: what the wheel is built from, and the types of gast that mypy reads; its name."""
    files = {name: (ROOT / name).read_bytes() for name in BESIDE} | tree(PACKAGE) | tree("typings")
    files["PKG-INFO"] = metadata().encode()
    sdist = f"{NAME}.tar.gz"
    whole = gzip.GzipFile(Path(sdist_directory) / sdist, "w", mtime=EARLIEST)
    with whole, tarfile.open(fileobj=whole, mode="w", format=tarfile.PAX_FORMAT) as file:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"{NAME}/{name}")
            entry.size, entry.mtime, entry.mode = len(content), EARLIEST, 0o644
            file.addfile(entry, io.BytesIO(content))
    return sdist


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: object = None) -> str:
    """The files that tell what the wheel is, without building it; the name of their folder."""
    for name, content in described().items():
        path = Path(metadata_directory) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return INFO


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel

"""Programs of PoCL 3.0 that are not linked with its library, which takes it 0.4 s to read, once for each device.

Of that library most kernels for CPUs need to know their group, and nothing else: they read it where the library does.
Such a text is compiled alone, and its bitcode is a program. PoCL knows the machine code of a program without a text by
the names of its kernels: so these say what they are made of.

The bitcode is kept beside what PoCL keeps, which has its compiler read a text to find what it has made of it.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
from types import ModuleType
from typing import Any  # pyopencl's objects

from srcgrad.opencl.probe import replace

_RUNTIME = "PoCL 3.0"
_PLACES = """extern __constant size_t _group_id_x, _num_groups_x;
#define get_group_id(axis) _group_id_x
#define get_num_groups(axis) _num_groups_x
#define isnan(x) ((x) != (x))
"""
_LIBRARY = re.compile(r"\b(far_\w+|fmod|barrier|get_local_id|get_global_\w+)\(")  # what of it we call beside that
_KERNEL = re.compile(r"__kernel void (\w+)\(")
_HARMLESS = {"POCL_DEVICES", "POCL_CACHE_DIR", "POCL_MEMORY_LIMIT", "POCL_MAX_PTHREAD_COUNT", "POCL_AFFINITY"}
_LONGEST = 100  # characters of a name that a program keeps
_SIZE = hashlib.sha256().digest_size
_FILE = b"/program.bc"  # of what PoCL gives as a program's binary: its name, four bytes of its length, and its bytes
_BITCODE = b"BC\xc0\xde"


def is_alone(device: Any, text: str) -> bool:
    """Whether a text needs nothing of the library, and the runtime is one of which this is known.

    Variables of the runtime's own may change what it makes of a text, which the names of kernels do not say.
    """
    if _RUNTIME not in device.platform.version or "-x86_64-" not in device.version or _LIBRARY.search(text):
        return False
    return all(name in _HARMLESS for name in os.environ if name.startswith("POCL_"))


def unlinked(cl: ModuleType, context: Any, device: Any, text: str, options: list[str]) -> Any:
    """The program of a text that `is_alone`; None if the runtime does not give it."""
    made_of = "\n".join([device.platform.version, device.version, *options, text])
    mark = hashlib.sha256(made_of.encode()).hexdigest()[:32]
    place = _folder() / f"{mark}.bc"
    try:
        bitcode = kept = _kept(place)
        if bitcode is None:
            names = "".join(f"#define {name} {marked(name, mark)}\n" for name in _KERNEL.findall(text))
            compiled = cl.Program(context, names + _PLACES + text)
            compiled.compile(options=options, devices=[device])
            bitcode = _bitcode(b"".join(compiled.get_info(cl.program_info.BINARIES)))
        made = cl.Program(context, [device], [bitcode]).build(devices=[device]) if bitcode else None
    except (cl.RuntimeError, cl.LogicError):
        return None
    if bitcode is None or made is None or not made.num_kernels:
        return None
    if kept is None:
        replace(place, hashlib.sha256(bitcode).digest() + bitcode)
    return made


def _folder() -> pathlib.Path:
    """A folder beside what PoCL keeps, which goes with it."""
    own = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("POCL_CACHE_DIR") or pathlib.Path(own) / "pocl" / "kcache") / "srcgrad"


def _kept(place: pathlib.Path) -> bytes | None:
    """What has been kept; None if nothing was, or if it is damaged."""
    try:
        kept = place.read_bytes()
    except OSError:
        return None
    return kept[_SIZE:] if kept[:_SIZE] == hashlib.sha256(kept[_SIZE:]).digest() else None


def marked(name: str, mark: str) -> str:
    """The name of a kernel in a program, and so of a file: what it is called, and what it is made of."""
    return f"{name[:_LONGEST]}_of_{mark}"


def kernel_name(name: str, program: Any) -> str:
    """What a program calls a kernel."""
    made = next(own for own in program.kernel_names.split(";") if own == name or own.startswith(marked(name, "")))
    return str(made)


def _bitcode(binary: bytes) -> bytes | None:
    """The bitcode in what PoCL gives as a program's binary."""
    _, found, rest = binary.partition(_FILE)
    size, code = int.from_bytes(rest[:4], "little"), rest[4:]
    return code[:size] if found and code.startswith(_BITCODE) and len(code) >= size else None

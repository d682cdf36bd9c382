"""Golden cases: one file each, with the source and the text that is expected; each is also executed."""

from __future__ import annotations

import linecache
import pathlib

import pytest

import srcgrad
from srcgrad.interface.check.check import check_grads

FOLDER = pathlib.Path(__file__).parent / "golden"
CASES = sorted(FOLDER.glob("*.py"))
MARK = "\n# output\n"


def parts(path: pathlib.Path) -> tuple[dict[str, str], str, str]:
    """Flags, source and expected text of a golden file."""
    text = path.read_text()
    flags = dict(line[2:].split(": ", 1) for line in text.splitlines() if line.startswith("#: "))
    flags = {key.strip(": "): value for key, value in flags.items()}
    source, expected = text.split(MARK)
    body = "".join(line + "\n" for line in source.splitlines() if not line.startswith("#: "))
    return flags, body.lstrip("\n"), expected


def function_of(flags: dict[str, str], source: str) -> object:
    """The last function that the source defines, as if it stood in model.py."""
    label = f"golden/{flags['function']}/model.py"
    linecache.cache[label] = (len(source), None, source.splitlines(keepends=True), label)
    namespace: dict[str, object] = {}
    exec(compile(source, label, "exec"), namespace)
    return namespace[flags["function"]]


def wrt_of(flags: dict[str, str]) -> str | tuple[str, ...]:
    """A name, or a tuple of several."""
    names = tuple(flags["wrt"].split(", "))
    return names if len(names) > 1 else names[0]


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_text(path: pathlib.Path) -> None:
    flags, source, expected = parts(path)
    function = function_of(flags, source)
    text = srcgrad.source(function, mode=flags.get("mode", "reverse"), wrt=wrt_of(flags))
    assert text == expected
    assert text == srcgrad.source(function, mode=flags.get("mode", "reverse"), wrt=wrt_of(flags))


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_numbers(path: pathlib.Path) -> None:
    flags, source, _ = parts(path)
    import numpy as np

    arguments = eval(flags["arguments"], {"np": np})
    check_grads(function_of(flags, source), arguments, wrt=wrt_of(flags), order=1)


def write() -> None:
    """Write the expected text of every case anew; read the difference before it is committed."""
    for path in CASES:
        flags, source, _ = parts(path)
        text = srcgrad.source(function_of(flags, source), mode=flags.get("mode", "reverse"), wrt=wrt_of(flags))
        path.write_text(path.read_text().split(MARK)[0] + MARK + text)


if __name__ == "__main__":
    write()

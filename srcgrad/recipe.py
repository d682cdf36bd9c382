"""How a standalone module was made: the lines at its top that tell it, and reading them back."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

import srcgrad
from srcgrad.emit.module import WIDTH, remark
from srcgrad.front.static import StaticModule

_LINES = re.compile(r"^#     (srcgrad dump .*(?:\n#       .*)*)", re.MULTILINE)


def command(
    targets: Sequence[str],
    output: str = "-",
    *,
    wrt: Sequence[str] | None = None,
    mode: str = "reverse",
    target: str = "numpy",
    inline: bool = False,
    over: Sequence[str] = (),
    rows: int | None = None,
) -> str:
    """The command that makes a standalone module, for the folder in which that will be; empty for standard input.

    >>> command(["src/model.py:f"], "made/model_grad.py", wrt=["x", "w"])
    'srcgrad dump ../src/model.py:f --standalone --wrt x,w -o model_grad.py'
    """
    if any(target.partition(":")[0] == "-" for target in targets):
        return ""
    options = ["--standalone"]
    options += ["--wrt", ",".join(wrt)] if wrt else []
    options += ["--mode", mode] if mode != "reverse" else []
    options += ["--target", target] if target != "numpy" else []
    options += ["--inline"] if inline else []
    options += ["--over", ",".join(over)] if over else []
    options += ["--rows", str(rows)] if over and rows is not None else []
    options += ["-o", Path(output).name] if output != "-" else []
    return shlex.join(["srcgrad", "dump", *(_from(output, target) for target in targets), *options])


def _from(output: str, target: str) -> str:
    """A target as it is named in the folder of the output; without one, in its own."""
    head, colon, names = (target, "", "") if Path(target).is_file() else target.rpartition(":")
    if not colon:
        head, names = target, ""
    if not head.endswith(".py"):
        return target
    near = Path(head).name if output == "-" else os.path.relpath(os.path.realpath(head), _folder(output))
    return f"{near}{colon}{names}".replace(os.sep, "/")


def _folder(output: str) -> Path:
    return Path(os.path.realpath(output)).parent


def lines(modules: Iterable[StaticModule], made_by: str) -> list[str]:
    """Comments that tell the version, the texts that the module was made from, and the command."""
    sources = ", ".join(dict.fromkeys(f"{module.label}\0(sha256\0{digest(module.text)})" for module in modules))
    again = " To make it again, in its folder:" if made_by else ""
    told = remark(f"Made by srcgrad {srcgrad.__version__} from {sources}.{again}")
    found = ["#", told.replace("\0", " ")]  # a name and its digest stand in one line
    if made_by:
        words = textwrap.wrap(made_by, WIDTH - 8, break_long_words=False, break_on_hyphens=False)
        margins = ["#     ", *["#       "] * (len(words) - 1)]
        ends = [*[" \\"] * (len(words) - 1), ""]
        found += [f"{margin}{word}{end}" for margin, word, end in zip(margins, words, ends, strict=True)]
    return found


def digest(text: str) -> str:
    """The first 16 digits of the SHA-256 of a text, which `sha256sum` gives for its file.

    >>> digest("")
    'e3b0c44298fc1c14'
    """
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read(text: str) -> list[str] | None:
    """The arguments of the command that a standalone module names; None where it names none.

    >>> read("# ...\\n#     srcgrad dump model.py --standalone \\\\\\n#       -o model_grad.py\\nimport numpy as np\\n")
    ['dump', 'model.py', '--standalone', '-o', 'model_grad.py']
    """
    found = _LINES.search(text)
    if found is None:
        return None
    return shlex.split(re.sub(r" \\\n#      ", "", found[1]))[1:]

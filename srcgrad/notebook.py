"""Notebooks: which cell a function stands in, and how an error looks there."""

from __future__ import annotations

import linecache
import os
import sys
import traceback
from types import TracebackType
from typing import Any  # the shell of IPython, if there is one

PACKAGE = os.path.dirname(os.path.abspath(__file__))


def cell_of(filename: str) -> str:
    """How IPython calls the cell that it compiled under a name, as `In[3]`; empty for anything else.

    >>> cell_of("/home/me/model.py")
    ''
    """
    shell = _shell()
    name = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = name(filename) if name is not None else None
    return str(found[1]) if found and found[0] == "Cell" else ""


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def rendered(text: str, coloured: str, trace: TracebackType | None) -> list[str]:
    """What IPython shows of an error: the line of the user that was running, and the text of the error.

    What lies between the two, inside of srcgrad, is left out.
    """
    plain = bool(os.environ.get("NO_COLOR")) or str(getattr(_shell(), "colors", "")).lower() == "nocolor"
    lines = ["DifferentiationError"]
    for frame, number in traceback.walk_tb(trace):
        file = frame.f_code.co_filename
        if file.startswith(PACKAGE):
            break
        shell_itself = "IPython" in file or os.sep + "ipykernel" + os.sep in file
        if not shell_itself:
            line = linecache.getline(file, number).strip()
            lines.append(f"  {cell_of(file) or os.path.basename(file)}, line {number}: {line}")
    return [*lines, "", text if plain else coloured]

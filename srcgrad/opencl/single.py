"""One elementwise operation as a kernel of its own, for arrays on a GPU outside generated text.

On a CPU NumPy does one operation as fast as a kernel does: what kernels gain there is that they do many at once.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any  # ufuncs have no type that says what they take

import numpy as np

import srcgrad.templates as templates
from srcgrad.core.trees import parsed
from srcgrad.opencl.launch import Kernel
from srcgrad.opencl.printer import NotElementwiseError, Printer


@functools.lru_cache(maxsize=256)
def kernel_for(ufunc: Any) -> Kernel | None:
    """The kernel of a ufunc; None if the ufunc has no form in C."""
    templates.load()
    name = ufunc.__name__
    inputs, outputs = ufunc.nin, ufunc.nout
    names = ["x", "y"][:inputs]
    if f"{'f' * inputs}->{'f' * outputs}" not in ufunc.types:
        return None  # its result is of another type
    if outputs != 1 or inputs > 2 or ufunc.signature or getattr(np, name, None) is not ufunc:
        return None
    printer = Printer({"np": "np"}, lambda: "t1")
    try:
        text = printer.text(parsed(f"np.{name}({', '.join(names)})").body[0].value)
    except NotElementwiseError:
        return None
    lines = [*printer.lines, f"REAL result = {text};", "STORE(result);"]
    body = "\n".join(f"    {line}" for line in lines)
    function: Any = _one(ufunc) if len(names) == 1 else _two(ufunc)
    function.__name__ = f"{name}_kernel"
    function.__doc__ = inspect.cleandoc(f"Of each element:\n\n{body}")
    return Kernel(function)


def _one(ufunc: Any) -> Any:
    def function(x: Any) -> Any:
        return ufunc(x)

    return function


def _two(ufunc: Any) -> Any:
    def function(x: Any, y: Any) -> Any:
        return ufunc(x, y)

    return function


def _total(x: Any) -> Any:
    """Of each element:

    REAL all = SUM(x);
    STORE(all);
    """
    return np.sum(x)


TOTAL = Kernel(_total)

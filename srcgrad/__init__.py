"""srcgrad: from an ordinary NumPy function to the Python source of its derivative.

    import numpy as np
    import srcgrad

    def energy(x, k):
        return 0.5 * np.sum(k * x * x)

    srcgrad.grad(energy)(np.ones(3), 2.0)       # array([2., 2., 2.])
    print(srcgrad.source(energy, wrt="x"))       # the text that runs

Nothing is imported before it is needed.
"""

from __future__ import annotations

from srcgrad.core.processes import working_folder_last

working_folder_last()  # before anything is imported that may be in it

import gc  # noqa: E402
import importlib  # noqa: E402
import sys  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402 - a public name may be any object

from srcgrad.core import __version__ as __version__  # noqa: E402

if TYPE_CHECKING:
    from srcgrad.core.errors import ConstantOutputWarning, DifferentiationError
    from srcgrad.core.marks import checkpoint, checkpointed, opaque, safe_where
    from srcgrad.core.rules import adjoint, nondifferentiable, tangent
    from srcgrad.interface.api.calculus import (
        differentiate,
        elementwise_grad,
        hessian,
        hvp,
        jacobian,
        linearize,
        source,
        transpose,
    )
    from srcgrad.interface.api.derivatives import grad, jvp, value_and_grad, vjp
    from srcgrad.interface.api.map_items import each
    from srcgrad.interface.api.row_blocks import blocked, keep_memory
    from srcgrad.interface.api.user_rules import Function, implicit, register_jvp, register_vjp, sensitivity
    from srcgrad.interface.check.check import check_grads
    from srcgrad.interface.show.explain import explain, report
    from srcgrad.interface.show.trace import debug, trace
    from srcgrad.runtime.hooks import hook, stop_gradient

_HOME = {
    "ConstantOutputWarning": "core.errors",
    "DifferentiationError": "core.errors",
    "Function": "interface.api.user_rules",
    "adjoint": "core.rules",
    "blocked": "interface.api.row_blocks",
    "check_grads": "interface.check.check",
    "checkpoint": "core.marks",
    "checkpointed": "core.marks",
    "debug": "interface.show.trace",
    "differentiate": "interface.api.calculus",
    "each": "interface.api.map_items",
    "elementwise_grad": "interface.api.calculus",
    "explain": "interface.show.explain",
    "grad": "interface.api.derivatives",
    "hessian": "interface.api.calculus",
    "hook": "runtime.hooks",
    "hvp": "interface.api.calculus",
    "implicit": "interface.api.user_rules",
    "jacobian": "interface.api.calculus",
    "jvp": "interface.api.derivatives",
    "keep_memory": "interface.api.row_blocks",
    "linearize": "interface.api.calculus",
    "load_ipython_extension": "interface.cli.explain",  # what `%load_ext srcgrad` asks for
    "nondifferentiable": "core.rules",
    "opaque": "core.marks",
    "register_jvp": "interface.api.user_rules",
    "register_vjp": "interface.api.user_rules",
    "report": "interface.show.explain",
    "safe_where": "core.marks",
    "sensitivity": "interface.api.user_rules",
    "source": "interface.api.calculus",
    "stop_gradient": "runtime.hooks",
    "tangent": "core.rules",
    "trace": "interface.show.trace",
    "transpose": "interface.api.calculus",
    "value_and_grad": "interface.api.derivatives",
    "vjp": "interface.api.derivatives",
}

__all__ = [
    "ConstantOutputWarning",
    "DifferentiationError",
    "Function",
    "adjoint",
    "blocked",
    "check_grads",
    "checkpoint",
    "checkpointed",
    "debug",
    "differentiate",
    "each",
    "elementwise_grad",
    "explain",
    "grad",
    "hessian",
    "hook",
    "hvp",
    "implicit",
    "jacobian",
    "jvp",
    "keep_memory",
    "linearize",
    "nondifferentiable",
    "opaque",
    "register_jvp",
    "register_vjp",
    "report",
    "safe_where",
    "sensitivity",
    "source",
    "stop_gradient",
    "tangent",
    "trace",
    "transpose",
    "value_and_grad",
    "vjp",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'srcgrad' has no attribute {name!r}")
    if f"srcgrad.{home}" in sys.modules:
        return getattr(importlib.import_module(f"srcgrad.{home}"), name)
    enabled = gc.isenabled()
    gc.disable()  # modules are no garbage: collecting while they are made costs a sixth of the first gradient
    try:
        importlib.import_module("srcgrad.core.original_libraries")  # before any module that reads what may be replaced
        return getattr(importlib.import_module(f"srcgrad.{home}"), name)
    finally:
        if enabled:
            gc.enable()


def __dir__() -> list[str]:
    return sorted(__all__)

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

from srcgrad.child import working_folder_last

working_folder_last()  # before anything is imported that may be in it

import importlib  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402 - a public name may be any object

if TYPE_CHECKING:
    from srcgrad.allocator import keep_memory
    from srcgrad.api import differentiate, grad, jvp, source, value_and_grad, vjp
    from srcgrad.applied import Function
    from srcgrad.blocks import blocked
    from srcgrad.calculus import elementwise_grad, hvp, linearize, transpose
    from srcgrad.check import check_grads
    from srcgrad.errors import ConstantOutputWarning, DifferentiationError
    from srcgrad.forms import register_jvp, register_vjp, sensitivity
    from srcgrad.jacobians import hessian, jacobian
    from srcgrad.lines import explain
    from srcgrad.mapped import each
    from srcgrad.recompute import checkpoint, checkpointed
    from srcgrad.reports import report
    from srcgrad.rules import adjoint, nondifferentiable, tangent
    from srcgrad.runtime.hooks import hook, stop_gradient
    from srcgrad.sealed import opaque, safe_where
    from srcgrad.tape import trace

__version__ = "0.1.0"

_HOME = {
    "ConstantOutputWarning": "errors",
    "DifferentiationError": "errors",
    "Function": "applied",
    "adjoint": "rules",
    "blocked": "blocks",
    "check_grads": "check",
    "checkpoint": "recompute",
    "checkpointed": "recompute",
    "differentiate": "api",
    "each": "mapped",
    "elementwise_grad": "calculus",
    "explain": "lines",
    "grad": "api",
    "hessian": "jacobians",
    "hook": "runtime.hooks",
    "hvp": "calculus",
    "jacobian": "jacobians",
    "jvp": "api",
    "keep_memory": "allocator",
    "linearize": "calculus",
    "nondifferentiable": "rules",
    "opaque": "sealed",
    "register_jvp": "forms",
    "register_vjp": "forms",
    "report": "reports",
    "safe_where": "sealed",
    "sensitivity": "forms",
    "source": "api",
    "stop_gradient": "runtime.hooks",
    "tangent": "rules",
    "trace": "tape",
    "transpose": "calculus",
    "value_and_grad": "api",
    "vjp": "api",
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
    "differentiate",
    "each",
    "elementwise_grad",
    "explain",
    "grad",
    "hessian",
    "hook",
    "hvp",
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
    importlib.import_module("srcgrad.originals")  # before any module that reads what may be replaced
    return getattr(importlib.import_module(f"srcgrad.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

"""The same functions for HIPS autograd, JAX and PyTorch: their array module in the place of NumPy."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any  # arrays and modules of several libraries

import numpy as np

from benchmarks import scans
from benchmarks.workload import Function, Workload, seeds

Call = Callable[[], Any]


def rebuilt(function: Any, names: dict[str, Any]) -> Any:
    """The function, and those of its file that it calls, with other objects for some of their outer names."""
    space: dict[str, Any] = dict(function.__globals__)
    for key, value in function.__globals__.items():
        if isinstance(value, FunctionType) and value.__module__ == function.__module__:
            space[key] = FunctionType(value.__code__, space, key, value.__defaults__, value.__closure__)
    space.update({key: value for key, value in names.items() if key in space})
    return space[function.__name__]


def with_autograd(workload: Workload, args: tuple[Any, ...]) -> Call:
    """HIPS autograd."""
    import autograd
    from autograd.scipy.special import erf

    function = rebuilt(workload.function, {"np": importlib.import_module("autograd.numpy"), "erf": erf})
    wrt = workload.wrt if len(workload.wrt) > 1 else workload.wrt[0]
    if workload.mode == "pullback":
        return lambda: _pulled(lambda: autograd.make_vjp(function, workload.wrt)(*args))
    if workload.mode == "jacobian":
        jacobian = autograd.jacobian(function, wrt)
        return lambda: jacobian(*args)
    if workload.mode == "hvp":
        product = autograd.hessian_vector_product(function)
        return lambda: product(*args)
    derived = autograd.value_and_grad(lambda chosen, rest: function(*_joined(chosen, rest, workload.wrt)))
    chosen, rest = _split(args, workload.wrt)
    return lambda: derived(chosen, rest)


def _pulled(make: Callable[[], Any]) -> Any:
    back, y = make()
    return [back(seed) for seed in seeds(y)]


def _split(args: tuple[Any, ...], wrt: tuple[int, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    rest = tuple(None if k in wrt else value for k, value in enumerate(args))
    return tuple(args[k] for k in wrt), rest


def _joined(chosen: Any, rest: tuple[Any, ...], wrt: tuple[int, ...]) -> list[Any]:
    given = dict(zip(wrt, chosen, strict=True))
    return [given.get(k, value) for k, value in enumerate(rest)]


def with_jax(workload: Workload, args: tuple[Any, ...]) -> Call:
    """JAX, compiled; loops are scans, which have to be written by hand."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    function = scans.FORMS.get(workload.function.__name__)
    if function is None:
        names = {"np": jax.numpy, "erf": importlib.import_module("jax.scipy.special").erf}
        function = rebuilt(workload.function, names)
    fixed = {k: v for k, v in enumerate(args) if isinstance(v, int | list) or k in scans.fixed(workload, args)}
    moved = [None if k in fixed else jax.numpy.asarray(v) for k, v in enumerate(args)]

    def plain(*given: Any) -> Any:
        return function(*(fixed.get(k, v) for k, v in enumerate(given)))

    derived = jax.jit(_by_jax(plain, workload))
    return lambda: jax.block_until_ready(derived(*moved))


def _by_jax(function: Function, workload: Workload) -> Function:
    import jax

    wrt: Any = workload.wrt if len(workload.wrt) > 1 else workload.wrt[0]
    if workload.mode == "pullback":

        def blocks(*given: Any) -> Any:
            y, back = jax.vjp(lambda *chosen: function(*_joined(chosen, given, workload.wrt)), *given[: len(wrt)])
            return [back(jax.numpy.asarray(seed)) for seed in seeds(y)]

        return blocks
    if workload.mode == "jacobian":
        return jax.jacfwd(function, wrt)
    if workload.mode == "hvp":
        return lambda x, v: jax.jvp(jax.grad(function), (x,), (v,))[1]
    if workload.function.__name__ == "newton":  # while loops have no reverse mode there
        return lambda a: jax.jvp(function, (a,), (1.0,))
    return jax.value_and_grad(function, wrt)


def with_torch(workload: Workload, args: tuple[Any, ...]) -> Call:
    """PyTorch, run eagerly."""
    import torch

    setattr(torch.Tensor, "copy", torch.Tensor.clone)  # noqa: B010  as arrays have it
    function = rebuilt(workload.function, {"np": torch_numpy(torch), "erf": torch.special.erf})
    moved = [torch.as_tensor(np.asarray(v)) if isinstance(v, np.ndarray | float) else v for v in args]

    def leaves() -> tuple[list[Any], list[Any]]:
        given = list(moved)
        for k in workload.wrt:
            given[k] = moved[k].detach().clone().requires_grad_() if moved[k].dim() == 0 else moved[k].detach()
            given[k].requires_grad_()
        return given, [given[k] for k in workload.wrt]

    def run() -> Any:
        given, chosen = leaves()
        y = function(*given)
        if workload.mode == "pullback":
            rows = [torch.as_tensor(seed) for seed in seeds(y)]
            return [torch.autograd.grad(y, chosen, row, retain_graph=True) for row in rows]
        return y.detach(), torch.autograd.grad(y, chosen)

    if workload.mode == "jacobian":
        fixed = moved[1:]
        return lambda: torch.func.jacfwd(lambda x: function(x, *fixed))(moved[0])
    if workload.mode == "hvp":
        return lambda: torch.autograd.functional.vhp(function, moved[0], moved[1])[1]
    return run


def torch_numpy(torch: Any) -> Any:
    """Those functions of NumPy that the workloads call, of PyTorch's."""

    def tensor(value: Any) -> Any:
        return value if torch.is_tensor(value) else torch.tensor(value, dtype=torch.float64)

    own = {
        "max": torch.amax,
        "maximum": lambda a, b: torch.clamp(a, min=b),
        "transpose": lambda a, axes=None: a.T if axes is None else torch.permute(a, axes),
        "array": tensor,
        "zeros": lambda shape: torch.zeros(shape, dtype=torch.float64),
        "eye": lambda n: torch.eye(n, dtype=torch.float64),
        "cross": lambda a, b: torch.linalg.cross(a, b),
        **{name: _of_tensor(getattr(torch, name), tensor) for name in ("exp", "log", "sqrt", "sin", "cos", "tanh")},
    }
    names = ("sum", "mean", "matmul", "concatenate", "reshape", "stack", "swapaxes", "where")
    return SimpleNamespace(**{name: getattr(torch, name) for name in names}, **own)


def _of_tensor(function: Function, tensor: Function) -> Function:
    return lambda a: function(tensor(a))

"""Where complex numbers come from: literals, dtypes, values from outside, functions that make them of real ones."""

from __future__ import annotations

import ast
import types
from typing import Any  # values and functions are arbitrary Python objects

import gast
import numpy as np

from srcgrad.errors import DifferentiationError
from srcgrad.facts import UNKNOWN, Facts
from srcgrad.front.namespace import Binding, LiveNamespace, Namespace, attribute
from srcgrad.front.resolve import binding_of
from srcgrad.front.source import tree_of
from srcgrad.front.static import StaticFunction
from srcgrad.front.step import Step
from srcgrad.identity import home, uncached
from srcgrad.rules import rule_of
from srcgrad.runtime import zeros_like
from srcgrad.trees import Node, walk

# Functions that take a dtype by position, and where.
DTYPES: dict[Any, int] = {
    np.ndarray.astype: 1, np.array: 1, np.asarray: 1, np.asanyarray: 1, np.ascontiguousarray: 1, np.zeros: 1,
    np.asfortranarray: 1, np.ones: 1, np.empty: 1, np.zeros_like: 1, np.ones_like: 1, np.empty_like: 1, np.full: 2,
    np.full_like: 2, np.identity: 1, np.eye: 3,
}  # fmt: skip
LIKE = (np.zeros_like, np.ones_like, np.empty_like, np.full_like, zeros_like)

_REAL_HOMES = ("builtins", "math", "operator", "random", "time", "copy", "itertools", "functools", "numpy")
_MAKERS = ("eig", "eigvals", "roots", "sqrtm", "logm", "hilbert", "load", "loadtxt", "genfromtxt", "frombuffer")
_NEVER = (float, int, str, bytes, types.ModuleType, types.FunctionType, np.ufunc, type(np.concatenate), type(None))
_DEPTH = 3  # how deep containers and objects are looked into


def is_complex_value(value: Any, depth: int = 0) -> bool:
    """Whether an object is a complex number, an array or a dtype of them, or holds one.

    >>> is_complex_value([1.0, {"w": np.ones(2) * 1j}]), is_complex_value(2.0), is_complex_value(np.complex64)
    (True, False, True)
    """
    if isinstance(value, _NEVER):
        return False
    if isinstance(value, complex | np.complexfloating):
        return True
    if isinstance(value, type) and not isinstance(value, types.GenericAlias):  # of Python 3.10, which calls it a type
        return issubclass(value, complex | np.complexfloating)
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return any(is_complex_value(item, depth + 1) for item in value.flat)
    dtype = value if isinstance(value, np.dtype) else getattr(value, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype.kind == "c"
    if depth == _DEPTH:
        return False
    if isinstance(value, dict):
        return any(is_complex_value(item, depth + 1) for item in value.values())
    if isinstance(value, list | tuple):
        return any(is_complex_value(item, depth + 1) for item in value)
    held = getattr(value, "__dict__", None)
    own = list(held.values()) if isinstance(held, dict) else []
    own += [getattr(value, slot, None) for slot in getattr(type(value), "__slots__", ()) if isinstance(slot, str)]
    return any(is_complex_value(item, depth + 1) for item in own)


def from_binding(found: Binding | None) -> bool:
    """Whether what a name means outside of the function may be complex."""
    if found is None or found.static is not None or found.kind == "module":
        return False
    if found.kind == "object":
        return is_complex_value(found.object)
    if found.kind == "value" and found.expression is not None and found.module is not None:
        return _mentions(ast.parse(found.expression.strip(), mode="eval"), found.module, {})
    return False


def is_complex_dtype(node: Node, facts: Facts) -> bool | None:
    """Whether an expression spells a complex dtype; None where it cannot be told."""
    if isinstance(node, gast.Constant):
        return _spells_complex(node.value)
    found = binding_of(node, facts, facts.local)
    if found is not None and found.kind == "object" and isinstance(found.object, type | np.dtype):
        return is_complex_value(found.object)
    return None


def _spells_complex(value: Any) -> bool | None:
    try:
        return bool(np.dtype(value).kind == "c")
    except TypeError:
        return None


def makes_complex(function: Any, called: Node, facts: Facts) -> bool:
    """Whether a function without a rule may give complex numbers for real ones."""
    if function is None and isinstance(called, gast.Name):
        items = facts.kinds.get(called.id, UNKNOWN).items
        function = items[0][0] if items and facts.kinds[called.id].tag == "function" else None
    return _gives_complex(function, {})


def is_maker(function: Any) -> bool:
    """Whether a function of NumPy or SciPy gives complex numbers for some real ones: eigenvalues, roots."""
    return getattr(function, "__name__", "") in _MAKERS and str(home(function)).startswith(("numpy", "scipy"))


def _gives_complex(function: Any, seen: dict[int, None]) -> bool:
    if function is None or isinstance(function, types.ModuleType):
        return False
    rule = rule_of(function)
    if is_maker(function):
        return True
    if rule is not None and (rule.kind != "refused" or (rule.values and not rule.literals)):
        return rule.values == "complex"
    if isinstance(function, type) and not isinstance(function, types.GenericAlias):
        return issubclass(function, complex | np.complexfloating)
    if isinstance(function, Step):
        return _of_source(function.source.tree, function.namespace, id(function), seen)
    if isinstance(function, StaticFunction):
        return _of_source(function.node, function.module, id(function.node), seen)
    function = uncached(getattr(function, "__srcgrad_primal__", getattr(function, "__func__", function)))
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return False  # `np.add.at`
    where = str(home(function))
    if where.split(".")[0] in _REAL_HOMES:
        return where.startswith(("numpy.fft", "numpy.lib.scimath"))
    if where.startswith(("scipy.special", "scipy.stats")):
        return False
    if isinstance(function, types.FunctionType):
        try:
            tree = tree_of(function)
        except DifferentiationError:
            return True
        return _of_source(tree, LiveNamespace(function), id(function), seen)
    if callable(function) and rule_of(type(function).__call__) is not None:
        return is_complex_value(function)  # a spline is what its coefficients are
    return callable(function)


def _of_source(tree: Any, namespace: Namespace, key: int, seen: dict[int, None]) -> bool:
    if key in seen:
        return False
    seen[key] = None
    return _mentions(tree, namespace, seen)


def _mentions(tree: Any, namespace: Namespace, seen: dict[int, None]) -> bool:
    """Whether a tree, of ast or of gast, has anything in it that makes complex numbers."""
    names: set[str] = set()
    for node in walk(tree):
        kind = type(node).__name__
        if kind == "Name":
            if node.id in names:
                continue
            names.add(node.id)
        if kind == "Constant" and (isinstance(node.value, complex) or _names_dtype(node.value)):
            return True
        if kind in ("Name", "Attribute"):
            found = dotted(node, namespace)
            if found is None:
                continue
            if found.static is not None or callable(found.object):
                meant = found.object if found.static is None else found.static
                if is_complex_value(meant) or _gives_complex(meant, seen):
                    return True
            elif from_binding(found):
                return True
    return False


def _names_dtype(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("complex")


def dotted(node: Any, namespace: Namespace) -> Binding | None:
    """What a dotted name, of ast or of gast, means in a namespace; None for anything else."""
    if type(node).__name__ == "Name":
        return namespace.lookup(node.id)
    if type(node).__name__ == "Attribute":
        base = dotted(node.value, namespace)
        return None if base is None else attribute(base, node.attr)
    return None
